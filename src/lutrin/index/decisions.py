"""The teacher's decisions about prepared entries, and entries studied since a book was published.

Both are kept in the catalogue, outlive ingests and are backed up. Each server applies them to its open companions as
soon as the catalogue has them (`lutrin.index.shelf`), and every ingest publishes them with the book. Studied entries
also have their own file (`Settings.studied_path`); the ingest that publishes them deletes them here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from lutrin import sqlite
from lutrin.errors import IndexUnavailable
from lutrin.index import statements
from lutrin.index.catalog import Catalog
from lutrin.index.companion import Wording
from lutrin.prepared import Decision, PreparedEntry, id_of


@dataclass(frozen=True, slots=True)
class StudiedEntry:
    """An entry that is in no generation yet."""

    item: PreparedEntry
    embedder: str
    """Name of the model that encoded `wordings`."""
    wordings: tuple[Wording, ...] = ()
    """Its questions, as that model sees them."""


def add_studied(catalog_path: Path, slug: str, entries: Sequence[StudiedEntry], when: datetime) -> None:
    """Store entries that a study has just written to its file, for every server on the catalogue.

    Raises:
        IndexUnavailable: The catalogue cannot be written; the next ingest publishes them all the same.
    """
    time = when.isoformat()
    rows = [{**_row(slug, id_of(one.item.entry), one.item, one), "written": time} for one in entries]
    try:
        with Catalog(catalog_path) as catalog, catalog.transaction():
            catalog.connection.executemany(statements.PUT_STUDIED, rows)
            catalog.connection.execute(statements.NEXT_REVISION)
    except sqlite.DatabaseError as error:
        raise IndexUnavailable(f"The catalogue {catalog_path} cannot be written: {error}") from error


def stored_entry(row: Sequence[Any]) -> StudiedEntry:
    """The entry of a row of `statements.STUDIED`."""
    record, embedder, wordings = row
    return StudiedEntry(msgspec.json.decode(record, type=PreparedEntry), embedder, unpack_wordings(wordings))


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision as stored."""

    decision: Decision
    embedder: str = ""
    """Name of the model that encoded `wordings`."""
    wordings: tuple[Wording, ...] = ()
    """The questions of an entry that is in no companion, as that model sees them."""


def decide(catalog: Catalog, slug: str, name: str, decided: StoredDecision, *, when: str) -> None:
    """Store a decision, replacing an earlier one about the same entry."""
    row = {**_row(slug, name, decided.decision, decided), "decided": when}
    with catalog.transaction():
        catalog.connection.execute(statements.PUT_DECISION, row)
        catalog.connection.execute(statements.NEXT_REVISION)


def withdraw(catalog: Catalog, slug: str, name: str) -> None:
    """Restore an entry's version in the companion; remove an entry that is in no companion."""
    with catalog.transaction():
        catalog.connection.execute(statements.WITHDRAW_DECISION, {"slug": slug, "id": name})
        catalog.connection.execute(statements.NEXT_REVISION)


def stored_decision(row: Sequence[Any]) -> StoredDecision:
    """The decision of a row of `statements.DECISIONS`."""
    record, embedder, wordings = row
    return StoredDecision(msgspec.json.decode(record, type=Decision), embedder, unpack_wordings(wordings))


def decisions(catalog: Catalog, slug: str) -> list[StoredDecision]:
    """List the decisions about a book's entries, oldest first."""
    return [stored_decision(row) for row in catalog.connection.execute(statements.DECISIONS, {"slug": slug})]


def for_ingest(catalog: Catalog, slug: str) -> Sequence[Decision]:
    """The decisions alone, in an order that depends only on them."""
    return [one.decision for one in decisions(catalog, slug)]


def _row(
    slug: str, name: str, record: PreparedEntry | Decision, encoded: StudiedEntry | StoredDecision
) -> dict[str, str | bytes]:
    return {
        "slug": slug,
        "id": name,
        "record": msgspec.json.encode(record).decode(),
        "embedder": encoded.embedder,
        "spoken": pack_wordings(encoded.wordings),
    }


def pack_wordings(wordings: Sequence[Wording]) -> bytes:
    """Pack questions, as the embedder sees them, for a column of the catalogue: text, vector, tokens, their width."""
    rows = [
        (one.text, one.vector.astype("<f4").tobytes(), one.tokens.tobytes(), one.tokens.shape[1]) for one in wordings
    ]
    return msgspec.msgpack.encode(rows)


def unpack_wordings(blob: bytes) -> tuple[Wording, ...]:
    """Unpack the questions of such a column."""
    rows = msgspec.msgpack.decode(blob, type=list[tuple[str, bytes, bytes, int]])
    return tuple(
        Wording(
            text,
            np.frombuffer(vector, dtype="<f4").astype(np.float32),
            np.frombuffer(tokens, dtype=np.int8).reshape(-1, width),
        )
        for text, vector, tokens, width in rows
    )
