"""How much room the disk has: below a floor nothing is stored, and answers go on; without any, no server starts."""

import shutil
from collections.abc import Callable
from pathlib import Path

from lutrin.errors import LutrinError

LOOK_EVERY_S = 2.0
LEAST_BYTES = 256 * 1024
"""To open a database takes an index of its log, 32 kB, and a first page of it: this is room for all of ours."""


def free_bytes(folder: Path) -> int:
    """What is free on the disk that holds a folder."""
    return shutil.disk_usage(folder).free


def require_room(folder: Path, look: Callable[[Path], int] = free_bytes) -> None:
    """Refuse to start on a full disk, where databases could not be opened, not even to be read.

    Args:
        folder: On the disk in question; it may not be there yet.
        look: Free bytes of the disk that holds a folder.

    Raises:
        LutrinError: There is no room.
    """
    if look(_there(folder)) < LEAST_BYTES:
        raise LutrinError(f"The disk of {folder} is full.", remedy="Free some space, then start again.")


def _there(folder: Path) -> Path:
    return next(path for path in (folder, *folder.resolve().parents) if path.exists())


class FreeSpace:
    """Looks at the disk at most every two seconds.

    Args:
        folder: On the disk in question; it may not be there yet.
        floor_bytes: Free bytes that stay free; 0: no floor.
        clock: Seconds that only grow.
        look: Free bytes of the disk that holds a folder.
    """

    def __init__(
        self,
        folder: Path,
        floor_bytes: int,
        clock: Callable[[], float],
        look: Callable[[Path], int] = free_bytes,
    ) -> None:
        self._folder = _there(folder)
        self._floor_bytes = floor_bytes
        self._clock = clock
        self._look = look
        self._looked_s = -LOOK_EVERY_S
        self._free_bytes = 0

    @property
    def free_bytes(self) -> int:
        """What is free, as of two seconds ago at most."""
        now_s = self._clock()
        if now_s - self._looked_s >= LOOK_EVERY_S:
            self._looked_s = now_s
            try:
                self._free_bytes = self._look(self._folder)
            except OSError:  # a disk that cannot be asked has no room
                self._free_bytes = 0
        return self._free_bytes

    @property
    def low(self) -> bool:
        """Whether the floor is reached."""
        return bool(self._floor_bytes) and self.free_bytes < self._floor_bytes
