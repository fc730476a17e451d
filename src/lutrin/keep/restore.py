"""`lutrin restore`: replace the present state with a backup, completely or not at all, also while a server runs.

The file is unpacked and checked in a folder of its own. Renaming that folder commits the restore. If the process is
killed afterwards, the next start repeats the rest: generations move into place, and the catalogue and the conversations
are replaced, each in one transaction. Running servers follow as after an ingest.
"""

import shutil
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from lutrin import sqlite
from lutrin.chats.key import chat_key, former_keys, installation_keys, opens, rotate_key
from lutrin.chats.migrations import migrate
from lutrin.errors import ArchiveError, ChatStoreError, IndexUnavailable, IngestInProgress
from lutrin.index import statements
from lutrin.index.catalog import TABLES, Catalog, PublishedBook
from lutrin.index.disk import sync, sync_tree
from lutrin.index.generation import PASSAGES
from lutrin.index.manifest import is_published, manifest_hash, read_manifest, write_manifest
from lutrin.ingest.lock import ingest_lock
from lutrin.keep.archive import check_schema, require_own, unpack_archive
from lutrin.keep.backup import BOOKS, CATALOG, CHATS, KIND, STUDY
from lutrin.settings import Settings

UNPACKED = ".restore-unpacked"
"""Folder of an unfinished restore, removed by the next one."""
COMPLETE = ".restore-complete"
"""Folder of a committed restore, whole and checked."""


class RestoreSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What was restored."""

    created: str
    """When the backup was written."""
    books: dict[str, str]
    """Slug of each book -> its generation."""
    conversations: bool


def restore(settings: Settings, source: Path, *, with_chats: bool = True, trust: bool = False) -> RestoreSummary:
    """Replace the present state, conversations too unless `with_chats` is false, with that of a backup.

    Raises:
        ArchiveError: The file is no backup, or damaged, or foreign and not trusted; nothing was changed.
        ChatStoreError: The key of the backup's conversations is not here; nothing was changed.
        NotEnoughSpace: The disk is too small; nothing was changed.
        IngestInProgress: An ingest or another restore is running.
    """
    # The lock of ingests: neither may see the other's unfinished work.
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
    """Finish a restore whose process was killed after the commit. Every command that opens the data calls this first.

    Raises:
        ChatStoreError, IndexUnavailable, DatabaseError, OSError: It cannot be finished now.
    """
    if not (settings.data_dir / COMPLETE).exists():
        return
    # If the lock is taken, the restore is still running, or an ingest that has finished it.
    with suppress(IngestInProgress), ingest_lock(settings.data_dir):
        finish_alone(settings)


def finish_alone(settings: Settings) -> None:
    """Do what `finish` does, for a caller that holds the ingest lock."""
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
    """Make sure that the conversations can be opened here, and bring their tables up to date."""
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
    """Check the generations against the catalogue, rename one whose name is taken here, and return them by slug."""
    if not (unpacked / CATALOG).exists():
        return {}
    if _readable(settings.catalog_path):
        Catalog(settings.catalog_path).close()
    wrong = ArchiveError(f"{source} is damaged: its catalogue does not fit. Nothing was changed.")
    if not _readable(unpacked / CATALOG):
        raise wrong
    try:
        check_schema(unpacked / CATALOG, TABLES)
        for passages in (unpacked / BOOKS).glob(f"*/*/{PASSAGES}"):
            check_schema(passages)
    except IndexUnavailable as error:
        raise ArchiveError(f"{source} is damaged: {error.detail} Nothing was changed.") from error
    books = {}
    with Catalog(unpacked / CATALOG) as catalog:
        catalog.retired()  # their names are checked, for the next ingest deletes their folders
        for book in catalog.books():
            directory = unpacked / BOOKS / book.info.slug / book.current
            if not is_published(directory, book.manifest_sha256):
                raise wrong
            books[book.info.slug] = _free_name(settings, catalog, book, directory)
    return books


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
    """Make a snapshot's books and generations the current ones, in one transaction; servers follow as after an ingest.

    Raises:
        IndexUnavailable, DatabaseError: One of the two cannot be opened; nothing was changed.
    """
    with Catalog(catalog_path) as catalog:
        catalog.connection.execute("ATTACH DATABASE ? AS other", (str(other),))
        with catalog.transaction():
            for statement in (*statements.TAKE_OVER, *statements.TAKE_OVER_DECISIONS):
                catalog.connection.execute(statement)


def _rename_generation(catalog: Catalog, directory: Path, name: str) -> Path:
    """Rename a generation that nobody reads yet: its folder, its manifest, its rows in a snapshot.

    Raises:
        DatabaseError: The name is taken.
    """
    write_manifest(directory, msgspec.structs.replace(read_manifest(directory), name=name))
    renamed = directory.rename(directory.with_name(name))
    digest = manifest_hash(renamed)
    with catalog.transaction():
        catalog.connection.execute("PRAGMA defer_foreign_keys = ON")
        catalog.connection.execute(statements.RENAME_GENERATION, {"old": directory.name, "new": name, "digest": digest})
        catalog.connection.execute(statements.RENAME_CURRENT, {"old": directory.name, "new": name})
    return renamed


def _take_over_chats(database: Path, key: str, other: Path) -> None:
    """Replace the conversations with those of a migrated snapshot, which is deleted; a server goes on with them.

    A database that this key does not open, because it is damaged, is replaced as a file.

    Raises:
        DatabaseError: The database cannot be written; it is unchanged.
    """
    if opens(database, key):
        with closing(sqlite.connect(other, key=key)) as source, closing(sqlite.connect(database, key=key)) as target:
            source.backup(target)
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.unlink()
        return
    sqlite.replace(database, other)
