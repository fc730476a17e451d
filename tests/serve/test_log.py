"""One log line a question: ids, timings, scores, outcome; never a reader's words, anywhere on the machine."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import structlog

from lutrin.errors import IndexUnavailable
from lutrin.log import configure_logging
from lutrin.settings import load_settings

from .conftest import House, Serve
from .scripted import EVENTS

NEEDLE = "Xylophone-needle-42"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What the server writes to its log."""
    stream = io.StringIO()
    configure_logging(load_settings(log_level="debug", log_format="json"), stream)
    yield stream
    structlog.reset_defaults()


def lines(log: io.StringIO) -> list[dict[str, object]]:
    """The lines of a log."""
    return [json.loads(line) for line in log.getvalue().splitlines()]


def stored(folder: Path) -> bytes:
    """All bytes of all files."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


async def test_a_line_for_each_question(log: io.StringIO, client: httpx.AsyncClient) -> None:
    """With what an operator needs to know."""
    reply = await client.post("/chat", json={"session_id": "s1", "message": "Q"})
    (line,) = [line for line in lines(log) if line["event"] == "question"]
    assert line["message"] == reply.headers["x-lutrin-message"]
    assert (line["surface"], line["mode"], line["kind"], line["refusal"]) == ("chat", "book", "generated", None)
    assert (line["generation"], line["model"], line["outcome"], line["scores"]) == ("g1", "scripted", "done", [0.91])
    assert set(line["stages_ms"]) == {"queued", "sources", "excerpt", "sentence", "done"}  # type: ignore[call-overload]


async def test_the_needle_is_nowhere(log: io.StringIO, serve: Serve, house: House, tmp_path: Path) -> None:
    """In no log line and no file, whether the question was answered, refused, cut off, malformed or failed."""
    secret = {"X-Lutrin-Client": f"secret-{NEEDLE}"}
    body = {"session_id": "s1", "message": f"What is {NEEDLE}?", "selected_text": f"a {NEEDLE}"}
    async with serve() as client:
        await client.post("/chat", json=body, headers=secret)
        await client.post("/chat", json=body, headers={**secret, "Accept": "text/event-stream"})
        await client.get("/history/s1", headers=secret)
        await client.patch("/sessions/s1", json={"title": NEEDLE}, headers=secret)
        await client.post("/chat", json={**body, "session_id": f"{NEEDLE} not an id"}, headers=secret)
        await client.post("/chat", content=f'{{"message": "{NEEDLE}'.encode())
        await client.post("/api/query", json={"query": NEEDLE, "top_k": NEEDLE})
        await client.post("/api/retrieve", json={"query": NEEDLE})
        house.answers.events = EVENTS[:2]
        for failure in (ValueError(NEEDLE), IndexUnavailable("the disk")):
            house.answers.failure = failure
            await client.post("/chat", json=body, headers=secret)
            await client.post("/chat", json=body, headers={**secret, "Accept": "text/event-stream"})
        written = stored(tmp_path)
    assert len(lines(log)) >= 8
    assert NEEDLE not in log.getvalue()
    assert NEEDLE.encode() not in written
    assert (tmp_path / "chats.db").stat().st_size > 0


async def test_echo_is_for_the_terminal(log: io.StringIO, serve: Serve, house: House) -> None:
    """Questions and answers go to whoever asked to see them, and to nobody else."""
    seen: list[str] = []
    house.echo = seen.append
    async with serve() as client:
        await client.post("/chat", json={"session_id": "s1", "message": f"What is {NEEDLE}?"})
    assert len(seen) == 1
    assert f"What is {NEEDLE}?" in seen[0]
    assert "The loop joins" in seen[0]
    assert NEEDLE not in log.getvalue()
