"""A generation's description of itself, `manifest.json`."""

from pathlib import Path

import msgspec

from lutrin.errors import IndexUnavailable
from lutrin.index.disk import file_hash, file_hashes
from lutrin.records import BookInfo

FORMAT_VERSION = 6
MANIFEST = "manifest.json"


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
    """SHA-256 of the companions that were read, in order; empty if there were none."""
    hashes: dict[str, str]
    """SHA-256 of each other file, by relative name."""


def write_manifest(directory: Path, manifest: Manifest) -> Manifest:
    """Write a generation's manifest with the hashes of the files that are there now, and return it."""
    whole = msgspec.structs.replace(manifest, hashes=file_hashes(directory, without=MANIFEST))
    (directory / MANIFEST).write_bytes(msgspec.json.format(msgspec.json.encode(whole)))
    return whole


def manifest_hash(directory: Path) -> str:
    """SHA-256 of a generation's manifest; empty if there is none."""
    path = directory / MANIFEST
    return file_hash(path) if path.exists() else ""


def is_published(directory: Path, manifest_sha256: str) -> bool:
    """Whether a folder holds, file by file, the generation whose manifest has this hash."""
    return manifest_hash(directory) == manifest_sha256 and (
        file_hashes(directory, without=MANIFEST) == read_manifest(directory).hashes
    )


class _Form(msgspec.Struct):
    format_version: int


def is_older(directory: Path) -> bool:
    """Whether a generation has an older format, which Lutrin no longer reads, and must be rebuilt."""
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
