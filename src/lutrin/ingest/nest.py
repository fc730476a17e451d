"""From tags that stand on their own lines to elements with children."""

from collections.abc import Callable

from lutrin.ingest.script import VOID
from lutrin.ingest.tree import Block, Element, Mark

# Deeper elements stay beside each other: readers cannot tell, and no walk over the tree can run out of stack.
_DEEPEST = 40


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
            if not block.tag.self_closing and block.tag.name.lower() not in VOID and len(opened) < _DEEPEST:
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
