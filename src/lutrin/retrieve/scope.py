"""Whether the book speaks of what is asked at all.

No single signal decides: the cosine of unrelated questions reaches that of answerable ones. Together with the best
passage under late interaction and the share of the question's topic words that the best passages hold, the two groups
part (bench/RESULTS.md: area under the curve 0.972 for the cosine, 0.989 for late interaction, 0.997 for all three).
"""

from lutrin.records import Refusal
from lutrin.retrieve.search import Found

COVERAGE_WEIGHT = 0.2
IN_SCOPE = 1.20
"""A question is in the book if cosine + late interaction + COVERAGE_WEIGHT x coverage reaches this."""
FAR = 0.95
"""Below this it is not even near the book's subject."""


def signal(found: Found) -> float:
    """How much the book speaks of the question; about 0.4 to 2."""
    return found.best_cosine + found.best_passage + COVERAGE_WEIGHT * found.coverage


def judge(found: Found) -> Refusal | None:
    """None if the book answers; else why not."""
    strength = signal(found)
    if found.passages and strength >= IN_SCOPE:
        return None
    return "not_in_book" if found.passages and strength >= FAR else "out_of_scope"
