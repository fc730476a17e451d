"""Books made to stop a server, uploaded with a valid token: readers notice nothing, and later uploads are read."""

import statistics
import time
from pathlib import Path

import httpx
import pytest

from . import books
from .conftest import Servers
from .processes import Server, wait_until

pytestmark = pytest.mark.model

TOKEN = {"Authorization": "Bearer a-token-of-a-teacher"}
JOBS_S = 600.0
"""Longest time of both jobs, which stand back behind everything else that the machine has to do."""
QUICK_S = 1.0
PAUSE_S = 0.5
"""Between two questions: without it the books, which stand back, would hardly be read."""
BOMBS = {
    "asides.md": "^[" * 5_000,
    "brackets.md": "[" * 9_000,
    "quotes.md": "\n".join(">" * depth + " a" for depth in range(1, 200)),
    "deep.md": "> - " * 3_000,
    "braces.mdx": "<a b={" * 8_000,
}
"""All are parsed in the limited process; of the MDX file a brace is never closed."""
COMPANION = '{"kind": "explain", "file": "late.md", "topic": "' + "[" * 20_000 + '", "text": "' + "^[" * 4_000 + '"}\n'
"""An entry of brackets, which no book can hold to."""


def send(server: Server, files: list[tuple[str, str]], **fields: str) -> str:
    """Upload files; return the path of the job that reads them."""
    parts = [("files", (name, text.encode())) for name, text in files]
    reply = server.client.post("/books", files=parts, data=fields, headers=TOKEN)
    assert reply.status_code == httpx.codes.ACCEPTED, reply.text
    return str(reply.headers["Location"])


def answer_s(server: Server, number: int) -> float:
    """Seconds until a new question is answered."""
    began_s = time.monotonic()
    reply = server.client.post("/api/query", json={"query": f"{books.QUESTION} Number {number}, please."})
    assert reply.status_code == httpx.codes.OK
    assert books.ANSWER_FILE in {source["filename"] for source in reply.json()["sources"]}
    return time.monotonic() - began_s


@pytest.mark.slow("books are read beside a server")
def test_a_bomb_that_is_uploaded_stops_nobody(serve: Servers, data_dir: Path, tmp_path: Path) -> None:
    """Questions are answered meanwhile; the job ends with a line for the file that is not read, and the next begins."""
    (tmp_path / "corpus").mkdir()
    server = serve(
        data_dir,
        LUTRIN_ADMIN_TOKEN="a-token-of-a-teacher",
        LUTRIN_CORPUS_DIR=str(tmp_path / "corpus"),
        LUTRIN_RATE_SESSION_PER_MIN="0",
    )
    usual_s = statistics.median(answer_s(server, number) for number in range(5))
    bombs = [(name, f"# Start\n\nFirst words.\n\n{bomb}\n") for name, bomb in BOMBS.items()]
    bombed = send(server, bombs, each="true")
    files = [("late.md", "# Late\n\nA neap tide is low."), ("companion.jsonl", COMPANION)]
    later = send(server, files, book="late")
    took: list[float] = []

    def have_ended() -> bool:
        time.sleep(PAUSE_S)
        took.append(answer_s(server, 100 + len(took)))
        states = [server.client.get(path, headers=TOKEN).json()["state"] for path in (bombed, later)]
        assert "failed" not in states
        return states == ["done", "done"]

    wait_until(have_ended, JOBS_S, "the books are read")
    assert statistics.median(took) < max(QUICK_S, 3 * usual_s)
    lines = "\n".join(server.client.get(bombed, headers=TOKEN).json()["progress"])
    assert "braces.mdx: line " in lines
    reply = server.client.post("/api/query", json={"query": "What is a neap tide?", "book": "late"})
    assert "neap tide is low" in reply.json()["answer"]
