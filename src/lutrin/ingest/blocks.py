"""The block structure of Markdown and MDX, with the place of every block in the source.

mistune knows neither MDX nor positions, so this module finds the blocks, line by line like CommonMark's own algorithm:
it continues containers, starts new ones, and gives the rest of the line to a leaf. mistune parses the inside of
paragraphs (`lutrin.ingest.inline`). Every line is read once.
"""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from html import unescape
from typing import Literal, TypeGuard

from mistune.util import unikey

from lutrin.ingest import directives
from lutrin.ingest.anchors import explicit_id
from lutrin.ingest.dialects import ATTRIBUTES, settle
from lutrin.ingest.makers import BOXES, HTML, INLINE, VOID
from lutrin.ingest.placed_text import PlacedText, Range, behind_line_end, indentation, line_ranges, skip_columns, trim
from lutrin.ingest.script import is_comment, scan_braces, scan_tag, statement_end
from lutrin.ingest.tree import (
    Admonition,
    Block,
    Code,
    Element,
    Heading,
    Holder,
    Item,
    Listing,
    Math,
    Note,
    Paragraph,
    Quote,
    Rule,
    Script,
    Table,
    Tag,
    made_element,
)

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+|(?=[\r\n]|\Z))")
_SETEXT = re.compile(r"(=+|-+)[ \t]*\Z")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}+|(?:-[ \t]*){3,}+|(?:_[ \t]*){3,}+)\Z")
_FENCE = re.compile(r"(`{3,}+)([^`]*)\Z|(~{3,}+)(.*)\Z", re.DOTALL)
_ITEM = re.compile(r"([-+*]|\d{1,9}[.)])(?=[ \t]|\Z)")
_NOTE = re.compile(r"(\[\^[^\s\]]{1,100}\]):")
_MEANING = re.compile(r":[ \t]+(?=\S)")
"""The definition of a term, on the line below it (Pandoc, PHP Markdown Extra)."""
_ROW = re.compile(r"\||\+[-=]")
_DASHED = re.compile(r"--[ \t]+--")
"""The line under the column heads of a table drawn with blanks."""
_NOTE_WIDTH = 4
"""Most columns by which the text of a note or a definition is indented."""
_CLOSING_HASHES = re.compile(r"(?:(?<=[ \t])|\A)#+[ \t]*\Z")
_BAR = re.compile(r"\\.|\|")
_ALIGN = re.compile(r":?-+:?")
_ALIGNS = {(True, True): "center", (True, False): "left", (False, True): "right", (False, False): ""}
_DEFINITION = re.compile(
    r"[ \t]*\[(?!\^)((?:[^\\\[\]]|\\.){1,999}+)\]:[ \t]*+(?:\n[ \t]*+)?(<[^<>\n]*+>|[^\s<]\S*+)"
    r"(?:(?:[ \t]++|[ \t]*+\n[ \t]*+)(\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)))?[ \t]*(?:\n|\Z)",
    re.DOTALL,
)
_MODULE = re.compile(
    r"import\s*(?:['\"{*]|[\w$]+\s*(?:,|\sfrom\b))|export\s+(?:default|const|let|var|async|function|class)\b|export\s*[{*]"
)
_FROM = re.compile(r"\bfrom\s*['\"]|import\s*['\"]")
_CLOSER = re.compile(r"</([\w.:-]*)\s*>")
_LINE_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_ANY_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?=[\r\n])")
_PARTS = frozenset("td th li dt dd caption p summary blockquote address figcaption h1 h2 h3 h4 h5 h6".split())
"""Elements that contain text."""
_STRUCTURE = re.compile(
    rf"</?(?:table|thead|tbody|tfoot|tr|ul|ol|dl|div|details|section|figure|menu|{'|'.join(sorted(_PARTS))})\b[^<>]*>",
    re.IGNORECASE,
)
_UNSEEN = frozenset({"script", "style", "template", "noscript"})

# Characters that may be scanned in vain (braces and tags that never close) before a file's braces count as text.
_PATIENCE = 4_000_000
# Deeper containers are read as text. Books nest four deep.
_DEEPEST = 32
# Deeper elements become siblings: readers cannot tell, and no walk over the tree can run out of stack.
_DEEPEST_ELEMENT = 40
# A fence whose end is farther ahead counts as closed.
_FARTHEST = 2000

References = dict[str, dict[str, str]]
"""Link reference definitions by normalised label, in the form for mistune's inline parser."""
Problem = Callable[[int, str], None]


def parse_blocks(source: str, start: int, problem: Problem, *, mdx: bool) -> tuple[list[Block], References]:
    """The blocks of a page from `start` on, and the link references that it defines."""
    parser = _Parser(source, start, problem, mdx=mdx)
    line = 0
    while line < len(parser.lines):
        line = parser.line(line)
    parser.close_to(1)
    parser.end_leaf()
    blocks = nest(parser.stack[0].node.children, problem, strict=mdx)
    return settle(blocks, source, problem, mdx=mdx, myst=parser.myst), parser.references


@dataclass(slots=True)
class _Open:
    """A container on the stack; at the bottom the page itself."""

    node: Holder
    width: int = 0
    """For a list item: columns from the start of its container's text to the start of its own."""
    fence: str = ""
    """For a directive: the run of colons, backticks or tildes that opened it."""
    touched: bool = False
    """For a list item: whether it has had a line with text, because it starts with at most one blank line."""


@dataclass(slots=True)
class _Leaf:
    """A block without blocks inside, while its lines are read."""

    kind: Literal["paragraph", "fence", "indented", "math", "table"]
    ranges: list[Range]
    """Its lines; of code with their line endings, of a table with the header first."""
    start: int = 0
    marker: str = ""
    """The run of backticks or tildes that opens a fence."""
    indent: int = 0
    info: str = ""
    aligns: list[str] = field(default_factory=list)


class _Flow:
    """Reads lines that are MDX or HTML rather than Markdown: imports and exports, tags, expressions, comments."""

    def __init__(self, source: str, lines: list[Range], problem: Problem, *, mdx: bool) -> None:
        self.source = source
        self.problem = problem
        self.mdx = mdx
        self.open_elements = 0
        self._ends = [end for _, end in lines]
        self._limit = lines[-1][1] if lines else 0
        self._vain = 0
        self._pairs: dict[str, bool] = {}
        self._last_closers: dict[str, int] = {}

    def start(self, at: int, *, paragraph: bool) -> tuple[list[Block], int] | None:
        """The blocks that start at offset `at`, and the number of the line after them; None if it is Markdown."""
        if self.source[at] in "ie":
            return None if paragraph or not self.mdx else self._module(at)
        blocks: list[Block] = []
        cursor = at
        while True:
            while cursor < self._limit and self.source[cursor] in " \t":
                cursor += 1
            following = self._line_of(cursor) + 1
            end = self._ends[following - 1]
            if cursor >= end:
                break
            after = self._piece(cursor, blocks)
            if after is None:
                rest = self._inside(cursor, end, blocks) or self._parts(cursor, end, blocks)
                if rest is None:
                    return None
                blocks += rest
                break
            cursor = after
        tags = [block for block in blocks if isinstance(block, Tag)]
        if paragraph and any(tag.name in INLINE for tag in tags):
            return None
        for tag in tags:
            if tag.closing:
                self.open_elements = max(0, self.open_elements - 1)
            elif not tag.self_closing and self._closes(tag):
                self.open_elements += 1
        return blocks, following

    def _line_of(self, offset: int) -> int:
        return min(bisect_right(self._ends, offset - 1), len(self._ends) - 1)

    def _closes(self, tag: Tag) -> bool:
        """Whether a tag of that name closes after this one."""
        if tag.name not in self._last_closers:
            self._last_closers[tag.name] = self.source.rfind(f"</{tag.name}")
        return self._last_closers[tag.name] >= tag.end

    def _piece(self, pos: int, blocks: list[Block]) -> int | None:
        """Read a tag, comment or expression at `pos` into `blocks`; returns where it ends, None if it is neither."""
        source = self.source
        if source.startswith("<!--", pos):
            return self._behind("-->", pos + 4, pos, "a comment (<!--)")
        if source[pos] == "{" and (self.mdx or source.startswith("{/*", pos)):
            end = self._braces(pos)
            if end is not None and not is_comment(source[pos + 1 : end - 1]):
                blocks.append(Script(pos, end, module=False))
            return end
        if source[pos] != "<":
            return None
        tag = self._tag(pos)
        if tag is None:
            return None
        if not self.mdx and tag.name in INLINE and tag.end > self._ends[self._line_of(pos)]:
            return None  # in plain Markdown such a tag is part of its paragraph
        if tag.name.lower() == "math":
            return None  # a formula is read with its surrounding text
        opens = not tag.closing and not tag.self_closing
        if tag.name in _UNSEEN and opens:
            return self._behind(f"</{tag.name}>", tag.end, tag.start, f"<{tag.name}>")
        if tag.name == "pre" and opens:
            return self._preformat(tag, blocks)
        blocks.append(tag)
        return tag.end

    def _behind(self, closer: str, pos: int, start: int, name: str) -> int:
        """The end of the text that closes something invisible; without one, the end of the paragraph."""
        close = self.source.find(closer, pos, self._limit)
        if close >= 0:
            return close + len(closer)
        self.problem(start, f"{name} is never closed")
        blank = _BLANK_LINE.search(self.source, pos, self._limit)
        return blank.start() if blank else self._limit

    def _preformat(self, tag: Tag, blocks: list[Block]) -> int | None:
        close = self.source.find("</pre>", tag.end, self._limit)
        if close < 0:
            self.problem(tag.start, "<pre> is never closed")
            return None
        text = unescape(_ANY_TAG.sub("", _LINE_BREAK.sub("\n", self.source[tag.end : close]))).strip("\r\n")
        bare = text.strip()
        if bare.startswith("{`") and bare.endswith("`}"):
            text = bare[2:-2]
        blocks.append(Code(tag.start, close + 6, text, "", tag.end, close))
        return close + 6

    def _braces(self, pos: int) -> int | None:
        if self._vain > _PATIENCE:
            return None
        end = scan_braces(self.source, pos, self._limit)
        if end is None:
            self._vain += min(self._limit - pos, 200_000)
        return end

    def _tag(self, pos: int) -> Tag | None:
        if self._vain > _PATIENCE:
            return None
        tag = scan_tag(self.source, pos, self._limit)
        if tag is None:
            self._vain += 1000
            return None
        return tag if is_tag(tag, self.source, self._pairs, mdx=self.mdx) else None

    def _inside(self, start: int, end: int, blocks: list[Block]) -> list[Block] | None:
        """The text and closing tags after opening tags on their line: `<summary>Text</summary>`."""
        closers: list[Tag] = []
        stop = end
        while True:
            text = self.source[start:stop].rstrip()
            at = text.rfind("</")
            match = _CLOSER.fullmatch(text, at) if at >= 0 else None
            if match is None:
                break
            closers.insert(0, Tag(start + at, start + len(text), match[1], closing=True))
            stop = start + at
        while closers and closers[0].name in INLINE:  # `<summary>a <b>word</b></summary>`
            stop = closers.pop(0).end
        opened = [block for block in blocks if isinstance(block, Tag) and block.name not in VOID][::-1]
        names = [tag.name for tag in closers]
        if not closers or names != [tag.name for tag in opened[: len(closers)]]:
            return None
        text = self.source[start:stop]
        if opened[0].name in INLINE or opened[0].closing or opened[0].self_closing or f"</{names[0]}" in text:
            return None
        return [Paragraph(start, stop, PlacedText.of(self.source, [(start, stop)]).strip()), *closers]

    def _parts(self, start: int, end: int, blocks: list[Block]) -> list[Block] | None:
        """The rest of a line of cells, items, paragraphs, `Arm</td><td>5 kg</td></tr>`, if none continues beyond it."""
        while blocks and isinstance(last := blocks[-1], Tag) and last.name in INLINE:
            start = blocks.pop().start  # `<th><b>Arm</b></th>`: it belongs to the text
        opened = [block.name for block in blocks if isinstance(block, Tag)]
        if not opened or opened[-1].lower() not in _PARTS:
            return None
        open_cells = [opened[-1]]
        parts: list[Block] = []
        for match in _STRUCTURE.finditer(self.source, start, end):
            tag = self._tag(match.start())
            if tag is None or tag.end != match.end():
                return None
            body = PlacedText.of(self.source, [(start, tag.start)]).strip()
            parts += [Paragraph.of(body), tag] if body.text else [tag]
            start = tag.end
            if tag.closing and tag.name in open_cells:
                del open_cells[open_cells.index(tag.name) :]
            elif not tag.closing:
                open_cells.append(tag.name)
        goes_on = self.source[start:end].strip() or any(name.lower() in _PARTS for name in open_cells)
        return None if goes_on else parts

    def _module(self, at: int) -> tuple[list[Block], int] | None:
        if (at and self.source[at - 1] not in "\r\n\ufeff") or not _MODULE.match(self.source, at, at + 300):
            return None
        end = statement_end(self.source, at, self._limit)
        if self.source.startswith("import", at) and not _FROM.search(self.source, at, end):
            return None
        return [Script(at, end, module=True)], self._line_of(end) + 1


class _Parser:
    def __init__(self, source: str, start: int, problem: Problem, *, mdx: bool) -> None:
        self.source = source
        self.lines = [(max(a, start), b) for a, b in line_ranges(source) if b >= start]
        self.problem = problem
        self.mdx = mdx
        self.myst = not mdx and directives.LOOKS_LIKE_MYST.search(source, start) is not None
        self.stack = [_Open(Holder(start, start))]
        self.leaf: _Leaf | None = None
        self.references: References = {}
        self.flow = _Flow(source, self.lines, problem, mdx=mdx)
        self.fences_closed = 0
        self.closers: dict[str, list[tuple[int, int]]] = {}
        """Numbers of the lines that consist of a run of one character, with its length."""
        # The current line: its start, the containers that it continues, the start of its text, its indent.
        self.begin = start
        self.matched = 1
        self.at = 0
        self.indent = 0

    def line(self, number: int) -> int:
        """Read a line, and those after it that belong to the same block; return the number of the next."""
        self.begin, end = self.lines[number]
        pos = self._continue(self.begin, end)
        if self.leaf is not None and self.leaf.kind in {"fence", "math"}:
            if self.matched == len(self.stack):
                self._verbatim(self.leaf, pos, end)
                return number + 1
            self.close_to(self.matched)
        while True:
            self._measure(pos, end)
            if self.at >= end:
                self._blank(pos)
                return number + 1
            if self.indent >= 4 and not self._lenient():
                break
            following = self._start_leaf(number, end)
            if following is not None:
                return following
            inside = self._start_container(number, end)
            if inside is None:
                break
            if inside < 0:  # a directive, which has its line to itself
                return self._options(number)
            pos = inside
        self._text(pos, end)
        return number + 1

    def _continue(self, begin: int, end: int) -> int:
        pos, self.matched = begin, 1
        for container in self.stack[1:]:
            self._measure(pos, end)
            if isinstance(container.node, Quote):
                if not self.source.startswith(">", self.at, end) or (self.indent > 3 and not self.mdx):
                    break
                pos = self.at + 1
                pos += self.source.startswith((" ", "\t"), pos, end)
            elif container.width:
                blank = self.at >= end
                if (blank and not container.touched) or (not blank and self.indent < container.width):
                    break
                pos = skip_columns(self.source, begin, pos, end, container.width)
            self.matched += 1
        return pos

    def _measure(self, pos: int, end: int) -> None:
        self.at, self.indent = indentation(self.source, self.begin, pos, end)

    def _lenient(self) -> bool:
        return self.mdx or self.flow.open_elements > 0

    def _blank(self, pos: int) -> None:
        self.close_to(self.matched)
        if self.leaf is not None and self.leaf.kind == "indented":
            self.leaf.ranges.append((pos, behind_line_end(self.source, self.at)))
        else:
            self.end_leaf()

    def _verbatim(self, leaf: _Leaf, pos: int, end: int) -> None:
        self._measure(pos, end)
        text = self.source[self.at : end].rstrip()
        if leaf.kind == "math":
            closes = text.endswith("$$")
            leaf.ranges.append((self.at, self.at + len(text) - 2 if closes else end))
        else:
            closes = len(text) >= len(leaf.marker) and not text.strip(leaf.marker[0])
            closes = closes and (self.indent <= 3 or self._lenient())
            self.fences_closed += closes
            if not closes:
                start = min(skip_columns(self.source, self.begin, pos, end, leaf.indent), self.at)
                leaf.ranges.append((start, behind_line_end(self.source, end)))
        if closes:
            self.end_leaf(end)

    def _start_leaf(self, number: int, end: int) -> int | None:
        """Start (and often end) a leaf at `self.at`; return the number of the next line, or None if no leaf starts."""
        source, at = self.source, self.at
        char = source[at]
        paragraph = self.leaf if self._in_paragraph() else None
        if char == "#" and (hashes := _HEADING.match(source, at, end)):
            self._add(_heading(source, len(hashes[1]), [(hashes.end(), end)], at, closing=True))
            return number + 1
        if char in "`~" and (fence := _FENCE.match(source, at, end)):
            return self._fence(number, fence[1] or fence[3], (fence[2] or fence[4] or ""))
        if char == "$" and source.startswith("$$", at) and (after := self._math(number, end)):
            return after
        if paragraph and char in "=-" and _SETEXT.match(source, at, end):
            return self._setext(number, paragraph, 1 if char == "=" else 2)
        if char in "*-_" and _RULE.match(source, at, end):
            self._add(Rule(at, end))
            return number + 1
        if char in "|:-" and paragraph:
            aligns = _table_aligns(source, paragraph.ranges[-1], (at, end))
            if aligns is not None:
                self._open(_Leaf("table", [paragraph.ranges.pop()], aligns=aligns))
                return number + 1
        if char in "<{" or (len(self.stack) == 1 and char in "ie"):
            flow = self.flow.start(at, paragraph=paragraph is not None)
            if flow is not None:
                self.close_to(self.matched)
                for block in flow[0]:
                    self._add(block)
                return flow[1]
        if (char == ":" and self._colons(at, end)) or (
            self.myst and char in "%+(" and not self.indent and directives.UNSEEN_LINE.match(source, at, end)
        ):
            return number + 1
        return None

    def _in_paragraph(self) -> bool:
        return self.leaf is not None and self.leaf.kind == "paragraph" and self.matched == len(self.stack)

    def _colons(self, at: int, end: int) -> bool:
        """Close a directive with a line of colons; one that closes nothing is dropped and reported."""
        run = self.source[at:end].rstrip()
        if len(run) < 3 or run.strip(":"):
            return False
        self._close_directive(run, at)
        return True

    def _close_directive(self, run: str, at: int) -> None:
        for depth in range(len(self.stack) - 1, 0, -1):
            container = self.stack[depth]
            if container.fence.startswith(run[0]) and len(container.fence) <= len(run):
                container.node.end = at + len(run)
                self.close_to(depth)
                return
        self.close_to(self.matched)
        self.problem(at, f"{run} closes nothing")

    def _fence(self, number: int, marker: str, info: str) -> int:
        begin = self.at
        if not info.strip() and any(
            c.fence.startswith(marker[0]) and len(c.fence) <= len(marker) for c in self.stack[1:]
        ):
            self._close_directive(marker, begin)
            return number + 1
        self.close_to(self.matched)
        directive = directives.read_fenced(info)
        if directive is not None and len(self.stack) < _DEEPEST:
            offset = begin + len(marker)
            self._hold(marker, directive[0], offset + directive[1], offset + directive[2])
            return self._options(number)
        if self._is_stray(number, marker, info):
            self.problem(begin, f"{marker} closes nothing")
        else:
            self._open(_Leaf("fence", [], begin, marker, self.indent, info.strip()))
        return number + 1

    def _is_stray(self, number: int, marker: str, info: str) -> bool:
        """Whether a fence without a language is a stray closing fence rather than the start of a block.

        It is if no later fence closes it although earlier blocks were closed, or if a fence with a language follows a
        blank line before the next one that could close it, which does not occur inside a code block.
        """
        closer = self._fence_end(number, marker)
        opens = bool(info.strip()) or not self.fences_closed
        if closer is None and opens:
            self.problem(self.at, f"{marker} is never closed")
        return not opens and (closer is None or self._fence_starts(number, closer, marker))

    def _math(self, number: int, end: int) -> int | None:
        at = self.at
        rest = self.source[at + 2 : end].rstrip()
        if rest.endswith("$$") and "$$" not in rest[:-2]:
            self._add(Math(at, end, PlacedText.of(self.source, [(at + 2, at + len(rest))]).strip()))
            return number + 1
        if "$" in rest or self._last_formula <= number:
            return None
        self._open(_Leaf("math", [(at + 2, end)], at))
        return number + 1

    def _setext(self, number: int, paragraph: _Leaf, level: int) -> int:
        probe = self._paragraph(paragraph)
        self.leaf = None
        if probe is None:  # nothing but link references: the line is text
            self._text(self.at, self.lines[number][1])
        else:
            ranges = [(a, b) for a, b in paragraph.ranges if b > probe.start]
            self._add(_heading(self.source, level, ranges, probe.start, closing=False))
        return number + 1

    def _text(self, pos: int, end: int) -> None:
        """Give the rest of a line to the open leaf, or start a paragraph with it."""
        lazy = self.matched < len(self.stack)
        if lazy and not self.mdx and ATTRIBUTES.fullmatch(self.source[self.at : end].rstrip()):
            self.close_to(self.matched)  # they belong to the block before them, not to the paragraph inside
        kind = self.leaf.kind if self.leaf is not None else ""
        if self.leaf is not None and (kind == "paragraph" or (kind == "table" and not lazy)):
            self.leaf.ranges.append((self.at, end))
        elif self.indent < 4 or self._lenient():
            self._open(_Leaf("paragraph", [(self.at, end)]))
        else:
            code = (skip_columns(self.source, self.begin, pos, end, 4), behind_line_end(self.source, end))
            if self.leaf is not None and kind == "indented" and not lazy:
                self.leaf.ranges.append(code)
            else:
                self._open(_Leaf("indented", [code]))

    # Lines ahead: where a fence or formula ends, without walking the same lines twice -----------------------------

    def _ahead(self, number: int) -> str:
        return self.source[slice(*self.lines[number])].strip(" \t>")

    @cached_property
    def _last_formula(self) -> int:
        """The last line that ends in two dollar signs."""
        return next((n for n in range(len(self.lines) - 1, -1, -1) if self._ahead(n).endswith("$$")), -1)

    def _fence_end(self, number: int, marker: str) -> int | None:
        """The first line after `number` whose run is at least as long as `marker`; None if no line is."""
        char = marker[0]
        if char not in self.closers:
            texts = ((n, self._ahead(n)) for n in range(len(self.lines)))
            self.closers[char] = [(n, len(text)) for n, text in texts if len(text) >= 3 and not text.strip(char)]
        closers = self.closers[char]
        places = range(bisect_right(closers, (number, 1 << 30)), len(closers))
        return next((closers[place][0] for place in places if closers[place][1] >= len(marker)), None)

    def _fence_starts(self, number: int, until: int, marker: str) -> bool:
        """Whether a fence with a language starts after a blank line and before line `until`."""
        return any(
            (text := self._ahead(n)).startswith(marker)
            and text[len(marker) : len(marker) + 1].isalpha()
            and not self._ahead(n - 1)
            for n in range(number + 2, min(until, number + _FARTHEST))
        )

    def _is_indented(self, number: int, columns: int) -> bool:
        """Whether the next line, or the one after a blank line, is indented by this many columns."""
        for begin, end in self.lines[number + 1 : number + 3]:
            at, indent = indentation(self.source, begin, begin, end)
            if at < end:
                return indent >= columns
        return False

    def _start_container(self, number: int, end: int) -> int | None:
        """Start a container at `self.at`; return where its text starts, or -1 if it takes the whole line."""
        source, at = self.source, self.at
        if len(self.stack) >= _DEEPEST:
            return None
        if source[at] == ">":
            self._push(_Open(Quote(at, at)))
            return at + 1 + source.startswith((" ", "\t"), at + 1, end)
        if (item := _ITEM.match(source, at, end)) is not None:
            return self._item(item[1], end)
        if (note := _NOTE.match(source, at, end)) is not None:
            self.close_to(self.matched)
            self._push(_Open(Note(at, at, note[1]), _NOTE_WIDTH, touched=True))
            return note.end()
        if not self.mdx and (meaning := _MEANING.match(source, at, end)) is not None:
            return self._meaning(number, meaning.end(), end)
        box = directives.read_indented(source[at:end]) if source[at] in "!?=" and not self.mdx else None
        if box is not None and self._is_indented(number, self.indent + 4):
            self._hold("", box[0], at + box[1], at + box[2], width=self.indent + 4)
            return -1
        if source[at] == ":" and (directive := directives.colons(source[at:end])):
            if not directive[1] and self._fence_end(number, ":::") is None:
                return None  # three colons and an unknown word, never closed
            self._hold(directive[0], directive[1], at + directive[2], at + directive[3])
            return -1
        return None

    def _item(self, marker: str, end: int) -> int | None:
        at, indent = self.at, self.indent
        after = at + len(marker)
        self._measure(after, end)
        spaces, blank, text = self.indent, self.at >= end, self.at
        self.at, self.indent = at, indent
        if self._in_paragraph() and (blank or (marker[-1] in ".)" and marker[:-1].lstrip("0") != "1")):
            return None
        self.close_to(self.matched)
        self.end_leaf()  # a paragraph before the list goes before it
        siblings = self.stack[-1].node.children
        last = siblings[-1] if siblings else None
        if not isinstance(last, Listing) or last.delimiter != marker[-1]:
            last = Listing(at, at, marker[-1])
            self._add(last)
        wide = blank or (spaces >= 5 and not self.mdx)
        width = indent + len(marker) + (1 if wide else spaces)
        self._push(_Open(Item(at, at, marker), width, touched=not blank), last)
        return text if blank or not wide else skip_columns(self.source, self.begin, after, end, 1)

    def _meaning(self, number: int, text: int, end: int) -> int | None:
        """Start a definition; its terms are the lines of the paragraph above, or the last line of a definition."""
        at, indent, leaf = self.at, self.indent, self.leaf
        parent = self.stack[self.matched - 1].node
        last = parent.children[-1] if parent.children else None
        terms: list[Range] = []
        if leaf is not None:
            if leaf.kind != "paragraph":
                return None
            inside = self.matched < len(self.stack)
            if inside and not (_is_list(last) and self.matched + 1 == len(self.stack)):
                return None
            terms, leaf.ranges = (leaf.ranges, []) if not inside else self._last_term(leaf.ranges)
        elif isinstance(last, Paragraph) and not ("\n" in last.body.text or self._is_caption(number, parent.children)):
            parent.children.pop()
            terms, last = [last.body.place], parent.children[-1] if parent.children else None
        elif not _is_list(last):
            return None
        self.close_to(self.matched)
        self.end_leaf()
        if not _is_list(last):
            last = made_element("dl", terms[0][0], end)
            self._add(last)
        for term in terms:
            body = PlacedText.of(self.source, [term]).strip()
            last.children.append(made_element("dt", *term, Paragraph.of(body)))
        self._measure(text, end)
        width = min(_NOTE_WIDTH, self.indent + text - at) if self.at == text else _NOTE_WIDTH
        self.at, self.indent = at, indent
        self._push(_Open(made_element("dd", at, at), indent + width, touched=True), last)
        return text

    def _last_term(self, ranges: list[Range]) -> tuple[list[Range], list[Range]]:
        """Take an unindented last line of a definition as the next term; return it, and the other lines."""
        begin = self.source.rfind("\n", 0, ranges[-1][0]) + 1
        is_term = len(ranges) > 1 and not self.source[begin : ranges[-1][0]].strip(">") and begin == ranges[-1][0]
        return (ranges[-1:], ranges[:-1]) if is_term else ([], ranges)

    def _is_caption(self, number: int, siblings: list[Block]) -> bool:
        """Whether a line with a colon belongs to a table above or below it."""
        following = next((self._ahead(n) for n in range(number + 1, len(self.lines)) if self._ahead(n)), "")
        above = self.source[siblings[-2].start : siblings[-2].end] if len(siblings) > 1 else ""
        dashes = above[len(above.rstrip(" \t-")) :]
        return _ROW.match(following) is not None or _DASHED.search(dashes) is not None

    def _hold(self, fence: str, name: str, start: int, end: int, *, width: int = 0) -> None:
        title = PlacedText.of(self.source, [(start, end)]).strip()
        box = Admonition(self.at, self.at, name, title if title.text and name != "figure" else None)
        if name == "figure" and title.text:
            box.children.append(directives.picture(self.source, *title.place))
        self._push(_Open(box, width, fence, touched=True))

    def _options(self, number: int) -> int:
        """Skip MyST's `:class: warning` lines after a directive; the class may make it a warning."""
        box = self.stack[-1].node
        number += 1
        while number < len(self.lines) and isinstance(box, Admonition):
            option = directives.OPTION.match(self.source[slice(*self.lines[number])])
            if option is None:
                break
            block = directives.shown_option(self.source, *self.lines[number])
            if box.name == "figure" and option["name"] == "alt" and block is not None and box.children:
                address = box.children[0]
                box.children[0] = directives.picture(self.source, address.start, address.end, (block.start, block.end))
            elif block is not None:
                box.children.append(block)
            if option["name"] == "class" and option["value"].strip() in BOXES:
                box.name = BOXES[option["value"].strip()]
            number += 1
        return number

    def _push(self, container: _Open, listing: Holder | None = None) -> None:
        """Open a container; an item or a definition goes into its list."""
        if listing is None:
            self._add(container.node)
        else:
            self.end_leaf()
            listing.children.append(container.node)
        self.stack.append(container)
        self.matched = len(self.stack)

    def _open(self, leaf: _Leaf) -> None:
        self.close_to(self.matched)
        self.end_leaf()
        self._touch()
        self.leaf = leaf

    def _add(self, block: Block) -> None:
        self.close_to(self.matched)
        self.end_leaf()
        self._touch()
        self.stack[-1].node.children.append(block)

    def _touch(self) -> None:
        for container in self.stack[1:]:
            container.touched = True

    def close_to(self, depth: int) -> None:
        """Close the containers above `depth`, and the open leaf in them."""
        if len(self.stack) > depth:
            self.end_leaf()
        while len(self.stack) > depth:
            container = self.stack.pop()
            node = container.node
            node.children[:] = nest(node.children, self.problem, strict=self.mdx)
            if container.fence and node.end == node.start:
                self.problem(node.start, f"{container.fence} is never closed")
            if node.children:
                node.end = max(node.end, node.children[-1].end)
        self.matched = min(self.matched, depth)

    def end_leaf(self, end: int | None = None) -> None:
        """Finish the open leaf; `end` is the end of its closing line, if any."""
        leaf, self.leaf = self.leaf, None
        if leaf is None:
            return
        last = leaf.ranges[-1][1] if leaf.ranges else leaf.start
        block: Block | None = None
        if leaf.kind == "paragraph":
            block = self._paragraph(leaf) if leaf.ranges else None
        elif leaf.kind == "table":
            cells = [
                [PlacedText.of(self.source, [cell]) for cell in split_row(self.source, *row)] for row in leaf.ranges
            ]
            block = Table(leaf.ranges[0][0], last, cells[0], cells[1:], leaf.aligns, leaf.ranges[1:])
        elif leaf.kind == "math":
            block = Math(leaf.start, last if end is None else end, PlacedText.of(self.source, leaf.ranges).strip())
        else:
            block = _code(self.source, leaf, end)
        if block is not None:
            self.stack[-1].node.children.append(block)

    def _paragraph(self, leaf: _Leaf) -> Paragraph | None:
        """The finished paragraph; link reference definitions at its start move to `references`."""
        body = PlacedText.of(self.source, leaf.ranges)
        start = 0
        while (match := _DEFINITION.match(body.text, start)) is not None and unikey(match[1]).strip():
            target = match[2][1:-1] if match[2].startswith("<") else match[2]
            title = (match[3] or "")[1:-1]
            self.references.setdefault(unikey(match[1]), {"url": target, "label": match[1], "title": title})
            start = match.end()
        body = body.cut(start, len(body.text)).strip()
        return Paragraph.of(body) if body.text else None


def _is_list(block: Block | None) -> TypeGuard[Element]:
    return isinstance(block, Element) and block.tag.name == "dl" and block.tag.start == block.tag.end


def _code(source: str, leaf: _Leaf, end: int | None) -> Code:
    """Fenced code, without its last line ending, or indented code, without blank lines at its end."""
    while leaf.kind == "indented" and not source[slice(*leaf.ranges[-1])].strip():
        leaf.ranges.pop()
    if end is None:
        end = leaf.ranges[-1][1] if leaf.ranges else leaf.start
    start, stop = (leaf.ranges[0][0], leaf.ranges[-1][1]) if leaf.ranges else (end, end)
    text = "".join(source[a:b] for a, b in leaf.ranges)
    bare = text.removesuffix("\n").removesuffix("\r")
    stop = max(start, stop - len(text) + len(bare))
    return Code(start if leaf.kind == "indented" else leaf.start, end, bare, leaf.info, start, stop)


def _heading(source: str, level: int, ranges: list[Range], start: int, *, closing: bool) -> Heading:
    """A heading from its text's ranges; drop the `closing` hashes of the form `## A ##`."""
    body = PlacedText.of(source, ranges).strip()
    length, anchor = explicit_id(body.text)
    if closing:
        length = len(_CLOSING_HASHES.sub("", body.text[:length]).rstrip())
    return Heading(start, ranges[-1][1], level, body.cut(0, length).strip(), anchor)


def split_row(source: str, start: int, end: int) -> list[Range]:
    r"""The ranges of a table row's cells, trimmed; `\|` does not separate cells."""
    borders = [match.start() for match in _BAR.finditer(source, start, end) if match[0] == "|"]
    cells = [trim(source, a, b) for a, b in zip([start, *(b + 1 for b in borders)], [*borders, end], strict=True)]
    if len(cells) > 1 and cells[0][0] == cells[0][1]:
        cells = cells[1:]
    if len(cells) > 1 and cells[-1][0] == cells[-1][1]:
        cells = cells[:-1]
    return cells


def _table_aligns(source: str, header: Range, line: Range) -> list[str] | None:
    """The column alignments from a table's first two lines; None if they do not start a table."""
    text = source[slice(*line)]
    if "|" not in text or text.strip(" \t|:-"):
        return None
    cells = [source[a:b] for a, b in split_row(source, *line)]
    if not all(_ALIGN.fullmatch(cell) for cell in cells) or len(split_row(source, *header)) != len(cells):
        return None
    return [_ALIGNS[cell.startswith(":"), cell.endswith(":")] for cell in cells]


def nest(blocks: list[Block], problem: Problem, *, strict: bool) -> list[Block]:
    """Move the content between tags into an element; a missing partner is an error if `strict` (MDX)."""
    top: list[Block] = []
    opened: list[Element] = []
    for block in blocks:
        here = opened[-1].children if opened else top
        if not isinstance(block, Tag):
            here.append(block)
        elif block.closing:
            depth = next((d for d in range(len(opened) - 1, -1, -1) if opened[d].tag.name == block.name), None)
            if depth is None:
                if strict:
                    problem(block.start, f"</{block.name}> closes nothing")
                continue
            _report_open(opened[depth + 1 :], problem, strict=strict)
            opened[depth].end = block.end
            del opened[depth:]
        else:
            element = Element(block.start, block.end, block)
            here.append(element)
            if not block.self_closing and block.name.lower() not in VOID and len(opened) < _DEEPEST_ELEMENT:
                opened.append(element)
    _report_open(opened, problem, strict=strict)
    return top


def _report_open(elements: list[Element], problem: Problem, *, strict: bool) -> None:
    for element in elements if strict else ():
        problem(element.start, f"<{element.tag.name}> is never closed")


def is_tag(tag: Tag, source: str, pairs: dict[str, bool], *, mdx: bool) -> bool:
    """Whether text that looks like a tag is one; `std::vector<int>` and `cp <file> <folder>` are not."""
    if not tag.name:
        return mdx
    if tag.name.lower() in HTML or tag.self_closing or tag.attributes or (tag.closing and tag.name[0].isupper()):
        return True
    is_pair = pairs.get(tag.name)
    if is_pair is None:
        is_pair = pairs[tag.name] = f"</{tag.name}" in source and f"<{tag.name}" in source
    return is_pair
