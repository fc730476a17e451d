"""The model is asked to say one passage in fewer words, and nothing else."""

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import pytest
from tests.answer.book import chunk, unit

from lutrin.answer.prompt import CHOICES, MAX_WORDS, every_prompt, prompts, warm_request
from lutrin.answer.quote import Quote
from lutrin.records import Unit


def quote(*units: Unit, added: frozenset[int] = frozenset(), chunk_id: str = "c1") -> Quote:
    """Units of one page, quoted together."""
    return Quote(chunk=chunk(*units, chunk_id=chunk_id), units=units, score=0.9, added=added)


def passages(quotes: Sequence[Quote], *scores: Sequence[float]) -> list[str]:
    """What the model may be given of quotes whose units have these scores, the best first."""
    places = {
        (said.chunk.chunk_id, unit.char_start): score
        for said, each in zip(quotes, scores, strict=False)
        for unit, score in zip(said.units, each, strict=True)
    }
    return [prompt[-1].content.removeprefix("Passage: ") for prompt in prompts(quotes, places)]


def test_all_prompts_begin_alike() -> None:
    """Instructions and examples are computed before the first reader comes."""
    (asked,) = prompts([quote(unit("The arm lifts 2 kg."))], {})
    assert asked[:-1] == warm_request().messages[:-1]
    assert asked[-1].content == "Passage: The arm lifts 2 kg."


def test_the_passage_is_the_unit_that_answers_best_and_what_follows_it() -> None:
    """At most as many words as one or two sentences; if the model fails at both together, the first one alone."""
    texts = ("Batteries are heavy.", "The arm is light.", "It lifts a load of 2 kg.", "word " * MAX_WORDS)
    units = [unit(text, start=40 * n) for n, text in enumerate(texts)]
    assert passages([quote(*units)], (0.2, 0.7, 0.9, 0.1)) == [
        "The arm is light. It lifts a load of 2 kg.",
        "The arm is light.",
    ]
    assert passages([quote(units[2])]) == [], "what it is stands elsewhere"


def test_sentences_that_answer_nearly_as_well_stand_by() -> None:
    """For when the model fails at the best one: those of the best quote; what answers worse would lead away."""
    texts = ("The arm is light,", "The leg is heavy,", "Batteries are flat,")
    units = [unit(f"{text}{' word' * MAX_WORDS}.", start=400 * n) for n, text in enumerate(texts)]
    other = quote(unit("The head turns."), chunk_id="c2")
    said = passages([quote(*units), other], (0.85, 0.9, 0.5), (0.9,))
    assert [text[: len(texts[0])] for text in said] == [texts[1], texts[0]]
    open_ = quote(unit("The torque is:"), chunk_id="c3")
    assert passages([open_, other], (0.9,), (0.8,)) == ["The head turns."]
    item = quote(unit("Turn the head.", kind="list_item"), chunk_id="c4")
    assert passages([item, other], (0.9,), (0.9,)) == [], "a step is no reason to say something else"
    assert passages([open_, replace(other, score=0.5)], (0.9,), (0.8,)) == []
    many = [unit(f"The arm has {n} joints.", start=40 * n) for n in range(2 * CHOICES)]
    assert len(passages([quote(*many)], [0.9] * len(many))) == CHOICES


def test_items_that_only_complete_a_list_are_not_said_first() -> None:
    """Those that were found answer the question, with what announces the list; one alone is no news."""
    units = [
        unit(text, start=40 * n, kind="list_item", lead="To start the robot:")
        for n, text in enumerate(("a charge;", "an open valve;", "a button."))
    ]
    said = quote(*units, added=frozenset({0}))
    assert passages([said], (0.9, 0.5, 0.4)) == ["To start the robot: an open valve; a button."]
    assert passages([quote(units[1])]) == []


def test_a_procedure_is_left_to_speak_for_itself() -> None:
    """The model would say two steps of seven, before the list that has them all in their order."""
    units = [unit(f"{n}. Open the valve {n}.", start=40 * n, kind="list_item", lead="In order:") for n in (1, 2, 3)]
    assert passages([quote(*units)], (0.5, 0.9, 0.8)) == []
    assert list(every_prompt(chunk(*units))) == []


def test_a_table_is_left_to_speak_for_itself() -> None:
    """A small model makes wrong sentences of its rows; code is shown as it stands."""
    row = quote(unit("Camera | 2 m", kind="table_row", lead="Sensor | Depth"))
    code = quote(unit("arm.move()\n", kind="code"))
    prose = quote(unit("The camera sees 2 m deep."))
    other = quote(unit("The camera sees 2 m deep."), chunk_id="c2")
    assert passages([row, other]) == []
    assert passages([row, replace(prose, score=0.8)]) == []
    # What stands beside it and answers as well may be said.
    assert passages([row, prose]) == ["The camera sees 2 m deep."]
    assert passages([code]) == []
    assert passages([code, prose]) == ["The camera sees 2 m deep."]


def test_what_readers_may_want_said_is_known_beforehand() -> None:
    """Each sentence that stands alone begins a passage, by itself and with what follows; lists come whole."""
    needs = [
        unit(text, start=200 + 40 * n, kind="list_item", lead="To start the robot:", block=1)
        for n, text in enumerate(("a charge;", "an open valve."))
    ]
    texts = ("The arm is light.", "It lifts 2 kg.", "The leg is heavy.")
    page = chunk(*[unit(text, start=40 * n) for n, text in enumerate(texts)], *needs)
    assert [prompt[-1].content for prompt in every_prompt(page)] == [
        "Passage: The arm is light. It lifts 2 kg. The leg is heavy.",
        "Passage: The arm is light.",
        "Passage: The leg is heavy.",
        "Passage: To start the robot: a charge; an open valve.",
    ]
    whole = Quote(chunk=page, units=page.units[:3], score=0.9)
    assert set(prompts([whole], {})) <= set(every_prompt(page))


@pytest.mark.parametrize("text", ["either as tokens, or as numbers.", "The depth is wrong by", "The torque is:"])
def test_what_is_no_whole_sentence_is_not_said(text: str) -> None:
    """The model would make up its beginning, or the formula that follows; a name of code may begin one."""
    assert passages([quote(unit(text))]) == []
    assert list(every_prompt(chunk(unit(text)))) == []
    assert passages([quote(unit("ros2_control reads the joints."))]) == ["ros2_control reads the joints."]


def test_what_only_asks_is_not_said() -> None:
    """Neither the book's questions nor its exercises say anything."""
    asking = chunk(unit("How heavy is the arm?"), unit("It weighs 2 kg.", start=40))
    assert list(every_prompt(asking)) == []
    assert passages([quote(*asking.units)], (0.9, 0.8)) == []
    exercises = msgspec.structs.replace(chunk(unit("Start the arm.")), heading_path=("Arms", "Exercises"))
    assert list(every_prompt(exercises)) == []


def test_a_passage_reads_the_same_whatever_stands_above_it_in_an_answer() -> None:
    """The name of what a sentence is about is part of the passage, shown in the answer or not."""
    told = unit("Shows all topics.")
    page = chunk(told)
    page = msgspec.structs.replace(page, heading_path=("Tools", "topic_list"))
    (ahead,) = every_prompt(page)
    assert ahead[-1].content == "Passage: topic_list: Shows all topics."
    assert prompts([Quote(chunk=page, units=(told,), score=0.9)], {}) == [ahead]
