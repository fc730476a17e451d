"""Pandoc's tables that are drawn with lines and blanks: grid, simple and multiline tables."""

import re
from collections.abc import Sequence
from itertools import pairwise

from lutrin.ingest.placed import Placed, line_ranges
from lutrin.ingest.tree import Block, Heading, Paragraph, Rule, Table

_BORDER = re.compile(r"\+(?:[-=:]+\+)+[ \t]*\Z")
_DASHES = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})*[ \t]*\Z")
_RUN = re.compile(r"-{2,}")
Range = tuple[int, int]


def drawn_tables(blocks: Sequence[Block], source: str) -> list[Block]:
    """Blocks in which each drawn table, read as paragraphs and rules so far, is a table."""
    found: list[Block] = []
    place = 0
    while place < len(blocks):
        block = blocks[place]
        made: tuple[Table, int] | None = None
        if isinstance(block, Paragraph) and block.body.text.startswith("+"):
            table = _grid(block, source)
            made = (table, 1) if table is not None else None
        elif isinstance(block, Rule | Paragraph | Heading):
            made = _ruled_table(blocks[place : place + _LONGEST], source)
        if made is None:
            found.append(block)
            place += 1
        else:
            found.append(made[0])
            place += made[1]
    return found


_LONGEST = 400
"""Blocks that one multiline table has at most: each of its rows is a paragraph."""


def _lines(source: str, start: int, end: int) -> list[Range]:
    begin = source.rfind("\n", 0, start) + 1
    return [(begin + a, begin + b) for a, b in line_ranges(source[begin:end])]


def _grid(block: Paragraph, source: str) -> Table | None:
    lines = _lines(source, block.start, block.end)
    first = source[slice(*lines[0])]
    if not _BORDER.fullmatch(first.strip()) or len(lines) < 3:
        return None
    edges = [place for place, sign in enumerate(first) if sign == "+"]
    rows: list[list[list[Range]]] = [[]]
    heads = 0
    for begin, end in lines[1:]:
        text = source[begin:end]
        if text.strip().startswith("+"):
            if "=" in text:
                heads = len(rows)
            rows.append([])
        elif text.strip().startswith("|"):
            for column, (left, right) in enumerate(pairwise(edges)):
                if len(rows[-1]) <= column:
                    rows[-1].append([])
                rows[-1][column].append((min(begin + left + 1, end), min(begin + right, end)))
    return _table([row for row in rows if row], min(heads, 1), source, block.start, block.end)


def _ruled_table(blocks: Sequence[Block], source: str) -> tuple[Table, int] | None:
    """A simple or multiline table and how many blocks it takes.

    The line of dashes under the heads, or above the rows of a table without heads, gives the columns.
    """
    first = blocks[0]
    opened = isinstance(first, Rule) and _DASHES.fullmatch(source[first.start : first.end]) is not None
    parts = list(blocks[1:] if opened else blocks)
    columns = _columns(first, source) if opened else []
    head: Paragraph | None = None
    if len(columns) < 2 and len(parts) >= 2 and isinstance(parts[0], Paragraph) and isinstance(parts[1], Rule):
        head, columns = parts[0], _columns(parts[1], source)
        parts = parts[2:]
        if not opened and "\n" in head.body.text:
            return None
    if len(columns) < 2 or (opened and head is not None and len(_columns(first, source)) != 1):
        return None
    body: list[Paragraph | Heading] = []
    closed: Rule | None = None
    last = 0
    for part in parts:
        if isinstance(part, Heading) and opened and source[part.start] != "#":  # the last line underlines the last row
            body.append(part)
            last = source.find("\n", part.end + 1)
            last = last if last >= 0 else len(source)
            break
        if isinstance(part, Rule):
            closed = part if _DASHES.fullmatch(source[part.start : part.end]) else None
            break
        if not isinstance(part, Paragraph) or (body and not opened):
            break
        body.append(part)
    if not body or (opened and closed is None and not last):
        return None
    multiline = opened and (len(body) > 1 or (head is not None and "\n" in head.body.text))
    rows = [_cells(source, *line, columns) for part in body for line in _lines(source, part.start, part.end)]
    if multiline:
        rows = [_stack_rows(source, part, columns) for part in body]
    heads = [_stack_rows(source, head, columns)] if head is not None else []
    end = closed.end if closed is not None else last or body[-1].end
    taken = len(body) + opened + (2 if head is not None else 0) + (closed is not None)
    table = _table([*heads, *rows], len(heads), source, first.start, end)
    return (table, taken) if table is not None else None


def _columns(rule: Block, source: str) -> list[Range]:
    begin = source.rfind("\n", 0, rule.start) + 1
    runs = [(match.start() - begin, match.end() - begin) for match in _RUN.finditer(source, begin, rule.end)]
    return runs if _DASHES.fullmatch(source[begin : rule.end]) else []


def _cells(source: str, begin: int, end: int, columns: Sequence[Range]) -> list[list[Range]]:
    bounds = [0, *(left for left, _ in columns[1:]), end - begin]
    starts: list[int] = []
    for bound in bounds[1:-1]:
        place = min(begin + bound, end)
        while place > begin and place < end and not source[place - 1].isspace() and not source[place].isspace():
            place -= 1
        starts.append(place)
    edges = [begin, *starts, end]
    return [[(left, max(left, right))] for left, right in pairwise(edges)]


def _stack_rows(source: str, part: Paragraph | Heading, columns: Sequence[Range]) -> list[list[Range]]:
    lines = [_cells(source, *line, columns) for line in _lines(source, part.start, part.end)]
    return [[piece for cells in lines for piece in cells[column]] for column in range(len(columns))]


def _table(rows: list[list[list[Range]]], heads: int, source: str, start: int, end: int) -> Table | None:
    cells = [[_join(source, ranges) for ranges in row] for row in rows]
    if not cells:
        return None
    blank = [Placed.of(source, [(start, start)]) for _ in cells[0]]
    header = cells[0] if heads else blank
    body = cells[1:] if heads else cells
    places = [(row[0].at(0), max(cell.end(len(cell.text)) for cell in row)) for row in body]
    return Table(header, body, [""] * len(header), places, start, end)


def _join(source: str, ranges: Sequence[Range]) -> Placed:
    trimmed = []
    for begin, stop in ranges:
        text = source[begin:stop]
        left, right = len(text) - len(text.lstrip()), len(text.rstrip())
        if text.strip():
            trimmed.append((begin + left, begin + right))
    return Placed.of(source, trimmed or [(ranges[0][0], ranges[0][0])])
