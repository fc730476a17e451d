"""Lines that are MDX or HTML rather than Markdown: imports and exports, tags, expressions, comments."""

import re
from bisect import bisect_right
from collections.abc import Callable
from html import unescape

from lutrin.ingest.placed import Placed, Range
from lutrin.ingest.script import HTML, INLINE, VOID, is_comment, scan_braces, scan_tag, statement_end
from lutrin.ingest.tree import Block, Code, Paragraph, Script, Tag

_MODULE = re.compile(
    r"import\s*(?:['\"{*]|[\w$]+\s*(?:,|\sfrom\b))|export\s+(?:default|const|let|var|async|function|class)\b|export\s*[{*]"
)
_FROM = re.compile(r"\bfrom\s*['\"]|import\s*['\"]")
_CLOSER = re.compile(r"</([\w.:-]*)\s*>")
_LINE_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BLANK_LINE = re.compile(r"(?:\r\n|\n|\r)[ \t]*(?=[\r\n])")
_PARTS = frozenset("td th li dt dd caption p summary blockquote address figcaption h1 h2 h3 h4 h5 h6".split())
"""Elements that hold text."""
_STRUCTURE = re.compile(
    rf"</?(?:table|thead|tbody|tfoot|tr|ul|ol|dl|div|details|section|figure|menu|{'|'.join(sorted(_PARTS))})\b[^<>]*>",
    re.IGNORECASE,
)
_UNSEEN = frozenset({"script", "style", "template", "noscript"})

# Characters that may be scanned in vain (braces and tags that never close) before a file's braces are read as text.
_PATIENCE = 4_000_000


class Flow:
    """Reads such lines of one page."""

    def __init__(self, source: str, lines: list[Range], problem: Callable[[int, str], None], *, mdx: bool) -> None:
        self.source = source
        self.problem = problem
        self.mdx = mdx
        self.open_elements = 0
        self._ends = [end for _, end in lines]
        self._limit = lines[-1][1] if lines else 0
        self._vain = 0
        self._known: dict[str, bool] = {}
        self._last_closers: dict[str, int] = {}

    def start(self, at: int, *, paragraph: bool) -> tuple[list[Block], int] | None:
        """The blocks that start at offset `at`, and the number of the line behind them; None if it is Markdown."""
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
        """Whether a tag of that name is closed somewhere behind this one."""
        if tag.name not in self._last_closers:
            self._last_closers[tag.name] = self.source.rfind(f"</{tag.name}")
        return self._last_closers[tag.name] >= tag.end

    # Pieces of a line --------------------------------------------------------------------------------------------

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
            return None  # a formula is read with the text that it stands in
        opens = not tag.closing and not tag.self_closing
        if tag.name in _UNSEEN and opens:
            return self._behind(f"</{tag.name}>", tag.end, tag.start, f"<{tag.name}>")
        if tag.name == "pre" and opens:
            return self._preformatted(tag, blocks)
        blocks.append(tag)
        return tag.end

    def _behind(self, closer: str, pos: int, start: int, name: str) -> int:
        """Behind the text that closes what readers do not see; if none does, the end of the paragraph."""
        close = self.source.find(closer, pos, self._limit)
        if close >= 0:
            return close + len(closer)
        self.problem(start, f"{name} is never closed")
        blank = _BLANK_LINE.search(self.source, pos, self._limit)
        return blank.start() if blank else self._limit

    def _preformatted(self, tag: Tag, blocks: list[Block]) -> int | None:
        close = self.source.find("</pre>", tag.end, self._limit)
        if close < 0:
            self.problem(tag.start, "<pre> is never closed")
            return None
        text = unescape(_TAG.sub("", _LINE_BREAK.sub("\n", self.source[tag.end : close]))).strip("\r\n")
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
        return tag if is_tag(tag, self.source, self._known, mdx=self.mdx) else None

    # Text between tags of one line -------------------------------------------------------------------------------

    def _inside(self, start: int, end: int, blocks: list[Block]) -> list[Block] | None:
        """The text and closing tags that follow opening tags on their line: `<summary>Text</summary>`."""
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
        return [Paragraph(start, stop, Placed.of(self.source, [(start, stop)]).stripped()), *closers]

    def _parts(self, start: int, end: int, blocks: list[Block]) -> list[Block] | None:
        """The rest of a line of cells, items, paragraphs, `Arm</td><td>5 kg</td></tr>`, if none goes on behind it."""
        while blocks and isinstance(last := blocks[-1], Tag) and last.name in INLINE:
            start = blocks.pop().start  # `<th><b>Arm</b></th>`: it belongs to the text
        opened = [block.name for block in blocks if isinstance(block, Tag)]
        if not opened or opened[-1].lower() not in _PARTS:
            return None
        open_cells = [opened[-1]]
        found: list[Block] = []
        for match in _STRUCTURE.finditer(self.source, start, end):
            tag = self._tag(match.start())
            if tag is None or tag.end != match.end():
                return None
            body = Placed.of(self.source, [(start, tag.start)]).stripped()
            found += [Paragraph.of(body), tag] if body.text else [tag]
            start = tag.end
            if tag.closing and tag.name in open_cells:
                del open_cells[open_cells.index(tag.name) :]
            elif not tag.closing:
                open_cells.append(tag.name)
        goes_on = self.source[start:end].strip() or any(name.lower() in _PARTS for name in open_cells)
        return None if goes_on else found

    # Imports and exports -----------------------------------------------------------------------------------------

    def _module(self, at: int) -> tuple[list[Block], int] | None:
        if (at and self.source[at - 1] not in "\r\n\ufeff") or not _MODULE.match(self.source, at, at + 300):
            return None
        end = statement_end(self.source, at, self._limit)
        if self.source.startswith("import", at) and not _FROM.search(self.source, at, end):
            return None
        return [Script(at, end, module=True)], self._line_of(end) + 1


def is_tag(tag: Tag, source: str, known: dict[str, bool], *, mdx: bool) -> bool:
    """Whether what looks like a tag is one; `std::vector<int>` and `cp <file> <folder>` are text."""
    if not tag.name:
        return mdx
    if tag.name.lower() in HTML or tag.self_closing or tag.attributes or (tag.closing and tag.name[0].isupper()):
        return True
    found = known.get(tag.name)
    if found is None:
        found = known[tag.name] = f"</{tag.name}" in source and f"<{tag.name}" in source
    return found
