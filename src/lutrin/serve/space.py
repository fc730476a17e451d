"""How much room the disk has: below a floor nothing is stored, and answers go on."""

import shutil
from collections.abc import Callable
from pathlib import Path

LOOK_EVERY_S = 2.0


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
        look: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self._folder = next(path for path in (folder, *folder.resolve().parents) if path.exists())
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
