"""Careless forms of questions: the same each time, and only what the form says is changed."""

import random

import pytest

from evaluation.careless import FORMS, Loss, careless, missing, sounds, speech, spellings, table
from evaluation.questions import EvalQuestion

QUESTION = EvalQuestion(id="a-1", question="How does the robot know where it is to go?", kind="how")


def test_a_question_is_spelt_the_same_each_time() -> None:
    """And in another way in each form."""
    for form in FORMS:
        assert careless(QUESTION, form) == careless(QUESTION, form)
    assert len({careless(QUESTION, form).question for form in FORMS}) == len(FORMS)
    assert careless(QUESTION, "as it stands") == QUESTION


@pytest.mark.parametrize("seed", range(20))
def test_words_that_sound_alike_are_taken_for_each_other(seed: int) -> None:
    """At least one, and nothing else."""
    spelt = sounds(QUESTION.question, random.Random(seed)).split()
    pairs = [pair for pair in zip(QUESTION.question.split(), spelt, strict=True) if pair[0] != pair[1]]
    assert pairs
    assert all(spellings("sounds.txt")[word] == other for word, other in pairs)


def test_messages_are_short_and_small() -> None:
    """No mark ends them."""
    written = speech("What are you for?", random.Random(1))
    assert written == written.lower()
    assert not written.endswith("?")
    assert set(written.split()) & {"wat", "r", "u", "4"}


@pytest.mark.parametrize("seed", range(20))
def test_no_letter_is_added_where_words_are_missing(seed: int) -> None:
    """What is left is in its order."""
    left = iter(QUESTION.question.replace(" ", ""))
    written = missing(QUESTION.question, random.Random(seed))
    assert written
    assert all(letter in left for letter in written.replace(" ", ""))


def test_what_a_form_loses_is_told() -> None:
    """Against the questions as they stand."""
    losses = [Loss("as it stands", 10, 0.7, 0.0), Loss("speech", 10, 0.65, 0.1)]
    assert table(losses).splitlines()[1] == "speech: 10 questions, facts 0.650, lost 0.050, refused 0.100"
