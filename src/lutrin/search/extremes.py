"""Finds the row of a table with the most or the least of what a question asks for."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.language.words import subject_stems
from lutrin.ports import Encode, likeness
from lutrin.records import Unit
from lutrin.search.result import ScoredPassage

IN_TABLES = 3
"""The best passages, whose tables are searched for the row with the most or the least."""
LEAST_ROWS = 3
ALIKE, APART, OTHER_COLUMN = 0.8, 0.01, 0.06
"""Least cosine with a question for the most or the least, and its least margins over the other kinds of question and
over the table's other columns. Of 35 questions whose column a table has, as a noun, a verb or an adjective ("Which clay
shrinks least?", "Which planet is the heaviest?"), 25 get the right row and none a wrong one; of 31 others none gets
one."""
GAIN = 3.0
"""Log odds of that row above the best score of its passage."""
_NUMBER = re.compile(r"[-\u2212]?\d+(?:[ ,\u202f]\d{3})*(?:\.\d+)?")
_QUESTIONS = (
    ("Which {row} has the highest {column}?", "Which {row} has the most {column}?"),
    ("Which {row} has the lowest {column}?", "Which {row} has the least {column}?"),
    ("What is the {column} of a {row}?", "Which {row} is it?", "Which {row} is best?"),
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table with its numbers, if all have one unit."""

    row: str
    """The head of the first column."""
    name: str
    values: tuple[tuple[int, float], ...]
    """Offset of each row in the file, and its number; empty if the column holds anything else."""


def columns(units: Sequence[Unit]) -> list[Column]:
    """The columns of the tables of one section, except the first of each, which names the rows."""
    tables: dict[tuple[str, ...], dict[int, list[str]]] = defaultdict(dict)
    for unit in units:
        if unit.kind == "table_row" and len(unit.header) > 1:
            tables[*unit.header][unit.char_start] = unit.row
    result = []
    for heads, rows in tables.items():
        if len(rows) < LEAST_ROWS or any(len(cells) != len(heads) for cells in rows.values()):
            continue
        for place in range(1, len(heads)):
            cells = [cells[place] for cells in rows.values()]
            numbers = [_NUMBER.findall(cell) for cell in cells]
            values: list[float] = []
            if all(len(one) == 1 for one in numbers) and len({_NUMBER.sub("", cell).strip() for cell in cells}) == 1:
                values = [float(re.sub(r"[ ,\u202f]", "", one[0]).replace("\u2212", "-")) for one in numbers]
            result.append(Column(heads[0], heads[place], tuple(zip(rows, values, strict=True)) if values else ()))
    return result


async def at_extreme(
    generation: OpenGeneration,
    text: str,
    ranked: Sequence[ScoredPassage],
    encode: Encode,
) -> list[ScoredPassage]:
    """Move the row with the most or the least of the requested quantity to the front; empty if there is none.

    A table may be cut into several passages, so this reads all rows of the section of one of the best.
    """
    stems = subject_stems(text)
    for item in ranked[:IN_TABLES]:
        if not any(unit.kind == "table_row" and stems & subject_stems(unit.lead) for unit in item.chunk.units):
            continue
        section = await generation.section_chunks(item.chunk)
        rows = await rows_at_extreme(text, columns([unit for chunk in section for unit in chunk.units]), encode)
        for home in ranked if rows else ():
            mask = [unit.kind == "table_row" and unit.char_start in rows for unit in home.chunk.units]
            if any(mask) and home.chunk.filename == item.chunk.filename:
                best = max(float(home.scores.max()), ranked[0].score) + GAIN
                first = replace(home, score=best, scores=np.where(mask, np.float32(best), home.scores))
                return [first, *(other for other in ranked if other is not home)]
    return []


async def rows_at_extreme(text: str, candidates: Sequence[Column], encode: Encode) -> list[int]:
    """Offsets of the rows that the question asks for, in the columns of candidate tables; empty if there are none."""
    forms = [
        (column, kind, form.format(row=column.row, column=column.name))
        for column in candidates
        for kind, same in enumerate(_QUESTIONS)
        for form in same
    ]
    if not any(column.values for column in candidates):
        return []
    cosines = await likeness(encode, text, [form for *_, form in forms])
    best = int(cosines.argmax())
    column, kind, _ = forms[best]
    apart = cosines[best] - cosines
    other_kinds = apart[[own != kind for _, own, _ in forms]]
    other_columns = apart[[other.name != column.name for other, *_ in forms]]
    is_alike = kind < len(_QUESTIONS) - 1 and cosines[best] >= ALIKE
    is_asked = is_alike and (other_kinds >= APART).all() and (other_columns >= OTHER_COLUMN).all()
    values = [value for _, value in column.values] if is_asked else []
    extreme = (max, min)[kind](values) if values else None
    return [start for start, value in column.values if value == extreme]
