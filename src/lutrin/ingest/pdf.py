"""A textual PDF, understood: pages, headings, paragraphs, tables.

pypdf opens the file and reads its outline and labels, pdfminer.six the glyphs of its pages, geometry their order.

A PDF can be made to eat time and memory: `lutrin.ingest.limited` runs this in a limited process of its own.
"""

import contextlib
import re
import statistics
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any, BinaryIO

import pypdf
from pypdf.errors import DependencyError, PdfReadError, PyPdfError

from lutrin.errors import DocumentError
from lutrin.ingest.anchors import Slugger
from lutrin.ingest.labels import CAPTION
from lutrin.ingest.markdown import stem, title_from_name
from lutrin.ingest.pdf_blocks import OutlineEntry, PdfBlock, bare_item, find_blocks, join_lines, vocabulary_of
from lutrin.ingest.pdf_glyphs import pages_of
from lutrin.ingest.pdf_layout import Line, TextRun, page_lines, running_titles
from lutrin.ingest.pdf_page import settle_runs
from lutrin.ingest.sentences import paragraph_ranges
from lutrin.ingest.titles import true_title
from lutrin.ingest.wording import RECOGNIZED, clean
from lutrin.records import Document, Notice, Section, Unit

MAX_PAGES = 3000
Recognize = Callable[[int], list[TextRun]]
"""Recognises the text of a page, by its number counted from 0."""
_BLOCK = 1 << 20  # bytes read at a time
_MAX_OUTLINE = 5000
# A title is so many times as large as most lines, and so many characters long at most.
_TITLE_SIZE = 1.3
_LONGEST_TITLE = 140
# Signal words of safety notices (ISO 3864-2, ANSI Z535).
_SIGNAL = re.compile(r"(?:DANGER|WARNING|CAUTION|Danger|Warning|Caution)\b\s*[:!.\u2013\u2014-]")
_LONGEST_SIGNAL = 80


def parse_pdf(
    data: bytes | BinaryIO, filename: str, password: str = "", *, recognizer: Callable[..., Recognize] | None = None
) -> Document:
    """Read a PDF as text: blocks between blank lines, headings with hashes, a form feed before each further page.

    Raises:
        DocumentError: The file is empty, encrypted, broken, or holds pictures only.
    """
    file = BytesIO(data) if isinstance(data, bytes) else data
    if not any(block.strip(b"\0 \t\r\n") for block in iter(lambda: file.read(_BLOCK), b"")):
        raise DocumentError(filename, "is empty")
    reader = _open(file, filename, password)
    notices: list[Notice] = []
    pages = _pages(file, len(reader.pages), filename, password, notices)
    recognized: list[int] = []
    if recognizer is not None and not all(pages):
        recognized = _recognized(pages, recognizer(file, filename, password), filename, notices)
    if not any(pages):
        remedy = (
            "none can be recognised" if recognizer is not None else "set LUTRIN_OCR=true, or run it through OCR first"
        )
        raise DocumentError(filename, f"holds no text, only pictures of it; {remedy}")
    kept = [
        [line for index, line in enumerate(lines) if index not in dropped]
        for lines, dropped in zip(pages, running_titles(pages), strict=True)
    ]
    blocks = find_blocks(kept, _outline(reader))
    title = _title(reader, blocks) or _largest(kept) or title_from_name(filename)
    writer = _Writer(title, frozenset(vocabulary_of(kept)), len(pages), frozenset(recognized))
    for block in blocks:
        writer.block(block)
    return Document(
        filename=filename,
        title=title,
        source=writer.source(),
        sections=writer.sections(),
        section=stem(filename),
        page_starts=writer.page_starts(),
        page_labels=_labels(reader, len(pages)),
        recognized_pages=tuple(number + 1 for number in recognized),
        notices=tuple(notices),
    )


def _open(file: BinaryIO, filename: str, password: str) -> pypdf.PdfReader:
    try:
        reader = pypdf.PdfReader(file, strict=False)
        # A file that its owner only protects from changes opens without a password, whatever others need.
        locked = reader.is_encrypted and not (reader.decrypt(password) or reader.decrypt(""))
        count = 0 if locked else len(reader.pages)  # a missing page tree shows here
    except DependencyError:
        raise DocumentError(filename, "is encrypted with AES, which needs the package cryptography") from None
    except (PyPdfError, RecursionError) as error:
        raise DocumentError(filename, f"is not a complete PDF ({_first_line(error)})") from None
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - on a broken file pypdf raises whatever its parser stumbles on
        raise DocumentError(filename, f"is not a complete PDF ({type(error).__name__}: {_first_line(error)})") from None
    if locked:
        wrong = "the password is wrong" if password else "give its password with --password"
        raise DocumentError(filename, f"is encrypted; {wrong}")
    if count == 0:
        raise DocumentError(filename, "is not a complete PDF (it has no pages)")
    return reader


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:120]


def _pages(file: BinaryIO, count: int, filename: str, password: str, notices: list[Notice]) -> list[list[Line]]:
    pages: list[list[Line]] = []
    unmapped = 0
    if count > MAX_PAGES:
        notices.append(Notice(filename=filename, message=f"has {count} pages; only the first {MAX_PAGES} were read"))
    painted = pages_of(file, password)
    for number in range(min(count, MAX_PAGES)):
        try:
            runs, lost = next(painted)
            pages.append(page_lines(runs))
            unmapped += lost
        except MemoryError:
            raise
        except Exception as error:  # noqa: BLE001 - on a broken page pdfminer raises whatever its parser stumbles on
            pages.append([])
            message = f"page {number + 1} cannot be read ({type(error).__name__}: {_first_line(error)})"
            notices.append(Notice(filename=filename, message=message))
    if unmapped:
        message = f"{unmapped} signs are left out: their fonts do not say which letters they are"
        notices.append(Notice(filename=filename, message=message))
    return pages


def _recognized(pages: list[list[Line]], recognize: Recognize, filename: str, notices: list[Notice]) -> list[int]:
    """Fill in the pages without text; return which of them were recognised, counted from 0."""
    found = []
    for number, lines in enumerate(pages):
        if not lines and (runs := recognize(number)):
            pages[number] = page_lines(settle_runs(runs, None))
            found.append(number)
    if found:
        message = f"the text of {len(found)} of its pages was recognised from pictures and may hold wrong letters"
        notices.append(Notice(filename=filename, message=message))
    return found


def _outline(reader: pypdf.PdfReader) -> list[OutlineEntry]:
    entries: list[OutlineEntry] = []

    def walk(items: list[Any], level: int) -> None:
        for item in items:
            if isinstance(item, list):
                walk(item, min(level + 1, 6))
            elif len(entries) < _MAX_OUTLINE and (title := clean(str(item.title or ""))):
                page = reader.get_destination_page_number(item)
                if page is not None and page >= 0:
                    entries.append(OutlineEntry(title, level, page))

    # A broken outline costs the headings, never the text.
    with contextlib.suppress(PdfReadError, KeyError, TypeError, AttributeError, ValueError, RecursionError):
        walk(reader.outline, 1)
    return entries


def _labels(reader: pypdf.PdfReader, count: int) -> tuple[str, ...]:
    with contextlib.suppress(PdfReadError, KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError):
        labels = tuple(reader.page_labels)
        if len(labels) >= count:
            return labels[:count]
    return tuple(str(number + 1) for number in range(count))


def _title(reader: pypdf.PdfReader, blocks: Sequence[PdfBlock]) -> str:
    with contextlib.suppress(PdfReadError, KeyError, TypeError, AttributeError, ValueError, RecursionError):
        title = true_title(clean(str((reader.metadata.title if reader.metadata else "") or "")))
        if title:
            return title
    # Several headings of the first rank are chapters; one alone, on the first page, is what the whole is called.
    first = [block for block in blocks if block.kind == "heading" and block.level == 1]
    return " ".join(first[0].lines) if len(first) == 1 and first[0].page == 0 else ""


def _largest(pages: Sequence[Sequence[Line]]) -> str:
    """What stands on the first page in letters that are larger than all others."""
    sizes = [line.size for lines in pages for line in lines]
    size = max(sizes, default=0.0)
    if not size or size < _TITLE_SIZE * statistics.median(sizes):
        return ""
    largest = [line.text for line in pages[0] if line.size == size]
    text = clean(" ".join(largest))
    alone = sizes.count(size) == len(largest)
    return text if alone and any(c.isalpha() for c in text) and len(text) <= _LONGEST_TITLE else ""


class _Writer:
    """Writes a PDF's text and records the place of each piece."""

    def __init__(self, title: str, vocabulary: frozenset[str], pages: int, recognized: frozenset[int]) -> None:
        self._recognized = recognized
        self._vocabulary = vocabulary
        self._parts: list[str] = []
        self._length = 0
        self._starts: list[int | None] = [None] * pages
        self._page = -1
        self._title = title
        self._sections: list[dict[str, Any]] = []
        self._parents: list[tuple[int, str]] = []
        self._slugger = Slugger()
        self._lead = ""
        self._blocks = 0
        self._previous = ""
        self._warning = False
        self._previous_was_signal = False
        self._begin(title, 1, (title,), "", 1)

    def source(self) -> str:
        return "".join(self._parts)

    def page_starts(self) -> tuple[int, ...]:
        """Offset at which each page starts; an empty page starts where the next one does."""
        starts: list[int] = []
        following = self._length
        for start in reversed(self._starts):
            following = following if start is None else start
            starts.append(following)
        return tuple(reversed(starts))

    def sections(self) -> tuple[Section, ...]:
        ends = [draft["char_start"] for draft in self._sections[1:]] + [self._length]
        return tuple(
            Section(**{**draft, "units": tuple(draft["units"])}, char_end=end)
            for draft, end in zip(self._sections, ends, strict=True)
        )

    def block(self, block: PdfBlock) -> None:
        if self._parts:
            self._put("\n\n")
        self._turn_to(block.page)
        if block.kind != "item" or self._previous != "item":
            self._blocks += 1  # the items of a list are one block
        if block.kind == "heading":
            self._heading(block)
        elif block.kind == "code":
            self._code(block)
        elif block.kind == "table":
            self._table(block)
        else:
            self._paragraph(block)
        self._previous = block.kind

    def _begin(self, title: str, level: int, path: tuple[str, ...], anchor: str, page: int) -> None:
        start = self._length
        self._sections.append(
            {
                "title": title,
                "level": level,
                "heading_path": path,
                "anchor": anchor,
                "char_start": start,
                "page": page,
                "units": [],
            }
        )
        self._blocks = 0

    def _put(self, text: str) -> tuple[int, int]:
        start = self._length
        self._parts.append(text)
        self._length += len(text)
        return start, self._length

    def _turn_to(self, page: int) -> None:
        while self._page < page:  # a page without text, such as a list of contents, has its form feed too
            self._page += 1
            if self._page > 0:
                self._put("\f")
            self._starts[self._page] = self._length
            if self._page in self._recognized:
                self._put(f"{RECOGNIZED}\n\n")

    def _heading(self, block: PdfBlock) -> None:
        text = clean(" ".join(block.lines))
        anchor = self._slugger.next(text)
        if len(self._sections) == 1 and text.casefold() == self._title.casefold() and not self._sections[0]["units"]:
            self._put(f"# {text}")
            return
        while self._parents and self._parents[-1][0] >= block.level:
            self._parents.pop()
        self._parents.append((block.level, text))
        self._warning = False
        path = (self._title, *(title for _, title in self._parents))
        self._begin(text, block.level, path, anchor, block.page + 1)
        self._put(f"{'#' * block.level} {text}")
        self._lead = ""

    def _unit(self, kind: Any, text: str, place: tuple[int, int], lead: str = "") -> None:  # noqa: ANN401 - a UnitKind
        self._sections[-1]["units"].append(
            Unit(
                kind=kind,
                text=text,
                char_start=place[0],
                char_end=place[1],
                lead=lead,
                block=self._blocks,
                warning=self._warning,
            )
        )

    def _code(self, block: PdfBlock) -> None:
        indent = min(len(line) - len(line.lstrip(" ")) for line in block.lines)
        text = "\n".join(line[indent:] for line in block.lines)
        self._put("```\n")
        self._unit("code", text, self._put(text), self._lead)
        self._put("\n```")

    def _table(self, block: PdfBlock) -> None:
        header, *rows = block.lines
        self._put(f"| {header} |")
        for row in rows:
            self._put("\n| ")
            self._unit("table_row", row, self._put(row), header)
            self._put(" |")

    def _paragraph(self, block: PdfBlock) -> None:
        start = self._length
        for index, piece in enumerate(join_lines(block.lines, self._vocabulary)):
            if index in block.breaks:
                self._turn_to(block.breaks[index])
            self._put(piece)
        text = self.source_from(start)
        if block.kind == "paragraph":
            # A box is a line of its own with a signal word, and the paragraph behind it.
            titled = self._warning and self._previous_was_signal
            signal = _SIGNAL.match(text) is not None
            self._warning = signal or titled
            self._previous_was_signal = signal and len(text) <= _LONGEST_SIGNAL
        if block.kind == "item":
            self._unit("list_item", clean(bare_item(text)), (start, start + len(text)), self._lead)
            return
        if CAPTION.match(text) and len(text) <= 500:
            self._unit("caption", clean(text), (start, start + len(text)))
            return
        for begin, end in paragraph_ranges(text, run_in=block.run_in):
            self._unit("sentence", clean(text[begin:end]), (start + begin, start + end))
            self._lead = clean(text[begin:end])

    def source_from(self, offset: int) -> str:
        """The text written since an offset."""
        parts: list[str] = []
        length = self._length
        for part in reversed(self._parts):
            if length <= offset:
                break
            parts.append(part)
            length -= len(part)
        return "".join(reversed(parts))
