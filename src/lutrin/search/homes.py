"""Where in the book a selection stands."""

from lutrin.index.generation import OpenGeneration
from lutrin.language.words import plain
from lutrin.records import Chunk

MOST = 2
"""Passages from which a selection may have been taken."""
NEAR = 8
"""Passages in which it is looked for."""
SENTENCE_WORDS = 4
"""A unit of more words is no phrase that stands everywhere."""


async def homes(generation: OpenGeneration, selection: str) -> list[Chunk]:
    """The passages from which a selection was taken: those that hold it, before those of which it holds a sentence.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    said = plain(selection)
    near = await generation.chunks([name for name, _ in await generation.matching(selection, NEAR)]) if said else []
    holding = [chunk for chunk in near if said in plain(chunk.text)]
    held = [chunk for chunk in near if chunk not in holding and _is_held(chunk, said)]
    return [*holding, *held][:MOST]


def _is_held(chunk: Chunk, said: str) -> bool:
    own = (plain(unit.text) for unit in chunk.units)
    return any(len(text.split()) > SENTENCE_WORDS and text in said for text in own)
