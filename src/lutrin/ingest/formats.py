"""The kinds of files that Lutrin reads, one entry each: how it is parsed, how its pages are shown, and its limits.

To read one more kind, write its parser and add a line to `FORMATS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import BinaryIO

from lutrin.records import Document

MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Format:
    """How files of one kind are read."""

    name: str
    """The name that readers use."""
    parse: Callable[[BinaryIO, str, str], Document]
    """Turns an open file, its name and a password into a document."""
    page: Callable[[str, str], str]
    """Turns the indexed text and the file's name into HTML."""
    max_bytes: int = 20 * MEGABYTE
    trusted_bytes: int = 0
    """Files up to this size are read in the program itself, larger ones in a limited process."""
    holds_chapters: bool = False
    """Whether one file is often a whole book, whose headings name its chapters."""
    time_limit_s: float = 30.0
    memory_limit_bytes: int = 512 * MEGABYTE
    recognize: Callable[[BinaryIO, str, str], Document] | None = None
    """Like `parse`, but reads pictures of pages too; it has its own limits."""


def _markdown(file: BinaryIO, filename: str, _password: str) -> Document:
    import msgspec  # noqa: PLC0415 - as below

    from lutrin.ingest.decoding import decode  # noqa: PLC0415 - a parser loads with the first file of its kind
    from lutrin.ingest.markdown import parse_markdown  # noqa: PLC0415 - as above

    source, notices = decode(file.read(), filename)
    document = parse_markdown(source, filename)
    return msgspec.structs.replace(document, notices=(*notices, *document.notices))


def _markdown_page(source: str, filename: str) -> str:
    from lutrin.ingest.page import page_html  # noqa: PLC0415 - as above

    return page_html(source, filename)


def _notebook(file: BinaryIO, filename: str, password: str) -> Document:
    from lutrin.ingest.notebook import parse_notebook  # noqa: PLC0415 - as above

    return parse_notebook(file.read(), filename, password)


def _html(file: BinaryIO, filename: str, password: str) -> Document:
    from lutrin.ingest.hypertext import parse_html  # noqa: PLC0415 - as above

    return parse_html(file.read(), filename, password)


def _rst(file: BinaryIO, filename: str, password: str) -> Document:
    from lutrin.ingest.rst import parse_rst  # noqa: PLC0415 - as above

    return parse_rst(file.read(), filename, password)


def _epub(file: BinaryIO, filename: str, password: str) -> Document:
    from lutrin.ingest.epub import parse_epub  # noqa: PLC0415 - as above

    return parse_epub(file.read(), filename, password)


def _docx(file: BinaryIO, filename: str, password: str) -> Document:
    from lutrin.ingest.docx import parse_docx  # noqa: PLC0415 - as above

    return parse_docx(file.read(), filename, password)


def _text(file: BinaryIO, filename: str, password: str) -> Document:
    from lutrin.ingest.plaintext import parse_text  # noqa: PLC0415 - as above

    return parse_text(file.read(), filename, password)


def _pdf(file: BinaryIO, filename: str, password: str) -> Document:
    from lutrin.ingest.pdf import parse_pdf  # noqa: PLC0415 - as above

    return parse_pdf(file, filename, password)


def _scanned_pdf(file: BinaryIO, filename: str, password: str) -> Document:
    from lutrin.ingest.ocr import recognizer_of  # noqa: PLC0415 - as above
    from lutrin.ingest.pdf import parse_pdf  # noqa: PLC0415 - as above

    return parse_pdf(file, filename, password, recognizer=recognizer_of)


RECOGNITION_TIME_LIMIT_S, RECOGNITION_MEMORY_LIMIT_BYTES = 3600.0, 4096 * MEGABYTE
"""For a file whose pages are drawn and recognised: a page takes seconds, and the models' memory is mapped at once."""
# A page of a book has a tenth of this; the slowest input of this size takes a few seconds.
_MARKDOWN = Format("Markdown", _markdown, _markdown_page, trusted_bytes=262_144)
_HTML = Format("HTML", _html, _markdown_page)
FORMATS: Mapping[str, Format] = {
    ".md": _MARKDOWN,
    ".markdown": _MARKDOWN,
    ".mdx": Format("MDX", _markdown, _markdown_page, trusted_bytes=262_144),
    ".qmd": Format("Quarto", _markdown, _markdown_page, trusted_bytes=262_144),
    ".rmd": Format("R Markdown", _markdown, _markdown_page, trusted_bytes=262_144),
    ".ipynb": Format("Jupyter notebook", _notebook, _markdown_page, max_bytes=100 * MEGABYTE),
    ".rst": Format("reStructuredText", _rst, _markdown_page),
    ".pdf": Format(
        "PDF",
        _pdf,
        _markdown_page,
        max_bytes=200 * MEGABYTE,
        time_limit_s=300.0,
        holds_chapters=True,
        recognize=_scanned_pdf,
    ),
    ".epub": Format("EPUB", _epub, _markdown_page, max_bytes=100 * MEGABYTE, time_limit_s=120.0, holds_chapters=True),
    ".docx": Format(
        "Word document", _docx, _markdown_page, max_bytes=100 * MEGABYTE, time_limit_s=120.0, holds_chapters=True
    ),
    ".html": _HTML,
    ".htm": _HTML,
    ".xhtml": _HTML,
    ".txt": Format("plain text", _text, _markdown_page, holds_chapters=True),
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


def page_html(source: str, filename: str) -> str:
    """The HTML body of a page, from the text that was indexed."""
    kind = format_of(filename)
    return (kind or _MARKDOWN).page(source, filename)


def suffixes_in_words() -> str:
    """`.epub, .md, .mdx or .pdf`, for messages."""
    *first, last = sorted(FORMATS)
    return f"{', '.join(first)} or {last}"
