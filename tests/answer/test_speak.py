"""Which passage the model says, and what becomes of it."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.answer.book import chunk, evidence, unit

from lutrin import messages
from lutrin.adapters.fakes_generator import ScriptedGenerator
from lutrin.answer.compose import Verified
from lutrin.answer.draft import Draft
from lutrin.answer.prompt import prompts
from lutrin.answer.quote import Quote
from lutrin.answer.sayings import Sayings
from lutrin.answer.speak import Speaker
from lutrin.answer.traffic import CROWD, Traffic
from lutrin.records import Question
from lutrin.retrieve.search import Found, Part
from lutrin.settings import Settings, load_settings

TEXTS = ("The arm of Wren lifts two kilograms, which is little.", "The arm of Wren has six joints, which is much.")
SHORT = ("The arm of Wren lifts two kilograms.", "The arm of Wren has six joints.")
PAGE = chunk(*[unit(text, start=100 * n) for n, text in enumerate(TEXTS)])
QUOTES = [Quote(chunk=PAGE, units=PAGE.units, score=0.9)]
SCORES = (0.9, 0.89)
FOUND = Found(passages=(), parts=(Part("", evidence(PAGE, *SCORES)),), odds=1.0)
BEST, ALONE, SECOND = prompts(QUOTES, {(PAGE.chunk_id, 100 * n): score for n, score in enumerate(SCORES)})


@pytest.fixture
def sayings(tmp_path: Path) -> Iterator[Sayings]:
    """Nothing is said yet."""
    opened = Sayings(tmp_path / "said.db", "scripted")
    yield opened
    opened.close()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Three seconds for an answer."""
    return load_settings(data_dir=tmp_path)


async def spoken(
    generator: ScriptedGenerator, settings: Settings, sayings: Sayings | None, traffic: Traffic | None = None
) -> tuple[list[str], Draft]:
    """What a reader is told, and what is known of it then."""
    text = "What can the arm do?"
    started = time.monotonic()
    draft = Draft(question=Question(text=text), text=text, typed=text, selected_text="", mode="book", started=started)
    speaker = Speaker(generator, settings, traffic or Traffic(), time.monotonic, sayings)
    events = [event async for event in speaker.sentences(draft, QUOTES, FOUND)]
    return [event.text for event in events if isinstance(event, Verified)], draft


async def test_the_best_passage_is_said(settings: Settings, sayings: Sayings) -> None:
    """And kept, so that the next reader hears the same."""
    generator = ScriptedGenerator(lambda _: SHORT[0])
    assert (await spoken(generator, settings, sayings))[0] == [SHORT[0]]
    assert await sayings.known([BEST, SECOND]) == {BEST: [SHORT[0]]}
    generator.away = True
    told, draft = await spoken(generator, settings, sayings)
    assert told == [SHORT[0]]
    assert draft.prompt == BEST
    assert draft.warnings == []


@pytest.mark.parametrize("failure", [["Penguins fly."], []])
async def test_the_next_one_has_the_place_of_one_that_the_model_fails_at(
    settings: Settings, sayings: Sayings, failure: list[str]
) -> None:
    """What does not hold is not said; another passage answers nearly as well."""
    await sayings.keep(BEST, failure)
    await sayings.keep(ALONE, failure)
    await sayings.keep(SECOND, [SHORT[1]])
    generator = ScriptedGenerator()
    told, draft = await spoken(generator, settings, sayings)
    assert told == [SHORT[1]]
    assert draft.prompt == SECOND
    assert generator.requests == []


async def test_one_passage_is_asked_for_at_most(settings: Settings, sayings: Sayings) -> None:
    """The deadline is the reader's; what the model said before costs nothing and may follow."""
    generator = ScriptedGenerator(lambda _: "Penguins fly.")
    assert (await spoken(generator, settings, sayings))[0] == []
    assert [request.messages for request in generator.requests] == [BEST]
    await sayings.keep(SECOND, [SHORT[1]])
    assert (await spoken(generator, settings, sayings))[0] == [SHORT[1]]


async def test_without_a_place_for_it_nothing_is_kept(settings: Settings) -> None:
    """Each reader has it said anew."""
    generator = ScriptedGenerator(lambda _: SHORT[0])
    for _ in range(2):
        assert (await spoken(generator, settings, None))[0] == [SHORT[0]]
    assert len(generator.requests) == 2


@pytest.mark.parametrize(("others", "gives_up"), [(CROWD, True), (CROWD // 2, False)])
async def test_who_waits_for_the_model_while_a_crowd_is_served_gives_up(
    tmp_path: Path, sayings: Sayings, others: int, gives_up: bool
) -> None:
    """Nobody in a class waits over twice as long as the others; beside a few the whole deadline is used."""
    traffic = Traffic()
    for _ in range(others):
        with traffic.answering(time.monotonic()):
            pass
    generator = ScriptedGenerator(lambda _: SHORT[0], pause_s=0.1)
    with traffic.answering(time.monotonic()):
        told, draft = await spoken(generator, load_settings(data_dir=tmp_path, deadline_s=60), sayings, traffic)
    assert (told == []) is gives_up
    assert (draft.warnings == [messages.PAST_DEADLINE]) is gives_up
    assert generator.active == 0
    assert (await sayings.known([BEST]) == {}) is gives_up
