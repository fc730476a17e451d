"""Candidates for an answer: two searches, fused by rank, and how the question's tokens match each candidate."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.index.tokens import MaxSim
from lutrin.records import Chunk
from lutrin.search.asked import Asked, Float

POOL = 24
"""Passages that each of the two searches contributes; the late interaction ranks all of them."""
RANK_CONSTANT = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates, P in all."""

    chunks: Sequence[Chunk]
    rows: Sequence[int]
    """Of each in its generation."""


@dataclass(frozen=True, slots=True)
class Matched:
    """A pool as one text sees it."""

    asked: Asked
    cosines: Float
    """(P,): cosine with the nearest window of each passage."""
    lexical: Mapping[str, float]
    """BM25 by chunk id, of those that the full-text search found."""
    fused: Float
    """(P,): reciprocal ranks in the two searches, summed."""
    late: MaxSim


async def gather(
    generation: OpenGeneration,
    asked: Sequence[Asked],
    where: Mapping[str, str] | None,
    *,
    besides: Sequence[str] = (),
    led: Sequence[str] = (),
    without: Collection[str] = (),
    page: str = "",
) -> tuple[Pool, list[Matched]]:
    """Search for each text, and match each text with everything that was found.

    Args:
        generation: Open for reading.
        asked: What is searched for.
        where: Only chunks of this chapter, module, file or content type.
        besides: Ids of chunks that are candidates whether they are found or not.
        led: Ids of further ones, of those roles that are not left out.
        without: Roles of chunks that are no candidates.
        page: File of which passages stand for what repeats them elsewhere.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    # What must not be quoted makes room for what may, and so do repeats.
    wanted = 2 * POOL if without or generation.repeats else POOL
    searches = [generation.nearest(item.vector, wanted, where) for item in asked]
    searches += [generation.matching(item.text, wanted, where) for item in asked]
    # Most need no other thread: who stepped back between them would wait for everybody else's question.
    found = [await search for search in searches]
    names = list(dict.fromkeys([*besides, *(name for pairs in found for name, _ in pairs), *led]))
    places = [
        (row, chunk)
        for row, chunk in await generation.places(names)
        if chunk.role not in without or chunk.chunk_id in besides
    ]
    places = _distinct(generation, sorted(places, key=lambda place: place[1].filename != page), besides)
    pool = Pool(chunks=[chunk for _, chunk in places], rows=[row for row, _ in places])
    dense, lexical = found[: len(asked)], found[len(asked) :]
    lates = generation.tokens.maxsim(
        [(generation.tokens.project(item.tokens), item.share) for item in asked], pool.rows
    )
    return pool, [
        Matched(
            asked=item,
            cosines=generation.cosines(item.vector, pool.rows),
            lexical=dict(words),
            fused=fused(pool.chunks, [near, words]),
            late=late,
        )
        for item, near, words, late in zip(asked, dense, lexical, lates, strict=True)
    ]


def fused(chunks: Sequence[Chunk], rankings: Sequence[Sequence[tuple[str, float]]]) -> Float:
    """(P,): the sum over rankings of 1 / (`RANK_CONSTANT` + rank); 0 for what none of them has."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, (name, _) in enumerate(ranking, 1):
            scores[name] = scores.get(name, 0.0) + 1 / (RANK_CONSTANT + rank)
    return np.array([scores.get(chunk.chunk_id, 0.0) for chunk in chunks], dtype=np.float32)


def _distinct(
    generation: OpenGeneration, places: Sequence[tuple[int, Chunk]], besides: Sequence[str]
) -> list[tuple[int, Chunk]]:
    """Keep the first of each group of near repeats."""
    seen: set[int] = set()
    kept = []
    for row, chunk in places:
        first = int(generation.firsts[row])
        if first not in seen or chunk.chunk_id in besides:
            kept.append((row, chunk))
        seen.add(first)
    return kept
