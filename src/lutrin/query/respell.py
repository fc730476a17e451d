"""A question in the spelling of the book: the other side's English, and slips of the keyboard.

"Colour" finds nothing of "color" in the full-text search, and a word that the book lacks counts as a sign that it does
not speak of the matter. So a word of which the book has no form is looked for in the other of the two spellings of
English, then among the book's words a slip away (optimal string alignment: a letter wrong, missing, too many, or two
that have changed places; Damerau 1964). Ordinary words are no slips, whatever the book has beside them: the embedding
model's tokenizer knows them as one piece, and what it has to put together is either rare or misspelt.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

from rapidfuzz.distance import OSA

from lutrin.language.spelling import SPELLING_PAIRS, SPELLING_RULES
from lutrin.language.spoken import STOP_WORDS
from lutrin.language.words import stem
from lutrin.ports import Embedder

T = TypeVar("T")
WordsFrom = Callable[[str], list[tuple[str, int]]]
"""The words of a book that begin so, lower case, with the number of chunks in which each stands."""

LEAST_LETTERS = 7
"""Of a word that may hold any slip; what it is taken for may have one less. Shorter ones are like too many others
(parse, pause)."""
SHORT_LETTERS = 5
"""Of a word in which a letter may be missing, or two may have changed places: few words are made so of others."""
RARE, COMMONER = 2, 4
"""Of a word in at most so many chunks another spelling is looked for, which must stand in so many times as many: names
from code may be spelt otherwise than the book that shows them."""
KEPT = 4096
"""Words whose spelling is remembered, those looked for first leave first."""
_WORD = re.compile(r"(?<![\w/.\-@#])[^\W\d_]+(?![\w/@#]|[.\-]\w)")
"""A word of letters alone that is no part of a name from code."""


class Vocabulary(Protocol):
    """The words of one published book."""

    @property
    def name(self) -> str:
        """The book's generation."""
        ...

    async def document_frequency(self, words: Iterable[str]) -> dict[str, int]:
        """In how many chunks each lower-case word stands."""
        ...

    async def consult(self, look: Callable[[WordsFrom], T]) -> T:
        """Call a function with the book's words and return its result."""
        ...


class Speller:
    """Finds out how books spell what is asked; remembers what it found."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, bool], str | None] = {}

    async def changes(self, generation: Vocabulary, text: str, embedder: Embedder) -> dict[str, str]:
        """Words of a question that a book spells otherwise, and how.

        Args:
            generation: Open for reading.
            text: The question.
            embedder: Its tokenizer tells ordinary words from others.

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        asked = [match for match in _WORD.finditer(text) if _may_differ(match[0])]
        frequency = await generation.document_frequency({match[0].lower() for match in asked})
        rare = [match for match in asked if frequency[match[0].lower()] <= RARE]
        if not rare:
            return {}
        pieces = embedder.token_offsets(text)
        keys = {match[0]: (generation.name, match[0].lower(), _may_be_slip(match, pieces)) for match in rare}
        missing = [key for key in keys.values() if key not in self._known]
        if missing:
            found = await generation.consult(
                lambda words_from: {key: _in_book(words_from, key[1], may_be_slip=key[2]) for key in missing}
            )
            self._known.update(found)
            while len(self._known) > KEPT:
                del self._known[next(iter(self._known))]
        return {word: other for word, key in keys.items() if (other := self._known.get(key)) is not None}


def respell(text: str, changes: Mapping[str, str]) -> str:
    """A text with some of its words changed.

    >>> respell("What is odometery?", {"odometery": "odometry"})
    'What is odometry?'
    """
    return _WORD.sub(lambda match: changes.get(match[0], match[0]), text)


def slips_of(changes: Mapping[str, str]) -> dict[str, str]:
    """Those of the changed words that were taken for slips, not for the other spelling of the same word."""
    return {
        word: other
        for word, other in changes.items()
        if all(other != spelling for spelling, _, _ in spellings(word.lower()))
    }


def spellings(word: str) -> Iterator[tuple[str, str, str]]:
    """The same word, lower case, as it may be spelt on the other side of the Atlantic, if there it is.

    Yields:
        The other word; how this one begins, up to where they differ and with it; how the other one does.
    """
    for pattern, other in SPELLING_RULES:
        for match in re.finditer(pattern, word):
            start, end = word[: match.start()], word[match.end() :]
            yield start + other + end, start + match[0], start + other
    for pair in SPELLING_PAIRS:
        for own, other in (pair, pair[::-1]):
            if word.startswith(own) and not word.startswith(other):
                yield other + word[len(own) :], own, other


def is_slip(word: str, other: str) -> bool:
    """Whether two words lie one slip apart: a letter wrong, missing, too many, or two that have changed places.

    >>> is_slip("quaternoin", "quaternion"), is_slip("odometer", "odometry")
    (True, False)
    """
    return OSA.distance(word, other, score_cutoff=1) == 1


def _may_differ(word: str) -> bool:
    """Whether a word may be looked for in another spelling; an abbreviation has one alone."""
    return len(word) > 3 and not word.isupper() and word.lower() not in STOP_WORDS


def _in_book(words_from: WordsFrom, word: str, *, may_be_slip: bool) -> str | None:
    """How a book spells a word, if it does so otherwise."""
    for other, own_start, start in spellings(word):
        chunks = _chunks(words_from, start)
        own = _chunks(words_from, own_start) - (chunks if start.startswith(own_start) else 0)
        if chunks >= max(1, COMMONER * own) and stem(other) != stem(word) and _has_form(words_from, other):
            return other
    return _nearest(word, words_from(word[0])) if may_be_slip and not _has_form(words_from, word) else None


def _chunks(words_from: WordsFrom, start: str) -> int:
    """In how many chunks words stand that begin so, those with several of them counted as often."""
    return sum(chunks for _, chunks in words_from(start))


def _has_form(words_from: WordsFrom, word: str) -> bool:
    """Whether the book has a word of the same stem."""
    wanted = stem(word)
    # A stem may end otherwise than its words do (happy, happi), so its last letter is left open.
    root = wanted[: max(3, len(wanted) - 1)]
    return any(stem(other) == wanted for other, _ in words_from(root))


def _may_be_slip(match: re.Match[str], pieces: Sequence[tuple[int, int]]) -> bool:
    """Whether a word of a text is rare or misspelt, and long enough to be known again."""
    inside = sum(match.start() <= start < match.end() for start, _ in pieces)
    return inside > 1 and len(match[0]) >= SHORT_LETTERS


def _nearest(word: str, known: Sequence[tuple[str, int]]) -> str | None:
    """The book's word that is one slip away, of several the one in most chunks."""
    near = [(-chunks, other) for other, chunks in known if _is_plain_slip(word, other)]
    return min(near)[1] if near else None


def _is_plain_slip(word: str, other: str) -> bool:
    """Whether a word is so long, or so mistyped, that the other one must be meant."""
    is_long = len(word) >= LEAST_LETTERS and len(other) >= LEAST_LETTERS - 1
    lacks_a_letter = len(other) > len(word) >= SHORT_LETTERS
    return (is_long or lacks_a_letter or sorted(word) == sorted(other)) and is_slip(word, other)
