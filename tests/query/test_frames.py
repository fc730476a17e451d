"""The form and the subject of a question."""

import json
from collections import Counter
from pathlib import Path

from lutrin.language.words import words
from lutrin.query.frames import About, frame_of, spell_out, without_story

CASES = [json.loads(line) for line in Path(__file__).with_name("frames.jsonl").read_text("utf-8").splitlines()]
LEAST_RIGHT = {"tune": 0.95, "test": 0.95, "fresh": 0.85}
"""By half of the cases: shares that were reached when the phrases were written; `fresh` holds the odd ones."""


def test_pupils_questions_are_framed() -> None:
    """As labelled by hand."""
    for half in sorted(LEAST_RIGHT):
        cases = [case for case in CASES if case["half"] == half]
        wrong = [case["question"] for case in cases if frame_of(case["question"])[0] != case["frame"]]
        assert 1 - len(wrong) / len(cases) >= LEAST_RIGHT[half], wrong


def test_the_topic_keeps_the_subject_and_drops_how_to_answer() -> None:
    """Words that name the subject stay; "plz" and "with an everyday analogy" go."""
    for half in sorted(LEAST_RIGHT):
        cases = [case for case in CASES if case["half"] == half]
        wrong = []
        for case in cases:
            topic = frame_of(case["question"])[1].lower()
            kept = all(word.lower() in topic for word in case["stay"])
            if not kept or {word.lower() for word in case["go"]} & set(words(topic)):
                wrong.append((case["question"], topic))
        assert 1 - len(wrong) / len(cases) >= LEAST_RIGHT[half], wrong


def test_every_frame_is_asked_for() -> None:
    """At least six times each."""
    counts = Counter(case["frame"] for case in CASES)
    assert len(counts) == 16
    assert min(counts.values()) >= 6


def test_the_book_itself_may_be_asked_about() -> None:
    """With the chapter as typed; a part of something else is no part of the book."""
    for question, about in (
        ("Which chapters are there?", About("contents")),
        ("what is chapter 5 about", About("chapter", "5")),
        ("what does the chapter on navigation cover?", About("chapter", "navigation")),
        ("What is this chapter about?", About("chapter", "this")),
        ("what's the 2nd chapter about", About("chapter", "2nd")),
        ("What is this book about?", About("contents")),
        ("who r u", About("self")),
        ("What is a module in Swift?", None),
        ("What unit do doctors use for blood pressure?", None),
        ("What part of the retina has no rods?", None),
    ):
        assert frame_of(question)[2] == about


def test_what_belongs_to_the_subject_stays() -> None:
    """Not every example, order or step is a wish."""
    for question, topic in (
        ("How does the example struct store Kelvin?", "How does the example struct store Kelvin"),
        ("In what order does git log show commits?", "In what order does git log show commits"),
        ("How long do 10 million steps of training take?", "How long do 10 million steps of training take"),
        ("Why is Bishop's book hard for beginners?", "Why is Bishop's book hard for beginners"),
    ):
        assert frame_of(question)[1].rstrip("?") == topic


def test_an_opening_story_goes_unless_the_question_needs_it() -> None:
    """A question that refers to it, or shares its subject, needs it."""
    for question, asks in (
        ("I have an exam tomorrow. What does dew point mean?", "What does dew point mean?"),
        ("Explain torque. My teacher is strict.", "Explain torque."),
        ("My drone blinks red. What does the blinking mean?", "My drone blinks red. What does the blinking mean?"),
        ("I read of a leak. What is that?", "I read of a leak. What is that?"),
        ("my chain is rusty. how do i clean it", "my chain is rusty. how do i clean it"),
        ("How do I mount e.g. the lidar", "How do I mount e.g. the lidar"),
        ("Two lipos are puffed up", "Two lipos are puffed up"),
    ):
        assert without_story(question) == asks


def test_chat_spellings_are_read() -> None:
    """A letter that may be a quantity stays one."""
    assert spell_out("wats a gyro, can u tell me") == "what is a gyro, can you tell me"
    assert spell_out("What is u in the equation for r?") == "What is u in the equation for r?"
