"""Where a book says what its terms mean, found by form when the book is indexed.

"A costmap is a grid that ...", "Such a controller is called a policy." and "**Policy**: what ..." in a glossary define
their terms (the patterns of Hearst 1992 for *is a*, turned round). Of several places the plainest one counts: where the
term is emphasised in the source, or names the section.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lutrin.index.lexical import STOP_WORDS, stemmed, words
from lutrin.records import Chunk, Unit
from lutrin.sqlite import Connection

SCHEMA = """
CREATE TABLE definition (
    term TEXT NOT NULL,
    row INTEGER NOT NULL,
    position INTEGER NOT NULL,
    worth INTEGER NOT NULL);
CREATE INDEX definition_term ON definition (term);
"""
TERM_WORDS = 4
"""A term has at most so many words."""
LEAST_WORDS = 5
"""A sentence of fewer words explains nothing."""
EMPHASISED, NAMES_SECTION, GLOSSARY, PLAIN = 4, 3, 2, 1
"""What shows that a sentence is meant as a definition, added up."""
_TERM = r"[A-Za-z][\w+-]*(?: (?:of |and )?[A-Za-z0-9][\w+-]*){0,3}"
_KIND = (
    r"(?:(?:an?|any|one of|what|how|whatever)\b"
    r"|the (?!best|biggest|case|end|first|key|last|least|main|most|next|only|other|reason|right|same|second|worst)"
    r".*\b(?:of|that|which|where|by|in|between|for|to)\b)"
)
"""How what a term is begins: "a grid", "the resistance of a body to"; not "the delicate part"."""
_IS = re.compile(rf"(?:(?P<article>An?|The) )?(?P<term>{_TERM})(?:,? \(?(?P<other>{_TERM})\)?,?)? (?:is|are) {_KIND}")
_MEANS = re.compile(rf"(?:(?P<article>An?|The) )?(?P<term>{_TERM})(?: \((?P<other>{_TERM})\))? (?:means|refers to) ")
_CALLED = re.compile(rf"\b(?:(?:is|are) |so-)called (?:an? |the )?(?P<term>{_TERM})\s*[.,;(]")
_ENTRY = re.compile(rf"(?P<term>{_TERM})(?: \((?P<other>{_TERM})\))?(?::| [–—-]) (?=\w)")
_INSIDE = frozenset("and in of to".split())
"""Words that say nothing and may stand within a term: degree of freedom, eye-in-hand."""
_NO_TERM = frozenset(
    """all another any anything both each either every everything few he here his how its it many more most much
    neither nobody no none nothing one only other our question reason result several she some something such that the
    their there these they thing this those what which who""".split()
)
"""A subject that begins with one of these is no term: "Another reason is the ..."."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A place that says what a term means."""

    term: str
    """The stems of its words."""
    row: int
    """Of the chunk."""
    position: int
    """Of the unit in the chunk."""
    worth: int
    """How plainly it defines; larger is better."""


def definitions_of(row: int, chunk: Chunk, source: str) -> Iterator[Definition]:
    """The definitions in one chunk.

    Args:
        row: Of the chunk in its generation.
        chunk: With its units.
        source: The text of its file, in which emphasis can be seen.
    """
    titles = [_content(title) for title in chunk.heading_path]
    for position, unit in enumerate(chunk.units):
        if unit.kind not in {"sentence", "list_item"} or len(unit.text.split()) < LEAST_WORDS:
            continue
        shown = source[max(0, unit.char_start - 4) : unit.char_end]
        for name, form in _defined(unit):
            term = term_of(name)
            worth = form + EMPHASISED * _is_emphasised(name, shown) + NAMES_SECTION * (_content(name) in titles)
            if term and worth > 0:
                yield Definition(term, row, position, worth)


def write(connection: Connection, found: Iterable[Definition]) -> None:
    """Store them beside the passages."""
    connection.executemany(
        "INSERT INTO definition (term, row, position, worth) VALUES (?, ?, ?, ?)",
        [(item.term, item.row, item.position, item.worth) for item in found],
    )


def read(connection: Connection, text: str) -> list[Definition]:
    """The definitions of the terms that a text uses, each in its plainest place, in the order of the text.

    Of terms within each other the longest counts: "inverse kinematics" is not explained by "kinematics".
    """
    stems = [stemmed(word) for word in words(text)]
    spans = [(start, start + length) for length in range(TERM_WORDS, 0, -1) for start in range(len(stems) - length + 1)]
    terms = list(dict.fromkeys(" ".join(stems[start:end]) for start, end in spans))
    known: dict[str, Definition] = {}
    for first in range(0, len(terms), 500):
        part = terms[first : first + 500]
        marks = ",".join("?" * len(part))
        rows = connection.execute(
            f"SELECT term, row, position, worth FROM definition WHERE term IN ({marks})"  # noqa: S608 - question marks
            " ORDER BY worth DESC, row, position",
            part,
        )
        for row in rows:
            known.setdefault(str(row[0]), Definition(*row))
    taken: set[int] = set()
    found: dict[str, tuple[int, Definition]] = {}
    for start, end in spans:
        term = " ".join(stems[start:end])
        if term in known and taken.isdisjoint(range(start, end)):
            taken.update(range(start, end))
            found.setdefault(term, (start, known[term]))
    return [item for _, item in sorted(found.values(), key=lambda pair: pair[0])]


def term_of(name: str) -> str:
    """The stems of a term's words, one blank between them; nothing if it is none."""
    spoken = words(name)
    empty = [word in _NO_TERM or word in STOP_WORDS for word in spoken]
    if not spoken or len(spoken) > TERM_WORDS or empty[0] or empty[-1]:
        return ""
    if any(no and word not in _INSIDE for no, word in zip(empty, spoken, strict=True)):
        return ""
    return " ".join(map(stemmed, spoken))


def _content(text: str) -> frozenset[str]:
    """Stems of the words of a heading or a term that say something: "What Is Isaac Sim?" names Isaac Sim."""
    return frozenset(stemmed(word) for word in words(text) if word not in STOP_WORDS)


def _defined(unit: Unit) -> Iterator[tuple[str, int]]:
    """The terms that a unit may define, as they stand, with what its form is worth."""
    text = unit.text
    if entry := _ENTRY.match(text):
        # In running text and lists a colon after a few words may announce anything: it takes emphasis to make an entry.
        yield from _names(entry, GLOSSARY - EMPHASISED)
        return
    if unit.kind != "sentence":
        return
    if found := _IS.match(text) or _MEANS.match(text):
        # "The robot is a ..." tells of one robot, "A robot is a ..." what robots are.
        yield from _names(found, PLAIN if found["article"] != "The" else PLAIN - NAMES_SECTION)
    for called in _CALLED.finditer(text):
        yield called["term"], PLAIN


def _names(found: re.Match[str], worth: int) -> Sequence[tuple[str, int]]:
    """A term and its abbreviation, if it has one."""
    return [(name, worth) for name in (found["term"], found["other"]) if name]


def _is_emphasised(name: str, shown: str) -> bool:
    """Whether a term stands between stars or underscores in its source."""
    return bool(re.search(rf"(?:\*|__?){re.escape(name)}:?(?:\*|__?)", shown))
