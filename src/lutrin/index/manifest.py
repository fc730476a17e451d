"""A generation's description of itself, `manifest.json`."""

from pathlib import Path

import msgspec

from lutrin.errors import IndexUnavailable
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
