"""Extensions of Markdown by site generators, resolved to what a reader of the built page sees.

Attributes in braces (Kramdown, Pandoc), Liquid tags, includes of other files, definition lists, Pandoc's drawn tables,
branches of Svelte and tabs of Material for MkDocs are resolved in the finished blocks of a page, so that sections and
the reader's page agree.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from lutrin.ingest.directives import UNSEEN, expand
from lutrin.ingest.makers import BOXES, DIRECTIVES, box_of
from lutrin.ingest.placed_text import PlacedText, Range, line_ranges, trim
from lutrin.ingest.tree import (
    Admonition,
    Attribute,
    Block,
    Code,
    Element,
    Heading,
    Holder,
    Math,
    Paragraph,
    Quote,
    Rule,
    Script,
    Table,
    Tag,
    is_dark_twin,
    is_hidden,
    made_element,
)
from lutrin.ingest.wording import ALERT, BOLD_ALERT, SIGNAL

_ONE = r"(?:[#.][\w:-]+|[\w-]+=(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|[^\s{}\"']+))"
ATTRIBUTES = re.compile(rf"\{{:?\s*{_ONE}(?:\s+{_ONE}){{0,20}}\s*\}}")
"""`{: .lead #intro}` or `{width=50%}`, invisible to readers."""
LIQUID = re.compile(r"\{%-?[^%\n]{0,500}%\}|\{\{-?[ \t]*[\w.\-| '\"()\[\],]{1,200}\}\}|\{\{#\w+[^{}\n]{0,500}\}\}")
"""A tag or value of a site generator, which the built page replaces."""
_INCLUDE = re.compile(
    r"\{\{#(?:rustdoc_)?(?:include|playground)\s++([^{}\s]++)[^{}\n]*+\}\}"
    r"|\{%-?\s*+include\w*+\s++([^%\s]++)[^%\n]*+%\}"
    r"|^[ \t]*--8<--[ \t]+\"([^\"\n]+)\"",
    re.MULTILINE,
)
LEFT_OUT = "LeftOut"
"""Name of the element for code from another file."""
_CELL = re.compile(r"\{(?:r|python|julia|bash|sql|ojs|javascript|dot|mermaid)\b", re.IGNORECASE)
_OPTIONS = re.compile(r"(?:[ \t]*(?:#|//|--|%%)\|[^\n]*(?:\n|\Z))*")
_ENVIRONMENT = re.compile(
    r"\\begin\{((?:equation|align|gather|multline|eqnarray|displaymath|math)\*?)\}.{0,4000}\\end\{\1\}", re.DOTALL
)
"""Text that MathJax takes for a formula without any delimiter."""
_NOT_SHOWN = re.compile(r"\b(?:echo|include)\s*[:=]\s*(?:false|F)\b", re.IGNORECASE)
_NOT_INCLUDED = re.compile(r"\binclude\s*[:=]\s*(?:false|F)\b", re.IGNORECASE)
_CELL_CAPTION = re.compile(
    r"^[ \t]*+(?:#|//|--|%%)\|[ \t]*+(?:fig|tbl|lst)[.-]cap:[ \t]*+(?P<comment>[^\n]*[^ \t\n])[ \t]*+$"
    r"|^[^\n]*\b(?:fig|tab)\.cap[ \t]*=[ \t]*(?P<mark>[\"'])(?P<option>[^\n]+?)(?P=mark)",
    re.MULTILINE,
)
_TABLE_CAPTION = re.compile(r"(?:Table)?:[ \t]+(?=\S)")
_ABBREVIATION = re.compile(r"\*\[([^\]\n]{1,100})\]:[ \t]*+(\S[^\n]*)")
"""The long form of an abbreviation (PHP Markdown Extra)."""
_CLASS = re.compile(r"\.([\w-]+)")
_BRANCH = re.compile(r"\s*(#if\b|:else if\b|:else\b|/if\b)(.*)\Z", re.DOTALL)
_VALUE = re.compile(r"['\"]([^'\"]{1,40})['\"]")
_TABS = frozenset({"tab", "tab-item", "group-tab"})


def settle(
    blocks: Sequence[Block], source: str, problem: Callable[[int, str], None], *, mdx: bool, myst: bool
) -> list[Block]:
    """Blocks as in the built page; unresolved parts are reported and dropped. MDX has no attributes."""
    settler = _Settler(source, mdx=mdx, myst=myst)
    settled = settler.all(blocks)
    if settler.includes:
        offset, first = settler.includes[0]
        more = f" and {len(settler.includes) - 1} more" if len(settler.includes) > 1 else ""
        problem(offset, f"includes {first}{more}; included files are not read, so their text is missing")
    return settled


class _Settler:
    def __init__(self, source: str, *, mdx: bool, myst: bool) -> None:
        self.source = source
        self.mdx = mdx
        self.myst = myst
        self.includes: list[tuple[int, str]] = []
        self.box = ""
        """Classes on a line of their own, which turn the next block into a box."""

    def all(self, blocks: Sequence[Block]) -> list[Block]:
        result: list[Block] = []
        for block in [part for one in blocks for part in expand(one, self.source)] if self.myst else blocks:
            if isinstance(block, Element) and (is_dark_twin(block.tag) or is_hidden(block.tag)):
                continue
            if isinstance(block, Admonition) and block.name == UNSEEN:
                continue
            if isinstance(block, Quote):
                block = _alert(block)  # noqa: PLW2901 - the box takes the quotation's place
            if isinstance(block, Holder):
                block.children[:] = self.all(block.children)
            if isinstance(block, Admonition):
                _arrange(block)
            self.one(block, result)
        if self.mdx:
            return _with_tabs(_branches(result, self.source))
        return _with_tabs(_mark_captions(drawn_tables(result, self.source)))

    def one(self, block: Block, blocks: list[Block]) -> None:
        """Append a block, or its replacement, to the blocks before it."""
        if self.box and isinstance(block, Paragraph | Quote):
            inside: list[Block] = block.children if isinstance(block, Quote) else [block]
            blocks.append(Admonition(block.start, block.end, self.box, children=inside))
            self.box = ""
        elif isinstance(block, Code):
            place = (block.content_start, block.content_end)
            if self.is_include(block.text, block.content_start):
                # Placeholder for code from another file: its address instead of text.
                attribute = Attribute("src", self.includes[-1][1], *place)
                blocks.append(Element(block.start, block.end, Tag(block.start, block.end, LEFT_OUT, (attribute,))))
            elif block.info == "math" and not self.mdx:
                blocks.append(Math(block.start, block.end, PlacedText.of(self.source, [place]).strip()))
            else:
                blocks += _cell(block, self.source)
        elif isinstance(block, Paragraph) and not self.mdx:
            self.paragraph(block, blocks)
        else:
            blocks.append(block)

    def is_include(self, text: str, offset: int) -> bool:
        """Record the files that a text includes; return whether it consists of nothing else."""
        matches = list(_INCLUDE.finditer(text))
        self.includes += [(offset, next(name for name in match.groups() if name)) for match in matches]
        return bool(matches) and not _INCLUDE.sub("", text).strip()

    def paragraph(self, block: Paragraph, blocks: list[Block]) -> None:
        text = block.body.text
        if not any(mark in text for mark in ("{", "\n", "--8<--", "*[")):
            blocks.append(block)
            return
        if self.is_include(text, block.start) or not LIQUID.sub("", text).strip():
            return
        if _ENVIRONMENT.fullmatch(text.strip()):
            blocks.append(Math(block.start, block.end, block.body.strip()))
            return
        head = text.partition("\n")[0]
        marked = ATTRIBUTES.fullmatch(head.strip())
        kind = box_of([name.removesuffix("-title") for name in _CLASS.findall(head)]) if marked else ""
        if kind and len(head) < len(text):
            inside = block.body.cut(len(head) + 1, len(text)).strip()
            only = Paragraph(inside.at(0), block.end, inside)
            blocks.append(Admonition(block.start, block.end, kind, children=[only]))
            return
        if kind and not (blocks and self.source[blocks[-1].end : block.start].count("\n") < 2):
            self.box = kind
            return
        rest = _without_attributes(block, blocks)
        if rest is None:
            return
        blocks += _abbreviations(rest)


def _mark_captions(blocks: Sequence[Block]) -> list[Block]:
    """Turn Pandoc's `: Loads {#tbl-loads}` and `Table: Loads` beside a table into captions."""
    result = list(blocks)
    for place, block in enumerate(blocks):
        mark = _TABLE_CAPTION.match(block.body.text) if isinstance(block, Paragraph) else None
        beside = (*blocks[max(0, place - 1) : place], *blocks[place + 1 : place + 2])
        if mark is None or not isinstance(block, Paragraph) or not any(isinstance(one, Table) for one in beside):
            continue
        attributes = ATTRIBUTES.search(block.body.text)
        end = attributes.start() if attributes and attributes.end() == len(block.body.text) else len(block.body.text)
        body = block.body.cut(mark.end(), max(end, mark.end())).strip()
        result[place] = made_element("figcaption", block.start, block.end, Paragraph(block.start, block.end, body))
    return result


def _cell(block: Code, source: str) -> list[Block]:
    """The visible parts of a Quarto or R Markdown cell: its captions, and its code without the options."""
    options = _OPTIONS.match(block.text) if _CELL.match(block.info) else None
    if options is None:
        return [block]
    settings = f"{block.info}\n{options[0]}"
    if _NOT_INCLUDED.search(settings):
        return []
    start = options.end()
    blocks: list[Block] = []
    for match in _CELL_CAPTION.finditer(source, block.start, block.content_start + start):
        begin, end = match.span("comment" if match["comment"] else "option")
        if (text := match["comment"] or "")[:1] in {'"', "'"} and len(text) > 2 and text[0] == text[-1]:
            begin, end = begin + 1, end - 1
        inside = Paragraph(begin, end, PlacedText.of(source, [(begin, end)]))
        blocks.append(made_element("figcaption", *match.span(), inside))
    if not _NOT_SHOWN.search(settings):
        block.text = block.text[start:]
        block.content_start += start
        blocks.append(block)
    return blocks


def _without_attributes(block: Paragraph, blocks: list[Block]) -> Paragraph | None:
    """Strip the attributes from a paragraph's last line; attributes alone belong to the block before."""
    text = block.body.text
    start = text.rfind("\n") + 1
    if ATTRIBUTES.fullmatch(text[start:].strip()) is None:
        return block
    if start:
        body = block.body.cut(0, start - 1)
        return Paragraph(block.start, body.place[1], body)
    classes = _CLASS.findall(text)
    if classes and blocks and isinstance(quote := blocks[-1], Quote):
        blocks[-1] = box = Admonition(quote.start, block.end, " ".join(classes), children=quote.children)
        _arrange(box)
    return None


def _abbreviations(block: Paragraph) -> list[Block]:
    """Turn a paragraph's lines that define abbreviations into a list of terms."""
    body, found = block.body, list(_last_abbreviations(block.body.text))[::-1]
    if not found:
        return [block]
    parts = [
        (name, Paragraph.of(body.cut(*match.span(group)).strip()))
        for match in found
        for name, group in (("dt", 1), ("dd", 2))
    ]
    entries = [made_element(name, part.start, part.end, part) for name, part in parts]
    before = body.cut(0, max(0, found[0].start() - 1)).strip()
    above: list[Block] = [Paragraph.of(before)] if before.text else []
    return [*above, made_element("dl", entries[0].start, block.end, *entries)]


def _last_abbreviations(text: str) -> Iterator[re.Match[str]]:
    """The last lines of a text that define abbreviations, last one first."""
    begin = len(text) + 1
    while begin > 0:
        end = begin - 1
        begin = text.rfind("\n", 0, end) + 1
        match = _ABBREVIATION.fullmatch(text, begin, end)
        if match is None:
            return
        yield match


def _branches(blocks: list[Block], source: str) -> list[Block]:
    """Svelte's `{#if framework === 'a'} ... {:else} ... {/if}`: show each branch only to its readers."""
    top: list[Block] = []
    here = top
    condition = ""
    for block in blocks:
        inside = source[block.start + 1 : block.end - 1] if isinstance(block, Script) and not block.module else ""
        branch = _BRANCH.match(inside)
        if branch is None:
            here.append(block)
            continue
        if branch[1] == "/if":
            here = top
            continue
        value = _VALUE.search(branch[2])
        label = value[1] if value else f"not {condition}" if condition else ""
        condition = condition if branch[1] == ":else" else label
        place = (block.start, block.end)
        element = Element(*place, Tag(*place, "Branch", (Attribute("value", label, *place),)))
        top.append(element)
        here = element.children
    return top


def _alert(block: Quote) -> Quote | Admonition:
    """Turn GitHub's and Obsidian's `> [!warning]- Title`, or a quotation that begins with a signal word, into a box."""
    first = block.children[0] if block.children else None
    if not isinstance(first, Paragraph):
        return block
    text = first.body.text
    alert = ALERT.match(text) or BOLD_ALERT.match(text)
    if alert is None:
        signal = SIGNAL.match(text.lstrip("*_ "))
        kind = signal[1].lower() if signal else "warning" if text.startswith("\u26a0") else ""
        return Admonition(block.start, block.end, kind, children=block.children) if kind else block
    name = alert["kind"].lower()
    title = first.body.cut(*alert.span("title")).strip() if alert["title"].strip() else None
    rest = first.body.cut(alert.end(), len(text)).strip()
    body: list[Block] = [Paragraph(rest.at(0), first.end, rest)] if rest.text else []
    inside = [*body, *block.children[1:]]
    return Admonition(block.start, block.end, BOXES.get(name, name), title, children=inside)


def _arrange(box: Admonition) -> None:
    """Give a box of a Carpentries lesson its title or tabs, which are headings inside; a tab group contains no other.

    Each tab of a group begins with a heading of the first one's level.
    """
    first = box.children[0] if box.children else None
    if isinstance(first, Heading) and not box.title and box.name in DIRECTIVES["named_inside"]:
        box.title = first.body
        del box.children[0]
    elif isinstance(first, Heading) and not box.title and box.name in _TABS:
        tabs: list[Admonition] = []
        for child in box.children:
            if isinstance(child, Heading) and child.level <= first.level:
                tabs.append(Admonition(child.start, child.end, "tab", child.body))
            else:
                tabs[-1].children.append(child)
        box.name, box.children = "tabs", list(tabs)
    if box.name in {"tabs", "tab-set"}:
        box.children = [
            tab
            for child in box.children
            for tab in (child.children if isinstance(child, Admonition) and child.name == "tabs" else [child])
        ]


def _with_tabs(blocks: list[Block]) -> list[Block]:
    """Join consecutive tabs into one group."""
    result: list[Block] = []
    for block in blocks:
        if isinstance(block, Admonition) and block.name in _TABS:
            last = result[-1] if result else None
            if not isinstance(last, Admonition) or last.name != "tabs":
                last = Admonition(block.start, block.end, "tabs")
                result.append(last)
            last.children.append(block)
            last.end = block.end
        else:
            result.append(block)
    return result


# Tables drawn with lines and blanks -----------------------------------------------------------------------------------

_BORDER = re.compile(r"\+(?:[-=:]+\+)+[ \t]*\Z")
_DASHES = re.compile(r"[ \t]*-{2,}(?:[ \t]+-{2,})*[ \t]*\Z")
_RUN = re.compile(r"-{2,}")
_LONGEST = 400
"""Most blocks of one multiline table: each of its rows is a paragraph."""


def drawn_tables(blocks: Sequence[Block], source: str) -> list[Block]:
    """Replace Pandoc's grid, simple and multiline tables, parsed as paragraphs and rules, by tables."""
    result: list[Block] = []
    place = 0
    while place < len(blocks):
        block = blocks[place]
        table, length = None, 1
        if isinstance(block, Paragraph) and block.body.text.startswith("+"):
            table = _grid(block, source)
        elif isinstance(block, Rule | Paragraph | Heading):
            table, length = _ruled_table(blocks[place : place + _LONGEST], source)
        result.append(table or block)
        place += length
    return result


def _lines(source: str, start: int, end: int) -> list[Range]:
    begin = source.rfind("\n", 0, start) + 1
    return [(begin + a, begin + b) for a, b in line_ranges(source[begin:end])]


def _grid(block: Paragraph, source: str) -> Table | None:
    lines = _lines(source, block.start, block.end)
    first = source[slice(*lines[0])]
    if not _BORDER.fullmatch(first.strip()) or len(lines) < 3:
        return None
    edges = [place for place, sign in enumerate(first) if sign == "+"]
    rows: list[list[list[Range]]] = [[]]
    heads = 0
    for begin, end in lines[1:]:
        text = source[begin:end]
        if text.strip().startswith("+"):
            if "=" in text:
                heads = len(rows)
            rows.append([])
        elif text.strip().startswith("|"):
            rows[-1] = rows[-1] or [[] for _ in edges[1:]]
            for cell, (left, right) in zip(rows[-1], pairwise(edges), strict=True):
                cell.append((min(begin + left + 1, end), min(begin + right, end)))
    return _table([row for row in rows if row], min(heads, 1), source, block.start, block.end)


def _ruled_table(blocks: Sequence[Block], source: str) -> tuple[Table | None, int]:
    """A simple or multiline table and the number of its blocks; (None, 1) if none begins here.

    The columns follow from the line of dashes under the heads, or above the rows of a table without heads.
    """
    first = blocks[0]
    opened = isinstance(first, Rule) and _DASHES.fullmatch(source[first.start : first.end]) is not None
    parts = blocks[opened:]
    columns = _columns(first, source) if opened else []
    head: Paragraph | None = None
    if len(columns) < 2 and len(parts) >= 2 and isinstance(parts[0], Paragraph) and isinstance(parts[1], Rule):
        if (not opened and "\n" in parts[0].body.text) or (opened and len(columns) != 1):
            return None, 1
        head, columns, parts = parts[0], _columns(parts[1], source), parts[2:]
    if len(columns) < 2:
        return None, 1
    body: list[Paragraph | Heading] = []
    end, count = 0, opened + 2 * (head is not None)
    for part in parts:
        if isinstance(part, Heading) and opened and source[part.start] != "#":  # the last line underlines the last row
            body.append(part)
            end = source.find("\n", part.end + 1)
            end = end if end >= 0 else len(source)
            break
        if isinstance(part, Rule) and _DASHES.fullmatch(source[part.start : part.end]):
            end = part.end
            count += 1
        if not isinstance(part, Paragraph) or (body and not opened):
            break
        body.append(part)
    if not body or (opened and not end):
        return None, 1
    multiline = opened and (len(body) > 1 or (head is not None and "\n" in head.body.text))
    rows = [_cells(source, *line, columns) for part in body for line in _lines(source, part.start, part.end)]
    if multiline:
        rows = [_stack_rows(source, part, columns) for part in body]
    heads = [_stack_rows(source, head, columns)] if head is not None else []
    return _table([*heads, *rows], len(heads), source, first.start, end or body[-1].end), count + len(body)


def _columns(rule: Block, source: str) -> list[Range]:
    begin = source.rfind("\n", 0, rule.start) + 1
    runs = [(match.start() - begin, match.end() - begin) for match in _RUN.finditer(source, begin, rule.end)]
    return runs if _DASHES.fullmatch(source[begin : rule.end]) else []


def _cells(source: str, begin: int, end: int, columns: Sequence[Range]) -> list[list[Range]]:
    """The cells of a line; a word across the border of two columns belongs to the right one."""
    edges = [begin]
    for left, _ in columns[1:]:
        place = min(begin + left, end)
        while begin < place < end and not source[place - 1].isspace() and not source[place].isspace():
            place -= 1
        edges.append(place)
    return [[(left, max(left, right))] for left, right in pairwise([*edges, end])]


def _stack_rows(source: str, part: Paragraph | Heading, columns: Sequence[Range]) -> list[list[Range]]:
    lines = [_cells(source, *line, columns) for line in _lines(source, part.start, part.end)]
    return [[piece for cells in lines for piece in cells[column]] for column in range(len(columns))]


def _table(rows: list[list[list[Range]]], heads: int, source: str, start: int, end: int) -> Table | None:
    cells = [[_join(source, ranges) for ranges in row] for row in rows]
    if not cells:
        return None
    blank = [PlacedText.of(source, [(start, start)]) for _ in cells[0]]
    header, body = (cells[0], cells[1:]) if heads else (blank, cells)
    places = [(row[0].at(0), max(cell.place[1] for cell in row)) for row in body]
    return Table(start, end, header, body, [""] * len(header), places)


def _join(source: str, ranges: Sequence[Range]) -> PlacedText:
    pieces = [piece for begin, end in ranges if (piece := trim(source, begin, end))[0] < piece[1]]
    return PlacedText.of(source, pieces or [(ranges[0][0], ranges[0][0])])
