"""Stores an operator's files in a folder of the corpus, after checking names, sizes, archives and links."""

import os
import re
import secrets
import shutil
import stat
import zipfile
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from lutrin.errors import AlreadyThere, InvalidInput
from lutrin.ingest.books import slug_of
from lutrin.ingest.configuration import MAX_BYTES as MAX_CONFIGURATION_BYTES
from lutrin.ingest.decoding import true_name
from lutrin.ingest.formats import all_formats, max_bytes, suffix_of, suffixes_in_words
from lutrin.ingest.scan import COMPANION, PICTURES
from lutrin.ingest.sites import CONFIGURATIONS, is_site
from lutrin.records import LeftOut

MAX_FILES = 10_000
MAX_UNPACKED_BYTES = 1024 * 1024 * 1024
MAX_RATIO = 200
"""Text shrinks to a fifth, blank pages to a fiftieth; a higher ratio is an attempt to fill a disk."""
_RATIO_FROM_BYTES = 1024 * 1024
_MAX_DEPTH = 16
_MAX_NAME_BYTES = 200
_BLOCK = 1024 * 1024  # bytes copied at a time
_DRIVE = re.compile(r"[A-Za-z]:")
STAGING, OLD = ".upload-", "-old-"
"""Names of folders of an upload in the corpus: of incoming files, and, after `OLD`, of the folder being replaced."""
_END_BYTES = 22 + 65_535
"""A zip archive ends with a record of 22 bytes and a comment (APPNOTE.TXT, 4.3.16)."""
_ENTRY_BYTES = 512
"""Bytes for a file in the list at the end of an archive: 46 and its name."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)


@dataclass(frozen=True)
class StoredUpload:
    """The outcome of an upload."""

    book: str
    """Name of its folder in the corpus."""
    files: list[str] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Describe it for an operator."""
        number = f"{len(self.files)} {'file' if len(self.files) == 1 else 'files'}"
        return [f"Stored {number} in {self.book}/.", *(f"Left out {item.line()}" for item in self.left_out)]


def store(
    corpus: Path,
    files: Iterable[tuple[str, BinaryIO]],
    *,
    book: str = "",
    replace: bool = False,
    replaceable: Container[str] = (),
) -> StoredUpload:
    """Put files into a folder of the corpus, all of them or none; zip archives are unpacked.

    Args:
        files: Names as sent, with their contents.
        book: Name of the book's folder; empty: that of the archive, folder or file.
        replace: Whether to replace an existing folder.
        replaceable: Names of folders to replace in any case.

    Raises:
        InvalidInput: There is nothing to store, an archive is broken, encrypted or too large, or the corpus is itself
            one book.
        AlreadyThere: The folder is there, and `replace` is false.
    """
    if is_site(corpus):
        raise InvalidInput(f"{corpus} is itself one book; a book beside it needs a folder around both.")
    corpus.mkdir(parents=True, exist_ok=True)
    staging = corpus / f"{STAGING}{secrets.token_hex(8)}"
    staging.mkdir()
    try:
        upload = _Upload(staging)
        for name, content in files:
            upload.add(name, content)
        return _put_in_place(upload, corpus, book, replaceable=None if replace else replaceable)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _put_in_place(upload: "_Upload", corpus: Path, book: str, *, replaceable: Container[str] | None) -> StoredUpload:
    """Move an upload to its place; `replaceable`: names of folders that may be replaced, None: any."""
    if not any(suffix_of(name) in all_formats() for name in upload.names):
        reasons = "; ".join(item.line() for item in upload.left_out[:5])
        raise InvalidInput(f"The upload holds no {suffixes_in_words()} file. {reasons}".strip())
    # The one folder that holds everything, if there is one.
    tops = {name.partition("/")[0] if "/" in name else "" for name in upload.names}
    top = tops.pop() if len(tops) == 1 else ""
    name = slug_of(book or top or upload.named)
    target = corpus / name
    if target.exists() and replaceable is not None and name not in replaceable:
        raise AlreadyThere(f"A book named {name} is already there. Choose another name, or replace it.")
    old = upload.staging.with_name(f"{upload.staging.name}{OLD}{name}")
    if target.exists():
        target.rename(old)
    (upload.staging / top if top else upload.staging).rename(target)
    shutil.rmtree(old, ignore_errors=True)
    cut = len(top) + 1 if top else 0
    left_out = [
        LeftOut(filename=item.filename.removeprefix(f"{top}/") if top else item.filename, reason=item.reason, book=name)
        for item in upload.left_out
    ]
    return StoredUpload(name, sorted(item[cut:] for item in upload.names), left_out)


def finish_replacements(corpus: Path) -> None:
    """Undo or finish the work of a killed server, and remove its unfinished uploads; no upload may be running.

    A book that was moved away without a successor comes back; otherwise the old one is removed.
    """
    for left in sorted(corpus.glob(f"{STAGING}*")):
        _, is_old, name = left.name.partition(OLD)
        if is_old and not (corpus / name).exists():
            left.rename(corpus / name)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _check_directory(name: str, content: BinaryIO) -> None:
    """Refuse an archive with a very long list of its files, which `zipfile` reads into memory at once.

    Raises:
        InvalidInput: It is such an archive, or not an archive.
    """
    size = content.seek(0, os.SEEK_END)
    content.seek(max(0, size - _END_BYTES))
    tail = content.read()
    place = tail.rfind(b"PK\x05\x06")
    content.seek(0)
    if place < 0 or len(tail) < place + 16:
        raise InvalidInput(f"{name} is not a complete zip archive. Make it again and send that.")
    if int.from_bytes(tail[place + 12 : place + 16], "little") > MAX_FILES * _ENTRY_BYTES:
        raise InvalidInput(f"The upload holds more than {MAX_FILES:,} files.")


class _Upload:
    def __init__(self, staging: Path) -> None:
        self.staging = staging
        self.names: set[str] = set()
        self.left_out: list[LeftOut] = []
        self.named = ""
        """Name of the first file."""
        self._bytes = 0
        self._seen = 0

    def add(self, name: str, content: BinaryIO) -> None:
        """Take a file, or unpack an archive.

        Raises:
            InvalidInput: It is a broken or encrypted archive, or exceeds the limits.
        """
        self.named = self.named or PurePosixPath(name.replace("\\", "/")).stem
        if suffix_of(name) == ".zip":
            self._unpack(name, content)
        else:
            self._file(name, _blocks(content))

    def _unpack(self, name: str, content: BinaryIO) -> None:
        _check_directory(name, content)
        try:
            with zipfile.ZipFile(content) as archive:
                for member in archive.infolist():
                    if not member.is_dir():
                        self._member(archive, member, name)
        except (zipfile.BadZipFile, NotImplementedError, EOFError, OSError, ValueError) as error:
            raise InvalidInput(f"{name} is not a complete zip archive. Make it again and send that.") from error

    def _member(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> None:
        if len(self.left_out) > MAX_FILES:
            raise InvalidInput(f"The upload holds more than {MAX_FILES:,} files.")
        if member.flag_bits & 1:
            raise InvalidInput(f"{name} is encrypted; unpack it and send it without a password.")
        if stat.S_ISLNK(member.external_attr >> 16):
            self._leave_out(member.filename, "is a symbolic link and was not followed")
            return
        if member.file_size > _RATIO_FROM_BYTES and member.file_size > MAX_RATIO * max(1, member.compress_size):
            self._leave_out(member.filename, f"unpacks to more than {MAX_RATIO} times its size")
            return
        with archive.open(member) as content:
            self._file(true_name(member), _blocks(cast("BinaryIO", content)))

    def _file(self, member: str, blocks: Iterator[bytes]) -> None:
        self._seen += 1
        if self._seen > MAX_FILES:
            raise InvalidInput(f"The upload holds more than {MAX_FILES:,} files.")
        name = member.replace("\\", "/").removeprefix("./")
        reason = _name_reason(name) or ("" if name not in self.names else "appears twice")
        if reason:
            self._leave_out(name, reason)
            return
        path = self.staging / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fits = self._write(path, blocks, _limit(name))
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            self._leave_out(name, "has the name of a folder, or its folder that of a file")
            return
        if fits:
            self.names.add(name)
        else:
            path.unlink()
            self._leave_out(name, f"is larger than {_limit(name) >> 20 or 1} MB")

    def _write(self, path: Path, blocks: Iterator[bytes], limit: int) -> bool:
        """Write a file; return whether it is within its limit."""
        size = 0
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        with os.fdopen(descriptor, "wb") as file:
            for block in blocks:
                size += len(block)
                self._bytes += len(block)
                if self._bytes > MAX_UNPACKED_BYTES:
                    raise InvalidInput(f"The upload unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB.")
                if size > limit:
                    return False
                file.write(block)
        return True

    def _leave_out(self, name: str, reason: str) -> None:
        filename = name if name.isprintable() else ascii(name)
        self.left_out.append(LeftOut(filename=filename[:300], reason=reason))


def _limit(name: str) -> int:
    configuration = PurePosixPath(name).name in CONFIGURATIONS
    return MAX_CONFIGURATION_BYTES if configuration else max_bytes(name)


def _name_reason(name: str) -> str:
    """Why a file of this name is refused; empty if it is not."""
    parts = name.split("/")
    if name.startswith("/") or ".." in parts or _DRIVE.match(name) or "" in parts:
        return "has a name that leads out of the book's folder"
    if not name.isprintable() or not all(part.strip() == part for part in parts):
        return "has a name with control characters, or blanks at its ends"
    if any(len(part.encode(errors="replace")) > _MAX_NAME_BYTES or _RESERVED.match(part) for part in parts):
        return "has a name that not every system can store"
    if len(parts) > _MAX_DEPTH:
        return "is nested too deeply"
    if any(part.startswith(".") for part in parts) or "__MACOSX" in parts:
        return "is hidden: its name begins with a dot, or its folder's"
    suffix = suffix_of(name)
    is_companion = parts[-1].endswith(COMPANION)
    if suffix in all_formats() or suffix in PICTURES or parts[-1] in CONFIGURATIONS or is_companion:
        return ""
    return f"is a {suffix} file, not text to read" if suffix else "is not text to read: its name has no ending"


def _blocks(content: BinaryIO) -> Iterator[bytes]:
    while block := content.read(_BLOCK):
        yield block
