"""Commands of the server write as much as they like, and end with all that they have started."""

import asyncio
import os
import sys
import time
from pathlib import Path

import pytest

from lutrin.runtime.command import MAX_LINE_BYTES, run_command


def python(code: str) -> list[str]:
    """A command that runs some Python."""
    return [sys.executable, "-c", "import os, sys, time, subprocess\n" + code]


async def test_a_large_result_holds_nothing_up() -> None:
    """Two megabytes, between lines of progress."""
    lines: list[str] = []
    code = "print('a', file=sys.stderr); print('x' * 2_000_000); print('b', file=sys.stderr); sys.exit(3)"
    async with asyncio.timeout(20):
        exit_code, output = await run_command(python(code), lines.append)
    assert (exit_code, len(output), lines) == (3, 2_000_001, ["a", "b"])


@pytest.mark.parametrize("returns", [True, False])
async def test_a_line_without_an_end_is_cut(returns: bool) -> None:
    """What follows it is read all the same, wherever it was written."""
    lines: list[str] = []
    stream = "stderr" if returns else "stdout"
    code = f"sys.{stream}.write('x' * 300_000 + '\\n'); sys.{stream}.write('last')"
    async with asyncio.timeout(20):
        assert await run_command(python(code), lines.append, returns=returns) == (0, b"")
    assert [len(line) for line in lines] == [MAX_LINE_BYTES, 4]


async def test_a_cancelled_command_leaves_nothing(tmp_path: Path) -> None:
    """The command ends, although it ignores signals, and so does a child that holds its pipes."""
    pids = tmp_path / "pids"
    code = f"""
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
print("y" * 400_000, flush=True)
time.sleep(600)
"""
    running = asyncio.create_task(run_command(python(code), lambda _: None))
    deadline = time.monotonic() + 20
    while not (pids.exists() and len(pids.read_text().split()) == 2):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    running.cancel()
    async with asyncio.timeout(5):
        await asyncio.wait({running})
    assert running.cancelled()
    await asyncio.sleep(0.1)
    assert not any(_runs(int(pid)) for pid in pids.read_text().split())


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_a_command_that_falls_silent_is_ended() -> None:
    """Its caller gets the reason; a command that keeps printing may take as long as it needs."""
    lines: list[str] = []
    chatty = "for n in range(8): print(n, file=sys.stderr, flush=True); time.sleep(0.25)"
    assert await run_command(python(chatty), lines.append, silence_s=1.5) == (0, b"")
    with pytest.raises(TimeoutError):
        await run_command(
            python("print('last', file=sys.stderr, flush=True); time.sleep(600)"), lines.append, silence_s=1.5
        )
    assert lines == [*"01234567", "last"]
