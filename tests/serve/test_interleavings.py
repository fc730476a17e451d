"""Answers, workshop, ingestions, probe and watcher in every order of coming, leaving and being cancelled."""

import asyncio
import operator
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import Phase, example, given, note, settings
from hypothesis import strategies as st
from tests.interleaving import cancel_at, quick_loop

from lutrin import messages
from lutrin.errors import ChatStoreError, NotFound, RateLimited
from lutrin.records import AnswerEvent, ChatMessage, ChatOrigin, DoneEvent, ErrorEvent, Passage, Question
from lutrin.serve.answer_service import LINGER_S, AnswerService, IncomingQuestion, Turn
from lutrin.serve.budget import THREADS, Meter, Workshop, with_meter
from lutrin.serve.metrics import Metrics
from lutrin.serve.probe import KEPT_S, Probe
from lutrin.serve.routes.ingest import Jobs
from lutrin.serve.services import Services
from lutrin.serve.watch import watch_folder
from lutrin.settings import load_settings

from .scripted import ScriptedAnswers, ScriptedLibrary, ScriptedRetrieval
from .test_streams import BELOW

Work = Callable[[], bytes]


class Shop:
    """A workshop whose threads are counted, by the address that they work for."""

    def __init__(self) -> None:
        self.workshop = Workshop(most_kept_bytes=30)
        self.at_work: Counter[str] = Counter()
        self.worst = 0
        self._lock = threading.Lock()

    def work(self, peer: str, *, fails: bool) -> Work:
        """Ten bytes, by an address."""

        def made() -> bytes:
            with self._lock:
                self.at_work[peer] += 1
                self.worst = max(self.worst, self.at_work[peer])
            try:
                time.sleep(0.0005)
                if fails:
                    raise RateLimited("The budget is used.", retry_after_s=1)
                return bytes(10)
            finally:
                with self._lock:
                    self.at_work[peer] -= 1

        return made

    async def ask(self, peer: str, key: str, *, fails: bool) -> None:
        """Have work done for an address, which is kept under a key if there is one."""
        work = self.work(peer, fails=fails)
        asked = self.workshop.once(key, work) if key else self.workshop.do(work)
        await with_meter(cast("Coroutine[Any, Any, None]", asked), Meter(peer))


READERS = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.sampled_from(["", "", "page 1", "page 2", "page 3", "page 4"]), st.booleans(),
        st.integers(0, 8), st.integers(0, 3),
    ),
    min_size=1, max_size=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(READERS)
def test_the_workshop_in_every_order(readers: list[tuple[str, str, bool, int, int]]) -> None:
    """Cancelled at any await: an address has one thread, and at the end nothing is held or owed."""

    async def scenario() -> None:
        shop = Shop()
        asked = [
            cancel_at(wait, shop.ask(peer, key, fails=fails), turns=turns) for peer, key, fails, wait, turns in readers
        ]
        async with asyncio.timeout(20):
            await asyncio.gather(*asked)
            await shop.ask("d", "", fails=False)
            while shop.workshop._running:  # noqa: ASYNC110 - work whose readers have left goes on
                await asyncio.sleep(0.001)
        workshop = shop.workshop
        assert (workshop._turns, workshop._free._value) == ({}, THREADS)
        assert shop.worst <= 1
        assert workshop._kept_bytes == sum(size for _, size in workshop._results.values()) <= 30
        workshop.close()

    asyncio.run(scenario())


class Slow:
    """A board that every post keeps waiting, and an ingestion."""

    def __init__(self) -> None:
        self.done = 0
        self.shown: dict[str, bytes] = {}

    async def post(self, job: str, state: bytes) -> None:
        """Show."""
        await asyncio.sleep(0)
        self.shown[job] = state

    async def look(self, job: str) -> tuple[bytes, float] | None:
        """No other reader shows anything."""

    async def __call__(self, progress: Callable[[str], None]) -> Mapping[str, int | float | str]:
        """Ingest."""
        progress("a line")
        await asyncio.sleep(0)
        self.done += 1
        return {}


async def test_an_upload_that_is_dropped_at_any_wait_leaves_no_job_undone() -> None:
    """The ingestion that it began ends, and the next one begins."""
    for wait in count():
        slow, tasks = Slow(), set[asyncio.Task[None]]()
        jobs = Jobs(slow)

        def spawn(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]] = tasks) -> asyncio.Task[None]:
            tasks.add(task := asyncio.create_task(work))
            return task

        reached = await cancel_at(wait, jobs.add(slow, spawn))
        async with asyncio.timeout(5):
            job = await jobs.add(slow, spawn)
            await asyncio.gather(*tasks)
        assert not jobs.is_busy
        assert (await jobs.get(job.job)).state == "done"
        assert slow.done >= 1
        assert all(b'"done"' in state for state in slow.shown.values())
        if not reached:
            return


class Held:
    """Searches that end when they may, and are counted."""

    def __init__(self) -> None:
        self.running = self.begun = 0
        self.go_on = asyncio.Event()

    async def __call__(self, question: Question) -> Sequence[Passage]:
        """Search."""
        del question
        self.running += 1
        self.begun += 1
        try:
            await asyncio.sleep(0)
            await self.go_on.wait()
        finally:
            self.running -= 1
        return []


async def test_a_probe_whose_callers_are_cancelled_at_any_wait_searches_once() -> None:
    """The next caller has the search that they began, and none is left at the end."""
    before = asyncio.all_tasks()
    for wait in count():
        held, times = Held(), [0.0]
        probe = Probe(held, partial(operator.itemgetter(0), times))
        callers = [asyncio.create_task(cancel_at(wait, probe.trouble(), turns=turns)) for turns in range(3)]
        for _ in range(4):
            await asyncio.sleep(0)
        held.go_on.set()
        reached = await asyncio.gather(*callers)
        async with asyncio.timeout(5):
            assert await probe.trouble() == ""
        assert (held.begun, held.running) == (1, 0)
        held.go_on.clear()
        times[0] += KEPT_S
        last = asyncio.create_task(cancel_at(wait, probe.trouble()))
        await asyncio.sleep(0)
        await probe.close()
        await last
        assert held.running == 0
        assert asyncio.all_tasks() == before
        if not any(reached):
            return


async def test_a_watcher_that_is_cancelled_at_any_wait_leaves_no_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither its own nor one that reads the folder; the next watcher sees what changes."""
    monkeypatch.setattr("lutrin.serve.watch.DEBOUNCE_MS", 20)
    reads = asyncio.Event()

    async def read() -> None:
        await asyncio.sleep(0)
        reads.set()

    async def change() -> None:
        for number in count():
            (tmp_path / f"{number}.md").write_text("x", "utf-8")
            await asyncio.sleep(0.02)

    before = asyncio.all_tasks()
    for wait in range(12):
        reads.clear()
        changing = asyncio.create_task(change())
        async with asyncio.timeout(20):
            assert await cancel_at(wait, watch_folder(tmp_path, read, settled_s=0.0))
        changing.cancel()
        await asyncio.wait({changing})
        assert asyncio.all_tasks() == before
        assert not [thread for thread in threading.enumerate() if "watch" in thread.name]
    reads.clear()
    watching, changing = asyncio.create_task(watch_folder(tmp_path, read, settled_s=0.0)), asyncio.create_task(change())
    async with asyncio.timeout(20):
        await asyncio.sleep(0.2)
        changing.cancel()
        await reads.wait()
    watching.cancel()
    await asyncio.wait({watching, changing})


class Chats:
    """Conversations in memory, which take turns of the loop to be stored, and fail when told to."""

    def __init__(self, chance: random.Random) -> None:
        self.stored: dict[str, dict[str, ChatMessage]] = {}
        self.fails = False
        self._chance = chance
        self._lock = asyncio.Lock()

    async def _wait(self) -> None:
        for _ in range(self._chance.randrange(3)):
            await asyncio.sleep(self._chance.choice([0.0, LINGER_S / 2, LINGER_S, 2 * LINGER_S]))
        if self.fails:
            raise ChatStoreError("The disk is away.")

    async def record(
        self, key: str, origin: ChatOrigin, messages: Sequence[ChatMessage], *, is_begun: bool = False
    ) -> None:
        """Store, one transaction after the other."""
        del origin
        await asyncio.shield(self._recorded(key, messages, is_begun=is_begun))

    async def _recorded(self, key: str, messages: Sequence[ChatMessage], *, is_begun: bool) -> None:
        async with self._lock:
            await self._wait()
            if is_begun and key not in self.stored:
                raise NotFound("There is no such conversation.")
            self.stored.setdefault(key, {}).update({message.id: message for message in messages})

    async def take_back(self, key: str, ids: Sequence[str]) -> None:
        """Delete messages, and their conversation if it has no others."""
        async with self._lock:
            messages = self.stored.get(key, {})
            for id_ in ids:
                messages.pop(id_, None)
            if not messages:
                self.stored.pop(key, None)

    async def delete(self, key: str) -> None:
        """Delete a conversation."""
        async with self._lock:
            await asyncio.sleep(0)
            self.stored.pop(key, None)


SETTINGS = load_settings(data_dir=Path(__file__).parent, free_space_mb=0)
KEY = "c" * 64
ASKED = Question(text="What is the loop?", session_id=KEY)
SOME_S = st.sampled_from([0.0, LINGER_S / 2, LINGER_S, LINGER_S, 1.5 * LINGER_S])
MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("visit"), st.tuples(st.integers(0, 9), SOME_S, SOME_S)),
        st.tuples(st.just("visit"), st.tuples(st.just(0), SOME_S, SOME_S)),
        st.tuples(st.just("read"), st.integers(0, 9)),
        st.tuples(st.just("leave"), st.integers(0, 3)),
        st.tuples(st.just("turns"), st.integers(1, 6)),
        st.tuples(st.just("go on"), st.just(0)),
        st.tuples(st.sampled_from(["delete", "stop"]), st.just(0)),
        st.tuples(st.just("disk"), st.integers(0, 1)),
    ),
    min_size=1,
    max_size=10,
)
"""Somebody reads from an event on and leaves, and so much time passes before and after that; and what else happens."""


class Room:
    """An answer service whose stages are scripted, one question, and its readers."""

    def __init__(self, chance: random.Random, pause_before: int | None) -> None:
        self.answers = ScriptedAnswers(events=BELOW, pause_before=pause_before, lingers_s=chance.choice([0.0, 0.1]))
        self.chats = Chats(chance)
        loop = asyncio.get_running_loop()
        self.services = Services(
            answers=self.answers, retrieve=ScriptedRetrieval(), chats=cast("Any", self.chats),
            library=ScriptedLibrary(), clock=loop.time,
        )  # fmt: skip
        self.service = AnswerService(self.services, SETTINGS, Metrics())
        incoming = IncomingQuestion(ASKED, ChatOrigin(session_id="1", owner="o"))
        self.turn = Turn(self.service, incoming, keeps_question=True)
        self.readers: list[asyncio.Task[list[AnswerEvent]]] = []
        self.deleted = False

    async def read(self, after: int) -> list[AnswerEvent]:
        """Read the events from one on, as a connection does."""
        read: list[AnswerEvent] = []
        async with aclosing(self.turn.batches(min(after, len(self.turn.sent)))) as batches:
            async for events in batches:
                read += events
        return read

    async def make(self, move: tuple[str, Any]) -> None:
        """Let something happen."""
        name, value = move
        if name == "read":
            self.readers.append(asyncio.create_task(self.read(int(value))))
        elif name == "leave" and self.readers:
            self.readers[int(value) % len(self.readers)].cancel()
        elif name == "turns":
            for _ in range(int(value)):
                await asyncio.sleep(0)
        elif name == "visit":
            after, stay_s, away_s = value
            visit = asyncio.create_task(self.read(after))
            await asyncio.sleep(stay_s)
            visit.cancel()
            await asyncio.sleep(away_s)
        elif name == "go on":
            self.answers.go_on.set()
        elif name == "stop":
            self.turn.stop()
        elif name == "delete":
            self.deleted = True
            self.service.forget(KEY)
            await self.chats.delete(KEY)
        elif name == "disk":
            self.chats.fails = bool(value)


STOPPED_BEFORE_ITS_FIRST_STEP = [("read", 7), ("delete", 0), ("stop", 0), ("delete", 0), ("visit", (0, 0.0, 1.2))]
DELETED_WHILE_STORED = [("visit", (0, 0.0, 0.0)), ("delete", 0), ("stop", 0), ("visit", (0, 0.0, 0.0))]


@settings(max_examples=150, deadline=None, phases=[Phase.explicit, Phase.generate])
@example(STOPPED_BEFORE_ITS_FIRST_STEP, 6, 90709)
@example(DELETED_WHILE_STORED, 4, 140)
@given(MOVES, st.sampled_from([None, 0, 2, 3, 4, 6]), st.integers(0, 10**6))
def test_an_answer_in_every_order(moves: list[tuple[str, Any]], pause_before: int | None, seed: int) -> None:
    """Readers read, leave, return and delete the conversation at any moment: the last reader gets the whole answer.

    Nothing is left that runs or is counted as a reader, and a conversation that was deleted does not come back.
    """

    async def scenario() -> None:
        room = Room(random.Random(seed), pause_before)
        for move in moves:
            await room.make(move)
        room.answers.go_on.set()
        room.chats.fails = False
        last = asyncio.create_task(room.read(0))
        async with asyncio.timeout(60):
            events = await last
            await asyncio.gather(*room.readers, return_exceptions=True)
        note(f"{[type(event).__name__ for event in events]}")
        assert [type(event) for event in events if isinstance(event, DoneEvent | ErrorEvent)] == [type(events[-1])]
        assert isinstance(events[-1], DoneEvent) or room.turn._is_stopped
        await room.service.close()
        assert (room.turn._readers, room.turn.is_running, room.answers.running) == (0, False, 0)
        assert (room.service._tasks, room.service._vital) == (set(), set())
        assert len(asyncio.all_tasks()) == 1
        stored = room.chats.stored.get(KEY, {}).get(room.turn.id)
        if room.turn.is_forgotten:
            assert KEY not in room.chats.stored
        elif stored is not None and isinstance(events[-1], DoneEvent):
            is_saved = messages.NOT_SAVED not in events[-1].answer.warnings
            assert is_saved or "disk" in str(moves)
            assert not is_saved or (stored.text, stored.unfinished) == (events[-1].answer.answer, False)
        assert room.deleted or stored is not None or "disk" in str(moves)

    with quick_loop() as loop:
        loop.run_until_complete(scenario())
