"""Two things that a question names side by side."""

import pytest

from lutrin.answer.evidence import longer_first, tells_apart
from lutrin.query.understand import sides_of


@pytest.mark.parametrize(
    ("topic", "names"),
    [
        ("What is the difference between fire blight and silver leaf?", ["fire blight", "silver leaf"]),
        ("scab vs fire blight", ["scab", "fire blight"]),
        ("How does quenching differ from annealing?", ["quenching", "annealing"]),
        ("Which is heavier, the cross peen or the sledge?", ["cross peen", "sledge"]),
        ("Is a stepper motor better than a servo for an arm?", ["stepper motor", "servo"]),
        ("How do fault 12 and fault 17 differ?", ["fault 12", "fault 17"]),
        ("What is annealing?", []),
    ],
)
def test_what_a_question_compares(topic: str, names: list[str]) -> None:
    """As in the question, with the number that belongs to a name."""
    spans = sides_of(topic, compares=True)
    assert [topic[slice(*span)] for span in spans or ()] == names


def test_what_a_question_only_relates_is_not_two_things() -> None:
    """Unless it compares: a file is converted from one format to another."""
    assert sides_of("How do I convert a file from YAML to JSON?") is None


def test_a_last_word_may_belong_to_both() -> None:
    """The first name alone is tried before."""
    assert longer_first(("global", "local planner")) == "global planner"
    assert longer_first(("scab", "rust")) == ""


def test_two_things_are_told_apart_by_what_says_something_of_each() -> None:
    """In one sentence or in two; a sentence that only names both says nothing of either."""
    names = ("binary crate", "library crate")
    both = "A crate is a binary crate or a library crate."
    binary, library = "A binary crate is run.", "A library crate is shared."
    assert not tells_apart(names, [both])
    assert not tells_apart(names, [both, binary])
    assert tells_apart(names, [both, binary, library])
    assert tells_apart(names, ["A binary crate is run, and what a library crate holds is shared."])
    assert not tells_apart(names, ["All crates are built."])
