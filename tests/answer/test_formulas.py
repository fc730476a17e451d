"""Sentences that run into a formula, and the formulas."""

import pytest
from tests.answer.book import chunk, evidence, unit

from lutrin.answer.extract import choose
from lutrin.answer.wanted import wanted


@pytest.mark.parametrize("best", [0, 1, 2])
def test_a_sentence_and_the_formula_that_it_runs_into_come_together(best: int) -> None:
    """Whichever answers best: "The depth is" says nothing without the formula, and letters nothing without names."""
    page = chunk(
        unit("With the focal length f and the disparity d the depth is"),
        unit("$$\nZ = f B / d\n$$", start=60, block=1), unit("Here B is the baseline of both.", start=90, block=2),
    )  # fmt: skip
    scores = [0.2, 0.2, 0.2]
    scores[best] = 0.9
    quotes = choose(wanted("How is the depth computed?"), evidence(page, *scores), budget_words=100)
    assert [quote.text[:8] for quote in quotes] == ["With the", "$$\nZ = f", "Here B i"][: max(2, best + 1)]


def test_a_sentence_that_runs_into_a_formula_stays_away_without_it() -> None:
    """Where there is no room for both."""
    page = chunk(
        unit("The depth of a camera is known well."), unit("The depth is", start=40, block=1),
        unit("$$\nZ = f B / d + a + b + c\n$$", start=60, block=2),
    )  # fmt: skip
    quotes = choose(wanted("How is the depth computed?"), evidence(page, 0.9, 0.88, 0.1), budget_words=10)
    assert [quote.text for quote in quotes] == ["The depth of a camera is known well."]
