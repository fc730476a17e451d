"""What is said of a question before the book is opened."""

import pytest
from tests.answer import book

from lutrin import messages
from lutrin.answer.checks import check_question, is_vague
from lutrin.answer.followup import complete
from lutrin.errors import InvalidQuestion
from lutrin.records import ChatMessage, Role
from lutrin.retrieve.language import LanguageCheck


@pytest.fixture(scope="module")
def english() -> LanguageCheck:
    """Accepts English only."""
    return book.english()


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "?!", "\u200b\u200b"])
def test_nothing_asked_is_said_so(english: LanguageCheck, text: str) -> None:
    """Blanks, punctuation and invisible characters are no question."""
    with pytest.raises(InvalidQuestion, match=r"Please enter a question\."):
        check_question(text, english)


def test_a_long_question_is_cut_with_a_warning(english: LanguageCheck) -> None:
    """The first 500 words are used."""
    checked = check_question("How does the robot balance? " * 200, english)
    assert len(checked.text.split()) == 500
    assert checked.warnings == (messages.QUESTION_TRUNCATED,)


def test_500_words_are_not_too_many(english: LanguageCheck) -> None:
    """The limit itself is allowed."""
    assert check_question(" ".join(["robot"] * 500), english).warnings == ()


def test_invisible_characters_are_removed(english: LanguageCheck) -> None:
    """What cannot be seen cannot be asked."""
    assert check_question("What is\u200b a \u202enode?\x00", english).text == "What is a node?"


def test_another_language_is_refused(english: LanguageCheck) -> None:
    """The reason is given, not an answer."""
    assert check_question("Was ist ein Drehgelenk am Roboter?", english).refusal == "not_english"


@pytest.mark.parametrize(
    "text",
    [
        "Tell me more",
        "Why?",
        "What is an example?",
        "What is this topic about?",
        "Can you elaborate on that?",
        "What does this mean?",
    ],
)
def test_a_question_without_subject_is_vague(text: str) -> None:
    """Only a conversation can complete it."""
    assert is_vague(text)


@pytest.mark.parametrize(
    "text", ["What is ROS 2?", "Why do robots fall?", "torque", "What is a topic?", "What does a section do?"]
)
def test_a_question_with_subject_is_not_vague(text: str) -> None:
    """One subject is enough."""
    assert not is_vague(text)


@pytest.mark.parametrize(
    "text", ["hi", "Hello there!", "hey, good morning", "Thank you so much :)", "ok thanks", "bye pls"]
)
def test_a_greeting_asks_for_nothing(text: str) -> None:
    """Neither of the book nor, in a conversation, of what was asked before."""
    assert is_vague(text)
    assert complete(text, conversation("How fast is the arm?", "Fast.")) is None


@pytest.mark.parametrize(
    "text", ["hi, how fast is the arm?", "thanks, and the leg?", "ok why", "hello world", "What is a cool robot?"]
)
def test_a_question_after_a_greeting_is_one(text: str) -> None:
    """What stands behind it counts."""
    assert complete(text, conversation("How fast is the arm?", "Fast.")) is not None


def conversation(*texts: str) -> list[ChatMessage]:
    """Questions and answers in turn."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return [
        ChatMessage(id=str(n), session_id="s", role=roles[n % 2], text=text, created="2026-01-01T00:00:00Z")
        for n, text in enumerate(texts)
    ]


def test_a_question_that_stands_alone_is_not_touched() -> None:
    """A conversation does not change what is clear."""
    history = conversation("What is a node?", "A process.")
    assert complete("How heavy is Kestrel?", history) == "How heavy is Kestrel?"


def test_a_vague_question_takes_the_last_topic() -> None:
    """'Tell me more' is about what was asked last."""
    history = conversation("What is a node?", "A process.", "Tell me more", "It has topics.")
    assert complete("Can you elaborate on that?", history) == "What is a node?"


@pytest.mark.parametrize("question", ["And on a Jetson?", "How fast is it?", "What about topics?"])
def test_a_dependent_question_is_joined_to_its_topic(question: str) -> None:
    """Pronouns and openings lean on what was asked before."""
    assert complete(question, conversation("What is a node?", "A process.")) == f"What is a node – {question}"


def test_a_vague_question_without_conversation_cannot_be_completed() -> None:
    """More context is needed, and asked for."""
    assert complete("Tell me more", []) is None


def test_a_pronoun_without_conversation_is_searched_as_it_is() -> None:
    """The book may still know."""
    assert complete("How does it balance on one leg?", []) == "How does it balance on one leg?"


@pytest.mark.parametrize(
    "wish", ["Explain that more simply", "Give me an example", "Step by step, please", "Explain it like I'm five"]
)
def test_a_wish_for_another_form_keeps_the_topic(wish: str) -> None:
    """The words of the wish are not searched for."""
    assert complete(wish, conversation("What is a node?", "A process.")) == "What is a node?"


def test_the_topic_is_kept_over_ten_turns() -> None:
    """The subject is the newest question that stands alone; the newest that leans on it narrows it."""
    turns = [
        "How much power does the computer need?",
        "And on a Jetson?",
        "Explain that more simply",
        "And on a Raspberry?",
        "Give an example",
        "How hot does it get there?",
        "What about the battery?",
        "Tell me more",
        "Step by step",
    ]
    history = conversation(*(text for turn in turns for text in (turn, "An answer.")))
    assert complete("Why?", history) == "How much power does the computer need – What about the battery?"
    assert complete("And with a fan?", history) == "power computer – And with a fan?"
    assert complete("How heavy is it?", history) == (
        "How much power does the computer need – What about the battery – How heavy is it?"
    )


def test_a_question_about_the_subject_does_not_narrow_it() -> None:
    """What it costs is asked of the lidar, not of its speed; a wish is about what was asked last."""
    history = conversation("How does a lidar measure distance?", "By light.", "How fast does it turn?", "At 10 Hz.")
    assert complete("What does it cost?", history) == "How does a lidar measure distance – What does it cost?"
    assert complete("Explain that more simply", history) == "How does a lidar measure distance – How fast does it turn?"


def test_a_new_subject_takes_the_place_of_the_old_one() -> None:
    """A question that stands alone begins a new thread."""
    history = conversation("What is a node?", "A process.", "How does a lidar measure distance?", "By light.")
    assert complete("Is it fast?", history) == "How does a lidar measure distance – Is it fast?"
