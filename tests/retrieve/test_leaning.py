"""Questions that need something else to be understood."""

import pytest

from lutrin.retrieve.leaning import leans, names_of, opens, refers

DRIFT = "For Kestrel the drift is about 1% of the distance walked."


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("And on a Jetson?", True),
        ("How fast is it there?", True),
        ("Is the work gone then?", True),
        ("What is a topic?", False),
        ("Then which pump, valve and filter belong to this cooling circuit of the press?", False),
    ],
)
def test_a_question_leans_that_has_few_subjects_and_a_word_for_another(question: str, expected: bool) -> None:
    """It begins as one that goes on, refers to something, or ends on *then*; with many subjects it stands alone."""
    assert leans(question) is expected


def test_opening_and_referring_are_two_things() -> None:
    """The first puts something in the place of what was asked, the second asks more of it."""
    assert (opens("And on a Jetson?"), refers("And on a Jetson?")) == (True, False)
    assert (opens("What does it cost?"), refers("What does it cost?")) == (False, True)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How large is the drift of Kestrel?", True),
        ("How tall is Mount Everest?", False),
        ("Which distance do light years measure?", False),
    ],
)
def test_a_question_is_about_a_selection_whose_subjects_it_names(question: str, expected: bool) -> None:
    """Half of its subjects are enough; one of four is not."""
    assert names_of(question, DRIFT) is expected
