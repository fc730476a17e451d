"""Tells what a question beside an open page points at: the page, its table, its code, or nothing on it.

Each token of the question votes for what it points at, "here" or "page" in their context; the votes for a kind are the
exponentials of a linear score, and add up (multiple-instance learning with a soft maximum). The local reader gives the
token vectors, beside any service's vectors. `python -m evaluation.pointing` fits the scores on questions that lie
there, and writes `pointing.json`.
"""

from functools import cache

import msgspec
import numpy as np

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
    """What a question may point at; it has one vote more, for nothing."""
    weights: tuple[tuple[float, ...], ...]
    """For each kind one weight for each number of a token vector, and the bias."""
    least: float
    """Probability from which a question points at something on the page."""
    perhaps: float
    """Probability from which its page's nearest passage is shown before the question is refused."""
    mostly: float
    """Share of that probability from which it points at one kind of thing, rather than "here"."""

    def chances(self, tokens: Float) -> dict[Pointing, float]:
        """Probability of each kind, from the token vectors of a question: (Q, d) or wider, with zeros."""
        table = np.array(self.weights, dtype=np.float32)
        votes = np.exp(tokens[:, : table.shape[1] - 1] @ table[:, :-1].T + table[:, -1]).sum(axis=0)
        return dict(zip(self.kinds, (votes / (1 + votes.sum())).tolist(), strict=True))


@cache
def pointer() -> Pointer:
    """The fitted weights."""
    return load_fit("lutrin.answer", "pointing.json", Pointer)


async def points_at(searcher: Searcher, query: Query) -> Pointing:
    """The target that a question on a page points at; "none" if it is a question for the book."""
    if not query.page or query.selected_text or query.subject or (query.frame == "about" and query.about is None):
        return "none"
    fit = pointer()
    (encoding,) = await searcher.encode([query.typed])
    if encoding.token_vectors is not None and reader_of(searcher.embedder) == fit.reader:
        chances = fit.chances(encoding.token_vectors)
        points = sum(chances.values())
        if points >= fit.least:
            kind = max(chances, key=chances.__getitem__)
            return kind if chances[kind] > fit.mostly * points else "here"
        if points >= fit.perhaps and query.name_stems:
            return "perhaps"
    return "none" if query.name_stems else "here"


def reader_of(embedder: Embedder) -> str:
    """The model that gives an embedder's token vectors: a service's has the local one's name after its own."""
    return model_of(embedder.name.rpartition("+")[2])
