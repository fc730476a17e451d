"""The local profile opens no outgoing connection and looks up no name: not to ingest, not to ask, not to serve."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from . import books
from .conftest import Lutrin, Servers
from .offline.sitecustomize import EXIT_CODE, VARIABLE
from .processes import MODEL_PROCESS

GUARD = Path(__file__).with_name("offline")


@pytest.fixture
def guarded(tmp_path: Path) -> dict[str, Any]:
    """Variables that end every Python process that reaches out."""
    return {"PYTHONPATH": str(GUARD), VARIABLE: str(tmp_path / "network.log")}


def log(guarded: dict[str, Any]) -> list[str]:
    """What the guard has noted."""
    return Path(guarded[VARIABLE]).read_text("utf-8").splitlines()


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('192.0.2.1', 9), timeout=1)",
        "socket.getaddrinfo('example.org', 80)",
        "socket.gethostbyname('example.org')",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
        "asyncio.run(asyncio.open_connection('192.0.2.1', 9))",
    ],
)
@pytest.mark.parametrize("child", [False, True], ids=["itself", "in a child"])
def test_the_guard_sees_who_reaches_out(guarded: dict[str, Any], attempt: str, child: bool) -> None:
    """The guard can fail a test: connections, datagrams and name lookups end the process that tries, and children."""
    code = f"import asyncio, socket; {attempt}"
    if child:
        code = f"import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-P', '-c', {code!r}]))"
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **guarded}, check=False, timeout=60)
    assert done.returncode == EXIT_CODE
    assert log(guarded)[-1].startswith("refused socket.")


@pytest.mark.model
@pytest.mark.gguf
def test_nothing_leaves_the_machine(
    lutrin: Lutrin, serve: Servers, book: Path, tmp_path: Path, guarded: dict[str, Any]
) -> None:
    """Ingest, ask, serve with a language model, and every process that they start, work with the way out closed."""
    data = tmp_path / "data"
    assert lutrin("ingest", book, data_dir=data, **guarded).code == 0
    asked = lutrin("ask", books.QUESTION, "--json", data_dir=data, LUTRIN_MODEL="tiny", **guarded)
    assert asked.code == 0, asked.err
    assert asked.json()["sources"][0]["book"] == books.SLUG
    server = serve(data, LUTRIN_MODEL="tiny", **guarded)
    server.await_model()
    for path, body in (
        ("/api/query", {"query": books.QUESTION}),
        ("/chat", {"session_id": "reader", "message": books.QUESTION}),
        ("/api/retrieve", {"query": books.QUESTION}),
    ):
        assert server.client.post(path, json=body).status_code == httpx.codes.OK
    for path in ("/", "/ready", "/history/reader", "/schema", f"/read/{books.SLUG}/02-diving/01-ballast"):
        assert server.client.get(path).status_code == httpx.codes.OK, path
    assert server.end() == 0

    noted = log(guarded)
    assert [line for line in noted if line.startswith("refused")] == []
    for part in ("lutrin ingest", "lutrin.index.verify", "lutrin ask", "lutrin serve"):
        assert [line for line in noted if part in line], f"no process of {part} was guarded"
    assert len([line for line in noted if MODEL_PROCESS in line]) == 2
