"""What a question is completed with, turn by turn."""

import json
from collections import Counter
from pathlib import Path

import pytest

from lutrin.answer.followup import complete
from lutrin.records import ChatMessage, Role

CHARGED = "How is the battery of Kestrel charged?"
STEPS = "Look for swelling or cracks. Spent gel, orange before, is green. Put the battery on the stone plate."
TURNS = Path(__file__).with_name("conversations.jsonl")


def conversation(*texts: str) -> list[ChatMessage]:
    """Questions and answers in turn."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return [
        ChatMessage(id=str(n), session_id="s", role=roles[n % 2], text=text, created="2026-01-01T00:00:00Z")
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Why not overnight?",
        "For how long?",
        "Who may do it?",
        "Which charger do we use?",
        "What if it smokes?",
        "And outdoors?",
        "Overnight?",
        "What do you mean by swelling?",
        "Can the gel be used again?",
    ],
)
def test_what_leaves_something_out_is_asked_of_the_subject(question: str) -> None:
    """Whole or by its names, the subject stands before the question."""
    found = complete(question, conversation(CHARGED, STEPS))
    assert found in {f"How is the battery of Kestrel charged – {question}", f"battery Kestrel charged – {question}"}


@pytest.mark.parametrize(
    "question",
    [
        "Why not use a service for streaming data?",
        "What is a dry box, and what is it good for?",
        "What do people mean when they say a robot is underactuated?",
        "What is the term for a sensor that measures light?",
        "Is a costmap the same as an occupancy grid?",
        "Is it safe to walk next to a humanoid?",
        "What is an action server, in one sentence?",
        "What do you mean by odometry drift?",
        "Is there a lidar on Wren?",
    ],
)
def test_what_names_its_subject_stands_alone(question: str) -> None:
    """A pronoun may name nothing, or what the question has named itself; an aside may ask for what nobody has said."""
    assert complete(question, conversation(CHARGED, STEPS)) == question


def test_an_aside_does_not_change_the_subject() -> None:
    """Who asks what a word of the answer means comes back to what was asked before."""
    history = conversation(CHARGED, STEPS, "What do you mean by swelling?", "It gets thicker.")
    assert (
        complete("How long does it take?", history) == "How is the battery of Kestrel charged – How long does it take?"
    )
    assert complete("Explain that more simply", history) == CHARGED


def test_names_of_the_subject_do_not_drown_those_of_the_question() -> None:
    """A question with subjects of its own gets the subject's names; one without gets it whole."""
    history = conversation("What is the difference between rim brakes and disc brakes?", "The rotor.", "Why?", "Heat.")
    assert complete("Which fluid do we use?", history) == "rim brakes disc brakes – Which fluid do we use?"
    assert complete("How often?", history) == "What is the difference between rim brakes and disc brakes – How often?"


def test_a_reason_is_asked_of_what_was_asked_last() -> None:
    """What comes after a reason is asked of the subject again."""
    history = conversation("What is Whisper?", "A recogniser.", "Which size do we use?", "Small.")
    assert complete("Why not medium?", history) == "Whisper – Which size do we use – Why not medium?"
    history += conversation("Why not medium?", "Memory.")
    assert complete("For how long?", history) == "What is Whisper – For how long?"


def test_a_child_may_be_whom_it_is_asked_of() -> None:
    """'And for a child?' is no wish for simpler words; 'Explain it for a child' is one."""
    history = conversation("How large is the dose?", "300 micrograms.")
    assert complete("And for a child?", history) == "How large is the dose – And for a child?"
    assert complete("Explain it for a child", history) == "How large is the dose?"


def test_the_conversations_of_the_benchmark_are_whole() -> None:
    """Ten turns each, one page and one half each, over several books; most turns name a fact."""
    turns = [json.loads(line) for line in TURNS.read_text(encoding="utf-8").splitlines()]
    assert set(Counter(turn["conversation"] for turn in turns).values()) == {10}
    assert len({(turn["conversation"], turn["split"], turn["index"]) for turn in turns}) == len(turns) / 10 >= 16
    assert len({turn["index"] for turn in turns}) >= 8
    assert sum(bool(turn["facts"]) for turn in turns) > 0.9 * len(turns)
