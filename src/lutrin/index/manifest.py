"""A generation's description, `manifest.json`, which also serves to lock its folder while somebody reads it."""

import fcntl
import os
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import msgspec

from lutrin.errors import IndexUnavailable
from lutrin.index.disk import file_hash, file_hashes
from lutrin.records import BookInfo

FORMAT_VERSION = 6
MANIFEST = "manifest.json"
TRASH = ".trash-"


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a generation; written last."""

    format_version: int = FORMAT_VERSION
    name: str
    book: BookInfo
    created: str
    """ISO 8601, UTC."""
    collection: str
    embedder: str
    """Name of the embedder; these vectors are compared only with vectors of that embedder."""
    dimension: int
    recipe: str
    """Fingerprint of the settings and book data that determine the chunks."""
    files: int
    chunks: int
    windows: int
    tokens: int
    companion: str = ""
    """Fingerprint of the entries' sources (`companion_file.fingerprint_of`); empty if there were none."""
    hashes: dict[str, str]
    """SHA-256 of each other file, by relative name."""


def write_manifest(directory: Path, manifest: Manifest) -> Manifest:
    """Write a generation's manifest with the hashes of its present files, and return it."""
    whole = msgspec.structs.replace(manifest, hashes=file_hashes(directory, without=MANIFEST))
    (directory / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(whole)))
    return whole


def manifest_hash(directory: Path) -> str:
    """SHA-256 of a generation's manifest; empty if there is none."""
    path = directory / MANIFEST
    return file_hash(path) if path.exists() else ""


def is_published(directory: Path, manifest_sha256: str) -> bool:
    """Whether a folder is, file by file, the generation whose manifest has this hash."""
    return manifest_hash(directory) == manifest_sha256 and (
        file_hashes(directory, without=MANIFEST) == read_manifest(directory).hashes
    )


class _Form(msgspec.Struct):
    format_version: int


def is_older(directory: Path) -> bool:
    """Whether a generation has an older format, which Lutrin no longer reads and must rebuild."""
    try:
        return msgspec.json.decode((directory / MANIFEST).read_bytes(), type=_Form).format_version < FORMAT_VERSION
    except (OSError, msgspec.MsgspecError):
        return False


def read_manifest(directory: Path) -> Manifest:
    """Read a generation's manifest.

    Raises:
        IndexUnavailable: There is no readable manifest of this format.
    """
    try:
        manifest = msgspec.json.decode((directory / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise IndexUnavailable(f"The index {directory.name} cannot be read: {error}") from error
    if manifest.format_version != FORMAT_VERSION:
        raise IndexUnavailable(
            f"The index {directory.name} has format {manifest.format_version}, this program reads {FORMAT_VERSION}.",
            remedy="Run `lutrin ingest --rebuild`.",
        )
    return manifest


class ReadLock:
    """Keeps a generation's folder from being deleted by any process while this one reads it.

    The kernel drops the lock when its holder dies, so nothing needs cleaning up after `kill -9`. The lock is on the
    manifest, which exists already, because a published folder is never written to.

    Raises:
        OSError: The folder or its manifest is gone.
    """

    def __init__(self, manifest: Path) -> None:
        self._handle = os.open(manifest, os.O_RDONLY | os.O_CLOEXEC)
        with ExitStack() as failing:
            failing.callback(os.close, self._handle)
            fcntl.flock(self._handle, fcntl.LOCK_SH)
            # A deleter renames the folder first, so a lock taken after the rename protects nothing.
            manifest.stat()
            failing.pop_all()

    def close(self) -> None:
        """Release the folder."""
        os.close(self._handle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def remove_unless_read(directory: Path) -> bool:
    """Delete a generation's folder unless a process holds a `ReadLock` on it; return whether it is gone."""
    try:
        handle = os.open(directory / MANIFEST, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return not directory.exists()
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        trash = directory.with_name(f"{TRASH}{directory.name}-{os.getpid()}")
        directory.rename(trash)  # no server opens it now, and a half-deleted folder cannot pass for a generation
    except (BlockingIOError, FileNotFoundError):
        return not directory.exists()
    finally:
        os.close(handle)
    shutil.rmtree(trash, ignore_errors=True)
    return True


def remove_retired(books_dir: Path, retired: Iterable[tuple[str, str]]) -> list[str]:
    """Delete generations that are neither current nor previous, unless they are being read; return their names."""
    here = books_dir.resolve()
    return [
        name
        for slug, name in retired
        if (books_dir / slug / name).resolve().is_relative_to(here)  # a link may have been put in its way
        and remove_unless_read(books_dir / slug / name)
    ]
