"""Passages that nearly repeat another one are known when an index is built."""

import random

import pytest

from lutrin.index.build import ALIKE, find_repeats, jaccard, shingles

WORDS = [f"word{number}" for number in range(2000)]


def prose(seed: int, count: int = 250) -> str:
    """Words in no order."""
    return " ".join(random.Random(seed).choices(WORDS, k=count))


def changed(text: str, every: int) -> str:
    """A text of which each so manyth word is another one."""
    return " ".join(f"other{n}" if n % every == 0 else word for n, word in enumerate(text.split()))


def test_each_passage_names_the_first_one_that_it_repeats() -> None:
    """Equal and nearly equal texts share the number of the first; others have their own."""
    texts = [prose(0), prose(1), prose(0), changed(prose(1), 20), prose(2)]
    assert find_repeats(texts) == [0, 1, 0, 1, 4]


def test_case_marks_and_white_space_do_not_matter() -> None:
    """Sentences that a reader would call the same are equal."""
    assert find_repeats(["The robot -- walks *fast*.", "the robot walks\nfast", "It sits."]) == [0, 0, 2]


def test_many_repetitions_of_one_list_cost_no_more_than_one() -> None:
    """A navigation list on a thousand pages is one group."""
    assert set(find_repeats([prose(0, 40)] * 1000)) == {0}


def test_short_texts_are_compared_whole() -> None:
    """A text with fewer words than a shingle is alike with itself only."""
    for text in ("", "one", "one two", "日本語 の 文"):
        assert find_repeats([text, f"{text} and much more than that", text]) == [0, 1, 0]


def test_the_coefficient_is_that_of_the_sets() -> None:
    """Four words make two shingles; one of three is shared."""
    assert jaccard(shingles("a b c d"), shingles("b c d e")) == pytest.approx(1 / 3)
    assert ALIKE > 1 / 3
