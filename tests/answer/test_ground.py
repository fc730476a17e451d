"""A generated sentence leaves only if the book supports it."""

import pytest

from lutrin.answer.ground import support

BOOK = (
    "Loops > The loop\nThe balance controller of Kestrel runs at 500 Hz on the microcontroller. "
    "A wheeled robot is cheaper than a legged robot. The lidar does not see glass. "
    "Publish speeds on /cmd_vel with geometry_msgs/Twist."
)


@pytest.mark.parametrize(
    "sentence",
    [
        "Kestrel's balance controller runs at 500 Hz.",
        "A wheeled robot is cheaper than a legged robot.",
        "The lidar does not see glass.",
        "Speeds are published on /cmd_vel.",
    ],
)
def test_what_the_book_says_is_supported(sentence: str) -> None:
    """Other words around the same facts are fine."""
    assert support(sentence, [BOOK]) is not None


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("Kestrel's balance controller runs at 1000 Hz.", "another number"),
        ("The balance controller of Atlas runs at 500 Hz.", "another name"),
        ("Speeds are published on /cmd_speed.", "another identifier"),
        ("The lidar does see glass.", "a denial lost"),
        ("The balance controller does not run at 500 Hz on the microcontroller.", "a denial added"),
        ("A legged robot is cheaper than a wheeled robot.", "sides swapped"),
        ("Robots will replace teachers in every school soon.", "nothing in common"),
    ],
)
def test_what_the_book_does_not_say_is_dropped(sentence: str, wrong: str) -> None:
    """Numbers, names, identifiers, denials and directions are the book's or the sentence goes."""
    assert support(sentence, [BOOK]) is None, wrong


def test_the_best_evidence_is_cited() -> None:
    """Of two passages the one that holds more of the sentence supports it."""
    other = "Other\nA controller is a program."
    found = support("The balance controller of Kestrel runs at 500 Hz.", [other, BOOK])
    assert found is not None
    assert found.index == 1


def test_a_name_from_the_question_may_be_repeated() -> None:
    """The reader's own names are no invention."""
    assert (
        support("On Wren, the lidar does not see glass.", [BOOK], question="Does Wren's lidar see glass?") is not None
    )
