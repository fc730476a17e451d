"""The reader: scores how well each unit of each candidate answers, with weights learned with the embedder.

The formula stands in `lutrin.ports.Reading`; `training/` learns its numbers. Where a cross-encoder is at hand, it reads
the best passages once more, each together with the question: the two best from beginning to end, of the others a window
around what the reader likes best there. Of tokens it says how likely each belongs to what answers; so a unit scores the
logarithm of the sum over its tokens, as `training.cross` learns it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lutrin.ports import Judgement, Ranking, Reading, Reranker, View
from lutrin.records import Chunk
from lutrin.search.candidates import MatchedPool, Pool
from lutrin.search.question_tokens import Float


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage with the reader's scores for its units, for one text of a question."""

    chunk: Chunk
    scores: Float
    """(units,): logarithms of how likely each unit is the answer, up to a constant; -inf for what has no words."""
    score: float
    """The passage's score: the logarithm of the sum over its units, plus its lexical score."""
    cosine: float


def score_passages(pool: Pool, matched: MatchedPool, reading: Reading) -> list[ScoredPassage]:
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
        ScoredPassage(chunk, scores[start:stop], float(total) + more, float(cosine))
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


RERANKED = 4
"""Passages that are read once more: eight gain nothing over four (training/README.md)."""
WHOLE = 2
"""So many of them are read from beginning to end: four gain nothing over two."""


@dataclass(frozen=True, slots=True)
class UnitScores:
    """What a cross-encoder says of one passage."""

    passage: float
    units: Float
    """(units,): of what it did not see, the least that it says of anything in the passage."""


async def judge(reranker: Reranker, text: str, ranked: Sequence[ScoredPassage]) -> list[UnitScores]:
    """Let a cross-encoder judge the best passages.

    Args:
        reranker: The cross-encoder.
        text: What is asked.
        ranked: Passages, best first.
    """
    best = ranked[:RERANKED]
    judgements = await reranker.judge(text, [_view(item, whole=place < WHOLE) for place, item in enumerate(best)])
    return [_unit_scores(item.chunk, one) for item, one in zip(best, judgements, strict=True)]


def combine(ranked: Sequence[ScoredPassage], judgements: Sequence[UnitScores], ranking: Ranking) -> list[ScoredPassage]:
    """Passages in the order of what the reader and a cross-encoder find together.

    Args:
        ranked: Best first.
        judgements: The first of them. The others count like the worst of these.
        ranking: What each counts.
    """
    if not judgements:
        return list(ranked)
    worst = min(ranking.passage * one.passage + ranking.unit * float(one.units.min(initial=0.0)) for one in judgements)
    added: list[Float | float] = [ranking.unit * one.units + ranking.passage * one.passage for one in judgements]
    added += [worst] * (len(ranked) - len(judgements))
    found = []
    for item, more in zip(ranked, added, strict=True):
        words = item.score - log_sum(item.scores) if np.isfinite(item.score) else 0.0  # what its words count
        scores = np.asarray(ranking.reader * item.scores + more, dtype=np.float32)
        found.append(replace(item, scores=scores, score=log_sum(scores) + ranking.reader * words))
    return sorted(found, key=lambda item: (-item.score, item.chunk.chunk_id))


def _view(item: ScoredPassage, *, whole: bool) -> View:
    text = item.chunk.embedded_text()
    body = len(text) - len(item.chunk.text)
    spans = item.chunk.unit_spans()
    return View(text, body, spans[int(item.scores.argmax())][0] if spans else body, whole)


def _unit_scores(chunk: Chunk, judgement: Judgement) -> UnitScores:
    offsets, tokens = judgement.offsets[:, 0], judgement.tokens
    if not len(tokens):
        return UnitScores(judgement.passage, np.zeros(len(chunk.units), dtype=np.float32))
    seen = [log_sum(tokens[(offsets >= start) & (offsets < end)]) for start, end in chunk.unit_spans()]
    units = np.array(seen, dtype=np.float32)
    is_seen = np.isfinite(units)
    units[~is_seen] = units[is_seen].min() if is_seen.any() else tokens.min()
    return UnitScores(judgement.passage, units)
