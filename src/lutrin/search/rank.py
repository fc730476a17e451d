"""Reads the best passages once more, each together with the question, where a cross-encoder is at hand.

It sees a window of each passage, around what the reader likes best there. Of tokens it says how likely each belongs to
what answers; so a unit scores the logarithm of the sum over its tokens, as `training.cross` learns it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lutrin.ports import Aimed, Judgement, Ranking, Reranker
from lutrin.records import Chunk
from lutrin.search.asked import Float
from lutrin.search.reader import Read, log_sum

RERANKED = 4
"""Passages that are read once more: eight gain nothing over four (training/README.md)."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What a cross-encoder says of one passage."""

    passage: float
    units: Float
    """(units,): of what it did not see, the least that it says of anything in the passage."""


async def judge(reranker: Reranker, text: str, ranked: Sequence[Read]) -> list[Judged]:
    """Let a cross-encoder judge the best passages.

    Args:
        reranker: The cross-encoder.
        text: What is asked.
        ranked: Passages, best first.
    """
    best = ranked[:RERANKED]
    judgements = await reranker.judge(text, [_aimed(item) for item in best])
    return [_judged(item.chunk, one) for item, one in zip(best, judgements, strict=True)]


def mean(judged: Sequence[Sequence[Judged]]) -> list[Judged]:
    """What a cross-encoder says on the average of several texts that were asked of the same passages."""
    return [
        Judged(float(np.mean([one.passage for one in each])), np.mean([one.units for one in each], axis=0))
        for each in zip(*judged, strict=True)
    ]


def combined(ranked: Sequence[Read], judged: Sequence[Judged], ranking: Ranking) -> list[Read]:
    """Passages in the order of what the reader and a cross-encoder find together.

    Args:
        ranked: Best first.
        judged: The first of them. The others count like the worst of these.
        ranking: What each counts.
    """
    if not judged:
        return list(ranked)
    worst = min(ranking.passage * one.passage + ranking.unit * float(one.units.min(initial=0.0)) for one in judged)
    added: list[Float | float] = [ranking.unit * one.units + ranking.passage * one.passage for one in judged]
    added += [worst] * (len(ranked) - len(judged))
    found = []
    for item, more in zip(ranked, added, strict=True):
        words = item.score - log_sum(item.scores) if np.isfinite(item.score) else 0.0  # what its words count
        scores = np.asarray(ranking.reader * item.scores + more, dtype=np.float32)
        found.append(replace(item, scores=scores, score=log_sum(scores) + ranking.reader * words))
    return sorted(found, key=lambda item: (-item.score, item.chunk.chunk_id))


def _aimed(item: Read) -> Aimed:
    text = item.chunk.embedded_text()
    body = len(text) - len(item.chunk.text)
    spans = item.chunk.unit_spans()
    return Aimed(text, body, spans[int(item.scores.argmax())][0] if spans else body)


def _judged(chunk: Chunk, judgement: Judgement) -> Judged:
    offsets, tokens = judgement.offsets[:, 0], judgement.tokens
    if not len(tokens):
        return Judged(judgement.passage, np.zeros(len(chunk.units), dtype=np.float32))
    seen = [log_sum(tokens[(offsets >= start) & (offsets < end)]) for start, end in chunk.unit_spans()]
    units = np.array(seen, dtype=np.float32)
    is_seen = np.isfinite(units)
    units[~is_seen] = units[is_seen].min() if is_seen.any() else tokens.min()
    return Judged(judgement.passage, units)
