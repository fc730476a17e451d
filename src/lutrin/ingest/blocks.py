"""The block structure of Markdown and MDX, with the place of every block in the source.

mistune knows neither MDX nor positions, so this module finds the blocks, line by line as CommonMark's own algorithm
does: it continues containers, starts new ones, and gives the rest of the line to a leaf. mistune parses the inside of
paragraphs (`lutrin.ingest.inline`). Every line is read once.
"""

from collections.abc import Callable

from lutrin.ingest import containers, leaves, mdx_lines
from lutrin.ingest.ahead import Ahead
from lutrin.ingest.containers import Open
from lutrin.ingest.dialects import ATTRIBUTES, settle
from lutrin.ingest.leaves import FenceLeaf, IndentedLeaf, Leaf, MathLeaf, ParagraphLeaf, References, TableLeaf
from lutrin.ingest.makers import BOXES
from lutrin.ingest.myst import LOOKS_LIKE_MYST, UNSEEN_LINE, expand, picture, shown_option
from lutrin.ingest.placed import Placed, behind_line_end, indentation, line_ranges, skip_columns
from lutrin.ingest.script import VOID
from lutrin.ingest.tree import Admonition, Block, Element, Item, Listing, Mark, Quote, Rule

# Deeper containers are read as text. Books nest four deep.
_DEEPEST = 32


def parse_blocks(
    source: str, start: int, problem: Callable[[int, str], None], *, mdx: bool
) -> tuple[list[Block], References]:
    """The blocks of a page from `start` on, and the link references that it defines."""
    parser = _Parser(source, start, problem, mdx=mdx)
    parser.run()
    blocks = nest(parser.root.children, problem, strict=mdx)
    blocks = expand(blocks, source) if parser.myst else blocks
    return settle(blocks, source, problem, mdx=mdx), parser.references


class _Parser:
    def __init__(self, source: str, start: int, problem: Callable[[int, str], None], *, mdx: bool) -> None:
        self.source = source
        self.lines = [(max(a, start), b) for a, b in line_ranges(source) if b >= start]
        self.problem = problem
        self.mdx = mdx
        self.myst = not mdx and LOOKS_LIKE_MYST.search(source, start) is not None
        self.root = Open([])
        self.stack = [self.root]
        self.leaf: Leaf | None = None
        self.references: References = {}
        self.flow = mdx_lines.Flow(source, self.lines, problem, mdx=mdx)
        self.ahead = Ahead(source, self.lines)
        self.fences_closed = 0
        # The current line: its start, the containers that it continues, the start of its text, its indent.
        self.begin = start
        self.matched = 1
        self.at = 0
        self.indent = 0

    def run(self) -> None:
        line = 0
        while line < len(self.lines):
            line = self._line(line)
        self._close_to(1)
        self._end_leaf()

    # A line ------------------------------------------------------------------------------------------------------

    def _line(self, number: int) -> int:
        self.begin, end = self.lines[number]
        pos = self._continue(self.begin, end)
        if isinstance(self.leaf, FenceLeaf | MathLeaf):
            if self.matched == len(self.stack):
                self._verbatim(number, pos)
                return number + 1
            self._close_to(self.matched)
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
        self._close_to(self.matched)
        if isinstance(self.leaf, IndentedLeaf):
            self.leaf.ranges.append((pos, behind_line_end(self.source, self.at)))
            return
        self._end_leaf()

    # Leaves ------------------------------------------------------------------------------------------------------

    def _verbatim(self, number: int, pos: int) -> None:
        end = self.lines[number][1]
        self._measure(pos, end)
        text = self.source[self.at : end]
        if isinstance(self.leaf, MathLeaf):
            if text.rstrip().endswith("$$"):
                self.leaf.ranges.append((self.at, self.at + len(text.rstrip()) - 2))
                self._end_leaf(end)
            else:
                self.leaf.ranges.append((self.at, end))
        elif isinstance(self.leaf, FenceLeaf):
            if (self.indent <= 3 or self._lenient()) and self.leaf.closes(text):
                self._end_leaf(end)
                self.fences_closed += 1
            else:
                start = min(skip_columns(self.source, self.begin, pos, end, self.leaf.indent), self.at)
                self.leaf.ranges.append((start, behind_line_end(self.source, end)))

    def _start_leaf(self, number: int, end: int) -> int | None:
        """Start (and often end) a leaf at `self.at`; return the number of the next line, or None if no leaf starts."""
        source, at = self.source, self.at
        char = source[at]
        paragraph = self.leaf if isinstance(self.leaf, ParagraphLeaf) and self.matched == len(self.stack) else None
        if char == "#" and (hashes := leaves.HEADING.match(source, at, end)):
            self._close_to(self.matched)
            self._add(leaves.heading(source, len(hashes[1]), [(hashes.end(), end)], at, closing=True))
            return number + 1
        if char in "`~" and (fence := leaves.FENCE.match(source, at, end)):
            return self._fence(number, fence[1] or fence[3], (fence[2] or fence[4] or ""))
        if char == "$" and source.startswith("$$", at) and (after := self._math(number, end)):
            return after
        if paragraph and char in "=-" and leaves.SETEXT.match(source, at, end):
            return self._setext(number, paragraph, 1 if char == "=" else 2)
        if char in "*-_" and leaves.RULE.match(source, at, end):
            self._close_to(self.matched)
            self._add(Rule(at, end))
            return number + 1
        if char in "|:-" and paragraph:
            aligns = leaves.table_aligns(source, paragraph.ranges[-1], (at, end))
            if aligns is not None:
                header = paragraph.ranges.pop()
                self._open(TableLeaf(header, aligns))
                return number + 1
        if char in "<{" or (len(self.stack) == 1 and char in "ie"):
            found = self.flow.start(at, paragraph=paragraph is not None)
            if found is not None:
                self._close_to(self.matched)
                for block in found.blocks:
                    self._add(block)
                return found.following
        if (char == ":" and self._colons(at, end)) or (
            self.myst and char in "%+(" and not self.indent and UNSEEN_LINE.match(source, at, end)
        ):
            return number + 1
        return None

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
                if container.node is not None:
                    container.node.end = at + len(run)
                self._close_to(depth)
                return
        self._close_to(self.matched)
        self.problem(at, f"{run} closes nothing")

    def _fence(self, number: int, marker: str, info: str) -> int:
        begin = self.at
        if not info.strip() and any(
            c.fence.startswith(marker[0]) and len(c.fence) <= len(marker) for c in self.stack[1:]
        ):
            self._close_directive(marker, begin)
            return number + 1
        self._close_to(self.matched)
        held = containers.fenced_directive(info)
        if held is not None and len(self.stack) < _DEEPEST:
            offset = begin + len(marker)
            self._hold(marker, held[0], offset + held[1], offset + held[2])
            return self._options(number)
        if self._is_stray(number, marker, info):
            self.problem(begin, f"{marker} closes nothing")
            return number + 1
        self._open(FenceLeaf(marker, self.indent, info.strip(), begin))
        return number + 1

    def _is_stray(self, number: int, marker: str, info: str) -> bool:
        """Whether a fence without a language is a stray closing fence rather than the start of a block.

        It is if no later fence closes it although earlier blocks were closed. It also is if a fence with a language
        follows a blank line before the next one that could close it: nobody writes that inside a code block.
        """
        closer = self.ahead.fence_closes(number, marker)
        if closer is None and (info.strip() or not self.fences_closed):
            self.problem(self.at, f"{marker} is never closed")
            return False
        if info.strip() or not self.fences_closed:
            return False
        return closer is None or self.ahead.fence_opens(number, closer, marker)

    def _math(self, number: int, end: int) -> int | None:
        at = self.at
        rest = self.source[at + 2 : end].rstrip()
        if rest.endswith("$$") and "$$" not in rest[:-2]:
            self._close_to(self.matched)
            leaf = MathLeaf(at, [(at + 2, at + len(rest))])
            self._add(leaf.block(self.source, end))
            return number + 1
        if "$" in rest or not self.ahead.formula_closes(number):
            return None
        self._open(MathLeaf(at, [(at + 2, end)]))
        return number + 1

    def _setext(self, number: int, paragraph: ParagraphLeaf, level: int) -> int:
        probe = leaves.paragraph(self.source, paragraph, self.references)
        self.leaf = None
        if probe is None:  # nothing but link references: the line is text
            self._text(self.at, self.lines[number][1])
        else:
            ranges = [(a, b) for a, b in paragraph.ranges if b > probe.start]
            self._add(leaves.heading(self.source, level, ranges, probe.start, closing=False))
        return number + 1

    def _text(self, pos: int, end: int) -> None:
        """Give the rest of a line to the open leaf, or start a paragraph with it."""
        lazy = self.matched < len(self.stack)
        if lazy and not self.mdx and ATTRIBUTES.fullmatch(self.source[self.at : end].rstrip()):
            self._close_to(self.matched)  # they belong to the block before them, not to the paragraph inside
        if isinstance(self.leaf, ParagraphLeaf):
            self.leaf.ranges.append((self.at, end))
            return
        if isinstance(self.leaf, TableLeaf) and not lazy:
            self.leaf.rows.append((self.at, end))
            return
        if self.indent >= 4 and not self._lenient():
            code = (skip_columns(self.source, self.begin, pos, end, 4), behind_line_end(self.source, end))
            if isinstance(self.leaf, IndentedLeaf) and not lazy:
                self.leaf.ranges.append(code)
            else:
                self._open(IndentedLeaf([code]))
            return
        self._open(ParagraphLeaf([(self.at, end)]))

    # Containers --------------------------------------------------------------------------------------------------

    def _start_container(self, number: int, end: int) -> int | None:
        """Start a container at `self.at`; return where its text starts, or -1 if it takes the whole line."""
        source, at = self.source, self.at
        if len(self.stack) >= _DEEPEST:
            return None
        if source[at] == ">":
            self._close_to(self.matched)
            quote = Quote(at, at)
            self._push(Open(quote.children, quote), quote)
            return at + 1 + source.startswith((" ", "\t"), at + 1, end)
        if (item := leaves.ITEM.match(source, at, end)) is not None:
            return self._item(item[1], end)
        box = containers.indented(source[at:end]) if source[at] in "!?=" and not self.mdx else None
        if box is not None and self.ahead.is_indented(number, self.indent + 4):
            self._close_to(self.matched)
            self._hold("", box[0], at + box[1], at + box[2], width=self.indent + 4)
            return -1
        if source[at] == ":" and (found := containers.directive(source[at:end])):
            if not found[1] and self.ahead.fence_closes(number, ":::") is None:
                return None  # three colons and an unknown word, never closed
            self._close_to(self.matched)
            self._hold(found[0], found[1], at + found[2], at + found[3])
            return -1
        return None

    def _item(self, marker: str, end: int) -> int | None:
        at, indent = self.at, self.indent
        after = at + len(marker)
        self._measure(after, end)
        spaces, blank, text = self.indent, self.at >= end, self.at
        self.at, self.indent = at, indent
        in_paragraph = isinstance(self.leaf, ParagraphLeaf) and self.matched == len(self.stack)
        if in_paragraph and (blank or (marker[-1] in ".)" and marker[:-1].lstrip("0") != "1")):
            return None
        self._close_to(self.matched)
        self._end_leaf()  # a paragraph before the list goes before it
        siblings = self.stack[-1].children
        last = siblings[-1] if siblings else None
        if not isinstance(last, Listing) or last.delimiter != marker[-1]:
            last = Listing(marker[-1], at, at)
            self._add(last)
        item = Item(marker, at, at)
        last.items.append(item)
        wide = blank or (spaces >= 5 and not self.mdx)
        self._push(Open(item.children, item, width=indent + len(marker) + (1 if wide else spaces), touched=not blank))
        return text if blank or not wide else skip_columns(self.source, self.begin, after, end, 1)

    def _hold(self, fence: str, name: str, start: int, end: int, *, width: int = 0) -> None:
        title = Placed.of(self.source, [(start, end)]).stripped()
        held = Admonition(name, title if title.text and name != "figure" else None, self.at, self.at)
        if name == "figure" and title.text:
            held.children.append(picture(self.source, title.at(0), title.end(len(title.text))))
        self._push(Open(held.children, held, width, fence, touched=True), held)

    def _options(self, number: int) -> int:
        """Skip MyST's `:class: warning` lines after a directive; the class may make it a warning."""
        held = self.stack[-1].node
        number += 1
        while number < len(self.lines) and isinstance(held, Admonition):
            option = containers.OPTION.match(self.source[slice(*self.lines[number])])
            if option is None:
                break
            shown = shown_option(self.source, *self.lines[number])
            if held.name == "figure" and option["name"] == "alt" and shown is not None and held.children:
                address = held.children[0]
                held.children[0] = picture(self.source, address.start, address.end, (shown.start, shown.end))
            else:
                held.children += [shown] if shown is not None else []
            if option["name"] == "class" and option["value"].strip() in BOXES:
                held.name = BOXES[option["value"].strip()]
            number += 1
        return number

    def _push(self, container: Open, block: Block | None = None) -> None:
        self._end_leaf()
        if block is not None:
            self._add(block)
        self.stack.append(container)
        self.matched = len(self.stack)

    def _open(self, leaf: Leaf) -> None:
        self._close_to(self.matched)
        self._end_leaf()
        self._touch()
        self.leaf = leaf

    def _add(self, block: Block) -> None:
        self._end_leaf()
        self._touch()
        self.stack[-1].children.append(block)

    def _touch(self) -> None:
        for container in self.stack[1:]:
            container.touched = True

    def _close_to(self, depth: int) -> None:
        """Close the containers above `depth`, with the leaf that is open in them."""
        if len(self.stack) > depth:
            self._end_leaf()
        while len(self.stack) > depth:
            container = self.stack.pop()
            container.children[:] = nest(container.children, self.problem, strict=self.mdx)
            node = container.node
            if container.fence and node is not None and node.end == node.start:
                self.problem(node.start, f"{container.fence} is never closed")
            if node is not None and container.children:
                node.end = max(node.end, container.children[-1].end)
        self.matched = min(self.matched, depth)

    def _end_leaf(self, end: int | None = None) -> None:
        """Finish the open leaf; `end` is the end of its closing line, if it has one."""
        leaf, self.leaf = self.leaf, None
        if leaf is None:
            return
        children = self.stack[-1].children
        if isinstance(leaf, ParagraphLeaf):
            if leaf.ranges and (block := leaves.paragraph(self.source, leaf, self.references)) is not None:
                children.append(block)
        elif isinstance(leaf, FenceLeaf | MathLeaf):
            last = leaf.ranges[-1][1] if leaf.ranges else leaf.start
            children.append(leaf.block(self.source, last if end is None else end))
        else:
            children.append(leaf.block(self.source))


# Deeper elements stay beside each other: readers cannot tell, and no walk over the tree can run out of stack.
_DEEPEST_ELEMENT = 40


def nest(blocks: list[Block], problem: Callable[[int, str], None], *, strict: bool) -> list[Block]:
    """Put what stands between `Mark`s inside an element; a missing partner is an error if `strict` (MDX)."""
    top: list[Block] = []
    opened: list[Element] = []
    for block in blocks:
        here = opened[-1].children if opened else top
        if not isinstance(block, Mark):
            here.append(block)
        elif block.tag.closing:
            _close(block, opened, problem, strict=strict)
        else:
            element = Element(block.tag, block.start, block.end)
            here.append(element)
            if not block.tag.self_closing and block.tag.name.lower() not in VOID and len(opened) < _DEEPEST_ELEMENT:
                opened.append(element)
    for element in opened:
        if strict:
            problem(element.start, f"<{element.tag.name}> is never closed")
    return top


def _close(mark: Mark, opened: list[Element], problem: Callable[[int, str], None], *, strict: bool) -> None:
    for depth in range(len(opened) - 1, -1, -1):
        if opened[depth].tag.name == mark.tag.name:
            for inner in opened[depth + 1 :]:
                if strict:
                    problem(inner.start, f"<{inner.tag.name}> is never closed")
            opened[depth].end = mark.end
            del opened[depth:]
            return
    if strict:
        problem(mark.start, f"</{mark.tag.name}> closes nothing")
