"""The kinds of files that Lutrin reads, one entry each: how it is parsed, and its limits.

To read one more kind, write its parser and add a line to `FORMATS`.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from io import BytesIO
from pkgutil import resolve_name
from typing import BinaryIO

from lutrin.errors import DocumentError
from lutrin.records import Document

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one kind are read."""

    name: str
    """The name that readers use."""
    parser: str
    """Module of this room and function; it loads with the first file of its kind."""
    max_bytes: int = 20 * MEGABYTE
    trusted_bytes: int = 0
    """Files up to this size are read in the program itself, larger ones in a limited process."""
    holds_chapters: bool = False
    """Whether one file is often a whole book, whose headings name its chapters."""
    time_limit_s: float = 30.0
    memory_limit_bytes: int = 512 * MEGABYTE
    recognizer: str = ""
    """Reads pictures of pages, too, within limits of its own; the parser then takes the open file, not its content."""
    becomes: str = ""
    """Suffix of the format that its parser turns a file into, to be read as such."""

    def load(self) -> Callable[..., Document]:
        """Its parser, with all that it imports."""
        parser: Callable[..., Document] = resolve_name(f"lutrin.ingest.{self.parser}")
        return parser

    def warm_up(self, suffix: str) -> None:
        """Load its parser and read a page of our own, since libraries compile their patterns upon first use."""
        self.load()
        suffix = self.becomes or suffix
        with suppress(DocumentError):  # the page is text, and not every format is
            FORMATS[suffix].parse(BytesIO(b"Warm up\n=======\n\nA sentence."), f"page{suffix}", "")

    def parse(self, file: BinaryIO, filename: str, password: str, *, recognize: bool = False) -> Document:
        """Turn an open file into a document; with `recognize`, read pictures of its pages too."""
        parser = self.load()
        if not self.recognizer:
            return parser(file.read(), filename, password)
        recognizer = resolve_name(f"lutrin.ingest.{self.recognizer}") if recognize else None
        return parser(file, filename, password, recognizer=recognizer)


RECOGNITION_TIME_LIMIT_S, RECOGNITION_MEMORY_LIMIT_BYTES = 3600.0, 4096 * MEGABYTE
"""For a file whose pages are drawn and recognised: a page takes seconds, and the models' memory is mapped at once."""
# A page of a book has a tenth of this; the slowest input of this size takes a few seconds.
_MARKDOWN = Format("Markdown", "markdown:read_markdown", trusted_bytes=262_144)
_HTML = Format("HTML", "hypertext:parse_html")
_BOOK_BYTES = 100 * MEGABYTE
FORMATS: Mapping[str, Format] = {
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".mdx": replace(_MARKDOWN, name="MDX"),
    ".qmd": replace(_MARKDOWN, name="Quarto"),
    ".rmd": replace(_MARKDOWN, name="R Markdown"),
    ".ipynb": Format("Jupyter notebook", "notebook:parse_notebook", _BOOK_BYTES),
    ".rst": Format("reStructuredText", "rst:parse_rst"),
    ".pdf": Format(
        "PDF", "pdf:parse_pdf", 2 * _BOOK_BYTES, holds_chapters=True, time_limit_s=300.0, recognizer="ocr:recognizer_of"
    ),
    ".epub": Format("EPUB", "epub:parse_epub", _BOOK_BYTES, holds_chapters=True, time_limit_s=120.0, becomes=".html"),
    ".docx": Format(
        "Word document", "docx:parse_docx", _BOOK_BYTES, holds_chapters=True, time_limit_s=120.0, becomes=".html"
    ),
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": _HTML,
    ".txt": Format("plain text", "plaintext:parse_text", holds_chapters=True),
}


def suffix_of(name: str) -> str:
    """A file's suffix in lower case, such as `.md`; empty if it has none."""
    stem, dot, suffix = name.rpartition("/")[2].rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def format_of(name: str) -> Format | None:
    """The format of a file, by its name; None if Lutrin does not read it."""
    return FORMATS.get(suffix_of(name))


def max_bytes(name: str) -> int:
    """The largest file of its kind that is read."""
    kind = format_of(name)
    return kind.max_bytes if kind is not None else 20 * MEGABYTE


def suffixes_in_words() -> str:
    """`.epub, .md, .mdx or .pdf`, for messages."""
    *first, last = sorted(FORMATS)
    return f"{', '.join(first)} or {last}"
