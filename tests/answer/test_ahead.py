"""While nobody asks the model says the books; readers find its sentences, and are never in its way."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from tests.answer.book import english

from lutrin.adapters.fakes import WordHashEmbedder
from lutrin.adapters.fakes_generator import ScriptedGenerator
from lutrin.answer.ahead import ReadAhead
from lutrin.answer.flow import AnswerFlow
from lutrin.answer.sayings import Sayings
from lutrin.answer.traffic import Traffic
from lutrin.errors import GeneratorUnavailable
from lutrin.index.shelf import Shelf
from lutrin.records import Answer, DoneEvent, Mode, Question
from lutrin.retrieve.search import Searcher
from lutrin.settings import Settings
from lutrin.wiring_parts import in_background

BATTERY = "How many watt hours does the battery of Kestrel store?"
SENTENCE = "The battery of Kestrel stores 480 watt hours."


def said(texts: Sequence[str]) -> str:
    """A model that says the first sentence of a passage once more, in other words."""
    first = texts[-1].removeprefix("Passage: ").partition(". ")[0].rstrip(".")
    return f"In the book: {first}." if "480" not in first else "Kestrel stores 480 watt hours in its battery."


@pytest.fixture
def sayings(tmp_path: Path) -> Iterator[Sayings]:
    """Nothing is said yet."""
    opened = Sayings(tmp_path / "said.db", "scripted")
    yield opened
    opened.close()


def flow_of(shelf: Shelf, settings: Settings, generator: ScriptedGenerator, sayings: Sayings | None) -> AnswerFlow:
    """A flow that keeps what its model says."""
    return AnswerFlow(
        shelf=shelf,
        searcher=Searcher(WordHashEmbedder()),
        language=english(),
        settings=settings,
        generator=generator,
        sayings=sayings,
    )


def ahead_of(shelf: Shelf, generator: ScriptedGenerator, sayings: Sayings, traffic: Traffic) -> ReadAhead:
    """Goes on a tenth of a second after the last reader."""
    return ReadAhead(shelf, generator, sayings, traffic, answer_tokens=96, quiet_s=0.1)


def content_of(folder: Path) -> bytes:
    """Every byte that is kept."""
    return b"".join(path.read_bytes() for path in folder.glob("said.db*"))


async def until(happened: Callable[[], bool]) -> None:
    """Wait until something is so, twenty seconds at most."""
    async with asyncio.timeout(20):
        while not happened():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


async def answer_to(flow: AnswerFlow, text: str, *, selected_text: str = "", mode: Mode | None = None) -> Answer:
    """The last event's answer."""
    question = Question(text=text, selected_text=selected_text, mode=mode)
    (done,) = [event async for event in flow.answer(question) if isinstance(event, DoneEvent)]
    return done.answer


async def test_what_was_said_ahead_needs_no_model_any_more(
    shelf: Shelf, flow_settings: Settings, sayings: Sayings
) -> None:
    """The sentence is checked like any other, and comes even while the model is away."""
    generator = ScriptedGenerator(said)
    ahead = ahead_of(shelf, generator, sayings, Traffic())
    pages: list[tuple[int, int]] = []
    await ahead.finish(lambda done, of: pages.append((done, of)))
    assert pages[-1] == ahead.pages == (5, 5)
    asked = len(generator.requests)
    generator.away = True
    answer = await answer_to(flow_of(shelf, flow_settings, generator, sayings), BATTERY)
    assert answer.kind == "generated"
    assert answer.answer.startswith("Kestrel stores 480 watt hours in its battery. [1]")
    assert answer.model_used == "scripted"
    assert answer.warnings == ()
    assert len(generator.requests) == asked


async def test_nothing_is_said_twice(shelf: Shelf, flow_settings: Settings, sayings: Sayings) -> None:
    """Not after a restart, and not what a reader has had said."""
    generator = ScriptedGenerator(said)
    await answer_to(flow_of(shelf, flow_settings, generator, sayings), BATTERY)
    await ahead_of(shelf, generator, sayings, Traffic()).finish()
    texts = [request.messages[-1].content for request in generator.requests]
    assert len(texts) == len(set(texts)) > 5
    await ahead_of(shelf, generator, sayings, Traffic()).finish()
    assert len(generator.requests) == len(texts)


async def test_a_reader_interrupts_it(shelf: Shelf, flow_settings: Settings, sayings: Sayings) -> None:
    """At once; when the reader is gone it goes on where it was, and comes to the end."""
    generator = ScriptedGenerator(said, pause_s=0.02)
    flow = flow_of(shelf, flow_settings, generator, sayings)
    ahead = ahead_of(shelf, generator, sayings, flow.traffic)
    async with in_background(ahead.run(), name="read-ahead"):
        await until(lambda: generator.active > 0)
        with flow.traffic.searching():
            await asyncio.sleep(0.05)
            assert generator.active == 0
            asked = len(generator.requests)
            await asyncio.sleep(0.3)
            assert len(generator.requests) == asked
        await until(lambda: ahead.pages == (5, 5))


async def test_a_model_that_is_away_is_waited_for(shelf: Shelf, sayings: Sayings) -> None:
    """What it said before is kept."""
    generator = ScriptedGenerator(said)
    ahead = ahead_of(shelf, generator, sayings, Traffic())

    def falls_over(texts: Sequence[str]) -> str:
        if len(generator.requests) > 3:
            generator.away = True
        return said(texts)

    generator._script = falls_over
    with pytest.raises(GeneratorUnavailable):
        await ahead.finish()
    generator._script, generator.away = said, False
    before = len(generator.requests)
    await ahead.finish()
    assert ahead.pages == (5, 5)
    assert before > 3


async def test_what_a_reader_selected_is_kept_nowhere(
    shelf: Shelf, flow_settings: Settings, sayings: Sayings, tmp_path: Path
) -> None:
    """It may be a private note; nor does the file hold anything of a question."""
    generator = ScriptedGenerator(lambda texts: texts[-1].removeprefix("Passage: "))
    flow = flow_of(shelf, flow_settings, generator, sayings)
    needle = "The zanzibar needle is red."
    await answer_to(flow, "What is the colour of the zanzibar needle?", selected_text=needle, mode="selection")
    assert generator.requests
    await answer_to(flow, BATTERY)
    sayings.close()
    content = content_of(tmp_path)
    assert b"zanzibar" not in content
    assert b"How many" not in content
    assert b"480" in content


async def test_what_was_looked_through_is_not_looked_through_again(
    shelf: Shelf, sayings: Sayings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every page of every book would be looked up every ten seconds for nothing."""
    monkeypatch.setattr("lutrin.answer.ahead.POLL_S", 0.01)
    ahead = ahead_of(shelf, ScriptedGenerator(said), sayings, Traffic())
    looks: list[int] = []
    finish = ahead.finish

    async def counted() -> None:
        looks.append(len(looks))
        await finish()

    monkeypatch.setattr(ahead, "finish", counted)
    async with in_background(ahead.run(), name="read-ahead"):
        await until(lambda: ahead.pages == (5, 5))
        await asyncio.sleep(0.2)
    assert looks == [0]
