"""The numbers under which a book refers to its figures, tables and listings: `Figure 2.1`, `Listing 6-3`."""

import re
from collections.abc import Iterator

from msgspec import structs

from lutrin.ingest.makers import ABBREVIATED, CAPTIONED, NUMBERED
from lutrin.records import Document, Section, Unit

_NUMBER = r"(?:[A-Z][.\-\u2013]?)?\d{1,4}(?:[.\-\u2013]\d{1,4}){0,3}[a-z]?|[IVXLC]{1,7}"
_PAIR = re.compile(rf"(?<!\w)(?P<kind>[^\W\d_]{{2,20}})(?:\.\s*|\s+)(?P<number>{_NUMBER})(?!\w)", re.IGNORECASE)
_CAPTIONED = "|".join(CAPTIONED)
CAPTION = re.compile(
    rf"(?i:{_CAPTIONED})(?:\.\s*|\s+)(?:{_NUMBER})"
    rf"(?:\s*[:.\u2013\u2014|](?!\d)|\s+(?=[\"\u201c\u2018'(]?[A-Z][^\W\d_]*\s)|\s*\Z)"
)
"""A caption by its words alone: with a mark, a capital letter or nothing behind the number."""
MARKED_CAPTION = re.compile(rf"(?i:{_CAPTIONED})(?:\.\s*|\s+)(?:{_NUMBER})(?!\w)")
"""A caption where its type sets it apart from the text."""
_NUMBERED = re.compile(rf"(?:{'|'.join(NUMBERED)})\s+(?:{_NUMBER})\s*(?:[:.(\u2013\u2014]|\Z)", re.IGNORECASE)
_APART = re.compile(r"[\-\u2013]|(?<=[a-z])(?=\d)")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


def labels_in(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Whatever in a text may be a label, as books are asked for it, with its place; the likelier reading first.

    >>> [label for label, _ in labels_in("What do Fig. 2-1a and TABLE IV show?")]
    ['figure 2.1a', 'figure 2.1', 'table 4']
    """
    for match in _PAIR.finditer(text):
        kind = match["kind"].casefold()
        kind, number = ABBREVIATED.get(kind, kind), match["number"].casefold()
        if set(number) <= _ROMAN.keys():
            number = str(_decimal(number))
        number = _APART.sub(".", number).replace("..", ".")
        yield f"{kind} {number}", match.span()
        if number[-1:].isalpha() and len(number) > 1:
            yield f"{kind} {number[:-1]}", match.span()


def _decimal(roman: str) -> int:
    values = [_ROMAN[letter] for letter in roman]
    return sum(-one if one < after else one for one, after in zip(values, [*values[1:], 0], strict=True))


def with_labels(document: Document) -> Document:
    """A document whose captions, and whose examples, theorems and exercises, know their labels."""
    sections = []
    for section in document.sections:
        labels = _labels_of(section)
        if any(labels):
            units = [
                structs.replace(unit, label=label) if label else unit
                for unit, label in zip(section.units, labels, strict=True)
            ]
            section = structs.replace(section, units=tuple(units))  # noqa: PLW2901 - the same with labels
        sections.append(section)
    return structs.replace(document, sections=tuple(sections))


def _labels_of(section: Section) -> list[str]:
    labels: list[str] = []
    block = -1
    for unit in section.units:
        labels.append(_label_of(unit, opens=unit.block != block))
        block = unit.block
    if labels and not labels[0] and _NUMBERED.match(section.title):
        labels[0] = _first(section.title)
    return labels


def _label_of(unit: Unit, *, opens: bool) -> str:
    """The label at the start of a caption, or of what a book numbers in its running text."""
    known = MARKED_CAPTION if unit.kind == "caption" else _NUMBERED if opens and unit.kind == "sentence" else None
    return _first(unit.text) if known is not None and known.match(unit.text) else ""


def _first(text: str) -> str:
    return next((label for label, _ in labels_in(text)), "")
