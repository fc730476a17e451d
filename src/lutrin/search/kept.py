"""Kept questions lead to passages: what was prepared on a passage says in readers' words what it answers.

Hypothetical prompt embeddings (HyPE; doc2query is the same with words): a reader's question is compared with questions,
to which it is more alike than to the prose that answers it. A passage gains by the nearest question that leads to it.
Whether the book answers at all is judged without it: a near question would find one like itself.
"""

from collections.abc import Mapping
from functools import lru_cache
from importlib import resources

import msgspec

from lutrin.index.companion import Companion
from lutrin.search.asked import Float

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
    """Times the cosine of the nearest kept question: added to a passage's score."""
    questions: int
    file_at_1: tuple[float, float]
    """Share of the sample questions whose file comes first, without kept questions and with them."""


def led(companion: Companion, vector: Float) -> dict[str, float]:
    """Passages that prepared questions lead to, by id, with the cosine of the nearest question, nearest first.

    Args:
        companion: Of the book.
        vector: (d,) of what is asked, of length 1.
    """
    found: dict[str, float] = {}
    for place, cosine in companion.nearest(vector, NEAREST):
        for owner in companion.owners[companion.texts[place]]:
            found.setdefault(companion.entries[owner].chunk_id, cosine)
    return found


@lru_cache(maxsize=1)
def fitted() -> Weight | None:
    """Return the fitted weight of a kept question; None before fitting.

    Raises:
        ValidationError: The file is damaged.
    """
    file = resources.files("lutrin.search") / FITTED
    return msgspec.json.decode(file.read_bytes(), type=Weight) if file.is_file() else None


def gains(leads: Mapping[str, float], embedder: str) -> dict[str, float]:
    """Return gains of passages by kept questions, by id; empty for another embedder's scores."""
    known = fitted()
    weight = known.weight if known is not None and known.embedder == embedder else 0.0
    return {name: weight * cosine for name, cosine in leads.items() if weight}
