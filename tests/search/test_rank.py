"""The reader and a cross-encoder together."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lutrin.ports import Judgement, Ranking, View
from lutrin.search.reader import RERANKED, UnitScores, combine, judge
from lutrin.search.result import ScoredPassage, log_sum

from .conftest import Search

QUESTION = "What do bees need?"


@pytest.fixture
async def ranked(search: Search) -> tuple[ScoredPassage, ...]:
    """More passages than are read once more."""
    (part,) = (await search(QUESTION)).parts
    assert len(part.passages) > RERANKED
    return part.passages


def unmoved(ranked: tuple[ScoredPassage, ...]) -> list[UnitScores]:
    """A judgement that likes everything alike."""
    return [UnitScores(0.0, np.zeros(len(item.chunk.units), dtype=np.float32)) for item in ranked[:RERANKED]]


async def test_a_unit_is_raised_by_what_is_said_of_it(ranked: tuple[ScoredPassage, ...]) -> None:
    """The passage with it comes first, and its best unit is that one."""
    judgements = unmoved(ranked)
    place = RERANKED - 1
    units = judgements[place].units.copy()
    units[-1] = 40.0
    judgements[place] = UnitScores(0.0, units)
    first = combine(ranked, judgements, Ranking(reader=0.5, unit=1.0, passage=0.0))[0]
    assert first.chunk is ranked[place].chunk
    assert first.scores.argmax() == len(units) - 1
    assert first.score >= log_sum(first.scores) - 1e-3


async def test_what_was_not_read_again_is_not_preferred(ranked: tuple[ScoredPassage, ...]) -> None:
    """It counts like the worst of what was, so nothing passes it that was below; nothing is lost."""
    judgements = [replace(one, passage=-30.0) for one in unmoved(ranked)]
    found = combine(ranked, judgements, Ranking())
    assert [item.chunk.chunk_id for item in found] == [item.chunk.chunk_id for item in ranked]
    assert combine(ranked, [], Ranking()) == list(ranked)


class Half:
    """A cross-encoder that sees the first half of a passage, and likes its first token."""

    name = "half"
    ranking = Ranking()

    def __init__(self) -> None:
        self.views: Sequence[View] = []

    async def judge(self, question: str, passages: Sequence[View]) -> list[Judgement]:  # noqa: ARG002 - the port's
        """Each character is a token."""
        self.views = passages
        found = []
        for passage in passages:
            stop = (passage.body + len(passage.text)) // 2
            offsets = np.array([(place, place + 1) for place in range(stop)], dtype=np.int32)
            found.append(Judgement(1.0, offsets, np.linspace(2.0, -2.0, stop, dtype=np.float32)))
        return found

    def close(self) -> None:
        """It has no threads."""


async def test_tokens_become_units(ranked: tuple[ScoredPassage, ...]) -> None:
    """A unit has the sum over its tokens; one that was not seen has the least of those that were."""
    reranker = Half()
    judgements = await judge(reranker, QUESTION, ranked)
    assert len(judgements) == RERANKED
    for item, view, one in zip(ranked, reranker.views, judgements, strict=False):
        spans = item.chunk.unit_spans()
        assert view.focus == spans[int(item.scores.argmax())][0]
        stop = (view.body + len(view.text)) // 2
        tokens = np.linspace(2.0, -2.0, stop, dtype=np.float32)
        seen = [log_sum(tokens[start : min(end, stop)]) for start, end in spans if start < stop]
        wanted = [*seen, *[min(seen)] * (len(spans) - len(seen))]
        assert one.units == pytest.approx(wanted, abs=1e-4)
        assert one.passage == 1.0
