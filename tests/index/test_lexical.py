"""Full-text search: stemmed prose, identifiers whole and in parts."""

from collections.abc import AsyncIterator

import pytest

from lutrin.index.generation import OpenGeneration, open_generation
from lutrin.index.lexical import bigrams, identifiers

from .conftest import Library

PAGES = {
    "01/a.md": [
        "Publishers send velocity commands to /cmd_vel ten times a second.",
        "The class rclcpp::Node is the base of every node in C++.",
        "Call create_wall_timer with a period. The option useSimTime follows /clock.",
        "A robot has sensors and actuators; walking robots have legs.",
        "Nothing here.",
    ],
    "02/cmd.md": ["The zero moment point. A command of the operator stops the velocity."],
}


@pytest.fixture
async def generation(library: Library) -> AsyncIterator[OpenGeneration]:
    """A book about names."""
    opened = await open_generation(await library.publish("g1", PAGES), library.store)
    yield opened
    await opened.close()


@pytest.mark.parametrize(
    ("question", "index"),
    [
        ("what is published on /cmd_vel?", 0),
        ("cmd_vel", 0),
        ("Which class is rclcpp::Node?", 1),
        ("what does create_wall_timer do", 2),
        ("use_sim_time", 2),
        ("the sensor of a walking robot", 3),
    ],
)
async def test_finds_names_and_inflected_words(generation: OpenGeneration, question: str, index: int) -> None:
    """Identifiers are found as they are written, words in any inflection."""
    found = await generation.matching(question, 3)
    (chunk,) = await generation.chunks([found[0][0]])
    assert (chunk.filename, chunk.chunk_index) == ("01/a.md", index)
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


@pytest.mark.parametrize("text", ["", "   ", "???", '"', "AND OR NOT", "a* NEAR(b c) ^d", "the of and", "x" * 5000])
async def test_any_text_is_a_question(generation: OpenGeneration, text: str) -> None:
    """Operators of the query language are words like any other; nothing to search for finds nothing or little."""
    assert len(await generation.matching(text, 3)) <= 3


async def test_the_heading_counts_more_than_the_text(generation: OpenGeneration) -> None:
    """A passage whose page is named like the question comes before one that only mentions it."""
    found = await generation.matching("cmd", 2)
    (first,) = await generation.chunks([found[0][0]])
    assert first.filename == "02/cmd.md"


def test_identifiers_are_cut_by_rule() -> None:
    """What has marks, digits or humps is a name, kept whole and in parts; plain and hyphenated words are not."""
    assert list(identifiers("Publish to /cmd_vel with a well-known rclcpp::Node.")) == [
        *("/cmd_vel", "cmd_vel", "cmd", "vel"),
        *("rclcpp::node", "rclcpp", "node"),
    ]
    assert list(identifiers("useSimTime")) == ["usesimtime", "use", "sim", "time"]
    assert list(bigrams("ros2 topic echo\nls")) == ["ros2+topic", "topic+echo"]
