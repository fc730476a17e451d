"""Makes files survive a crash, hashes them, and explains what stopped an ingest."""

import errno
import hashlib
import os
import shutil
import sqlite3
from pathlib import Path

from lutrin.errors import IndexUnavailable, IngestError, LutrinError, NotEnoughSpace, VerificationFailed
from lutrin.sqlite import DatabaseError

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
NEARLY_FULL_BYTES = 1 << 20
OLD_SERVES = "The index that was there before goes on serving."


def sync_tree(directory: Path) -> None:
    """Flush a folder's files and names to the disk, deepest first."""
    for folder, _, files in os.walk(directory, topdown=False):
        for name in files:
            sync(Path(folder, name))
        sync(Path(folder))


def sync(path: Path) -> None:
    """Flush one file, or the names in one folder, to the disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def file_hashes(directory: Path, *, without: str) -> dict[str, str]:
    """SHA-256 of each file below a folder, by relative name with forward slashes, sorted; `without` is skipped."""
    files = {path.relative_to(directory).as_posix(): path for path in sorted(directory.rglob("*")) if path.is_file()}
    return {name: file_hash(path) for name, path in files.items() if name != without}


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def explain_failure(error: BaseException, folder: Path) -> LutrinError | None:
    """Explain to the operator why an ingest stopped; None if neither disk nor index is the reason.

    Follows the chain of causes, because the vector index wraps errors. SQLite and Chroma give the cause only as text,
    and SQLite reports an I/O error when a full disk refuses its shared memory.
    """
    full = broken = False
    cause: BaseException | None = error
    while cause is not None:
        text = str(cause).lower()
        number = cause.errno if isinstance(cause, OSError) else None
        full |= number in FULL or "disk is full" in text or "no space left" in text
        broken |= number == errno.EIO or "disk i/o error" in text or "input/output error" in text
        cause = cause.__cause__ or cause.__context__
    if full or (broken and shutil.disk_usage(folder).free < NEARLY_FULL_BYTES):
        remedy = "Free some space, then ingest again."
        return NotEnoughSpace(f"The disk is full, nothing was published. {OLD_SERVES}", remedy=remedy)
    if broken:
        remedy = "Check the disk, then ingest again."
        return IngestError(f"The disk reports an error, nothing was published. {OLD_SERVES}", remedy=remedy)
    if isinstance(error, VerificationFailed):
        return VerificationFailed(f"{error.detail} It was not published. {OLD_SERVES}")
    if isinstance(error, IndexUnavailable):
        return IngestError(f"{error.detail} Nothing was published. {OLD_SERVES}", remedy=error.remedy)
    if isinstance(error, OSError | DatabaseError | sqlite3.Error):
        return IngestError(f"The index could not be written ({error}), nothing was published. {OLD_SERVES}")
    return None
