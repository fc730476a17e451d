"""Procedures: numbered lists, which help only as a whole and only if they are of what was asked for."""

from collections.abc import Sequence

from lutrin.answer.quote import is_numbered
from lutrin.records import Unit
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.words import word_count

PASSAGES = 4
"""The best so many passages are looked through for a procedure."""
LEAST_SHARE = 0.8
"""Of the best unit's score, what a procedure scores at least as a whole, unless it stands in the best passage."""
MOST_WORDS = 110
"""Words that it has at most there: a longer one leaves no room for anything that matches better."""
BEHIND = 0.03
"""What a procedure loses for each passage that answers better than its own."""


def is_step(unit: Unit) -> bool:
    """Whether a unit is an item of a numbered list."""
    return unit.kind == "list_item" and is_numbered(unit)


def best_steps(found: Sequence[Evidence]) -> frozenset[tuple[str, int]]:
    """The numbered list that answers best as a whole, in one of the passages that answer best.

    "1. Fit the drive." has few words of "How do I put the operating system on it?"; all steps together have more, and
    the passage has most.

    Args:
        found: Units of the found passages, the best passage's first.

    Returns:
        Chunk and position of each of its items.
    """
    ranks = {name: rank for rank, name in enumerate(dict.fromkeys(item.chunk.chunk_id for item in found))}
    lists: dict[tuple[str, int], list[Evidence]] = {}
    for item in found:
        if is_step(item.unit) and ranks[item.chunk.chunk_id] < PASSAGES:
            lists.setdefault((item.chunk.chunk_id, item.unit.block), []).append(item)
    least = LEAST_SHARE * max((item.score for item in found), default=0.0)

    def is_wanted(items: Sequence[Evidence]) -> bool:
        told = sum(word_count(item.unit.text) for item in items)
        return ranks[items[0].chunk.chunk_id] == 0 or (items[0].whole >= least and told <= MOST_WORDS)

    best = max(
        filter(is_wanted, lists.values()),
        key=lambda items: items[0].whole - BEHIND * ranks[items[0].chunk.chunk_id],
        default=[],
    )
    return frozenset(item.place for item in best)


def drop_torn_steps(taken: dict[tuple[str, int], tuple[float, Evidence]], least: float) -> None:
    """Take out steps of passages that do not answer best: who asks for a way is led astray by two steps of another."""
    best = {name for (name, _), (score, _) in taken.items() if score >= least}
    for (name, position), (_, item) in list(taken.items()):
        if name not in best and is_step(item.unit):
            del taken[name, position]
