"""The model's process from the server's side: killed, hung, swollen, restarted; no request waits for a dead one."""

import asyncio
import functools
import os
import resource
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest
from tests.fakes_generator import FaultyDecoder, ScriptedDecoder

from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.errors import DeadlineExceeded, GeneratorUnavailable, QueueFull
from lutrin.generate.child import HELD_S
from lutrin.generate.prefix import PassageLimits
from lutrin.generate.scheduler import Limits
from lutrin.generate.worker import Watch, WorkerGenerator
from lutrin.platform import processor_seconds, resident_bytes
from lutrin.ports import Decoder
from lutrin.records import Finished, GenerationRequest, Message, Piece, Queued

TINY = "smollm2-135m-instruct-q4_1.gguf"
QUICK = Watch(silence_s=1.0, check_s=0.05, first_pause_s=0.05, growth_bytes=FaultyDecoder.SWOLLEN_BYTES // 2)


@pytest.fixture
async def worker() -> AsyncIterator[WorkerGenerator]:
    """A process whose model breaks when a prompt says so and needs 10 ms for each token."""
    made = WorkerGenerator(
        "faulty", functools.partial(FaultyDecoder, step_s=0.01), limits=Limits(slots=2, queue=2), watch=QUICK
    )
    assert await made.start()
    yield made
    await made.close()


def ask(text: str, *, max_tokens: int = 400, deadline_s: float = 30.0) -> GenerationRequest:
    """A request with one message."""
    return GenerationRequest(
        messages=(Message(role="user", content=text),), max_tokens=max_tokens, deadline_s=deadline_s
    )


async def read(generator: WorkerGenerator, request: GenerationRequest) -> str:
    """The whole text of an answer."""
    return "".join([event.text async for event in generator.stream(request) if isinstance(event, Piece)])


async def until(condition: Callable[[], bool], within_s: float = 60.0) -> float:
    """Wait until something holds; return how long it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < within_s, "it never happens"
        await asyncio.sleep(0.01)
    return time.monotonic() - began


async def recovered(generator: WorkerGenerator) -> None:
    """Wait until a new process serves, and see that it does."""
    await until(lambda: generator.serves)
    assert (await read(generator, ask("back again"))).endswith("back again")


LONG = " ".join(map(str, range(100)))


async def test_a_killed_process_fails_its_readers_at_once_and_comes_back(worker: WorkerGenerator) -> None:
    """`kill -9` in the middle of two answers: both readers know within a second, the next one is served."""
    readers = [asyncio.create_task(read(worker, ask(f"{LONG} {n}"))) for n in range(2)]
    await until(lambda: worker.load == (2, 0))
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    began = time.monotonic()
    results = await asyncio.gather(*readers, return_exceptions=True)
    assert [type(result) for result in results] == [GeneratorUnavailable] * 2
    assert time.monotonic() - began < 1.0
    await recovered(worker)


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this system does not group by session")
async def test_it_gives_way_while_nobody_waits_and_to_nobody_while_somebody_does(worker: WorkerGenerator) -> None:
    """Its own session is lowered and raised from outside: at the lowest weight it hardly runs on a busy machine."""

    def weight() -> str:
        return Path(f"/proc/{worker.pid}/autogroup").read_text("ascii").split()[-1]

    for _ in range(2):
        await until(lambda: weight() == "19")
        reader = asyncio.create_task(read(worker, ask(LONG)))
        await until(lambda: worker.load == (1, 0))
        assert weight() == "0"
        await reader


async def test_while_readers_have_nothing_of_the_book_it_hardly_computes(worker: WorkerGenerator) -> None:
    """One step in two seconds, so that a busy class hears the model, too; then it goes on, also in a new process."""
    pieces: list[str] = []

    async def listen() -> None:
        async with aclosing(worker.stream(ask(LONG))) as events:
            async for event in events:
                pieces.extend([event.text] if isinstance(event, Piece) else [])

    worker.hold(3)
    reader = asyncio.create_task(listen())
    await until(lambda: bool(pieces), within_s=20.0)
    written = len(pieces)
    await asyncio.sleep(1.5 * HELD_S)
    assert len(pieces) - written <= 3
    worker.hold(0)
    await reader
    assert "".join(pieces).endswith(LONG[-20:])
    worker.hold(1)
    os.kill(worker.pid or 0, signal.SIGKILL)
    await until(lambda: not worker.serves)
    await until(lambda: worker.serves)
    again = asyncio.create_task(read(worker, ask(LONG)))
    await asyncio.sleep(HELD_S)
    assert not again.done()
    worker.hold(0)
    assert (await again).endswith(LONG[-20:])


async def test_while_it_is_away_nobody_waits(worker: WorkerGenerator) -> None:
    """Between death and restart a request is refused at once."""
    first = worker.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    await until(lambda: worker.pid != first)
    began = time.monotonic()
    with pytest.raises(GeneratorUnavailable):
        await read(worker, ask("anyone there?"))
    assert time.monotonic() - began < 0.5
    await recovered(worker)


@pytest.mark.parametrize("fault", ["[die]", "[hang]", "[swell]"])
async def test_a_prompt_that_breaks_the_model_costs_one_process(worker: WorkerGenerator, fault: str) -> None:
    """Death from within, a step that never ends, memory without end: the process is replaced."""
    before = worker.pid
    with pytest.raises(GeneratorUnavailable):
        await read(worker, ask(f"{fault} {LONG}"))
    await recovered(worker)
    assert worker.pid != before


@pytest.mark.skipif(not processor_seconds(os.getpid()), reason="this system does not tell processor times")
async def test_a_process_that_a_busy_machine_keeps_waiting_is_not_given_up(worker: WorkerGenerator) -> None:
    """A step that takes three times the longest silence, because others compute, ends in an answer."""
    before = worker.pid
    assert (await read(worker, ask(f"[starve] {LONG}"))).endswith(LONG)
    assert worker.pid == before


async def test_a_failed_step_needs_no_new_process(worker: WorkerGenerator) -> None:
    """One step that fails is told to its reader; the process goes on."""
    before = worker.pid
    with pytest.raises(GeneratorUnavailable):
        await read(worker, ask("[fail]"))
    await recovered(worker)
    assert worker.pid == before


async def test_a_stopped_process_is_replaced_and_the_deadline_kept(worker: WorkerGenerator) -> None:
    """A process that stands still lets no reader wait longer than their deadline and half a second."""
    before = worker.pid
    assert before is not None
    os.kill(before, signal.SIGSTOP)
    began = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await read(worker, ask("anyone there?", deadline_s=0.2))
    assert time.monotonic() - began < 0.9
    await until(lambda: worker.pid not in {before, None})
    await recovered(worker)


def slow_to_load() -> Decoder:
    """A model that takes a minute to load."""
    time.sleep(60)
    return ScriptedDecoder()


async def test_a_process_that_is_stopped_while_it_loads_is_replaced() -> None:
    """It is not given all the time in which a model may load, as one that is slow is."""
    made = WorkerGenerator("slow", slow_to_load, watch=QUICK)
    with pytest.raises(GeneratorUnavailable):
        await read(made, ask("anyone there?", deadline_s=0.1))
    await until(lambda: made.pid is not None)
    before = made.pid
    assert before is not None
    await asyncio.sleep(3 * QUICK.silence_s)
    assert made.pid == before
    os.kill(before, signal.SIGSTOP)
    await until(lambda: made.pid not in {before, None}, within_s=20)
    await made.close()


async def test_an_answer_that_is_cut_by_the_deadline_keeps_what_was_said(worker: WorkerGenerator) -> None:
    """Text that came before the deadline stands, and the last event says so."""
    told = [event async for event in worker.stream(ask(LONG, deadline_s=0.5))]
    assert any(isinstance(event, Piece) for event in told)
    assert isinstance(told[-1], Finished)
    assert told[-1].reason == "deadline"


async def test_leaving_frees_the_model_within_a_step(worker: WorkerGenerator) -> None:
    """Fifty readers who close the page while it streams: each time the model is free within a quarter of a second."""
    for n in range(50):
        async with aclosing(worker.stream(ask(f"{LONG} {n}"))) as stream:
            async for event in stream:
                if isinstance(event, Piece):
                    break
        assert await until(lambda: worker.load == (0, 0)) < 0.25


async def test_a_cancelled_task_frees_the_model_too(worker: WorkerGenerator) -> None:
    """A reader whose task is cancelled while waiting leaves nothing behind."""
    task = asyncio.create_task(read(worker, ask(LONG)))
    await until(lambda: worker.load == (1, 0))
    task.cancel()
    await asyncio.wait([task])
    await until(lambda: worker.load == (0, 0))


async def test_a_queue_that_is_full_says_so(worker: WorkerGenerator) -> None:
    """Two are served, two wait and know their place, the fifth is refused."""
    readers = [asyncio.create_task(read(worker, ask(f"{LONG} {n}"))) for n in range(3)]
    await until(lambda: worker.load == (2, 1))
    fourth = worker.stream(ask("fourth"))
    assert isinstance(queued := await anext(fourth), Queued)
    assert queued.position == 2
    assert queued.eta_s > 0
    with pytest.raises(QueueFull):
        await read(worker, ask("fifth"))
    await fourth.aclose()
    for task in readers:
        task.cancel()
    await asyncio.wait(readers)


async def test_the_first_reader_waits_for_loading() -> None:
    """A request sent before anything is loaded is served once it is."""
    generator = WorkerGenerator("lazy", ScriptedDecoder, watch=QUICK)
    assert (await read(generator, ask("hello"))).endswith("hello")
    await generator.close()


async def test_a_model_that_cannot_be_loaded_is_away(tmp_path: Path) -> None:
    """A missing file is no exception at start; readers get `GeneratorUnavailable`, the reason is in the log."""
    generator = WorkerGenerator("none", functools.partial(open_decoder, tmp_path / "none.gguf"), watch=QUICK)
    assert not await generator.start()
    with pytest.raises(GeneratorUnavailable):
        await read(generator, ask("hello"))
    await generator.close()


async def test_whatever_fails_the_process_is_started_again() -> None:
    """An unexpected failure does not end the supervision: here the first request cannot be sent."""
    made = WorkerGenerator("faulty", FaultyDecoder, watch=QUICK, warm=ask("\ud800"))
    assert not await made.start()
    await until(lambda: made.restarts >= 2)
    await made.close()


async def test_where_no_process_can_be_started_nobody_waits_for_it() -> None:
    """Without a free descriptor readers are told at once; the model comes as soon as there is one."""
    made = WorkerGenerator("faulty", FaultyDecoder, watch=QUICK)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        async with asyncio.timeout(10):
            assert not await made.start()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    await recovered(made)
    await made.close()


async def test_a_request_that_cannot_be_sent_leaves_nothing_behind(worker: WorkerGenerator) -> None:
    """Its reader is told, and no place is kept for its answer."""
    with pytest.raises(UnicodeEncodeError):
        await read(worker, ask("\ud800"))
    assert not worker._inboxes


async def test_closing_ends_the_process() -> None:
    """After `close` there is no process, readers in flight know, and later ones are refused."""
    generator = WorkerGenerator("closing", functools.partial(ScriptedDecoder, step_s=0.01), watch=QUICK)
    reader = asyncio.create_task(read(generator, ask(LONG)))
    await until(lambda: generator.load == (1, 0))
    pid = generator.pid
    await generator.close()
    with pytest.raises(GeneratorUnavailable):
        await reader
    with pytest.raises(GeneratorUnavailable):
        await read(generator, ask("too late"))
    assert pid is not None
    assert resident_bytes(pid) == 0


async def test_the_process_ends_when_the_server_is_gone() -> None:
    """A server that is killed leaves no process behind: the end of the socket ends it."""
    generator = WorkerGenerator("orphan", ScriptedDecoder, watch=QUICK)
    await generator.start()
    pid, writer = generator.pid, generator._writer
    assert pid is not None
    assert writer is not None
    writer.write_eof()
    await until(lambda: generator.pid != pid)
    await generator.close()


async def test_passages_outlive_the_process(tmp_path: Path) -> None:
    """Passages read while idle are on disk; the next process loads them, and reports the tokens that it saved."""
    section = "The sensorimotor loop joins sensing, deciding and acting. "
    limits = PassageLimits(memory_bytes=1 << 20, disk_bytes=1 << 20, folder=str(tmp_path / "passages"))

    def asked(question: str) -> GenerationRequest:
        return msgspec.structs.replace(ask(section + question), stable_chars=len(section))

    for turn in range(2):
        generator = WorkerGenerator("scripted", ScriptedDecoder, passages=limits, watch=QUICK)
        assert await generator.start()
        if turn == 0:
            generator.warm([asked("")])
            await until(lambda: generator.passages.disk_bytes > 0)  # noqa: B023 - it is awaited before the next turn
        assert (await read(generator, asked("Why?"))).endswith("Why?")
        await until(lambda: generator.passages.hits == 1)  # noqa: B023 - it is awaited before the next turn
        assert generator.passages.misses == 0
        assert generator.passages.tokens_saved >= len(section)
        await generator.close()


def shared(a: str, b: str) -> int:
    """Characters that two texts have in common at their beginning."""
    return next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def tiny(models_dir: Path) -> Callable[[], Decoder]:
    """The real tiny model, one thread."""
    return functools.partial(open_decoder, models_dir / TINY, 2048, 10, 1)


@pytest.mark.gguf
@pytest.mark.slow("a real model writes ten answers twice")
async def test_ten_real_answers_are_those_of_one_reader_alone(models_dir: Path) -> None:
    """Ten at once read what each would have read alone, up to where two next words were as good as equal.

    The number of rows in a step decides in which order floating-point numbers are added, so a near tie between two
    tokens can fall the other way; from there on two honest answers differ. Most
    whole answers must be equal. (That no token goes astray is shown exactly in test_scheduler.py.)
    """
    generator = WorkerGenerator("tiny", tiny(models_dir))
    questions = [f"Write the number {n} in words, then explain what a robot is." for n in range(10, 20)]
    alone = [await read(generator, ask(question, max_tokens=16, deadline_s=120)) for question in questions]
    together = await asyncio.gather(
        *(read(generator, ask(question, max_tokens=16, deadline_s=120)) for question in questions)
    )
    await generator.close()
    same = [shared(a, b) / len(a) for a, b in zip(alone, together, strict=True)]
    assert sum(share == 1.0 for share in same) >= 5
    assert sum(same) / len(same) >= 0.6


@pytest.mark.gguf
async def test_a_real_model_killed_in_mid_stream_comes_back(models_dir: Path) -> None:
    """`kill -9` of llama.cpp while it writes: its readers know, the next one is served."""
    generator = WorkerGenerator("tiny", tiny(models_dir), watch=Watch(check_s=0.05, first_pause_s=0.05))
    assert await generator.start()
    reader = asyncio.create_task(read(generator, ask("Tell me a long story.", max_tokens=400)))
    await until(lambda: generator.load == (1, 0))
    assert generator.pid is not None
    os.kill(generator.pid, signal.SIGKILL)
    with pytest.raises(GeneratorUnavailable):
        await reader
    await until(lambda: generator.serves)
    assert await read(generator, ask("What is a robot?", max_tokens=4))
    await generator.close()
