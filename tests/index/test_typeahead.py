"""Suggestions of a book for unfinished words."""

from collections.abc import AsyncIterator

import pytest

from lutrin.index.generation import OpenGeneration, open_generation
from lutrin.index.typeahead import MOST_FORMS, match_words

from .conftest import Library

PAGES = {
    "01/a.md": [
        "A quaternion has four numbers. It knows no gimbal lock.",
        "Wheel odometry drifts. The drift of odometry grows with every turn.",
        "The battery of the robot is charged at 5 A.",
        "Publish the velocity on /cmd_vel. The battery is watched meanwhile.",
    ],
}


@pytest.fixture
async def generation(library: Library) -> AsyncIterator[OpenGeneration]:
    """A book of four passages."""
    opened = await open_generation(await library.publish("g1", PAGES), library.store)
    yield opened
    await opened.close()


MEANT: dict[str, set[int]] = {
    "quat": {0},
    "QUATERN": {0},
    "quaterniosn": {0},
    "qauternion": {0},
    "odometery": {1},
    "odometery dri": {1},
    "the drifting odom": {1},
    "batt": {2, 3},
    "batteries": {2, 3},
    "charged batt": {2, 3},
    "mean while": {3},
    "bat teries": {2, 3},
    "gimbal lock": {0},
    "cmd_v": {3},
    "/cmd": {3},
    "zebra": set(),
    "": set(),
    '"': set(),
}


async def test_the_sections_that_are_meant_are_found(generation: OpenGeneration) -> None:
    """By half a word, by a word with a slip, by both, and by names of code; other words add what has some of them."""
    found = {typed: (await generation.match_typing(typed, 5))[1] for typed in MEANT}
    assert {typed: {chunk.chunk_index for chunk, _ in own} for typed, own in found.items()} == MEANT


async def test_what_has_every_word_comes_first(generation: OpenGeneration) -> None:
    """Then what has one of them."""
    _, found = await generation.match_typing("velocity batt", 5)
    assert [chunk.chunk_index for chunk, _ in found] == [3, 2]


async def test_a_word_that_ended_is_no_beginning(generation: OpenGeneration) -> None:
    """A space ends it: "char" is not "charged" any more."""
    words, found = await generation.match_typing("char ", 5)
    assert (words[0].forms, found) == ((), [])
    assert (await generation.match_typing("char", 5))[0][0].forms == ("charged",)


def test_a_short_beginning_stands_for_the_commonest_words() -> None:
    """However many words begin so, the query stays short; stop words do not widen it."""
    vocabulary = {f"in{number:03}": number for number in range(1, 500)}

    def words_from(start: str) -> list[tuple[str, int]]:
        return [(word, chunks) for word, chunks in vocabulary.items() if word.startswith(start)]

    forms = match_words("what is in", words_from, vocabulary)
    assert len(forms) == 1
    assert len(forms[0].forms) == MOST_FORMS
    assert forms[0].forms[0] == "in499"
