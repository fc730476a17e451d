"""The completion of a question from its conversation, turn by turn."""

import msgspec
import pytest

from lutrin.query.conversation import complete_question, refers
from lutrin.records import ChatMessage, Role

CHARGED = "How is the battery of Kestrel charged?"
STEPS = "Look for swelling or cracks. Spent gel, orange before, is green. Put the battery on the stone plate."
GAINS = "There are two gains:\n\n- **P gain**: acts on the error. [1]\n- **D gain**: acts on its change. [2]\n"


def conversation(*texts: str) -> list[ChatMessage]:
    """Questions and answers in turn; each answer cites one chunk, named after its place."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return [
        ChatMessage(
            id=str(n), session_id="s", role=roles[n % 2], text=text, created="", chunk_ids=(f"c{n}",) if n % 2 else ()
        )
        for n, text in enumerate(texts)
    ]


def asked(question: str, *history: str) -> str:
    """The search text."""
    return complete_question(question, conversation(*history)).text


def test_what_leaves_something_out_is_asked_of_the_subject() -> None:
    """The subject is before the question, and the passages of the answer before come with it."""
    for question in (
        "Why not overnight?",
        "For how long?",
        "Who may do it?",
        "Which charger do we use?",
        "What if it smokes?",
        "And outdoors?",
        "Overnight?",
        "Can the gel be used again?",
        "how often",
        "Is that safe?",
        "why from below?",
        "What do you mean by swelling?",
    ):
        found = complete_question(question, conversation(CHARGED, STEPS))
        assert "battery" in found.text
        assert found.text.endswith(question.rstrip("?"))
        assert found.follows == ("c1",)


@pytest.mark.parametrize(
    "question",
    ["Summarise chapter 3", "quiz me on chapter 4", "Quiz me on this chapter", "summarise the third chapter"],
)
def test_a_question_on_a_chapter_stands_alone(question: str) -> None:
    """It ignores the conversation before it; follow-ups are asked about that chapter."""
    found = complete_question(question, conversation(CHARGED, STEPS))
    assert (found.text, found.follows, found.subject) == (question, (), "")
    follow = asked("quiz me on it", CHARGED, STEPS, question, "It is about heat.")
    assert "chapter" in follow
    assert "battery" not in follow


def test_a_further_chapter_is_asked_for_in_the_form_of_the_first() -> None:
    """Also the third in a row; a chapter that is asked about in words of its own has the form of these."""
    talk = conversation("Summarise chapter 3", "In short: heat.", "And chapter 5?", "In short: wax.")
    assert complete_question("And chapter 5?", talk[:2]).form == "summary"
    assert complete_question("And chapter 6?", talk).form == "summary"
    assert complete_question("What does chapter 6 say about wax?", talk).form == "plain"


@pytest.mark.parametrize("question", [CHARGED, "Which delivery repeats lost messages?"])
def test_a_question_that_is_repeated_stands_alone(question: str) -> None:
    """Its own answer says what it asks, which does not make it follow itself."""
    found = complete_question(
        question, conversation(question, "Charged: the battery of Kestrel. Delivery repeats lost messages.")
    )
    assert (found.text, found.follows) == (question, ())


def test_what_names_its_subject_stands_alone() -> None:
    """A pronoun may name nothing, or what the question has named itself."""
    for question in (
        "Why not use a service for streaming data?",
        "What is a dry box, and what is it good for?",
        "What do people mean when they say a robot is underactuated?",
        "What is the term for a sensor of light?",
        "Is a costmap the same as an occupancy grid?",
        "Is it safe to walk next to a humanoid?",
        "What is ROS 2?",
        "Is there a lidar on Wren?",
        "Who made git and what was it meant to replace?",
        "what's markdown",
        "How do I add all files of a folder in one go?",
        "How long does it take for a platelet plug to form?",
        "who are you",
        "Which chapters are there?",
    ):
        found = complete_question(question, conversation(CHARGED, STEPS))
        assert (found.text, found.follows) == (question, ())


def test_a_wish_is_about_the_subject() -> None:
    """The words of the wish are not searched for."""
    for wish in ("Tell me more", "Can you say this more simply?", "Give me an example", "Step by step"):
        assert asked(wish, "What is a node?", "A process.") == "What is a node"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does the second one do?", "How do I tune the arm – What does D gain do"),
        ("and the last one?", "How do I tune the arm – and D gain"),
        ("Is the third one better?", "tune arm – Is the third one better"),
    ],
)
def test_one_of_several_things_is_named(question: str, text: str) -> None:
    """What the list of the last answer has in that place; a place that it does not have stays as typed."""
    assert asked(question, "How do I tune the arm?", GAINS) == text


def test_a_correction_takes_the_place_of_a_word() -> None:
    """Asked again with the word that was meant; without a word to replace, of the subject."""
    history = ("How do I tune the D gain of the arm?", GAINS)
    assert asked("sorry, I meant the P gain", *history) == "How do I tune the P gain of the arm?"
    assert asked("no I meant the leg", *history) == "tune arm – the leg"
    assert asked("Why?", *history, "sorry i meant the P gain", "It is 4.").startswith(
        "How do I tune the P gain of the arm"
    )


@pytest.mark.parametrize(
    ("before", "question", "text"),
    [
        ("What does ERROR 104 mean?", "How do I fix it?", "How do I fix ERROR 104?"),
        ("What does E-207 mean?", "How do I clear it?", "How do I clear E-207?"),
        ("What is Windows 11?", "How do I install it?", "How do I install Windows 11?"),
        ("How hot is lane 4?", "Who may enter it?", "How hot is lane 4 – Who may enter it"),
        ("What does Rule 3 mean?", "Why was it made?", "Why was Rule 3 made?"),
    ],
)
def test_a_number_or_code_belongs_to_the_name(before: str, question: str, text: str) -> None:
    """It is what tells one from another."""
    assert asked(question, before, "It stands there.") == text


def test_a_pronoun_behind_a_subject_is_read_both_ways() -> None:
    """The book decides; what was answered from the passage just shown was asked about that, and so is what follows."""
    found = complete_question("How warm should it be?", conversation("What is yeast dough?", "It rises."))
    assert found.text == "How warm should it be?"
    assert found.leaning is not None
    assert found.leaning.text == "How warm should yeast dough be?"
    assert found.leaning.follows == ("c1",)
    talk = conversation("What is yeast dough?", "It rises.", "How warm should it be?", "30 degrees.")
    same = [msgspec.structs.replace(message, chunk_ids=("c1",)) if message.chunk_ids else message for message in talk]
    assert "yeast dough" in complete_question("And for how long?", same).text
    assert "yeast dough" not in complete_question("And for how long?", talk).text


def test_what_goes_on_takes_the_place_of_what_went_on_before() -> None:
    """The newest of "And on a Jetson?" and "And on a Raspberry?" counts; what points at a place keeps it."""
    history = ["How much power does the computer need?", "15 W.", "And on a Jetson?", "30 W."]
    assert asked("How hot does it get there?", *history) == (
        "How much power does the computer need – And on a Jetson – How hot does it get there"
    )
    assert asked("And on a Raspberry?", *history) == "How much power does the computer need – And on a Raspberry"


def test_five_turns_stay_with_their_subject() -> None:
    """Wishes, pronouns and questions that leave something out never lose it; a new subject ends it."""
    talk: list[str] = []
    for question in (
        "How does a lidar measure distance?",
        "why?",
        "how fast is it",
        "simpler please",
        "And in the rain?",
    ):
        assert "lidar" in asked(question, *talk)
        talk += [question, "It sends light."]
    assert asked("What is a costmap?", *talk) == "What is a costmap?"
    assert asked("Is it large?", *talk, "What is a costmap?", "A grid.") == "Is costmap large?"


def test_what_cannot_be_completed_lacks_something() -> None:
    """A greeting asks for nothing; a wish needs a conversation; a pronoun beside a subject may still be searched."""
    assert complete_question("Tell me more", []).lacks
    assert complete_question("ok thanks!", conversation(CHARGED, STEPS)).lacks
    assert not complete_question("How does it balance on one leg?", []).lacks


def test_a_pronoun_before_any_subject_points_outside() -> None:
    """One after a subject may mean that one."""
    for question, expected in (
        ("How fast is it?", True),
        ("Which one harms paint?", True),
        ("What does that do?", True),
        ("How does a drone land when it is windy?", False),
        ("Is there a lidar?", False),
        ("one leg", False),
    ):
        assert refers(question) is expected


def test_a_refused_question_changes_no_subject() -> None:
    """The next follow-up is still about the last answered question."""
    *talk, refusal = conversation(CHARGED, STEPS, "What is onion soup?", "It is not in the book.")
    refused = ChatMessage(id="r", session_id="s", role="assistant", text=refusal.text, created="", kind="refusal")
    assert "battery" in complete_question("And outdoors?", [*talk, refused]).text
    assert "onion" in complete_question("And outdoors?", [*talk, refusal]).text
