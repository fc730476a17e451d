"""Which files a book consists of: found without following links, named relative to the book's folder."""

import hashlib
import os
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lutrin.errors import DocumentError

SUFFIXES = frozenset({".md", ".mdx", ".pdf"})
MAX_BYTES = 20 * 1024 * 1024
_IGNORED_FOLDERS = frozenset({"node_modules", "__pycache__"})
_NUMBERS = re.compile(r"(\d+)")
_MAX_DEPTH = 64


@dataclass(frozen=True)
class SourceFile:
    """One file of a book."""

    name: str
    """Path relative to the book's folder, with forward slashes."""
    root: Path
    size: int
    """Bytes."""

    @property
    def suffix(self) -> str:
        """`.md`, `.mdx` or `.pdf`."""
        return Path(self.name).suffix.lower()

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the content, hexadecimal; reads the file once.

        Raises:
            DocumentError: The file is too large, or cannot be read.
        """
        return hashlib.sha256(self.read()).hexdigest()

    def read(self) -> bytes:
        """The content, from inside the book's folder only.

        Raises:
            DocumentError: The file is too large, lies outside (a link was put in its way), or cannot be read.
        """
        path = self.root / self.name
        try:
            if not path.resolve().is_relative_to(self.root.resolve()):
                raise DocumentError(self.name, "lies outside the book's folder and was not read")
            # Without waiting, should a pipe have been put in the file's place.
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    raise DocumentError(self.name, "is not a regular file")
                if status.st_size > MAX_BYTES:
                    raise DocumentError(self.name, f"is larger than {MAX_BYTES // 1024 // 1024} MB")
                return file.read(MAX_BYTES)
        except OSError as error:
            raise DocumentError(self.name, f"cannot be read ({error.strerror or error})") from None


def scan(root: Path, skipped: Callable[[str, str], None] | None = None) -> list[SourceFile]:
    """The files of a book that Lutrin reads, numbers in their names ordered as numbers.

    Args:
        root: The book's folder.
        skipped: Told of what was left out for a reason that its owner should know: relative name and the reason.
    """
    found: list[SourceFile] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = list(os.scandir(root / folder))
        except OSError as error:
            _tell(skipped, folder, f"cannot be read ({error.strerror or error})")
            continue
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                if entry.is_dir() or Path(entry.name).suffix.lower() in SUFFIXES:
                    _tell(skipped, name, "is a symbolic link and was not followed")
            elif entry.is_dir(follow_symlinks=False):
                if name.count("/") >= _MAX_DEPTH:
                    _tell(skipped, name, "is nested too deeply")
                elif entry.name not in _IGNORED_FOLDERS:
                    folders.append(name)
            elif Path(entry.name).suffix.lower() in SUFFIXES:
                _add(entry, name, root, found, skipped)
    return sorted(found, key=lambda file: natural(file.name))


def _add(
    entry: os.DirEntry[str],
    name: str,
    root: Path,
    found: list[SourceFile],
    skipped: Callable[[str, str], None] | None,
) -> None:
    if not entry.is_file(follow_symlinks=False):
        _tell(skipped, name, "is not a regular file")
    elif not name.isprintable():
        _tell(skipped, name, "has a name with control characters or invalid UTF-8")
    else:
        found.append(SourceFile(name, root, entry.stat(follow_symlinks=False).st_size))


def _tell(skipped: Callable[[str, str], None] | None, name: str, reason: str) -> None:
    if skipped is not None:
        skipped(name if name.isprintable() else ascii(name), reason)


def natural(name: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """A key that sorts `2-x` before `10-x`, folder by folder, an index page before its siblings."""
    return tuple(
        tuple(
            (0, -1, "")
            if Path(part).stem.lower() in {"index", "readme"}
            else (1, int(piece), "")
            if piece.isascii() and piece.isdigit() and len(piece) < 19
            else (2, 0, piece)
            for piece in _NUMBERS.split(part)
            if piece
        )
        for part in name.split("/")
    )
