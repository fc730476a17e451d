"""What of a question a further excerpt answers that those before it leave open: a greedy cover of its tokens.

Late interaction tells how well each token of a question is met by a unit or its heading. What an excerpt meets better
than all before it is its gain. `python -m evaluation.further` fits how much gain and likelihood count, and writes
`cover.json`.
"""

from collections.abc import Iterable
from functools import cache
from importlib import resources

import msgspec
import numpy as np

from lutrin.search.reader import Float
from lutrin.search.search import Part

SIGNALS = ("likelihood", "gain", "other parts")
"""Log of how much likelier than the first excerpt of its part; gain; how many further parts have an excerpt."""
Places = Iterable[tuple[str, int]]
"""File and beginning of units."""


class Fit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file that `python -m evaluation.further` writes."""

    weights: tuple[float, ...]
    """Of `SIGNALS`, then the bias."""
    least: float
    """Log odds from which a further excerpt is shown."""

    def odds(self, signals: Float) -> float:
        """Log odds that an excerpt holds something that is asked and that those before it do not hold."""
        return float(signals @ np.array(self.weights[:-1], dtype=np.float32)) + self.weights[-1]


@cache
def fit() -> Fit:
    """What was fitted."""
    data = resources.files("lutrin.answer").joinpath("cover.json").read_bytes()
    return msgspec.json.decode(data, type=Fit)


class Cover:
    """How well the units that one part of a question found meet its tokens."""

    def __init__(self, part: Part) -> None:
        self._share = np.array(part.share, dtype=np.float32)
        self._matches: dict[tuple[str, int], Float] = {}
        for item in part.passages:
            for unit, row in zip(item.chunk.units, item.matches, strict=False):
                place = (item.chunk.filename, unit.char_start)
                known = self._matches.get(place)
                self._matches[place] = row if known is None else np.maximum(known, row)

    def met(self, places: Places) -> Float:
        """(Q,): the best match of each token in these units."""
        rows = [self._matches[place] for place in places if place in self._matches]
        return np.max(rows, axis=0) if rows else np.zeros(len(self._share), dtype=np.float32)

    def gain(self, places: Places, met: Float) -> float:
        """By how much these units meet the question better than what has `met` it."""
        return float(self._share @ np.maximum(self.met(places) - met, 0.0))
