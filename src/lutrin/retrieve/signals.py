"""What tells whether the book speaks of what is asked at all, and how much each sign counts.

No single signal decides: the cosine of unrelated questions reaches that of answerable ones, above all in a book on one
narrow subject, where whatever is near the subject is near every passage. There the words tell: those that say what is
asked stand in the best passages or they don't. Where a book has many words and the question few, nearly all of them
stand in some passage: there it tells how near the question is to what is asked of any book (`background`). Seven
signals go into one logistic regression. Its weights are fitted for each generation on questions made from the book
itself (`calibrate`), held close to those of `PRIOR`, which alone decide in a book that is too small to fit.
`docs/decisions/0002-scope.md` has the figures.
"""

from collections.abc import Callable

import numpy as np

from lutrin.index.manifest import ScopeFit
from lutrin.retrieve.asked import Float, Topic
from lutrin.retrieve.candidates import Pool, Scored
from lutrin.retrieve.everyday import is_everyday
from lutrin.retrieve.words import stem_set

SIGNALS = (
    "best cosine", "best passage", "words in five", "words in the first", "matches in five", "size", "usual questions",
)  # fmt: skip
SIZE = SIGNALS.index("size")
SIGNALS_VERSION = 4
"""Raised with every change of the signals or of how they are fitted."""
PRIOR = ScopeFit(
    weights=(13.4, 7.5, 3.6, 3.7, 7.4, -2.1, -10.1), bias=-12.5, questions=0, signals=SIGNALS_VERSION
)  # fmt: skip
"""Fitted on the tuning halves of six books' questions, then rounded; docs/decisions/0002 says which."""
COMPARED = (17.5, 6.6, 2.0, 1.6, 8.0, 0.0, -12.0)
"""What each signal counts where two books are compared: size is no reason to prefer one."""
LARGEST = 2000
"""Chunks; a larger book counts as one of these, for none was fitted on."""
EVERYDAY = 0.5
"""Weight at most of a word of everyday English that a book lacks; one that it has weighs like any other."""
TOLD = 0.25
"""Share of its weight that a word keeps which passages lack, if the reader does not ask with it but tells a story."""
UNLIKE = 0.3
"""Cosine up to which the nearest token says nothing of a word that is missed; at 1 it is as good as the word."""
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
        The signals for `log_odds`, in which a word that the passages lack weighs the less the commoner it is in English
        and the better another word of theirs matches it, and those for `strength`: of two books the one that has a word
        is the better one, common though it may be.
    """
    order = np.argsort(-rank, kind="stable")[:CONSIDERED]
    held = [stem_set(pool.chunks[index].embedded_text()) for index in order]
    matches = item.late.passage_best[order]
    topics = item.asked.topics

    in_five = frozenset().union(*held), matches.max(axis=0)
    in_first = held[0], matches[0]

    def share(best: tuple[frozenset[str], Float], missed: Callable[[str, Topic, Float], float]) -> float:
        """Of the question's words by weight, those that the best passages hold."""
        stems, match = best
        found = sum(topic.weight for stem, topic in topics.items() if stem in stems)
        lost = sum(missed(stem, topic, match) for stem, topic in topics.items() if stem not in stems)
        return found / (found + lost) if found + lost else 1.0

    near = (item.cosines.max(), item.late.passages.max())
    rest = (
        in_five[1] @ item.share,
        np.sqrt(2 * np.log(min(max(item.asked.chunks, 2), LARGEST))),
        item.asked.usual,
    )
    judged, compared = (
        np.array([*near, share(in_five, missed), share(in_first, missed), *rest], dtype=np.float32)
        for missed in (_missed, _missed_in_full)
    )
    return judged, compared


def _missed(stem: str, topic: Topic, match: Float) -> float:
    """What a word counts that passages lack: little if it is an ordinary one, or if they have one of its meaning.

    Args:
        stem: Of the word.
        topic: The word.
        match: (Q,): the best match of each of the question's tokens in these passages.
    """
    weight = min(topic.weight, EVERYDAY) if is_everyday(stem) else topic.weight
    weight *= TOLD if topic.told else 1.0
    alike = sum(float(match[place]) for place in topic.places) / max(1, len(topic.places))
    return weight * topic.unusual * min(max((1 - alike) / (1 - UNLIKE), 0.0), 1.0)


def _missed_in_full(stem: str, topic: Topic, match: Float) -> float:  # noqa: ARG001 - as `_missed`
    return topic.weight


def strength(signals: Float) -> float:
    """How much a book speaks of a question, to be compared with another book's.

    Args:
        signals: The second ones of `signals_of`.
    """
    return float(signals @ np.array(COMPARED, dtype=np.float32))


def log_odds(signals: Float, fit: ScopeFit | None) -> float:
    """Logarithm of the odds that a book speaks of a question.

    Args:
        signals: The first ones of `signals_of`.
        fit: Of the book's generation; None, or one for other signals: `PRIOR`.
    """
    fit = fit if fit is not None and fit.signals == SIGNALS_VERSION else PRIOR
    return float(signals @ np.array(fit.weights, dtype=np.float32)) + fit.bias
