"""Confidence intervals of figures: questions are resampled with replacement, and each sample gives the figure again.

The intervals are percentiles (Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13). Two settings are
compared on the same samples, so that questions that are hard for both do not blur the difference. If every question
scores the same, the interval is a point, and says nothing about other questions.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluation.figures import How

Array = npt.NDArray[np.float64]
LEVEL = 0.95
"""Share of the samples inside an interval."""
RESAMPLES = 2000


def combine(pairs: Array, how: How) -> float:
    """Compute a figure from the scores of questions.

    Args:
        pairs: (questions, 2), a count and what it is out of.
        how: `share`: sum of counts over sum of what they are out of; `median`, `p95`: of the counts.
    """
    return float(_draws(pairs, np.arange(len(pairs))[None, :], how)[0])


def interval(
    pairs: Sequence[tuple[float, float]], how: How, *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[float, float, float]:
    """Compute a figure and the ends of its 95% interval.

    Args:
        pairs: One for each question: a count and what it is out of.
        how: See `combine`.
        seed: The same seed gives the same interval.
        resamples: How many draws.
    """
    array = np.asarray(pairs, dtype=np.float64).reshape(-1, 2)
    drawn = _draws(array, _choice(len(array), seed, resamples), how)
    low, high = _ends(drawn)
    return combine(array, how), low, high


def difference(
    first: Sequence[tuple[float, float]],
    second: Sequence[tuple[float, float]],
    how: How,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> tuple[float, float, float]:
    """Compute by how much the second figure is larger, and the ends of the 95% interval.

    Args:
        first: One pair for each question that both settings answered.
        second: The same questions in the same order.
        how: See `combine`.
        seed: The same seed gives the same interval.
        resamples: How many draws.
    """
    one = np.asarray(first, dtype=np.float64).reshape(-1, 2)
    two = np.asarray(second, dtype=np.float64).reshape(-1, 2)
    choice = _choice(len(one), seed, resamples)
    low, high = _ends(_draws(two, choice, how) - _draws(one, choice, how))
    return combine(two, how) - combine(one, how), low, high


def _choice(count: int, seed: int, resamples: int) -> npt.NDArray[np.int64]:
    """Return the questions of each sample, (resamples, count)."""
    return np.random.default_rng(seed).integers(0, count, size=(resamples, count))


def _draws(pairs: Array, choice: npt.NDArray[np.int64], how: How) -> Array:
    """Return the figure of each sample, (resamples,); NaN for a share of nothing."""
    counts = pairs[choice, 0]
    if how == "median":
        return np.asarray(np.median(counts, axis=1))
    if how == "p95":
        return np.asarray(np.quantile(counts, 0.95, axis=1))
    totals = pairs[choice, 1].sum(axis=1)
    shares = np.full(len(choice), np.nan)
    np.divide(counts.sum(axis=1), totals, out=shares, where=totals > 0)
    return shares


def _ends(drawn: Array) -> tuple[float, float]:
    tail = (1 - LEVEL) / 2
    low, high = np.nanquantile(drawn, [tail, 1 - tail])
    return float(low), float(high)
