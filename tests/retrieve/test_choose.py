"""The passages that a reader gets say together what was asked."""

import numpy as np

from lutrin.retrieve.choose import SHORTEST, Wish, choose


def wish(scores: list[float], matches: list[list[float]]) -> Wish:
    """A part of a question whose tokens all count the same."""
    width = len(matches[0])
    return Wish(
        scores=np.array(scores, dtype=np.float32),
        matches=np.array(matches, dtype=np.float32),
        share=np.full(width, 1 / width, dtype=np.float32),
    )


def test_the_best_comes_first_and_then_what_it_lacks() -> None:
    """A passage on the second half of the question goes before a better one that repeats the first half."""
    asked = wish([2.0, 1.9, 1.6], [[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])
    assert choose([asked], ["a", "b", "c"], [100] * 3, 3) == [0, 2, 1]


def test_equal_passages_of_one_page_make_room_for_another_page() -> None:
    """Of two that add the same, the one on a new page is chosen."""
    asked = wish([2.0, 1.5, 1.5], [[0.9], [0.9], [0.9]])
    assert choose([asked], ["a", "a", "b"], [100] * 3, 2) == [0, 2]


def test_parts_take_turns_and_never_the_same_passage() -> None:
    """Each part has its best that is still there."""
    first = wish([2.0, 1.0, 0.5], [[0.9], [0.5], [0.1]])
    second = wish([2.0, 0.4, 1.0], [[0.9], [0.1], [0.5]])
    assert choose([first, second], ["a", "a", "a"], [100] * 3, 3) == [0, 2, 1]


def test_there_may_be_fewer_than_asked_for() -> None:
    """All there are, once each."""
    assert sorted(choose([wish([1.0, 2.0], [[0.5], [0.6]])], ["a", "b"], [100] * 2, 5)) == [0, 1]


def test_of_two_that_match_alike_the_longer_one_comes_first() -> None:
    """A heading with one sentence below it matches a question as well as the page that answers it."""
    asked = wish([1.0, 0.95], [[0.5], [0.5]])
    assert choose([asked], ["a", "b"], [200, 800], 2) == [1, 0]
    assert choose([asked], ["a", "b"], [10, SHORTEST], 2) == [0, 1]
