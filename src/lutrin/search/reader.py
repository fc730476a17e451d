"""The reader: scores how well each unit of each candidate answers, with weights learned with the embedder.

The formula stands in `lutrin.ports.Reading`; `training/` learns its numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lutrin.ports import Reading
from lutrin.records import Chunk
from lutrin.search.candidates import Matched, Pool
from lutrin.search.question_tokens import Float


@dataclass(frozen=True, slots=True)
class Read:
    """A passage with the reader's scores for its units, for one text of a question."""

    chunk: Chunk
    scores: Float
    """(units,): logarithms of how likely each unit is the answer, up to a constant; -inf for what has no words."""
    score: float
    """The passage's score: the logarithm of the sum over its units, plus its lexical score."""
    cosine: float


def read(pool: Pool, matched: Matched, reading: Reading) -> list[Read]:
    """Score the candidates, in the order of the pool."""
    if not pool.chunks:
        return []
    late = matched.late
    share = matched.asked.share
    own, headed = late.unit_own @ share, late.unit_best @ share
    ends = np.cumsum([len(chunk.units) for chunk in pool.chunks], dtype=np.int64)
    starts = np.concatenate([[0], ends])[:-1]
    owner = np.repeat(np.arange(len(ends)), np.diff(late.unit_starts))
    places = starts[owner] + late.unit_numbers
    whole = reading.passage * late.passages.astype(float) + reading.dense * matched.cosines.astype(float)
    scores = np.full(int(ends[-1]), -np.inf, dtype=np.float32)
    scores[places] = reading.scale * (reading.own * own + reading.headed * headed + whole[owner].astype(np.float32))
    forms = (reading.form(unit) for chunk in pool.chunks for unit in chunk.units)
    scores += np.fromiter(forms, np.float32, len(scores))
    best = max(matched.lexical.values(), default=0.0) or 1.0
    held = [reading.lexical * matched.lexical.get(chunk.chunk_id, 0.0) / best for chunk in pool.chunks]
    sums = log_sums(scores, starts, ends)
    return [
        Read(chunk, scores[start:stop], float(total) + more, float(cosine))
        for chunk, start, stop, total, more, cosine in zip(
            pool.chunks, starts, ends, sums, held, matched.cosines, strict=True
        )
    ]


def log_sum(scores: Float | Sequence[float]) -> float:
    """The logarithm of a sum of exponentials; -inf for an empty sum."""
    values = np.asarray(scores, dtype=np.float32)
    highest = float(values.max(initial=-np.inf))
    return highest if np.isinf(highest) else highest + float(np.log(np.exp(values - highest).sum()))


def log_sums(scores: Float, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Float:
    """(P,): `log_sum` of each stretch of scores; the stretches follow each other without a gap."""
    sums = np.full(len(starts), -np.inf, dtype=np.float32)
    filled = starts < ends
    if not filled.any():
        return sums
    highest = np.maximum.reduceat(scores, starts[filled])
    least = np.where(np.isinf(highest), np.float32(0), highest)
    parts = np.exp(scores - np.repeat(least, (ends - starts)[filled]))
    with np.errstate(divide="ignore"):
        sums[filled] = least + np.log(np.add.reduceat(parts, starts[filled]))
    return sums


def chance_of(score: float, reading: Reading) -> float:
    """The probability that a passage answers, from its score; never quite 0 or 1."""
    slope, bias = reading.answers
    return round(float(1 / (1 + np.exp(-np.clip(slope * score + bias, -13, 13)))), 6)
