"""Faults between the server and a remote model, and their effects on readers and operators."""

import asyncio
import io
import logging
import time
from collections.abc import AsyncIterator
from contextlib import aclosing

import numpy as np
import pytest
from tests.fakes import WordHashEmbedder
from tests.remote.openai_server import KEY, Fault, OpenAIService, running

from lutrin.errors import DeadlineExceeded, GeneratorUnavailable, IndexUnavailable, QueueFull
from lutrin.records import Finished, GenerationEvent, GenerationRequest, Message, Piece
from lutrin_remote.remote_openai import AGAIN_S, RemoteEmbedder, RemoteGenerator

NEEDLE = "needle-in-a-question"


@pytest.fixture
async def service() -> AsyncIterator[OpenAIService]:
    """A service that does what it is told."""
    async with running() as started:
        yield started


@pytest.fixture
async def generator(service: OpenAIService) -> AsyncIterator[RemoteGenerator]:
    """Connected to the service."""
    made = RemoteGenerator("loopback", service.url, KEY)
    yield made
    await made.close()


@pytest.fixture
async def embedder(service: OpenAIService) -> AsyncIterator[RemoteEmbedder]:
    """Connected to the service; three seconds of patience."""
    made = RemoteEmbedder("loopback", 128, service.url, KEY, WordHashEmbedder(), patience_s=3)
    yield made
    await made.close()


def ask(**more: object) -> GenerationRequest:
    """A request for a short answer."""
    options = {"max_tokens": 12, "deadline_s": 5.0, **more}
    return GenerationRequest(messages=(Message(role="user", content=NEEDLE),), **options)  # type: ignore[arg-type]  # the struct's users check the options


async def told(generator: RemoteGenerator, **more: object) -> list[GenerationEvent]:
    """All that a reader is told."""
    return [event async for event in generator.stream(ask(**more))]


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(status=503), Fault(status=429, retry_after_s=0.3)])
async def test_passing_trouble_is_waited_out(service: OpenAIService, generator: RemoteGenerator, fault: Fault) -> None:
    """A reader notices nothing of a failure that the next try does not meet, and a named pause is kept."""
    service.faults = [fault]
    assert isinstance((await told(generator))[-1], Finished)
    assert len(service.asked) == 2
    assert service.asked[1][2] - service.asked[0][2] >= (fault.retry_after_s or 0.05)


async def test_a_pause_longer_than_the_deadline_is_not_waited_for(
    service: OpenAIService, generator: RemoteGenerator
) -> None:
    """The reader gets quotes at once, and no request is sent until the pause is over."""
    service.faults = [Fault(status=429, retry_after_s=30)]
    began = time.monotonic()
    with pytest.raises(QueueFull):
        await told(generator)
    with pytest.raises(QueueFull):
        await told(generator)
    assert time.monotonic() - began < 1
    assert len(service.asked) == 1
    assert not await generator.ready()


async def test_a_service_that_stays_broken_is_given_up_within_the_deadline(
    service: OpenAIService, generator: RemoteGenerator
) -> None:
    """Tries end with the reader's patience, and the error says what the service said."""
    service.down = True
    began = time.monotonic()
    with pytest.raises(GeneratorUnavailable, match="status 503"):
        await told(generator, deadline_s=1.0)
    assert time.monotonic() - began < 1.2
    assert len(service.asked) >= 2


async def test_a_reader_who_waits_for_minutes_is_told_within_seconds_that_nobody_is_there() -> None:
    """A stream has ten minutes; a service that is not there takes seconds of them, and none of the next reader."""
    nobody = RemoteGenerator("loopback", "http://127.0.0.1:1/v1", KEY)
    began = time.monotonic()
    with pytest.raises(GeneratorUnavailable, match="no connection"):
        await told(nobody, deadline_s=600.0)
    assert time.monotonic() - began < AGAIN_S + 1
    next_one = time.monotonic()
    with pytest.raises(GeneratorUnavailable, match="no connection"):
        await told(nobody, deadline_s=600.0)
    assert time.monotonic() - next_one < 0.5
    await nobody.close()


async def test_silence_ends_with_the_deadline(service: OpenAIService, generator: RemoteGenerator) -> None:
    """A service that says nothing costs the reader the deadline and no more."""
    service.faults = [Fault(silence_s=5)]
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await told(generator, deadline_s=0.3)
    assert time.monotonic() - began < 1


async def test_a_slow_answer_is_cut_at_the_deadline(service: OpenAIService, generator: RemoteGenerator) -> None:
    """Text before the deadline is kept, and the last event gives the reason of the end."""
    service.piece_s = 0.1
    events = await told(generator, deadline_s=0.5, max_tokens=40)
    assert any(isinstance(event, Piece) for event in events)
    assert isinstance(last := events[-1], Finished)
    assert last.reason == "deadline"


@pytest.mark.parametrize("fault", [Fault(cut_after=3), Fault(garbage=True)])
async def test_a_broken_stream_is_an_error(service: OpenAIService, generator: RemoteGenerator, fault: Fault) -> None:
    """Half an answer never passes for a whole one."""
    service.faults = [fault]
    with pytest.raises(GeneratorUnavailable):
        await told(generator)


async def test_a_reader_who_leaves_frees_the_service(service: OpenAIService, generator: RemoteGenerator) -> None:
    """Closing the iterator closes the connection, and the service stops writing within a second."""
    service.piece_s = 0.05
    async with aclosing(generator.stream(ask(max_tokens=40))) as stream:
        async for event in stream:
            if isinstance(event, Piece):
                break
    assert service.writing == 1
    await asyncio.sleep(1)
    assert service.writing == 0


async def test_models_are_told_not_to_think_aloud(service: OpenAIService, generator: RemoteGenerator) -> None:
    """A service that refuses what it does not know is asked without it, from then on at once."""
    await told(generator)
    assert service.asked[-1][1]["reasoning_effort"] == "none"
    assert service.asked[-1][1]["chat_template_kwargs"] == {"enable_thinking": False}
    service.faults = [Fault(status=400)]
    assert await told(generator)
    assert "reasoning_effort" not in service.asked[-1][1]
    asked = len(service.asked)
    await told(generator)
    assert len(service.asked) == asked + 1
    assert "chat_template_kwargs" not in service.asked[-1][1]


async def test_a_wrong_key_is_named_at_once(service: OpenAIService) -> None:
    """No second try, and the message tells the operator what to look at."""
    wrong = RemoteGenerator("loopback", service.url, "another-key")
    with pytest.raises(GeneratorUnavailable, match="the key is refused"):
        await wrong.check()
    with pytest.raises(GeneratorUnavailable, match="the key is refused"):
        await told(wrong)
    assert len(service.asked) == 2
    await wrong.close()


async def test_nobody_at_the_address_is_named() -> None:
    """The message holds the address."""
    nobody = RemoteGenerator("loopback", "http://127.0.0.1:1/v1", KEY)
    with pytest.raises(GeneratorUnavailable, match=r"127\.0\.0\.1:1.*no connection"):
        await nobody.check()
    assert not await nobody.ready()
    await nobody.close()


async def test_neither_key_nor_question_is_logged(
    service: OpenAIService, generator: RemoteGenerator, embedder: RemoteEmbedder
) -> None:
    """At the most talkative level of logging, and in the text of every error."""
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    logging.getLogger().addHandler(handler)
    before = logging.getLogger().level
    logging.getLogger().setLevel(logging.DEBUG)
    errors = []
    try:
        await told(generator)
        for status in (400, 401, 403, 404, 429):
            service.faults = [Fault(status=status, retry_after_s=0)] * 2
            with pytest.raises((GeneratorUnavailable, QueueFull)) as caught:
                await told(generator, deadline_s=0.05)
            errors.append(f"{caught.value!r} {caught.value.__cause__!r}")
            generator._closed_until_s = 0
        service.faults = [Fault(status=401)]
        with pytest.raises(IndexUnavailable) as refused:
            await embedder.encode([NEEDLE])
        errors.append(repr(refused.value))
    finally:
        logging.getLogger().setLevel(before)
        logging.getLogger().removeHandler(handler)
    assert NEEDLE not in lines.getvalue() + "".join(errors)
    assert KEY not in lines.getvalue() + "".join(errors)


async def test_many_texts_go_in_batches_and_come_back_in_order(
    service: OpenAIService, embedder: RemoteEmbedder
) -> None:
    """Two hundred texts take four requests, one of which fails once, and each text has its own vector."""
    service.faults = [Fault(), Fault(status=429, retry_after_s=0.2), Fault(status=500)]
    texts = [f"robot number {number}" for number in range(200)]
    encodings = await embedder.encode(texts)
    assert len(service.asked) == 4 + 2
    for number in (0, 63, 64, 199):
        (alone,) = await embedder.encode([texts[number]])
        np.testing.assert_array_equal(encodings[number].windows, alone.windows)


async def test_vectors_of_another_width_are_refused(service: OpenAIService, embedder: RemoteEmbedder) -> None:
    """They could be compared with nothing; the message names both widths and the setting."""
    service.faults = [Fault(dimension=64)]
    with pytest.raises(IndexUnavailable, match=r"64.*128.*LUTRIN_EMBED_DIMENSION"):
        await embedder.encode(["x"])


async def test_the_width_must_hold_the_token_vectors() -> None:
    """Token vectors are filled up with zeros, never cut."""
    with pytest.raises(ValueError, match="96"):
        RemoteEmbedder("loopback", 64, "http://127.0.0.1:1", KEY, WordHashEmbedder(), patience_s=1)


async def test_an_embedding_service_that_stays_away_is_given_up(
    service: OpenAIService, embedder: RemoteEmbedder
) -> None:
    """After the patience of the caller, with the error that becomes a friendly 503."""
    service.down = True
    began = time.monotonic()
    with pytest.raises(IndexUnavailable, match="status 503"):
        await embedder.encode(["x"])
    assert time.monotonic() - began < 3.5
