"""What the reader and a cross-encoder find together."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from lutrin.ports import Aimed, Judgement, Ranking
from lutrin.search.rank import RERANKED, Judged, combined, judge
from lutrin.search.reader import Read, log_sum

from .conftest import Search

QUESTION = "What do bees need?"


@pytest.fixture
async def ranked(search: Search) -> tuple[Read, ...]:
    """More passages than are read once more."""
    (part,) = (await search(QUESTION)).parts
    assert len(part.passages) > RERANKED
    return part.passages


def unmoved(ranked: tuple[Read, ...]) -> list[Judged]:
    """A judgement that likes everything alike."""
    return [Judged(0.0, np.zeros(len(item.chunk.units), dtype=np.float32)) for item in ranked[:RERANKED]]


async def test_a_unit_is_raised_by_what_is_said_of_it(ranked: tuple[Read, ...]) -> None:
    """The passage with it comes first, and its best unit is that one."""
    judged = unmoved(ranked)
    place = RERANKED - 1
    units = judged[place].units.copy()
    units[-1] = 40.0
    judged[place] = Judged(0.0, units)
    first = combined(ranked, judged, Ranking(reader=0.5, unit=1.0, passage=0.0))[0]
    assert first.chunk is ranked[place].chunk
    assert first.scores.argmax() == len(units) - 1
    assert first.score >= log_sum(first.scores) - 1e-3


async def test_what_was_not_read_again_is_not_preferred(ranked: tuple[Read, ...]) -> None:
    """It counts like the worst of what was, so nothing passes it that was below; nothing is lost."""
    judged = [replace(one, passage=-30.0) for one in unmoved(ranked)]
    found = combined(ranked, judged, Ranking())
    assert [item.chunk.chunk_id for item in found] == [item.chunk.chunk_id for item in ranked]
    assert combined(ranked, [], Ranking()) == list(ranked)


class Half:
    """A cross-encoder that sees the first half of a passage, and likes its first token."""

    name = "half"
    ranking = Ranking()

    def __init__(self) -> None:
        self.aimed: Sequence[Aimed] = []

    async def judge(self, question: str, passages: Sequence[Aimed]) -> list[Judgement]:  # noqa: ARG002 - the port's
        """Each character is a token."""
        self.aimed = passages
        found = []
        for passage in passages:
            stop = (passage.body + len(passage.text)) // 2
            offsets = np.array([(place, place + 1) for place in range(stop)], dtype=np.int32)
            found.append(Judgement(1.0, offsets, np.linspace(2.0, -2.0, stop, dtype=np.float32)))
        return found

    def close(self) -> None:
        """It has no threads."""


async def test_tokens_become_units(ranked: tuple[Read, ...]) -> None:
    """A unit has the sum over its tokens; one that was not seen has the least of those that were."""
    reranker = Half()
    judged = await judge(reranker, QUESTION, ranked)
    assert len(judged) == RERANKED
    for item, aimed, one in zip(ranked, reranker.aimed, judged, strict=False):
        spans = item.chunk.unit_spans()
        assert aimed.focus == spans[int(item.scores.argmax())][0]
        stop = (aimed.body + len(aimed.text)) // 2
        tokens = np.linspace(2.0, -2.0, stop, dtype=np.float32)
        seen = [log_sum(tokens[start : min(end, stop)]) for start, end in spans if start < stop]
        wanted = [*seen, *[min(seen)] * (len(spans) - len(seen))]
        assert one.units == pytest.approx(wanted, abs=1e-4)
        assert one.passage == 1.0
