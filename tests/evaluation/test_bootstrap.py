"""Figures from questions, and how sure they are."""

import numpy as np
import pytest

from evaluation.bootstrap import combine, difference, interval


def test_a_share_weighs_sentences_not_questions() -> None:
    """One of two and nine of ten are ten of twelve."""
    assert combine(np.array([[1.0, 2.0], [9.0, 10.0]]), "share") == pytest.approx(10 / 12)


def test_median_and_p95_are_over_questions() -> None:
    """For 1 to 21 the median is 11 and the 95th percentile is the twentieth value."""
    pairs = np.array([[float(value), 1.0] for value in range(1, 22)])
    assert combine(pairs, "median") == 11
    assert combine(pairs, "p95") == pytest.approx(20)


def test_the_interval_is_that_of_the_binomial() -> None:
    """Half of 100 questions: 95% of draws lie within about 1.96 x 0.05 of one half."""
    value, low, high = interval([(1, 1), (0, 1)] * 50, "share", seed=1)
    assert value == 0.5
    assert low == pytest.approx(0.402, abs=0.02)
    assert high == pytest.approx(0.598, abs=0.02)


def test_the_seed_decides_the_interval() -> None:
    """The same seed twice is the same interval, another one is not."""
    pairs = [(float(number % 3), 2.0) for number in range(30)]
    assert interval(pairs, "share", seed=3) == interval(pairs, "share", seed=3)
    assert interval(pairs, "share", seed=3) != interval(pairs, "share", seed=4)


def test_what_all_share_has_no_width() -> None:
    """If every question scores the same, so does every draw."""
    assert interval([(1, 1)] * 8, "share") == (1, 1, 1)


def test_a_difference_is_paired() -> None:
    """Ten in a hundred questions gained and none lost is sure, though both shares alone are not."""
    first = [(0.0, 1.0)] * 60 + [(1.0, 1.0)] * 40
    second = [(1.0, 1.0)] * 10 + [(0.0, 1.0)] * 50 + [(1.0, 1.0)] * 40
    change, low, high = difference(first, second, "share", seed=0)
    assert change == pytest.approx(0.1)
    assert 0.03 < low < 0.07
    assert 0.13 < high < 0.18


def test_draws_out_of_nothing_are_left_out() -> None:
    """A draw that holds only questions without a sentence has no share."""
    value, low, high = interval([(0, 0), (1, 2)], "share", seed=0)
    assert (value, low, high) == (0.5, 0.5, 0.5)
