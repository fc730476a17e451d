"""`lutrin backup`: catalogue, index and conversations at one moment, in one file, while the server runs.

The catalogue and the conversations are copied by SQLite's own backup, the current generation of each book is locked
against deletion and copied with its hashes checked. The conversations stay encrypted; their key is never in the file.
`restore.py` puts it all back.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing
from datetime import datetime
from pathlib import Path

import msgspec

from lutrin import __version__, sqlite
from lutrin.chats.key import chat_key, installation_keys
from lutrin.errors import ArchiveError, ChatStoreError, IndexUnavailable
from lutrin.index import statements
from lutrin.index.catalog import Catalog, PublishedBook
from lutrin.index.disk import ReadLock
from lutrin.index.manifest import MANIFEST, manifest_hash, read_manifest
from lutrin.keep.archive import FORMAT, ArchiveManifest, beside, room, write_archive
from lutrin.settings import Settings

KIND = "lutrin backup"
CATALOG = "catalog.db"
CHATS = "chats.db"
BOOKS = "books"
STUDY = "study"
TRIES = 10
"""How often the catalogue is read again if a generation disappears because ingests replace it meanwhile."""


class BackupSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a backup."""

    file: str
    created: str
    books: dict[str, str]
    """Slug of each book -> its generation."""
    conversations: bool
    bytes: int


def backup(settings: Settings, target: Path, now: Callable[[], datetime]) -> BackupSummary:
    """Write everything that Lutrin knows to one file. An existing file is replaced once the new one is whole.

    Raises:
        ArchiveError: There is nothing to back up, or the file cannot be written.
        NotEnoughSpace: The disk is too small.
        IndexUnavailable: An index is damaged.
        ChatStoreError, InvalidSettings: The conversations cannot be read.
    """
    if not settings.catalog_path.exists() and not settings.chats_path.exists():
        raise ArchiveError(f"There is nothing to back up in {settings.data_dir}.", remedy="Run `lutrin ingest` first.")
    created = now().isoformat(timespec="seconds")
    with beside(target) as work, ExitStack() as locks:
        room(work, _data_bytes(settings))
        members, expected = index_members(settings, work, locks)
        conversations = _conversations(settings, work)
        members += [(CHATS, work / CHATS)] if conversations else []

        def describe(hashes: dict[str, str]) -> ArchiveManifest:
            same_files(expected, hashes)
            return signed_manifest(settings, KIND, created, hashes)

        write_archive(target, members, describe)
    return BackupSummary(
        file=str(target),
        created=created,
        books=dict(name.split("/")[1:3] for name in expected),
        conversations=conversations,
        bytes=target.stat().st_size,
    )


def index_members(settings: Settings, work: Path, locks: ExitStack) -> tuple[list[tuple[str, Path]], dict[str, str]]:
    """Collect the catalogue, the prepared entries and the current generations at one moment, as members of an archive.

    Raises:
        IndexUnavailable: The catalogue or a generation cannot be read, or is not what was published.
    """
    expected: dict[str, str] = {}
    for item in _catalog(settings, work, locks):
        expected |= _generation(settings.books_dir, item)
    members = [(CATALOG, work / CATALOG)] if (work / CATALOG).exists() else []
    members += _study_members(settings.data_dir / STUDY, work / STUDY)
    return members + [(name, settings.data_dir / name) for name in expected], expected


def _study_members(folder: Path, copies: Path) -> list[tuple[str, Path]]:
    """Collect the entries that the model's study has written, whole lines only, since it may be writing meanwhile."""
    found = []
    for path in sorted(folder.glob("*")):
        copies.mkdir(exist_ok=True)
        content = path.read_bytes()
        (copies / path.name).write_bytes(content[: content.rfind(b"\n") + 1])
        found.append((f"{STUDY}/{path.name}", copies / path.name))
    return found


def signed_manifest(settings: Settings, kind: str, created: str, hashes: dict[str, str]) -> ArchiveManifest:
    """Describe an archive that this installation writes, with the proof that it did."""
    manifest = ArchiveManifest(kind=kind, format=FORMAT, lutrin=__version__, created=created, hashes=hashes)
    keys = installation_keys(settings, make=True)
    return manifest.signed(keys[0]) if keys else manifest


def same_files(expected: Mapping[str, str], hashes: Mapping[str, str]) -> None:
    """Check that the files that were read are those that were published.

    Raises:
        IndexUnavailable: A file of an index differs.
    """
    for name, digest in expected.items():
        if hashes[name] != digest:
            raise _damage(name)


def _catalog(settings: Settings, work: Path, locks: ExitStack) -> list[PublishedBook]:
    if not settings.catalog_path.exists():
        return []
    for _ in range(TRIES):
        (work / CATALOG).unlink(missing_ok=True)
        try:
            published = _snapshot(settings.catalog_path, work / CATALOG)
        except sqlite.DatabaseError as error:
            raise IndexUnavailable(f"The catalogue cannot be read: {error}.", remedy="See `lutrin doctor`.") from error
        with ExitStack() as held:
            try:
                for item in published:
                    held.enter_context(ReadLock(settings.books_dir / item.info.slug / item.current / MANIFEST))
            except FileNotFoundError:
                continue
            locks.push(held.pop_all())
            return published
    raise IndexUnavailable("The folder of an index is missing.", remedy="Run `lutrin ingest --rebuild`.")


def _snapshot(catalog_path: Path, target: Path) -> list[PublishedBook]:
    """Copy the catalogue with only the current generations, which are returned; an ingest may delete their folders.

    Raises:
        IndexUnavailable: The catalogue cannot be opened.
        DatabaseError: It cannot be read.
    """
    with Catalog(catalog_path) as catalog, closing(sqlite.connect(target)) as copy:
        catalog.connection.backup(copy)
    with Catalog(target) as catalog:
        with catalog.transaction():
            for statement in statements.KEEP_CURRENT:
                catalog.connection.execute(statement)
        return catalog.books()


def _conversations(settings: Settings, work: Path) -> bool:
    """Copy the conversations, encrypted with the same key, while a server writes them; return whether there are any."""
    if not settings.chats_path.exists():
        return False
    key, copy = chat_key(settings), work / CHATS
    try:
        with (
            closing(sqlite.connect(settings.chats_path, key=key)) as source,
            closing(sqlite.connect(copy, key=key)) as to,
        ):
            source.backup(to)
    except sqlite.DatabaseError as error:
        raise ChatStoreError(
            f"The conversations cannot be read with this key: {error}.",
            remedy="Check LUTRIN_CHAT_KEY or the key file; see `lutrin doctor`.",
        ) from error
    copy.chmod(0o600)
    return True


def _generation(books_dir: Path, item: PublishedBook) -> dict[str, str]:
    """Collect the files of a generation by their names in the archive, with the hashes of their publication."""
    directory = books_dir / item.info.slug / item.current
    if manifest_hash(directory) != item.manifest_sha256:
        raise _damage(f"{item.info.slug}/{item.current}")
    hashes = {MANIFEST: item.manifest_sha256, **read_manifest(directory).hashes}
    return {f"{BOOKS}/{item.info.slug}/{item.current}/{name}": digest for name, digest in hashes.items()}


def _damage(name: str) -> IndexUnavailable:
    return IndexUnavailable(
        f"The index is damaged at {name}; nothing was written.", remedy="Run `lutrin ingest --rebuild`."
    )


def _data_bytes(settings: Settings) -> int:
    """Estimate the bytes that a backup and its working copies take."""
    databases = [path.stat().st_size for path in (settings.catalog_path, settings.chats_path) if path.exists()]
    return 2 * sum(databases) + sum(path.stat().st_size for path in settings.books_dir.rglob("*") if path.is_file())
