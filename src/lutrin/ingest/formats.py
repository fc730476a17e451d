"""The file formats that Lutrin reads, one entry each: the parser and its limits.

The core reads Markdown, HTML, EPUB and plain text. Guests add formats through the entry point `lutrin.formats`
(`lutrin.guests`): write a parser, and register a mapping from suffixes to `Format` there.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pkgutil import resolve_name
from typing import BinaryIO

from lutrin.errors import DocumentError
from lutrin.guests import load_guests
from lutrin.records import Document

MEGABYTE = 1024 * 1024
OF_MARKDOWN = "lutrin.ingest.hypertext:document_of"
"""Builds a document from a parser's Markdown; loaded, like parsers, with the first file."""


@dataclass(frozen=True, slots=True)
class Format:
    """How to read files of one kind."""

    name: str
    """Name of the format for readers."""
    parser: str
    """Module and function, `package.module:function`; it loads with the first file of its kind.

    It takes the file's content (the open file, if the format has a recognizer), its name and a password. It returns the
    file as Markdown, or a `Document` of its own, or raises `DocumentError`.
    """
    max_bytes: int = 20 * MEGABYTE
    trusted_bytes: int = 0
    """Files up to this size are read in the program itself, larger ones in a process with limits."""
    holds_chapters: bool = False
    """Whether one file is often a whole book, whose headings name its chapters."""
    stands_alone: bool = False
    """Whether several files added at once are rather several books than pages of one."""
    time_limit_s: float = 30.0
    memory_limit_bytes: int = 512 * MEGABYTE
    recognizer: str = ""
    """Also reads pictures of pages, within its own limits; the parser then takes the open file, not its content."""
    becomes: str = ""
    """Suffix of the intermediate format into which its parser converts a file."""

    def load(self) -> Callable[..., Document | str]:
        """Load its parser with all its imports."""
        parser: Callable[..., Document | str] = resolve_name(self.parser)
        return parser

    def warm_up(self, suffix: str) -> None:
        """Load its parser and read a page of our own, since libraries compile their patterns on first use."""
        self.load()
        suffix = self.becomes or suffix
        with suppress(DocumentError):  # the page is text, and not every format is
            all_formats()[suffix].parse(BytesIO(b"Warm up\n=======\n\nA sentence."), f"page{suffix}", "")

    def parse(self, file: BinaryIO, filename: str, password: str, *, recognize: bool = False) -> Document:
        """Turn an open file into a document; with `recognize`, read pictures of its pages too."""
        parser = self.load()
        if self.recognizer:
            recognizer = resolve_name(self.recognizer) if recognize else None
            made = parser(file, filename, password, recognizer=recognizer)
        else:
            made = parser(file.read(), filename, password)
        return made if isinstance(made, Document) else resolve_name(OF_MARKDOWN)(made, filename)


PATIENCE = 4
"""Wall-clock seconds for each second of processor time, which other work may share."""
RECOGNITION_TIME_LIMIT_S, RECOGNITION_MEMORY_LIMIT_BYTES = 3600.0, 4096 * MEGABYTE
"""For a file whose pages are rendered and recognised: a page takes seconds, and the models' memory is mapped at
once."""
# The slowest input of this size that a search found takes a tenth of a second (`tests/ingest/test_hostile.py`).
_MARKDOWN = Format("Markdown", "lutrin.ingest.markdown:read_markdown", trusted_bytes=8_192)
_HTML = Format("HTML", "lutrin.ingest.hypertext:parse_html")
FORMATS: Mapping[str, Format] = {
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".mdx": replace(_MARKDOWN, name="MDX"),
    ".qmd": replace(_MARKDOWN, name="Quarto"),
    ".rmd": replace(_MARKDOWN, name="R Markdown"),
    ".epub": Format(
        "EPUB", "lutrin.ingest.epub:parse_epub", 100 * MEGABYTE,
        holds_chapters=True, time_limit_s=120.0, becomes=".html", stands_alone=True,
    ),
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": _HTML,
    ".txt": Format("plain text", "lutrin.ingest.plaintext:parse_text", holds_chapters=True, stands_alone=True),
}  # fmt: skip
"""The core's formats; guests cannot remove them."""


@cache
def all_formats() -> Mapping[str, Format]:
    """The formats of the core and all guests, by suffix."""
    return {suffix: kind for formats in (*load_guests("formats"), FORMATS) for suffix, kind in formats.items()}


def longest_s(*, recognize: bool) -> float:
    """Wall-clock seconds that the slowest file may take."""
    limits = [RECOGNITION_TIME_LIMIT_S] if recognize else [kind.time_limit_s for kind in all_formats().values()]
    return PATIENCE * max(limits)


def suffix_of(name: str) -> str:
    """A file's suffix in lower case, such as `.md`; empty if it has none."""
    stem, dot, suffix = name.rpartition("/")[2].rpartition(".")
    return f".{suffix.lower()}" if dot and stem else ""


def format_of(name: str) -> Format | None:
    """The format of a file, by its name; None if Lutrin does not support it."""
    return all_formats().get(suffix_of(name))


def max_bytes(name: str) -> int:
    """Size limit for files of this kind."""
    kind = format_of(name)
    return kind.max_bytes if kind is not None else 20 * MEGABYTE


def suffixes_in_words() -> str:
    """`.epub, .md, .mdx or .pdf`, for messages."""
    *first, last = sorted(all_formats())
    return f"{', '.join(first)} or {last}"
