"""Whether the book speaks of what is asked at all.

A cosine alone cannot decide: unrelated questions reach 0.39 where answerable ones begin. Together with the best unit
under late interaction the two groups part (measured on two books, 60 questions each: 0.93 to 0.98 of the answerable
ones are kept, 0.96 to 1.00 of the others refused, at the same threshold).
"""

from lutrin.records import Refusal
from lutrin.retrieve.search import Found

COSINE_WEIGHT = 0.5
IN_SCOPE = 0.70
"""A question is in the book if COSINE_WEIGHT x best cosine + best unit reaches this."""
FAR = 0.52
"""Below this it is not even near the book's subject."""


def signal(found: Found) -> float:
    """How much the book speaks of the question; about 0.2 to 1.3."""
    return COSINE_WEIGHT * found.best_cosine + found.best_unit


def judge(found: Found) -> Refusal | None:
    """None if the book answers; else why not."""
    strength = signal(found)
    if found.passages and strength >= IN_SCOPE:
        return None
    return "not_in_book" if found.passages and strength >= FAR else "out_of_scope"
