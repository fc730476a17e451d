"""Fitting the grades and the decision: what is separable is separated, and floors keep their word."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from evaluation.claims import stretch_as_passage
from evaluation.rows import read_rows
from evaluation.whether import WhetherRow, decisions, table
from evaluation.written import FITTING, ROWS, WrittenRow, cross_chances, fitted, floor_for, without_model
from lutrin.answer.grade import SIGNALS

SHELF = Path(__file__).parents[3] / "shared" / "shelf" / "books"


def test_a_regression_finds_the_signal_that_tells() -> None:
    """And leaves the one that does not near nothing."""
    draws = np.random.default_rng(1).normal(size=(400, 2))
    weights, bias = fitted(draws, (draws[:, 0] > 0.5).astype(float))
    assert weights[0] > 5 * abs(weights[1])
    assert bias < 0


def test_a_floor_lets_through_as_much_as_the_share_allows() -> None:
    """The lowest above which so many are right."""
    for share, floor in ((1.0, 0.9), (0.75, 0.6), (0.6, 0.2), (0.5, 0.1)):
        chances = np.array([0.9, 0.8, 0.7, 0.6, 0.2, 0.1])
        assert floor_for(chances, np.array([1.0, 0.0, 1.0, 1.0, 0.0, 0.0]), share) == floor


def test_sentences_without_a_model_have_none_of_its_signals() -> None:
    """All others stay."""
    seen = without_model(np.ones((1, len(SIGNALS))))[0]
    assert {name for name, value in zip(SIGNALS, seen, strict=True) if not value} == {
        "certainty", "least certainty", "answers",
    }  # fmt: skip


def test_a_book_is_judged_by_what_the_others_teach() -> None:
    """Sentences without literal support have no chance."""
    signals, right = np.array([[1.0], [0.0]] * 20), np.array([1.0, 0.0] * 20)
    books = np.array(["one"] * 20 + ["two"] * 20)
    right[:20] = 1 - right[:20]  # book "one" is the other way round
    chances = cross_chances(signals, right, np.array([True] * 39 + [False]), books)
    assert chances[0] > 0.5 > chances[1]
    assert chances[20] < 0.5 < chances[21]
    assert chances[39] == 0


def test_the_decision_is_fitted_on_one_half_and_counted_on_both() -> None:
    """Wrong refusals of the fitting half stay within their share."""
    book = min(FITTING)
    rows = [
        WhetherRow(
            book=name, id=f"{name}-{n}", in_book=n % 3 > 0, reader=(n % 3 > 0) * 2 + n / 50, yes=(n % 3 > 0) * 2 - 1
        )
        for name in (book, "other")
        for n in range(60)
    ]
    found = decisions(rows)
    verdicts = [found.with_model.verdict(row.reader, row.yes or 0.0) for row in rows if row.in_book]
    assert verdicts.count("no") <= 0.06 * len(verdicts)
    assert "| with the model | reported " in table(rows, found)


def test_every_sentence_is_labelled_and_names_its_place() -> None:
    """Without a word of a book besides the model's own."""
    rows = read_rows(sorted(ROWS.glob("*.jsonl")), WrittenRow, "none")
    assert len(rows) >= 600
    assert {row.label for row in rows} == {"right", "wrong", "empty"}
    assert {row.book for row in rows} > FITTING
    assert all(len(row.hash) == 64 and row.length > 0 for row in rows)
    assert msgspec.json.decode(msgspec.json.encode(rows[0]), type=WrittenRow) == rows[0]


@pytest.mark.skipif(not SHELF.is_dir(), reason="the shelf is not beside the checkout")
def test_the_sections_that_were_read_are_still_there() -> None:
    """Their hashes say so."""
    rows = read_rows(sorted(ROWS.glob("*.jsonl")), WrittenRow, "none")
    for row in [row for row in rows if (SHELF / row.book).is_dir()][::40]:
        place = (row.file, row.offset, row.length, row.hash)
        assert stretch_as_passage(row.book, SHELF / row.book / row.file, place).units
