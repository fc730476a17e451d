"""The teacher's decisions about prepared entries, kept in the catalogue: they outlive ingests and are backed up.

Each server lays it over the companions that it has open as soon as the catalogue says so (`lutrin.index.shelf`), and
every ingest publishes it with the book.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from lutrin.index import compiled
from lutrin.index.catalog import Catalog
from lutrin.index.companion import Decision, Wording


class _Spoken(msgspec.Struct, frozen=True, array_like=True):
    """A question as the embedder sees it, as bytes."""

    text: str
    vector: bytes
    tokens: bytes
    depth: int


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision as it is kept."""

    decision: Decision
    embedder: str = ""
    """Name of the model that `wordings` are of."""
    wordings: tuple[Wording, ...] = ()
    """The questions of an entry that no companion has, as that model sees them."""


def decide(catalog: Catalog, slug: str, name: str, decided: Decided, *, when: str) -> None:
    """Keep a decision in the place of an earlier one about the same entry.

    Args:
        catalog: Keeps it.
        slug: Of the book.
        name: Id of the entry; see `lutrin.index.companion.id_of`.
        decided: The decision.
        when: ISO 8601, UTC.
    """
    spoken = [
        _Spoken(one.text, one.vector.astype("<f4").tobytes(), one.tokens.tobytes(), one.tokens.shape[1])
        for one in decided.wordings
    ]
    record = msgspec.json.encode(decided.decision).decode()
    with catalog.transaction():
        catalog.connection.execute(
            compiled.PUT_DECISION,
            {
                "slug": slug,
                "id": name,
                "record": record,
                "embedder": decided.embedder,
                "spoken": msgspec.msgpack.encode(spoken),
                "decided": when,
            },
        )
        catalog.connection.execute(compiled.NEXT_REVISION)


def withdraw(catalog: Catalog, slug: str, name: str) -> None:
    """Let an entry stand as its companion has it; one that no companion has is gone."""
    with catalog.transaction():
        catalog.connection.execute(compiled.WITHDRAW_DECISION, {"slug": slug, "id": name})
        catalog.connection.execute(compiled.NEXT_REVISION)


def decided(row: Sequence[Any]) -> Decided:
    """The decision of a row of `compiled.DECISIONS`."""
    record, embedder, spoken = row
    return Decided(
        msgspec.json.decode(record, type=Decision),
        embedder,
        tuple(map(_wording, msgspec.msgpack.decode(spoken, type=list[_Spoken]))),
    )


def decisions(catalog: Catalog, slug: str) -> list[Decided]:
    """List the decisions about a book's entries, oldest first."""
    return [decided(row) for row in catalog.connection.execute(compiled.DECISIONS, {"slug": slug})]


def for_ingest(catalog: Catalog, slug: str) -> Sequence[Decision]:
    """The decisions alone, in an order that depends on nothing else."""
    return [kept.decision for kept in decisions(catalog, slug)]


def _wording(spoken: _Spoken) -> Wording:
    vector = np.frombuffer(spoken.vector, dtype="<f4").astype(np.float32)
    return Wording(spoken.text, vector, np.frombuffer(spoken.tokens, dtype=np.int8).reshape(-1, spoken.depth))
