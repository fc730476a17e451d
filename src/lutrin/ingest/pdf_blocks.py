"""From the lines of a PDF to headings, paragraphs, lists, tables and code."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from lutrin.ingest.labels import CAPTION
from lutrin.ingest.pdf_layout import NOTE, Line

BlockKind = Literal["heading", "paragraph", "item", "table", "code"]
_BULLET = re.compile(r"(?:[•◦▪‣●○■–—*·-]|\(?(?:\d{1,3}|[a-z])[.)])\s+(?=\S)")
_BULLET_SIGN = re.compile(r"[•◦▪‣●○■–—*·-]\s+")
_NUMBERED_TITLE = re.compile(r"(?:(?:chapter|part|appendix|section)\s+)?\d+(?:\.\d+)*\.?\s+\S", re.IGNORECASE)
_SECTION_NUMBER = re.compile(
    r"(?:(?:chapter|part|appendix|section)\s+)?(?:\d{1,3}|[A-Z](?=\.))(?:\.\d{1,3})*[.:]?\s+", re.IGNORECASE
)
_HYPHEN = re.compile(r"(\w+(?:-\w+)*)[-\u2010\u2011]\Z")
_FIRST_WORD = re.compile(r"\w+")
_WHOLE_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*(?![\w-])")
# Words that form compounds with a hyphen, even where the hyphen ends a line.
_HYPHENATED_AFTER = frozenset({"half", "quasi", "self", "well"})
# Words inside compounds, behind which another word follows: state-of-the-art, up-to-date.
_JOINING = frozenset("a and by in of on or the to".split())
# The second word of a compound has at least so many letters; shorter ones are endings, as in selfish.
_LEAST_COMPOUND = 5
_PAGE_NUMBER = re.compile(r"(?:\d{1,4}|[ivxlc]{1,8})\Z")
_LEADER = re.compile(r"(?:\s{0,3}[.\u00b7\u2026]){4}\s{0,3}(?:\d{1,4}|[ivxlc]{1,8})?\Z", re.IGNORECASE)
"""Dots that lead to the number of a page."""
_LEAST_LEADERS = 5
_LONGEST_HEADING = 140
# Lines of one cell stand closer than this, in sizes.
_CELL_PITCH = 1.7
# Fewer bookmarks than this are the title, or a cover and a back: no outline.
_LEAST_OUTLINE = 3


@dataclass(slots=True)
class PdfBlock:
    """A block of a PDF with the page on which it starts."""

    kind: BlockKind
    lines: list[str]
    page: int
    """Zero-based."""
    level: int = 0
    run_in: int = 0
    """Characters of a title in bold letters at the start of a paragraph."""
    breaks: dict[int, int] = field(default_factory=dict)
    """Of the line with this index: the page that it starts."""


@dataclass(frozen=True, slots=True)
class OutlineEntry:
    """A bookmark of the PDF."""

    title: str
    level: int
    page: int
    """Zero-based."""


def find_blocks(pages: Sequence[Sequence[Line]], outline: Sequence[OutlineEntry]) -> list[PdfBlock]:
    """The blocks of all pages; without bookmarks, size and weight of the letters make headings."""
    finder = _Finder(pages, outline)
    titles = {_letters(entry.title) for entry in outline}
    for number, lines in enumerate(pages):
        finder.page(number, [] if _is_contents(lines, titles) else _without_leaders(lines))
    return finder.blocks


def _without_leaders(lines: Sequence[Line]) -> list[Line]:
    """The lines of a page that is no list with dots between titles and the numbers of their pages."""
    led = [index for index, line in enumerate(lines) if _LEADER.search(line.text)]
    if len(led) < _LEAST_LEADERS or 2 * len(led) < led[-1] - led[0] + 1:
        return list(lines)
    return [line for index, line in enumerate(lines) if not led[0] <= index <= led[-1]]


def _is_contents(lines: Sequence[Line], titles: set[str]) -> bool:
    """Whether a page is a table of contents: most of it are titles of bookmarks, which the headings repeat."""
    cells = [_letters(_PAGE_NUMBER.sub("", cell)) for line in lines for cell in line.cells]
    named = [cell for cell in cells if len(cell) > 3]
    return len(named) >= 8 and sum(cell in titles for cell in named) > 0.6 * len(named)


class _Finder:
    def __init__(self, pages: Sequence[Sequence[Line]], outline: Sequence[OutlineEntry]) -> None:
        sizes: Counter[float] = Counter()
        for line in _all(pages):
            sizes[line.size] += len(line.text)
        self.body = sizes.most_common(1)[0][0] if sizes else 10.0
        larger = sorted({line.size for line in _all(pages) if self._is_title_line(line)}, reverse=True)
        self.levels = {size: min(level, 3) for level, size in enumerate(larger, start=1)}
        self.outline = list(outline)
        self.complete = len(outline) >= _LEAST_OUTLINE
        self.blocks: list[PdfBlock] = []
        self.pitch = 1.2 * self.body

    def _is_title_line(self, line: Line) -> bool:
        return line.size >= 1.12 * self.body and 1 < len(line.text) <= _LONGEST_HEADING and not line.mono

    def page(self, number: int, lines: Sequence[Line]) -> None:
        gaps = [a.y - b.y for a, b in pairwise(lines) if 0 < a.y - b.y < 3 * self.body]
        # Most gaps may lie between paragraphs, as in a glossary: the lower quarter is the pitch of the lines.
        self.pitch = sorted(gaps)[len(gaps) // 4] if gaps else 1.2 * self.body
        pending = [entry for entry in self.outline if entry.page == number]
        previous: Line | None = None
        index = 0
        notes = [line for line in lines if line.note]
        lines = [line for line in lines if not line.note]
        while index < len(lines):
            line = lines[index]
            rows, count, beside = _table_rows(lines, index)
            if rows:
                if beside:
                    self.blocks.append(PdfBlock("paragraph", [beside], number))
                self.blocks.append(PdfBlock("table", [" | ".join(row) for row in rows], number))
                index += count
                previous = None
                continue
            level, count = self._heading_level(lines, index, pending)
            if level:
                for part in lines[index : index + count]:
                    self._heading(part, level, number, previous)
                    previous = part
                index += count
                continue
            self._text(line, number, previous)
            previous = line
            index += 1
        self._notes(notes, number)
        for entry in pending:
            if not any(_same(entry.title, " ".join(b.lines)) for b in self.blocks if b.kind == "heading"):
                self._insert(entry)

    def _notes(self, lines: Sequence[Line], number: int) -> None:
        """Add the notes of a page, before a paragraph that goes on behind them."""
        blocks: list[PdfBlock] = []
        for line in lines:
            if blocks and not NOTE.match(line.text):
                blocks[-1].lines.append(line.text)
            else:
                blocks.append(PdfBlock("paragraph", [line.text], number))
        last = self.blocks[-1] if self.blocks else None
        goes_on = last is not None and last.kind == "paragraph" and last.lines[-1][-1:] not in ".!?:"
        place = len(self.blocks) - goes_on
        self.blocks[place:place] = blocks

    def _insert(self, entry: OutlineEntry) -> None:
        """Put a bookmark whose words the page does not show in front of the page's first block."""
        block = PdfBlock("heading", [entry.title], entry.page, entry.level)
        first = next((i for i, known in enumerate(self.blocks) if known.page == entry.page), len(self.blocks))
        self.blocks.insert(first, block)

    def _heading_level(self, lines: Sequence[Line], index: int, pending: list[OutlineEntry]) -> tuple[int, int]:
        """Level of the heading that starts at a line, 0 if none does, and how many lines it has."""
        line = lines[index]
        for entry in pending:
            for count in (1, 2, 3):
                if _same(entry.title, " ".join(part.text for part in lines[index : index + count])):
                    pending.remove(entry)
                    return entry.level, count
        if self.complete or not any(c.isalpha() for c in line.text):
            return 0, 0
        if self._is_title_line(line):
            return self.levels.get(line.size, 3), 1
        titled = line.bold and len(line.text) <= 80 and not line.text.endswith((".", ",", ";", ":"))
        if titled and (_NUMBERED_TITLE.match(line.text) or line.text.istitle()):
            return min(len(self.levels) + 1, 4), 1
        return 0, 0

    def _heading(self, line: Line, level: int, number: int, previous: Line | None) -> None:
        last = self.blocks[-1] if self.blocks else None
        follows = previous is not None and previous.size == line.size and previous.y - line.y < 1.6 * line.size
        if last is not None and last.kind == "heading" and last.level == level and follows:
            last.lines.append(line.text)  # a title of two lines
        else:
            self.blocks.append(PdfBlock("heading", [line.text], number, level))

    def _text(self, line: Line, number: int, previous: Line | None) -> None:
        last = self.blocks[-1] if self.blocks else None
        if line.mono:
            if last is None or last.kind != "code" or previous is None:
                self.blocks.append(PdfBlock("code", [], number))
            self.blocks[-1].lines.append(f"{round(line.x / (0.6 * line.size)) * ' '}{line.text}")
        elif _BULLET.match(line.text):
            self.blocks.append(PdfBlock("item", [line.text], number))
        elif last is not None and last.kind in {"paragraph", "item"} and self._goes_on(line, previous, last):
            if previous is None:
                last.breaks[len(last.lines)] = number
            last.lines.append(line.text)
        else:
            self.blocks.append(PdfBlock("paragraph", [line.text], number, run_in=line.run_in))

    def _goes_on(self, line: Line, previous: Line | None, last: PdfBlock) -> bool:
        """Whether a line continues the paragraph or list item before it."""
        if previous is None:  # the first line of a page, or the one after a table
            return last.kind == "paragraph" and line.text[:1].islower() and last.lines[-1][-1:] not in ".!?:"
        if abs(previous.size - line.size) > 0.6 or (previous.bold and not line.bold and len(last.lines) == 1):
            return False
        if previous.y < line.y:  # the top of the next column
            return line.text[:1].islower() or last.lines[-1][-1:] not in ".!?:"
        ended = previous.text[-1:] in ".!?:"
        if previous.y - line.y > 1.3 * self.pitch or (ended and (line.run_in or CAPTION.match(line.text))):
            return False
        indented = line.x - previous.x > 0.8 * line.size
        return not (indented and last.kind == "paragraph" and ended)


def _table_rows(lines: Sequence[Line], start: int) -> tuple[list[list[str]], int, str]:
    """The rows of the table that starts at a line, how many lines they are, and what stands beside them.

    There are no rows if no table starts there. A line without a cell in the first column goes on with the cells above
    it. What stands left of all columns, in the middle of the rows, is the title of an axis and no cell of its row.
    """
    first = lines[start]
    if len(first.cells) < 2 or first.mono:
        return [], 0, ""
    rows = [[cell.strip() for cell in first.cells]]
    places = list(first.starts)
    beside = ""
    end = start + 1
    while end < len(lines):
        line = lines[end]
        if _is_row(first, line):
            rows.append([cell.strip() for cell in line.cells])
            places = list(line.starts)
        elif not beside and end + 1 < len(lines) and _is_row(first, lines[end + 1]) and _in_columns(first, line):
            beside = line.cells[0].strip()
            rows.append([cell.strip() for cell in line.cells[1:]])
            places = list(line.starts[1:])
        elif _goes_on_in_first(first, lines, end):
            rows[-1][0] = f"{rows[-1][0]} {line.cells[0].strip()}"
        elif not _goes_on_in_cells(line, lines[end - 1], places, rows[-1]):
            break
        end += 1
    if len(rows) < 2:
        return [], 0, ""
    # The heads of a matrix in a figure may stand at its foot.
    foot = lines[end] if end < len(lines) else first
    if all(cell.isdecimal() for cell in rows[0]) and _in_columns(foot, first):
        return [[beside, *(cell.strip() for cell in foot.cells)], *rows], end + 1 - start, ""
    return rows, end - start, beside


def _is_row(first: Line, line: Line) -> bool:
    """Whether a line is a row of the table of which `first` is one."""
    return (
        len(line.cells) >= 2 and _is_aligned(first, line) and abs(line.starts[0] - first.starts[0]) < 1.5 * first.size
    )


def _in_columns(line: Line, wider: Line) -> bool:
    """Whether the cells of two lines are in the same columns, but for one before them in `wider`."""
    return len(wider.cells) == len(line.cells) + 1 and all(
        abs(x - own) < 1.5 * line.size for x, own in zip(wider.starts[1:], line.starts, strict=True)
    )


def _goes_on_in_first(first: Line, lines: Sequence[Line], place: int) -> bool:
    """Whether a line is the rest of a first cell: alone there, nearer to the row above it than to the one below."""
    line = lines[place]
    if len(line.cells) > 1 or abs(line.starts[0] - first.starts[0]) > 1 or place + 1 == len(lines):
        return False
    above, below = lines[place - 1], lines[place + 1]
    is_near = 0 < above.y - line.y < min(_CELL_PITCH * line.size, 0.9 * (line.y - below.y))
    return is_near and _is_row(first, below) and line.right < first.starts[1]


def _goes_on_in_cells(line: Line, above: Line, places: Sequence[float], row: list[str]) -> bool:
    """Add a line to the cells above it, if it has none in the first column and stands close below."""
    columns = [
        next((n for n, place in enumerate(places) if n and abs(start - place) < line.size), 0) for start in line.starts
    ]
    close = 0 < above.y - line.y < _CELL_PITCH * line.size and abs(above.size - line.size) < 0.6
    if not close or not all(columns) or len(places) != len(row):
        return False
    for column, cell in zip(columns, line.cells, strict=True):
        row[column] = f"{row[column]} {cell.strip()}"
    return True


def _is_aligned(first: Line, other: Line) -> bool:
    near = sum(any(abs(x - known) < 1.5 * first.size for known in first.starts) for x in other.starts)
    return near >= 2 and len(other.cells) <= len(first.cells) + 1


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _same(title: str, line: str) -> bool:
    """Whether a line is a bookmark's title, which may lack the number that stands before it."""
    a, *shown = (_letters(text) for text in (title, line, _SECTION_NUMBER.sub("", line)))
    return bool(a) and any(a == b or (len(a) > 6 and b.startswith(a) and len(b) < len(a) + 8) for b in shown)


def _all(pages: Iterable[Iterable[Line]]) -> Iterable[Line]:
    return (line for lines in pages for line in lines)


def bare_item(text: str) -> str:
    """A list item without its bullet; a number stays, since a reader sees it."""
    return _BULLET_SIGN.sub("", text, count=1) if _BULLET_SIGN.match(text) else text


def join_lines(lines: Sequence[str], vocabulary: frozenset[str]) -> list[str]:
    """As many pieces as lines of a paragraph: hyphenation mended by the document's own words, else a blank."""
    pieces = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        broken, first = _HYPHEN.search(line), _FIRST_WORD.match(following)
        if not following:
            pieces.append(line)
        elif line.endswith("\u00ad"):
            pieces.append(line[:-1])
        elif broken is None or first is None:
            pieces.append(f"{line} ")
        elif _keeps_hyphen(broken[1], first.group(), vocabulary):
            pieces.append(line)
        else:
            pieces.append(line[:-1])
    return pieces


def _keeps_hyphen(before: str, after: str, vocabulary: frozenset[str]) -> bool:
    """Whether the hyphen at the end of a line is a part of the word, as in `20-30`, `AX-104` and `self-closing`."""
    if not (before[-1:].isalpha() and after[:1].islower()):
        return True
    word = before.rpartition("-")[2]
    if f"{before}-{after}".casefold() in vocabulary:
        return True
    if f"{word}{after}".casefold() in vocabulary:
        return False
    is_compound = word != before and word in _JOINING
    return is_compound or (word.casefold() in _HYPHENATED_AFTER and len(after) >= _LEAST_COMPOUND)


def vocabulary_of(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Words that stand unbroken somewhere in the document, with and without hyphens."""
    return words_of(line.text for line in _all(pages))


def words_of(lines: Iterable[str]) -> frozenset[str]:
    """Words of lines but for those that may be broken at the end of one."""
    return frozenset(word.casefold() for line in lines for word in _WHOLE_WORD.findall(line))
