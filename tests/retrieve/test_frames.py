"""Ways to ask what something is."""

import pytest

from lutrin.answer.kinds import term_of
from lutrin.retrieve.frames import asked_term, plainly


@pytest.mark.parametrize(
    "question",
    [
        "Explain the term dew point please",
        "define dew point, thx",
        "Can someone explain dew point to a beginner?",
        "Could you define dew point for a fifteen year old?",
        "Please explain to me what dew point is.",
        "What do people mean by dew point?",
        "What did our teacher mean when they say dew point?",
        "what's meant by the term dew point",
        "what does dew point actually mean?",
        "meaning of dew point",
        "dew point - meaning?",
    ],
)
def test_what_something_is_may_be_asked_in_many_ways(question: str) -> None:
    """They are one question, and about the same term."""
    assert plainly(question) == "What is dew point?"
    assert term_of(question) == "dew point"


@pytest.mark.parametrize(
    "question",
    [
        "Explain how dew forms on a cold night.",
        "Explain the difference between dew and frost.",
        "Describe what happens when warm air meets a cold wall",
        "Explain this",
        "What does the program do when the dew point is near?",
        "What is dew?",
        "Why do you mean the dew point and not the temperature?",
    ],
)
def test_any_other_question_stands_as_it_is(question: str) -> None:
    """It says more than a term, or less."""
    assert plainly(question) == question


def test_a_plea_at_the_end_is_dropped() -> None:
    """It says nothing of the subject."""
    assert plainly("Steps for tying a bowline, please.") == "Steps for tying a bowline."
    assert plainly("How do I please a cat?") == "How do I please a cat?"


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("My brother broke the lidar yesterday. Explain the term dew point please", "What is dew point?"),
        ("I have an exam tomorrow. What does dew point mean?", "What is dew point?"),
        ("Define dew point. My teacher wants it in one sentence.", "What is dew point?"),
    ],
)
def test_what_is_told_of_something_else_is_left_out(question: str, plain: str) -> None:
    """It would lead the search away."""
    assert plainly(question) == plain


@pytest.mark.parametrize(
    "question",
    [
        "My drone blinks red. What does the blinking mean?",
        "The bolts were too long and the motor burnt out. Can you explain what happened?",
        "The dew point fell last night. Explain dew point.",
        "The window is wet. What does it mean?",
        "We saw dew and frost. Explain the difference between them.",
    ],
)
def test_what_is_told_of_the_same_stays(question: str) -> None:
    """Without it nobody knows what is meant."""
    assert plainly(question) == question


@pytest.mark.parametrize(
    "question",
    [
        'Our coach keeps on about the "dew point". What on earth is that?',
        "I was told of the ‘dew point’. Nobody dared to ask. What is it?",
        "in the last chapter they keep saying dew point. what does that mean",
        "My teacher mentioned a dew point. What is that supposed to be?",
        "When people talk about dew point, what is that exactly?",
    ],
)
def test_a_term_that_others_used_is_asked_for(question: str) -> None:
    """It is told first, and the question only points at it."""
    assert plainly(question) == "What is dew point?"


@pytest.mark.parametrize(
    "question",
    [
        'They put their names to "the document". What was it?',
        "They spoke of dew. What is that?",
        "The 'dew' and the 'frost' came. What is that?",
        "It's the boys' van, isn't it? What is that?",
        'My "dew" is wet. What is that good for?',
    ],
)
def test_a_question_that_points_at_nothing_named_stands_as_it_is(question: str) -> None:
    """Nobody was quoted, or more than one thing was, or more is asked than what it is."""
    assert plainly(question) == question


@pytest.mark.parametrize(
    ("question", "term"),
    [
        ("What is dew?", "dew"),
        ("what's a dew point", "dew point"),
        ("What exactly are the dew points?", "dew points"),
        ("It was wet outside. What is dew?", "dew"),
        ("What is dew, and when does it fall?", ""),
        ("Where is dew?", ""),
        ("Why is it wet?", ""),
    ],
)
def test_a_term_is_asked_for_where_nothing_else_is(question: str, term: str) -> None:
    """Whoever asks for more has more to find than its definition."""
    assert asked_term(question) == term
