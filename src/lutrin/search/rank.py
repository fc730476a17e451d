"""Reads the best passages once more, each together with the question, where a cross-encoder is at hand.

It sees the two best from beginning to end, of the others a window around what the reader likes best there. Of tokens it
says how likely each belongs to what answers; so a unit scores the logarithm of the sum over its tokens, as
`training.cross` learns it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lutrin.ports import Judgement, Ranking, Reranker, View
from lutrin.records import Chunk
from lutrin.search.question_tokens import Float
from lutrin.search.reader import Read, log_sum

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


async def judge(reranker: Reranker, text: str, ranked: Sequence[Read]) -> list[UnitScores]:
    """Let a cross-encoder judge the best passages.

    Args:
        reranker: The cross-encoder.
        text: What is asked.
        ranked: Passages, best first.
    """
    best = ranked[:RERANKED]
    judgements = await reranker.judge(text, [_view(item, whole=place < WHOLE) for place, item in enumerate(best)])
    return [_unit_scores(item.chunk, one) for item, one in zip(best, judgements, strict=True)]


def combine(ranked: Sequence[Read], judgements: Sequence[UnitScores], ranking: Ranking) -> list[Read]:
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


def _view(item: Read, *, whole: bool) -> View:
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
