"""Durations of an answer's stages: measured for listeners, counted for operators."""

import re
import time
from collections.abc import AsyncGenerator, Sequence

import httpx
import pytest
from tests.fakes import WordHashEmbedder

from lutrin import __version__, stages
from lutrin.answer.explain import timed_stream
from lutrin.errors import DeadlineExceeded, GeneratorUnavailable, QueueFull
from lutrin.records import (
    AnswerEvent,
    Finished,
    Forecast,
    GenerationEvent,
    GenerationRequest,
    Message,
    Piece,
    Question,
    Queued,
)
from lutrin.search.search import Searcher
from lutrin.serve.answer_service import Timings
from lutrin.serve.metrics import Metrics

from .conftest import House, Serve
from .scripted import ScriptedAnswers

REQUEST = GenerationRequest(messages=(Message(role="user", content="Q"),), max_tokens=8, deadline_s=1.0)


class Writing:
    """A generator that plays events, or fails before the first."""

    name = "writing"

    def __init__(self, *events: GenerationEvent, failure: Exception | None = None) -> None:
        self._events = events
        self._failure = failure

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Play them."""
        assert request == REQUEST
        if self._failure is not None:
            raise self._failure
        for event in self._events:
            yield event

    async def ready(self) -> bool:
        """It is."""
        return True

    def forecast(self, request: GenerationRequest) -> Forecast | None:
        """Know nothing."""

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Nothing is read before it is asked for."""

    def hold(self, waiting: int) -> None:
        """Nothing is computed here."""

    async def close(self) -> None:
        """Nothing to end."""


async def test_the_model_s_wait_and_words_are_told_apart() -> None:
    """Up to the first piece it is `queue`, from there on `write`; how it ended is noted."""
    heard = Timings(Metrics())
    inner = Writing(Queued(1, 0.1), Piece("A"), Piece("b."), Finished("stop", 5, 2))
    with stages.listening(heard):
        events = [event async for event in timed_stream(inner, REQUEST)]
    assert len(events) == 4
    assert set(heard.work_ms()) == {"queue", "write"}
    assert heard.facts == {"model_end": "stop"}


@pytest.mark.parametrize(
    ("failure", "outcome"),
    [(QueueFull("full"), "full"), (DeadlineExceeded("late"), "deadline"), (GeneratorUnavailable("killed"), "away")],
)
async def test_a_model_that_does_not_write_is_noted(failure: Exception, outcome: str) -> None:
    """The wait counts although nothing came of it, and the error travels on."""
    heard = Timings(Metrics())
    with stages.listening(heard), pytest.raises(type(failure)):
        [event async for event in timed_stream(Writing(failure=failure), REQUEST)]
    assert set(heard.work_ms()) == {"queue"}
    assert heard.facts == {"model_end": outcome}


async def test_encodings_are_timed() -> None:
    """A question's way into vectors is the stage `embed`; without a listener nothing happens besides."""
    heard = Timings(Metrics())
    with stages.listening(heard):
        await Searcher(WordHashEmbedder()).encode(["a word"])
    assert set(heard.work_ms()) == {"embed"}


class Staged(ScriptedAnswers):
    """Scripted answers that name two stages."""

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Search, then play the events."""
        with stages.stage("search"):
            time.sleep(0.01)  # noqa: ASYNC251 - the time that is measured
        stages.note("cache", "miss")
        async for event in super().answer(question):
            yield event


async def test_stages_reach_the_meters(serve: Serve, house: House) -> None:
    """A histogram for each stage, a count for each fact."""
    house.answers = Staged()
    async with serve() as client:
        await client.post("/chat", json={"session_id": "s1", "message": "Q"})
        text = (await client.get("/metrics")).text
    assert 'lutrin_work_seconds_count{work="search"} 1.0' in text
    assert 'lutrin_work_seconds_count{work="store"} 1.0' in text
    assert 'lutrin_work_seconds_bucket{le="0.01",work="search"} 0.0' in text
    assert 'lutrin_answer_facts_total{fact="cache",value="miss"} 1.0' in text


async def test_refusals_and_the_queue_are_metered(client: httpx.AsyncClient) -> None:
    """Kinds and refusals are labels, the queue is a gauge, refusals by the rate are counted."""
    await client.post("/chat", json={"session_id": "s1", "message": "Q"})
    text = (await client.get("/metrics")).text
    assert 'lutrin_questions_total{kind="generated",refusal="none",surface="chat"} 1.0' in text
    assert "lutrin_queue_length 0.0" in text
    assert "lutrin_rate_limited_total 0.0" in text


async def test_the_state_of_the_server_is_metered(client: httpx.AsyncClient) -> None:
    """What runs, how much memory and disk there is, how often the model was started, how long each route takes."""
    await client.get("/health")
    text = (await client.get("/metrics")).text
    assert f'lutrin_build_info{{version="{__version__}"}} 1.0' in text
    assert 'lutrin_http_seconds_count{operation="health"} 1.0' in text
    assert "lutrin_model_restarts 0.0" in text
    assert "lutrin_passage_tokens_saved 0.0" in text
    for name in ("lutrin_memory_bytes", "lutrin_disk_free_bytes"):
        (value,) = re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)
        assert float(value) > 1e6


async def test_figures_can_be_kept_for_the_administrator(serve: Serve) -> None:
    """`LUTRIN_METRICS=token` requires the administration token; without a token set, all requests are refused."""
    token = "a-token-of-an-administrator"
    async with serve(metrics="token", admin_token=token) as client:
        assert (await client.get("/metrics")).status_code == 403
        told = await client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
        assert "lutrin_questions_total" in told.text
    async with serve(metrics="token") as client:
        assert "LUTRIN_ADMIN_TOKEN" in (await client.get("/metrics")).json()["detail"]
