"""From the blocks of a page to its sections: headings, and under them the units that can be quoted."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from lutrin.ingest import tree
from lutrin.ingest.anchors import Slugger
from lutrin.ingest.drafts import Draft, Where, finish_sections
from lutrin.ingest.frontmatter import FrontText
from lutrin.ingest.grids import Cell, grid_of, spans
from lutrin.ingest.inline import (
    Inline,
    Token,
    Visible,
    anchor_text,
    expression_text,
    plain_text,
    read_visible,
    without_marks,
)
from lutrin.ingest.labels import CAPTION, MARKED_CAPTION
from lutrin.ingest.numerals import numeral, whole
from lutrin.ingest.placed import Placed
from lutrin.ingest.roles import role_of_box, role_of_opening, shape_of
from lutrin.ingest.script import attribute_texts, exported_names, literal_of, script_texts
from lutrin.ingest.sentences import paragraph_ranges, sentence_ranges
from lutrin.ingest.wording import CODE_GROUPS, CODE_TITLE, TAB_TITLE, UNKNOWN, clean, language_of
from lutrin.records import Section, TextRole, Unit

# An item of a list is quoted whole unless it is a small essay.
_LONG_ITEM = 500
_LONG_LEAD = 400
_ENDS = (":", "?", "!", ";")
"""Of a term that needs no colon before its meaning."""


class Outline:
    """Collects the sections of one page; numbers of lists are shown as they stand in the source if `written`."""

    def __init__(
        self,
        source: str,
        title: str,
        inline: Inline,
        *,
        values: dict[str, str],
        shown: frozenset[str],
        role: TextRole | None,
        problem: Callable[[int, str], None],
        written: bool = False,
    ) -> None:
        self.source = source
        self.inline = inline
        self.values = values
        self.shown = shown
        self._role = role
        self._written = written
        self._problem = problem
        self._title = title
        self._slugger = Slugger()
        self._drafts = [Draft(title, 1, (title,), "", 0)]
        self._parents: list[tuple[int, str]] = []
        # The last sentence, which introduces code; and the same if nothing but a list has followed it.
        self._lead = ""
        self._intro = ""

    @property
    def _draft(self) -> Draft:
        return self._drafts[-1]

    def add(self, blocks: Sequence[tree.Block]) -> None:
        """Read the blocks of a page."""
        self._walk(blocks, Where())

    def add_front(self, texts: Sequence[FrontText]) -> None:
        """Put strings of the front matter that the page shows under its title."""
        for item in texts:
            self._draft.add("sentence", clean(item.text), (item.start, item.end), self._draft.new_block(), Where())

    def sections(self, end: int) -> tuple[Section, ...]:
        """The finished sections; `end` is the length of the source."""
        return finish_sections(self._drafts, end, self._role)

    # Blocks ------------------------------------------------------------------------------------------------------

    def _walk(self, blocks: Sequence[tree.Block], where: Where) -> None:
        for block in blocks:
            self._block(block, where)

    def _block(self, block: tree.Block, where: Where) -> None:
        if isinstance(block, tree.Quote | tree.Admonition | tree.Element | tree.Table):
            self._lead = self._intro = ""
        if isinstance(block, tree.Heading):
            self._heading(block, where)
        elif isinstance(block, tree.Paragraph):
            self._paragraph(block, where)
        elif isinstance(block, tree.Code):
            self._code(block, where)
            self._intro = ""
        elif isinstance(block, tree.Math):
            text = clean(block.body.text)
            self._draft.add("sentence", f"$$ {text} $$", (block.start, block.end), self._draft.new_block(), where)
        elif isinstance(block, tree.Table):
            self._table(block, where)
        elif isinstance(block, tree.Listing):
            self._list(block, where)
        elif isinstance(block, tree.Quote):
            self._quote(block, where)
        elif isinstance(block, tree.Admonition):
            self._admonition(block, where)
        elif isinstance(block, tree.Element):
            self._element(block, where)
        elif isinstance(block, tree.Script):
            self._script(block, where)
        if isinstance(block, tree.Quote | tree.Admonition | tree.Table):
            self._lead = self._intro = ""

    def _heading(self, block: tree.Heading, where: Where) -> None:
        tokens = self.inline.tokens(block.body.text)
        visible = read_visible(block.body.text, tokens, self.values, attributes=False)
        text = clean(visible.text)
        anchor = block.anchor or self._slugger.next(anchor_text(tokens))
        if not text:
            return
        if not where.headings:
            place = self._place(block.body, visible, 0, len(visible.text))
            self._draft.add("sentence", text, place, self._draft.new_block(), where)
            return
        page = self._drafts[0]
        first = len(self._drafts) == 1 and (block.level == 1 or not page.units)
        if first and text.casefold() == clean(self._title).casefold():
            return
        while self._parents and self._parents[-1][0] >= block.level:
            self._parents.pop()
        self._parents.append((block.level, text))
        path = (self._title, *(title for _, title in self._parents))
        self._drafts.append(Draft(text, block.level, path, anchor, block.start))
        self._lead = self._intro = ""

    def _paragraph(self, block: tree.Paragraph, where: Where) -> None:
        where = self._inline_callout(block, where)
        tokens = self.inline.tokens(block.body.text)
        visible = read_visible(block.body.text, tokens, self.values)
        if self.inline.take_problem():
            self._problem(block.start, "a brace ({) is never closed and was read as text")
        text = clean(visible.text)
        if not text:
            return
        where = where.within(role_of_opening(text))
        number = self._draft.new_block()
        solid = [t for t in tokens if t["type"] not in {"softbreak", "linebreak", "comment", "note", "aside"}]
        images = all(
            token["type"] == "image" or not token.get("raw", " ").strip() for token in solid if token["type"] != "tag"
        )
        apart = len(solid) == 1 and solid[0]["type"] in {"emphasis", "strong"}
        caption = (MARKED_CAPTION if apart else CAPTION).match(text)
        if images or ((caption or where.caption) and len(text) <= _LONG_ITEM):
            self._draft.add("caption", text, self._place(block.body, visible, 0, len(visible.text)), number, where)
            return
        first = tokens[:1] if tokens[0]["type"] == "strong" else []
        run_in = len(read_visible(block.body.text, first, self.values).text)
        self._sentences(block.body, visible, number, where, run_in=run_in)
        self._asides(block.body, tokens, number, where)

    def _asides(self, body: Placed, tokens: Sequence[Token], number: int, where: Where) -> None:
        """Notes that stand in the midst of a sentence in the file, and below it on the page."""
        for token in tokens:
            if token["type"] == "aside":
                text = clean(plain_text(token["children"]))
                start, end = token["span"]
                self._draft.add("sentence", text, (body.at(start), body.end(end)), number, where)

    def _inline_callout(self, block: tree.Paragraph, where: Where) -> Where:
        if not where.warning and "<" in block.body.text:
            tags = (token["tag"] for token in self.inline.tokens(block.body.text) if token["type"] == "tag")
            if any(tree.callout_of(tag) in tree.WARNINGS for tag in tags):
                return replace(where, warning=True)
        return where

    def _sentences(self, body: Placed, visible: Visible, number: int, where: Where, *, run_in: int = 0) -> None:
        for start, end in paragraph_ranges(visible.text, visible.protected, run_in):
            text = clean(visible.text[start:end])
            if text:
                self._draft.add("sentence", text, self._place(body, visible, start, end), number, where)
                self._lead = self._intro = text[:_LONG_LEAD]

    def _code(self, block: tree.Code, where: Where) -> None:
        title = CODE_TITLE.search(block.info) or (TAB_TITLE.fullmatch(block.info) if where.tabs else None)
        if title is not None:
            index = title.lastindex or 1
            offset = self.source.find(block.info, block.start)
            place = (offset + title.start(index), offset + title.end(index))
            self._draft.add("caption", clean(title[index]), place, self._draft.new_block(), where)
        if not block.text.strip():
            return
        self._draft.append(
            Unit(
                kind="code",
                text=block.text,
                char_start=block.content_start,
                char_end=block.content_end,
                lead=self._lead,
                language=language_of(block.info),
                block=self._draft.new_block(),
                warning=where.warning,
                role=where.role,
                variant=where.variant,
            )
        )

    def _table(self, block: tree.Table, where: Where) -> None:
        header = self._row(block.header)
        number = self._draft.new_block()
        if not block.rows:
            place = (block.header[0].at(0), block.header[-1].end(len(block.header[-1].text)))
            self._draft.add("table_row", header, place, number, where)
        for row, place in zip(block.rows, block.row_ranges, strict=True):
            self._draft.add("table_row", self._row(row), place, number, where, lead=header)

    def _row(self, cells: Sequence[Placed]) -> str:
        # Inside a code span mistune leaves the backslash that keeps a bar from ending the cell.
        texts = [clean(self._visible(cell).text).replace("\\|", "|") for cell in cells]
        return " | ".join(texts) if any(texts) else ""

    def _list(self, block: tree.Listing, where: Where) -> None:
        lead = where.lead or self._intro
        number = self._draft.new_block()
        self._items(block, number, replace(where, headings=False, lead=lead))
        self._intro = ""

    def _items(self, block: tree.Listing, number: int, where: Where) -> None:
        numbers = block.numbers(written=self._written) if block.delimiter in ".)" else []
        for place, item in enumerate(block.items):
            marker = f"{numbers[place]}{block.delimiter} " if numbers else ""
            self._item(item, marker, number, where)

    def _item(self, item: tree.Item, marker: str, number: int, where: Where) -> None:
        first = item.children[0] if item.children else None
        rest = item.children
        nested = where.lead
        if isinstance(first, tree.Paragraph):
            rest = rest[1:]
            nested = self._item_text(item, first, marker, number, where) or nested
        for child in rest:
            if isinstance(child, tree.Paragraph):
                visible = self._visible(child.body)
                inner = where.within(role_of_opening(clean(visible.text)))
                self._sentences(child.body, visible, number, inner)
            elif isinstance(child, tree.Listing):
                self._items(child, number, replace(where, lead=nested))
            else:
                self._block(child, replace(where, lead=nested))

    def _item_text(self, item: tree.Item, paragraph: tree.Paragraph, marker: str, number: int, where: Where) -> str:
        where = self._inline_callout(paragraph, where)
        body = paragraph.body
        tokens = self.inline.tokens(body.text)
        visible = read_visible(body.text, tokens, self.values)
        text = clean(visible.text)
        if not text:
            return ""
        shape = shape_of(tokens)
        ranges = sentence_ranges(visible.text, visible.protected)
        if len(text) <= _LONG_ITEM:
            ranges = [(0, len(visible.text))]
        for index, (start, end) in enumerate(ranges):
            place = self._place(body, visible, start, end)
            if index == 0:
                if marker:
                    place = (item.start, place[1])
                told = marker + clean(visible.text[start:end])
                self._draft.add("list_item", told, place, number, where, lead=where.lead, shape=shape)
            else:
                self._draft.add("sentence", clean(visible.text[start:end]), place, number, where)
        self._asides(body, tokens, number, where)
        self._lead = text[:_LONG_LEAD]
        return text[:_LONG_LEAD]

    # Containers --------------------------------------------------------------------------------------------------

    def _quote(self, block: tree.Quote, where: Where) -> None:
        inside = replace(where, headings=False)
        first = block.children[0] if block.children else None
        if isinstance(first, tree.Paragraph):
            inside = inside.within(role_of_opening(clean(self._visible(first.body).text)))
        self._walk(block.children, inside)

    def _admonition(self, block: tree.Admonition, where: Where) -> None:
        inside = replace(where, headings=False, warning=where.warning or block.name in tree.WARNINGS)
        visible = self._visible(block.title) if block.title is not None else Visible()
        text = clean(visible.text)
        inside = inside.within(role_of_box(block.name.split(), text))
        if block.name in tree.TABS:
            inside = replace(inside, variant=text)
        if block.title is not None and text:
            place = self._place(block.title, visible, 0, len(visible.text))
            self._draft.add("caption", text, place, self._draft.new_block(), inside)
        self._walk(block.children, inside)

    def _element(self, block: tree.Element, where: Where) -> None:
        callout = tree.callout_of(block.tag)
        inside = replace(
            where,
            warning=where.warning or callout in tree.WARNINGS,
            headings=where.headings and not (callout and block.tag.name[:1].isupper()),
            tabs=block.tag.name in CODE_GROUPS,
            caption=where.caption
            or block.tag.name in {"caption", "figcaption"}
            or "caption" in block.tag.attribute("class"),
        ).within(self._role_of(block, callout))
        if block.tag.name.lower() in tree.TABS:
            inside = replace(inside, variant=tree.variant_of(block.tag))
        for shown in attribute_texts(block.tag):
            text = clean(without_marks(shown.text, self.inline))
            here = inside.within("references") if shown.url else inside
            self._draft.add("caption", text, (shown.start, shown.end), self._draft.new_block(), here)
        if block.tag.name == "table" and self._grid(block, inside):
            return
        if block.tag.name == "tr" and (cells := tree.cells_of(block)):
            row = " | ".join(clean(self._visible(cell.body).text) for cell in cells)
            self._draft.add("table_row", row, (cells[0].start, cells[-1].end), self._draft.new_block(), inside)
            return
        if block.tag.name in {"ol", "ul"} and all(
            isinstance(child, tree.Element) and child.tag.name == "li" for child in block.children
        ):
            self._html_list(block, inside)
            return
        if block.tag.name == "dl" and (entries := tree.entries_of(block)):
            self._definitions(entries, inside)
            return
        level = block.tag.name[1:]
        only = block.children[0] if len(block.children) == 1 else None
        if block.tag.name[:1] == "h" and level in {"1", "2", "3", "4", "5", "6"} and isinstance(only, tree.Paragraph):
            anchor = block.tag.attribute("id") or self._drafts[-1].anchor
            self._heading(tree.Heading(block.start, block.end, int(level), only.body, anchor or "top"), where)
            return
        if _is_code(block.tag) and isinstance(only, tree.Script) and not only.module:
            literal = literal_of(self.source[only.start + 1 : only.end - 1])
            if literal is not None:
                start, end = only.start + 1 + literal[1], only.start + 1 + literal[2]
                self._code(
                    tree.Code(only.start, only.end, literal[0], block.tag.attribute("language"), start, end), inside
                )
                return
        self._walk(block.children, inside)

    def _grid(self, block: tree.Element, where: Where) -> bool:
        """Read a table of HTML if nothing but text is in its cells."""
        rows = tree.rows_of(block)
        cells = [[self._cell(cell) for cell in row.children if isinstance(cell, tree.Element)] for row, _ in rows]
        filled = [[cell for cell in row if cell is not None] for row in cells]
        if not rows or [len(row) for row in filled] != [len(row) for row in cells]:
            return False
        for caption in block.children:
            if isinstance(caption, tree.Element) and caption.tag.name == "caption":
                self._block(caption, where)
        grid = grid_of(filled, sum(marked for _, marked in rows), infer=False)
        header = " | ".join(grid.header) if any(grid.header) else ""
        number = self._draft.new_block()
        for row, texts in zip(grid.kept, grid.rows, strict=True):
            parts = tree.cells_of(rows[row][0])
            if any(texts) and parts:
                text = " | ".join(texts) if any(texts[1:]) else texts[0]
                self._draft.add("table_row", text, (parts[0].start, parts[-1].end), number, where, lead=header)
        if header and not grid.rows:
            self._draft.add("table_row", header, (rows[0][0].start, rows[-1][0].end), number, where)
        return True

    def _cell(self, cell: tree.Element) -> Cell | None:
        """A cell of HTML; None if it holds more than text."""
        inside = tree.cells_of(cell) if cell.children else []
        if cell.tag.name not in {"td", "th"} or (cell.children and not inside):
            return None
        text = " ".join(clean(self._visible(part.body).text) for part in inside)
        return Cell(text, cell.tag.name == "th", *spans(cell.tag.attribute("colspan"), cell.tag.attribute("rowspan")))

    def _html_list(self, block: tree.Element, where: Where) -> None:
        """The items of a list in HTML, with the number or letter that a browser shows."""
        items = [child for child in block.children if isinstance(child, tree.Element)]
        down = any(item.name == "reversed" for item in block.tag.attributes)
        following = whole(block.tag.attribute("start"), len(items) if down else 1)
        outer = replace(where, headings=False, lead=where.lead or self._intro)
        number = self._draft.new_block()
        for item in items:
            shown = whole(item.tag.attribute("value"), following)
            following = shown + (-1 if down else 1)
            marker = f"{numeral(shown, block.tag.attribute('type') or '1')}. " if block.tag.name == "ol" else ""
            inside = [part for child in item.children for part in _without_paragraph(child)]
            self._item(tree.Item(item.start, item.end, "-", children=inside), marker, number, outer)
        self._intro = ""

    def _definitions(self, entries: Sequence[tuple[list[tree.Paragraph], tree.Paragraph]], where: Where) -> None:
        """Each term, or terms, with the first sentence of what it means: an item that can be quoted alone."""
        number = self._draft.new_block()
        for terms, meaning in entries:
            name = ", ".join(clean(self._visible(term.body).text) for term in terms)
            name = name if name.endswith(_ENDS) else f"{name}:"
            visible = self._visible(meaning.body)
            for index, (start, end) in enumerate(sentence_ranges(visible.text, visible.protected)):
                text = clean(visible.text[start:end])
                place = self._place(meaning.body, visible, start, end)
                if index:
                    self._draft.add("sentence", text, place, number, where)
                else:
                    self._draft.add("list_item", f"{name} {text}", (terms[0].start, place[1]), number, where)

    def _role_of(self, block: tree.Element, callout: str) -> TextRole | None:
        """The role that an element gives by its name, its classes, or the line that unfolds it."""
        tag = block.tag
        names = [*(item.value or "" for item in tag.attributes if item.name in {"class", "className"})]
        names = [part for name in names for part in name.split()]
        if tag.name[:1].isupper():
            names += [tag.name, callout]
        title = ""
        if tag.name == "details" and block.children and isinstance(head := block.children[0], tree.Element):
            inner = head.children[0] if head.tag.name == "summary" and len(head.children) == 1 else None
            title = clean(self._visible(inner.body).text) if isinstance(inner, tree.Paragraph) else ""
        return role_of_box(names, title)

    def _script(self, block: tree.Script, where: Where) -> None:
        inner = (block.start, block.end) if block.module else (block.start + 1, block.end - 1)
        if block.module:
            if not self.shown.intersection(exported_names(self.source, block.start, block.end)):
                return
        elif (value := self.values.get(self.source[inner[0] : inner[1]].strip())) is not None:
            self._draft.add("sentence", clean(value), (block.start, block.end), self._draft.new_block(), where)
            return
        number = self._draft.new_block()
        found = script_texts(self.source, *inner)
        if not found and not block.module and expression_text(self.source[slice(*inner)], self.values) == UNKNOWN:
            written = clean(self.source[block.start : block.end])[:60]
            self._problem(block.start, f"the value of {written} is not known, and nothing stands in its place")
        for shown in found:
            text = clean(shown.text)
            for start, end in sentence_ranges(text):
                self._draft.add("sentence", text[start:end], (shown.start, shown.end), number, where)

    # Units -------------------------------------------------------------------------------------------------------

    def _visible(self, body: Placed) -> Visible:
        return read_visible(body.text, self.inline.tokens(body.text), self.values)

    def _place(self, body: Placed, visible: Visible, start: int, end: int) -> tuple[int, int]:
        """Range in the source of a range of visible text, blanks at its ends left out."""
        text = visible.text[start:end]
        start += len(text) - len(text.lstrip())
        end -= len(text) - len(text.rstrip())
        first, last = visible.range_of(start, max(end, start + 1))
        return body.at(first), body.end(last)


def _is_code(tag: tree.Tag) -> bool:
    return tag.name in {"CodeBlock", "code", "pre", "Code", "Snippet"}


def _without_paragraph(block: tree.Block) -> Sequence[tree.Block]:
    """What stands in a plain `<p>`, or the block itself."""
    if isinstance(block, tree.Element) and block.tag.name == "p" and not block.tag.attributes:
        return block.children
    return [block]
