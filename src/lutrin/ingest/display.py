"""Texts of an answer as trees for a page to draw: from the parser that reads the books, so that both have one grammar.

A tree is a value: blocks and inlines, no HTML (`lutrin.records.Block`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from itertools import groupby

from mistune.util import unikey

from lutrin.ingest import tree
from lutrin.ingest.blocks import split_row
from lutrin.ingest.dialects import LEFT_OUT
from lutrin.ingest.inline import MARKED, Reader, Token, plain_text
from lutrin.ingest.makers import BOXES, NAMED
from lutrin.ingest.markdown import Page
from lutrin.ingest.masks import FILLER
from lutrin.ingest.placed_text import PlacedText, Range, line_ranges
from lutrin.ingest.script import attribute_texts, script_texts
from lutrin.ingest.wording import code_title, language_of, whole
from lutrin.records import (
    Block,
    CodeBlock,
    Deletion,
    Emphasis,
    Formula,
    Heading,
    Inline,
    InlineCode,
    LineBreak,
    Link,
    Listing,
    ListItem,
    Mark,
    Marker,
    Paragraph,
    Picture,
    Quotation,
    Rule,
    Strong,
    Table,
)

LONGEST = 40_000
"""Characters of a text that are parsed. Answers are short; a longer text is a mistake."""
_LIST_INDENT = 4
"""Columns from which a line would be code, if it were not in an item of a list."""
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")
_LESS_THAN = "\ue000"
"""Stands for `<` in text that has no tags, while it is parsed; no font has this character."""
_FOLLOWED = re.compile(r"(?:https?://|mailto:)\S")
_ADDRESS_END = ".,:;!?)*_~"
_SPECIAL = re.compile(r"\[(?P<n>\d{1,3})\](?![(\[])|(?P<address>https?://[^\s<>\"'`\]]+)")
"""The marker of a source, and an address in running text."""
_TASK = re.compile(r"\[([ xX])\] (?=\S)")
_LABELLED = re.compile(r"(?<=\])\[([\w .:-]*)\]|\[([^\[\]]+)\]\[\]")
"""A link by a label, which is defined elsewhere in the file."""
_CONDITION = re.compile(r"[ \t]*\{[#:/][^{}]*\}[ \t]*")
"""A line that a site generator replaces; its other end may be outside of an excerpt."""
_TITLE_END = re.compile(r"([^\[\]\n]+)\][ \t]*(?:\n|\Z)")
"""What is left of a box's first line in an excerpt that begins with its title."""
_BAR = re.compile(r"\s\|(?:\s|\Z)")
_STYLED: Mapping[str, type[Strong | Emphasis | Deletion]] = {
    "strong": Strong,
    "emphasis": Emphasis,
    "strike": Deletion,
}


def statement_blocks(text: str, *, has_markers: bool = True) -> tuple[Block, ...]:
    """What an answer, or a sentence of one, consists of: Markdown without HTML.

    Args:
        text: Its text.
        has_markers: Whether `[n]` means a source.

    >>> statement_blocks("So *it* is. [2]")
    (Paragraph(children=('So ', Emphasis(children=('it',)), ' is. ', Marker(n=2))),)
    """
    plain = text[:LONGEST].replace(_LESS_THAN, "\ufffd").replace("<", _LESS_THAN)
    return _Display(PlacedText.of(plain, [(0, len(plain))]), has_markers=has_markers).tree


def quotation_blocks(
    text: str, marks: Sequence[Range] = (), header: Sequence[str] = (), filename: str = "page.md"
) -> tuple[Block, ...]:
    """What an excerpt of a source file consists of.

    Args:
        text: A part of the file, from the first character of a unit to the last one of another.
        marks: The words that answer, start and end in `text`; all of it is not marked.
        header: Cells of the header if it begins with rows of a table.
        filename: Its suffix says how to read the text.

    >>> quotation_blocks("A **node** is one.", [(0, 10)])
    (Paragraph(children=(Mark(children=('A ',)), Strong(children=(Mark(children=('node',)),)), ' is one.')),)
    """
    parts = [(start, end) for start, end in marks if start > 0 or end < len(text)]
    return _Display(_standing_alone(text[:LONGEST]), filename, parts, header).tree


def _standing_alone(text: str) -> PlacedText:
    """An excerpt without the indentation that all its lines but the first have within an item of a list."""
    lines = list(_shown_lines(text))
    margins = [(len(line) - len(line.lstrip()), line) for start, end in lines if (line := text[start:end]).strip()]
    fence = next((margin for margin, line in margins if _FENCE.match(line)), None)
    indent = min((margin for margin, _ in margins[1:]), default=0) if fence is None else fence
    if indent < _LIST_INDENT:
        indent = 0

    def inside(start: int, end: int) -> Range:
        line = text[start:end]
        return start + min(indent, len(line) - len(line.lstrip())), end

    return PlacedText.of(text, [inside(*line) for line in lines])


def _shown_lines(text: str) -> Iterator[Range]:
    """The lines of an excerpt without those that a site generator replaces."""
    is_code = False
    for start, end in line_ranges(text):
        is_code ^= _FENCE.match(text, start, end) is not None
        if is_code or not _CONDITION.fullmatch(text, start, end):
            yield start, end


@dataclass(slots=True)
class _Text:
    """Plain text that stands together in the source, up to `end` there (-1: it is not written so)."""

    text: str
    is_marked: bool
    end: int


class _Words(Reader):
    """Makes inlines of what a reader sees of one paragraph, heading or cell."""

    def __init__(self, display: "_Display", body: PlacedText, marked: bytes, *, in_cell: bool = False) -> None:
        super().__init__(body.text, display.page.values, attributes=True)
        self.marked = marked
        """One byte for each character, 1 in a mark; empty if nothing is marked."""
        self.has_markers = display.has_markers
        self.in_cell = in_cell
        self.nodes: list[Inline | _Text] = []
        self.walk(display.page.inline.tokens(body.text))

    @property
    def inlines(self) -> tuple[Inline, ...]:
        """The pieces in order."""
        return tuple(self._finish(self.nodes))

    def is_marked(self, begin: int, end: int) -> bool:
        """Whether any of these characters is marked."""
        return 1 in self.marked[begin:end]

    def put(self, visible: str, begin: int, end: int, *, exact: bool = False) -> None:
        """Add plain text, in pieces that are marked or not; what is not written so is marked as a whole."""
        super().put(visible, begin, end, exact=exact)
        if not exact:
            self._add(visible, -1, is_marked=self.is_marked(begin, max(end, begin + 1)))
            return
        flags = self.marked[begin:end] or bytes(len(visible))
        at = begin
        for flag, group in groupby(flags):
            length = len(list(group))
            self._add(visible[at - begin : at - begin + length], at + length, is_marked=bool(flag))
            at += length

    def _add(self, text: str, end: int, *, is_marked: bool) -> None:
        last = self.nodes[-1] if self.nodes else None
        is_next = isinstance(last, _Text) and last.is_marked == is_marked and last.end == end - len(text)
        if is_next and isinstance(last, _Text) and end >= 0:
            last.text, last.end = last.text + text, end
        else:
            self.nodes.append(_Text(text, is_marked, end))

    def token(self, token: Token) -> None:
        """Add a token, styled as its kind says."""
        kind = token["type"]
        if kind == "strike":  # which a quote leaves out, and a page shows as such
            self.nest(token, kind)
            self.cursor = max(self.cursor, token["span"][1])
        elif kind == "linebreak":
            self._hold(lambda: super(_Words, self).token(token))
            self.nodes.append(LineBreak())
        else:
            super().token(token)

    def nest(self, token: Token, kind: str) -> None:
        """Add what is inside a link, picture or emphasis."""
        begin = self.cursor
        inside = self._hold(lambda: super(_Words, self).nest(token, kind))
        if kind == "image":
            if alt := plain_text(token["children"]):
                self._append(Picture(alt), begin, token.get("span", (begin, begin))[1])
            return
        if not inside:
            return
        href = unescape(token["attrs"]["url"]).strip() if kind == "link" else ""
        if kind in _STYLED:
            self.nodes.append(_STYLED[kind](tuple(self._finish(inside))))
        elif _FOLLOWED.match(href):
            self.nodes.append(Link(href, tuple(self._finish(inside, is_linked=True))))
        else:
            self.nodes += inside

    def code(self, raw: str, begin: int, end: int) -> None:
        """Add code, marked as a whole."""
        self._hold(lambda: super(_Words, self).code(raw, begin, end))
        text = raw.replace("\\|", "|") if self.in_cell else raw
        self._append(InlineCode(_plain(text)), begin, end)

    def formula(self, raw: str, begin: int, end: int) -> None:
        """Add a formula, marked as a whole."""
        self._hold(lambda: super(_Words, self).formula(raw, begin, end))
        is_display = self.text.startswith(("$$", "\\[", "\\\\["), begin)
        self._append(Formula(_plain(raw.strip()), is_display), begin, end)

    def tag(self, token: Token, begin: int, end: int) -> None:
        """Add a picture, a line break, or the text that a tag shows."""
        tag = token["tag"]
        shown = self._hold(lambda: super(_Words, self).tag(token, begin, end))
        if tag.name.lower() == "img":
            if alt := tag.attribute("alt"):
                self._append(Picture(alt), begin, end)
        elif tag.name.lower() == "br":
            self.nodes.append(LineBreak())
        else:
            self.nodes += shown

    def _append(self, node: Inline, begin: int, end: int) -> None:
        self.nodes.append(Mark((node,)) if self.is_marked(begin, end) else node)

    def _hold(self, add: Callable[[], None]) -> list[Inline | _Text]:
        """What something adds, without adding it."""
        outer, self.nodes = self.nodes, []
        add()
        inner, self.nodes = self.nodes, outer
        return inner

    def _finish(self, nodes: Sequence[Inline | _Text], *, is_linked: bool = False) -> Iterator[Inline]:
        """Inlines, with the markers and, outside of a link, the addresses of plain text."""
        for is_marked, group in groupby(nodes, lambda node: node.is_marked if isinstance(node, _Text) else None):
            if is_marked is None:
                yield from (node for node in group if not isinstance(node, _Text))
                continue
            texts = [_plain(node.text) for node in group if isinstance(node, _Text)]
            children = tuple(_joined(part for one in texts for part in ([one] if is_linked else self._special(one))))
            if is_marked:
                yield Mark(children)
            else:
                yield from children

    def _special(self, text: str) -> Iterator[Inline]:
        done = 0
        for match in _SPECIAL.finditer(text):
            node: Inline
            if match["n"] is not None:
                if not self.has_markers:
                    continue
                node, end = Marker(int(match["n"])), match.end()
            else:
                address = match["address"].rstrip(_ADDRESS_END)
                node, end = Link(address, (address,)), match.start() + len(address)
            if match.start() > done:
                yield text[done : match.start()]
            yield node
            done = end
        if done < len(text):
            yield text[done:]


def _are_rows(lines: Sequence[str]) -> bool:
    """Whether lines are rows of a table: between bars, or with bars between cells, of which one line alone ends in one.

    >>> _are_rows(["| a | b |"]), _are_rows(["a | b"]), _are_rows(["a | b", "c | d"]), _are_rows(["a | b |"])
    (True, False, True, True)
    """
    if all(len(line) > 1 and line[0] == line[-1] == "|" for line in lines):
        return True
    return (len(lines) > 1 or lines[0].endswith("|")) and all(map(_BAR.search, lines))


def _joined(nodes: Iterable[Inline]) -> Iterator[Inline]:
    """Inlines with neighbouring strings joined."""
    for is_text, group in groupby(nodes, lambda node: isinstance(node, str)):
        if is_text:
            yield "".join(node for node in group if isinstance(node, str))
        else:
            yield from group


def _plain(text: str) -> str:
    """Text as its author wrote it."""
    return text.replace(_LESS_THAN, "<").replace(FILLER, "")


class _Display:
    """Turns the blocks of a parsed text into a tree."""

    def __init__(
        self,
        text: PlacedText,
        filename: str = "",
        marks: Sequence[Range] = (),
        header: Sequence[str] = (),
        *,
        has_markers: bool = False,
    ) -> None:
        # Below an empty line, for a text that begins with a rule has no front matter.
        self.page = Page(f"\n{text.text}", filename)
        self.has_markers = has_markers
        self._is_quotation = bool(filename)
        for label in {label for pair in _LABELLED.findall(text.text) for label in pair if label and filename}:
            self.page.references.setdefault(unikey(label), {"url": "", "label": label, "title": ""})
        self._header = header
        self._marked = b""
        """One byte for each character of the page, 1 in a mark; empty if nothing is marked."""
        if marks:
            size = max(text.end(len(text.text)), *(end for _, end in marks))
            flags = bytearray(size + 1)
            for start, end in marks:
                flags[start:end] = b"\1" * (end - start)
            self._marked = b"\0" + _along(text, bytes(flags))
        self.tree = tuple(self.blocks(self.page.blocks))

    def flags_of(self, body: PlacedText) -> bytes:
        """One byte for each character of a text of the page, 1 in a mark; empty if nothing is marked."""
        return _along(body, self._marked) if self._marked else b""

    def inlines(self, body: PlacedText, *, in_cell: bool = False) -> tuple[Inline, ...]:
        """What a reader sees of inline text."""
        return _Words(self, body, self.flags_of(body), in_cell=in_cell).inlines

    def blocks(self, blocks: Sequence[tree.Block]) -> Iterator[Block]:
        """Blocks in reading order; those that show nothing are left out."""
        for block in blocks:
            yield from getattr(self, f"_{type(block).__name__.lower()}")(block)

    def _paragraph(self, block: tree.Paragraph) -> Iterator[Block]:
        lines = block.body.text.split("\n")
        if _are_rows([line.strip() for line in lines]):
            yield self._rows(block.body)
            return
        body = block.body
        is_first = self._is_quotation and block is self.page.blocks[0]
        if is_first and (title := _TITLE_END.match(body.text)):
            yield Paragraph((Strong(self.inlines(body.cut(*title.span(1)))),))
            body = body.cut(title.end(), len(body.text))
        if children := self.inlines(body):
            yield Paragraph(children)

    def _rows(self, body: PlacedText) -> Table:
        """Rows of a table whose header is elsewhere."""
        rows = []
        for start, end in line_ranges(body.text):
            cells = (body.cut(*cell) for cell in split_row(body.text, start, end))
            rows.append(tuple(self.inlines(cell, in_cell=True) for cell in cells))
        is_known = len(self._header) == max(map(len, rows))
        return Table(tuple((name,) for name in self._header) if is_known else (), tuple(rows))

    def _heading(self, block: tree.Heading) -> Iterator[Block]:
        if children := self.inlines(block.body):
            yield Heading(children)

    def _code(self, block: tree.Code) -> Iterator[Block]:
        if title := code_title(block.info, tab=False):
            yield Paragraph((Strong((title[title.lastindex or 1],)),))
        yield CodeBlock(tuple(_joined(self._code_lines(block))), language_of(block.info))

    def _code_lines(self, block: tree.Code) -> Iterator[Inline]:
        """Code, marked line by line, without the indentation of the first and the line end."""
        at = block.content_start
        for line in block.text.splitlines(keepends=True):
            at = max(at, self.page.source.find(line.rstrip("\r\n"), at))
            flags = self._marked[at : at + len(line)].ljust(len(line), b"\0")
            at += len(line)
            bare = line.rstrip()
            start = next((n for n in range(len(line) - len(line.lstrip()), len(bare)) if flags[n]), None)
            if start is None:
                yield _plain(line)
                continue
            end = max(n for n in range(len(bare)) if flags[n]) + 1
            yield from (_plain(line[:start]), Mark((_plain(line[start:end]),)), _plain(line[end:]))

    def _math(self, block: tree.Math) -> Iterator[Block]:
        formula = Formula(_plain(block.body.text), display=True)
        yield Paragraph((Mark((formula,)) if 1 in self.flags_of(block.body) else formula,))

    def _table(self, block: tree.Table) -> Iterator[Block]:
        def row(cells: Sequence[PlacedText]) -> tuple[tuple[Inline, ...], ...]:
            return tuple(self.inlines(cell, in_cell=True) for cell in cells[: len(block.header)])

        width = len(block.header)
        yield Table(row(block.header), tuple((*row(cells), *[()] * (width - len(cells))) for cells in block.rows))

    def _rule(self, _block: tree.Rule) -> Iterator[Block]:
        yield Rule()

    def _script(self, block: tree.Script) -> Iterator[Block]:
        if not block.module:
            for item in script_texts(self.page.source, block.start + 1, block.end - 1):
                yield Paragraph((item.text,))

    def _quote(self, block: tree.Quote) -> Iterator[Block]:
        yield Quotation(tuple(self.blocks(block.children)))

    def _note(self, block: tree.Note) -> Iterator[Block]:
        yield from self.blocks(block.children)

    def _listing(self, block: tree.Listing) -> Iterator[Block]:
        numbers = block.numbers(written=self.page.plain) if block.delimiter in ".)" else [None] * len(block.items)
        items = zip(block.items, numbers, strict=True)
        yield Listing(tuple(self._item(item.children, number) for item, number in items))

    def _item(self, children: Sequence[tree.Block], number: int | None) -> ListItem:
        first = children[0] if children else None
        task = _TASK.match(first.body.text) if isinstance(first, tree.Paragraph) else None
        if task and isinstance(first, tree.Paragraph):
            children = [tree.Paragraph.of(first.body.cut(task.end(), len(first.body.text))), *children[1:]]
        return ListItem(number=number, checked=task[1] != " " if task else None, blocks=tuple(self.blocks(children)))

    def _admonition(self, block: tree.Admonition) -> Iterator[Block]:
        kind = next((NAMED[name] for name in block.name.split() if name in NAMED), "")
        if block.title is not None:
            yield self._box(self.inlines(block.title), block.children)
        elif kind or block.name in BOXES.values():
            yield self._box((kind or block.name.capitalize(),), block.children)
        else:
            yield from self.blocks(block.children)

    def _box(self, title: tuple[Inline, ...], children: Sequence[tree.Block]) -> Block:
        return Quotation((Paragraph((Strong(title),)), *self.blocks(children)))

    def _element(self, block: tree.Element) -> Iterator[Block]:
        name = block.tag.name.lower()
        items = [child for child in block.children if isinstance(child, tree.Element)]
        if name == "img":
            if alt := block.tag.attribute("alt"):
                yield Paragraph((Picture(alt),))
        elif name == "table" and (rows := tree.rows_of(block)):
            yield self._grid(rows)
        elif name in {"ol", "ul"} and items:
            first = whole(block.tag.attribute("start"), 1)
            numbers = [first + place if name == "ol" else None for place in range(len(items))]
            yield Listing(tuple(self._item(one.children, n) for one, n in zip(items, numbers, strict=True)))
        elif block.tag.name != LEFT_OUT:
            yield from self._component(block)

    def _label(self, text: str) -> tuple[Inline, ...]:
        """A string that a component shows, which may hold Markdown's marks."""
        body = PlacedText.of(text, [(0, len(text))])
        return _Words(self, body, b"").inlines if MARKED.search(text) else (text,)

    def _grid(self, rows: Sequence[tuple[tree.Element, bool]]) -> Table:
        """A table in HTML; a row of heads alone is its header."""
        cells = [[self.inlines(cell.body) for cell in tree.cells_of(row)] for row, _ in rows]
        tags = {child.tag.name for child in rows[0][0].children if isinstance(child, tree.Element)}
        heads = 1 if rows[0][1] or tags == {"th"} else 0
        return Table(tuple(cells[0]) if heads else (), tuple(map(tuple, cells[heads:])))

    def _component(self, block: tree.Element) -> Iterator[Block]:
        labels = tuple(Paragraph(self._label(item.text)) for item in attribute_texts(block.tag))
        inside = (*labels, *self.blocks(block.children))
        callout = tree.callout_of(block.tag)
        if callout or block.tag.name == "blockquote":
            title = () if labels or not callout else (Paragraph((Strong((callout.capitalize(),)),)),)
            yield Quotation((*title, *inside))
        elif tree.HEADED.fullmatch(block.tag.name) and block.only_text is not None:
            yield Heading(self.inlines(block.only_text.body))
        elif block.tag.name == "dt" and block.only_text is not None:
            yield Paragraph((Strong(self.inlines(block.only_text.body)),))
        else:
            yield from inside


def _along(text: PlacedText, flags: bytes) -> bytes:
    """The flags of a text's characters, given those of the characters of its source."""
    ends = [*text.starts[1:], len(text.text)]
    return b"".join(
        flags[origin : origin + end - start].ljust(end - start, b"\0")
        for start, end, origin in zip(text.starts, ends, text.origins, strict=True)
    )
