"""Search while somebody types: the last word may be unfinished, and any word may hold a slip of the keyboard.

Every typed word stands for the words of the book that it may become: those that begin with it while it is the last,
else itself; and where the book has none of these, those that lie a slip away (optimal string alignment, Damerau 1964;
two slips in a long word). A passage is found if it has one of the words for each word that was typed; where too few
do, passages that have the most weight of them follow. FTS5 ranks both by BM25, as in every search.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from lutrin.index import lexical
from lutrin.sqlite import Connection

MOST_TYPED = 8
"""Words that are looked at; who types more is asking a question, and its last words say what is new."""
MOST_FORMS = 32
"""Words of the book that one typed word may stand for, the commonest first: bounds the length of a query."""
LEAST_PREFIX = 2
"""Letters of an unfinished word from which on its beginnings are looked up."""
LEAST_SLIP, LONG = 4, 8
"""Letters of a word that may hold a slip, and of one that may hold two: shorter ones are like too many others."""

WordsFrom = Callable[[str], list[tuple[str, int]]]
"""The words of a book that begin so, lower case, with the number of chunks in which each stands."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A typed word and the book's words that it may mean."""

    word: str
    forms: tuple[str, ...]


def understood(text: str, words_from: WordsFrom, vocabulary: Mapping[str, int]) -> list[Typed]:
    """Match each typed word with words of the book.

    Args:
        text: As it stands in the box; a space at its end ends the last word.
        words_from: The book's words by their beginning.
        vocabulary: All of them, with the number of chunks in which each stands.

    Returns:
        At most `MOST_TYPED` words; one without forms is none that the book has.
    """
    spoken = lexical.words(text)
    unfinished = spoken[-1] if spoken and text[-1:].isalnum() else None
    content = [word for word in spoken if word not in lexical.STOP_WORDS or word == unfinished] or spoken
    if len(content) > 1 and unfinished in lexical.STOP_WORDS:
        content = [word for word in content if word != unfinished] or content
    typed = list(dict.fromkeys(content))[-MOST_TYPED:]
    return [Typed(word, _forms(word, words_from, vocabulary, unfinished=word == unfinished)) for word in typed]


def _forms(word: str, words_from: WordsFrom, vocabulary: Mapping[str, int], *, unfinished: bool) -> tuple[str, ...]:
    if unfinished and len(word) >= LEAST_PREFIX:
        begun = _commonest(words_from(word))
        if begun:
            return begun
    elif word in vocabulary:
        return (word,)
    stem = lexical.stemmed(word)
    near = words_from(stem[:-1])  # the last letter of a stem may be of its own making: batteri, battery
    related = _commonest((known, count) for known, count in near if lexical.stemmed(known) == stem)
    return related or _slips(word, vocabulary, unfinished=unfinished)


def _commonest(words: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    ranked = sorted(words, key=lambda pair: (-pair[1], pair[0]))
    return tuple(word for word, _ in ranked[:MOST_FORMS])


def _slips(word: str, vocabulary: Mapping[str, int], *, unfinished: bool) -> tuple[str, ...]:
    """Words of the book that lie nearest to a word, within the slips that one of its length may hold."""
    if len(word) < LEAST_SLIP:
        return ()
    known = list(vocabulary)
    # Of an unfinished word the beginnings of the book's words are compared: of its length, and where it lacks a letter.
    lengths = (None, len(word), len(word) + 1) if unfinished else (None,)
    nearest: dict[str, int] = {}
    for length in lengths:
        found = process.extract(
            word,
            [other[:length] for other in known],
            scorer=OSA.distance,
            processor=None,
            score_cutoff=2 if len(word) >= LONG else 1,
            limit=MOST_FORMS * 4,
        )
        for _, distance, at in found:
            nearest[known[at]] = min(nearest.get(known[at], distance), distance)
    least = min(nearest.values(), default=0)
    return _commonest((other, vocabulary[other]) for other, distance in nearest.items() if distance == least)


def rows_for(connection: Connection, typed: Sequence[Typed], most: int) -> list[tuple[int, float]]:
    """Rows of the chunks that were meant, with their BM25, best first: those that have every word, then the others."""
    groups = [_any_of(one.forms) for one in typed if one.forms]
    if not groups:
        return []
    complete = len(groups) == len(typed)
    found = _matching(connection, " AND ".join(groups), most) if complete else []
    if len(found) < most and (len(groups) > 1 or not complete):
        known = {row for row, _ in found}
        found += [pair for pair in _matching(connection, " OR ".join(groups), most) if pair[0] not in known]
    return found[:most]


def _any_of(forms: Iterable[str]) -> str:
    return f"({' OR '.join(lexical.quoted(form) for form in forms)})"


def _matching(connection: Connection, query: str, most: int) -> list[tuple[int, float]]:
    found = connection.execute(
        "SELECT rowid, -rank FROM prose WHERE prose MATCH ? AND rank MATCH ? ORDER BY rank LIMIT ?",
        (query, lexical.ranking("prose"), most),
    )
    return [(int(row), float(score)) for row, score in found]
