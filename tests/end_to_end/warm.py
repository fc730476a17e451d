"""Commands of Lutrin in forks of one process that has loaded their modules: a hundred commands need not wait for them.

Each command has its own process, environment, folder and standard streams, as if it had been started by itself; only
what Python has imported is there already. Tests of the start itself use `processes.run`.
"""

import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from .processes import COMMAND_S, LUTRIN, Done

SOURCE = """
import atexit, importlib, json, os, sys
given = dict(os.environ)
from lutrin.cli import main as cli
for name in sys.argv[2:]:
    importlib.import_module(name)
made = {name: value for name, value in os.environ.items() if name not in given}
command = sys.argv[1]
print("ready", flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    pid = os.fork()
    if pid:
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
        continue
    os.environ.clear()
    os.environ.update(made | asked["environment"])
    os.chdir(asked["cwd"])
    for number, name in enumerate((os.devnull, asked["out"], asked["err"])):
        os.dup2(os.open(name, os.O_RDWR), number)
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
)
REMOTE = (*LOADED, "asyncpg", "openai", "qdrant_client", "lutrin_remote.parts")
"""With what the remote profile loads besides."""


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
        assert self._process.stdin is not None
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            out.touch()
            err.touch()
            asked = {
                "arguments": [str(argument) for argument in arguments],
                "environment": dict(environment),
                "cwd": str(cwd or self._cwd),
                "out": str(out),
                "err": str(err),
            }
            self._process.stdin.write(msgspec.json.encode(asked) + b"\n")
            self._process.stdin.flush()
            code = int(self._line(within_s))
            return Done(code, out.read_text("utf-8"), err.read_text("utf-8"))

    def close(self) -> None:
        """End it."""
        self._process.communicate()

    def _line(self, within_s: float) -> str:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], within_s)
        assert ready, f"the command has not ended within {within_s:g} s"
        return os.read(self._process.stdout.fileno(), 100).decode().strip()
