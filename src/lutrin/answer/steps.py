"""Procedures: numbered lists, which help only as a whole and only if they are of what was asked for."""

from collections.abc import Sequence

from lutrin.answer.quote import is_numbered
from lutrin.records import Unit
from lutrin.retrieve.evidence import Evidence


def is_step(unit: Unit) -> bool:
    """Whether a unit is an item of a numbered list."""
    return unit.kind == "list_item" and is_numbered(unit)


def first_steps(found: Sequence[Evidence]) -> frozenset[tuple[str, int]]:
    """The numbered list of the passage that answers best as a whole; of several the one with the best item.

    "1. Fit the drive." has few words of "How do I put the operating system on it?"; the passage has them.

    Args:
        found: Units of the found passages, the best passage's first.

    Returns:
        Chunk and position of each of its items.
    """
    items = [item for item in found if item.chunk.chunk_id == found[0].chunk.chunk_id and is_step(item.unit)]
    best = max(items, key=lambda item: item.score, default=None)
    return frozenset(item.place for item in items if best and item.unit.block == best.unit.block)


def drop_torn_steps(taken: dict[tuple[str, int], tuple[float, Evidence]], least: float) -> None:
    """Take out steps of passages that do not answer best: who asks for a way is led astray by two steps of another."""
    best = {name for (name, _), (score, _) in taken.items() if score >= least}
    for (name, position), (_, item) in list(taken.items()):
        if name not in best and is_step(item.unit):
            del taken[name, position]
