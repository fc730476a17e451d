"""Blocks without blocks inside: what starts them on a line and how their text is put together."""

import re
from dataclasses import dataclass, field

from mistune.util import unikey

from lutrin.ingest.anchors import explicit_id
from lutrin.ingest.placed import Placed
from lutrin.ingest.tree import Code, Heading, Math, Paragraph, Table

HEADING = re.compile(r"(#{1,6})(?:[ \t]+|(?=[\r\n]|\Z))")
SETEXT = re.compile(r"(=+|-+)[ \t]*\Z")
RULE = re.compile(r"(?:(?:\*[ \t]*){3,}+|(?:-[ \t]*){3,}+|(?:_[ \t]*){3,}+)\Z")
FENCE = re.compile(r"(`{3,}+)([^`]*)\Z|(~{3,}+)(.*)\Z", re.DOTALL)
ITEM = re.compile(r"([-+*]|\d{1,9}[.)])(?=[ \t]|\Z)")
_CLOSING_HASHES = re.compile(r"(?:(?<=[ \t])|\A)#+[ \t]*\Z")
_ALIGN = re.compile(r":?-+:?")
_DEFINITION = re.compile(
    r"[ \t]*\[(?!\^)((?:[^\\\[\]]|\\.){1,999}+)\]:[ \t]*\n?[ \t]*(<[^<>\n]*>|[^\s<]\S*+)"
    r"(?:(?:[ \t]+|[ \t]*\n[ \t]*)(\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?[ \t]*(?:\n|\Z)",
    re.DOTALL,
)

References = dict[str, dict[str, str]]
"""Link reference definitions by normalised label, as mistune's inline parser takes them."""


@dataclass(slots=True)
class ParagraphLeaf:
    """Lines of running text, still open."""

    ranges: list[tuple[int, int]]


@dataclass(slots=True)
class FenceLeaf:
    """A fenced block, still open."""

    marker: str
    """The run of backticks or tildes that opened it."""
    indent: int
    info: str
    start: int
    ranges: list[tuple[int, int]] = field(default_factory=list)
    """Each line with its line ending."""

    def closes(self, text: str) -> bool:
        """Whether a line, its indentation removed, closes the block."""
        text = text.rstrip()
        return len(text) >= len(self.marker) and not text.strip(self.marker[0])

    def block(self, source: str, end: int) -> Code:
        """The finished block; its last line ending is not part of the text."""
        pieces = self.ranges or [(end, end)]
        start, stop = pieces[0][0], pieces[-1][1]
        text = "".join(source[a:b] for a, b in pieces)
        for ending in ("\r\n", "\n", "\r"):
            if text.endswith(ending):
                text, stop = text[: -len(ending)], stop - len(ending)
                break
        return Code(text, self.info, self.start, end, start, max(start, stop))


@dataclass(slots=True)
class IndentedLeaf:
    """Code that is marked by four spaces, still open."""

    ranges: list[tuple[int, int]]

    def block(self, source: str) -> Code:
        """The finished block, without blank lines at its end."""
        while not source[slice(*self.ranges[-1])].strip():
            self.ranges.pop()
        fence = FenceLeaf("", 0, "", self.ranges[0][0], self.ranges)
        return fence.block(source, self.ranges[-1][1])


@dataclass(slots=True)
class MathLeaf:
    """A displayed formula, still open."""

    start: int
    ranges: list[tuple[int, int]]

    def block(self, source: str, end: int) -> Math:
        """The finished formula."""
        return Math(Placed.of(source, self.ranges).stripped(), self.start, end)


@dataclass(slots=True)
class TableLeaf:
    """A table, still open: header row, alignments, and the rows so far."""

    header: tuple[int, int]
    aligns: list[str]
    rows: list[tuple[int, int]] = field(default_factory=list)

    def block(self, source: str) -> Table:
        """The finished table."""
        cells = [[Placed.of(source, [cell]) for cell in split_row(source, *row)] for row in (self.header, *self.rows)]
        end = self.rows[-1][1] if self.rows else self.header[1]
        return Table(cells[0], cells[1:], self.aligns, self.rows, self.header[0], end)


Leaf = ParagraphLeaf | FenceLeaf | IndentedLeaf | MathLeaf | TableLeaf


def split_row(source: str, start: int, end: int) -> list[tuple[int, int]]:
    r"""Return the ranges of a table row's cells, trimmed; `\|` does not separate cells."""
    borders, pos = [], start
    while (pos := source.find("|", pos, end)) >= 0:
        slashes = 0
        while pos - slashes > start and source[pos - slashes - 1] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            borders.append(pos)
        pos += 1
    cells = list(zip([start, *(b + 1 for b in borders)], [*borders, end], strict=True))
    trimmed = [_trim(source, a, b) for a, b in cells]
    if len(trimmed) > 1 and trimmed[0][0] == trimmed[0][1]:
        trimmed = trimmed[1:]
    if len(trimmed) > 1 and trimmed[-1][0] == trimmed[-1][1]:
        trimmed = trimmed[:-1]
    return trimmed


def _trim(source: str, start: int, end: int) -> tuple[int, int]:
    text = source[start:end]
    left = len(text) - len(text.lstrip())
    return start + left, max(start + left, start + len(text.rstrip()))


def table_aligns(source: str, header: tuple[int, int], line: tuple[int, int]) -> list[str] | None:
    """Return the column alignments from a table's first two lines; None if they do not start a table."""
    text = source[slice(*line)]
    if "|" not in text or text.strip(" \t|:-"):
        return None
    cells = [source[a:b] for a, b in split_row(source, *line)]
    if not all(_ALIGN.fullmatch(cell) for cell in cells) or len(split_row(source, *header)) != len(cells):
        return None
    names = {(True, True): "center", (True, False): "left", (False, True): "right", (False, False): ""}
    return [names[cell.startswith(":"), cell.endswith(":")] for cell in cells]


def heading(source: str, level: int, ranges: list[tuple[int, int]], start: int, *, closing: bool) -> Heading:
    """A heading from its text's ranges; `closing` hashes of a heading of the form `## A ##` are left out."""
    body = Placed.of(source, ranges).stripped()
    length, anchor = explicit_id(body.text)
    text = body.text[:length]
    if closing:
        length = len(_CLOSING_HASHES.sub("", text).rstrip())
    return Heading(level, body.cut(0, length).stripped(), anchor, start, ranges[-1][1])


def paragraph(source: str, leaf: ParagraphLeaf, references: References) -> Paragraph | None:
    """The finished paragraph; link reference definitions at its start go into `references`."""
    body = Placed.of(source, leaf.ranges)
    start = 0
    while (match := _DEFINITION.match(body.text, start)) is not None and unikey(match[1]).strip():
        target = match[2][1:-1] if match[2].startswith("<") else match[2]
        references.setdefault(unikey(match[1]), {"url": target, "label": match[1], "title": (match[3] or "")[1:-1]})
        start = match.end()
    if start >= len(body.text):
        return None
    body = body.cut(start, len(body.text)).stripped()
    if not body.text:
        return None
    return Paragraph(body, body.at(0), body.end(len(body.text)))
