"""Plain text: paragraphs between blank lines, headings by their layout, lists and indented listings as they are."""

import re
from collections.abc import Iterator, Sequence

from lutrin.ingest.decoding import decode
from lutrin.ingest.hypertext import document_of, escape
from lutrin.ingest.sentences import join_lines, words_of
from lutrin.records import Document

_CHAPTER = re.compile(
    r"(?:chapter|part|book|section|lesson|appendix|act|scene|unit|module)\s+[\divxlc]+\b.{0,80}", re.IGNORECASE
)
_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.?\s+[A-Z].{0,80}")
_ITEM = re.compile(r"[ \t]{0,3}(?:[-*\u2022+]|\d{1,3}[.)])[ \t]+\S")
_RULE = re.compile(r"[=\-~*_#]{3,}\s*")
_LINE_START = re.compile(r"^([-+]|\d+[.)])(?=\s)")
_LONGEST_HEADING = 80
_BULLETS = frozenset("*+-\u2022")
_LISTING = 4


def parse_text(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a plain text as Markdown, escaping markup characters.

    Raises:
        DocumentError: It is not text, or empty.
    """
    text, notices = decode(data, filename)
    lines = (
        text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n\n").lstrip("\ufeff").expandtabs(8).split("\n")
    )
    return document_of("\n\n".join(_blocks(lines)) + "\n", filename, notices=notices)


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    vocabulary = words_of(lines)
    paragraphs = [_mend(paragraph, vocabulary) for paragraph in _paragraphs(lines)]
    titled = False
    for paragraph in paragraphs:
        heading = _heading(paragraph, first=not titled and paragraph is paragraphs[0])
        if heading and len(paragraphs) > 1:  # a paragraph that is all there is heads nothing
            level, text = heading
            titled = True
            yield f"{'#' * level} {escape(text)}"
        elif all(line.startswith(" " * _LISTING) for line in paragraph):
            indent = min(len(line) - len(line.lstrip()) for line in paragraph)
            inside = "\n".join(line[indent:].rstrip() for line in paragraph)
            yield f"~~~~\n{inside}\n~~~~"
        else:
            yield "\n".join(_line(line) for line in paragraph)


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    paragraph: list[str] = []
    for line in (*lines, ""):
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []


def _mend(paragraph: Sequence[str], vocabulary: frozenset[str]) -> list[str]:
    """The lines of a paragraph, with hyphenated words joined."""
    mended: list[str] = []
    pending = ""
    for line, piece in zip(paragraph, join_lines([line.rstrip() for line in paragraph], vocabulary), strict=True):
        whole = f"{pending}{piece.lstrip() if pending else piece}"
        pending = "" if piece[-1:] == " " or line is paragraph[-1] else whole
        if not pending:
            mended.append(whole.rstrip())
    return mended


def _heading(paragraph: Sequence[str], *, first: bool) -> tuple[int, str] | None:
    """Level and text of a heading: underlined, numbered, in capitals, called a chapter, or the text's first line."""
    text = paragraph[0].strip()
    if len(paragraph) == 2 and _RULE.fullmatch(paragraph[1].strip()) and len(text) <= _LONGEST_HEADING:
        return (1 if paragraph[1].strip()[0] == "=" and first else 2), text
    if len(paragraph) > 2 or len(text) > _LONGEST_HEADING or (text[-1] in ".,;:?!" and not _CHAPTER.fullmatch(text)):
        return None
    if _CHAPTER.fullmatch(text):
        return 2, " ".join(line.strip() for line in paragraph)
    if len(paragraph) > 1:
        return None
    if first and not _ITEM.match(text):
        return 1, text
    if _NUMBERED.fullmatch(text):
        return min(6, 2 + text.split()[0].strip(".").count(".")), text
    letters = [c for c in text if c.isalpha()]
    return (2, text) if len(letters) > 3 and text.isupper() else None


def _line(line: str) -> str:
    if not _ITEM.match(line):
        return _LINE_START.sub(r"\\\1", escape(line.strip()))
    marker, _, rest = line.strip().partition(" ")
    return f"{'-' if marker in _BULLETS else marker} {escape(rest.strip())}"
