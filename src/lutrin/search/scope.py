"""Decides whether the book answers at all, from the odds that follow from what the reader found."""

from collections.abc import Iterable, Sequence

import numpy as np

from lutrin.language.lexicon import QUESTION_WORDS, STOP_WORDS
from lutrin.language.words import stem, stem_set
from lutrin.ports import Reading
from lutrin.search.candidates import MatchedPool, Pool
from lutrin.search.question_tokens import Float, QuestionTokens
from lutrin.search.reader import ScoredPassage

SIGNALS = ("best passage", "best match", "words lacked", "names lacked")
"""Score of the best passage, over 10; best match of a whole passage; share of the words, by rarity, that the best
passages lack and do not resemble; the rarest word of which that holds for the whole book. `training` fits what each
counts, on books left out of it."""
CONSIDERED = 5
"""Passages in which a question's words are looked for."""
FAR = -3.5
"""Log odds below which a question is not even near the book's subject, and is refused in other words, without a model.
Of the questions on the sample book 17 of 30 far ones and 7 of 40 near ones are below, and none of 162 that it answers
(-1.1 and more)."""

UNLIKE = 0.18
"""Cosine with the nearest passage below which a question that is not answered is far, too: "What is the weather today?"
has odds of -3.6, "Will it rain tomorrow?" of -1.5, and both a cosine under 0.14. With it 23 of the 30 far questions are
called so, and 9 of the 40 near ones."""


def signals(pool: Pool, matched: MatchedPool, found: Sequence[ScoredPassage]) -> Float:
    """The signals that tell whether a book answers: (4,), in the order of `SIGNALS`.

    Args:
        pool: Not empty.
        matched: The pool as the text sees it.
        found: Its passages in the order of the pool.
    """
    scores = np.array([item.score for item in found], dtype=np.float32)
    few = np.argsort(-scores, kind="stable")[:CONSIDERED].tolist()
    best = matched.late.passage_best[few].max(axis=0)
    lacked = _lack(pool, matched.asked, best, few)
    return np.array([scores.max() / 10, matched.late.passages.max(), *lacked], dtype=np.float32)


def _lack(pool: Pool, asked: QuestionTokens, best: Float, few: Iterable[int]) -> tuple[float, float]:
    """Share of the words that the best passages lack and do not resemble, and the rarest that the whole book lacks.

    Args:
        pool: The candidates.
        asked: What is asked.
        best: (Q,): the best match of each of its tokens in the best passages.
        few: The best passages.
    """
    stems = frozenset().union(*(stem_set(pool.chunks[index].embedded_text()) for index in few))
    words: dict[str, list[int]] = {}
    for place, word in enumerate(asked.words):
        if word and word not in STOP_WORDS and word not in QUESTION_WORDS:
            words.setdefault(word, []).append(place)
    total = sum(float(asked.rarity[places[0]]) for places in words.values()) or 1.0
    lacked = {
        word: float(asked.rarity[places[0]]) * (1 - max(float(best[places].mean()), 0.0))
        for word, places in words.items()
        if stem(word) not in stems
    }
    unknown = [weight for word, weight in lacked.items() if asked.frequency[words[word][0]] == 0]
    return sum(lacked.values()) / total, max(unknown, default=0.0) / float(asked.rarity.max(initial=1.0))


def log_odds(found: Float, reading: Reading) -> float:
    """Logarithm of the odds that the book answers, from its signals."""
    if not reading.scope:
        slope, bias = reading.answers
        return slope * 10 * float(found[0]) + bias
    return float(found @ np.array(reading.scope[:-1], dtype=np.float32)) + reading.scope[-1]


def is_far(odds: float, *, found: bool) -> bool:
    """Whether a question is not even near the book's subject, whatever a model would say.

    Args:
        odds: From `log_odds`.
        found: Whether there is any passage.
    """
    return not found or odds < FAR
