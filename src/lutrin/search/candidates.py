"""Candidates for an answer: what two searches find, and how the question's tokens match each candidate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lutrin.index.generation import OpenGeneration
from lutrin.index.tokens import MaxSim
from lutrin.language.words import plain
from lutrin.records import Chunk
from lutrin.search.question_tokens import Float, QuestionTokens

POOL = 24
"""Passages that each of the two searches contributes; the late interaction ranks all of them."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates, P in all."""

    chunks: Sequence[Chunk]
    rows: Sequence[int]
    """Of each in its generation."""


@dataclass(frozen=True, slots=True)
class MatchedPool:
    """A pool as one text sees it."""

    asked: QuestionTokens
    cosines: Float
    """(P,): cosine with the nearest window of each passage."""
    lexical: Mapping[str, float]
    """BM25 by chunk id, of those that the full-text search found."""
    late: MaxSim


@dataclass(frozen=True, slots=True)
class Candidates:
    """What both searches found, before it is matched."""

    generation: OpenGeneration
    asked: Sequence[QuestionTokens]
    places: Sequence[tuple[int, Chunk]]
    """Rows and chunks."""
    lexical: Sequence[Sequence[tuple[str, float]]]
    besides: Sequence[str]
    page: str

    def match(self, hidden: Callable[[Chunk], bool]) -> tuple[Pool, list[MatchedPool]]:
        """Match each text with the candidates that are not hidden; repeats of a passage go, too."""
        shown = [(row, chunk) for row, chunk in self.places if chunk.chunk_id in self.besides or not hidden(chunk)]
        ordered = sorted(shown, key=lambda place: place[1].filename != self.page)
        places = _distinct(self.generation, ordered, self.besides)
        pool = Pool(chunks=[chunk for _, chunk in places], rows=[row for row, _ in places])
        tokens = self.generation.tokens
        lates = tokens.maxsim([(tokens.project(item.tokens), item.share) for item in self.asked], pool.rows)
        return pool, [
            MatchedPool(
                asked=item,
                cosines=self.generation.cosines(item.vector, pool.rows),
                lexical=dict(words),
                late=late,
            )
            for item, words, late in zip(self.asked, self.lexical, lates, strict=True)
        ]


async def gather(
    generation: OpenGeneration,
    asked: Sequence[QuestionTokens],
    where: Mapping[str, str] | None,
    *,
    besides: Sequence[str] = (),
    led: Sequence[str] = (),
    page: str = "",
) -> Candidates:
    """Search for each text.

    Args:
        generation: Open for reading.
        asked: What is searched for.
        where: Only chunks of this chapter, module, file or content type.
        besides: Ids of chunks that are candidates whether they are found or not.
        led: Ids of further ones, which may be hidden.
        page: File of which passages stand for what repeats them elsewhere.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    # What is hidden makes room for what is not, and so do repeats.
    searches = [generation.nearest(item.vector, 2 * POOL, where) for item in asked]
    searches += [generation.matching(item.text, 2 * POOL, where) for item in asked]
    # Most need no other thread: who stepped back between them would wait for everybody else's question.
    found = [await search for search in searches]
    names = list(dict.fromkeys([*besides, *(name for pairs in found for name, _ in pairs), *led]))
    return Candidates(
        generation,
        asked,
        await generation.places(names),
        lexical=found[len(asked) :],
        besides=besides,
        page=page,
    )


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


MOST = 2
"""Passages from which a selection may have been taken."""
NEAR = 8
"""Passages in which it is looked for."""
SENTENCE_WORDS = 4
"""A sentence of no more words than this could come from anywhere."""


async def homes(generation: OpenGeneration, selection: str) -> list[Chunk]:
    """Find the passages that a selection came from: those that contain it first, then those that share a sentence.

    None for a few words, which name a thing and may stand anywhere.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    said = plain(selection)
    if len(said.split()) <= SENTENCE_WORDS:
        return []
    near = await generation.chunks([name for name, _ in await generation.matching(selection, NEAR)])
    holding = [chunk for chunk in near if said in plain(chunk.text)]
    held = [chunk for chunk in near if chunk not in holding and _shares_sentence(chunk, said)]
    return [*holding, *held][:MOST]


def same_section(chunk: Chunk, other: Chunk) -> bool:
    """Whether two passages stand under the same heading."""
    return (chunk.filename, chunk.heading_path, chunk.anchor) == (other.filename, other.heading_path, other.anchor)


def _shares_sentence(chunk: Chunk, said: str) -> bool:
    own = (plain(unit.text) for unit in chunk.units)
    return any(len(text.split()) > SENTENCE_WORDS and text in said for text in own)
