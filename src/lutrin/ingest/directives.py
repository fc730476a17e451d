"""Directives: names of boxes, tabs and the like, and MyST's fences for tables, formulas or navigation."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from lutrin.ingest.makers import BOXES, DIRECTIVES
from lutrin.ingest.placed_text import PlacedText, Range, join, line_ranges, trim
from lutrin.ingest.styles import are_hiding
from lutrin.ingest.tree import Attribute, Block, Code, Element, Math, Paragraph, Table, Tag

_COLONS = re.compile(
    r"(:{3,}+)[ \t]*(?:\{(?P<braced>[\w:-]+)\}|\{(?P<attributes>(?:[.#]|[\w-]+=)[^{}]*)\}"
    r"|(?P<plain>[A-Za-z][\w-]*))[ \t]*(?P<rest>.*)\Z",
    re.DOTALL,
)
_INDENTED = re.compile(
    r"(?:(?:!!!|\?\?\?\+?)[ \t]++(?P<name>[A-Za-z][\w-]*+)(?:[ \t]++[\w-]++)*+[ \t]*+(?:\"(?P<title>[^\"]*+)\")?"
    r"|===[+!]?[ \t]++\"(?P<tab>[^\"]++)\")[ \t]*+\Z"
)
_FENCED = re.compile(r"(?:\{(?P<braced>[\w:-]+)\}|admonish[ \t]+(?P<plain>\w+))[ \t]*(?P<rest>.*)\Z", re.DOTALL)
_LABEL = re.compile(r"\[(.*)\][ \t]*+(?:\{[^{}]*+\})?[ \t]*+\Z", re.DOTALL)
_ATTRIBUTES = re.compile(r"\{[^{}]*\}[ \t]*\Z")
_CLASS = re.compile(r"(?<![\w-])\.([\w-]+)")
_CONTENT = re.compile(r"\.content-(hidden|visible)\b")
_FORMAT = re.compile(r"\b(when|unless)-format=\"?([\w:-]+)")
_TITLE = re.compile(r"title=\"([^\"]*)\"")
UNSEEN = "unseen"
"""Class of a directive that the built page does not show."""
OPTION = re.compile(r"[ \t]*:(?P<name>[A-Za-z][\w-]*):(?P<value>.*)\Z", re.DOTALL)
LOOKS_LIKE_MYST = re.compile(r"^[ \t]*(?:`{3,}|:{3,}|~{3,})\{[a-z][\w:-]*\}|^\([\w:.-]+\)=[ \t]*\r?$", re.MULTILINE)
UNSEEN_LINE = re.compile(r"%|\+\+\+|\([\w:.-]+\)=[ \t]*\Z")
"""A comment, a break between cells, the label of the next block: all invisible on a page of MyST."""
_DIRECTIVE = re.compile(r"\{([\w:-]+)\}[ \t]*(.*)\Z", re.DOTALL)
_LIST_CELL = re.compile(r"[ \t]*(\*[ \t]+)?-(?:[ \t]+|\Z)")
_CSV_CELL = re.compile(
    r"""[ \t]*(?:"(?P<quoted>(?:[^"]|"")*+)"[ \t]*(?=[,\n]|\Z)|(?P<plain>[^,\n]*))(?P<end>[,\n]|\Z)"""
)
_CSV_QUOTE = re.compile('""')


# Boxes --------------------------------------------------------------------------------------------------------------


def colons(line: str) -> tuple[str, str, int, int] | None:
    """Fence, class and title (start and end in `line`) of `:::note[Title]`, `:::note Title` or `:::{note} Title`.

    An unknown word after the colons is visible text, so it becomes part of the title; the class is empty.
    """
    match = _COLONS.match(line)
    if match is None:
        return None
    if match["attributes"]:
        return match[1], *_of_attributes(match, line)
    name = match["braced"] or match["plain"]
    start, end = _title(line, match.start("rest"), match.end("rest"))
    if match["braced"] is None and name.lower() not in BOXES and name.lower() not in DIRECTIVES["holders"]:
        return match[1], "", match.start("plain"), end
    return match[1], *_name_of(name, start, end)


def _of_attributes(match: re.Match[str], line: str) -> tuple[str, int, int]:
    """Class and title of Pandoc's and Quarto's `::: {.callout-note title="Mind"}`."""
    end = match.end("attributes")
    if _is_unseen(match["attributes"]):
        return UNSEEN, end, end
    classes = [name.removeprefix("callout-") for name in _CLASS.findall(match["attributes"])] or ["div"]
    title = _TITLE.search(line, *match.span("attributes"))
    name = next((BOXES[name] for name in classes if name in BOXES), " ".join(classes))
    return name, *(title.span(1) if title else (end, end))


def _is_unseen(attributes: str) -> bool:
    """Whether a block is hidden, or left out of HTML by Quarto; other conditions count as visible.

    >>> _is_unseen('.content-visible when-format="pdf"'), _is_unseen(".content-hidden"), _is_unseen(".callout-note")
    (True, True, False)
    """
    if are_hiding(attributes):
        return True
    kind = _CONTENT.search(attributes)
    if kind is None or "-meta=" in attributes or "-profile=" in attributes:
        return False
    when = _FORMAT.search(attributes)
    is_meant = when is None or ("html" in when[2]) == (when[1] == "when")
    return is_meant == (kind[1] == "hidden")


def read_indented(line: str) -> tuple[str, int, int] | None:
    """Class and title of Material's `!!! note "Title"`, `??? question` and `=== "Tab"`, whose text is indented."""
    match = _INDENTED.match(line)
    if match is None:
        return None
    if match["tab"]:
        return "tab", *match.span("tab")
    name = match["name"].lower()
    return BOXES.get(name, name), max(0, match.start("title")), max(0, match.end("title"))


def read_fenced(info: str) -> tuple[str, int, int] | None:
    """Class and title (start and end in `info`) of fences that contain text, in the form of MyST and mdBook.

    >>> read_fenced("{note} Title"), read_fenced('admonish danger title="Care"')
    (('note', 7, 12), ('danger', 23, 27))
    """
    match = _FENCED.match(info)
    name: str = (match["braced"] or match["plain"]) if match is not None else ""
    if match is None or (name not in BOXES and name not in DIRECTIVES["holders"]):
        return None
    title = _TITLE.fullmatch(info.rstrip(), match.start("rest"))
    return _name_of(name, *(title.span(1) if title else _title(info, match.start("rest"), len(info))))


def _name_of(name: str, start: int, end: int) -> tuple[str, int, int]:
    name = name.lower()
    return BOXES.get(name, name), start, start if name in DIRECTIVES["untitled"] else end


def _title(line: str, start: int, end: int) -> Range:
    label = _LABEL.match(line, start, end)
    if label is not None:
        return label.span(1)
    attributes = _ATTRIBUTES.search(line, max(start, end - 200), end)
    return start, attributes.start() if attributes else end


# MyST's fences ------------------------------------------------------------------------------------------------------


def shown_option(source: str, start: int, end: int) -> Paragraph | None:
    """The visible text of an option line, `:alt: A robot`; None for other lines."""
    option = OPTION.match(source[start:end])
    if option is None or option["name"] not in {"caption", "alt"} or not option["value"].strip():
        return None
    return _paragraph(source, (start + option.start("value"), end))


def picture(source: str, start: int, end: int, alt: Range | None = None) -> Element:
    """The picture named by a directive."""
    places = [("src", (start, end)), *([("alt", alt)] if alt else [])]
    attributes = tuple(Attribute(name, source[a:b].strip(), a, b) for name, (a, b) in places)
    return Element(start, end, Tag(start, end, "img", attributes, self_closing=True))


def expand(block: Block, source: str) -> list[Block]:
    """The visible content of a MyST block that may be a directive."""
    match = _DIRECTIVE.match(block.info) if isinstance(block, Code) else None
    if match is None or not isinstance(block, Code):
        return [block]
    name = match[1].lower()
    if name in DIRECTIVES["unseen"]:
        return []
    begin = block.content_start
    rest = [(begin + a, begin + b) for a, b in line_ranges(source[begin : block.content_end])]
    options: list[Range] = []
    while rest and OPTION.match(source[slice(*rest[0])]):
        options.append(rest.pop(0))
    extra: list[Block] = [option for line in options if (option := shown_option(source, *line)) is not None]
    while rest and not source[slice(*rest[0])].strip():
        del rest[0]
    title_at = source.find(block.info, block.start) + match.start(2)
    title = (title_at, title_at + len(match[2]))
    if name == "image":
        return [picture(source, *title, (extra[0].start, extra[0].end) if extra else None)]
    maker = _MAKERS.get(name)
    if maker is None:
        return [*extra, _code(block, source, options, rest)]
    return [*([_paragraph(source, title)] if match[2].strip() else []), *extra, *maker(block, source, options, rest)]


def _code(block: Code, source: str, options: Sequence[Range], rest: Sequence[Range]) -> Code:
    """Code without the options before it; inside an indented container, as written."""
    end = block.content_end
    if not options or block.text != source[block.content_start : end]:
        return block
    start = rest[0][0] if rest else end
    return Code(block.start, block.end, source[start:end], block.info, start, end)


def _math(block: Code, source: str, _options: Sequence[Range], rest: Sequence[Range]) -> list[Block]:
    return [Math(block.start, block.end, PlacedText.of(source, rest).strip())] if rest else []


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
    """A table written as a list of lists: `* -` starts a row, `-` a cell, other lines continue it."""
    rows: list[list[list[Range]]] = []
    for start, end in rest:
        cell = _LIST_CELL.match(source, start, end)
        if cell is not None and (cell[1] or rows):
            if cell[1]:
                rows.append([])
            rows[-1].append([(cell.end(), end)])
        elif rows and rows[-1] and source[start:end].strip():
            rows[-1][-1].append((trim(source, start, end)[0], end))
    return _table(block, source, options, [[PlacedText.of(source, cell).strip() for cell in row] for row in rows])


def _csv_table(block: Code, source: str, options: Sequence[Range], rest: Sequence[Range]) -> list[Block]:
    header = next((line for line in options if source[slice(*line)].lstrip().startswith(":header:")), None)
    rows = _csv_rows(PlacedText.of(source, rest))
    if header is not None:
        start = source.index(":header:", *header) + len(":header:")
        rows = _csv_rows(PlacedText.of(source, [(start, header[1])])) + rows
    return _table(block, source, options, rows, headed=header is not None)


def _csv_rows(body: PlacedText) -> list[list[PlacedText]]:
    """The non-empty rows of comma-separated values; a quoted cell may continue on the next line."""
    rows: list[list[PlacedText]] = [[]]
    for match in _CSV_CELL.finditer(body.text):
        group = "quoted" if match["quoted"] is not None else "plain"
        # A doubled quotation mark in a quoted cell stands for one.
        cuts = [one.end() - 1 for one in _CSV_QUOTE.finditer(match[group])] if group == "quoted" else []
        places = [match.start(group), *(match.start(group) + cut for cut in cuts), match.end(group)]
        parts = [body.cut(start + bool(number), end) for number, (start, end) in enumerate(pairwise(places))]
        rows[-1].append(join(parts).strip())
        if match["end"] != ",":
            rows.append([])
    return [row for row in rows if any(cell.text for cell in row)]


def _table(
    block: Code, source: str, options: Sequence[Range], rows: list[list[PlacedText]], *, headed: bool = False
) -> list[Block]:
    heads = next((text for line in options if (text := source[slice(*line)].strip()).startswith(":header-rows:")), "")
    headed = headed or heads[len(":header-rows:") :].strip() not in {"", "0"}
    rows = [row for row in rows if row]
    if not rows:
        return []
    header, body = (rows[0], rows[1:]) if headed else ([], rows)
    places = [(row[0].at(0), row[-1].place[1]) for row in body]
    return [Table(block.start, block.end, header, body, [""] * len(rows[0]), places)]


def _paragraph(source: str, *ranges: Range) -> Paragraph:
    return Paragraph.of(PlacedText.of(source, ranges).strip())


_MAKERS: dict[str, Callable[[Code, str, Sequence[Range], Sequence[Range]], list[Block]]] = {
    "math": _math,
    "glossary": _text,
    "list-table": _list_table,
    "csv-table": _csv_table,
}
