"""Render a run of units as Markdown: joined sentences, list items, table rows, fenced code."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from lutrin.answer.excerpt import is_drawn
from lutrin.messages import IN_OTHER_WORDS, LIKELY_MARK, LIKELY_NOTE
from lutrin.records import Sentence, SentenceEvent, Unit

GAP = "\n\n"
_ORDERED = re.compile(r"\d+[.)] ")
_RUNS_ON = frozenset({"sentence", "caption"})


def markdown(units: Sequence[Unit], n: int) -> str:
    """Render units of one section as Markdown, with the marker `[n]` at the end; figures are seen in the excerpt."""
    paragraphs = []
    said = ""
    units = [unit for unit in units if not is_drawn(unit)] or units
    for _, group in groupby(units, key=lambda unit: (unit.kind, unit.block)):
        block = list(group)
        lead = block[0].lead if block[0].lead != said and block[0].kind in {"list_item", "table_row"} else ""
        paragraphs.append(_block(block, lead))
        said = block[-1].text
    separator = " " if units[-1].kind in _RUNS_ON else "\n\n"
    return "\n\n".join(paragraphs) + f"{separator}[{n}]"


def sentence_piece(sentence: Sentence | SentenceEvent, before: str) -> str:
    """Render a sentence of the answer with its markers and its grade, to be appended to the answer so far.

    Args:
        sentence: The sentence; rows, steps and code of the book stand in paragraphs of their own.
        before: The pieces before it; the model's own words come last, below a heading that says whose they are.
    """
    markers = "".join(f" [{n}]" for n in sentence.citations)
    if sentence.support == "own" and IN_OTHER_WORDS not in before:
        return f"{GAP if before else ''}{IN_OTHER_WORDS}{GAP}{sentence.text}"
    grade = f" {LIKELY_MARK}" if sentence.support == "likely" else ""
    if "\n" in sentence.text:
        return f"{GAP if before else ''}{sentence.text}{GAP}{markers.strip()}{grade}"
    return f"{' ' if before else ''}{sentence.text}{markers}{grade}"


def explanation_of(sentences: Iterable[Sentence]) -> str:
    """Render the sentences of an answer; a note below them says what the mark of a likely one means."""
    text, likely = "", False
    for sentence in sentences:
        text += sentence_piece(sentence, text)
        likely = likely or sentence.support == "likely"
    return f"{text}{GAP}{LIKELY_NOTE}" if likely else text


def block_text(units: Sequence[Unit]) -> str:
    """Render units of one block as a text that stands alone: a row with its header, code in its fence."""
    first = units[0]
    return _block(units, first.lead if first.kind == "table_row" else "")


def _block(units: Sequence[Unit], lead: str) -> str:
    """Units of one block; `lead` is a table's header, or what introduces a list and has not been said."""
    first = units[0]
    if first.kind == "code":
        return "\n\n".join(map(_fence, units))
    if first.kind == "table_row":
        rows = "\n".join(_row(unit.text) for unit in units)
        rule = "|" + "---|" * len(cells_of(lead))
        return f"{_row(lead)}\n{rule}\n{rows}" if lead else rows
    if first.kind == "list_item":
        items = "\n".join(_items(units))
        return f"{lead}\n\n{items}" if lead else items
    return " ".join(unit.text for unit in units)


def _fence(unit: Unit) -> str:
    """Code byte for byte in a fence that is longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", unit.text)), default=0))
    code = unit.text if unit.text.endswith("\n") else f"{unit.text}\n"
    return f"{fence}{unit.language}\n{code}{fence}"


def _items(units: Sequence[Unit]) -> Iterator[str]:
    """Items of a list, one a line; those of a list within an item stand below it, further in."""
    margins: dict[str, int] = {}
    for unit in units:
        above = next((margins[name] for name in margins if unit.lead and name.startswith(unit.lead)), 0)
        sign = _ORDERED.match(unit.text)
        yield " " * above + (unit.text if sign else f"- {unit.text}")
        inside = len(sign[0]) if sign else 0
        margins[unit.text[inside:]] = above + (inside or len("- "))


def cells_of(row: str) -> list[str]:
    """The cells of a table row or header. The first cell of a header is often empty.

    >>> cells_of(" | Springs | Neaps")
    ['', 'Springs', 'Neaps']
    """
    return [cell.strip() for cell in f" {row} ".split(" | ")]


def _row(row: str) -> str:
    return "|" + "|".join(cell.replace("|", "\\|") for cell in cells_of(row)) + "|"
