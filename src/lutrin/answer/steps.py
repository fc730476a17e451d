"""Procedures: numbered lists, which help only as a whole and only if they are of what was asked for."""

import re
from collections.abc import Sequence

from lutrin.answer.quote import is_numbered
from lutrin.records import Chunk, Unit
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.rank import continues
from lutrin.retrieve.words import topic_stems, word_count

PASSAGES = 4
"""The best so many passages are looked through for a procedure."""
LEAST_SHARE = 0.8
"""Of the best unit's score, what a procedure scores at least as a whole, unless it stands in the best passage."""
MOST_WORDS = 110
"""Words that it has at most there: a longer one leaves no room for anything that matches better."""
_OF_STEPS = re.compile(r"\bsteps? \d", re.IGNORECASE)
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


def exceptions(chunk: Chunk, steps: Sequence[int], topics: frozenset[str]) -> list[tuple[int, Unit]]:
    """What a passage says of single steps with a word of the question that the procedure lacks, and the sentence after.

    "In simulation you may skip steps 1 to 4. On the real robot you may skip none." is what somebody needs to know who
    asks how to do it in simulation.

    Args:
        chunk: The passage.
        steps: Positions of the procedure's units, in order.
        topics: Of the question.
    """
    told = [*chunk.heading_path, *(chunk.units[place].text for place in steps)]
    missing = topics - topic_stems(" ".join(told))
    for place, unit in enumerate(chunk.units):
        if unit.kind == "sentence" and _OF_STEPS.search(unit.text) and missing & topic_stems(unit.text):
            after = chunk.units[place + 1 : place + 2]
            return [(place, unit), *((place + 1, other) for other in after if continues(other, unit))]
    return []


def drop_torn_steps(taken: dict[tuple[str, int], tuple[float, Evidence]], least: float) -> None:
    """Take out steps of passages that do not answer best: who asks for a way is led astray by two steps of another."""
    best = {name for (name, _), (score, _) in taken.items() if score >= least}
    for (name, position), (_, item) in list(taken.items()):
        if name not in best and is_step(item.unit):
            del taken[name, position]
