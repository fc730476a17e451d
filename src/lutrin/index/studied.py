"""What a study wrote since a book was published, kept in the catalogue so that every server has it at once.

The study's own file (`Settings.studied_path`) is what lasts: each ingest publishes it with the book, and then deletes
here what it published.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from lutrin import sqlite
from lutrin.errors import IndexUnavailable
from lutrin.index import statements
from lutrin.index.catalog import Catalog
from lutrin.index.companion import Prepared, Wording, id_of
from lutrin.index.decisions import pack_wordings, unpack_wordings


@dataclass(frozen=True, slots=True)
class StudiedEntry:
    """An entry that no generation has yet."""

    item: Prepared
    embedder: str
    """Name of the model that encoded `wordings`."""
    wordings: tuple[Wording, ...] = ()
    """Its questions, as that model sees them."""


def add_studied(catalog_path: Path, slug: str, entries: Sequence[StudiedEntry], when: datetime) -> None:
    """Store entries that a study has just put into its file, for every server on the catalogue.

    Raises:
        IndexUnavailable: The catalogue cannot be written; the next ingest publishes them all the same.
    """
    rows = [
        {
            "slug": slug,
            "id": id_of(one.item.entry),
            "record": msgspec.json.encode(one.item).decode(),
            "embedder": one.embedder,
            "spoken": pack_wordings(one.wordings),
            "written": when.isoformat(),
        }
        for one in entries
    ]
    try:
        with Catalog(catalog_path) as catalog, catalog.transaction():
            catalog.connection.executemany(statements.PUT_STUDIED, rows)
            catalog.connection.execute(statements.NEXT_REVISION)
    except sqlite.DatabaseError as error:
        raise IndexUnavailable(f"The catalogue {catalog_path} cannot be written: {error}") from error


def stored_entry(row: Sequence[Any]) -> StudiedEntry:
    """The entry of a row of `statements.STUDIED`."""
    record, embedder, spoken = row
    return StudiedEntry(msgspec.json.decode(record, type=Prepared), embedder, unpack_wordings(spoken))
