"""Copies the catalogue at one moment, while servers read and ingests write it, and puts it back in one transaction."""

from contextlib import closing
from pathlib import Path

import msgspec

from lutrin import sqlite
from lutrin.index import statements
from lutrin.index.catalog import Catalog, PublishedBook
from lutrin.index.manifest import manifest_hash, read_manifest, write_manifest


def snapshot(catalog_path: Path, target: Path) -> list[PublishedBook]:
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


def take_over(catalog_path: Path, other: Path) -> None:
    """Make a snapshot's books and generations the current ones, in one transaction; servers follow as after an ingest.

    Raises:
        IndexUnavailable, DatabaseError: One of the two cannot be opened; nothing was changed.
    """
    with Catalog(catalog_path) as catalog:
        catalog.connection.execute("ATTACH DATABASE ? AS other", (str(other),))
        with catalog.transaction():
            for statement in (*statements.TAKE_OVER, *statements.TAKE_OVER_DECISIONS):
                catalog.connection.execute(statement)


def rename_generation(catalog: Catalog, directory: Path, name: str) -> Path:
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
