"""Parses Markdown and MDX pages: title, sections and units, each with its place in the file."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from msgspec import structs

from lutrin.ingest import tree
from lutrin.ingest.anchors import Slugger
from lutrin.ingest.blocks import parse_blocks
from lutrin.ingest.decoding import decode
from lutrin.ingest.dialects import LEFT_OUT
from lutrin.ingest.directives import LOOKS_LIKE_MYST
from lutrin.ingest.frontmatter import front_texts, read_front_matter
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
from lutrin.ingest.makers import COMPONENTS, HTML
from lutrin.ingest.masks import mask, values_of
from lutrin.ingest.placed_text import PlacedText, Range, line_number
from lutrin.ingest.roles import (
    Shape,
    assign_roles,
    role_of_box,
    role_of_front,
    role_of_opening,
    role_of_page,
    shape_of,
)
from lutrin.ingest.script import ScriptText, attribute_texts, exported_names, exported_values, literal_of, script_texts
from lutrin.ingest.sentences import paragraph_ranges, sentence_ranges
from lutrin.ingest.wording import CODE_GROUPS, UNKNOWN, clean, code_title, language_of, numeral, whole
from lutrin.records import MARKDOWN, Document, Notice, Section, TextRole, Unit, UnitKind, bar_cells

_CELLS = (".qmd", ".rmd", ".ipynb")
# A plain Markdown file is read as MDX if it looks like it: imports, components, comments in braces.
_LOOKS_LIKE_MDX = re.compile(
    r"^import\s[^\n]*\sfrom\s+['\"]|^export\s+(?:const|default|function)\b|"
    r"^[ \t]*</?(?P<name>[A-Z][A-Za-z]*)[\s/>]|\{/\*",
    re.MULTILINE,
)
_FENCE_LINE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_NUMBER_PREFIX = re.compile(r"^\d+[-_.\s]+(?=\D)")
_MAX_NOTICES = 20
_FRONT_NAME = re.compile(r"\bfrontMatter\??\.([A-Za-z_$][\w$]*)")
_DOCUSAURUS = re.compile(r"^import\s[^\n]*['\"]@(?:theme|site|docusaurus)\b", re.MULTILINE)
# Components that Mintlify provides without an import.
_MINTLIFY = re.compile(
    r"^[ \t]*<(?:Card|CardGroup|Columns|Steps?|Accordion|AccordionGroup|CodeGroup|ParamField|ResponseField|Frame|Update"
    r"|Note|Tip|Info|Check|Warning|Tabs?)\b",
    re.MULTILINE,
)
# An item of a list is quoted whole unless it is a small essay.
_LONG_ITEM = 500
_LONG_LEAD = 400
_CODE_TAGS = frozenset({"CodeBlock", "code", "pre", "Code", "Snippet"})
_ENDS = (":", "?", "!", ";")
"""Characters of a term that needs no colon before its definition."""


class Page:
    """A page as a tree. `source` is as long as the file, without template marks; MDX by its name or looks."""

    def __init__(self, source: str, filename: str) -> None:
        self.filename = filename
        # In text converted from other formats, MDX markup is escaped and numbers are as shown.
        suffix = PurePosixPath(filename).suffix.lower()
        self.plain = suffix not in {*MARKDOWN, *_CELLS}
        self.mdx = suffix == ".mdx" or (suffix in MARKDOWN and looks_like_mdx(source))
        self._problems: list[tuple[int, str]] = []
        self.front = read_front_matter(source, self.problem)
        if not (self.mdx or self.plain):
            computed = suffix in {".qmd", ".rmd"}
            source = mask(source, self.front.end, values_of(self.front.values), self.problem, computed=computed)
        self.source = source
        self.blocks, self.references = parse_blocks(source, self.front.end, self.problem, mdx=self.mdx)
        self.inline = Inline(source, self.references, mdx=self.mdx, plain=self.plain)
        self._scripts = [block for block in _flat(self.blocks) if isinstance(block, tree.Script) and block.module]
        self.values = self._values()
        self.unread: list[str] = []
        """Names of components on lines of their own whose content is not in the file."""
        self.title = self._find_title()

    def problem(self, offset: int, message: str) -> None:
        """Record a problem for the author."""
        if len(self._problems) < _MAX_NOTICES:
            printable = "".join(c if c.isprintable() else "\ufffd" for c in message[:200])
            self._problems.append((offset, printable))

    def _values(self) -> dict[str, str]:
        values = {}
        texts = front_texts(self.source, self.front)
        often = Counter(path for path, _ in texts)
        for path, item in texts:
            if often[path] == 1:
                values.update({f"{prefix}frontMatter.{path}": item.text for prefix in ("", "props.", "metadata.")})
        for script in self._scripts:
            values.update(exported_values(self.source, script.start, script.end))
        return {name: value for name, value in values.items() if value}

    def visible(self, body: PlacedText, *, attributes: bool = True) -> Visible:
        """The visible content of inline text; `attributes`: whether texts in those of components count."""
        return read_visible(body.text, self.inline.tokens(body.text), self.values, attributes=attributes)

    def text(self, body: PlacedText, *, attributes: bool = True) -> str:
        """The visible characters of inline text."""
        return clean(self.visible(body, attributes=attributes).text)

    def shown_front(self) -> list[ScriptText]:
        """Strings of the front matter that the page shows in full.

        That is lists and objects that it names, the description that Mintlify puts under a page's title, and the
        abstract of a MyST page.
        """
        names = set(_FRONT_NAME.findall(self.source, self.front.end))
        whole = {name for name in names if isinstance(self.front.values.get(name), dict | list)}
        if self.mdx and not _DOCUSAURUS.search(self.source) and _MINTLIFY.search(self.source, self.front.end):
            whole.add("description")
        if "kernelspec" in self.front.values or "jupytext" in self.front.values or LOOKS_LIKE_MYST.search(self.source):
            whole |= {"subtitle", "abstract"}
        return [
            item
            for path, item in front_texts(self.source, self.front)
            if path.partition(".")[0] in whole and _is_prose(path, item.text)
        ]

    def shown_exports(self) -> frozenset[str]:
        """Names of exports used in braces or as a tag in the page."""
        names = {name for s in self._scripts for name in exported_names(self.source, s.start, s.end)}
        rest = self.source
        for script in reversed(self._scripts):
            rest = rest[: script.start] + rest[script.end :]
        uses = {
            name
            for name in sorted(names)[:200]
            if re.search(rf"(?:[{{<][^{{}}<>\n]{{0,200}}|<)\b{re.escape(name)}\b", rest)
        }
        return frozenset(uses - self.values.keys())

    def _find_title(self) -> str:
        title = self.front.text("title")
        if not title:
            headings = (block for block in _flat(self.blocks) if isinstance(block, tree.Heading))
            largest = next((heading for heading in headings if heading.level == 1), None)
            first = largest or self.opening()  # the pages of mdBook may begin with a smaller heading
            if isinstance(first, tree.Heading):
                title = self.text(first.body, attributes=False)
        return title or title_from_name(self.filename)

    def opening(self) -> tree.Block | None:
        """The first visible block: the targets of old links may come before it."""
        return next((block for block in self.blocks if not self._is_empty(block)), None)

    def _is_empty(self, block: tree.Block) -> bool:
        if isinstance(block, tree.Element):
            bare = block.tag.name in {"a", "span", "div"} and not block.tag.attribute("class")
            return bare and all(self._is_empty(child) for child in block.children)
        if not isinstance(block, tree.Paragraph):
            return False
        tokens = self.inline.tokens(block.body.text)
        tags = {token["tag"].name for token in tokens if token["type"] == "tag"}
        return tags <= {"a", "span"} and not read_visible(block.body.text, tokens, self.values).text.strip()

    def report_unread(self) -> None:
        """Record text that readers of the built page see and readers of this one so far do not."""
        if struck := self.inline.struck:
            self.problem(self.front.end, f"struck-out words are left out: {named(struck)}")
        if components := [*dict.fromkeys([*self.inline.components, *self.unread])]:
            names = ", ".join(f"<{name}>" for name in components)
            offset = max(0, self.source.find(f"<{components[0]}"))
            self.problem(offset, f"what {names} shows is not in the file; in a sentence {UNKNOWN} stands in its place")
        unknown = [raw for raw in self.inline.expressions if UNKNOWN in expression_text(raw, self.values)]
        if unknown:
            more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
            message = f"the value of {{{unknown[0].strip()}}}{more} is not known; {UNKNOWN} stands in its place"
            self.problem(max(0, self.source.find(f"{{{unknown[0]}}}")), message)

    def position(self) -> float | None:
        """Position among its siblings, under the names of Docusaurus, Hugo, Just the Docs and others."""
        numbers = (self.front.number(name) for name in ("sidebar_position", "weight", "nav_order", "order"))
        return next((number for number in numbers if number is not None), None)

    def notices(self) -> tuple[Notice, ...]:
        """Notices for the author, in line order."""
        return tuple(
            Notice(filename=self.filename, message=message, line=line_number(self.source, offset))
            for offset, message in sorted(self._problems)
        )


@dataclass(frozen=True, slots=True)
class Where:
    """The context of a block."""

    warning: bool = False
    headings: bool = True
    """Whether a heading here starts a section; inside lists, quotations and admonitions it is a sentence."""
    lead: str = ""
    """For a nested list: its parent item."""
    tabs: bool = False
    """Whether it is in a group of code blocks, each a tab named by its fence."""
    caption: bool = False
    """Whether its markup makes it a caption."""
    role: TextRole = "text"
    """Role from the surrounding markup."""
    variant: str = ""
    """Name of the tab around it."""

    def within(self, role: TextRole | None) -> "Where":
        """The context of the blocks in a box of this role."""
        return self if role is None else replace(self, role=role)


@dataclass(slots=True)
class Draft:
    """A heading with its units so far."""

    title: str
    level: int
    path: tuple[str, ...]
    anchor: str
    start: int
    units: list[Unit] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    """The shape of each unit."""
    blocks: int = 0

    def new_block(self) -> int:
        """The number of the next block."""
        self.blocks += 1
        return self.blocks - 1

    def add(
        self,
        kind: UnitKind,
        text: str,
        place: Range,
        where: Where,
        *,
        number: int | None = None,
        lead: str = "",
        shape: Shape = "",
        language: str = "",
        cells: tuple[str, ...] = (),
        heads: tuple[str, ...] = (),
    ) -> None:
        """Add a unit of block `number`, or of a new one, unless it has no text."""
        number = self.new_block() if number is None else number
        if text:
            unit = Unit(
                kind=kind,
                text=text,
                char_start=place[0],
                char_end=place[1],
                lead="" if lead == text else lead,
                language=language,
                block=number,
                warning=where.warning,
                role=where.role,
                variant=where.variant,
                cells=cells,
                heads=heads,
            )
            self.units.append(unit)
            self.shapes.append(shape)

    def section(self, end: int, page: int | None = None) -> Section:
        """The section, ending where the next one starts."""
        return Section(
            title=self.title,
            level=self.level,
            heading_path=self.path,
            anchor=self.anchor,
            units=tuple(self.units),
            char_start=self.start,
            char_end=end,
            page=page,
        )


class Outline:
    """The sections of a page: headings, and their quotable units."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._source = page.source
        self._inline = page.inline
        self._exports = page.shown_exports()
        self._slugger = Slugger()
        self._drafts = [Draft(page.title, 1, (page.title,), "", 0)]
        self._parents: list[tuple[int, str]] = []
        # The last sentence, which introduces code; and the same if only a list has followed it.
        self._lead = ""
        self._intro = ""
        for item in page.shown_front():
            self._draft.add("sentence", clean(item.text), (item.start, item.end), Where())
        self._walk(page.blocks, Where())

    def sections(self) -> tuple[Section, ...]:
        """The sections in order, up to the start of the next, with roles for their units."""
        drafts = self._drafts
        ends = [draft.start for draft in drafts[1:]] + [len(self._source)]
        role = role_of_front(self._page.front.text) or role_of_page(self._page.filename)
        sections = [draft.section(end) for draft, end in zip(drafts, ends, strict=True)]
        return assign_roles(sections, [draft.shapes for draft in drafts], role)

    @property
    def _draft(self) -> Draft:
        return self._drafts[-1]

    def _place(self, body: PlacedText, visible: Visible, start: int = 0, end: int | None = None) -> Range:
        """Range in the source of a range of visible text, without blanks at its ends."""
        text = visible.text[start:end]
        start += len(text) - len(text.lstrip())
        first, last = visible.range_of(start, start + max(1, len(text.strip())))
        return body.at(first), body.end(last)

    def _walk(self, blocks: Sequence[tree.Block], where: Where) -> None:
        for block in blocks:
            self._block(block, where)

    def _block(self, block: tree.Block, where: Where) -> None:
        apart = isinstance(block, tree.Quote | tree.Admonition | tree.Table)
        if apart or isinstance(block, tree.Element):
            self._lead = self._intro = ""
        getattr(self, f"_{type(block).__name__.lower()}")(block, where)
        if apart:
            self._lead = self._intro = ""

    def _rule(self, _block: tree.Rule, _where: Where) -> None:
        """Show nothing."""

    def _math(self, block: tree.Math, where: Where) -> None:
        self._draft.add("sentence", f"$$ {clean(block.body.text)} $$", (block.start, block.end), where)

    def _heading(self, block: tree.Heading, where: Where) -> None:
        tokens = self._inline.tokens(block.body.text)
        visible = read_visible(block.body.text, tokens, self._page.values, attributes=False)
        text = clean(visible.text)
        anchor = block.anchor or self._slugger.next(anchor_text(tokens))
        if not text:
            return
        if not where.headings:
            self._draft.add("sentence", text, self._place(block.body, visible), where)
            self._asides(block.body, tokens, None, where)
            return
        title = self._page.title
        first = len(self._drafts) == 1 and (block.level == 1 or not self._drafts[0].units)
        if first and text.casefold() == clean(title).casefold():
            return
        while self._parents and self._parents[-1][0] >= block.level:
            self._parents.pop()
        self._parents.append((block.level, text))
        path = (title, *(above for _, above in self._parents))
        self._drafts.append(Draft(text, block.level, path, anchor, block.start))
        self._lead = self._intro = ""
        self._asides(block.body, tokens, None, where)

    def _paragraph(self, block: tree.Paragraph, where: Where) -> None:
        where = self._inline_callout(block, where)
        tokens = self._inline.tokens(block.body.text)
        visible = read_visible(block.body.text, tokens, self._page.values)
        if self._inline.take_problem():
            self._page.problem(block.start, "a brace ({) is never closed and was read as text")
        text = clean(visible.text)
        if not text.replace(UNKNOWN, "").strip():
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
            self._draft.add("caption", text, self._place(block.body, visible), where, number=number)
            self._asides(block.body, tokens, number, where)
            return
        first = tokens[:1] if tokens[0]["type"] == "strong" else []
        run_in = len(read_visible(block.body.text, first, self._page.values).text)
        self._sentences(block.body, visible, number, where, run_in=run_in)
        self._asides(block.body, tokens, number, where)

    def _asides(self, body: PlacedText, tokens: Sequence[Token], number: int | None, where: Where) -> None:
        """Notes in the middle of a sentence in the file, which the page shows below it."""
        for token in tokens:
            if "children" in token and token["type"] != "aside":
                self._asides(body, token["children"], number, where)
            if token["type"] == "aside":
                text, (start, end) = clean(plain_text(token["children"])), token["span"]
                self._draft.add("sentence", text, (body.at(start), body.end(end)), where, number=number)

    def _inline_callout(self, block: tree.Paragraph, where: Where) -> Where:
        if not where.warning and "<" in block.body.text:
            tags = (token["tag"] for token in self._inline.tokens(block.body.text) if token["type"] == "tag")
            if any(tree.callout_of(tag) in tree.WARNINGS for tag in tags):
                return replace(where, warning=True)
        return where

    def _sentences(self, body: PlacedText, visible: Visible, number: int, where: Where, *, run_in: int = 0) -> None:
        for start, end in paragraph_ranges(visible.text, visible.protected, run_in):
            text = clean(visible.text[start:end])
            if text:
                self._draft.add("sentence", text, self._place(body, visible, start, end), where, number=number)
                self._lead = self._intro = text[:_LONG_LEAD]

    def _code(self, block: tree.Code, where: Where) -> None:
        title = code_title(block.info, tab=where.tabs)
        if title is not None:
            offset = self._source.find(block.info, block.start)
            place = (offset + title.start(title.lastindex or 1), offset + title.end(title.lastindex or 1))
            self._draft.add("caption", clean(title[title.lastindex or 1]), place, where)
        if block.text.strip():
            place = (block.content_start, block.content_end)
            language = language_of(block.info)
            self._draft.add("code", block.text, place, where, lead=self._lead, language=language)
        self._intro = ""

    def _table(self, block: tree.Table, where: Where) -> None:
        header = [self._cell_text(cell) for cell in block.header]
        number = self._draft.new_block()
        rows = [[self._cell_text(cell) for cell in row] for row in block.rows]
        if not any(map(any, rows)):
            self._row(header, (block.header[0].at(0), block.header[-1].place[1]), number, where)
        for row, place in zip(rows, block.row_ranges, strict=True):
            self._row(row, place, number, where, header)
        for cell in (cell for row in (block.header, *block.rows) for cell in row):
            self._asides(cell, self._inline.tokens(cell.text), number, where)

    def _cell_text(self, cell: PlacedText) -> str:
        # Inside a code span, mistune keeps the backslash that protects a bar from ending the cell.
        return self._page.text(cell).replace("\\|", "|")

    def _row(
        self, cells: Sequence[str], place: Range, number: int | None, where: Where, header: Sequence[str] = ()
    ) -> None:
        text, lead = (" | ".join(texts) if any(texts) else "" for texts in (cells, header))
        own, heads = bar_cells(cells), bar_cells(header) if header else ()
        self._draft.add("table_row", text, place, where, number=number, lead=lead, cells=own, heads=heads)

    def _listing(self, block: tree.Listing, where: Where) -> None:
        lead = where.lead or self._intro
        self._items(block, self._draft.new_block(), replace(where, headings=False, lead=lead))
        self._intro = ""

    def _items(self, block: tree.Listing, number: int, where: Where) -> None:
        numbers = block.numbers(written=self._page.plain) if block.delimiter in ".)" else []
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
                visible = self._page.visible(child.body)
                inner = where.within(role_of_opening(clean(visible.text)))
                self._sentences(child.body, visible, number, inner)
                self._asides(child.body, self._inline.tokens(child.body.text), number, inner)
            elif isinstance(child, tree.Listing):
                self._items(child, number, replace(where, lead=nested))
            else:
                self._block(child, replace(where, lead=nested))

    def _item_text(self, item: tree.Item, paragraph: tree.Paragraph, marker: str, number: int, where: Where) -> str:
        where = self._inline_callout(paragraph, where)
        body = paragraph.body
        tokens = self._inline.tokens(body.text)
        visible = read_visible(body.text, tokens, self._page.values)
        text = clean(visible.text)
        if not text:
            return ""
        shape = shape_of(tokens)
        ranges = sentence_ranges(visible.text, visible.protected)
        if len(text) <= _LONG_ITEM:
            ranges = [(0, len(visible.text))]
        for index, (start, end) in enumerate(ranges):
            place, part = self._place(body, visible, start, end), clean(visible.text[start:end])
            if index:
                self._draft.add("sentence", part, place, where, number=number)
            else:
                place = (item.start if marker else place[0], place[1])
                self._draft.add("list_item", marker + part, place, where, number=number, lead=where.lead, shape=shape)
        self._asides(body, tokens, number, where)
        self._lead = text[:_LONG_LEAD]
        return text[:_LONG_LEAD]

    def _quote(self, block: tree.Quote, where: Where) -> None:
        inside = replace(where, headings=False)
        first = block.children[0] if block.children else None
        if isinstance(first, tree.Paragraph):
            inside = inside.within(role_of_opening(self._page.text(first.body)))
        self._walk(block.children, inside)

    def _admonition(self, block: tree.Admonition, where: Where) -> None:
        inside = replace(where, headings=False, warning=where.warning or block.name in tree.WARNINGS)
        visible = self._page.visible(block.title) if block.title is not None else Visible()
        text = clean(visible.text)
        inside = inside.within(role_of_box(block.name.split(), text))
        if block.name in tree.TABS:
            inside = replace(inside, variant=text)
        if block.title is not None and text:
            self._draft.add("caption", text, self._place(block.title, visible), inside)
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
        texts = list(attribute_texts(block.tag))
        for item in texts:
            text = clean(without_marks(item.text, self._inline))
            here = inside.within("references") if item.url else inside
            self._draft.add("caption", text, (item.start, item.end), here)
        if block.tag.name == "table" and self._grid(block, inside):
            return
        if block.tag.name == "tr" and (cells := tree.cells_of(block)):
            texts_of_cells = [self._page.text(cell.body) for cell in cells]
            self._row(texts_of_cells, (cells[0].start, cells[-1].end), None, inside)
            return
        if block.tag.name in {"ol", "ul"} and all(
            isinstance(child, tree.Element) and child.tag.name == "li" for child in block.children
        ):
            self._html_list(block, inside)
            return
        if block.tag.name == "dl" and (entries := tree.entries_of(block)):
            self._definitions(entries, inside)
            return
        only = block.children[0] if len(block.children) == 1 else None
        if tree.HEADED.fullmatch(block.tag.name) and isinstance(only, tree.Paragraph):
            anchor = block.tag.attribute("id") or self._drafts[-1].anchor or "top"
            self._heading(tree.Heading(block.start, block.end, int(block.tag.name[1]), only.body, anchor), where)
            return
        if block.tag.name in _CODE_TAGS and isinstance(only, tree.Script) and not only.module:
            literal = literal_of(self._source[only.start + 1 : only.end - 1])
            if literal is not None:
                place = (only.start + 1 + literal[1], only.start + 1 + literal[2])
                code = tree.Code(only.start, only.end, literal[0], block.tag.attribute("language"), *place)
                self._code(code, inside)
                return
        is_component = block.tag.name[:1].isupper() or "-" in block.tag.name
        is_read = block.tag.name in self._exports or block.tag.name in {LEFT_OUT, "Branch"} or any(texts)
        if is_component and not block.children and not is_read:
            self._page.unread.append(block.tag.name)
        self._walk(block.children, inside)

    def _grid(self, block: tree.Element, where: Where) -> bool:
        """Read an HTML table if its cells contain only text."""
        rows = tree.rows_of(block)
        cells = [[self._cell(cell) for cell in row.children if isinstance(cell, tree.Element)] for row, _ in rows]
        filled = [[cell for cell in row if cell is not None] for row in cells]
        if not rows or [len(row) for row in filled] != [len(row) for row in cells]:
            return False
        for caption in block.children:
            if isinstance(caption, tree.Element) and caption.tag.name == "caption":
                self._block(caption, where)
        grid = grid_of(filled, sum(marked for _, marked in rows), infer=False)
        header = grid.header if any(grid.header) else []
        number = self._draft.new_block()
        for row, texts in zip(grid.numbers, grid.rows, strict=True):
            parts = tree.cells_of(rows[row][0])
            if any(texts) and parts:
                shown = texts if any(texts[1:]) else texts[:1]
                self._row(shown, (parts[0].start, parts[-1].end), number, where, header)
        if header and not any(map(any, grid.rows)):
            self._row(header, (rows[0][0].start, rows[-1][0].end), number, where)
        return True

    def _cell(self, cell: tree.Element) -> Cell | None:
        """A cell of HTML; None if it contains more than text."""
        inside = tree.cells_of(cell) if cell.children else []
        if cell.tag.name not in {"td", "th"} or (cell.children and not inside):
            return None
        text = " ".join(self._page.text(part.body) for part in inside)
        return Cell(text, cell.tag.name == "th", *spans(cell.tag.attribute("colspan"), cell.tag.attribute("rowspan")))

    def _html_list(self, block: tree.Element, where: Where) -> None:
        """The items of an HTML list, with the number or letter in the browser."""
        items = [child for child in block.children if isinstance(child, tree.Element)]
        down = any(item.name == "reversed" for item in block.tag.attributes)
        following = whole(block.tag.attribute("start"), len(items) if down else 1)
        outer = replace(where, headings=False, lead=where.lead or self._intro)
        number = self._draft.new_block()
        for item in items:
            value = whole(item.tag.attribute("value"), following)
            following = value + (-1 if down else 1)
            marker = f"{numeral(value, block.tag.attribute('type') or '1')}. " if block.tag.name == "ol" else ""
            self._item(tree.Item(item.start, item.end, "-", children=_bare(item.children)), marker, number, outer)
        self._intro = ""

    def _definitions(self, entries: Sequence[tuple[list[tree.Paragraph], list[tree.Block]]], where: Where) -> None:
        """Each term, or group of terms, with the first sentence of its definition: an item that can be quoted alone."""
        number = self._draft.new_block()
        for terms, meaning in entries:
            name = ", ".join(self._page.text(term.body) for term in terms)
            name = name if name.endswith(_ENDS) else f"{name}:"
            start = terms[0].start
            rest = _bare(meaning)
            if isinstance(first := rest[0] if rest else None, tree.Paragraph) and self._page.text(first.body):
                self._meaning(f"{name} ", start, first, number, where)
                rest = rest[1:]
            else:
                self._draft.add("list_item", name, (start, terms[-1].end), where, number=number)
                self._lead = self._intro = name
            for term in terms:
                self._asides(term.body, self._inline.tokens(term.body.text), number, where)
            self._walk(rest, replace(where, headings=False))
            number = self._draft.new_block() if rest else number

    def _meaning(self, name: str, start: int, block: tree.Paragraph, number: int, where: Where) -> None:
        visible = self._page.visible(block.body)
        for index, (begin, end) in enumerate(sentence_ranges(visible.text, visible.protected)):
            text = clean(visible.text[begin:end])
            place = self._place(block.body, visible, begin, end)
            if index:
                self._draft.add("sentence", text, place, where, number=number)
            else:
                self._draft.add("list_item", f"{name}{text}", (start, place[1]), where, number=number)
            self._lead = self._intro = text[:_LONG_LEAD]
        self._asides(block.body, self._inline.tokens(block.body.text), number, where)

    def _note(self, block: tree.Note, where: Where) -> None:
        self._walk(block.children, replace(where, headings=False))

    def _role_of(self, block: tree.Element, callout: str) -> TextRole | None:
        """The role of an element from its name, its classes, or its summary line."""
        tag = block.tag
        values = (item.value or "" for item in tag.attributes if item.name in {"class", "className"})
        names = [part for value in values for part in value.split()]
        if tag.name[:1].isupper():
            names += [tag.name, callout]
        head = block.children[0] if tag.name == "details" and block.children else None
        inner = head.only_text if isinstance(head, tree.Element) and head.tag.name == "summary" else None
        title = self._page.text(inner.body) if inner is not None else ""
        return role_of_box(names, title)

    def _script(self, block: tree.Script, where: Where) -> None:
        inner = (block.start, block.end) if block.module else (block.start + 1, block.end - 1)
        if block.module:
            if not self._exports.intersection(exported_names(self._source, block.start, block.end)):
                return
        elif (value := self._page.values.get(self._source[inner[0] : inner[1]].strip())) is not None:
            self._draft.add("sentence", clean(value), (block.start, block.end), where)
            return
        number = self._draft.new_block()
        texts = script_texts(self._source, *inner)
        if (
            not texts
            and not block.module
            and expression_text(self._source[slice(*inner)], self._page.values) == UNKNOWN
        ):
            written = clean(self._source[block.start : block.end])[:60]
            self._page.problem(block.start, f"the value of {written} is not known, and nothing stands in its place")
        for item in texts:
            text = clean(item.text)
            for start, end in sentence_ranges(text):
                self._draft.add("sentence", text[start:end], (item.start, item.end), where, number=number)


def _bare(blocks: Sequence[tree.Block]) -> list[tree.Block]:
    """Blocks without the plain `p` around some of them."""
    result: list[tree.Block] = []
    for block in blocks:
        is_plain = isinstance(block, tree.Element) and block.tag.name == "p" and not block.tag.attributes
        result += block.children if is_plain and isinstance(block, tree.Element) else [block]
    return result


def named(texts: Sequence[str]) -> str:
    """Texts in quotation marks, for a report."""
    return ", ".join(f"\u201c{text}\u201d" for text in texts)


def _is_prose(path: str, text: str) -> bool:
    """Whether a string of the front matter is text rather than a path, an address or a class."""
    key = path.rpartition(".")[2]
    return any(c.isalnum() for c in text) and (" " in text or key not in COMPONENTS["unseen_keys"])


def looks_like_mdx(source: str) -> bool:
    """Whether a Markdown file is MDX: it has imports, components or comments in braces, and not in code only."""
    match = _LOOKS_LIKE_MDX.search(source)
    counted = fences = 0
    while match is not None:
        fences += len(_FENCE_LINE.findall(source, counted, match.start()))
        counted = match.start()
        if fences % 2:
            after = _FENCE_LINE.search(source, match.end())
            match = _LOOKS_LIKE_MDX.search(source, after.end()) if after else None
        elif match["name"] and match["name"].lower() in HTML:
            match = _LOOKS_LIKE_MDX.search(source, match.end())
        else:
            return True
    return False


def read_markdown(data: bytes, filename: str, _password: str = "") -> Document:
    """Read a Markdown or MDX file in any encoding.

    Raises:
        DocumentError: The file is not text.
    """
    source, notices = decode(data, filename)
    document = parse_markdown(source, filename)
    return structs.replace(document, notices=(*notices, *document.notices))


def parse_markdown(source: str, filename: str) -> Document:
    """Read a Markdown or MDX page; `documents`, which knows the folders, sets `module` and `chapter`."""
    page = Page(source, filename)
    outline = Outline(page)
    page.report_unread()
    return Document(
        filename=filename,
        title=page.title,
        source=source,
        sections=outline.sections(),
        section=stem(filename),
        position=page.position(),
        keywords=page.front.texts("keywords"),
        description=page.front.text("description"),
        is_simulation=page.front.flag("is_simulation"),
        notices=page.notices(),
    )


def stem(filename: str) -> str:
    """The file's name without folders and suffix: `01-digital-vs-physical-ai`."""
    return filename.rsplit("/", 1)[-1].rsplit(".", 1)[0]


def title_from_name(name: str) -> str:
    """A title for a file or folder without one: `03-chapter-3-architecture` becomes `Chapter 3: Architecture`."""
    bare = _NUMBER_PREFIX.sub("", stem(name) if "." in name.rsplit("/", 1)[-1] else name.rsplit("/", 1)[-1])
    words = re.split(r"[-_\s]+", bare.strip("-_ ")) if bare.strip("-_ ") else [name]
    titled = [word if word != word.lower() else word[:1].upper() + word[1:] for word in words]
    if len(titled) > 2 and titled[0].lower() in {"chapter", "part", "module", "unit"} and titled[1].isdigit():
        return f"{titled[0]} {int(titled[1])}: {' '.join(titled[2:])}"
    return " ".join(titled)


def _flat(blocks: list[tree.Block]) -> list[tree.Block]:
    """Blocks at the top of the page and in its elements, where imports and headings can occur."""
    result: list[tree.Block] = []
    for block in blocks:
        result.append(block)
        if isinstance(block, tree.Element):
            result += _flat(block.children)
    return result
