"""Runs the server's commands in separate processes, and ends each with everything that it has started."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress

MAX_LINE_BYTES = 16_384
"""Bytes of one line of progress; longer lines are cut."""
BLOCK_BYTES = 65_536


async def run_command(
    command: Sequence[str],
    note: Callable[[str], None],
    variables: Mapping[str, str] | None = None,
    *,
    returns: bool = True,
    silence_s: float | None = None,
) -> tuple[int, bytes]:
    """Run a command to its end; kill it and its children if the caller is cancelled.

    Args:
        note: Called with each line that the command writes to its standard error.
        variables: Added to this process's environment.
        returns: Whether its standard output is a result; otherwise `note` gets those lines, too.
        silence_s: Seconds without a line after which it is killed; None: it may be silent forever.

    Returns:
        Its exit code, and its standard output if it is a result.

    Raises:
        TimeoutError: It was silent for too long.
    """
    loop = asyncio.get_running_loop()
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE if returns else asyncio.subprocess.STDOUT,
        env={**os.environ, **(variables or {})},
        start_new_session=True,  # so that its children can be ended with it
    )
    if process.stdout is None:
        raise TypeError("the output is a pipe")
    try:
        result = asyncio.create_task(process.stdout.read()) if process.stderr is not None else None
        # A pipe without a reader would block the command for ever.
        try:
            async with asyncio.timeout(silence_s) as patience:
                async for line in lines_of(process.stderr or process.stdout):
                    note(line)
                    patience.reschedule(None if silence_s is None else loop.time() + silence_s)
                if result is not None:
                    await result
        finally:
            if result is not None:
                result.cancel()
        return await process.wait(), result.result() if result is not None else b""
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()


async def lines_of(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    """Lines of a pipe, of any length; a line longer than `MAX_LINE_BYTES` is cut."""
    held = b""
    while block := await stream.read(BLOCK_BYTES):
        *whole, held = (held + block).split(b"\n")
        for line in whole:
            yield _text(line)
        held = held[:MAX_LINE_BYTES]
    if held:
        yield _text(held)


def _text(line: bytes) -> str:
    return line[:MAX_LINE_BYTES].decode(errors="replace").rstrip()
