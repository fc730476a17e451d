"""Whether the book speaks of what is asked at all: the decision, from the odds that `signals` gives."""

import numpy as np

from lutrin.records import Refusal
from lutrin.retrieve.search import Found

FAR = float(np.log(0.01))
"""Log odds, one to a hundred, below which a question is not even near the book's subject."""


def signal(found: Found) -> float:
    """How much a book speaks of the question, comparable between books."""
    return found.strength


def probability(found: Found) -> float:
    """The same as a probability, 0 to 1."""
    return float(1 / (1 + np.exp(-found.odds)))


def judge(found: Found) -> Refusal | None:
    """None if the book answers; else why not."""
    if found.passages and found.odds >= 0:
        return None
    return "not_in_book" if found.passages and found.odds >= FAR else "out_of_scope"
