"""The teacher's decisions about prepared entries, kept in the catalogue: they outlive ingests and are backed up.

Each server applies them to its open companions as soon as the catalogue has them (`lutrin.index.shelf`), and every
ingest publishes them with the book.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from lutrin.index import statements
from lutrin.index.catalog import Catalog
from lutrin.index.companion import Decision, Wording


class _Spoken(msgspec.Struct, frozen=True, array_like=True):
    """A question as the embedder sees it, as bytes."""

    text: str
    vector: bytes
    tokens: bytes
    depth: int


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision as it is kept."""

    decision: Decision
    embedder: str = ""
    """Name of the model that encoded `wordings`."""
    wordings: tuple[Wording, ...] = ()
    """The questions of an entry that no companion has, as that model sees them."""


def decide(catalog: Catalog, slug: str, name: str, decided: StoredDecision, *, when: str) -> None:
    """Store a decision in place of an earlier one about the same entry."""
    record = msgspec.json.encode(decided.decision).decode()
    with catalog.transaction():
        catalog.connection.execute(
            statements.PUT_DECISION,
            {
                "slug": slug,
                "id": name,
                "record": record,
                "embedder": decided.embedder,
                "spoken": pack_wordings(decided.wordings),
                "decided": when,
            },
        )
        catalog.connection.execute(statements.NEXT_REVISION)


def withdraw(catalog: Catalog, slug: str, name: str) -> None:
    """Return an entry to its companion's version; an entry that no companion has is removed."""
    with catalog.transaction():
        catalog.connection.execute(statements.WITHDRAW_DECISION, {"slug": slug, "id": name})
        catalog.connection.execute(statements.NEXT_REVISION)


def stored_decision(row: Sequence[Any]) -> StoredDecision:
    """The decision of a row of `statements.DECISIONS`."""
    record, embedder, spoken = row
    return StoredDecision(msgspec.json.decode(record, type=Decision), embedder, unpack_wordings(spoken))


def decisions(catalog: Catalog, slug: str) -> list[StoredDecision]:
    """List the decisions about a book's entries, oldest first."""
    return [stored_decision(row) for row in catalog.connection.execute(statements.DECISIONS, {"slug": slug})]


def for_ingest(catalog: Catalog, slug: str) -> Sequence[Decision]:
    """The decisions alone, in an order that depends only on them."""
    return [kept.decision for kept in decisions(catalog, slug)]


def pack_wordings(wordings: Sequence[Wording]) -> bytes:
    """Questions as the embedder sees them, as a column of the catalogue."""
    spoken = [
        _Spoken(one.text, one.vector.astype("<f4").tobytes(), one.tokens.tobytes(), one.tokens.shape[1])
        for one in wordings
    ]
    return msgspec.msgpack.encode(spoken)


def unpack_wordings(spoken: bytes) -> tuple[Wording, ...]:
    """The questions of such a column."""
    return tuple(map(_wording, msgspec.msgpack.decode(spoken, type=list[_Spoken])))


def _wording(spoken: _Spoken) -> Wording:
    vector = np.frombuffer(spoken.vector, dtype="<f4").astype(np.float32)
    return Wording(spoken.text, vector, np.frombuffer(spoken.tokens, dtype=np.int8).reshape(-1, spoken.depth))
