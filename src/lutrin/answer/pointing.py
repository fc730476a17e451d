"""Tells what a question beside an open page points at: the page, its table, its code, or nothing on it.

A softmax regression on two vectors of the question decides: as it was typed, and with its names masked, which leaves
the manner of asking. Each is the mean of token vectors, which the local reader gives beside any service's vectors.
`python -m evaluation.pointing` fits it on questions that lie there, and writes `pointing.json`.
"""

from functools import cache

import msgspec
import numpy as np

from lutrin.language.words import name_spans
from lutrin.ports import Embedder
from lutrin.query.understand import Pointing, Query
from lutrin.search.fits import Float, load_fit
from lutrin.search.joints import model_of
from lutrin.search.search import Searcher


class Pointer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file that `python -m evaluation.pointing` writes."""

    reader: str
    """The model that gives the token vectors."""
    kinds: tuple[Pointing, ...]
    weights: tuple[tuple[float, ...], ...]
    """For each kind one weight for each number of both vectors, and the bias."""
    least: float
    """Probability from which a question points at something on the page."""
    perhaps: float
    """Probability from which its page's nearest passage is shown before the question is refused."""
    mostly: float
    """Share of that probability from which it points at one kind of thing, rather than "here"."""

    @property
    def width(self) -> int:
        """Numbers of a token vector."""
        return len(self.weights[0]) // 2

    def chances(self, vectors: Float) -> Float:
        """(n, kinds): probability of each kind, from the two vectors of n questions: (n, 2d)."""
        table = np.array(self.weights, dtype=np.float32)
        logits = vectors @ table[:, :-1].T + table[:, -1]
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: Float = odds / odds.sum(axis=1, keepdims=True)
        return shares


@cache
def pointer() -> Pointer:
    """The fitted weights."""
    return load_fit("lutrin.answer", "pointing.json", Pointer)


async def points_at(searcher: Searcher, query: Query) -> Pointing:
    """The target that a question on a page points at; "none" if it is a question for the book."""
    if not query.page or query.selected_text or query.subject or (query.frame == "about" and query.about is None):
        return "none"
    fit = pointer()
    if reader_of(searcher.embedder) == fit.reader:
        chances = dict(
            zip(fit.kinds, fit.chances(await both_vectors(searcher, [query.typed], fit.width))[0].tolist(), strict=True)
        )
        points = 1 - chances.pop("none")
        if points >= fit.least:
            kind = max(chances, key=chances.__getitem__)
            return kind if chances[kind] >= fit.mostly * points else "here"
        if points >= fit.perhaps and query.name_stems:
            return "perhaps"
    return "none" if query.name_stems else "here"


def reader_of(embedder: Embedder) -> str:
    """The model that gives an embedder's token vectors: a service's has the local one's name after its own."""
    return model_of(embedder.name.rpartition("+")[2])


async def both_vectors(searcher: Searcher, texts: list[str], width: int) -> Float:
    """(n, 2d): the mean token vectors of texts, and of the same without their names; beyond this width they have zeros.

    Raises:
        ValueError: The embedder gives no token vectors.
    """
    rows = []
    for one in await searcher.encode([*texts, *map(without_names, texts)]):
        if one.token_vectors is None:
            raise ValueError("the embedder gives no token vectors")
        rows.append(one.token_vectors[:, :width].mean(axis=0))
    return np.concatenate([np.array(rows[: len(texts)]), np.array(rows[len(texts) :])], axis=1)


def without_names(text: str) -> str:
    """Replace each name in a text by a pronoun, so that only the manner of asking is left.

    >>> without_names("What does the table here say about the handle of the sledge?")
    'What does the it here say about the it of the it?'
    """
    for start, end in reversed(name_spans(text)):
        text = f"{text[:start]}it{text[end:]}"
    return text
