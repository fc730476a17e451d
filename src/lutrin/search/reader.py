"""The reader: scores how well each unit of each candidate answers, with weights learned with the embedder.

The formula stands in `lutrin.ports.Reading`; `training/` learns its numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lutrin.ports import Reading
from lutrin.records import Chunk
from lutrin.search.asked import Float
from lutrin.search.candidates import Matched, Pool


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
    late = matched.late
    share = matched.asked.share
    own, headed = late.unit_own @ share, late.unit_best @ share
    best = max(matched.lexical.values(), default=0.0) or 1.0
    found = []
    for index, chunk in enumerate(pool.chunks):
        start, stop = int(late.unit_starts[index]), int(late.unit_starts[index + 1])
        places = late.unit_numbers[start:stop]
        whole = reading.passage * float(late.passages[index]) + reading.dense * float(matched.cosines[index])
        scores = np.full(len(chunk.units), -np.inf, dtype=np.float32)
        scores[places] = reading.scale * (reading.own * own[start:stop] + reading.headed * headed[start:stop] + whole)
        for place in places.tolist():
            scores[place] += reading.form(chunk.units[place])
        held = matched.lexical.get(chunk.chunk_id, 0.0) / best
        score = log_sum(scores) + reading.lexical * held
        found.append(Read(chunk, scores, score, float(matched.cosines[index])))
    return found


def log_sum(scores: Float | Sequence[float]) -> float:
    """The logarithm of a sum of exponentials; -inf for an empty sum."""
    values = np.asarray(scores, dtype=np.float32)
    highest = float(values.max(initial=-np.inf))
    return highest if np.isinf(highest) else highest + float(np.log(np.exp(values - highest).sum()))


def chance_of(score: float, reading: Reading) -> float:
    """The probability that a passage answers, from its score; never quite 0 or 1."""
    slope, bias = reading.answers
    return round(float(1 / (1 + np.exp(-np.clip(slope * score + bias, -13, 13)))), 6)
