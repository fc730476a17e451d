"""Decides whether two questions mean the same, so that the answer prepared for one also answers the other.

Some things must agree literally: the book's terms that the two name, numbers, and negation. Beyond that, the signals
compare their embeddings. The weights are fitted on labelled pairs (`python -m training same`), with a bias that rejects
all near pairs, which ask something else about the same subject: a false match would answer a question that was not
asked, while a missed one is answered from the book like any other.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from lutrin.index.companion import Wording
from lutrin.index.tokens import project, quantise, restore
from lutrin.language.words import REMEMBERED, is_negated, stem, words
from lutrin.ports import Encoding, Reading
from lutrin.prepared import Entry
from lutrin.search.fits import Fit, Float, read_fit

SIGNALS = ("cosine", "weakest word", "one word exchanged", "nearer to the answer", "share of the weakest word")
"""Cosine of the pooled vectors; the worst among the best matches of each token in the other question, both ways;
whether the two differ by just one word each, such as `on` and `off`; how much nearer to the answer the reader's
question is than the prepared one, by the cosines of the pooled vectors; the worst match of the reader's tokens, by
their number."""
FITTED = "same.json"
_JOINED = re.compile(r"(?<=\w)[-'’](?=\w)")
_DIGITS = re.compile(r"\d+(?:[.,]\d+)?")


class SameFit(Fit, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fit of `python -m training same`."""

    nearest: float
    """Largest fourth signal in the fit: a question not offered even with it needs no comparison of answers."""
    offered: float
    """Log odds above which a prepared question may be meant, whether its terms agree or not, and is offered."""
    pairs: int
    near: int
    """Pairs that must not match."""
    passed: float
    """Share of accepted pairs among those that mean the same, each judged by a fit without its question."""
    wrongly: int
    """Near pairs accepted by the same measure."""


@dataclass(frozen=True)
class EncodedQuestion:
    """A question, encoded for comparison."""

    text: str
    vector: Float
    """(d,), of length 1."""
    tokens: Float
    """(Q, k), each of about length 1."""

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """The stems of all words, in order."""
        return tuple(map(stem, words(self.text)))


class Terms:
    """The terms of a book, for finding those that a question names."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._names = {
            tuple(map(stem, words(name))): entry.topic
            for entry in entries
            if entry.kind == "term"
            for name in entry.names
            if any(len(word) > 1 for word in words(name))  # the words of "A*" are an article
        }
        self._longest = max(map(len, self._names), default=0)
        self.named = lru_cache(maxsize=REMEMBERED)(self._name)
        """The terms that a question with these stems names by any of their names; of nested names, the longest."""

    def _name(self, stems: tuple[str, ...]) -> frozenset[str]:
        names, place = set(), 0
        while place < len(stems):
            lengths = range(min(self._longest, len(stems) - place), 0, -1)
            length = next((n for n in lengths if tuple(stems[place : place + n]) in self._names), 0)
            if length:
                names.add(self._names[tuple(stems[place : place + length])])
            place += max(length, 1)
        return frozenset(names)


def encode_question(text: str, encoding: Encoding, reading: Reading) -> EncodedQuestion:
    """Encode a reader's question.

    Raises:
        ValueError: The embedder gives no token vectors.
    """
    if encoding.token_vectors is None:
        raise ValueError("the embedder gives no token vectors")
    learned = reading.projection
    narrow = project(encoding.token_vectors, learned) if learned is not None else encoding.token_vectors
    return EncodedQuestion(text, encoding.pooled, restore(quantise(narrow)))


def prepare(wording: Wording) -> EncodedQuestion:
    """Encode a prepared question."""
    return EncodedQuestion(wording.text, wording.vector, restore(wording.tokens))


def agree(one: EncodedQuestion, other: EncodedQuestion, terms: Terms) -> bool:
    """Whether two questions name the same terms, numbers and symbols (`cd -`), and agree in negation."""
    mine, theirs = _signs(one.text), _signs(other.text)
    return (
        (not mine or not theirs or mine == theirs)
        and terms.named(one.stems) == terms.named(other.stems)
        and set(_DIGITS.findall(one.text)) == set(_DIGITS.findall(other.text))
        and is_negated(one.text) == is_negated(other.text)
    )


def _signs(text: str) -> frozenset[str]:
    """The words of a question with symbols: `+x`, `..`, `/cmd_vel`."""
    bare = (word.strip("?!,;:()\"'“”‘’") for word in text.rstrip(" ?.!").split())
    return frozenset(word for word in bare if word and not _JOINED.sub("", word).isalnum())


def compare(question: EncodedQuestion, other: EncodedQuestion, answer: Float | None = None) -> Float:
    """(5,): the signals of a question and a prepared one, in the order of `SIGNALS`.

    Args:
        question: The reader's.
        other: The prepared one.
        answer: (d,) pooled vector of the prepared answer, of length 1; None: it counts as equally near to both.
    """
    if not len(question.tokens) or not len(other.tokens):
        return np.zeros(len(SIGNALS), dtype=np.float32)
    near = question.tokens @ other.tokens.T
    mine, theirs = float(near.max(axis=1).min()), float(near.max(axis=0).min())
    new, lost = ([word for word in a.stems if word not in b.stems] for a, b in ((question, other), (other, question)))
    exchanged = float(len(new) == len(lost) == 1)
    nearer = float((question.vector - other.vector) @ answer) if answer is not None else 0.0
    cosine = float(question.vector @ other.vector)
    return np.array((cosine, min(mine, theirs), exchanged, nearer, mine / len(question.tokens)), dtype=np.float32)


def most_odds(question: EncodedQuestion, other: EncodedQuestion, embedder: str) -> float:
    """Log odds that two questions mean the same, if the first were as near to the answer as possible; see `odds`."""
    fit = weights()
    signals = compare(question, other)
    signals[SIGNALS.index("nearer to the answer")] = fit.nearest if fit is not None else 0.0
    return odds(signals, embedder)


def weights() -> SameFit | None:
    """Return the fit; None before fitting."""
    return read_fit("lutrin.study", FITTED, SameFit)


def odds(signals: Float, embedder: str) -> float:
    """Log odds that two questions mean the same; `-inf` for an embedder without a fit."""
    fit = weights()
    if fit is None or fit.embedder != embedder or fit.signals != SIGNALS:
        return -np.inf
    return float(signals @ np.array(fit.weights[:-1], dtype=np.float32)) + fit.weights[-1]


def may_be_meant(chance: float) -> bool:
    """Whether log odds suffice to offer a prepared question, even if not to accept it."""
    fit = weights()
    return fit is not None and chance > fit.offered
