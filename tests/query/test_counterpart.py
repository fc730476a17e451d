"""A follow-up that only names something is the question before, asked of that."""

import pytest
from tests.answer.book import english
from tests.fakes import WordHashEmbedder

from lutrin.query.understand import Query, in_its_place, understand
from lutrin.records import ChatMessage, Question, Role

BEFORE = "How hot does the copper oven get on a brick floor?"
EMBEDDER = WordHashEmbedder()


def asked(text: str, selected_text: str = "") -> Query:
    """A question after another one that was answered."""
    said: list[tuple[Role, str]] = [("user", BEFORE), ("assistant", "It gets 280 °C hot.")]
    history = [
        ChatMessage(id=str(n), session_id="s", role=role, text=one, created="") for n, (role, one) in enumerate(said)
    ]
    question = Question(text=text, selected_text=selected_text)
    return understand(question, history=history, language=english(), embedder=EMBEDDER)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("And the copper kettle?", "How hot does the copper kettle get on a brick floor?"),
        ("what about on a steel floor", "How hot does the copper oven get on a steel floor?"),
        ("And the steel one?", "How hot does the steel oven get on a brick floor?"),
    ],
)
async def test_a_name_takes_the_place_of_what_is_most_like_it(text: str, whole: str) -> None:
    """It stands alone then, and leans on nothing."""
    query = await in_its_place(asked(text), EMBEDDER.encode)
    assert query.text == whole
    assert (query.subject, query.follows, query.answers, query.added) == ("", (), (), "")


@pytest.mark.parametrize("text", ["And how is it cleaned?", "And why?", "What does a kettle cost?"])
async def test_what_says_more_than_a_name_stays_as_it_is(text: str) -> None:
    """For example a question of its own."""
    query = asked(text)
    assert await in_its_place(query, EMBEDDER.encode) == query


async def test_a_marked_text_is_what_is_asked_about() -> None:
    """And not the question before."""
    query = asked("And the copper kettle?", selected_text="The kettle boils water for the dough, twice a night.")
    assert await in_its_place(query, EMBEDDER.encode) == query
