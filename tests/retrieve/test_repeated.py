"""Of passages that are alike one is shown, and another one only for what it alone says."""

import numpy as np
import pytest

from lutrin.index.tokens import MaxSim
from lutrin.records import Chunk, Unit
from lutrin.retrieve.repeated import repeated


def chunk(name: str, *units: str) -> Chunk:
    """A passage of sentences."""
    return Chunk(
        chunk_id=name, text=" ".join(units), book="b", book_title="B", edition="", module="", chapter="", section="",
        section_title=name, heading_path=(name,), filename=f"{name}.md", page=None, page_label="", anchor="",
        chunk_index=0, char_start=0, char_end=1, token_count=1, content_type="text", is_simulation=None,
        content_hash="", units=tuple(Unit(kind="sentence", text=text, char_start=0, char_end=1) for text in units),
    )  # fmt: skip


def matches(*scores: list[float]) -> MaxSim:
    """How well the units of each passage answer."""
    counts = [len(item) for item in scores]
    units = np.array([score for item in scores for score in item], dtype=np.float32)
    none = np.zeros((len(units), 1), dtype=np.float32)
    return MaxSim(
        passages=np.zeros(len(scores), dtype=np.float32),
        passage_best=np.zeros((len(scores), 1), dtype=np.float32),
        units=units,
        unit_best=none,
        unit_own=none,
        unit_starts=np.cumsum([0, *counts]),
        unit_numbers=np.array([number for count in counts for number in range(count)], dtype=np.int32),
    )


PAIR = [chunk("index", "It walks.", "It has two legs."), chunk("intro", "It walks.", "It runs for 40 hours.")]


@pytest.mark.parametrize(
    ("second", "expected"),
    [([0.9, 0.1], [False, True]), ([0.1, 0.9], [False, False])],
    ids=["the answer stands in both", "the answer stands in the second alone"],
)
def test_a_second_version_stays_for_what_it_alone_says(second: list[float], expected: list[bool]) -> None:
    """The better scored one always stays; the other if its best unit is its own."""
    fused = np.array([1.5, 1.4], dtype=np.float32)
    assert repeated([7, 7], PAIR, fused, matches([0.9, 0.1], second)).tolist() == expected


def test_the_better_one_stays_whatever_their_order() -> None:
    """The pool is in no order."""
    fused = np.array([1.4, 1.5], dtype=np.float32)
    assert repeated([7, 7], PAIR, fused, matches([0.9, 0.1], [0.9, 0.1])).tolist() == [True, False]


def test_passages_that_are_not_alike_all_stay() -> None:
    """Equal sentences in different passages take nothing away."""
    fused = np.array([1.4, 1.5], dtype=np.float32)
    assert repeated([6, 7], PAIR, fused, matches([0.9, 0.1], [0.9, 0.1])).tolist() == [False, False]
