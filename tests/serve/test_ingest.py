"""Ingestion over HTTP: off by default, one at a time, watched from outside."""

import asyncio
from collections.abc import Callable, Mapping

from lutrin.errors import EmptyCorpus
from lutrin.messages import INGEST_IN_PROGRESS, INGEST_OFF, WRONG_TOKEN

from .conftest import House, Serve

TOKEN = {"Authorization": "Bearer correct-horse-battery"}


class Scripted:
    """An ingestion that waits for the test in the middle."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.go_on = asyncio.Event()
        self.failure = failure

    async def __call__(self, progress: Callable[[str], None]) -> Mapping[str, int | float | str]:
        """Ingest."""
        await asyncio.to_thread(progress, "Processing 01-chapter... 12 chunks created")
        await self.go_on.wait()
        if self.failure is not None:
            raise self.failure
        return {"processed": 1, "seconds": 0.5}


async def test_off_without_a_token(serve: Serve, house: House) -> None:
    """403, and the problem says how to switch it on."""
    house.ingest = Scripted()
    async with serve() as client:
        for headers in ({}, TOKEN):
            reply = await client.post("/ingest", headers=headers)
            assert (reply.status_code, reply.json()["detail"]) == (403, INGEST_OFF)


async def test_a_wrong_token_is_refused(serve: Serve, house: House) -> None:
    """Missing, wrong, or in another scheme: 403, for starting and for watching."""
    house.ingest = Scripted()
    async with serve(admin_token="correct-horse-battery") as client:
        for value in (
            "",
            "Bearer",
            "Bearer wrong",
            "correct-horse-battery",
            "Basic correct-horse-battery",
            "Bearer Correct-Horse",
        ):
            reply = await client.post("/ingest", headers={"Authorization": value} if value else {})
            assert (reply.status_code, reply.json()["detail"]) == (403, WRONG_TOKEN)
        assert (await client.get("/ingest/0123")).status_code == 403


async def test_a_job_is_watched(serve: Serve, house: House) -> None:
    """Started, followed by its lines, done with its figures; a second one meanwhile is refused."""
    house.ingest = ingest = Scripted()
    async with serve(admin_token="correct-horse-battery") as client:
        begun = await client.post("/ingest", headers=TOKEN)
        assert begun.status_code == 202
        path = begun.headers["location"]
        second = await client.post("/ingest", headers=TOKEN)
        assert (second.status_code, second.json()["detail"]) == (409, INGEST_IN_PROGRESS)
        for _ in range(100):
            running = (await client.get(path, headers=TOKEN)).json()
            if running["progress"]:
                break
        assert running["state"] == "running"
        assert running["progress"] == ["Processing 01-chapter... 12 chunks created"]
        ingest.go_on.set()
        for _ in range(100):
            job = (await client.get(path, headers=TOKEN)).json()
            if job["state"] != "running":
                break
        assert (job["state"], job["summary"]) == ("done", {"processed": 1, "seconds": 0.5})
        assert (await client.get("/ingest/unknown", headers=TOKEN)).status_code == 404


async def test_a_server_that_ends_does_not_wait_for_a_job(serve: Serve, house: House) -> None:
    """Ingestion is safe to interrupt; the server leaves at once."""
    house.ingest = Scripted()
    async with serve(admin_token="correct-horse-battery") as client:
        assert (await client.post("/ingest", headers=TOKEN)).status_code == 202


async def test_a_failed_job_says_why(serve: Serve, house: House) -> None:
    """The error's own sentence, and the next job may start."""
    house.ingest = ingest = Scripted(failure=EmptyCorpus("There is nothing to read in corpus/."))
    ingest.go_on.set()
    async with serve(admin_token="correct-horse-battery") as client:
        path = (await client.post("/ingest", headers=TOKEN)).headers["location"]
        for _ in range(100):
            job = (await client.get(path, headers=TOKEN)).json()
            if job["state"] != "running":
                break
        assert (job["state"], job["detail"]) == ("failed", "There is nothing to read in corpus/.")
        assert (await client.post("/ingest", headers=TOKEN)).status_code == 202
