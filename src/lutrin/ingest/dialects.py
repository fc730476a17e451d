"""What site generators add to Markdown, as a reader of the built page sees it.

Attributes in braces (Kramdown, Pandoc), Liquid's tags, includes of other files, definition lists, branches of Svelte
and tabs of Material for MkDocs are read from the finished blocks of a page, so that sections and the reader's page
agree.
"""

import re
from collections.abc import Callable, Sequence

from lutrin.ingest.containers import UNSEEN
from lutrin.ingest.makers import BOXES, box_of
from lutrin.ingest.pandoc_tables import drawn_tables
from lutrin.ingest.placed import Placed, line_ranges
from lutrin.ingest.script import Attribute, Tag
from lutrin.ingest.tree import (
    Admonition,
    Block,
    Code,
    Element,
    Heading,
    Listing,
    Math,
    Paragraph,
    Quote,
    Script,
    Table,
    is_dark_twin,
    is_hidden,
)
from lutrin.ingest.wording import ALERT, BOLD_ALERT, SIGNAL

Problem = Callable[[int, str], None]

_ONE = r"(?:[#.][\w:-]+|[\w-]+=(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|[^\s{}\"']+))"
ATTRIBUTES = re.compile(rf"\{{:?\s*{_ONE}(?:\s+{_ONE}){{0,20}}\s*\}}")
"""`{: .lead #intro}` or `{width=50%}`, which no reader sees."""
LIQUID = re.compile(r"\{%-?[^%\n]{0,500}%\}|\{\{-?[ \t]*[\w.\-| '\"()\[\],]{1,200}\}\}|\{\{#\w+[^{}\n]{0,500}\}\}")
"""A tag or value of a site generator, which the built page replaces."""
_ALONE = re.compile(rf"(?:{LIQUID.pattern}|\s)+\Z")
_INCLUDE = re.compile(
    r"\{\{#(?:rustdoc_)?(?:include|playground)\s+([^{}\s]+)[^{}\n]*\}\}|\{%-?\s*include\w*\s+([^%\s]+)[^%\n]*%\}"
    r"|^[ \t]*--8<--[ \t]+\"([^\"\n]+)\"",
    re.MULTILINE,
)
LEFT_OUT = "LeftOut"
"""Name of the element that stands for code of another file."""
_CELL = re.compile(r"\{(?:r|python|julia|bash|sql|ojs|javascript|dot|mermaid)\b", re.IGNORECASE)
_OPTIONS = re.compile(r"(?:[ \t]*(?:#|//|--|%%)\|[^\n]*(?:\n|\Z))+")
_ENVIRONMENT = re.compile(
    r"\\begin\{((?:equation|align|gather|multline|eqnarray|displaymath|math)\*?)\}.{0,4000}\\end\{\1\}", re.DOTALL
)
"""What MathJax takes for a formula without any other mark."""
_NOT_SHOWN = re.compile(r"\b(?:echo|include)\s*[:=]\s*(?:false|F)\b", re.IGNORECASE)
_NOT_INCLUDED = re.compile(r"\binclude\s*[:=]\s*(?:false|F)\b", re.IGNORECASE)
_CELL_CAPTION = re.compile(
    r"^[ \t]*(?:#|//|--|%%)\|[ \t]*(?:fig|tbl|lst)[.-]cap:[ \t]*(?P<quote>[\"']?)(?P<said>[^\n]+?)(?P=quote)[ \t]*$"
    r"|^[^\n]*\b(?:fig|tab)\.cap[ \t]*=[ \t]*(?P<mark>[\"'])(?P<given>[^\n]+?)(?P=mark)",
    re.MULTILINE,
)
_TABLE_CAPTION = re.compile(r"(?:Table)?:[ \t]+(?=\S)")
_DEFINITION = re.compile(r"(?:\A|\n)[ \t]{0,3}:[ \t]+(?=\S)")
_NOTE = re.compile(r"\[\^[^\s\]]{1,100}\]:")
_MARKED = re.compile(r"^[ \t]*(?:[-+*>|]|\d{1,9}[.)]|`{3})", re.MULTILINE)
_CLASS = re.compile(r"\.([\w-]+)")
_BRANCH = re.compile(r"\s*(#if\b|:else if\b|:else\b|/if\b)(.*)\Z", re.DOTALL)
_VALUE = re.compile(r"['\"]([^'\"]{1,40})['\"]")
_TABS = frozenset({"tab", "tab-item", "group-tab"})
_NAMED_INSIDE = frozenset(
    "challenge solution callout discussion spoiler prereq checklist testimonial instructor keypoints hint".split()
)
_GROUPS = frozenset({"tabs", "tab-set"})


def settle(blocks: Sequence[Block], source: str, problem: Problem, *, mdx: bool) -> list[Block]:
    """Blocks as the built page has them; unresolved parts are reported and left out. MDX has no attributes."""
    settler = _Settler(source, mdx=mdx)
    settled = settler.all(blocks)
    if settler.includes:
        offset, first = settler.includes[0]
        more = f" and {len(settler.includes) - 1} more" if len(settler.includes) > 1 else ""
        problem(offset, f"includes {first}{more}; included files are not read, so their text is missing")
    return settled


class _Settler:
    def __init__(self, source: str, *, mdx: bool) -> None:
        self.source = source
        self.mdx = mdx
        self.includes: list[tuple[int, str]] = []
        self.box = ""
        """Classes that stand on a line before the block which they make a box."""

    def all(self, blocks: Sequence[Block]) -> list[Block]:
        found: list[Block] = []
        for block in blocks:
            if isinstance(block, Element) and (is_dark_twin(block.tag) or is_hidden(block.tag)):
                continue
            if isinstance(block, Admonition) and block.name == UNSEEN:
                continue
            if isinstance(block, Quote):
                block = _alert(block)  # noqa: PLW2901 - the box takes the quotation's place
            if isinstance(block, Quote | Admonition | Element):
                block.children[:] = self.all(block.children)
                _give_title(block)
                _part_tabs(block)
                if isinstance(block, Admonition) and block.name in _GROUPS:
                    block.children[:] = [tab for child in block.children for tab in _unwrap(child)]
            elif isinstance(block, Listing):
                for item in block.items:
                    item.children[:] = self.all(item.children)
            self.one(block, found)
        if self.mdx:
            return _with_tabs(_branches(found, self.source))
        captioned = _mark_captions(drawn_tables(found, self.source))
        return _with_tabs(_with_continuations(captioned, self.source))

    def one(self, block: Block, found: list[Block]) -> None:
        """Add a block, or what it becomes, to those found so far."""
        if self.box and isinstance(block, Paragraph | Quote):
            inside: list[Block] = block.children if isinstance(block, Quote) else [block]
            box, self.box = Admonition(self.box, None, block.start, block.end, inside), ""
            found.append(box)
            return
        if isinstance(block, Code):
            if self.is_include(block.text, block.content_start):
                found.append(self.left_out(block))
            elif block.info == "math" and not self.mdx:
                formula = Placed.of(self.source, [(block.content_start, block.content_end)])
                found.append(Math(formula.stripped(), block.start, block.end))
            else:
                found += _cell(block, self.source)
        elif isinstance(block, Paragraph) and not self.mdx:
            self.paragraph(block, found)
        else:
            found.append(block)

    def is_include(self, text: str, offset: int) -> bool:
        """Note the files that a text includes; return whether it holds nothing else."""
        matches = list(_INCLUDE.finditer(text))
        self.includes += [(offset, next(name for name in match.groups() if name)) for match in matches]
        return bool(matches) and not _INCLUDE.sub("", text).strip()

    def left_out(self, block: Code) -> Element:
        """A placeholder for code that is kept in another file: its address instead of text."""
        address = self.includes[-1][1]
        attribute = Attribute("src", address, block.content_start, block.content_end)
        return Element(Tag(LEFT_OUT, block.start, block.end, (attribute,)), block.start, block.end)

    def paragraph(self, block: Paragraph, found: list[Block]) -> None:
        text = block.body.text
        if "{" not in text and "\n" not in text and "--8<--" not in text:
            found.append(block)
            return
        if self.is_include(text, block.start) or _ALONE.match(text):
            return
        if _ENVIRONMENT.fullmatch(text.strip()):
            found.append(Math(block.body.stripped(), block.start, block.end))
            return
        head = text.partition("\n")[0]
        kind = (
            box_of([name.removesuffix("-title") for name in _CLASS.findall(head)])
            if ATTRIBUTES.fullmatch(head.strip())
            else ""
        )
        if kind and len(head) < len(text):
            inside = block.body.cut(len(head) + 1, len(text)).stripped()
            found.append(Admonition(kind, None, block.start, block.end, [Paragraph(inside, inside.at(0), block.end)]))
            return
        if kind and not (found and self.source[found[-1].end : block.start].count("\n") < 2):
            self.box = kind
            return
        rest = _without_attributes(block, found)
        if rest is not None:
            defined = _definitions(rest)
            last = found[-1] if found else None
            if defined and isinstance(last, Element) and last.tag.name == "dl" and last.end <= rest.start:
                last.children += defined
                last.end = rest.end
            elif defined:
                found.append(Element(Tag("dl", rest.start, rest.start), rest.start, rest.end, defined))
            else:
                found.append(rest)


def _mark_captions(blocks: Sequence[Block]) -> list[Block]:
    """Blocks in which Pandoc's `: Loads {#tbl-loads}` and `Table: Loads` beside a table are captions."""
    found = list(blocks)
    for place, block in enumerate(blocks):
        beside = (*blocks[max(0, place - 1) : place], *blocks[place + 1 : place + 2])
        mark = _TABLE_CAPTION.match(block.body.text) if isinstance(block, Paragraph) else None
        if mark is None or not isinstance(block, Paragraph) or not any(isinstance(one, Table) for one in beside):
            continue
        attributes = ATTRIBUTES.search(block.body.text)
        end = attributes.start() if attributes and attributes.end() == len(block.body.text) else len(block.body.text)
        body = block.body.cut(mark.end(), max(end, mark.end())).stripped()
        tag = Tag("figcaption", block.start, block.start)
        found[place] = Element(tag, block.start, block.end, [Paragraph(body, block.start, block.end)])
    return found


def _cell(block: Code, source: str) -> list[Block]:
    """What the built page shows of a cell of Quarto or R Markdown: its captions, and its code without the options."""
    if not _CELL.match(block.info):
        return [block]
    options = _OPTIONS.match(block.text)
    given = f"{block.info}\n{options[0] if options else ''}"
    if _NOT_INCLUDED.search(given):
        return []
    shown: list[Block] = []
    for match in _CELL_CAPTION.finditer(source, block.start, block.content_start + (options.end() if options else 0)):
        begin, end = match.span("said" if match["said"] else "given")
        tag = Tag("figcaption", match.start(), match.start())
        inside = Paragraph(Placed.of(source, [(begin, end)]), begin, end)
        shown.append(Element(tag, match.start(), match.end(), [inside]))
    if _NOT_SHOWN.search(given):
        return shown
    start = options.end() if options else 0
    code = Code(
        block.text[start:], block.info, block.start, block.end, block.content_start + start, block.content_end
    )  # fmt: skip
    return [*shown, code if options else block]


def _without_attributes(block: Paragraph, found: list[Block]) -> Paragraph | None:
    """A paragraph without the attributes on its last line; attributes alone belong to the block before."""
    text = block.body.text
    start = text.rfind("\n") + 1
    if ATTRIBUTES.fullmatch(text[start:].strip()) is None:
        return block
    classes = _CLASS.findall(text[start:])
    if start:
        body = block.body.cut(0, start - 1)
        return Paragraph(body, block.start, body.end(len(body.text)))
    if classes and found and isinstance(found[-1], Quote):
        quote = found[-1]
        box = Admonition(" ".join(classes), None, quote.start, block.end, quote.children)
        _give_title(box)
        found[-1] = box
    return None


def _with_continuations(blocks: Sequence[Block], source: str) -> list[Block]:
    """Blocks in which a meaning below a blank line is its term's, and text indented below it or a note is no code."""
    found: list[Block] = []
    for block in blocks:
        last = found[-1] if found else None
        is_list = isinstance(last, Element) and last.tag.name == "dl"
        goes_on = is_list or (isinstance(last, Paragraph) and _NOTE.match(last.body.text))
        if isinstance(block, Paragraph) and (defined := _definitions(block, begun=True)):
            if isinstance(last, Paragraph) and "\n" not in last.body.text:
                found[-1] = Element(Tag("dl", last.start, last.start), last.start, block.end, [_part("dt", last.body)])
            elif not is_list:
                found.append(block)
                continue
            found[-1].children += defined  # type: ignore[union-attr]  # an element, as just made or seen
            found[-1].end = block.end
        elif (
            isinstance(block, Code)
            and goes_on
            and block.start == block.content_start
            and not _MARKED.search(block.text)
        ):
            lines = [
                (block.start + a, block.start + b) for a, b in line_ranges(source[block.start : block.content_end])
            ]
            body = Placed.of(source, [(b - len(source[a:b].lstrip()), b) for a, b in lines if source[a:b].strip()])
            found.append(Paragraph(body, block.start, block.end))
        else:
            found.append(block)
    return found


def _definitions(block: Paragraph, *, begun: bool = False) -> list[Block]:
    """The entries of a definition list: lines of terms, each followed by a line that starts with a colon.

    Args:
        begun: Whether the first term stands above the block, so that it starts with a colon itself.
    """
    body = block.body
    marks = list(_DEFINITION.finditer(body.text))
    if not marks or (marks[0].start() == 0) != begun:
        return []
    entries: list[Block] = []
    term_start = 0
    for number, mark in enumerate(marks):
        stop = marks[number + 1].start() if number + 1 < len(marks) else len(body.text)
        for begin, end in line_ranges(body.text[term_start : mark.start()]):
            if begin < end:
                entries.append(_part("dt", body.cut(term_start + begin, term_start + end)))
        # The last line before the next colon is the next term, unless that colon continues this one.
        next_term = stop
        if number + 1 < len(marks) and (line := body.text.rfind("\n", mark.end(), stop)) >= 0:
            next_term = line
        entries.append(_part("dd", body.cut(mark.end(), next_term)))
        term_start = next_term
    return entries


def _part(name: str, body: Placed) -> Element:
    body = body.stripped()
    start, end = body.at(0), body.end(len(body.text))
    return Element(Tag(name, start, start), start, end, [Paragraph(body, start, end)])


def _branches(blocks: list[Block], source: str) -> list[Block]:
    """Svelte's `{#if framework === 'a'} ... {:else} ... {/if}`: each branch is only for its readers."""
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
        tag = Tag("Branch", block.start, block.end, (Attribute("value", label, block.start, block.end),))
        element = Element(tag, block.start, block.end)
        top.append(element)
        here = element.children
    return top


def _alert(block: Quote) -> Quote | Admonition:
    """GitHub's and Obsidian's `> [!warning]- Title`, or a quotation that begins with a signal word: a box."""
    first = block.children[0] if block.children else None
    if not isinstance(first, Paragraph):
        return block
    text = first.body.text
    alert = ALERT.match(text) or BOLD_ALERT.match(text)
    if alert is None:
        signal = SIGNAL.match(text.lstrip("*_ "))
        kind = signal[1].lower() if signal else "warning" if text.startswith("\u26a0") else ""
        return Admonition(kind, None, block.start, block.end, block.children) if kind else block
    name = alert["kind"].lower()
    title = first.body.cut(*alert.span("title")).stripped() if alert["title"].strip() else None
    rest = first.body.cut(alert.end(), len(text)).stripped()
    body: list[Block] = [Paragraph(rest, rest.at(0), first.end)] if rest.text else []
    return Admonition(BOXES.get(name, name), title, block.start, block.end, [*body, *block.children[1:]])


def _give_title(block: Block) -> None:
    """Name a box of a Carpentries lesson by the heading inside it."""
    if isinstance(block, Admonition) and block.title is None and block.name in _NAMED_INSIDE:
        first = block.children[0] if block.children else None
        if isinstance(first, Heading):
            block.title = first.body
            del block.children[0]


def _part_tabs(block: Block) -> None:
    """A group of tabs in a Carpentries lesson: each begins with a heading of the first one's level."""
    first = block.children[0] if isinstance(block, Admonition) and block.children else None
    if not isinstance(block, Admonition) or block.name not in _TABS or block.title or not isinstance(first, Heading):
        return
    tabs: list[Block] = []
    here: list[Block] = []
    for child in block.children:
        if isinstance(child, Heading) and child.level <= first.level:
            tab = Admonition("tab", child.body, child.start, child.end)
            tabs.append(tab)
            here = tab.children
        else:
            here.append(child)
    block.name, block.children = "tabs", tabs


def _unwrap(block: Block) -> Sequence[Block]:
    return block.children if isinstance(block, Admonition) and block.name == "tabs" else (block,)


def _with_tabs(blocks: list[Block]) -> list[Block]:
    """Join tabs that follow each other directly into one group."""
    found: list[Block] = []
    for block in blocks:
        if isinstance(block, Admonition) and block.name in _TABS:
            last = found[-1] if found else None
            if not isinstance(last, Admonition) or last.name != "tabs":
                last = Admonition("tabs", None, block.start, block.end)
                found.append(last)
            last.children.append(block)
            last.end = block.end
        else:
            found.append(block)
    return found
