"""Lists and tables as a whole: which of them an answer can hold, and what one lacks of which most is quoted."""

import re
from collections.abc import Sequence

from lutrin.answer.quote import cells_of, is_numbered
from lutrin.records import Unit
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.words import topic_stems, word_count

LIST_WORDS = 90
"""A list is completed if it has at most this many words."""
STEPS_WORDS = 50
"""A numbered list of at most so many words is quoted whole or not at all."""
LONG_STEPS_WORDS = 160
"""A numbered list of which most is quoted is completed up to so many words: a step that is left out makes the others
wrong."""


_TOTAL = re.compile(r"(?:sum|total|altogether|in all|all together|overall|grand total)\b", re.IGNORECASE)


def short_list(units: Sequence[Unit], position: int, *, most: int = LIST_WORDS) -> list[tuple[int, Unit]]:
    """All items of the list, or rows of the table, that holds a unit; nothing if it is too long for an answer."""
    kind, block = units[position].kind, units[position].block
    items = [(i, unit) for i, unit in enumerate(units) if unit.kind == kind and unit.block == block]
    return items if sum(word_count(unit.text) for _, unit in items) <= most else []


def with_total(units: Sequence[Unit], position: int, topics: frozenset[str]) -> list[tuple[int, Unit]]:
    """A row and the last one that sums up its table, where a column of numbers is asked for: "... when standing?".

    Args:
        units: Of the passage.
        position: Of the row.
        topics: Of the question.

    Returns:
        Both with their positions; nothing if the table has no such row, or no column is asked for.
    """
    unit = units[position]
    asked = any(topics & topic_stems(cell) for cell in cells_of(unit.lead)[1:])
    places = [place for place, other in enumerate(units) if other.kind == unit.kind and other.block == unit.block]
    if not asked or position == places[-1] or not _TOTAL.match(cells_of(units[places[-1]].text)[0]):
        return []
    return [(position, unit), (places[-1], units[places[-1]])]


def complete_lists(
    taken: dict[tuple[str, int], tuple[float, Evidence]], *, whole: bool = False
) -> set[tuple[str, int]]:
    """Add what a list lacks of which most is quoted, or any of a short numbered one: "3. Decide." is no answer.

    Args:
        taken: What has been chosen, by chunk and position, with its scores; gets what is added.
        whole: Numbered lists are completed however little of them is quoted.

    Returns:
        What was added: chunk and position.
    """
    added: set[tuple[str, int]] = set()
    for score, item in list(taken.values()):
        if item.unit.kind != "list_item":
            continue
        most = LONG_STEPS_WORDS if is_numbered(item.unit) else LIST_WORDS
        items = short_list(item.chunk.units, item.position, most=most)
        held = sum((item.chunk.chunk_id, position) in taken for position, _ in items)
        words = sum(word_count(unit.text) for _, unit in items)
        is_short = (whole or words <= STEPS_WORDS) and is_numbered(item.unit)
        if held < len(items) and (is_short or len(items) <= held * 2):
            missing = [position for position, _ in items if (item.chunk.chunk_id, position) not in taken]
            for position in missing:
                other = Evidence(chunk=item.chunk, position=position, score=score)
                taken[item.chunk.chunk_id, position] = (score, other)
                added.add((item.chunk.chunk_id, position))
    return added
