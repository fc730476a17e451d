"""What the model has read of the books: the states of prompts' stable beginnings, so that a passage is read once.

A state is the keys and values of the rules and one section, exactly as a step computed them. It is kept in memory, and
on disk beside the index, so that a restart does not read a book again. The least recently used go first. A file is
believed only if its digest is right; any other is removed, and its section is read again. Nothing here comes from a
reader: the caller says which characters of a prompt are the book's (`GenerationRequest.stable_chars`).
"""

import hashlib
import os
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lutrin.generate.protocol import PassageLimits

SUFFIX = ".state"
DIGEST_BYTES = 32


class PassageStore:
    """States by the hash of what they were computed from.

    Args:
        limits: Sizes, and where the files are.
        made_by: What states depend on besides the tokens: states of another model or engine are never found.
    """

    def __init__(self, limits: PassageLimits, made_by: str) -> None:
        self._limits = limits
        self._made_by = made_by.encode()
        self._states: OrderedDict[str, bytes] = OrderedDict()
        self._folder = Path(limits.folder) if limits.folder and limits.disk_bytes else None
        self._unwritten: list[str] = []
        self._files: dict[str, int] = {}
        self.memory_bytes = 0
        """Size of the states in memory."""
        self._look()

    @property
    def disk_bytes(self) -> int:
        """Size of the files, as far as this process knows them."""
        return sum(self._files.values())

    @property
    def unwritten(self) -> bool:
        """Whether a state waits to be written to disk."""
        return bool(self._unwritten)

    def key(self, tokens: Sequence[int]) -> str:
        """Name of the state of a sequence that holds these tokens from its beginning on."""
        digest = hashlib.blake2b(array("i", tokens).tobytes(), digest_size=DIGEST_BYTES, key=b"passage")
        digest.update(self._made_by)
        return digest.hexdigest()

    def __contains__(self, key: str) -> bool:
        return key in self._states or key in self._files

    def get(self, key: str) -> bytes | None:
        """Return a state, now the most recently used one; None if there is none that can be believed."""
        state = self._states.get(key)
        if state is not None:
            self._states.move_to_end(key)
        if self._folder is None or key not in self._files:
            return state
        path = self._folder / f"{key}{SUFFIX}"
        try:
            os.utime(path)
            data = path.read_bytes() if state is None else b""
        except OSError:
            del self._files[key]  # another server on this folder has removed it
            return state
        if state is not None:
            return state
        if _digest(key, data[DIGEST_BYTES:]) != data[:DIGEST_BYTES]:
            self.drop(key)
            return None
        self._remember(key, data[DIGEST_BYTES:])
        return data[DIGEST_BYTES:]

    def put(self, key: str, state: bytes) -> None:
        """Keep a state in memory; `write` stores it on disk."""
        self._remember(key, state)
        if self._folder is not None and key in self._states and key not in self._files:
            self._unwritten.append(key)

    def drop(self, key: str) -> None:
        """Forget a state that could not be used."""
        self.memory_bytes -= len(self._states.pop(key, b""))
        if self._folder is not None and self._files.pop(key, None) is not None:
            with suppress(OSError):
                (self._folder / f"{key}{SUFFIX}").unlink(missing_ok=True)

    def write(self) -> None:
        """Store the next waiting state on disk. A disk that refuses costs nothing but the state after a restart."""
        key = self._unwritten.pop(0)
        state = self._states.get(key)
        if self._folder is None or state is None:
            return
        fresh = self._folder / f"{key}.{os.getpid()}.new"
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh.write_bytes(_digest(key, state) + state)
            fresh.replace(self._folder / f"{key}{SUFFIX}")
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            return
        self._look()

    def _remember(self, key: str, state: bytes) -> None:
        if len(state) > self._limits.memory_bytes:
            return
        self.memory_bytes += len(state) - len(self._states.pop(key, b""))
        self._states[key] = state
        while self.memory_bytes > self._limits.memory_bytes:
            _, oldest = self._states.popitem(last=False)
            self.memory_bytes -= len(oldest)

    def _look(self) -> None:
        """List the files, after removing the least recently used ones of those that are too many."""
        if self._folder is None:
            return
        found = []
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    state = entry.stat()
                    found.append((state.st_mtime_ns, state.st_size, Path(entry.path)))
        self._files, size = {}, 0
        for _, length, path in sorted(found, reverse=True):
            size += length
            if size > self._limits.disk_bytes:
                with suppress(OSError):
                    path.unlink(missing_ok=True)
            elif path.suffix == SUFFIX:
                self._files[path.stem] = length


def _digest(key: str, state: bytes) -> bytes:
    digest = hashlib.blake2b(key.encode(), digest_size=DIGEST_BYTES)
    digest.update(state)
    return digest.digest()
