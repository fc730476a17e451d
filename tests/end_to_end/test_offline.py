"""The local profile opens no outgoing connection and looks up no name: not to ingest, not to ask, not to serve."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from . import books
from .conftest import Servers
from .offline.sitecustomize import EXIT_CODE, VARIABLE
from .processes import MODEL_PROCESS, environment, run

GUARD = Path(__file__).with_name("offline")


@pytest.fixture(scope="session")
def native_guard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The guard for compiled libraries; Lutrin needs a C compiler anyway."""
    library = tmp_path_factory.mktemp("guard") / "native.so"
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler, "a C compiler is needed, as for the set-up"
    source = GUARD / "native.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True, timeout=60)
    return library


@pytest.fixture
def guarded(tmp_path: Path, native_guard: Path) -> dict[str, Any]:
    """Variables that end every Python process that reaches out, and note what its compiled libraries try."""
    (tmp_path / "home").mkdir()
    return {
        "PYTHONPATH": str(GUARD),
        "LD_PRELOAD": str(native_guard),
        "HOME": str(tmp_path / "home"),
        VARIABLE: str(tmp_path / "network.log"),
    }


def log(guarded: dict[str, Any]) -> list[str]:
    """The guard's log."""
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


@pytest.mark.parametrize(
    "attempt",
    [
        "libc.getaddrinfo(b'example.org', b'80', None, ctypes.byref(ctypes.c_void_p()))",
        "libc.connect(libc.socket(2, 1, 0), bytes([2, 0, 0, 9, 192, 0, 2, 1]) + bytes(8), 16)",
        "libc.sendto(libc.socket(2, 2, 0), b'x', 1, 0, bytes([2, 0, 0, 9, 192, 0, 2, 1]) + bytes(8), 16)",
    ],
)
def test_the_guard_sees_compiled_code_that_reaches_out(guarded: dict[str, Any], attempt: str) -> None:
    """Connections by a library without Python's sockets are logged and refused, too."""
    code = f"import ctypes; libc = ctypes.CDLL(None); print({attempt})"
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **guarded}, check=True, timeout=60, capture_output=True
    )
    assert int(done.stdout) != 0
    assert log(guarded)[-1].startswith("refused native ")


@pytest.mark.model
def test_the_embedder_reports_to_nobody(guarded: dict[str, Any]) -> None:
    """ONNX Runtime, which reports to its publisher by default, leaves no identifier and no queue in the home folder."""
    code = "import lutrin, onnxruntime, time; onnxruntime.SessionOptions(); time.sleep(2)"
    environment = {name: value for name, value in os.environ.items() if name != "ORT_DISABLE_TELEMETRY"}
    subprocess.run([sys.executable, "-c", code], env={**environment, **guarded}, check=True, timeout=60)
    assert list(Path(guarded["HOME"]).rglob("*")) == []
    assert [line for line in log(guarded) if line.startswith("refused")] == []


@pytest.mark.model
@pytest.mark.gguf
@pytest.mark.slow("every command in a process of its own, and a server with a model")
def test_nothing_leaves_the_machine(
    models_dir: Path, serve: Servers, book: Path, tmp_path: Path, guarded: dict[str, Any]
) -> None:
    """Ingest, ask, serve with a language model, and every process that they start, work with the way out closed."""
    data = tmp_path / "data"
    known = environment(models_dir, data, LUTRIN_MODEL="tiny", **guarded)
    assert run(known, tmp_path, "ingest", book).code == 0
    asked = run(known, tmp_path, "ask", books.QUESTION, "--json")
    assert asked.code == 0, asked.err
    assert asked.json()["sources"][0]["book"] == books.SLUG
    server = serve(data, anew=True, LUTRIN_MODEL="tiny", **guarded)
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
    assert not (tmp_path / "home" / ".cache" / "Microsoft").exists()
    for part in ("lutrin ingest", "lutrin.index.readback", "lutrin ask", "lutrin serve"):
        assert [line for line in noted if part in line], f"no process of {part} was guarded"
    # An answer as JSON is whole before a model has been loaded.
    assert len([line for line in noted if MODEL_PROCESS in line]) == 1
