"""The port Reranker: the cross-encoder that comes with the reader."""

import numpy as np

from lutrin.adapters.rerank_reader import MOST_WINDOWS, ReaderReranker, windows
from lutrin.ports import View
from lutrin.runtime.profile import open_reranker
from lutrin.settings import load_settings

QUESTION = "Who lays the eggs of a hive?"
TEXT = "Bees > The hive\nA hive is a box of wood. Its queen lays all of the eggs. Smoke calms the bees."


async def test_it_tells_the_tokens_that_answer() -> None:
    """The sentence that answers has the likeliest token; headings are read along; it is the default, not a must."""
    assert open_reranker(load_settings(rerank="none")) is None
    reranker = open_reranker(load_settings())
    assert isinstance(reranker, ReaderReranker)
    body, focus = TEXT.index("A hive"), TEXT.index("Its queen")
    (one,) = await reranker.judge(QUESTION, [View(TEXT, body, focus)])
    assert len(one.tokens) == len(one.offsets)
    start, _ = one.offsets[int(one.tokens.argmax())].tolist()
    assert focus <= start < TEXT.index("Smoke")
    assert one.offsets[0].tolist() == [0, len("Bees")]
    (other,) = await reranker.judge("How tall is a giraffe?", [View(TEXT, body, focus)])
    assert other.passage < one.passage
    reranker.close()


def test_a_window_holds_the_headings_and_what_is_in_focus() -> None:
    """A third of it at most are headings; a short passage is read whole, and a window never leaves the passage."""
    starts = np.arange(400, dtype=np.int32)
    (seen,) = windows(starts, View("x" * 400, body=100, focus=300))
    assert seen[:42].tolist() == list(range(42))
    assert seen[42] < 300 < seen[-1]
    assert len(seen) == 126
    (last,) = windows(starts, View("x" * 400, body=10, focus=399))
    assert last[-1] == 399
    assert len(last) == 126
    (short,) = windows(starts[:50], View("x" * 50, body=10, focus=40))
    assert short.tolist() == list(range(50))


def test_windows_hold_a_whole_passage_that_is_not_too_long() -> None:
    """Each begins with the headings; of a longer passage they hold the stretch around the focus."""
    starts = np.arange(2_000, dtype=np.int32)
    found = windows(starts[:300], View("x" * 300, body=20, focus=250, whole=True))
    assert set(np.concatenate(found).tolist()) == set(range(300))
    assert all(one[:20].tolist() == list(range(20)) and len(one) <= 126 for one in found)
    cut = windows(starts, View("x" * 2_000, body=20, focus=1_500, whole=True))
    assert len(cut) == MOST_WINDOWS
    assert 1_500 in np.concatenate(cut)
    assert np.unique(np.concatenate(cut)).size == 20 + MOST_WINDOWS * 106
