"""`/ready` means that a question is answered: it asks one, and says what keeps it from an end."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from lutrin import stages
from lutrin.errors import IndexUnavailable
from lutrin.records import Passage, Question
from lutrin.serve.probe import KEPT_S, PROBE, STUCK_S

from .conftest import House, Serve
from .scripted import ScriptedRetrieval


@dataclass
class HeldRetrieval(ScriptedRetrieval):
    """Finds nothing until it may."""

    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, question: Question) -> Sequence[Passage]:
        """Search."""
        self.asked.append(question)
        with stages.stage("search"):
            await self.go_on.wait()
        return []


async def test_whoever_asks_often_costs_one_search(serve: Serve, house: House) -> None:
    """Its result counts for some seconds."""
    async with serve() as client:
        for _ in range(5):
            assert (await client.get("/ready")).status_code == 200
        assert house.retrieve.asked == [PROBE]
        house.clock.now_s += KEPT_S
        assert (await client.get("/ready")).json()["trouble"] == ""
        assert house.retrieve.asked == [PROBE, PROBE]


async def test_a_search_that_fails_is_said(serve: Serve, house: House) -> None:
    """As its reader would be told; once it works again the server is ready."""
    house.retrieve.failure = IndexUnavailable("The index is away.")
    async with serve() as client:
        reply = await client.get("/ready")
        assert (reply.status_code, reply.json()["trouble"]) == (503, "The index is away.")
        house.retrieve.failure = None
        house.clock.now_s += KEPT_S
        assert (await client.get("/ready")).status_code == 200


async def test_a_search_that_does_not_end_is_said(serve: Serve, house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the stage that does not end, while the process is alive; no second search waits behind it."""
    monkeypatch.setattr("lutrin.serve.probe.WAIT_S", 0.05)
    monkeypatch.setattr("lutrin.serve.probe.SLOW_S", 0.0)
    house.retrieve = held = HeldRetrieval()
    async with serve() as client:
        assert (await client.get("/ready")).status_code == 200  # it may still come
        house.clock.now_s += STUCK_S + 1
        for _ in range(3):
            reply = await client.get("/ready")
            assert reply.status_code == 503
            assert reply.json()["trouble"] == "No search has ended for 21 s (search for 0 s)."
        assert (await client.get("/health")).status_code == 200
        assert held.asked == [PROBE]
        held.go_on.set()
        await asyncio.sleep(0.01)
        assert (await client.get("/ready")).status_code == 200
    assert stages.running_for(0.0) == []


async def test_tasks_that_fail_are_named(serve: Serve, house: House) -> None:
    """The server is ready without them."""

    async def fail() -> None:
        raise OSError

    services = house.services()
    house.services = lambda: services  # type: ignore[method-assign]  # the server's own
    async with services.background.running(fail, name="mirror"), serve() as client:
        reply = await client.get("/ready")
        assert (reply.status_code, reply.json()["failing_tasks"]) == (200, ["mirror"])
