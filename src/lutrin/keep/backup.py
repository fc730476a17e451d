"""`lutrin backup`: catalogue, index and conversations at one moment, in one file, while the server runs.

SQLite's own backup copies the catalogue and the conversations; the current generation of each book is locked against
deletion and copied with its hashes checked. The conversations stay encrypted; their key is never in the file.

`lutrin restore` replaces the present state with a backup, completely or not at all, also while a server runs. The file
is unpacked and checked in a folder of its own. Renaming that folder commits the restore. If the process is killed
afterwards, the next start repeats the rest: generations move into place, and the catalogue and the conversations are
replaced, each in one transaction. Running servers follow as after an ingest.
"""

import shutil
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from datetime import datetime
from pathlib import Path

import msgspec

from lutrin import sqlite
from lutrin.chats.engine import migrate
from lutrin.chats.key import chat_key, former_keys, installation_keys, opens, rotate_key
from lutrin.errors import ArchiveError, ChatStoreError, IndexUnavailable, IngestInProgress
from lutrin.index import statements
from lutrin.index.catalog import TABLES, Catalog, PublishedBook
from lutrin.index.disk import sync, sync_tree
from lutrin.index.generation import PASSAGES
from lutrin.index.manifest import MANIFEST, ReadLock, is_published, manifest_hash, read_manifest, write_manifest
from lutrin.ingest.lock import ingest_lock
from lutrin.keep.archive import beside, check_schema, damaged_index, require_own, room, unpack_archive, write_archive
from lutrin.settings import Settings

KIND = "lutrin backup"
CATALOG = "catalog.db"
CHATS = "chats.db"
BOOKS = "books"
STUDY = "study"
TRIES = 10
"""How often to read the catalogue again if a generation disappears because an ingest replaces it."""


class BackupSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of a backup."""

    file: str
    created: str
    books: dict[str, str]
    """Slug of each book -> its generation."""
    conversations: bool
    bytes: int


def backup(settings: Settings, target: Path, now: Callable[[], datetime]) -> BackupSummary:
    """Write all of Lutrin's data to one file. An existing file is replaced once the new one is complete."""
    if not settings.catalog_path.exists() and not settings.chats_path.exists():
        raise ArchiveError(f"There is nothing to back up in {settings.data_dir}.", remedy="Run `lutrin ingest` first.")
    created = now().isoformat(timespec="seconds")
    with beside(target) as work, ExitStack() as locks:
        room(work, _data_bytes(settings))
        members, expected = index_members(settings, work, locks)
        conversations = _conversations(settings, work)
        members += [(CHATS, work / CHATS)] if conversations else []
        write_archive(target, members, KIND, created, expected=expected, key=own_key(settings))
    return BackupSummary(
        file=str(target),
        created=created,
        books=dict(name.split("/")[1:3] for name in expected),
        conversations=conversations,
        bytes=target.stat().st_size,
    )


def index_members(settings: Settings, work: Path, locks: ExitStack) -> tuple[list[tuple[str, Path]], dict[str, str]]:
    """Collect the catalogue, the prepared entries and the current generations at one moment, as members."""
    expected: dict[str, str] = {}
    for item in _catalog(settings, work, locks):
        expected |= _generation(settings.books_dir, item)
    members = [(CATALOG, work / CATALOG)] if (work / CATALOG).exists() else []
    members += _study_members(settings.data_dir / STUDY, work / STUDY)
    return members + [(name, settings.data_dir / name) for name in expected], expected


def _study_members(folder: Path, copies: Path) -> list[tuple[str, Path]]:
    """Collect the entries written by the model's study, whole lines only, since it may be writing."""
    members = []
    for path in sorted(folder.glob("*")):
        copies.mkdir(exist_ok=True)
        content = path.read_bytes()
        (copies / path.name).write_bytes(content[: content.rfind(b"\n") + 1])
        members.append((f"{STUDY}/{path.name}", copies / path.name))
    return members


def own_key(settings: Settings) -> bytes | None:
    """Return the key that proves that this installation wrote an archive; None if it cannot be read."""
    return next(iter(installation_keys(settings, make=True)), None)


def _catalog(settings: Settings, work: Path, locks: ExitStack) -> list[PublishedBook]:
    if not settings.catalog_path.exists():
        return []
    for _ in range(TRIES):
        (work / CATALOG).unlink(missing_ok=True)
        try:
            published = _snapshot(settings.catalog_path, work / CATALOG)
        except sqlite.DatabaseError as error:
            raise IndexUnavailable(f"The catalogue cannot be read: {error}.", remedy="See `lutrin doctor`.") from error
        with ExitStack() as stack:
            try:
                for item in published:
                    stack.enter_context(ReadLock(settings.books_dir / item.info.slug / item.current / MANIFEST))
            except FileNotFoundError:
                continue
            locks.push(stack.pop_all())
            return published
    raise IndexUnavailable("The folder of an index is missing.", remedy="Run `lutrin ingest --rebuild`.")


def _snapshot(catalog_path: Path, target: Path) -> list[PublishedBook]:
    """Copy the catalogue with only the current generations, and return these; an ingest may delete their folders."""
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
        sqlite.copy(settings.chats_path, copy, key=key)
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
        raise damaged_index(f"{item.info.slug}/{item.current}")
    hashes = {MANIFEST: item.manifest_sha256, **read_manifest(directory).hashes}
    return {f"{BOOKS}/{item.info.slug}/{item.current}/{name}": digest for name, digest in hashes.items()}


def _data_bytes(settings: Settings) -> int:
    databases = [path.stat().st_size for path in (settings.catalog_path, settings.chats_path) if path.exists()]
    return 2 * sum(databases) + sum(path.stat().st_size for path in settings.books_dir.rglob("*") if path.is_file())


UNPACKED = ".restore-unpacked"
"""Folder of an unfinished restore, removed by the next one."""
COMPLETE = ".restore-complete"
"""Folder of a committed restore, complete and checked."""


class RestoreSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a restore."""

    created: str
    """When the backup was written."""
    books: dict[str, str]
    """Slug of each book -> its generation."""
    conversations: bool


def restore(settings: Settings, source: Path, *, with_chats: bool = True, trust: bool = False) -> RestoreSummary:
    """Replace the present state by a backup's, including conversations unless `with_chats` is false.

    Raises:
        ArchiveError: The file is not a backup, or damaged, or foreign and not trusted; nothing was changed.
        ChatStoreError: The key of the backup's conversations is not here; nothing was changed.
        NotEnoughSpace: The disk is too small; nothing was changed.
        IngestInProgress: An ingest or another restore is running.
    """
    # Use the lock of ingests: neither may see the other's unfinished work.
    with ingest_lock(settings.data_dir):
        finish_alone(settings)
        unpacked = settings.data_dir / UNPACKED
        shutil.rmtree(unpacked, ignore_errors=True)
        unpacked.mkdir(mode=0o700)
        try:
            manifest = unpack_archive(source, KIND, unpacked)
            require_own(source, manifest, installation_keys(settings, make=False), trust=trust)
            if not with_chats:
                (unpacked / CHATS).unlink(missing_ok=True)
            conversations = _prepare_chats(settings, unpacked)
            books = _prepare_index(settings, source, unpacked)
            sync_tree(unpacked)
            unpacked.rename(settings.data_dir / COMPLETE)
            sync(settings.data_dir)
        finally:
            shutil.rmtree(unpacked, ignore_errors=True)
        finish_alone(settings)
    return RestoreSummary(created=manifest.created, books=books, conversations=conversations)


def finish(settings: Settings) -> None:
    """Finish a restore whose process was killed after the commit. Every command that opens the data first calls this.

    Raises:
        ChatStoreError, IndexUnavailable, DatabaseError, OSError: It cannot be finished now.
    """
    if not (settings.data_dir / COMPLETE).exists():
        return
    # If the lock is taken, the restore is still running, or an ingest, which has finished it already.
    with suppress(IngestInProgress), ingest_lock(settings.data_dir):
        finish_alone(settings)


def finish_alone(settings: Settings) -> None:
    """Do the work of `finish`, for a caller that holds the ingest lock."""
    complete = settings.data_dir / COMPLETE
    if not complete.exists():
        return
    for directory in sorted((complete / BOOKS).glob("*/*")):
        place = settings.books_dir / directory.parent.name / directory.name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.exists():
            directory.rename(place)
            sync(place.parent)
    if (complete / CATALOG).exists():
        if _readable(settings.catalog_path):
            _take_over(settings.catalog_path, complete / CATALOG)
        else:
            sqlite.replace(settings.catalog_path, complete / CATALOG)
    if (complete / CHATS).exists():
        _take_over_chats(settings.chats_path, chat_key(settings), complete / CHATS)
    if (complete / STUDY).exists():
        shutil.rmtree(settings.data_dir / STUDY, ignore_errors=True)
        shutil.copytree(complete / STUDY, settings.data_dir / STUDY)
        sync_tree(settings.data_dir / STUDY)
    trash = settings.data_dir / UNPACKED
    shutil.rmtree(trash, ignore_errors=True)
    complete.rename(trash)  # half of it must never pass for all of it
    shutil.rmtree(trash)


def _prepare_chats(settings: Settings, unpacked: Path) -> bool:
    """Make sure that the conversations can be opened here, and migrate their tables."""
    if not (unpacked / CHATS).exists():
        return False
    if settings.chat_key is None and not settings.chat_key_path.exists():
        raise ChatStoreError("The backup holds conversations, and there is no key here.", remedy=_key_remedy(settings))
    key = chat_key(settings)
    for former in former_keys(settings.chats_path, key):
        if not opens(unpacked / CHATS, key) and opens(unpacked / CHATS, former):
            rotate_key(unpacked / CHATS, former, key, keep_former=False)
    if not opens(unpacked / CHATS, key):
        raise ChatStoreError(
            "The backup's conversations are encrypted with another key than the one here.", remedy=_key_remedy(settings)
        )
    migrate(unpacked / CHATS, key)
    return True


def _key_remedy(settings: Settings) -> str:
    return (
        f"Put the key of the machine that made it into LUTRIN_CHAT_KEY or {settings.chat_key_path} (mode 0600), "
        "or leave the conversations out with --without-conversations."
    )


def _prepare_index(settings: Settings, source: Path, unpacked: Path) -> dict[str, str]:
    """Check the generations against the catalogue, rename one whose name is taken, and return them by slug."""
    if not (unpacked / CATALOG).exists():
        return {}
    if _readable(settings.catalog_path):
        Catalog(settings.catalog_path).close()
    wrong = ArchiveError(f"{source} is damaged: its catalogue does not fit. Nothing was changed.")
    if not _readable(unpacked / CATALOG):
        raise wrong
    try:
        check_databases(unpacked)
    except IndexUnavailable as error:
        raise ArchiveError(f"{source} is damaged: {error.detail} Nothing was changed.") from error
    books = {}
    with Catalog(unpacked / CATALOG) as catalog:
        catalog.retired_generations()  # their names are checked, for the next ingest deletes their folders
        for book in catalog.books():
            directory = unpacked / BOOKS / book.info.slug / book.current
            if not is_published(directory, book.manifest_sha256):
                raise wrong
            books[book.info.slug] = _free_name(settings, catalog, book, directory)
    return books


def check_databases(unpacked: Path) -> None:
    """Check the schemas of an unpacked index before using any of it."""
    check_schema(unpacked / CATALOG, TABLES)
    for passages in (unpacked / BOOKS).glob(f"*/*/{PASSAGES}"):
        check_schema(passages)


def _free_name(settings: Settings, catalog: Catalog, book: PublishedBook, directory: Path) -> str:
    """Return the name of a generation here: its own, unless another generation or a damaged copy has it."""
    place = settings.books_dir / book.info.slug / book.current
    if not place.exists() or is_published(place, book.manifest_sha256):
        return book.current
    number = 2
    while place.with_name(f"{book.current}-{number}").exists():
        number += 1
    return _rename_generation(catalog, directory, f"{book.current}-{number}").name


def _readable(catalog_path: Path) -> bool:
    try:
        with closing(sqlite.connect(catalog_path)) as connection:
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",))
    except sqlite.OperationalError:
        raise
    except sqlite.DatabaseError:
        return False


def _take_over(catalog_path: Path, other: Path) -> None:
    with Catalog(catalog_path) as catalog:
        catalog.connection.execute("ATTACH DATABASE ? AS other", (str(other),))
        with catalog.transaction():
            for statement in (*statements.TAKE_OVER, *statements.TAKE_OVER_DECISIONS):
                catalog.connection.execute(statement)


def _rename_generation(catalog: Catalog, directory: Path, name: str) -> Path:
    """Rename a generation that is not published yet: its folder, its manifest, its rows in a snapshot."""
    write_manifest(directory, msgspec.structs.replace(read_manifest(directory), name=name))
    renamed = directory.rename(directory.with_name(name))
    digest = manifest_hash(renamed)
    with catalog.transaction():
        catalog.connection.execute("PRAGMA defer_foreign_keys = ON")
        catalog.connection.execute(statements.RENAME_GENERATION, {"old": directory.name, "new": name, "digest": digest})
        catalog.connection.execute(statements.RENAME_CURRENT, {"old": directory.name, "new": name})
    return renamed


def _take_over_chats(database: Path, key: str, other: Path) -> None:
    """Replace the conversations by those of a migrated snapshot, which is deleted; a running server adopts them.

    A database that this key does not open, because it is damaged, is replaced as a file.
    """
    if opens(database, key):
        with closing(sqlite.connect(other, key=key)) as source, closing(sqlite.connect(database, key=key)) as target:
            source.backup(target)
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.unlink()
        return
    sqlite.replace(database, other)
