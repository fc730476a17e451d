"""Watches free disk space. Below a floor nothing is stored but answers continue; on a full disk no server starts."""

import shutil
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

from lutrin.errors import ChatStoreFull, LutrinError
from lutrin.messages import PEER_FULL

DAY_S = 86_400.0
MOST_PEERS = 50_000
LOOK_EVERY_S = 2.0
LEAST_BYTES = 256 * 1024
"""To open a database takes an index of its log, 32 kB, and a first page of it: this is room for all of ours."""


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the disk that holds a folder."""
    return shutil.disk_usage(folder).free


def require_room(folder: Path, look: Callable[[Path], int] = free_bytes) -> None:
    """Refuse to start on a full disk, where databases could not be opened, not even to be read.

    Raises:
        LutrinError: There is no room.
    """
    if look(_there(folder)) < LEAST_BYTES:
        raise LutrinError(f"The disk of {folder} is full.", remedy="Free some space, then start again.")


def _there(folder: Path) -> Path:
    return next(path for path in (folder, *folder.resolve().parents) if path.exists())


class FreeSpace:
    """Looks at the disk at most every two seconds; `floor_bytes` stay free, 0: no floor."""

    def __init__(
        self, folder: Path, floor_bytes: int, clock: Callable[[], float], look: Callable[[Path], int] = free_bytes
    ) -> None:
        self._folder = _there(folder)
        self._floor_bytes = floor_bytes
        self._clock = clock
        self._look = look
        self._looked_s = -LOOK_EVERY_S
        self._free_bytes = 0
        self.failed = False
        """Whether the last attempt to store something failed for another reason than a quota."""

    @property
    def free_bytes(self) -> int:
        """Return the free bytes, at most two seconds old."""
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
        """Whether free space has fallen to the floor."""
        return bool(self._floor_bytes) and self.free_bytes < self._floor_bytes


class Allowance:
    """Bytes that may be stored in a day for all from one network peer who send no secret of a browser.

    A secret names a reader, whose conversations are counted where they lie. Whoever sends none is a new reader each
    time, so that only the network can be counted; what was counted is forgotten when the server ends.
    """

    def __init__(self, limit_bytes: int, clock: Callable[[], float], most_peers: int = MOST_PEERS) -> None:
        self._limit_bytes = limit_bytes
        self._clock = clock
        self._most_peers = most_peers
        self._used: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def take(self, peer: str, size_bytes: int) -> None:
        """Count what is about to be stored for a peer (`limits.peer_of`); empty: the reader is known, and has a limit.

        Raises:
            ChatStoreFull: There is no room left today; nothing was counted.
        """
        if not peer:
            return
        now_s = self._clock()
        since_s, used = self._used.get(peer, (now_s, 0))
        if since_s + DAY_S <= now_s:
            since_s, used = now_s, 0
        if used + size_bytes > self._limit_bytes:
            raise ChatStoreFull(PEER_FULL)
        self._used[peer] = (since_s, used + size_bytes)
        self._used.move_to_end(peer)
        while len(self._used) > self._most_peers:
            self._used.popitem(last=False)
