"""Watches the folder of the books and reads new files without a command, once they have arrived completely.

A copy over a slow cable changes the folder for minutes. Nothing is read before sizes and times have been stable for
some seconds. Nothing is ever removed from the shelf: a book whose files are gone stays, and its teacher is told.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from watchfiles import Change, awatch

from lutrin.log import get_logger

SETTLED_S = 3.0
"""Seconds without a change before reading; a copy that pauses for longer is read again when it resumes."""
DEBOUNCE_MS = 500
Snapshot = dict[str, tuple[int, int]]

_log = get_logger("watch")


async def watch_folder(folder: Path, read: Callable[[], Awaitable[object]], settled_s: float = SETTLED_S) -> None:
    """Have the folder read after each change, until cancelled.

    Args:
        read: Reads the books now, or after the present ingestion.
    """
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    last: Snapshot = {}
    async for _ in awatch(folder, watch_filter=_concerns(folder), debounce=DEBOUNCE_MS):
        before: Snapshot | None = None
        while (now := await asyncio.to_thread(snapshot, folder)) != before:
            before = now
            await asyncio.sleep(settled_s)
        if now and now != last:  # what changed while it settled is told once more
            last = now
            _log.info("folder_changed", files=len(now))
            await read()


def snapshot(folder: Path) -> Snapshot:
    """Size and modification time of every file below a folder, except hidden ones."""
    found: Snapshot = {}
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if not name.startswith("."):
                path = Path(root, name)
                with suppress(OSError):  # it is gone again
                    status = path.stat()
                    found[str(path)] = (status.st_size, status.st_mtime_ns)
    return found


def _concerns(folder: Path) -> Callable[[Change, str], bool]:
    """Whether a change concerns readers: hidden files, such as an incomplete upload, do not."""
    inside = folder.resolve()

    def concerns(_: Change, path: str) -> bool:
        try:
            parts = Path(path).relative_to(inside).parts
        except ValueError:
            parts = (Path(path).name,)
        return not any(part.startswith(".") for part in parts)

    return concerns
