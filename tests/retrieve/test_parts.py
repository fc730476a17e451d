"""Questions inside a question."""

import pytest

from lutrin.answer.kinds import kind_of
from lutrin.retrieve.parts import asking, parts_of


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How good is the camera?", ["How good is the camera?"]),
        (
            "How good is the camera, and what does it cost?",
            ["How good is the camera", "How good is the camera what does it cost?"],
        ),
        (
            "Which motor turns the hip, and how does the lidar measure?",
            ["Which motor turns the hip", "how does the lidar measure?"],
        ),
        (
            "When does the robot stop and when does the arm move?",
            ["When does the robot stop", "when does the arm move?"],
        ),
        ("When is Wren used, and when is it charged?", ["When is Wren used", "When is Wren used when is it charged?"]),
        (
            "At which charge does Wren stop working and at which does the alarm ring?",
            ["At which charge does Wren stop working", "at which does the alarm ring?"],
        ),
        (
            "How full must the tank be, and at what level does it close?",
            ["How full must the tank be", "How full must the tank be at what level does it close?"],
        ),
        (
            "Which fault code is shown, and what should I check?",
            ["Which fault code is shown", "Which fault code is shown what should I check?"],
        ),
        (
            "What becomes of my old map, and will a mission still start?",
            ["What becomes of my old map", "will a mission still start?"],
        ),
        (
            "When was Stephenson born, and what did he build?",
            ["When was Stephenson born", "When was Stephenson born what did he build?"],
        ),
    ],
)
def test_each_thing_that_is_asked_is_searched_for(question: str, parts: list[str]) -> None:
    """With what it needs to be understood."""
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "How hot and for how long does it boil?",
        "Who founded the company, and in which year?",
        "At what rate is the topic published and with which type?",
    ],
)
def test_two_things_that_are_asked_of_one_are_one_question(question: str) -> None:
    """What it is about is named once."""
    assert parts_of(question) == [question]


@pytest.mark.parametrize(
    "question",
    [
        "When should I take a bus and when a train?",
        "When do I take a bus, and when a train?",
        "When a bus, when a train?",
        "Where does copper belong and where plastic?",
        "And which sensors does Kestrel have or which Wren?",
    ],
)
def test_what_is_asked_of_two_things_in_one_breath_is_one_question(question: str) -> None:
    """A passage that names both answers it; it wants a comparison."""
    assert parts_of(question) == [question]
    assert kind_of(question) == "compare"


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("my chain is rusty. how do i clean it", "how do i clean it"),
        ("Why does it hum? I have an exam tomorrow.", "Why does it hum?"),
        ("I read of a leak. What is that?", "I read of a leak. What is that?"),
        ("How do I mount e.g. the lidar", "How do I mount e.g. the lidar"),
        ("Two lipos are puffed up", "Two lipos are puffed up"),
        (
            "The hose came off! Which code is shown? And what does it mean?",
            "Which code is shown? And what does it mean?",
        ),
    ],
)
def test_what_a_reader_only_tells_is_left_out(question: str, asks: str) -> None:
    """Unless nothing else names what is asked about."""
    assert asking(question) == asks
