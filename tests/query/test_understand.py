"""A question, understood once."""

import re
import time
from itertools import product

import pytest
from tests.fakes import WordHashEmbedder
from tests.query.test_followup import conversation

from lutrin import messages
from lutrin.errors import InvalidQuestion
from lutrin.language.gate import LanguageGate
from lutrin.query.understand import Query, alone, understand, with_spelling
from lutrin.records import Mode, Question

GATE = LanguageGate(["en"])


def read(text: str, *history: str, selected_text: str = "", mode: Mode | None = None, page: str = "") -> Query:
    """Understand one question."""
    question = Question(text=text, selected_text=selected_text, mode=mode, page=page)
    return understand(question, history=conversation(*history), language=GATE, embedder=WordHashEmbedder())


BEGINNINGS = ("", "if ", "how much ", "for ", "give me ", "no ", "compare ")
REPEATED = ("1", "1 ", "a ", "1a with ", "1+1=", ".", "[a](b)", "oh ", "good ", "please ", "i want to ", "\n- ", "中")
MOST_S = 0.4
"""Of processor time, on a machine that has others; a fifth of that is usual."""


def test_no_question_takes_long_to_understand() -> None:
    """8,000 characters of anything are one part: it runs on the event loop, where seconds would stop all readers."""
    took: dict[tuple[str, str], float] = {}
    for beginning, piece in product(BEGINNINGS, REPEATED):
        text = f"What? {beginning}{piece * 8000}"[6:8006]
        start_s = time.thread_time()
        query = read(f"{text} x", "How far does it drive?", text, text, "So far.")
        took[beginning, piece] = time.thread_time() - start_s
        assert (query.question.text, len(query.parts)) == (f"{text} x", 1)
    assert [one for one, seconds in took.items() if seconds > MOST_S] == []


def test_no_selection_takes_long_either() -> None:
    """16,000 characters, also of a text that is searched for without a question. A long one never replaces `this`."""
    for piece in ("a ", ".", "...' ", "\n", " \n", "if 1 ", "oh "):
        text = (piece * 16_000)[:15_999] + "x"
        start_s = time.thread_time()
        query = read("What does this mean?", selected_text=text)
        alone(Question(text=text))
        assert time.thread_time() - start_s < MOST_S
        assert query.topic == ("What does this mean?" if piece.strip() else "What does x mean?")


def test_nothing_asked_is_said_so() -> None:
    """Blanks, punctuation and invisible characters are no question."""
    for text in ("", "   ", "\n\t", "?!", "\u200b\u200b"):
        with pytest.raises(InvalidQuestion, match=re.escape(messages.EMPTY_QUESTION)):
            read(text)


def test_what_only_names_a_form_is_searched_for_as_it_stands() -> None:
    """A book may have a heading of such words, and a form may be all that a program looks for."""
    for text in ("What is Write the code?", "Write the code", "Show me the code", "Summarise"):
        assert read(text).topic.strip()
        assert alone(Question(text=text)).topic.strip()


def test_a_long_question_is_cut_with_a_warning() -> None:
    """The first 500 words are used, and 500 are not too many."""
    query = read("How does the robot balance? " * 101)
    assert len(query.typed.split()) == 500
    assert query.warnings == (messages.QUESTION_TRUNCATED,)
    assert read(" ".join(["robot"] * 500)).warnings == ()


def test_of_a_long_question_so_many_tokens_are_searched_for() -> None:
    """Its first 200; a question of as many is searched for whole, and the rest is not even read."""
    embedder = WordHashEmbedder()
    for count in (150, 200, 400):
        topic = read(" ".join(f"robot{number}" for number in range(count))).topic
        assert len(embedder.token_offsets(topic)) == min(count, 200)
    long = read(" ".join("robot" * 10 + str(number) for number in range(300))).topic
    assert len(embedder.token_offsets(long)) == 200


def test_invisible_characters_are_removed() -> None:
    """Invisible characters are no part of a question."""
    assert read("What is\u200b a \u202enode?\x00").typed == "What is a node?"


def test_what_names_nothing_is_vague() -> None:
    """Without a conversation, a selection or a page nothing can complete it."""
    for text in ("Tell me more", "Why?", "Simpler please", "What does this mean?", "hi", "ok thanks :)"):
        query = read(text)
        assert query.refusal == "vague"
        assert query.topic


def test_what_names_something_is_not() -> None:
    """One subject is enough; the book itself is one."""
    for text in ("What is ROS 2?", "torque", "What is a topic?", "who are you", "hi, what is a leg?"):
        assert read(text).refusal is None


def test_a_page_or_a_selection_is_what_this_means() -> None:
    """A question that only points is answered from what the reader has before them."""
    assert read("Explain this", page="01-legs.md").refusal is None
    assert read("Explain this", selected_text="A leg has six joints.").refusal is None


def test_another_language_is_refused() -> None:
    """The reason is given, not an answer."""
    assert read("Was ist ein Drehgelenk am Roboter?").refusal == "not_english"


def test_a_selection_means_itself_and_not_the_conversation() -> None:
    """The word "this" means the marked text, not an earlier topic."""
    query = read("What does this line do?", "What is a node?", "A process.", selected_text="node.spin()")
    assert query.text == "What does this line do?"
    assert query.follows == ()
    assert (query.selected_text, query.mode) == ("node.spin()", "selection_boosted")


def test_an_unusable_selection_means_the_whole_book() -> None:
    """The reader is told so where nothing else was to be searched."""
    query = read("What is a node?", selected_text=" … ", mode="selection")
    assert (query.mode, query.selected_text, query.warnings) == ("book", "", (messages.EMPTY_SELECTION,))
    assert read("What is a node?", selected_text=" ").warnings == ()


def test_a_long_selection_is_cut_at_the_end_of_a_sentence() -> None:
    """At most 2000 tokens are read, with a warning."""
    query = read("What is it about?", selected_text="Robots walk on two legs. " * 400)
    assert query.warnings == (messages.SELECTION_TRUNCATED,)
    assert query.selected_text.endswith("legs.")
    assert 1990 < len(WordHashEmbedder().token_offsets(query.selected_text)) <= 2000


def test_a_wish_keeps_the_subject_and_gives_the_frame() -> None:
    """The search text is the subject; the form of the answer is separate."""
    query = read("Can you say this more simply?", "How does a lidar measure distance?", "By light.")
    assert query.frame == "simpler"
    assert query.topic == "How does a lidar measure distance"
    assert query.follows == ("c1",)


def test_what_goes_on_asks_in_the_way_of_the_question_before() -> None:
    """A question like "And the LED?" after a question that asks how asks how."""
    query = read("and the LED?", "How do I wire the button?", "To pin 4.")
    assert (query.frame, query.typed) == ("how", "and the LED?")
    assert query.topic == "How do I wire the button – and the LED"


def test_several_things_are_several_parts() -> None:
    """Each is understandable alone; a comparison is one thing."""
    assert read("Which motor turns the hip, and how does the lidar measure?").parts == (
        "Which motor turns the hip", "how does the lidar measure?",
    )  # fmt: skip
    assert len(read("How does a motor differ from a servo, and what is a gear?").parts) == 1


def test_a_question_is_respelled_as_the_book_has_it() -> None:
    """The search text changes, the reader's text does not."""
    query = with_spelling(read("What is odometery, and how does a lidar turn?"), {"odometery": "odometry"})
    assert query.typed == "What is odometery, and how does a lidar turn?"
    assert query.topic == query.text == "What is odometry, and how does a lidar turn?"
    assert query.parts[0] == "What is odometry"


def test_a_marked_name_stands_for_what_points_at_it() -> None:
    """The question is then one like any other; what is marked and says something stays a selection."""
    query = read("Why is this hardware required?", selected_text="Jetson Orin Nano")
    assert (query.topic, query.selected_text, query.mode) == (
        "Why is Jetson Orin Nano hardware required?", "", "selection_boosted",
    )  # fmt: skip
    assert read("Why is this so?", selected_text="The dough is lost.").selected_text == "The dough is lost."
    assert read("What is this line for?", selected_text="node.spin()").selected_text == "node.spin()"


def test_a_question_that_does_not_point_may_mean_the_marked_name() -> None:
    """The book decides which of the two it answers."""
    query = read("What are the alternatives?", selected_text="Intel RealSense D435i")
    assert query.topic == "What are the alternatives?"
    assert query.leaning is not None
    assert query.leaning.topic == "What are the alternatives – Intel RealSense D435i"
    assert read("What are the alternatives?").leaning is None
