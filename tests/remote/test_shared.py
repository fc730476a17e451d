"""Two servers on one database: limits and cut streams, whichever of them a request reaches."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any

import pytest
from tests.remote.postgres import Cluster

from lutrin.chats.key import KeySeal, new_key
from lutrin.errors import ChatStoreError, IngestInProgress, InvalidSettings, NotFound, RateLimited
from lutrin.messages import INGEST_LEFT
from lutrin.serve.routes.ingest import SILENT_S, Jobs
from lutrin_remote.postgres_chats import SharedDatabase, ingest_alone

KEY = new_key()
ASKED = "fingerprint"
HOLDER = """
import asyncio, sys
from lutrin_remote.postgres_chats import ingest_alone

async def hold():
    async with ingest_alone(sys.argv[1]):
        print("held", flush=True)
        await asyncio.sleep(60)

asyncio.run(hold())
"""


@pytest.fixture
async def servers(postgres_url: str) -> AsyncIterator[tuple[SharedDatabase, SharedDatabase]]:
    """Two processes' connections to one database."""
    first = await SharedDatabase.open(postgres_url, KeySeal(KEY), bytes.fromhex(KEY))
    second = await SharedDatabase.open(postgres_url, KeySeal(KEY), bytes.fromhex(KEY))
    yield first, second
    await first.close()
    await second.close()


async def test_fifty_at_once_on_two_servers_admit_exactly_ten(servers: tuple[SharedDatabase, SharedDatabase]) -> None:
    """However the requests are spread, the limit is one; the pause that is named is exact."""
    began = time.monotonic()
    asked = (servers[n % 2].admit([("session a", 10), (f"peer {n % 3}", 300)]) for n in range(50))
    results = await asyncio.gather(*asked, return_exceptions=True)
    refused = [error for error in results if isinstance(error, RateLimited)]
    assert (results.count(None), len(refused)) == (10, 40)
    assert all(59 - (time.monotonic() - began) <= error.retry_after_s <= 60 for error in refused)


async def test_a_question_counts_under_both_keys_or_none(servers: tuple[SharedDatabase, SharedDatabase]) -> None:
    """A session that is refused uses up nothing of its peer's allowance."""
    first, second = servers
    await first.admit([("session a", 1), ("peer p", 2)])
    for _ in range(3):
        with pytest.raises(RateLimited):
            await second.admit([("session a", 1), ("peer p", 2)])
    await second.admit([("session b", 1), ("peer p", 2)])
    with pytest.raises(RateLimited):
        await first.admit([("session c", 1), ("peer p", 2)])


async def test_the_window_slides(servers: tuple[SharedDatabase, SharedDatabase]) -> None:
    """A minute after a question there is room for another; here the stored times are made a minute older."""
    first, second = servers
    await first.admit([("session a", 1)])
    await first.pool.execute("UPDATE lutrin_rate SET times = ARRAY[times[1] - 58.5]")
    with pytest.raises(RateLimited) as caught:
        await second.admit([("session a", 1)])
    assert caught.value.retry_after_s == 2
    await first.pool.execute("UPDATE lutrin_rate SET times = ARRAY[times[1] - 1.6]")
    await second.admit([("session a", 1)])


async def test_no_address_and_no_word_lies_in_the_tables(servers: tuple[SharedDatabase, SharedDatabase]) -> None:
    """Keys are hashed, events are sealed."""
    first, _ = servers
    await first.admit([("peer 192.0.2.7", 5)])
    await first.keep("t" * 32, ASKED, 1, [b'{"type":"needle"}'])
    await first.post("j" * 32, b'{"progress":["Processing needle..."]}')
    tables = ("rate", "event", "job")
    rows = [str(dict(row)) for table in tables for row in await first.pool.fetch(f"TABLE lutrin_{table}")]
    assert len(rows) == 3
    assert not any("192.0.2.7" in row or "needle" in row for row in rows)


async def test_events_of_one_server_are_known_to_the_other(servers: tuple[SharedDatabase, SharedDatabase]) -> None:
    """In order, as far as they are whole, and to the same question of the same reader only."""
    first, second = servers
    await first.keep("t", ASKED, 1, [b'{"a":1}', b'{"a":2}'])
    await second.keep("t", ASKED, 4, [b'{"a":4}'])
    assert await second.recall("t", ASKED) == [b'{"a":1}', b'{"a":2}']
    assert await second.recall("t", "another") == []
    assert await second.recall("unknown", ASKED) == []


async def test_an_ingestion_of_one_server_is_seen_at_the_other(servers: tuple[SharedDatabase, SharedDatabase]) -> None:
    """From its first moment, with its lines while it runs and its figures in the end; an unknown one is nowhere."""
    here, there = (Jobs(server) for server in servers)
    go_on = asyncio.Event()
    tasks: list[asyncio.Task[None]] = []

    def spawn(work: Coroutine[Any, Any, None], *, vital: bool = False) -> "asyncio.Task[None]":
        assert not vital
        tasks.append(asyncio.create_task(work))
        return tasks[0]

    async def ingest(progress: Callable[[str], None]) -> Mapping[str, int | float | str]:
        progress("Processing 01-chapter... 12 chunks created")
        await go_on.wait()
        return {"processed": 1}

    begun = await here.start(ingest, spawn)
    assert (await there.get(begun.job)).state == "running"
    async with asyncio.timeout(20):
        while not (await there.get(begun.job)).progress:  # noqa: ASYNC110 - the other server offers no event
            await asyncio.sleep(0.05)
    go_on.set()
    await tasks[0]
    assert await there.get(begun.job) == await here.get(begun.job)
    assert (await there.get(begun.job)).summary == {"processed": 1}
    with pytest.raises(NotFound):
        await there.get("unknown")


async def test_an_ingestion_whose_server_is_gone_has_failed(servers: tuple[SharedDatabase, SharedDatabase]) -> None:
    """It shows no sign of life: the other server says so, and does not let it run for ever."""
    here, there = servers
    running = b'{"job":"j1","state":"running","progress":[]}'
    await here.post("j1", running)
    assert (await Jobs(there).get("j1")).state == "running"
    await here.pool.execute("UPDATE lutrin_job SET posted = posted - $1", SILENT_S + 1)
    job = await Jobs(there).get("j1")
    assert (job.state, job.detail) == ("failed", INGEST_LEFT)


async def test_one_ingest_on_all_machines(postgres_url: str) -> None:
    """A second ingest exits at once; a killed process releases the lock."""
    async with ingest_alone(postgres_url):
        with pytest.raises(IngestInProgress):
            async with ingest_alone(postgres_url):
                pass
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDER, postgres_url, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    assert await child.stdout.readline() == b"held\n"
    with pytest.raises(IngestInProgress):
        async with ingest_alone(postgres_url):
            pass
    child.kill()
    await child.wait()
    async with asyncio.timeout(5):
        while True:
            try:
                async with ingest_alone(postgres_url):
                    return
            except IngestInProgress:
                await asyncio.sleep(0.05)


async def test_a_database_that_is_away_is_named(postgres: Cluster) -> None:
    """An address without a listener, a missing database, and an invalid address."""
    seal = KeySeal(KEY)
    with pytest.raises(ChatStoreError, match="cannot be reached"):
        await SharedDatabase.open("postgresql://lutrin@127.0.0.1:1/x", seal, b"k")
    with pytest.raises(ChatStoreError, match="refuses the connection"):
        await SharedDatabase.open(postgres.url("nowhere"), seal, b"k")
    with pytest.raises(InvalidSettings, match="DATABASE_URL"):
        await SharedDatabase.open("mysql://x", seal, b"k")
