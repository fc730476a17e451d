"""Suggestions while a reader types: one line for each section, with the matching words marked."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from lutrin import messages
from lutrin.answer.render import reader_url
from lutrin.index.lexical import stem_of
from lutrin.index.typeahead import TypedWord
from lutrin.records import BookInfo, Chunk, Unit
from lutrin.serve.notes import Term

EXCERPT_CHARS = 150
"""Characters of an excerpt: two lines in the list."""
LEAD_CHARS = 50
"""Most characters before the first marked word of an excerpt."""
SENTENCE_ENDS = (".", "!", "?", "…", "。")
_COMMENT_SIGNS = " \t#/*-;%!<>\"'"
# Linear, unlike the lexers of some languages: this runs for every typed letter.
_COMMENT = re.compile(r"""(?:^\s*(?:\*|;+|%+|"{3}|'{3}|<!--)|(?:^|\s)(?:#+|//+!?|/\*+|--)(?=\s))(.*)""")
_WORD = re.compile(r"\w+")
_FORMULA = re.compile(r"\$\$([^$]+)\$\$|\$(?!\s)([^$\n]+)(?<!\s)\$(?!\d)")
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\([A-Za-z]+)(?: (?=[A-Za-z]))?")
_SIGNS_LEFT = re.compile(r"\\.|[{}_]")
GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho . sigma tau upsilon phi "
    "chi psi omega"
).split()
"""Names in the order of Unicode, starting at U+03B1."""
SIGNS = {
    "approx": "≈", "cdot": "·", "ge": "≥", "geq": "≥", "in": "∈", "infty": "∞", "le": "≤", "leq": "≤", "ll": "≪",
    "ne": "≠", "pm": "±", "quad": ", ", "sum": "∑", "times": "×", "to": "→",
}  # fmt: skip

Marks = tuple[tuple[int, int], ...]
Line = tuple[bool, float, "Suggestion"]
"""Whether a line's title has every typed word, its score, and the line."""


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """A section, or a term of the glossary."""

    kind: Literal["section", "term"] = "section"
    book: str
    """Slug."""
    book_title: str
    where: str
    """Chapter, or else part, that it is in; empty where there are none."""
    title: str
    title_marks: Marks
    """First and last offset, in characters, of each word that was meant."""
    text: str
    """Where the words stand, as it reads: a sentence or a part of it; of code, a comment or what introduces it."""
    text_marks: Marks
    url: str
    quote: str
    """The whole piece that `text` is cut out of, formulas as they are typed, for the mark in the page."""


class Glossary(msgspec.Struct, frozen=True):
    """The terms of a book."""

    terms: list[Term]


class Suggestions(msgspec.Struct, frozen=True):
    """The suggestions, best first."""

    found: list[Suggestion]


def section_lines(
    words: Sequence[TypedWord], passages: Sequence[tuple[Chunk, float]], most: int
) -> list[tuple[bool, float, Suggestion]]:
    """List a book's passages, one line for each section; those with every word in the title come first."""
    word_stems = [frozenset(map(stem_of, one.forms)) for one in words]
    sections: dict[str, tuple[bool, float, Chunk]] = {}
    for chunk, score in passages:
        url = reader_url(chunk)
        if url not in sections:
            sections[url] = (_kinds(_title(chunk), word_stems) == len(word_stems), score, chunk)
    # Finding the words in a passage costs most, so search only the passages to show.
    first = sorted(sections.items(), key=lambda item: (not item[1][0], -item[1][1]))[:most]
    return [(named, score, _line(chunk, url, word_stems)) for url, (named, score, chunk) in first]


def term_line(term: Term, book: BookInfo, typed: Sequence[TypedWord]) -> Suggestion:
    """The line for a term of the glossary."""
    word_stems = [frozenset(map(stem_of, (*one.forms, one.word))) for one in typed]
    text = _cut(term.definition, ())
    return Suggestion(
        kind="term",
        book=book.slug,
        book_title=book.title,
        where=term.heading,
        title=term.name,
        title_marks=_marks(term.name, word_stems),
        text=text,
        text_marks=(),
        url=term.url,
        quote=term.quote,
    )


def best_first(lines: Iterable[Line]) -> list[Line]:
    """Sort lines, possibly of several books, into display order."""
    return sorted(lines, key=lambda line: (not line[0], -line[1]))


def _line(chunk: Chunk, url: str, word_stems: Sequence[frozenset[str]]) -> Suggestion:
    title = _title(chunk)
    where = " › ".join(dict.fromkeys(part for part in (chunk.chapter or chunk.module, chunk.heading_path[0]) if part))
    unit = _place(chunk, word_stems)
    quote = unit.text if unit else chunk.text
    sentence = _in_words(unit, word_stems) if unit else readable(quote)
    text = _cut(sentence, _marks(sentence, word_stems))
    return Suggestion(
        book=chunk.book,
        book_title=chunk.book_title,
        where="" if where == title else where,
        title=title,
        title_marks=_marks(title, word_stems),
        text=text,
        text_marks=_marks(text, word_stems),
        url=url,
        quote=quote,
    )


def _title(chunk: Chunk) -> str:
    return chunk.section_title or chunk.heading_path[-1]


def _place(chunk: Chunk, word_stems: Sequence[frozenset[str]]) -> Unit | None:
    """The piece of a passage with the most words; among equals, prefer prose and a sentence."""

    def rank(unit: Unit) -> tuple[int, bool, bool]:
        return _kinds(unit.text, word_stems), unit.kind != "code", unit.text.rstrip().endswith(SENTENCE_ENDS)

    return max(chunk.units, key=rank, default=None)


def _in_words(unit: Unit, word_stems: Sequence[frozenset[str]]) -> str:
    """A piece of a book in words: for code, the comment with the most typed words, else its introduction."""
    if unit.kind == "table_row":
        return readable(" · ".join(unit.row))
    if unit.kind != "code":
        return readable(unit.text)
    comment = max(_comments(unit.text), key=lambda line: _kinds(line, word_stems), default="")
    return comment if _kinds(comment, word_stems) else readable(unit.lead) or messages.IN_CODE


def _comments(code: str) -> list[str]:
    """Comments on the lines of a program in any language, without comment signs."""
    matches = filter(None, map(_COMMENT.search, code.splitlines()))
    return [text for match in matches if (text := match[1].strip(_COMMENT_SIGNS))]


def readable(text: str) -> str:
    r"""Put a text on one line, with formulas as one would read them aloud.

    >>> readable(r"Torque is $\tau = \frac{P}{\omega}$.")
    'Torque is τ = P / ω.'
    """
    return " ".join(_FORMULA.sub(lambda match: _formula(match[1] or match[2]), text).split())


def _formula(tex: str) -> str:
    return _SIGNS_LEFT.sub("", _COMMAND.sub(_sign, _FRACTION.sub(r"\1 / \2", tex)))


def _sign(command: re.Match[str]) -> str:
    name = command[1]
    if name.lower() in GREEK:
        letter = chr(0x3B1 + GREEK.index(name.lower()))
        return letter.upper() if name[0].isupper() else letter
    return SIGNS.get(name, "")


def _kinds(text: str, word_stems: Sequence[frozenset[str]]) -> int:
    stems = _stems(text)
    return sum(not stems.isdisjoint(forms) for forms in word_stems)


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    """Cached, because the next letter searches the same pieces."""
    return frozenset(stem_of(word.lower()) for word in _WORD.findall(text))


def _marks(text: str, word_stems: Sequence[frozenset[str]]) -> Marks:
    stems = frozenset().union(*word_stems)
    return tuple((match.start(), match.end()) for match in _WORD.finditer(text) if stem_of(match[0].lower()) in stems)


def _cut(text: str, marks: Marks) -> str:
    """The part of a text that fits on a line of the list, starting just before the first marked word."""
    start = max(0, marks[0][0] - LEAD_CHARS) if marks and marks[0][0] > EXCERPT_CHARS // 2 else 0
    if start:
        start = text.find(" ", start) + 1
    end = start + EXCERPT_CHARS
    if end < len(text):
        end = max(text.rfind(" ", start, end), start + EXCERPT_CHARS // 2)
    before, after = "… " if start else "", " …" if end < len(text) else ""
    return f"{before}{text[start:end]}{after}"
