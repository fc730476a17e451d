"""MyST's directives that are fences: options and captions of code, tables made of lists, formulas, navigation."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from lutrin.ingest.containers import OPTION
from lutrin.ingest.placed import Placed, joined, line_ranges
from lutrin.ingest.script import Attribute, Tag
from lutrin.ingest.tree import Admonition, Block, Code, Element, Listing, Math, Paragraph, Quote, Table

LOOKS_LIKE_MYST = re.compile(r"^[ \t]*(?:`{3,}|:{3,}|~{3,})\{[a-z][\w:-]*\}|^\([\w:.-]+\)=[ \t]*\r?$", re.MULTILINE)
UNSEEN_LINE = re.compile(r"%|\+\+\+|\([\w:.-]+\)=[ \t]*\Z")
"""A comment, a break between cells, the label of what follows: a page shows none of them."""
_DIRECTIVE = re.compile(r"\{([\w:-]+)\}[ \t]*(.*)\Z", re.DOTALL)
_LIST_CELL = re.compile(r"[ \t]*(\*[ \t]+)?-(?:[ \t]+|\Z)")
# What they hold are names of files, targets and settings.
_UNSEEN = frozenset(
    "toctree tableofcontents contents index include literalinclude bibliography eval-rst raw only".split()
)
_SHOWN_OPTIONS = frozenset({"caption", "alt"})
_CSV_CELL = re.compile(
    r"""[ \t]*(?:"(?P<quoted>(?:[^"]|"")*+)"[ \t]*(?=[,\n]|\Z)|(?P<plain>[^,\n]*))(?P<end>[,\n]|\Z)"""
)
_CSV_QUOTE = re.compile('""')
Range = tuple[int, int]


def expand(blocks: Sequence[Block], source: str) -> list[Block]:
    """Blocks in which each fence that is a directive has become what a reader sees of it."""
    expanded: list[Block] = []
    for block in blocks:
        if isinstance(block, Code) and (match := _DIRECTIVE.match(block.info)):
            expanded += _directive(block, match, source)
            continue
        if isinstance(block, Quote | Admonition | Element):
            block.children[:] = expand(block.children, source)
        elif isinstance(block, Listing):
            for item in block.items:
                item.children[:] = expand(item.children, source)
        expanded.append(block)
    return expanded


def shown_option(source: str, start: int, end: int) -> Paragraph | None:
    """The text of an option line, `:alt: A robot`, that a reader sees; None of other lines."""
    option = OPTION.match(source[start:end])
    if option is None or option["name"] not in _SHOWN_OPTIONS or not option["value"].strip():
        return None
    return _paragraph(source, (start + option.start("value"), end))


def picture(source: str, start: int, end: int, alt: Range | None = None) -> Element:
    """The picture that a directive names."""
    places = [("src", (start, end)), *([("alt", alt)] if alt else [])]
    attributes = tuple(Attribute(name, source[a:b].strip(), a, b) for name, (a, b) in places)
    return Element(Tag("img", start, end, attributes, self_closing=True), start, end)


def _directive(block: Code, match: re.Match[str], source: str) -> list[Block]:
    name = match[1].lower()
    if name in _UNSEEN:
        return []
    lines = [
        (block.content_start + a, block.content_start + b)
        for a, b in line_ranges(source[block.content_start : block.content_end])
    ]
    options = 0
    while options < len(lines) and OPTION.match(source[slice(*lines[options])]):
        options += 1
    shown: list[Block] = [found for line in lines[:options] if (found := shown_option(source, *line)) is not None]
    rest = lines[options:]
    while rest and not source[slice(*rest[0])].strip():
        rest = rest[1:]
    maker = _MAKERS.get(name)
    if maker is None:
        return [*shown, *_code(block, source, lines[:options], rest)]
    title_at = source.find(block.info, block.start) + match.start(2)
    if name == "image":
        return [picture(source, title_at, title_at + len(match[2]), (shown[0].start, shown[0].end) if shown else None)]
    title = [_paragraph(source, (title_at, title_at + len(match[2])))] if match[2].strip() else []
    return [*title, *shown, *maker(block, source, lines[:options], rest)]


def _code(block: Code, source: str, options: Sequence[Range], rest: Sequence[Range]) -> list[Block]:
    """Code without the options before it; in a container, where lines are indented, as it stands."""
    if not options or block.text != source[block.content_start : block.content_end]:
        return [block]
    start = rest[0][0] if rest else block.content_end
    return [Code(source[start : block.content_end], block.info, block.start, block.end, start, block.content_end)]


def _math(block: Code, source: str, _options: Sequence[Range], rest: Sequence[Range]) -> list[Block]:
    return [Math(Placed.of(source, rest).stripped(), block.start, block.end)] if rest else []


def _text(_block: Code, source: str, _options: Sequence[Range], rest: Sequence[Range]) -> list[Block]:
    """A paragraph for each run of lines: the terms of a glossary with their definitions."""
    runs: list[list[Range]] = [[]]
    for line in rest:
        if source[slice(*line)].strip():
            runs[-1].append(line)
        elif runs[-1]:
            runs.append([])
    return [_paragraph(source, *run) for run in runs if run]


def _list_table(block: Code, source: str, options: Sequence[Range], rest: Sequence[Range]) -> list[Block]:
    """A table written as a list of lists: `* -` starts a row, `-` a cell, other lines go on with it."""
    rows: list[list[list[Range]]] = []
    for start, end in rest:
        cell = _LIST_CELL.match(source, start, end)
        if cell is not None and (cell[1] or rows):
            if cell[1]:
                rows.append([])
            rows[-1].append([(cell.end(), end)])
        elif rows and rows[-1] and source[start:end].strip():
            rows[-1][-1].append((start + len(source[start:end]) - len(source[start:end].lstrip()), end))
    cells = [[Placed.of(source, ranges).stripped() for ranges in row] for row in rows]
    return _table(block, source, options, cells)


def _csv_table(block: Code, source: str, options: Sequence[Range], rest: Sequence[Range]) -> list[Block]:
    header = next((line for line in options if source[slice(*line)].lstrip().startswith(":header:")), None)
    rows = _csv_rows(Placed.of(source, rest))
    if header is not None:
        start = source.index(":header:", *header) + len(":header:")
        return _table(block, source, options, [*_csv_rows(Placed.of(source, [(start, header[1])])), *rows], headers=1)
    return _table(block, source, options, rows)


def _csv_rows(body: Placed) -> list[list[Placed]]:
    """The rows of comma-separated values that hold anything; a quoted cell may go on in the next line."""
    rows: list[list[Placed]] = [[]]
    for match in _CSV_CELL.finditer(body.text):
        group = "quoted" if match["quoted"] is not None else "plain"
        # Of two quotation marks in a quoted cell the reader sees one.
        cuts = [one.end() - 1 for one in _CSV_QUOTE.finditer(match[group])] if group == "quoted" else []
        places = [match.start(group), *(match.start(group) + cut for cut in cuts), match.end(group)]
        parts = [body.cut(start + bool(number), end) for number, (start, end) in enumerate(pairwise(places))]
        rows[-1].append(joined(parts).stripped())
        if match["end"] != ",":
            rows.append([])
    return [row for row in rows if any(cell.text for cell in row)]


def _table(
    block: Code, source: str, options: Sequence[Range], rows: list[list[Placed]], headers: int | None = None
) -> list[Block]:
    if headers is None:
        given = next(
            (text for line in options if (text := source[slice(*line)].strip()).startswith(":header-rows:")), ""
        )
        headers = 1 if given[len(":header-rows:") :].strip() not in {"", "0"} else 0
    rows = [row for row in rows if row]
    header, body = (rows[0], rows[1:]) if headers and rows else ([], rows)
    if not header and not body:
        return []
    places = [(row[0].at(0), row[-1].end(len(row[-1].text))) for row in body]
    return [Table(header, body, [""] * len(rows[0]), places, block.start, block.end)]


def _paragraph(source: str, *ranges: Range) -> Paragraph:
    body = Placed.of(source, ranges).stripped()
    return Paragraph(body, body.at(0), body.end(len(body.text)))


_MAKERS: dict[str, Callable[[Code, str, Sequence[Range], Sequence[Range]], list[Block]]] = {
    "math": _math,
    "glossary": _text,
    "image": _code,
    "list-table": _list_table,
    "csv-table": _csv_table,
}
