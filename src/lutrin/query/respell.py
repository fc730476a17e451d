"""Rewrites a question in the spelling of the book: British or American English, without typing slips.

In full-text search, "colour" does not find "color", and a word that the book lacks counts as a sign that the book does
not cover the subject. So a word that the book has in no form is looked up in the other English spelling, then among the
book's words one slip away (optimal string alignment: a letter wrong, missing or added, or two letters swapped; Damerau
1964). An ordinary word never counts as a slip, whatever similar words the book has. The embedding model's tokenizer
knows ordinary words as one piece; a word that it has to assemble is either rare or misspelt.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from math import inf, log
from typing import Protocol, TypeVar

from rapidfuzz.distance import OSA, Levenshtein

from lutrin.language import lexicon
from lutrin.language.words import stem
from lutrin.ports import Embedder

T = TypeVar("T")
WordsFrom = Callable[[str], list[tuple[str, int]]]
"""The words of a book with a given beginning, in lower case, each with its number of chunks."""

LEAST_LETTERS = 7
"""Least letters of a word that may contain any slip; the corrected word may have one fewer. Shorter words resemble too
many others (parse, pause)."""
SHORT_LETTERS = 5
"""Least letters of a word that may lack a letter or have two swapped: few words turn into others that way."""
FREQUENT = 0.02
"""Share of the book's chunks above which a short word with a likely wrong or added letter may mean this one. The less
often a book uses a word, the likelier the other is a word in its own right (docs/decisions/0004)."""
RARE, COMMONER = 2, 4
"""A word in at most `RARE` chunks is looked up in another spelling, which must be in `COMMONER` times as many: code may
spell a name differently from the book that shows it."""
MOST_LOOKED_UP = 8
"""Words of one question to look up: a question with more unknown words contains no slips. Each takes a millisecond that
blocks every other search."""
SHORT_PART = 2
"""Most letters of a word that counts as a function word if typed together with others: "ls" occurs in many books."""
LONGEST_JOINED = 24
"""Letters of a string that may be several words typed together."""
KEPT = 4096
"""Words whose spelling is cached; the oldest are dropped first."""
_WORD = re.compile(r"(?<![\w/.\-@#])[^\W\d_]+(?![\w/@#]|[.\-]\w)")
"""A word of letters alone that is not part of a name from code."""
_SHORTENED = {word.partition("'")[2] for word in lexicon.STOP_WORDS}
"""The rest of a word in a short form: the s of what's, the t of can't."""
_FUNCTION_WORDS = (lexicon.STOP_WORDS | lexicon.QUESTION_WORDS) - _SHORTENED


class Vocabulary(Protocol):
    """The words of one published book."""

    @property
    def name(self) -> str:
        """The book's generation."""

    async def document_frequency(self, words: Iterable[str]) -> dict[str, int]:
        """Number of chunks that contain each lower-case word."""

    async def consult(self, look: Callable[[WordsFrom], T]) -> T:
        """Call a function with the book's words and return its result."""


async def with_spaces(books: Sequence[Vocabulary], text: str, embedder: Embedder) -> str:
    """Insert spaces between words that were typed together ("why doesthe arm drift"), as far as the books show.

    Raises:
        IndexUnavailable: A book cannot be read.
    """
    pieces = [start for start, _ in embedder.token_offsets(text)]
    assembled = [match for match in _WORD.finditer(text) if _is_assembled(match, pieces)]
    # A capital within a question starts a name.
    joined = [m[0] for m in assembled if m[0][not m.start() :].islower() and m[0].lower() not in _FUNCTION_WORDS]
    looked_up = [word for word in dict.fromkeys(joined) if len(word) <= LONGEST_JOINED][:MOST_LOOKED_UP]
    return respell(text, {word: " ".join(await _parted(books, word)) for word in looked_up})


async def _parted(books: Sequence[Vocabulary], word: str) -> list[str]:
    """The words that were typed as one, including a function word; the word itself if a book has it."""
    places = range(len(word) + 1)
    spans = [(start, end) for start in places for end in places[start + 1 :] if (start, end) != (0, len(word))]
    parts = {word[start:end].lower() for start, end in spans}
    chunks = dict.fromkeys((word.lower(), *parts), 0)
    for book in books:
        if await book.consult(lambda words_from: _has_form(words_from, word.lower())):
            return [word]
        for part, more in (await book.document_frequency(parts)).items():
            chunks[part] += more
    known = {
        part: max(1, many)
        for part, many in chunks.items()
        if part in _FUNCTION_WORDS or (many and len(part) > SHORT_PART)
    }
    most = 1 + max(chunks.values())
    # best[end]: the cost (negative log odds) of the likeliest words up to there, and the start of the last one.
    best: list[tuple[float, int]] = [(0.0, 0)] + [(inf, 0)] * len(word)
    for start, end in sorted(spans, key=lambda span: span[1]):
        if (own := known.get(word[start:end].lower())) and (cost := best[start][0] + log(most / own)) < best[end][0]:
            best[end] = (cost, start)
    found: list[str] = []
    end = len(word)
    while end and best[end][0] < inf:
        found.insert(0, word[best[end][1] : end])
        end = best[end][1]
    return found if not end and any(part.lower() in _FUNCTION_WORDS for part in found) else [word]


class Speller:
    """Looks up how books spell the words of questions, and caches the results."""

    def __init__(self) -> None:
        self._spellings: dict[tuple[str, str, bool], str | None] = {}

    async def changes(self, generation: Vocabulary, text: str, embedder: Embedder, *, chunks: int) -> dict[str, str]:
        """Return the words of a question that a book spells differently, and its spelling.

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        # An abbreviation has only one spelling.
        pairs = ((match, match[0]) for match in _WORD.finditer(text))
        candidates = [
            m for m, word in pairs if len(word) > 3 and not word.isupper() and word.lower() not in lexicon.STOP_WORDS
        ]
        frequency = await generation.document_frequency({match[0].lower() for match in candidates})
        rare = [match for match in candidates if frequency[match[0].lower()] <= RARE]
        if not rare:
            return {}
        pieces = [start for start, _ in embedder.token_offsets(text)]
        keys = {match[0]: (generation.name, match[0].lower(), _may_be_slip(match, pieces)) for match in rare}
        missing = [key for key in keys.values() if key not in self._spellings][:MOST_LOOKED_UP]
        if missing:
            spellings = await generation.consult(
                lambda words_from: {
                    key: _in_book(words_from, key[1], frequent=FREQUENT * chunks if key[2] else None) for key in missing
                }
            )
            self._spellings.update(spellings)
            while len(self._spellings) > KEPT:
                del self._spellings[next(iter(self._spellings))]
        return {word: other for word, key in keys.items() if (other := self._spellings.get(key)) is not None}


def respell(text: str, changes: Mapping[str, str]) -> str:
    """Replace words of a text.

    >>> respell("What is odometery?", {"odometery": "odometry"})
    'What is odometry?'
    """
    return _WORD.sub(lambda match: changes.get(match[0], match[0]), text)


def slips_of(changes: Mapping[str, str]) -> dict[str, str]:
    """The changes that correct slips, without those that only change to the other English spelling."""
    return {
        word: other
        for word, other in changes.items()
        if all(other != spelling for spelling, _, _ in spellings(word.lower()))
    }


def spellings(word: str) -> Iterator[tuple[str, str, str]]:
    """Yield a word's spellings in the other English: the word, and both beginnings up to the difference."""
    for pattern, other in lexicon.SPELLING_RULES:
        for match in re.finditer(pattern, word):
            start, end = word[: match.start()], word[match.end() :]
            yield start + other + end, start + match[0], start + other
    for pair in lexicon.SPELLING_PAIRS:
        for own, other in (pair, pair[::-1]):
            if word.startswith(own) and not word.startswith(other):
                yield other + word[len(own) :], own, other


def is_slip(word: str, other: str) -> bool:
    """Whether two words are one slip apart: a letter wrong, missing or added, or two letters swapped.

    >>> is_slip("quaternoin", "quaternion"), is_slip("odometer", "odometry")
    (True, False)
    """
    return OSA.distance(word, other, score_cutoff=1) == 1


def _in_book(words_from: WordsFrom, word: str, *, frequent: float | None) -> str | None:
    """A book's spelling of a word, if it differs; to count as a slip (`frequent` given), it needs that many chunks."""
    for other, own_start, start in spellings(word):
        chunks = _chunks(words_from, start)
        own = _chunks(words_from, own_start) - (chunks if start.startswith(own_start) else 0)
        if chunks >= max(1, COMMONER * own) and stem(other) != stem(word) and _has_form(words_from, other):
            return other
    if frequent is None:
        return None
    if _has_form(words_from, word):
        return _form_of(words_from, word)
    near = [
        (not is_plain, -chunks, other)
        for other, chunks in words_from(word[0])
        if is_slip(word, other)
        and ((is_plain := _is_plain(word, other)) or (chunks >= frequent and _is_likely(word, other)))
    ]
    return min(near)[-1] if near else None


def _once(word: str) -> list[str]:
    """The letters of a word, each repetition once."""
    return [letter for letter, _ in groupby(word)]


def _form_of(words_from: WordsFrom, word: str) -> str | None:
    """A word of the same stem that only doubles other letters, if a book lacks the word: "install" for "instal"."""
    forms = {other: chunks for other, chunks in words_from(word[0]) if stem(other) == stem(word)}
    alike = {other: chunks for other, chunks in forms.items() if _once(other) == _once(word)}
    return max(alike, key=alike.__getitem__) if alike and word not in forms else None


@cache
def is_confused(one: str, other: str) -> bool:
    """Whether one letter is easily typed for another: they sound alike or are neighbours on the keyboard.

    >>> is_confused("k", "c"), is_confused("s", "d"), is_confused("m", "l")
    (True, True, False)
    """
    if one == other or any(one in group and other in group for group in lexicon.SOUNDS):
        return True
    places = [
        (row, column + row / 2)
        for letter in (one, other)
        for row, keys in enumerate(lexicon.KEYBOARD)
        for column, key in enumerate(keys)
        if key == letter
    ]
    return len(places) == 2 and all(abs(a - b) <= 1 for a, b in zip(*places, strict=True))


def _is_likely(word: str, other: str) -> bool:
    """Whether the wrong letter is easily typed for the right one, or the extra letter for one beside it."""
    (slip,) = Levenshtein.editops(word, other)
    place = slip.src_pos
    letters = other[slip.dest_pos] if slip.tag == "replace" else f"{word[place - 1]}{word[place + 1 : place + 2]}"
    return any(is_confused(word[place], letter) for letter in letters)


def _chunks(words_from: WordsFrom, start: str) -> int:
    """Number of chunks that contain words with this beginning; a chunk counts once for each such word."""
    return sum(chunks for _, chunks in words_from(start))


def _has_form(words_from: WordsFrom, word: str) -> bool:
    """Whether the book has a word of the same stem."""
    target = stem(word)
    # A stem may end differently from its words (happy, happi), so its last letter is left open.
    root = target[: max(3, len(target) - 1)]
    return any(stem(other) == target for other, _ in words_from(root))


def _is_assembled(match: re.Match[str], pieces: Sequence[int]) -> bool:
    """Whether a word of a text is rare or misspelt: its tokens begin at several places."""
    return bisect_left(pieces, match.end()) - bisect_left(pieces, match.start()) > 1


def _may_be_slip(match: re.Match[str], pieces: Sequence[int]) -> bool:
    """The same for a word that is long enough to contain a slip."""
    return _is_assembled(match, pieces) and len(match[0]) >= SHORT_LETTERS


def _is_plain(word: str, other: str) -> bool:
    """Whether a word's length makes the other one certain, or a letter is missing, or two are swapped."""
    is_long = len(word) >= LEAST_LETTERS and len(other) >= LEAST_LETTERS - 1
    return is_long or len(other) > len(word) or sorted(word) == sorted(other)
