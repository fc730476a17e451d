"""Finds the place of a selection in the book."""

from lutrin.index.generation import OpenGeneration
from lutrin.language.words import plain
from lutrin.records import Chunk

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
    held = [chunk for chunk in near if chunk not in holding and _is_held(chunk, said)]
    return [*holding, *held][:MOST]


def same_section(chunk: Chunk, other: Chunk) -> bool:
    """Whether two passages stand under the same heading."""
    return (chunk.filename, chunk.heading_path, chunk.anchor) == (other.filename, other.heading_path, other.anchor)


def _is_held(chunk: Chunk, said: str) -> bool:
    own = (plain(unit.text) for unit in chunk.units)
    return any(len(text.split()) > SENTENCE_WORDS and text in said for text in own)
