"""Kept questions lead to passages: what was prepared on a passage says in readers' words what it answers.

Hypothetical prompt embeddings (HyPE; doc2query is the same with words): a reader's question is compared with questions,
to which it is more alike than to the prose that answers it. A passage gains by the nearest question that leads to it.
Whether the book answers at all is judged without it: a near question would find one like itself.
"""

from collections.abc import Mapping

import msgspec

from lutrin.index.companion import BY_THE_BOOK, Companion
from lutrin.search.fitted import read_fit
from lutrin.search.question_tokens import Float

NEAREST = 60
"""Kept questions that may lead somewhere."""
MOST_LED = 12
"""Passages that are candidates because of them, at most."""
FITTED = "kept.json"


class Weight(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file that `python -m training kept` writes."""

    embedder: str
    """Name of the embedder for whose scores it was fitted."""
    weight: float
    """Times how near the nearest kept question is (`leads_of`): added to a passage's score."""
    questions: int
    file_at_1: tuple[float, float]
    """Share of the sample questions whose file comes first, without kept questions and with them."""


def leads_of(companion: Companion, vector: Float) -> dict[str, float]:
    """Passages that prepared questions lead to, by id, nearest question first, with how near that one is.

    That is its cosine beyond the farthest of the `NEAREST`: a passage to which no question leads counts like one to
    which only that one does. An entry leads to every passage that it quotes.

    Args:
        companion: Of the book.
        vector: (d,) of what is asked, of length 1.
    """
    nearest = companion.nearest(vector, NEAREST)
    found: dict[str, float] = {}
    for place, cosine in nearest:
        for owner in companion.owners[companion.texts[place]]:
            item = companion.entries[owner]
            if item.entry.author == BY_THE_BOOK:
                continue  # a search has found it already
            for name in (item.chunk_id, *(name for name, _, _ in item.places)):
                found.setdefault(name, cosine - nearest[-1][1])
    return found


def weights() -> Weight | None:
    """Return what was fitted; None before fitting."""
    return read_fit("lutrin.search", FITTED, Weight)


def gains(leads: Mapping[str, float], embedder: str) -> dict[str, float]:
    """Return gains of passages by kept questions, by id; empty for another embedder's scores."""
    known = weights()
    weight = known.weight if known is not None and known.embedder == embedder else 0.0
    return {name: weight * near for name, near in leads.items() if weight}
