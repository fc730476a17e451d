"""Topics beside a refusal: each says by itself what it is about."""

import msgspec
import pytest

from lutrin.answer.refuse import MAX_SUGGESTIONS, suggestions
from lutrin.records import Passage

from .book import chunk, unit


def found(*titles: str, chapter: str = "Chapter 4: Motors", module: str = "Part 1: Foundations") -> Passage:
    """A passage below these headings, the page's title first."""
    placed = msgspec.structs.replace(
        chunk(unit("Wheels slip.")),
        section_title=titles[-1] if titles else "",
        heading_path=titles,
        chapter=chapter,
        module=module,
    )
    return Passage(chunk=placed, score=1.0)


@pytest.mark.parametrize(
    "title",
    ["Gears", "What is ROS 2?", "Nodes and topics", "Code for one real joint", "`ros2 topic list`", "QoS"],
)
def test_a_title_that_names_its_thing_stands_alone(title: str) -> None:
    """As the book has it."""
    assert suggestions([found("Driving", title)]) == (title,)


@pytest.mark.parametrize(
    "title",
    [
        "What changes", "In code", "Example", "Examples", "A worked example", "Overview", "1.2 Overview", "Usage",
        "Notes", "How it works", "Does it fit?", "Two kinds", "The values", "Further reading", "Step 3", "How many?",
    ],
)  # fmt: skip
def test_a_title_that_says_nothing_alone_stands_behind_that_of_its_page(title: str) -> None:
    """Whatever chapter it stands in, who reads it knows which."""
    assert suggestions([found("Driving Wren", title)]) == (f"Driving Wren: {title}",)


def test_the_nearest_heading_that_says_something_is_named() -> None:
    """Else the chapter, else the part, without their numbers; where nothing says anything, nothing is suggested."""
    assert suggestions([found("Motors", "Torque", "Overview", "Example")]) == ("Torque: Example",)
    assert suggestions([found("What is a gear?", "In code")]) == ("What is a gear? In code",)
    assert suggestions([found("Overview", "Example")]) == ("Motors: Example",)
    assert suggestions([found("Overview", chapter="Chapter 4")]) == ("Foundations: Overview",)
    assert suggestions([found("Overview", chapter="", module="")]) == ()
    assert suggestions([found()]) == ()


def test_the_nearest_topics_come_first_each_once() -> None:
    """The same words under two headings are one topic; there are at most five."""
    passages = [found("Wheels", "Slip"), found("Wheels", "Summary"), found("Arms", "slip"), found("Arms", "Summary")]
    assert suggestions(passages) == ("Slip", "Wheels: Summary", "Arms: Summary")
    assert len(suggestions([found("Page", f"Gear {letter}") for letter in "PQRSTUVW"])) == MAX_SUGGESTIONS
