"""What the model adds: sentences that the passages prove, in its own words, cited by the numbers that are shown."""

from collections.abc import Sequence

import pytest
from tests.answer.book import chunk, unit

from lutrin.adapters.fakes_generator import ScriptedGenerator
from lutrin.answer.explain import Explained, Explainer, prompt_of
from lutrin.answer.plan import Plan
from lutrin.answer.traffic import Traffic
from lutrin.query.understand import alone
from lutrin.records import Question, QueuedEvent
from lutrin.settings import load_settings

ARM = chunk(unit("The arm of Kestrel lifts a load of 2 kg."), chunk_id="arm", filename="b.md")
LIDAR = chunk(unit("The lidar of Kestrel does not see glass."), chunk_id="lidar", filename="a.md")
SHOWN = ((1, ARM), (2, LIDAR))


def plan_of(text: str = "What can Kestrel do?") -> Plan:
    """Of an answer that may rest on two passages."""
    return Plan(alone(Question(text=text)), "Robots", "g", "", shown=SHOWN)


async def said(text: str) -> Sequence[Explained | QueuedEvent]:
    """What of a model's text is let through."""
    made = plan_of()
    explainer = Explainer(ScriptedGenerator(lambda _: text), load_settings(), Traffic(), clock=lambda: 0.0)
    return [item async for item in explainer.sentences(made, prompt_of(made), 0.0, [])]


async def test_what_a_passage_proves_is_said_with_its_number() -> None:
    """The one that the model names, if it does prove it; without the model's own markers in the text."""
    assert await said("A load of 2 kg can be lifted by Kestrel's arm [1]. Kestrel's lidar does not see glass [2].") == [
        Explained("A load of 2 kg can be lifted by Kestrel's arm.", (1,)),
        Explained("Kestrel's lidar does not see glass.", (2,)),
    ]


@pytest.mark.parametrize("number", [" [2]", " [7]", ""])
async def test_a_wrong_number_is_put_right(number: str) -> None:
    """The passage that proves the sentence is cited, and none that is not shown."""
    assert await said(f"Kestrel's arm lifts a load of 2 kg{number}.") == [
        Explained("Kestrel's arm lifts a load of 2 kg.", (1,))
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("The arm of Kestrel lifts a load of 2 kg. [1]", "a copy of the book is an excerpt"),
        ("Kestrel's arm lifts a load of 5 kg. [1]", "another number"),
        ("Kestrel's lidar does see glass. [2]", "a denial lost"),
        ("Wren's arm lifts a load of 2 kg. [1]", "another name"),
        ("It is known that robots will change the world. [1]", "nothing in common"),
        ("NOT IN THE BOOK.", "the model says that it does not know"),
    ],
)
async def test_what_is_not_proven_is_dropped(text: str, why: str) -> None:
    """It never reaches the reader."""
    assert await said(text) == [], why


async def test_a_sentence_that_was_cut_is_dropped() -> None:
    """And what comes twice is said once."""
    twice = "Kestrel's arm lifts a load of 2 kg [1]."
    assert len(await said(f"{twice} {twice}")) == 1


def test_the_prompt_begins_with_what_all_prompts_share() -> None:
    """Rules, then the passages in the order of the book, then the question: so that the model computes little anew."""
    system, user = prompt_of(plan_of())
    other, _ = prompt_of(plan_of("Does it see glass?"))
    assert system == other
    assert user.content.index("[2]") < user.content.index("[1]") < user.content.index("Question: What can Kestrel do?")
