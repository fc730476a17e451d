"""From the lines of a PDF to headings, paragraphs, lists, tables and code."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from lutrin.ingest.pdf_layout import Line

BlockKind = Literal["heading", "paragraph", "item", "table", "code"]
_BULLET = re.compile(r"(?:[•◦▪‣●○■–—*·-]|\(?(?:\d{1,3}|[a-z])[.)])\s+(?=\S)")
_BULLET_SIGN = re.compile(r"[•◦▪‣●○■–—*·-]\s+")
_NUMBERED_TITLE = re.compile(r"(?:(?:chapter|part|appendix|section)\s+)?\d+(?:\.\d+)*\.?\s+\S", re.IGNORECASE)
_HYPHEN = re.compile(r"([^\W\d_]+)[-\u00ad]\Z")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_PAGE_NUMBER = re.compile(r"[\s.·…]*(?:\d{1,4}|[ivxlc]+)\Z")
_LONGEST_HEADING = 140
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
    """The blocks of all pages, headers and footers already removed.

    Args:
        pages: Lines of each page in reading order.
        outline: Bookmarks; where there are hardly any, size and weight of the letters make headings, too.
    """
    finder = _Finder(pages, outline)
    titles = {_letters(entry.title) for entry in outline}
    for number, lines in enumerate(pages):
        finder.page(number, [] if _is_contents(lines, titles) else lines)
    return finder.blocks


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
        """Add the lines of a page."""
        gaps = [a.y - b.y for a, b in pairwise(lines) if 0 < a.y - b.y < 3 * self.body]
        # Most gaps may lie between paragraphs, as in a glossary: the lower quarter is the pitch of the lines.
        self.pitch = sorted(gaps)[len(gaps) // 4] if gaps else 1.2 * self.body
        pending = [entry for entry in self.outline if entry.page == number]
        previous: Line | None = None
        index = 0
        while index < len(lines):
            line = lines[index]
            rows = _table_rows(lines, index)
            if rows:
                cells = [" | ".join(cell.strip() for cell in row.cells) for row in lines[index : index + rows]]
                self.blocks.append(PdfBlock("table", cells, number))
                index += rows
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
        for entry in pending:
            if not any(_same(entry.title, " ".join(b.lines)) for b in self.blocks if b.kind == "heading"):
                self._insert(entry)

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
        if previous.y - line.y > 1.3 * self.pitch or (line.run_in and previous.text[-1:] in ".!?:"):
            return False
        indented = line.x - previous.x > 0.8 * line.size
        return not (indented and last.kind == "paragraph" and len(last.lines) >= 1 and previous.text[-1:] in ".!?:")


def _table_rows(lines: Sequence[Line], start: int) -> int:
    """Count the lines from `start` that are rows of one table."""
    count = len(lines[start].cells)
    if count < 2 or lines[start].mono:
        return 0
    end = start + 1
    while end < len(lines) and len(lines[end].cells) >= 2 and _aligned(lines[start], lines[end]):
        end += 1
    return end - start if end - start >= 2 else 0


def _aligned(first: Line, other: Line) -> bool:
    near = sum(any(abs(x - known) < 1.5 * first.size for known in first.starts) for x in other.starts)
    return near >= 2 and len(other.cells) <= len(first.cells) + 1


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _same(title: str, line: str) -> bool:
    a, b = _letters(title), _letters(line)
    return bool(a) and (a == b or (len(a) > 6 and b.startswith(a) and len(b) < len(a) + 8))


def _all(pages: Iterable[Iterable[Line]]) -> Iterable[Line]:
    return (line for lines in pages for line in lines)


def bare_item(text: str) -> str:
    """A list item without its bullet; a number stays, since a reader sees it."""
    return _BULLET_SIGN.sub("", text, count=1) if _BULLET_SIGN.match(text) else text


def join_lines(lines: Sequence[str], vocabulary: frozenset[str]) -> list[str]:
    """The lines of a paragraph such that their concatenation reads well: hyphenation mended, else a blank between.

    Args:
        lines: As printed.
        vocabulary: Words that occur unbroken in the document; they decide between `real-time` and `con-troller`.

    Returns:
        As many pieces as lines.
    """
    pieces = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        broken, first = _HYPHEN.search(line), _FIRST_WORD.match(following)
        if not following or broken is None or first is None or not first.group()[0].islower():
            pieces.append(line + (" " if following else ""))
        elif line.endswith("-") and f"{broken[1]}-{first.group()}".casefold() in vocabulary:
            pieces.append(line)
        else:
            pieces.append(line[:-1])
    return pieces


def vocabulary_of(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Hyphenated words that stand unbroken somewhere in the document."""
    words = (word for line in _all(pages) for word in re.findall(r"[^\W\d_]+-[^\W\d_]+", line.text))
    return frozenset(word.casefold() for word in words)
