"""The row of a table with the most or the least of what is asked for: "Which clay has the highest absorption?".

The question is compared with plain ones that are made of the table's own heads, and the numbers of the column decide.
"""

import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.language.words import subject_stems
from lutrin.ports import Encoding
from lutrin.records import Chunk, Unit
from lutrin.search.reader import ScoredPassage, pooled_vector, same_section

PASSAGES = 3
"""The best ones are looked at."""
LEAST_ROWS = 3
ALIKE, APART, OTHER_COLUMN = 0.8, 0.01, 0.06
"""Least cosine with a question for the most or the least, by how much it must exceed those with the other kinds, and
those with the table's other columns. Of 35 questions whose column a table has, as a noun, a verb or an adjective
("Which clay shrinks least?", "Which planet is the heaviest?"), 25 are answered so and none wrongly; of 31 others none
is."""
GAIN = 3.0
"""Of the row's score, a logarithm of odds, over the best of its passage."""
_NUMBER = re.compile(r"[-\u2212]?\d+(?:[ ,\u202f]\d{3})*(?:\.\d+)?")
_FORMS = (
    ("Which {row} has the highest {column}?", "Which {row} has the most {column}?"),
    ("Which {row} has the lowest {column}?", "Which {row} has the least {column}?"),
    ("What is the {column} of a {row}?", "Which {row} is it?", "Which {row} is best?"),
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table with its numbers, if all are of one unit."""

    row: str
    """The head of the first column."""
    name: str
    values: tuple[tuple[int, float], ...]
    """Where each row begins in the file, and its number; empty: it holds anything else."""


def columns(units: Sequence[Unit]) -> list[Column]:
    """The columns of the tables of one section, but for the first of each, which names the rows."""
    tables: dict[str, dict[int, list[str]]] = defaultdict(dict)
    for unit in units:
        if unit.kind == "table_row" and " | " in unit.lead:
            tables[unit.lead][unit.char_start] = unit.text.split(" | ")
    found = []
    for lead, rows in tables.items():
        heads = lead.split(" | ")
        if len(rows) < LEAST_ROWS or any(len(cells) != len(heads) for cells in rows.values()):
            continue
        for place in range(1, len(heads)):
            cells = [cells[place] for cells in rows.values()]
            numbers = [_NUMBER.findall(cell) for cell in cells]
            values: list[float] = []
            if all(len(one) == 1 for one in numbers) and len({_NUMBER.sub("", cell).strip() for cell in cells}) == 1:
                values = [float(re.sub(r"[ ,\u202f]", "", one[0]).replace("\u2212", "-")) for one in numbers]
            found.append(Column(heads[0], heads[place], tuple(zip(rows, values, strict=True)) if values else ()))
    return found


async def at_extreme(
    generation: OpenGeneration,
    text: str,
    ranked: Sequence[ScoredPassage],
    encode: Callable[[Sequence[str]], Awaitable[list[Encoding]]],
) -> list[ScoredPassage]:
    """The passages with the row first that has the most or the least of what is asked for; empty if none is.

    A table may be cut into several passages, so all rows of the section of one of the best are looked at.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    stems = subject_stems(text)
    for item in ranked[:PASSAGES]:
        if not any(unit.kind == "table_row" and stems & subject_stems(unit.lead) for unit in item.chunk.units):
            continue
        section = [one for one in await generation.chunks_of(item.chunk.filename) if same_section(one, item.chunk)]
        known = columns([unit for chunk in section for unit in chunk.units])
        rows = await rows_at_extreme(text, known, encode)
        home = next((item for item in ranked if rows and _holds(item.chunk, rows)), None)
        if home is not None:
            best = max(float(home.scores.max()), ranked[0].score) + GAIN
            scores = [
                best if unit.char_start in rows else score
                for unit, score in zip(home.chunk.units, home.scores, strict=True)
            ]
            first = replace(home, score=best, scores=np.array(scores, dtype=np.float32))
            return [first, *(other for other in ranked if other is not home)]
    return []


def _holds(chunk: Chunk, rows: Sequence[int]) -> bool:
    return any(unit.kind == "table_row" and unit.char_start in rows for unit in chunk.units)


async def rows_at_extreme(
    text: str, known: Sequence[Column], encode: Callable[[Sequence[str]], Awaitable[list[Encoding]]]
) -> list[int]:
    """Where the rows begin that are asked for, in the columns of the tables that may answer; empty: none is."""
    forms = [
        (column, kind, form.format(row=column.row, column=column.name))
        for column in known
        for kind, same in enumerate(_FORMS)
        for form in same
    ]
    if not any(column.values for column in known):
        return []
    first, *others = (pooled_vector(one) for one in await encode([text, *(form for *_, form in forms)]))
    likeness = np.array(others) @ first
    best = int(likeness.argmax())
    column, kind, _ = forms[best]

    def apart(least: float, others: Iterable[bool]) -> bool:
        return all(likeness[best] - one >= least for one, other in zip(likeness, others, strict=True) if other)

    is_asked = (
        kind < len(_FORMS) - 1
        and likeness[best] >= ALIKE
        and apart(APART, (own != kind for _, own, _ in forms))
        and apart(OTHER_COLUMN, (other.name != column.name for other, *_ in forms))
    )
    values = [value for _, value in column.values] if is_asked else []
    wanted = (max, min)[kind](values) if values else None
    return [start for start, value in column.values if value == wanted]
