"""Parses a textual PDF: pages, headings, paragraphs, lists, tables, code.

pypdf opens the file and reads its outline and labels, pdfminer.six the glyphs of its pages, geometry their order.

A PDF can be made to exhaust time and memory: `lutrin.ingest.sandbox` runs this in a separate process with limits.
"""

import re
import statistics
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO, StringIO
from itertools import chain, pairwise, takewhile
from typing import Any, BinaryIO, Literal

import pypdf
from pypdf.errors import DependencyError, PdfReadError, PyPdfError

from lutrin.errors import DocumentError
from lutrin.ingest.anchors import Slugger
from lutrin.ingest.hypertext import left_out_notices
from lutrin.ingest.labels import CAPTION
from lutrin.ingest.markdown import Draft, Where, stem, title_from_name
from lutrin.ingest.sentences import join_lines, paragraph_ranges, words_of
from lutrin.ingest.wording import RECOGNIZED, clean, true_title
from lutrin.records import Document, Notice, Section, UnitKind
from lutrin_formats.pdf_glyphs import Pages
from lutrin_formats.pdf_layout import NOTE, Line, TextRun, body_size, page_lines, without_running_titles

MAX_PAGES = 3000
Recognize = Callable[[int], list[TextRun]]
"""Recognises the text of a page, by its number counted from 0."""
_BLOCK = 1 << 20  # bytes read at a time
_MAX_OUTLINE = 5000
_BROKEN = (PdfReadError, KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)
"""Errors of pypdf on a broken outline, label or property; they cost that part alone, never the text."""
# A title is this many times as large as most lines, and at most this many characters long.
_TITLE_SIZE = 1.3
_LONGEST_HEADING = 140
# Signal words of safety notices (ISO 3864-2, ANSI Z535).
_SIGNAL = re.compile(r"(?:DANGER|WARNING|CAUTION|Danger|Warning|Caution)\b\s*[:!.\u2013\u2014-]")
_LONGEST_SIGNAL = 80
_BULLET = re.compile(r"(?:[•◦▪‣●○■–—*·-]|\(?(?:\d{1,3}|[a-z])[.)])\s+(?=\S)")
_BULLET_SIGN = re.compile(r"[•◦▪‣●○■–—*·-]\s+")
"""A number, unlike a bullet, stays in its item, since readers see it."""
_NUMBERED_TITLE = re.compile(r"(?:(?:chapter|part|appendix|section)\s+)?\d+(?:\.\d+)*\.?\s+\S", re.IGNORECASE)
_SECTION_NUMBER = re.compile(
    r"(?<!\d)(?<!\d\.)(?:(?:chapter|part|appendix|section)\s+)?(?:\d{1,3}|[A-Z](?=\.))(?:\.\d{1,3})*[.:]?\s+",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(r"(?:\d{1,4}|[ivxlc]{1,8})\Z")
_LEADER = re.compile(r"(?:\s{0,3}[.\u00b7\u2026]){4}\s{0,3}(?:\d{1,4}|[ivxlc]{1,8})?\Z", re.IGNORECASE)
"""Leader dots before a page number."""
_LEAST_LEADERS = 5
# Lines of one cell are closer than this, in sizes.
_CELL_PITCH = 1.7
# Fewer bookmarks than this are the title, or a cover and a back, rather than an outline.
_LEAST_OUTLINE = 3


@dataclass(slots=True)
class _Block:
    """A block with the page, counted from 0, on which it starts."""

    kind: Literal["heading", "paragraph", "item", "table", "code", "drawing"]
    lines: list[str]
    page: int
    level: int = 0
    run_in: int = 0
    """Characters of a title in bold letters at the start of a paragraph."""
    breaks: dict[int, int] = field(default_factory=dict)
    """The page that starts at the line with this index."""

    @property
    def is_open(self) -> bool:
        """Whether its last line is in the middle of a sentence."""
        return self.lines[-1][-1:] not in ".!?:"


@dataclass(frozen=True, slots=True)
class _Bookmark:
    title: str
    level: int
    page: int
    """Counted from 0."""


def parse_pdf(
    data: bytes | BinaryIO, filename: str, password: str = "", *, recognizer: Callable[..., Recognize] | None = None
) -> Document:
    """Read a PDF as text: blocks between blank lines, headings with hashes, a form feed before each further page.

    Raises:
        DocumentError: The file is empty, encrypted, broken, or contains only pictures.
    """
    file = BytesIO(data) if isinstance(data, bytes) else data
    if not any(block.strip(b"\0 \t\r\n") for block in iter(lambda: file.read(_BLOCK), b"")):
        raise DocumentError(filename, "is empty")
    reader = _open(file, filename, password)
    messages: list[str] = []
    pages = _pages(file, len(reader.pages), password, messages)
    recognized: list[int] = []
    if recognizer is not None and not all(pages):
        recognized = _recognize(pages, recognizer(file, filename, password), messages)
    if not any(pages):
        remedy = (
            "none can be recognised" if recognizer is not None else "set LUTRIN_OCR=true, or run it through OCR first"
        )
        raise DocumentError(filename, f"holds no text, only pictures of it; {remedy}")
    whole, pages = pages, without_running_titles(pages)
    left_out = left_out_notices(filename, _running_titles(whole, pages))
    blocks = find_blocks(pages, _outline(reader))
    title = _title(reader, blocks) or _largest(pages) or title_from_name(filename)
    writer = _Writer(title, words_of(line.text for line in chain(*pages)), recognized)
    for block in blocks:
        writer.write(block)
    return Document(
        filename=filename,
        title=title,
        source=writer.out.getvalue(),
        sections=writer.sections(),
        section=stem(filename),
        page_starts=writer.page_starts(len(pages)),
        page_labels=_labels(reader, len(pages)),
        recognized_pages=tuple(number + 1 for number in recognized),
        notices=(*left_out, *(Notice(filename=filename, message=message) for message in messages)),
    )


def _running_titles(whole: Sequence[Sequence[Line]], pages: Sequence[Sequence[Line]]) -> list[str]:
    """The words of headers and footers, once regardless of their numbers."""
    titles: dict[str, str] = {}
    for before, after in zip(whole, pages, strict=True):
        kept = set(map(id, after))
        for line in before:
            if id(line) not in kept and any(letter.isalpha() for letter in line.text):
                titles.setdefault(_DIGITS.sub("#", line.text), line.text)
    return list(titles.values())


# The file ------------------------------------------------------------------------------------------------------------


def _open(file: BinaryIO, filename: str, password: str) -> pypdf.PdfReader:
    try:
        reader = pypdf.PdfReader(file, strict=False)
        # A file that is only protected from changes opens without a password, even if one is given for others.
        locked = reader.is_encrypted and not (reader.decrypt(password) or reader.decrypt(""))
        count = 0 if locked else len(reader.pages)  # a missing page tree shows here
    except DependencyError:
        raise DocumentError(filename, "is encrypted with AES, which needs the package cryptography") from None
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - on a broken file pypdf raises exceptions of any type
        kind = "" if isinstance(error, PyPdfError | RecursionError) else f"{type(error).__name__}: "
        raise DocumentError(filename, f"is not a complete PDF ({kind}{_first_line(error)})") from None
    if locked:
        wrong = "the password is wrong" if password else "give its password with --password"
        raise DocumentError(filename, f"is encrypted; {wrong}")
    if count == 0:
        raise DocumentError(filename, "is not a complete PDF (it has no pages)")
    return reader


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]


def _pages(file: BinaryIO, count: int, password: str, messages: list[str]) -> list[list[Line]]:
    lines: list[list[Line]] = []
    if count > MAX_PAGES:
        messages.append(f"has {count} pages; only the first {MAX_PAGES} were read")
    pages = Pages(file, password)
    for number in range(min(count, MAX_PAGES)):
        try:
            lines.append(next(pages))
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - on a broken page pdfminer raises exceptions of any type
            lines.append([])
            messages.append(f"page {number + 1} cannot be read ({type(error).__name__}: {_first_line(error)})")
    if pages.unmapped_glyphs:
        messages.append(f"{pages.unmapped_glyphs} signs are left out: their fonts do not say which letters they are")
    return lines


def _recognize(pages: list[list[Line]], recognize: Recognize, messages: list[str]) -> list[int]:
    """Fill in the pages without text; return those recognised, counted from 0."""
    numbers = []
    for number, lines in enumerate(pages):
        if not lines and (runs := recognize(number)):
            pages[number] = page_lines(runs)
            numbers.append(number)
    if numbers:
        messages.append(
            f"the text of {len(numbers)} of its pages was recognised from pictures and may hold wrong letters"
        )
    return numbers


def _outline(reader: pypdf.PdfReader) -> list[_Bookmark]:
    entries: list[_Bookmark] = []

    def walk(items: list[Any], level: int) -> None:
        for item in items:
            if isinstance(item, list):
                walk(item, min(level + 1, 6))
            elif len(entries) < _MAX_OUTLINE and (title := clean(str(item.title or ""))):
                page = reader.get_destination_page_number(item)
                if page is not None and page >= 0:
                    entries.append(_Bookmark(title, level, page))

    with suppress(*_BROKEN):
        walk(reader.outline, 1)
    return entries


def _labels(reader: pypdf.PdfReader, count: int) -> tuple[str, ...]:
    with suppress(*_BROKEN):
        labels = tuple(reader.page_labels)
        if len(labels) >= count:
            return labels[:count]
    return tuple(str(number + 1) for number in range(count))


def _title(reader: pypdf.PdfReader, blocks: Sequence[_Block]) -> str:
    with suppress(*_BROKEN):
        title = true_title(clean(str((reader.metadata.title if reader.metadata else "") or "")))
        if title:
            return title
    # Several headings of the first rank are chapters; a single one, on the first page, is the title.
    first = [block for block in blocks if block.kind == "heading" and block.level == 1]
    return " ".join(first[0].lines) if len(first) == 1 and first[0].page == 0 else ""


def _largest(pages: Sequence[Sequence[Line]]) -> str:
    """The text on the first page in letters larger than all others."""
    sizes = [line.size for line in chain(*pages)]
    size = max(sizes, default=0.0)
    if not size or size < _TITLE_SIZE * statistics.median(sizes):
        return ""
    largest = [line.text for line in pages[0] if line.size == size]
    text = clean(" ".join(largest))
    alone = sizes.count(size) == len(largest)
    return text if alone and any(c.isalpha() for c in text) and len(text) <= _LONGEST_HEADING else ""


# Blocks --------------------------------------------------------------------------------------------------------------


def find_blocks(pages: Sequence[Sequence[Line]], outline: Sequence[_Bookmark]) -> list[_Block]:
    """The blocks of all pages; without bookmarks, size and weight of the letters decide on headings."""
    finder = _Finder(pages, outline)
    titles = {_letters(entry.title) for entry in outline}
    for number, lines in enumerate(pages):
        finder.page(number, [] if _is_contents(lines, titles) else _without_leaders(lines))
    return finder.blocks


def _without_leaders(lines: Sequence[Line]) -> list[Line]:
    """The lines of a page that is not a list of titles with leader dots and page numbers."""
    led = [index for index, line in enumerate(lines) if _LEADER.search(line.text)]
    if len(led) < _LEAST_LEADERS or 2 * len(led) < led[-1] - led[0] + 1:
        return list(lines)
    return [line for index, line in enumerate(lines) if not led[0] <= index <= led[-1]]


def _is_contents(lines: Sequence[Line], titles: set[str]) -> bool:
    """Whether a page is a table of contents: mostly titles of bookmarks, which the headings repeat."""
    cells = [_letters(_PAGE_NUMBER.sub("", cell)) for line in lines for cell in line.cells]
    names = [cell for cell in cells if len(cell) > 3]
    return len(names) >= 8 and sum(cell in titles for cell in names) > 0.6 * len(names)


def _without_drawings(lines: Sequence[Line]) -> tuple[list[Line], dict[str, list[str]]]:
    """The lines of a page without the words in its drawings, and these words by the first line of the caption below.

    They are not aligned with the edge of the text, while the caption is.
    """
    kept: list[Line] = []
    drawings: dict[str, list[str]] = {}
    for line in lines:
        if CAPTION.match(line.text):
            above = takewhile(lambda part: part.x - line.x > part.size, reversed(kept))  # noqa: B023 - used up below
            drawn = [place for place, part in enumerate(above, 1) if part.drawn]
            words = [cell for part in kept[len(kept) - max(drawn) :] for cell in part.cells] if drawn else []
            if words:
                drawings.setdefault(line.text, []).extend(words)
                del kept[len(kept) - max(drawn) :]
        kept.append(line)
    return kept, drawings


class _Finder:
    def __init__(self, pages: Sequence[Sequence[Line]], outline: Sequence[_Bookmark]) -> None:
        lines = list(chain(*pages))
        self.body = body_size(lines) if lines else 10.0
        larger = sorted({line.size for line in lines if self._is_title_line(line)}, reverse=True)
        self.levels = {size: min(level, 3) for level, size in enumerate(larger, start=1)}
        self.outline = outline
        self.blocks: list[_Block] = []
        self.pitch = 0.0

    def _is_title_line(self, line: Line) -> bool:
        return line.size >= 1.12 * self.body and 1 < len(line.text) <= _LONGEST_HEADING and not line.mono

    def page(self, number: int, lines: Sequence[Line]) -> None:
        """Add the blocks of a page."""
        gaps = [a.y - b.y for a, b in pairwise(lines) if 0 < a.y - b.y < 3 * self.body]
        # Most gaps may be between paragraphs, as in a glossary: the lower quartile is the line pitch.
        self.pitch = sorted(gaps)[len(gaps) // 4] if gaps else 1.2 * self.body
        pending = [entry for entry in self.outline if entry.page == number]
        text, drawings = _without_drawings([line for line in lines if not line.note])
        begun = len(self.blocks)
        previous: Line | None = None
        index = 0
        while index < len(text):
            rows, count, beside = _table_rows(text, index)
            if rows:
                if beside:
                    self.blocks.append(_Block("paragraph", [beside], number))
                self.blocks.append(_Block("table", [" | ".join(row) for row in rows], number))
                previous = None
            else:
                level, count = self._heading_level(text, index, pending)
                for line in text[index : index + count]:
                    if level:
                        self._heading(line, level, number, previous)
                    else:
                        self._text(line, number, previous)
                    previous = line
            index += count
        for place in range(len(self.blocks) - 1, begun - 1, -1):
            if words := drawings.pop(self.blocks[place].lines[0], None):
                self.blocks.insert(place + 1, _Block("drawing", words, number))
        self.blocks += [_Block("drawing", words, number) for words in drawings.values()]
        self._notes([line for line in lines if line.note], number)
        for entry in pending:
            if not any(_same(entry.title, " ".join(b.lines)) for b in self.blocks if b.kind == "heading"):
                # The page does not show its words, so it goes before the page's first block.
                first = next((i for i, block in enumerate(self.blocks) if block.page == number), len(self.blocks))
                self.blocks.insert(first, _Block("heading", [entry.title], number, entry.level))

    def _notes(self, lines: Sequence[Line], number: int) -> None:
        """Add the notes of a page, before a paragraph that continues after them."""
        notes: list[_Block] = []
        for line in lines:
            if notes and not NOTE.match(line.text):
                notes[-1].lines.append(line.text)
            else:
                notes.append(_Block("paragraph", [line.text], number))
        goes_on = bool(self.blocks) and self.blocks[-1].kind == "paragraph" and self.blocks[-1].is_open
        place = len(self.blocks) - goes_on
        self.blocks[place:place] = notes

    def _heading_level(self, lines: Sequence[Line], index: int, pending: list[_Bookmark]) -> tuple[int, int]:
        """Level of the heading that starts at a line, 0 if none does, and the number of lines of it or the text."""
        line = lines[index]
        for entry in pending:
            for count in (1, 2, 3):
                if _same(entry.title, " ".join(part.text for part in lines[index : index + count])):
                    pending.remove(entry)
                    return entry.level, count
        if len(self.outline) >= _LEAST_OUTLINE or not any(c.isalpha() for c in line.text):
            return 0, 1
        if self._is_title_line(line):
            return self.levels.get(line.size, 3), 1
        titled = line.bold and len(line.text) <= 80 and not line.text.endswith((".", ",", ";", ":"))
        if titled and (_NUMBERED_TITLE.match(line.text) or line.text.istitle()):
            return min(len(self.levels) + 1, 4), 1
        return 0, 1

    def _heading(self, line: Line, level: int, number: int, previous: Line | None) -> None:
        last = self.blocks[-1] if self.blocks else None
        follows = previous is not None and previous.size == line.size and previous.y - line.y < 1.6 * line.size
        if last is not None and last.kind == "heading" and last.level == level and follows:
            last.lines.append(line.text)  # a title of two lines
        else:
            self.blocks.append(_Block("heading", [line.text], number, level))

    def _text(self, line: Line, number: int, previous: Line | None) -> None:
        last = self.blocks[-1] if self.blocks else None
        if line.mono:
            if last is None or last.kind != "code" or previous is None:
                self.blocks.append(_Block("code", [], number))
            self.blocks[-1].lines.append(f"{round(line.x / (0.6 * line.size)) * ' '}{line.text}")
        elif _BULLET.match(line.text):
            self.blocks.append(_Block("item", [line.text], number))
        elif last is not None and last.kind in {"paragraph", "item"} and self._goes_on(line, previous, last):
            if previous is None:
                last.breaks[len(last.lines)] = number
            last.lines.append(line.text)
        else:
            self.blocks.append(_Block("paragraph", [line.text], number, run_in=line.run_in))

    def _goes_on(self, line: Line, previous: Line | None, last: _Block) -> bool:
        """Whether a line continues the paragraph or list item before it."""
        if previous is None:  # the first line of a page, or the one after a table
            return last.kind == "paragraph" and line.text[:1].islower() and last.is_open
        if abs(previous.size - line.size) > 0.6 or (previous.bold and not line.bold and len(last.lines) == 1):
            return False
        if previous.y < line.y:  # the top of the next column
            return line.text[:1].islower() or last.is_open
        ended = previous.text[-1:] in ".!?:"
        if previous.y - line.y > 1.3 * self.pitch or (ended and (line.run_in or CAPTION.match(line.text))):
            return False
        indented = line.x - previous.x > 0.8 * line.size
        return not (indented and last.kind == "paragraph" and ended)


def _table_rows(lines: Sequence[Line], start: int) -> tuple[list[list[str]], int, str]:
    """The rows of the table that starts at a line, their number of lines, and the text beside them.

    There are no rows if no table starts there. A line without a cell in the first column continues the cells above it.
    Text left of all columns, halfway down the rows, is the title of an axis rather than a cell.
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
    # The heads of a matrix in a figure may be at its foot.
    foot = lines[end] if end < len(lines) else first
    if all(cell.isdecimal() for cell in rows[0]) and _in_columns(foot, first):
        return [[beside, *(cell.strip() for cell in foot.cells)], *rows], end + 1 - start, ""
    return rows, end - start, beside


def _is_row(first: Line, line: Line) -> bool:
    """Whether a line is a row of the same table as `first`."""
    near = sum(any(abs(x - start) < 1.5 * first.size for start in first.starts) for x in line.starts)
    return 2 <= near <= len(line.cells) <= len(first.cells) + 1 and abs(line.starts[0] - first.starts[0]) < (
        1.5 * first.size
    )


def _in_columns(line: Line, wider: Line) -> bool:
    """Whether the cells of two lines are in the same columns, except for one before them in `wider`."""
    return len(wider.cells) == len(line.cells) + 1 and all(
        abs(x - own) < 1.5 * line.size for x, own in zip(wider.starts[1:], line.starts, strict=True)
    )


def _goes_on_in_first(first: Line, lines: Sequence[Line], place: int) -> bool:
    """Whether a line is the rest of a first cell: alone there, nearer to the row above than to the one below."""
    line = lines[place]
    if len(line.cells) > 1 or abs(line.starts[0] - first.starts[0]) > 1 or place + 1 == len(lines):
        return False
    above, below = lines[place - 1], lines[place + 1]
    is_near = 0 < above.y - line.y < min(_CELL_PITCH * line.size, 0.9 * (line.y - below.y))
    return is_near and _is_row(first, below) and line.right < first.starts[1]


def _goes_on_in_cells(line: Line, above: Line, places: Sequence[float], row: list[str]) -> bool:
    """Add a line to the cells above it, if it has none in the first column and is close below."""
    columns = [
        next((n for n, place in enumerate(places) if n and abs(start - place) < line.size), 0) for start in line.starts
    ]
    close = 0 < above.y - line.y < _CELL_PITCH * line.size and abs(above.size - line.size) < 0.6
    if not close or not all(columns) or len(places) != len(row):
        return False
    for column, cell in zip(columns, line.cells, strict=True):
        row[column] = f"{row[column]} {cell.strip()}"
    return True


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _same(title: str, line: str) -> bool:
    """Whether a line is a bookmark's title, which may lack the number before it."""
    a, *forms = (_letters(text) for text in (title, line, _SECTION_NUMBER.sub("", line)))
    return bool(a) and any(a == b or (len(a) > 6 and b.startswith(a) and len(b) < len(a) + 8) for b in forms)


# The text ------------------------------------------------------------------------------------------------------------


class _Writer:
    """Writes a PDF's text and records the place of each piece."""

    def __init__(self, title: str, vocabulary: frozenset[str], recognized: Sequence[int]) -> None:
        self.out = StringIO()
        self._vocabulary, self._recognized = vocabulary, recognized
        self._starts: list[int] = []
        """Offset of each page's start, up to the present one."""
        self._drafts = [Draft(title, 1, (title,), "", 0)]
        self._parents: list[tuple[int, str]] = []
        self._slugger = Slugger()
        self._lead = ""
        self._caption = ""
        self._previous = ""
        self._where = Where()
        self._previous_was_signal = False

    def page_starts(self, pages: int) -> tuple[int, ...]:
        """Offset of each page's start; pages after the last text start at its end."""
        return (*self._starts, *[self.out.tell()] * (pages - len(self._starts)))

    def sections(self) -> tuple[Section, ...]:
        """The sections, up to the start of the next."""
        ends = [draft.start for draft in self._drafts[1:]] + [self.out.tell()]
        return tuple(
            draft.section(end, bisect_right(self._starts, draft.start) or 1)
            for draft, end in zip(self._drafts, ends, strict=True)
        )

    def write(self, block: _Block) -> None:
        """Write a block after a blank line."""
        if self._starts:
            self.out.write("\n\n")
        self._turn_to(block.page)
        if block.kind != "item" or self._previous != "item":
            self._drafts[-1].blocks += 1  # the items of a list are one block
        self._previous = block.kind
        if block.kind == "heading":
            self._heading(block)
        elif block.kind == "code":
            indent = min(len(line) - len(line.lstrip(" ")) for line in block.lines)
            self.out.write("```\n")
            self._unit("code", "\n".join(line[indent:] for line in block.lines), self._lead)
            self.out.write("\n```")
        elif block.kind == "table":
            header, *rows = block.lines
            self.out.write(f"| {header} |")
            for row in rows:
                self.out.write("\n| ")
                self._unit("table_row", row, header)
                self.out.write(" |")
        elif block.kind == "drawing":
            self._unit("caption", clean("; ".join(block.lines)), self._caption)
        else:
            self._paragraph(block)

    def _turn_to(self, page: int) -> None:
        while len(self._starts) <= page:  # a page without text, such as a list of contents, has its form feed too
            self.out.write("\f" if self._starts else "")
            self._starts.append(self.out.tell())
            if len(self._starts) - 1 in self._recognized:
                self.out.write(f"{RECOGNIZED}\n\n")

    def _heading(self, block: _Block) -> None:
        text = clean(" ".join(block.lines))
        anchor = self._slugger.next(text)
        first = self._drafts[0]
        if len(self._drafts) > 1 or first.units or text.casefold() != first.title.casefold():
            while self._parents and self._parents[-1][0] >= block.level:
                self._parents.pop()
            self._parents.append((block.level, text))
            path = (first.title, *(title for _, title in self._parents))
            self._drafts.append(Draft(text, block.level, path, anchor, self.out.tell()))
            self._where, self._lead = Where(), ""
            self.out.write(f"{'#' * block.level} {text}")
        else:
            self.out.write(f"# {text}")

    def _unit(self, kind: UnitKind, text: str, lead: str) -> None:
        """Write a unit unchanged."""
        start = self.out.tell()
        self.out.write(text)
        self._add(kind, text, start, start + len(text), lead)

    def _add(self, kind: UnitKind, text: str, start: int, end: int, lead: str = "") -> None:
        draft = self._drafts[-1]
        draft.add(kind, text, (start, end), self._where, number=draft.blocks, lead=lead)

    def _paragraph(self, block: _Block) -> None:
        start = self.out.tell()
        for index, piece in enumerate(join_lines(block.lines, self._vocabulary)):
            if index in block.breaks:
                self._turn_to(block.breaks[index])
            self.out.write(piece)
        self.out.seek(start)
        text = self.out.read()
        if block.kind == "item":
            bare = _BULLET_SIGN.sub("", text, count=1) if _BULLET_SIGN.match(text) else text
            self._add("list_item", clean(bare), start, start + len(text), self._lead)
            return
        # A box is a line of its own with a signal word, and the paragraph after it.
        signal = _SIGNAL.match(text) is not None
        self._where = Where(warning=signal or (self._where.warning and self._previous_was_signal))
        self._previous_was_signal = signal and len(text) <= _LONGEST_SIGNAL
        if CAPTION.match(text) and len(text) <= 500:
            self._caption = clean(text)
            self._add("caption", self._caption, start, start + len(text))
            return
        for begin, end in paragraph_ranges(text, run_in=block.run_in):
            self._lead = clean(text[begin:end])
            self._add("sentence", self._lead, start + begin, start + end)
