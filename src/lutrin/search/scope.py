"""Whether the book answers at all: the odds, from what the reader found, and the decision."""

from collections.abc import Sequence

import numpy as np

from lutrin.language.words import stem, stem_set
from lutrin.ports import Reading
from lutrin.records import Refusal
from lutrin.search.asked import Float
from lutrin.search.candidates import Matched, Pool
from lutrin.search.reader import Read

SIGNALS = ("best passage", "best match", "best cosine", "weakest word", "words held", "stands out")
"""Score of the best passage, over 10; best match of a whole passage; best cosine; the worst match of a word that counts
in the best passages; share of the words, by rarity, that stand in them; the best score less the mean of the next, over
10. `training` fits what each counts, on real books and our own, books left out in turn."""
CONSIDERED = 5
"""Passages in which a question's words are looked for."""
FAR = -4.0
"""Log odds below which a question is not even near the book's subject; only the wording of a refusal hangs on it."""


def signals(pool: Pool, matched: Matched, found: Sequence[Read]) -> Float:
    """What tells whether a book answers: (6,) in the order of `SIGNALS`.

    Args:
        pool: Not empty.
        matched: The pool as the text sees it.
        found: Its passages in the order of the pool.
    """
    scores = np.array([item.score for item in found], dtype=np.float32)
    order = np.argsort(-scores, kind="stable")
    first, few = order[0], order[:CONSIDERED]
    asked = matched.asked
    best = matched.late.passage_best[few].max(axis=0)
    counts = asked.share >= 1 / max(1, len(asked.share))
    held = frozenset().union(*(stem_set(pool.chunks[index].embedded_text()) for index in few))
    weight = asked.share * np.array([bool(word) for word in asked.words])
    stands = np.array([bool(word) and stem(word) in held for word in asked.words])
    return np.array(
        [
            scores[first] / 10,
            matched.late.passages.max(),
            matched.cosines.max(),
            best[counts].min(initial=1.0),
            float(weight[stands].sum() / max(float(weight.sum()), 1e-9)),
            (scores[first] - float(scores[order[1:10]].mean() if len(order) > 1 else 0.0)) / 10,
        ],
        dtype=np.float32,
    )


def log_odds(found: Float, reading: Reading) -> float:
    """Logarithm of the odds that the book answers, from its signals."""
    if not reading.scope:
        slope, bias = reading.answers
        return slope * 10 * float(found[0]) + bias
    return float(found @ np.array(reading.scope[:-1], dtype=np.float32)) + reading.scope[-1]


def judge(odds: float, *, found: bool) -> Refusal | None:
    """None if the book answers; else why not.

    Args:
        odds: From `log_odds`.
        found: Whether there is any passage.
    """
    if found and odds >= 0:
        return None
    return "not_in_book" if found and odds >= FAR else "out_of_scope"
