"""What the model is asked: what all share first, the passages in the book's order, the question last."""

from dataclasses import replace
from typing import cast, get_args

import msgspec
import pytest
from tests.answer.book import chunk, unit

from lutrin.answer.ability import Ability
from lutrin.answer.plan import Plan
from lutrin.answer.prompt import TASKS, Prompt, prompt_of
from lutrin.query.frames import Frame
from lutrin.query.understand import alone
from lutrin.records import SELECTED, ChatMessage, Question

ARM = chunk(unit("The arm of Kestrel lifts a load of 2 kg."), chunk_id="arm", filename="b.md")
LIDAR = chunk(unit("The lidar of Kestrel does not see glass."), chunk_id="lidar", filename="a.md")


def made(text: str = "What can Kestrel do?", *, ability: Ability | None = None, **fields: object) -> Prompt:
    """The prompt of a question about both passages."""
    query = replace(alone(Question(text=text)), **fields)  # type: ignore[arg-type]  # fields of Query
    prompt = prompt_of(Plan(query, "Robots", "g", "", shown=((1, ARM), (2, LIDAR))), ability or Ability())
    assert prompt is not None
    return prompt


def test_what_all_prompts_share_comes_first() -> None:
    """Rules, then the passages in the order of the book, then the question: so that little is computed anew."""
    system, user = made().messages
    other, _ = made("Does it see glass?").messages
    assert system == other
    assert "Robots" in system.content
    assert user.content.index("[2]") < user.content.index("[1]") < user.content.index("Question: What can Kestrel do?")


def test_every_kind_of_question_has_its_task() -> None:
    """But those about the book itself and quizzes, which no model answers."""
    assert set(get_args(Frame)) - set(TASKS) == {"about", "quiz"}
    tasks = {frame: made(frame=frame).messages[-1].content.splitlines()[-1] for frame in TASKS}
    assert len(set(tasks.values())) == len(TASKS)


def test_the_conversation_and_what_is_marked_stand_before_the_question() -> None:
    """In one paragraph with it, so that passages are left out before they are; without markers of citations."""
    turns = [
        ChatMessage(id=str(n), session_id="s", role=cast("object", role), text=text, created="")  # type: ignore[arg-type]  # of two roles
        for n, (role, text) in enumerate([("user", "What is Kestrel?"), ("assistant", "A robot. [1] " + "long " * 200)])
    ]
    query = replace(
        alone(Question(text="And its arm?")), text="What is Kestrel? And its arm?", selected_text="The arm\n\nlifts."
    )
    prompt = prompt_of(Plan(query, "Robots", "g", "", shown=((1, ARM),)), Ability(), turns)
    assert prompt is not None
    last = prompt.messages[-1].content.split("\n\n")[-1]
    lines = last.splitlines()
    assert lines[0] == "The conversation so far:"
    assert lines[1] == "Pupil: What is Kestrel?"
    assert lines[2].startswith("Tutor: A robot.  long") or lines[2].startswith("Tutor: A robot. long")
    assert len(lines[2].split()) <= 62
    assert lines[3:6] == ["The pupil has marked this text:", "The arm", "lifts."]
    assert lines[6] == "Question: And its arm?"


def test_a_selection_that_is_the_passage_is_not_shown_twice() -> None:
    """In the mode in which it alone is context."""
    page = msgspec.structs.replace(ARM, chunk_id=SELECTED, text="The arm lifts.")
    query = replace(alone(Question(text="Why?")), selected_text="The arm lifts.", mode="selection")
    prompt = prompt_of(Plan(query, "Robots", "g", "", shown=((1, page),)), Ability())
    assert prompt is not None
    assert prompt.messages[-1].content.count("The arm lifts.") == 1
    assert "[1] marked by the pupil: The arm lifts." in prompt.messages[-1].content


def test_a_small_model_gets_the_best_passage_alone() -> None:
    """As many as its prompt has room for, the likeliest ones; it cites only what it was shown."""
    prompt = made(ability=Ability(prompt_tokens=150))
    assert [number for number, _ in prompt.shown] == [1]
    assert "[2]" not in prompt.messages[-1].content


@pytest.mark.parametrize("tokens", [100, 200, 1000])
def test_a_long_passage_is_cut_to_the_room(tokens: int) -> None:
    """And keeps its lines, which in code are half of what it says."""
    code = "\n".join(f"line_{n} = {n}" for n in range(400))
    page = msgspec.structs.replace(ARM, text=code)
    plan = Plan(alone(Question(text="What does it do?")), "Robots", "g", "", shown=((1, page),))
    prompt = prompt_of(plan, Ability(prompt_tokens=tokens))
    assert prompt is not None
    user = prompt.messages[-1].content
    assert "line_0 = 0\nline_1 = 1" in user or tokens == 100
    assert len(user.split()) <= max(tokens, 60)
