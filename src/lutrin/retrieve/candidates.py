"""The passages that may answer, found in two ways, with all that is known of how well each does.

All parts of a question share one pool: it is read once, and each part scores it for itself.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.index.tokens import MaxSim
from lutrin.ports import WordIndex
from lutrin.records import Chunk
from lutrin.retrieve.asked import Asked, Float
from lutrin.retrieve.repeated import repeated
from lutrin.retrieve.words import REMEMBERED

POOL = 24
"""Candidates that each of the two searches contributes."""
LEXICAL_WEIGHT = 0.35
LATE_WEIGHT = 1.2
"""Fusion of a passage: cosine + LEXICAL_WEIGHT x BM25 (best of the pool = 1) + LATE_WEIGHT x MaxSim."""
APART = 0.15
"""Taken from passages that ask or announce instead of saying: exercises, learning goals, lists of sources."""
OUTLINE = 0.45
"""Taken from a passage that only lists titles: it holds the words of every question and the answer to few."""
MOST = 2 * POOL
"""Candidates that are ranked for each question that is asked at once."""
ALIKE = 2
"""Candidates that nearly repeat each other and are ranked all the same: one version may say what another does not."""
REPEATED = 10.0
"""Taken from a passage that repeats a better one: more than any passage can score."""
_APART = re.compile(
    r"^(?:exercises?|questions?|review|problems?|quiz|self[- ]check|further reading|references|sources|bibliography"
    r"|what you will|what you['’]ll|in this chapter|learning|objectives|see also)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates, P in all."""

    chunks: Sequence[Chunk]
    rows: Sequence[int]
    """Of each in its generation."""
    apart: Float
    """(P,): what is taken from a passage that states nothing, or repeats a better one; 0 from most."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A pool as one question sees it."""

    asked: Asked
    cosines: Float
    """(P,): cosine of the question and the nearest window of each passage."""
    lexical: Mapping[str, float]
    """BM25 by chunk id, of those that the full-text search found."""
    late: MaxSim
    fused: Float
    """(P,): the three together, 0 to about 2.5."""

    @property
    def share(self) -> Float:
        """(Q,): weights of the question's tokens, 1 in all."""
        share: Float = self.asked.weights / self.asked.weights.sum()
        return share


async def gather(
    generation: OpenGeneration,
    questions: Sequence[Asked],
    where: Mapping[str, str] | None,
    *,
    besides: Sequence[str] = (),
) -> tuple[Pool, list[Scored]]:
    """Search for each question, and score all that was found for each.

    Args:
        generation: Open for reading.
        questions: The question and its parts.
        where: Only chunks of this chapter, module or content type.
        besides: Ids of chunks that are candidates whether they are found or not.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    # Those that repeat others stand back below; where every second passage does, twice as many are needed.
    wanted = POOL + min(POOL, 2 * POOL * generation.repeats // max(1, generation.manifest.chunks))
    searches = [generation.nearest(item.vector, wanted, where) for item in questions]
    searches += [generation.matching(item.searched, wanted, where) for item in questions]
    if isinstance(generation.vectors, WordIndex):  # elsewhere: they wait for it together
        found = await asyncio.gather(*searches)
    else:  # in memory: who stepped back between them would wait for everybody else's question
        found = [await search for search in searches]
    names = dict.fromkeys(name for pairs in found for name, _ in pairs if name not in besides)
    places = await generation.places(list(names))
    places = _fewer(generation, places, questions[0].vector, MOST * len(questions))
    places += await generation.places(list(besides)) if besides else []
    rows, chunks = [row for row, _ in places], [chunk for _, chunk in places]
    apart = np.array([APART * is_apart(chunk.heading_path) for chunk in chunks], dtype=np.float32)
    pool = Pool(chunks=chunks, rows=rows, apart=apart + OUTLINE * generation.outlines[rows].astype(np.float32))
    lexical = [dict(pairs) for pairs in found[len(questions) :]]
    lates = generation.tokens.maxsim(
        [(generation.tokens.project(item.tokens), item.weights) for item in questions], rows
    )
    scored = [_score(generation, pool, *item) for item in zip(questions, lexical, lates, strict=True)]
    firsts = generation.firsts[rows].tolist()
    # Out of the way, not out of the pool: where nothing else is left, they still come.
    back = np.all([repeated(firsts, chunks, item.fused, item.late) for item in scored], axis=0)
    return replace(pool, apart=pool.apart + REPEATED * back.astype(np.float32)), scored


def _fewer(
    generation: OpenGeneration, places: list[tuple[int, Chunk]], vector: Float, most: int
) -> list[tuple[int, Chunk]]:
    """At most so many candidates, the nearest; of those that nearly repeat each other all but ALIKE come last."""
    if len(places) <= most:
        return places
    rows = [row for row, _ in places]
    firsts = generation.firsts[rows].tolist()
    held: Counter[int] = Counter()
    kept: list[int] = []
    rest: list[int] = []
    for index in np.argsort(-generation.cosines(vector, rows), kind="stable").tolist():
        held[firsts[index]] += 1
        (kept if held[firsts[index]] <= ALIKE else rest).append(index)
    return [places[index] for index in sorted([*kept, *rest][:most])]


def _score(generation: OpenGeneration, pool: Pool, asked: Asked, lexical: Mapping[str, float], late: MaxSim) -> Scored:
    cosines = generation.cosines(asked.vector, pool.rows)
    best = max(lexical.values(), default=0.0) or 1.0
    matched = np.array([lexical.get(chunk.chunk_id, 0.0) / best for chunk in pool.chunks], dtype=np.float32)
    fused: Float = cosines + LEXICAL_WEIGHT * matched + LATE_WEIGHT * late.passages
    return Scored(asked=asked, cosines=cosines, lexical=lexical, late=late, fused=fused)


@lru_cache(maxsize=REMEMBERED)
def is_apart(headings: tuple[str, ...]) -> bool:
    """Whether the headings of a passage say that it asks or announces."""
    return any(_APART.match(title) for title in headings)
