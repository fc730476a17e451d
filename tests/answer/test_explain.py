"""The model's part of an answer: sentences that the passages prove, cited by the displayed numbers."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.answer.book import chunk, unit
from tests.fakes import word_grader
from tests.fakes_generator import ScriptedGenerator

from lutrin.answer.explain import Explainer, Explanation, adds_nothing, sentences_of
from lutrin.answer.grade import RawSentence
from lutrin.answer.plan import Plan
from lutrin.answer.prompt import MARKED, Ability, Prompt, prompt_of
from lutrin.answer.runs import whole
from lutrin.answer.traffic import Traffic
from lutrin.query.frames import frame_of
from lutrin.query.understand import alone
from lutrin.records import Finished, GenerationEvent, GenerationRequest, Piece, Question, Sentence
from lutrin.settings import load_settings

ARM = whole(chunk(unit("The arm of Kestrel lifts a load of 2 kg."), chunk_id="arm", filename="b.md"))
LIDAR = whole(chunk(unit("The lidar of Kestrel does not see glass."), chunk_id="lidar", filename="a.md"))


def plan_of(text: str = "What can Kestrel do?", **fields: Any) -> Plan:
    """The plan of an answer from two sections."""
    query = replace(alone(Question(text=text)), frame=frame_of(text)[0])
    return Plan(query, "Robots", "g", "", reading=((1, ARM), (2, LIDAR)), **fields)


def prompted(plan: Plan) -> Prompt:
    """Its prompt."""
    prompt = prompt_of(plan.query, plan.title, plan.reading)
    assert prompt is not None
    return prompt


async def explained(text: str, plan: Plan | None = None, **settings: Any) -> tuple[Explanation, GenerationRequest]:
    """The result of a model's text, and the request to the model."""
    made = plan or plan_of()
    generator = ScriptedGenerator(lambda _: text)
    explainer = Explainer(generator, word_grader(), load_settings(**settings), Traffic(), clock=lambda: 0.0)
    explanation = Explanation()
    yes = asyncio.create_task(explainer.yes(made, prompted(made), 0.0))
    sent = [item async for item in explainer.sentences(made, prompted(made), 0.0, explanation, yes)]
    assert [item for item in sent if isinstance(item, Sentence)] == explanation.sentences
    return explanation, generator.requests[0]


async def said(text: str) -> Sequence[Sentence]:
    """The sentences of a model's text that are shown."""
    return (await explained(text))[0].sentences


async def test_what_a_passage_proves_is_said_with_its_number() -> None:
    """The one that the model names, if it does prove it; without the model's own markers in the text."""
    assert await said(
        "A load of 2 kg is what the arm of Kestrel lifts [1]. Kestrel's lidar does not see glass [2]."
    ) == [
        Sentence(text="A load of 2 kg is what the arm of Kestrel lifts.", citations=(1,)),
        Sentence(text="Kestrel's lidar does not see glass.", citations=(2,)),
    ]


@pytest.mark.parametrize("number", [" [2]", " [7]", ""])
async def test_a_wrong_number_is_put_right(number: str) -> None:
    """The passage that proves the sentence is cited, and none that is not shown."""
    assert await said(f"Kestrel's arm lifts a load of 2 kg{number}.") == [
        Sentence(text="Kestrel's arm lifts a load of 2 kg.", citations=(1,))
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Kestrel's arm lifts a load of 5 kg. [1]", "another number"),
        ("The arm of Wren lifts a load of 2 kg. [1]", "another name"),
        ("It is known that robots will change the world. [1]", "nothing in common"),
        (f"{MARKED}\nKestrel's arm lifts a load of 2 kg. [1]", "the prompt again"),
    ],
)
async def test_what_is_not_proven_is_dropped(text: str, why: str) -> None:
    """It never reaches the reader."""
    assert await said(text) == [], why


async def test_nothing_is_said_twice() -> None:
    """Neither in the same words nor in others of the same meaning; a denial is another thing."""
    arm = "The arm of Kestrel lifts a load of 2 kg. [1]"
    again = "Kestrel's arm lifts a load of 2 kg. [1]"
    assert [one.text for one in await said(f"{arm} {arm} {again}")] == [arm.removesuffix(" [1]")]
    assert adds_nothing("It lifts a load of 2 kg.", ["The arm lifts a load of 2 kg."])
    assert not adds_nothing("It does not lift a load of 2 kg.", ["The arm lifts a load of 2 kg."])
    assert not adds_nothing("It lifts a load of 3 kg.", ["The arm lifts a load of 2 kg."])
    assert not adds_nothing("Yes.", ["The arm lifts a load of 2 kg."])


async def test_a_list_is_shown_whole_or_not_at_all() -> None:
    """Steps with a gap mislead, and what announces them says nothing alone; a step may be above."""
    lifts, sees, sings = (
        f"{what}." for what in ("The arm of Kestrel lifts 2 kg", "Its lidar sees no glass", "It sings 5 songs")
    )
    announced, glass = "Kestrel does this:", "The lidar of Kestrel does not see glass."
    for text, shown in (
        (f"{announced}\n1. {lifts}\n2. {sees}", [announced, lifts, sees]),
        (f"1. {lifts}\n2. {sees}\n\nThe lidar of Kestrel does not see glass.", [lifts, sees, glass]),
        (f"{announced}\n1. {lifts}\n2. {sings}\n3. {sees}", []),
        (announced, []),
    ):
        assert [one.text for one in await said(text)] == shown, text


async def test_a_list_that_was_cut_off_is_not_shown() -> None:
    """Its last steps would be missing."""
    explanation = Explanation()
    for text in ("Do this:", "Turn."):
        assert not explanation.take(Sentence(text=text), is_item=text == "Turn.")
    assert not explanation.sentences
    assert [one.text for one in explanation.finish_list()] == ["Do this:", "Turn."]
    assert explanation.finish_list() == []


async def test_a_sentence_that_was_cut_is_dropped() -> None:
    """And what comes twice is said once."""
    twice = "Kestrel's arm lifts a load of 2 kg [1]."
    assert len(await said(f"{twice} {twice}")) == 1


async def cut(text: str, pieces: int) -> list[str]:
    """The sentences of a text that a model writes in pieces of so many characters."""

    class Cut(ScriptedGenerator):
        async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:  # noqa: ARG002 - the port's
            for start in range(0, len(text), pieces):
                yield Piece(text[start : start + pieces])
            yield Finished("stop", 1, 1)

    request = GenerationRequest(messages=(), max_tokens=99, deadline_s=9.0)
    found = [item.text async for item in sentences_of(Cut(), request) if isinstance(item, RawSentence)]
    return [one.strip() for one in found]


@pytest.mark.parametrize("pieces", [1, 3, 200])
async def test_what_a_model_thinks_aloud_is_never_shown(pieces: int) -> None:
    """However the stream is cut, and though the passages would prove it."""
    thought = "<think>\nThe arm of Kestrel lifts 2 kg, so a load may be lifted.\n</think>\n\n"
    text = f"{thought}Its arm lifts 2 kg [1]. I think so."
    assert await cut(text, pieces) == ["Its arm lifts 2 kg [1].", "I think so."]


@pytest.mark.parametrize("pieces", [1, 3, 200])
async def test_a_sentence_holds_its_code_and_an_item_of_a_list_is_one(pieces: int) -> None:
    """A full stop in a command ends nothing, nor does the number of a step."""
    code = "```sh\n. ~/install/setup.sh\nls . \n```"
    text = f"Two steps:\n1. Source it:\n{code}\n2. Type `a. B` and wait 3.5 s.\nIt runs."
    steps = [f"1. Source it:\n{code}", "2. Type `a. B` and wait 3.5 s.", "It runs."]
    assert await cut(text, pieces) == ["Two steps:", *steps]


ANALOGY = "Give me an analogy for what Kestrel's arm can do."
OWN = "Kestrel's arm lifts a load of 2 kg [1].\nIn other words:\nIt is like a pupil who carries a bag of sugar."


async def test_an_analogy_is_the_model_s_own_and_says_so() -> None:
    """It is proven by nothing, and only asked for where one is wanted."""
    explanation, request = await explained(OWN, plan_of(ANALOGY))
    assert [(one.support, one.citations) for one in explanation.sentences] == [("stated", (1,)), ("own", ())]
    assert "In other words:" in request.messages[-1].content
    assert "In other words:" not in prompted(plan_of()).messages[-1].content


async def test_own_words_have_bounds() -> None:
    """A school may switch them off, and they never hold facts, commands, or advice on what is dangerous."""
    for text, fields, settings in (
        (OWN, {}, {"own_words": False}),
        (OWN, {"guarded": True}, {}),
        (OWN.replace("a bag", "3 bags"), {}, {}),
        (OWN.replace("sugar", "`ros2 run`"), {}, {}),
        (OWN.replace("Kestrel's arm lifts a load of 2 kg [1].", "Kestrel flies [1]."), {}, {}),
    ):
        explanation, _ = await explained(text, plan_of(ANALOGY, **fields), **settings)
        assert not any(one.support == "own" for one in explanation.sentences)


async def test_a_sum_is_shown_if_its_numbers_are_the_book_s_and_it_is_right() -> None:
    """And what follows may use its result."""
    text = "3 * 2 kg = 6 kg [1]. Kestrel's three arms lift a load of 6 kg [1]."
    asked = "How much do 3 arms of Kestrel lift together?"
    explanation, _ = await explained(text, plan_of(asked))
    assert explanation.sentences[0] == Sentence(text="3 * 2 kg = 6 kg.", citations=(1,))
    for wrong in ("3 * 2 kg = 7 kg [1].", "4 * 2 kg = 8 kg [1]."):
        assert (await explained(wrong, plan_of(asked)))[0].sentences == []


async def test_waiting_is_the_reader_s_and_the_setting_s() -> None:
    """A program waits as long as it says, at most as the settings do; what a reader follows is not cut by a clock."""
    for question, least, most in (
        (Question(text="What?"), 500.0, 600.0),
        (Question(text="What?", wait_s=2.0), 1.5, 2.0),
        (Question(text="What?", wait_s=999.0), 100.0, 120.0),
        (Question(text="What?", wait_s=0.0), 2.0, 3.0),
    ):
        _, request = await explained("Nothing.", Plan(alone(question), "Robots", "g", "", reading=((1, ARM),)))
        assert least <= request.deadline_s <= most, question


async def test_the_model_is_stopped_where_it_copies_what_stands_above() -> None:
    """The reader has read it; what the model said before stands."""
    copied = "The arm of Kestrel lifts a load of 2 kg and holds it."
    text = f"Kestrel's lidar does not see glass [2]. {copied} Kestrel's arm lifts a load of 2 kg."
    made = plan_of()
    generator = ScriptedGenerator(lambda _: text)
    explainer = Explainer(generator, word_grader(), load_settings(), Traffic(), clock=lambda: 0.0)
    explanation = Explanation(above=("", copied))
    yes = asyncio.create_task(explainer.yes(made, prompted(made), 0.0))
    sent = [item async for item in explainer.sentences(made, prompted(made), 0.0, explanation, yes)]
    assert [item.text for item in sent if isinstance(item, Sentence)] == ["Kestrel's lidar does not see glass."]
    assert generator.active == 0


async def test_an_answer_is_as_long_as_it_may_be() -> None:
    """By the settings, by the model's tier, and by the reader's program."""
    asked = Plan(alone(Question(text="What?", answer_tokens=40)), "Robots", "g", "", reading=((1, ARM),))
    assert (await explained("Nothing.", asked))[1].max_tokens == 40
    assert (await explained("Nothing.", answer_tokens=64))[1].max_tokens == 64
    assert (await explained("Nothing."))[1].max_tokens == Ability().answer_tokens
