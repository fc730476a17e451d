"""Searches while somebody types: the last word may be unfinished, and any word may contain a typing slip.

Each typed word stands for the words of the book that it may become. The last word stands for those that begin with it,
and any other word for itself. If the book has none of these, the word stands for those one slip away (optimal string
alignment, Damerau 1964; two slips in a long word). A passage matches if it has a word for each typed word. If too few
do, the passages with the most weight of typed words follow. FTS5 ranks both by BM25, as in every search.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import process
from rapidfuzz.distance import OSA

from lutrin.index import lexical
from lutrin.sqlite import Connection

MOST_TYPED = 8
"""Most words to use; a longer text is a question, and its last words are the new ones."""
MOST_FORMS = 32
"""Most words of the book that one typed word may stand for, commonest first; this bounds the query."""
LEAST_PREFIX = 2
"""Least letters of an unfinished word to look up by its beginning."""
LEAST_SLIP, LONG = 4, 8
"""Least letters of a word that may contain one slip, and two: shorter words resemble too many others."""

WordsFrom = Callable[[str], list[tuple[str, int]]]
"""The words of a book with a given beginning, in lower case, each with its number of chunks."""


@dataclass(frozen=True, slots=True)
class TypedWord:
    """A typed word and the book's words that it may mean."""

    word: str
    forms: tuple[str, ...]


def match_words(text: str, words_from: WordsFrom, vocabulary: Mapping[str, int]) -> list[TypedWord]:
    """Match at most `MOST_TYPED` words with the book's; a space ends the last one, and unknown words have no forms."""
    words = lexical.words(text)
    unfinished = words[-1] if words and text[-1:].isalnum() else None
    content = [word for word in words if word not in lexical.STOP_WORDS or word == unfinished] or words
    if len(content) > 1 and unfinished in lexical.STOP_WORDS:
        content = [word for word in content if word != unfinished] or content
    typed = list(dict.fromkeys(content))[-MOST_TYPED:]
    matches: list[TypedWord] = []
    for word in typed:
        joined = matches[-1].word + word if matches else ""
        if joined and (relatives := _relatives(joined, words_from)):
            # "Cost map" may be the book's costmap; as two words they must be adjacent.
            matches[-1] = TypedWord(joined, (*relatives, f"{matches[-1].word} {word}"))
        else:
            matches.append(TypedWord(word, _forms(word, words_from, vocabulary, unfinished=word == unfinished)))
    return matches


def _forms(word: str, words_from: WordsFrom, vocabulary: Mapping[str, int], *, unfinished: bool) -> tuple[str, ...]:
    if unfinished and len(word) >= LEAST_PREFIX:
        completions = _commonest(words_from(word))
        if completions:
            return completions
    elif word in vocabulary:
        return (word,)
    return _relatives(word, words_from) or _slips(word, vocabulary, unfinished=unfinished)


def _relatives(word: str, words_from: WordsFrom) -> tuple[str, ...]:
    """The book's words with the stem of a word."""
    stem = lexical.stem_of(word)
    near = words_from(stem[:-1])  # a stem may end in a letter of its own: batteri, battery
    return _commonest((other, count) for other, count in near if lexical.stem_of(other) == stem)


def _commonest(words: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    ranked = sorted(words, key=lambda pair: (-pair[1], pair[0]))
    return tuple(word for word, _ in ranked[:MOST_FORMS])


def _slips(word: str, vocabulary: Mapping[str, int], *, unfinished: bool) -> tuple[str, ...]:
    """The book's words nearest to a word, within the slips that its length allows."""
    if len(word) < LEAST_SLIP:
        return ()
    words = list(vocabulary)
    # An unfinished word is compared with beginnings of the book's words: of its length, and one letter longer.
    lengths = (None, len(word), len(word) + 1) if unfinished else (None,)
    nearest: dict[str, int] = {}
    for length in lengths:
        matches = process.extract(
            word,
            [other[:length] for other in words],
            scorer=OSA.distance,
            processor=None,
            score_cutoff=2 if len(word) >= LONG else 1,
            limit=MOST_FORMS * 4,
        )
        for _, distance, at in matches:
            nearest[words[at]] = min(nearest.get(words[at], distance), distance)
    least = min(nearest.values(), default=0)
    return _commonest((other, vocabulary[other]) for other, distance in nearest.items() if distance == least)


def rows_for(connection: Connection, typed: Sequence[TypedWord], most: int) -> list[tuple[int, float]]:
    """Rows of the matching chunks with their BM25, best first: those that have every word, then the others."""
    groups = [f"({' OR '.join(lexical.quote(form) for form in one.forms)})" for one in typed if one.forms]
    if not groups:
        return []
    complete = len(groups) == len(typed)
    rows = _matching(connection, " AND ".join(groups), most) if complete else []
    if len(rows) < most and (len(groups) > 1 or not complete):
        seen = {row for row, _ in rows}
        rows += [pair for pair in _matching(connection, " OR ".join(groups), most) if pair[0] not in seen]
    return rows[:most]


def _matching(connection: Connection, query: str, most: int) -> list[tuple[int, float]]:
    rows = connection.execute(
        "SELECT rowid, -rank FROM prose WHERE prose MATCH ? AND rank MATCH ? ORDER BY rank LIMIT ?",
        (query, lexical.ranking("prose"), most),
    )
    return [(int(row), float(score)) for row, score in rows]
