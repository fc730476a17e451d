"""The second book's questions can be read, and groups of scores are compared by the published formula."""

from collections import Counter
from pathlib import Path

import numpy as np

from evaluation.questions import read_questions
from evaluation.studies.scope import area

BENCH = Path(__file__).parents[2] / "bench"


def test_the_second_book_has_thirty_questions_of_each_side() -> None:
    """Thirty that npm's documentation answers, thirty that it does not, half of them near it."""
    questions = read_questions([BENCH / "questions" / "npm.jsonl"])
    assert Counter("inside" if item.in_book else item.kind for item in questions) == {
        "inside": 30,
        "near": 15,
        "far": 15,
    }


def test_the_area_counts_pairs_in_the_right_order() -> None:
    """Three of four pairs and one tie: the share of pairs in which the book's question scores higher, ties half."""
    assert area(np.array([0.9, 0.5]), np.array([0.1, 0.5])) == (3 + 0.5) / 4
    assert area(np.array([1.0]), np.array([0.0, 0.2])) == 1.0
