"""One log line a question: ids, timings, scores, outcome; never a reader's words, anywhere on the machine."""

import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import structlog

from lutrin.errors import IndexUnavailable
from lutrin.log import FOLD_AFTER, Folding, LibraryHandler, configure_logging, get_logger, report_repeats
from lutrin.settings import load_settings

from .conftest import House, Serve
from .scripted import EVENTS, Clock

NEEDLE = "Xylophone-needle-42"


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The server's log."""
    stream = io.StringIO()
    configure_logging(load_settings(log_level="debug", log_format="json"), stream)
    yield stream
    structlog.reset_defaults()
    logging.captureWarnings(capture=False)
    for handler in [item for item in logging.getLogger().handlers if isinstance(item, LibraryHandler)]:
        logging.getLogger().removeHandler(handler)


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
        await client.post(
            "/chat", content=f'{{"message": "{NEEDLE}'.encode(), headers={"Content-Type": "application/json"}
        )
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
    """Questions and answers appear only if the operator asks for them."""
    seen: list[str] = []
    house.echo = seen.append
    async with serve() as client:
        await client.post("/chat", json={"session_id": "s1", "message": f"What is {NEEDLE}?"})
    assert len(seen) == 1
    assert f"What is {NEEDLE}?" in seen[0]
    assert "The loop joins" in seen[0]
    assert NEEDLE not in log.getvalue()


NOISE = """
import ctypes, logging, os, sys, threading, warnings
from lutrin.log import configure_logging, get_logger
from lutrin.settings import load_settings
configure_logging(load_settings(log_format="json"))
logging.getLogger("uvicorn.error").warning("Invalid %s received.", "Xylophone-needle-42")
try:
    raise ValueError("Xylophone-needle-42")
except ValueError:
    logging.getLogger("asyncio").exception("Task exception was never retrieved")
warnings.warn("an old way of doing things")
os.write(2, b"ERROR CORE sqlcipher_page_cipher: hmac check failed\\n")
print("something on stderr", file=sys.stderr, flush=True)
def fail():
    raise RuntimeError("Xylophone-needle-42")
thread = threading.Thread(target=fail)
thread.start()
thread.join()
if os.fork() == 0:
    os.write(2, b'{"event": "of a child"}\\n')
    os._exit(0)
os.wait()
os.write(2, b"the last\\n")
import time
while "the last" not in open(sys.argv[1]).read():
    time.sleep(0.01)
raise KeyError("Xylophone-needle-42")
"""


def test_everything_that_writes_writes_json(tmp_path: Path) -> None:
    """Libraries, warnings, native code, children, threads and the end: an object a line, no reader's words."""
    path = tmp_path / "log"
    with path.open("w") as out:
        subprocess.run([sys.executable, "-c", NOISE, str(path)], stderr=out, check=False, timeout=60)
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert NEEDLE not in path.read_text()
    said = [(line["event"], line.get("library", line.get("where", "")), line.get("error", "")) for line in found]
    assert set(said) == {
        ("library", "uvicorn.error", ""),
        ("library", "asyncio", "ValueError"),
        ("library", "py.warnings", ""),
        ("printed", "", ""),
        ("uncaught", "thread", "RuntimeError"),
        ("of a child", "", ""),
        ("uncaught", "main", "KeyError"),
    }
    printed = [line["message"] for line in found if line["event"] == "printed"]
    assert printed == ["ERROR CORE sqlcipher_page_cipher: hmac check failed", "something on stderr", "the last"]


def test_a_line_that_repeats_is_counted_instead(log: io.StringIO) -> None:
    """A million warnings of a kind are ten lines a minute; other lines go on, and so do lines about questions."""
    clock = Clock()
    folding = Folding(clock)
    structlog.configure(processors=[structlog.processors.add_log_level, folding, structlog.processors.JSONRenderer()])
    for _ in range(1000):
        get_logger("serve").warning("connection_too_slow")
        get_logger("serve").info("question")
    get_logger("serve").warning("another")
    assert [line["event"] for line in lines(log) if line["level"] == "warning"] == [
        "connection_too_slow"
    ] * FOLD_AFTER + ["another"]
    assert sum(line["event"] == "question" for line in lines(log)) == 1000
    clock.now_s += 60
    get_logger("serve").warning("connection_too_slow")
    assert lines(log)[-1]["folded"] == 990
    clock.now_s += 60
    for _ in range(15):
        get_logger("serve").warning("another")
    clock.now_s += 60
    report_repeats()
    assert (lines(log)[-1]["of"], lines(log)[-1]["times"]) == ("another", 5)


def test_the_loggers_of_libraries_stand_among_ours(log: io.StringIO) -> None:
    """Below a warning they are not heard."""
    logging.getLogger("some.library").warning("Something is odd")
    logging.getLogger("some.library").info("All is well")
    assert [line["message"] for line in lines(log) if line["event"] == "library"] == ["Something is odd"]
