"""Commands of Lutrin in forks of one process that has loaded their modules: a hundred commands need not wait for them.

Each command has its own process, environment, folder and standard streams, as if it had been started by itself; only
what Python has imported is there already. A server of a test is such a fork, too, unless the test starts it anew.
Tests of the start itself use `processes.run`.
"""

import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from .processes import COMMAND_S, LUTRIN, Done, exists, wait_until

SOURCE = """
import atexit, gc, importlib, json, os, sys
given = dict(os.environ)
from lutrin.cli import main as cli
for name in sys.argv[2:]:
    importlib.import_module(name)
made = {name: value for name, value in os.environ.items() if name not in given}
command = sys.argv[1]
gc.freeze()  # a fork's collector would write to what all share, and so copy it
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    pid = asked.get("ended") or os.fork()
    if pid:
        print(pid if asked.get("stays") else os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
        continue
    os.environ.clear()
    os.environ.update(made | asked["environment"])
    os.chdir(asked["cwd"])
    for number, name in enumerate((os.devnull, asked["out"], asked["err"])):
        os.dup2(os.open(name, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600), number)
    sys.argv = [command, *asked["arguments"]]
    code = 70
    try:
        cli.main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        atexit._run_exitfuncs()  # what a process does at its end that is not left by os._exit
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
"""
LOADED = (
    "chromadb",
    "fastembed",
    "onnxruntime",
    "lutrin.runtime.wiring",
    "lutrin.adapters.index_chroma",
    "lutrin.runtime.profile",
    "lutrin.serve.app",
    "uvicorn",
)
REMOTE = (*LOADED, "asyncpg", "openai", "qdrant_client", "lutrin_remote.parts")
"""With what the remote profile loads besides."""


class Fork:
    """A command that stays, as `subprocess.Popen` would have it.

    Args:
        warm: The process that it is a fork of.
        pid: Its own.
    """

    def __init__(self, warm: "Warm", pid: int) -> None:
        self.pid = pid
        self._warm = warm
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, negative if a signal ended it; none while it runs."""
        if self._code is None and not exists(self.pid):
            self._code = self._warm.code_of(self.pid)
        return self._code

    def wait(self, within_s: float = COMMAND_S) -> int:
        """Its exit code, once it has ended."""
        wait_until(lambda: self.poll() is not None, within_s, "the command has ended")
        assert self._code is not None
        return self._code

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


class Warm:
    """The process that is forked, as long as the block runs.

    Args:
        environment: In which it loads the modules.
        cwd: Folder in which it and the commands run, unless they are given another.
        loaded: The modules.
    """

    def __init__(self, environment: Mapping[str, str], cwd: Path, loaded: Sequence[str] = LOADED) -> None:
        self._cwd = cwd
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", SOURCE, str(LUTRIN), *loaded],
            env=dict(environment),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._line(COMMAND_S) == "ready"

    def run(
        self,
        environment: Mapping[str, str],
        *arguments: str | Path,
        within_s: float = COMMAND_S,
        cwd: Path | None = None,
    ) -> Done:
        """Run `lutrin ARGUMENTS` to its end."""
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            code = self._ask(
                within_s,
                arguments=[str(argument) for argument in arguments],
                environment=dict(environment),
                cwd=str(cwd or self._cwd),
                out=str(out),
                err=str(err),
            )
            return Done(code, out.read_text("utf-8"), err.read_text("utf-8"))

    def start(self, environment: Mapping[str, str], cwd: Path, log: Path, arguments: list[str]) -> Fork:
        """Start `lutrin ARGUMENTS`, which adds what it prints to a log."""
        asked = {"environment": dict(environment), "cwd": str(cwd), "out": str(log), "err": str(log)}
        return Fork(self, self._ask(COMMAND_S, arguments=arguments, stays=True, **asked))

    def code_of(self, pid: int) -> int:
        """Exit code of a command that has ended."""
        return self._ask(COMMAND_S, ended=pid)

    def close(self) -> None:
        """End it."""
        self._process.communicate()

    def _ask(self, within_s: float, **asked: object) -> int:
        """Have one line of the process's loop done; what it prints."""
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(asked) + b"\n")
        self._process.stdin.flush()
        return int(self._line(within_s))

    def _line(self, within_s: float) -> str:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], within_s)
        assert ready, f"the command has not ended within {within_s:g} s"
        return os.read(self._process.stdout.fileno(), 100).decode().strip()
