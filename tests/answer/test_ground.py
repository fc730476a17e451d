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
        ("To see the lidar, we need to look at the glass.", "the model speaks of itself"),
        ("Let's run the balance controller at 500 Hz on the microcontroller.", "the model speaks of itself"),
        ("Robots will replace teachers in every school soon.", "nothing in common"),
    ],
)
def test_what_the_book_does_not_say_is_dropped(sentence: str, wrong: str) -> None:
    """Numbers, names, identifiers, denials and directions are the book's or the sentence goes."""
    assert support(sentence, [BOOK]) is None, wrong


@pytest.mark.parametrize(
    ("sentence", "question", "wrong"),
    [
        ("500 Hz.", "How fast is the controller?", "a number says nothing by itself"),
        ("1. 1.", "How fast is the controller?", "nor do two"),
        ("My lidar does not see glass.", "Why does my lidar not see glass?", "the question once more"),
        ("500 Hz = 0.2 s.", "How long is a cycle of the controller?", "an equation that the book does not have"),
    ],
)
def test_what_says_nothing_is_dropped(sentence: str, question: str, wrong: str) -> None:
    """Small models like to answer so."""
    assert support(sentence, [BOOK], question=question) is None, wrong


def test_a_book_that_says_we_may_be_told_so() -> None:
    """What the model may not say of itself it may say with the book."""
    assert support("We publish the speeds of the wheels.", ["Then we publish the speeds of the wheels, as measured."])


def test_a_number_stays_with_what_it_measures() -> None:
    """All words of the sentence stand in the book's, but beside another number."""
    book = "Robots\nThe humanoid is 1.2 m tall, weighs 28 kg and has 20 joints: 6 in each leg."
    assert support("The humanoid weighs 28 kg.", [book]) is not None
    assert support("The leg of the humanoid weighs 28 kg.", [book]) is None


def test_one_item_is_not_all_that_was_announced() -> None:
    """What stands above a list and the list's first item are no sentence, though the book has them side by side."""
    book = "Simulation pays off in four situations:\nHidden quantities. The simulator knows every force."
    assert support("Simulation pays off in four situations: Hidden quantities.", [book]) is None
    told = "The robot has two arms: each arm has seven joints."
    assert support(told, [told]) is not None
    named = "Simulation pays off in two situations: hidden quantities and dangerous tests."
    assert support(named, [named]) is not None


@pytest.mark.parametrize("open_", ['"', "(", "\u201c"])
def test_what_is_opened_is_closed(open_: str) -> None:
    """A sentence that begins inside of another one is none."""
    closed = {'"': '"', "(": ")", "\u201c": "\u201d"}[open_]
    told = "The arm of the robot lifts a load of 2 kg."
    assert support(f"The robot {open_}lifts a load of 2 kg{closed} by its arm.", [told])
    assert support(f"The robot {open_}lifts a load of 2 kg by its arm.", [told]) is None


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
