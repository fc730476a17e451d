"""The blocks of a page, in reading order, each with its place in the source."""

import re
from dataclasses import dataclass, field

from lutrin.ingest.makers import BOXES, box_of
from lutrin.ingest.placed_text import PlacedText
from lutrin.ingest.styles import hides


@dataclass(slots=True)
class Block:
    """Anything from offset `start` of the source to `end`."""

    start: int
    end: int


@dataclass(slots=True)
class Heading(Block):
    """A heading; `anchor` is its author's own id, empty if the page's slugger will make one."""

    level: int
    body: PlacedText
    anchor: str


@dataclass(slots=True)
class Paragraph(Block):
    """Running text with inline markup."""

    body: PlacedText

    @classmethod
    def of(cls, body: PlacedText) -> "Paragraph":
        """A paragraph from the first to the last character of its text."""
        return cls(*body.place, body)


@dataclass(slots=True)
class Code(Block):
    """A fenced or indented block; `text` is its content byte for byte, less the container's indentation."""

    text: str
    info: str
    content_start: int
    content_end: int


@dataclass(slots=True)
class Math(Block):
    """A displayed formula, without its dollar signs."""

    body: PlacedText


@dataclass(slots=True)
class Table(Block):
    """A pipe table; every row has as many cells as its author wrote."""

    header: list[PlacedText]
    rows: list[list[PlacedText]]
    aligns: list[str]
    """`left`, `right`, `center` or empty, one per column."""
    row_ranges: list[tuple[int, int]]


@dataclass(slots=True)
class Rule(Block):
    """A horizontal line."""


@dataclass(slots=True)
class Script(Block):
    """JavaScript of a page: imports and exports, or an expression in braces; `start` and `end` include the braces."""

    module: bool
    """Whether it is an import or export rather than an expression."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute of a tag."""

    name: str
    value: str | None
    """Text of a quoted value; source of an expression; None without a value."""
    start: int
    end: int
    """Offset of the value, without quotes or braces."""
    expression: bool = False


@dataclass(slots=True)
class Tag(Block):
    """`<Name a="b" c={d}>`, `<Name/>` or `</Name>`; a fragment has an empty name.

    One on a line of its own is a block until the elements of a page are nested.
    """

    name: str
    attributes: tuple[Attribute, ...] = ()
    closing: bool = False
    self_closing: bool = False

    def attribute(self, name: str) -> str:
        """Value of a quoted attribute; empty if it is missing or an expression."""
        return next((a.value or "" for a in self.attributes if a.name == name and not a.expression), "")


@dataclass(slots=True)
class Holder(Block):
    """A block with blocks inside."""

    children: list[Block] = field(default_factory=list, kw_only=True)

    @property
    def only_text(self) -> Paragraph | None:
        """Its paragraph, if it contains nothing else."""
        only = self.children[0] if len(self.children) == 1 else None
        return only if isinstance(only, Paragraph) else None


@dataclass(slots=True)
class Quote(Holder):
    """A block quotation."""


@dataclass(slots=True)
class Note(Holder):
    """A note, at the foot of its page; `name` is its mark as its author wrote it, such as `[^1]`."""

    name: str


@dataclass(slots=True)
class Item(Holder):
    """A list item; `marker` is `-` or its author's number, such as `3.`."""

    marker: str


@dataclass(slots=True)
class Listing(Holder):
    """A bullet list or a numbered list."""

    delimiter: str
    """`-`, `+`, `*`, `.` or `)`: a different one starts another list."""

    @property
    def items(self) -> list[Item]:
        """Its children, all of them items."""
        return [child for child in self.children if isinstance(child, Item)]

    def numbers(self, *, written: bool) -> list[int]:
        """The number before each item of a numbered list: its author's if `written`, else counted from the first."""
        values = [int(item.marker[:-1]) for item in self.items]
        return values if written else [values[0] + place for place in range(len(values))]


@dataclass(slots=True)
class Admonition(Holder):
    """A note, tip, warning and so on, or another directive of that form."""

    name: str
    title: PlacedText | None = None


@dataclass(slots=True)
class Element(Holder):
    """A JSX or HTML element on lines of its own, with its content."""

    tag: Tag


def made_element(name: str, start: int, end: int, *children: Block) -> Element:
    """An element made from other markup."""
    return Element(start, end, Tag(start, start, name), children=list(children))


def cells_of(row: Element) -> list[Paragraph]:
    """The paragraphs of an HTML table row, in order; none if it contains anything else."""
    paragraphs: list[Paragraph] = []
    for child in row.children:
        if isinstance(child, Paragraph):
            paragraphs.append(child)
        elif not isinstance(child, Element) or (child.children and not (inside := cells_of(child))):
            return []
        elif child.children:
            paragraphs += inside
    return paragraphs


def rows_of(table: Element, *, marked: bool = False) -> list[tuple[Element, bool]]:
    """The rows of an HTML table, and whether each is in its `thead`."""
    rows: list[tuple[Element, bool]] = []
    for child in table.children:
        if isinstance(child, Element) and child.tag.name == "tr":
            rows.append((child, marked))
        elif isinstance(child, Element) and child.tag.name in {"thead", "tbody", "tfoot"}:
            rows += rows_of(child, marked=child.tag.name == "thead")
    return rows


def entries_of(block: Element) -> list[tuple[list[Paragraph], list[Block]]]:
    """Terms of a definition list with the content of their definitions; none if it contains anything else."""
    entries: list[tuple[list[Paragraph], list[Block]]] = []
    terms: list[Paragraph] = []
    for child in block.children:
        if not isinstance(child, Element) or child.tag.name not in {"dt", "dd"}:
            return []
        if child.tag.name == "dd" and terms:
            entries.append((terms, child.children))
        elif child.tag.name == "dt" and (only := child.only_text) is not None:
            terms = [*(terms if not entries or entries[-1][0] is not terms else ()), only]
        else:
            return []
    return entries


HEADED = re.compile(r"h[1-6]")
"""Elements of HTML that are headings."""
TABS = frozenset({"tab", "tab-item", "group-tab", "tabitem", "hfoption", "branch"})
"""Directives and components, in lower case, that show one of their parts at a time."""


def variant_of(tag: Tag) -> str:
    """The name of a tab: its label, else its value or title."""
    names = (tag.attribute(name).strip() for name in ("label", "title", "name", "value", "id"))
    return next((name for name in names if name), "")


WARNINGS = frozenset({"warning", "caution", "danger"})

_DARK_NAMES = frozenset({"only-dark", "dark-only"})


def is_dark_twin(tag: Tag) -> bool:
    """Whether a picture is for dark schemes only: its light-scheme twin is beside it."""
    names = {*tag.attribute("class").split(), *tag.attribute("className").split()}
    for_dark = "hidden" in names and any(name.startswith("dark:") for name in names)
    return tag.name == "img" and (for_dark or bool(names & _DARK_NAMES) or is_dark_address(tag.attribute("src")))


def is_dark_address(url: str) -> bool:
    """Whether a picture's address ends in GitHub's or MkDocs' mark for dark schemes."""
    return url.endswith(("#gh-dark-mode-only", "#only-dark"))


def is_hidden(tag: Tag) -> bool:
    """Whether an element of HTML is never shown, or only as a fallback, such as for ruby or scripts."""
    if tag.name in {"template", "noscript", "rp"}:
        return True
    hidden = next((item for item in tag.attributes if item.name == "hidden"), None)
    if hidden is not None and not hidden.expression and hidden.value != "until-found":
        return tag.name.islower()
    return hides(tag.attribute("style"))


def callout_of(tag: Tag) -> str:
    """The admonition class of a component or box, empty for others.

    Components are, for example, `<Warning>` or `<Admonition type="danger">`; boxes, `<div class="warning">`.
    """
    if tag.name in {"aside", "blockquote", "div", "p", "section"}:
        return box_of(f"{tag.attribute('class')} {tag.attribute('className')}".split())
    if not tag.name[:1].isupper():
        return ""
    name = tag.name
    if name in {"Admonition", "Callout", "Alert", "Aside"}:
        name = next((item.value or "" for item in tag.attributes if item.name in {"type", "kind"}), "note")
    return BOXES.get(name.lower(), "")
