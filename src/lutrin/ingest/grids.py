"""Lays out tables with cells that span rows and columns as plain grids: full rows under one row of heads."""

from collections.abc import Sequence
from dataclasses import dataclass

_WIDEST = 500  # columns; a span may claim thousands
_MOST_CELLS = 200_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as its author wrote it."""

    text: str
    head: bool = False
    across: int = 1
    down: int = 1
    """Rows that it spans; 0 for all remaining ones."""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table whose rows all have one cell per column."""

    header: list[str]
    """One text per column, joining several rows of heads; empty texts if the table has no heads."""
    rows: list[list[str]]
    numbers: list[int]
    """Number of each of `rows` among the rows of the source."""


def spans(across: str, down: str) -> tuple[int, int]:
    """Columns and rows from the attributes `colspan` and `rowspan`."""
    wide = int(across) if across.isdecimal() else 1
    high = int(down) if down.isdecimal() else 1
    return max(1, min(_WIDEST, wide)), min(_MOST_CELLS, high)


def grid_of(rows: Sequence[Sequence[Cell]], marked: int, *, infer: bool) -> Grid:
    """Lay out a table whose first `marked` rows are heads; `infer` whether an unmarked first row is one."""
    full = _fill(rows)
    width = max(map(len, full), default=0)
    full = [[*row, *[""] * (width - len(row))] for row in full]
    heads = marked or next((n for n, row in enumerate(rows) if not row or not all(cell.head for cell in row)), 0)
    if heads == 0 and infer and len(rows) > 1 and not any(cell.head for row in rows for cell in row):
        heads = 2 if len(rows) > 2 and len(rows[0]) == 1 and rows[0][0].across >= width > 1 else 1
        # A head that spans rows, beside one that spans columns, has those columns' heads beside it.
        if any(cell.across > 1 for cell in rows[0]):
            heads = max(heads, min(len(rows) - 1, max(cell.down for cell in rows[0])))
    # An unmarked head over the full width is a title of the rows below it.
    titles = [n for n in range(heads) if not marked and width > 1 and len(rows[n]) == 1 and rows[n][0].across >= width]
    head_rows = [full[n] for n in range(heads) if n not in titles]
    header = [" ".join(dict.fromkeys(text for text in column if text)) for column in zip(*head_rows, strict=True)]
    numbers = [n for n in range(len(rows)) if n >= heads or n in titles]
    blank = [""] * (width - 1)
    return Grid(header or [""] * width, [[full[n][0], *blank] if n in titles else full[n] for n in numbers], numbers)


def _fill(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Every cell of every row; a spanning cell is repeated in each place, but a title of a whole row appears once."""
    width = min(_WIDEST, max((sum(cell.across for cell in row) for row in rows), default=0))
    pending: dict[int, tuple[str, int]] = {}
    filled: list[list[str]] = []
    left = _MOST_CELLS
    for number, row in enumerate(rows):
        line: list[str] = []
        waiting = list(row)
        while len(line) < width and left > 0 and (waiting or any(column >= len(line) for column in pending)):
            column = len(line)
            left -= 1
            if column in pending:
                text, rest = pending.pop(column)
                line.append(text)
                if rest > 1:
                    pending[column] = (text, rest - 1)
                continue
            if not waiting:
                line.append("")
                continue
            cell = waiting.pop(0)
            down = cell.down or len(rows) - number
            whole = cell.across >= width > 1 and not cell.head
            for offset in range(min(cell.across, width - column)):
                if offset and column + offset in pending:
                    break
                line.append("" if whole and offset else cell.text)
                if down > 1:
                    pending[column + offset] = (line[-1], down - 1)
        filled.append(line)
    return filled
