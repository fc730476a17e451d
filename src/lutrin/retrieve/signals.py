"""What tells whether the book speaks of what is asked at all, and how much each sign counts.

No single signal decides: the cosine of unrelated questions reaches that of answerable ones, above all in a book on one
narrow subject, where whatever is near the subject is near every passage. There the words tell: those that say what is
asked stand in the best passages or they don't. Where a book has many words and the question few, nearly all of them
stand in some passage: there it tells how near the question is to what is asked of any book (`background`). Seven
signals go into one logistic regression. Its weights are fitted for each generation on questions made from the book
itself (`calibrate`), held close to those of `PRIOR`, which alone decide in a book that is too small to fit.
`docs/decisions/0002-scope.md` has the figures.
"""

import numpy as np

from lutrin.index.manifest import ScopeFit
from lutrin.retrieve.asked import Float
from lutrin.retrieve.candidates import Pool, Scored
from lutrin.retrieve.everyday import is_everyday
from lutrin.retrieve.words import stem_set

SIGNALS = (
    "best cosine", "best passage", "words in five", "words in the first", "matches in five", "size", "usual questions",
)  # fmt: skip
SIZE = SIGNALS.index("size")
SIGNALS_VERSION = 3
"""Raised with every change of the signals or of how they are fitted."""
PRIOR = ScopeFit(
    weights=(17.5, 6.6, 2.0, 1.6, 8.0, -3.4, -12.0), bias=-4.8, questions=0, signals=SIGNALS_VERSION
)  # fmt: skip
"""Fitted on the tuning halves of four books' questions, then rounded; docs/decisions/0002 says which."""
LARGEST = 2000
"""Chunks; a larger book counts as one of these, for none was fitted on."""
EVERYDAY = 0.5
"""Weight at most of a word of everyday English that a book lacks; one that it has weighs like any other."""
CONSIDERED = 5
"""Passages in which a question's words are looked for."""


def signals_of(pool: Pool, item: Scored, rank: Float) -> tuple[Float, Float]:
    """What tells whether a book answers a question: (7,) float32, in the order of `SIGNALS`.

    The words of a question count by their rarity, so that one which the book does not have at all counts most. A
    question that names nothing holds no word to miss. The best of many passages matches better than the best of few,
    whatever is asked: the largest of n normal variables lies about sqrt(2 ln n) deviations above their mean.

    Args:
        pool: Not empty.
        item: The pool as the question sees it.
        rank: (P,): by which the pool is ordered.

    Returns:
        The signals for `log_odds`, in which a word of everyday English that the passages lack weighs EVERYDAY at most,
        and those for `strength`: of two books the one that has a word is the better one, everyday though it may be.
    """
    order = np.argsort(-rank, kind="stable")[:CONSIDERED]
    held = [stem_set(pool.chunks[index].embedded_text()) for index in order]
    topics = item.asked.topics

    def share(stems: frozenset[str], everyday: float) -> float:
        held = sum(weight for stem, weight in topics.items() if stem in stems)
        missed = sum(
            min(weight, everyday) if is_everyday(stem) else weight
            for stem, weight in topics.items()
            if stem not in stems
        )
        return held / (held + missed) if topics else 0.0

    near = (item.cosines.max(), item.late.passages.max())
    rest = (
        item.late.passage_best[order].max(axis=0) @ item.share,
        np.sqrt(2 * np.log(min(max(item.asked.chunks, 2), LARGEST))),
        item.asked.usual,
    )
    five = frozenset().union(*held)
    judged, compared = (
        np.array([*near, share(five, everyday), share(held[0], everyday), *rest], dtype=np.float32)
        for everyday in (EVERYDAY, np.inf)
    )
    return judged, compared


def strength(signals: Float) -> float:
    """How much a book speaks of a question, to be compared with another book's: by the common weights, size aside.

    Args:
        signals: The second ones of `signals_of`.
    """
    return log_odds(signals, None) - PRIOR.weights[SIZE] * float(signals[SIZE])


def log_odds(signals: Float, fit: ScopeFit | None) -> float:
    """Logarithm of the odds that a book speaks of a question.

    Args:
        signals: The first ones of `signals_of`.
        fit: Of the book's generation; None, or one for other signals: `PRIOR`.
    """
    fit = fit if fit is not None and fit.signals == SIGNALS_VERSION else PRIOR
    return float(signals @ np.array(fit.weights, dtype=np.float32)) + fit.bias
