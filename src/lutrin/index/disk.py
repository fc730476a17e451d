"""Files that survive a crash: synced, hashed, and locked against deletion while somebody reads them."""

import errno
import fcntl
import hashlib
import os
import shutil
import sqlite3
from pathlib import Path
from typing import Self

from lutrin.errors import IndexUnavailable, IngestError, LutrinError, NotEnoughSpace, VerificationFailed
from lutrin.sqlite import DatabaseError

TRASH = ".trash-"
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
NEARLY_FULL_BYTES = 1 << 20
OLD_SERVES = "The index that was there before goes on serving."


class ReadLock:
    """Keeps a generation's folder from being deleted by any process while this one reads it.

    The kernel drops the lock when its holder dies, so nothing is left to clean up after `kill -9`. The lock is on the
    manifest, which exists already, because a published folder is never written to.

    Raises:
        OSError: The folder or its manifest is gone.
    """

    def __init__(self, manifest: Path) -> None:
        self._handle = os.open(manifest, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_SH)
            # A deleter renames the folder first, so a lock taken after the rename protects nothing.
            manifest.stat()
        except BaseException:
            os.close(self._handle)
            raise

    def close(self) -> None:
        """Release the folder."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_unless_read(directory: Path, manifest_name: str) -> bool:
    """Delete a generation's folder, unless a process holds a `ReadLock` on it; return whether it is gone."""
    try:
        handle = os.open(directory / manifest_name, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return not directory.exists()
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        trash = directory.with_name(f"{TRASH}{directory.name}-{os.getpid()}")
        directory.rename(trash)  # now nobody opens it, and a half-deleted folder cannot pass for a generation
    except (BlockingIOError, FileNotFoundError):
        return not directory.exists()
    finally:
        os.close(handle)
    shutil.rmtree(trash, ignore_errors=True)
    return True


def sync_tree(directory: Path) -> None:
    """Flush a folder's files and names to the disk, the deepest first."""
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
    """SHA-256 of each file below a folder, by relative name with forward slashes, sorted; `without` is left out."""
    files = {path.relative_to(directory).as_posix(): path for path in sorted(directory.rglob("*")) if path.is_file()}
    return {name: file_hash(path) for name, path in files.items() if name != without}


def file_hash(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def explain_failure(error: BaseException, folder: Path) -> LutrinError | None:
    """The reason why an ingest stopped, for its operator; None if it is neither the disk nor the index.

    Follows the chain of causes, because the vector index wraps errors. SQLite and Chroma tell the cause by text alone,
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
