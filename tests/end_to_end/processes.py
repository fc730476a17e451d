"""Lutrin as its users start it: processes of their own, a bare environment, bounded waits."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import httpx
import msgspec
from tests.loopback import NO_TLS

LUTRIN = Path(sys.executable).with_name("lutrin")
"""The command as it was installed beside this Python."""
COMMAND_S = 180.0
"""Longest time for one command; the machine may be busy with other things."""
START_S = 120.0
"""Longest time until a server answers, or its model is loaded."""
END_S = 30.0
"""Longest time until a process that was told to end has ended."""
MODEL_PROCESS = "lutrin.generate.child"
"""Stands in the command line of the process that owns the language model."""
INHERITED = ("HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TMPDIR")

Wait = Callable[[], object]


def environment(models_dir: Path, data_dir: Path, **variables: str) -> dict[str, str]:
    """The environment of a Lutrin process: none of the caller's settings, no model, and the given variables.

    Args:
        models_dir: Folder of the manifest and the model files.
        data_dir: Where the catalogue, indexes and conversations lie.
        **variables: Further variables; they win.
    """
    bare = {name: os.environ[name] for name in INHERITED if name in os.environ}
    own = {"LUTRIN_MODELS_DIR": str(models_dir), "LUTRIN_DATA_DIR": str(data_dir), "LUTRIN_MODEL": "none"}
    return {**bare, **own, **variables}


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Its output as JSON; standard output must contain nothing else."""
        return msgspec.json.decode(self.out)


def run(environment: Mapping[str, str], cwd: Path, *arguments: str | Path, within_s: float = COMMAND_S) -> Done:
    """Run `lutrin ARGUMENTS` to its end."""
    done = subprocess.run(
        [LUTRIN, *arguments],
        env=environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=within_s,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def wait_until(happened: Wait, within_s: float, what: str) -> None:
    """Look again and again until something is so.

    Raises:
        AssertionError: It was not in time.
    """
    end_s = time.monotonic() + within_s
    while not happened():
        assert time.monotonic() < end_s, f"not within {within_s:g} s: {what}"
        time.sleep(0.02)


def flip_a_byte(path: Path) -> None:
    """Change one bit in the middle of a file, which becomes a file of its own if it was a link."""
    if path.is_symlink():
        original = path.resolve()
        path.unlink()
        shutil.copyfile(original, path)
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        (byte,) = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


def free_port() -> int:
    """A port of the loopback interface without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def children(pid: int) -> list[int]:
    """Processes whose parent is `pid`, as /proc tells (proc(5), `stat`, the fourth field)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            except OSError:
                continue  # it has ended meanwhile
            if int(fields[1]) == pid:
                found.append(int(entry.name))
    return found


def cpu_s(pid: int) -> float:
    """Seconds of computing that a process has had (proc(5), `stat`, utime and stime)."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def exists(pid: int) -> bool:
    """Whether a process is there and is more than a line in its parent's books."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Process(Protocol):
    """The part of `subprocess.Popen` that a server needs."""

    @property
    def pid(self) -> int:
        """Process id."""

    def poll(self) -> int | None:
        """Its exit code, negative if a signal ended it; none while it runs."""

    def wait(self, timeout: float, /) -> int:
        """The same, once it has ended, within so many seconds."""

    def send_signal(self, number: signal.Signals, /) -> None:
        """Send it a signal."""

    def kill(self) -> None:
        """End it at once."""


Start = Callable[[Mapping[str, str], Path, Path, list[str]], Process]
"""Begins a command that stays: environment, folder, log and arguments."""


def start_anew(environment: Mapping[str, str], cwd: Path, log: Path, arguments: list[str]) -> Process:
    """`lutrin ARGUMENTS` in a Python of its own."""
    with log.open("ab") as out:
        return subprocess.Popen(
            [LUTRIN, *arguments],
            env=environment,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )


class Server:
    """`lutrin serve` in a process of its own.

    Args:
        environment: Of the process.
        cwd: Folder that it is started in.
        log: File that gets what it prints.
        arguments: Further arguments of the command.
        start: How it is started.
    """

    def __init__(
        self, environment: Mapping[str, str], cwd: Path, log: Path, *arguments: str, start: Start = start_anew
    ) -> None:
        self.log = log
        self.port = free_port()
        self._environment = dict(environment)
        self._cwd = cwd
        self._arguments = arguments
        self._start = start
        self._process: Process | None = None
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}", timeout=COMMAND_S, trust_env=False, verify=NO_TLS
        )

    @property
    def pid(self) -> int:
        """Process id of the server itself."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> "Server":
        """Start it, on the same port each time, and wait until it answers."""
        arguments = ["serve", "--port", str(self.port), *self._arguments]
        self._process = self._start(self._environment, self._cwd, self.log, arguments)
        wait_until(self._answers, START_S, "the server answers on /health")
        return self

    def model_pid(self) -> int | None:
        """The process that owns the language model, if there is one now."""
        return next((pid for pid in children(self.pid) if MODEL_PROCESS in _command_line(pid)), None)

    def await_model(self) -> int:
        """Wait until the language model is loaded; its process."""
        wait_until(lambda: self.client.get("/ready").json()["model_ready"], START_S, "the model is loaded")
        pid = self.model_pid()
        assert pid is not None
        return pid

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit code, negative if the signal ended it."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(number)
        try:
            return self._process.wait(END_S)
        finally:
            if self._process.poll() is None:
                self._process.kill()
                self._process.wait(END_S)

    def close(self) -> None:
        """End it if it still runs, and close the connections to it."""
        if self._process is not None:
            self.end()
        self.client.close()

    def printed(self) -> str:
        """Everything that it has printed so far."""
        return self.log.read_text("utf-8", "replace") if self.log.exists() else ""

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, f"the server has ended:\n{self.printed()}"
        try:
            return self.client.get("/health").status_code == httpx.codes.OK
        except httpx.TransportError:
            return False


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8", "replace")
    except OSError:
        return ""
