"""Which passage supports a generated sentence: the one that the model names, else another one that it was shown."""

import re
from collections.abc import Sequence
from itertools import pairwise

from lutrin.answer.ground import support
from lutrin.answer.hostile import gives_orders, headings
from lutrin.answer.render import cells_of
from lutrin.language.words import content_stems, plain
from lutrin.records import Chunk, Unit

MARKER = re.compile(r"\s*\[(\d+)\]")
_LIST_SIGN = re.compile(r"^(?:[-*+]|\d{1,2}[.)])\s+")
_FRAGMENT = re.compile(r"[a-z]+[ ,]")
"""How a sentence begins that is none; one may begin with a name of code."""


def cited(
    text: str, shown: Sequence[tuple[int, Chunk]], question: str, said: Sequence[str]
) -> tuple[str, tuple[int, ...]] | None:
    """A generated sentence without its markers, and the number of the passage that supports it; None: nothing does.

    A copy of the book is an excerpt and no sentence of the model's.

    Args:
        text: As it was generated.
        shown: Passages with their numbers.
        question: Names that stand in it may stand in the answer.
        said: What was let through before, in small letters.
    """
    named = [int(number) for number in MARKER.findall(text)]
    sentence = _LIST_SIGN.sub("", MARKER.sub("", text).strip().replace("**", ""))
    if sentence.endswith(":") or _FRAGMENT.match(sentence) or sentence.casefold() in said:
        return None
    for number, chunk in sorted(shown, key=lambda pair: pair[0] not in named):
        if support(sentence, evidence_of(chunk, f"{question} {sentence}"), question=question) is not None:
            is_copy = f" {plain(sentence)} " in f" {plain(chunk.text)} "
            return None if is_copy else (sentence, (number,))
    return None


def evidence_of(chunk: Chunk, named: str) -> list[str]:
    """What may prove a sentence: one unit of a passage, or two that stand side by side, or a list, below its headings.

    A whole paragraph proves too much: in it every word finds some number to stand with. A row of a table speaks of
    what its first cell names, and proves nothing about anything else.

    Args:
        chunk: The passage.
        named: Question and sentence: what is spoken of.
    """
    heading, spoken = " > ".join(headings(chunk.heading_path)), set(content_stems(named))
    units = [unit for unit in chunk.units if unit.kind != "code" and not gives_orders(unit.text)]
    rows = [unit for unit in units if unit.kind == "table_row"]
    told = [_row(unit) for unit in rows if set(content_stems(cells_of(unit.text)[0])) <= spoken]
    prose = [unit for unit in units if unit.kind != "table_row"]
    pairs = [f"{one.text}\n{two.text}" for one, two in pairwise(prose) if one.block == two.block]
    lists: dict[int, list[str]] = {}
    for unit in prose:
        if unit.kind == "list_item":
            lists.setdefault(unit.block, [unit.lead]).append(unit.text)
    whole = ["\n".join(texts) for texts in lists.values()]
    return [f"{heading}\n{text}" for text in (*(unit.text for unit in prose), *pairs, *whole, *told)]


def _row(unit: Unit) -> str:
    """A row with the name of each column before its cell, so that a number stays with what it measures."""
    header, cells = cells_of(unit.lead), cells_of(unit.text)
    names = [*header, *[""] * (len(cells) - len(header))]
    return "; ".join(f"{name} | {cell}".strip(" |") for name, cell in zip(names, cells, strict=False))
