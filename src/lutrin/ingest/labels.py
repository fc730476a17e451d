"""Labels a passage by the book's own words: the number of its figure, `Figure 2.1`; its chapter, section and world."""

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from lutrin.ingest.formats import format_of
from lutrin.ingest.makers import ABBREVIATED, CAPTIONED, NUMBERED
from lutrin.ingest.wording import numeral
from lutrin.records import Chunk, Document, Section, Unit

_NUMBER = r"(?:[A-Z][.\-\u2013]?)?\d{1,4}(?:[.\-\u2013]\d{1,4}){0,3}[a-z]?|[IVXLC]{1,7}"
_PAIR = re.compile(rf"(?<!\w)(?P<kind>[^\W\d_]{{2,20}})(?:\.\s*|\s+)(?P<number>{_NUMBER})(?!\w)", re.IGNORECASE)
_CAPTIONED = "|".join(CAPTIONED)
CAPTION = re.compile(
    rf"(?i:{_CAPTIONED})(?:\.\s*|\s+)(?:{_NUMBER})"
    rf"(?:\s*[:.\u2013\u2014|](?!\d)|\s+(?=[\"\u201c\u2018'(]?[A-Z][^\W\d_]*\s)|\s*\Z)"
)
"""A caption recognised by its words alone: punctuation, a capital letter or nothing after the number."""
MARKED_CAPTION = re.compile(rf"(?i:{_CAPTIONED})(?:\.\s*|\s+)(?:{_NUMBER})(?!\w)")
"""A caption that its markup sets apart from the text."""
_NUMBERED = re.compile(rf"(?:{'|'.join(NUMBERED)})\s+(?:{_NUMBER})\s*(?:[:.(\u2013\u2014]|\Z)", re.IGNORECASE)
_APART = re.compile(r"[\-\u2013]|(?<=[a-z])(?=\d)")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_MOST_ROMAN = 400
"""Most pages numbered in Roman numerals."""
_CHAPTER = 1
"""The title of the whole precedes it in a heading path."""

_SIMULATED = re.compile(r"^(?:in )?(?:the )?simulat(?:ed|ion|or)\b|\bin (?:a |the )?simulat(?:ion|or)$", re.IGNORECASE)
_REAL = re.compile(
    r"\b(?:real|physical|actual) (?:\w+ )?(?:robot|hardware|device|machine|arm|motor|joint|vehicle|drone|board)s?\b",
    re.IGNORECASE,
)


def labels_in(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Possible labels in a text, in the form of a question, with their places; the likelier reading first.

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


def label_after(label: str) -> str:
    """The label of the next page; empty if labels are not numbers.

    >>> label_after("9"), label_after("iv"), label_after("A-3")
    ('10', 'v', '')
    """
    if label.isdecimal():
        return str(int(label) + 1)
    kind = "i" if label.islower() else "I"
    return next((numeral(n + 1, kind) for n in range(1, _MOST_ROMAN) if numeral(n, kind) == label), "")


def with_labels(document: Document) -> Document:
    """Set the labels of a document's captions, examples, theorems and exercises."""
    sections = tuple(structs.replace(section, units=tuple(_label(section))) for section in document.sections)
    return structs.replace(document, sections=sections)


def _label(section: Section) -> Iterator[Unit]:
    """Units with the labels from captions, from numbered running text, and from the title."""
    block = -1
    for place, unit in enumerate(section.units):
        opens = unit.kind == "sentence" and unit.block != block
        block = unit.block
        pattern = MARKED_CAPTION if unit.kind == "caption" else _NUMBERED if opens else None
        label = _first(unit.text) if pattern is not None and pattern.match(unit.text) else ""
        if not place and not label and _NUMBERED.match(section.title):
            label = _first(section.title)
        yield structs.replace(unit, label=label) if label else unit


def _first(text: str) -> str:
    return next((label for label, _ in labels_in(text)), "")


def with_places(document: Document, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Set chapter and section of a file's chunks from its headings, if its format holds whole books."""
    kind = format_of(document.filename)
    chapters = {chunk.heading_path[_CHAPTER] for chunk in chunks if len(chunk.heading_path) > _CHAPTER}
    if kind is None or not kind.holds_chapters or len(chapters) < 2:
        return list(chunks)
    return [
        structs.replace(chunk, chapter=chunk.heading_path[_CHAPTER], section=chunk.anchor or chunk.section)
        if len(chunk.heading_path) > _CHAPTER
        else chunk
        for chunk in chunks
    ]


def with_world(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Set the world of each chunk of a file from its section, unless the file's author named one.

    The nearest heading that mentions one decides. Code and procedures that a reader may run or follow, and text that
    mentions the real thing, are never marked as simulated: only its author may exempt them from the book's warnings.
    """
    return [
        chunk if chunk.is_simulation is not None else structs.replace(chunk, is_simulation=_world(chunk))
        for chunk in chunks
    ]


def _world(chunk: Chunk) -> bool | None:
    for heading in reversed(chunk.heading_path):
        simulated, real = _SIMULATED.search(heading), _REAL.search(heading)
        if simulated and not real:
            prose = all(unit.kind not in {"code", "list_item"} for unit in chunk.units) and not _REAL.search(chunk.text)
            return True if prose else None
        if real:
            return None if simulated else False
    return None
