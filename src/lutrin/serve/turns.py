"""One question on its way: produced once, read by any number of connections, kept a while for those that were cut.

A turn runs in a task of its own, so a connection that closes does not tear what is being stored. When its last reader
has left, it is cancelled after `LINGER_S`, which frees the model within a second, and what was sent is stored. A reader
who comes back with `Last-Event-ID` gets the rest: from the buffer, or, if the turn was cancelled meanwhile, from asking
again and leaving out what was already sent. That is exact because the same question gives the same answer.
"""

import asyncio
import hashlib
import re
import uuid
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

import msgspec

from lutrin import records, stages
from lutrin.answer.render import explanation_of
from lutrin.errors import ChatStoreError, ChatStoreFull, IndexUnavailable, LutrinError
from lutrin.log import get_logger
from lutrin.messages import (
    EMPTY_SELECTION,
    KNOWLEDGE_BASE_DOWN,
    NOT_REMEMBERED,
    NOT_SAVED,
    NOT_SAVED_DISK,
    SOMETHING_WRONG,
)
from lutrin.records import AnswerEvent, DoneEvent, ExcerptEvent
from lutrin.serve.budget import payer
from lutrin.serve.limits import Allowance, FreeSpace
from lutrin.serve.metrics import Metrics
from lutrin.serve.problems import Reported, as_problem
from lutrin.serve.services import Services, TurnLog

EVENT_STREAM = "text/event-stream"
HEARTBEAT = b": heartbeat\n\n"
HEARTBEAT_S = 10.0
STREAM_HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would hold the stream back
}


def _frame(event: AnswerEvent, stream: str, number: int) -> bytes:
    """The bytes of one event, whose number in its stream counts from 1."""
    name = str(event.__struct_config__.tag)
    match event:
        case DoneEvent(answer=carried) | ExcerptEvent(excerpt=carried):  # its fields stand beside the type
            data = f'{{"type":"{name}",'.encode() + msgspec.json.encode(carried).removeprefix(b"{")
        case _:
            data = msgspec.json.encode(event)
    # JSON escapes line breaks, so it is one line.
    return f"id: {stream}.{number}\nevent: {name}\ndata: ".encode() + data + b"\n\n"


def parse_event_id(value: str) -> tuple[str, int] | None:
    """Stream and number of a `Last-Event-ID`; None if it is not one of ours."""
    match = re.fullmatch(r"([0-9a-f]{32})\.([0-9]{1,6})", value.strip())
    return (match[1], int(match[2])) if match else None


LINGER_S = 0.4
MESSAGE_HEADER = "X-Lutrin-Message"
ASKED_HEADER = "X-Lutrin-Asked"


@dataclass(slots=True)
class Timings:
    """A `stages.Listener` for one answer."""

    metrics: Metrics
    facts: dict[str, str] = field(default_factory=dict)
    _work_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add_time(self, stage: str, seconds: float) -> None:
        """Note that a stage has ended; see `stages.Listener`."""
        self._work_s[stage] += seconds
        self.metrics.work_seconds.labels(stage).observe(seconds)

    def add_fact(self, fact: str, value: str) -> None:
        """Note a fact about the answer; see `stages.Listener`."""
        self.facts[fact] = value
        self.metrics.facts.labels(fact, value).inc()

    def work_ms(self) -> dict[str, int]:
        """Milliseconds of each stage; stages with the same name are added up."""
        return {name: round(seconds * 1000) for name, seconds in self._work_s.items()}


class Spawn(Protocol):
    """Starts a task that no connection owns."""

    def __call__(self, work: Coroutine[Any, Any, None], *, vital: bool = False) -> "asyncio.Task[None]":
        """Start it; when the server ends, vital work is waited for and the rest is cancelled."""


_decoder = msgspec.json.Decoder(records.AnswerEvent)
_log = get_logger("serve")


@dataclass(frozen=True, slots=True)
class IncomingQuestion:
    """A question and whose it is."""

    question: records.Question
    """Its `session_id` is the conversation's key; empty: nothing is stored."""
    origin: records.ChatOrigin
    unnamed_peer: str = field(default="", compare=False)
    """The network peer of a reader who sent no secret; see `space.Allowance`."""


class Transcript:
    """Makes the messages to store; the question's `session_id` is the conversation's key."""

    def __init__(self, message_id: str, question: records.Question, now: Callable[[], datetime]) -> None:
        self._question = question
        self._now = now
        self.message_ids = (uuid.uuid5(uuid.UUID(message_id), "question").hex, message_id)
        """Of the question and its answer, as stored."""
        self.asked_at = self._stamp()
        """Of the question, as its message keeps it."""

    def complete(self, answer: records.Answer, made: records.Made | None = None) -> list[records.ChatMessage]:
        """The question and answer to store, with a record of how the answer was made."""
        given = msgspec.structs.replace(
            self._assistant(answer.answer, answer.kind, answer.mode, answer.sources), **answer.shown()
        )
        return [self._user(answer.mode), records.KeptMessage(**msgspec.structs.asdict(given), made=made)]

    def partial(self, events: Sequence[records.AnswerEvent]) -> list[records.ChatMessage]:
        """The question and what was sent of its answer; empty if nothing was sent."""
        excerpts = tuple(event.excerpt for event in events if isinstance(event, records.ExcerptEvent))
        sentences = [
            records.Sentence(text=event.text, citations=event.citations, support=event.support)
            for event in events
            if isinstance(event, records.SentenceEvent)
        ]
        if not excerpts and not sentences:
            return []
        said = explanation_of(sentences)
        used = {n for sentence in sentences for n in sentence.citations} | {excerpt.n for excerpt in excerpts}
        listed: dict[int, records.Citation] = {}
        for named in events:
            if isinstance(named, records.SourcesEvent):
                listed |= {citation.n: citation for citation in named.citations if citation.n in used}
        mode = self._question.mode or ("selection_boosted" if self._question.selected_text else "book")
        kind: records.AnswerKind = "generated" if sentences else "extractive"
        citations = tuple(citation for _, citation in sorted(listed.items()))
        text = said or "\n\n".join(excerpt.text for excerpt in excerpts)
        given = self._assistant(text, kind, mode, citations)
        sent = msgspec.structs.replace(given, explanation=said, sentences=tuple(sentences), excerpts=excerpts)
        return [self._user(mode), sent]

    def _user(self, mode: records.Mode) -> records.ChatMessage:
        return records.ChatMessage(
            id=self.message_ids[0],
            session_id=self._question.session_id,
            role="user",
            text=self._question.text,
            created=self.asked_at,
            mode=mode,
            selected_text=self._question.selected_text,
        )

    def _assistant(
        self, text: str, kind: records.AnswerKind, mode: records.Mode, citations: tuple[records.Citation, ...]
    ) -> records.ChatMessage:
        return records.ChatMessage(
            id=self.message_ids[1],
            session_id=self._question.session_id,
            role="assistant",
            text=text,
            created=self._stamp(),
            mode=mode,
            kind=kind,
            chunk_ids=tuple(dict.fromkeys(citation.chunk_id for citation in citations)),
            citations=citations,
        )

    def _stamp(self) -> str:
        return self._now().isoformat(timespec="milliseconds")


def fingerprint(asked: IncomingQuestion) -> str:
    """Hash a question and its owner, so that neither can be read from it."""
    return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


async def recall_events(log: TurnLog | None, turn: str, asked: IncomingQuestion) -> list[records.AnswerEvent]:
    """Recall the events of a turn that another server began; empty if it failed or the log is away."""
    if log is None:
        return []
    try:
        events = [_decoder.decode(event) for event in await log.recall(turn, fingerprint(asked))]
    except ChatStoreError as error:
        _log.warning("shared_turns_away", detail=error.detail)
        return []
    return events[:-1] if events and isinstance(events[-1], records.ErrorEvent) else events


class Turn:
    """One question and the events of its answer.

    Args:
        turn_id: 32 hexadecimal digits; also the id of the answer's message and of the stream.
        space: Room on the disk; without room nothing is stored.
        allowance: Room for those who send no secret.
        known: Events that another server has sent already.
    """

    def __init__(
        self,
        turn_id: str,
        asked: IncomingQuestion,
        *,
        services: Services,
        metrics: Metrics,
        spawn: Spawn,
        heartbeat_s: float,
        space: FreeSpace,
        allowance: Allowance,
        known: Sequence[records.AnswerEvent] = (),
    ) -> None:
        self.id = turn_id
        self.asked = asked
        self.sent: list[records.AnswerEvent] = []
        self.finished = asyncio.Event()
        self.answer: records.Answer | None = None
        self.failure: Reported | None = None
        self._services = services
        self._metrics = metrics
        self._spawn = spawn
        self._heartbeat_s = heartbeat_s
        self._space = space
        self._allowance = allowance
        self._transcript = Transcript(turn_id, asked.question, services.now)
        self._task: asyncio.Task[None] | None = None
        self._readers = 0
        self._news = asyncio.Event()
        self._saving = False
        self._logged = len(known)
        for event in known:
            self.sent.append(event)
            if isinstance(event, records.DoneEvent):
                self.answer = event.answer
                self.finished.set()
        self._began_s = services.clock()
        self._stages_ms: dict[str, int] = {}
        self._timings = Timings(metrics)

    @property
    def headers(self) -> dict[str, str]:
        """The response headers: the id of the answer's message, and when the question arrived."""
        return {MESSAGE_HEADER: self.id, ASKED_HEADER: self._transcript.asked_at}

    def attach(self) -> None:
        """Attach a connection; this starts the turn, or restarts it if it was cancelled."""
        self._readers += 1
        if not self.finished.is_set() and (self._task is None or self._task.done()):
            self._task = self._spawn(self._run())

    def detach(self) -> None:
        """Detach a connection that has finished or gone."""
        self._readers -= 1
        if self._readers == 0 and not self.finished.is_set():
            asyncio.get_running_loop().call_later(LINGER_S, self._abandon)

    async def started(self, timeout_s: float) -> None:
        """Wait until something can be sent, at most `timeout_s`."""
        if not self.sent and not self.finished.is_set():
            await _wait(self._news, timeout_s)

    def result(self) -> records.Answer:
        """The answer of a finished turn; raises why there is none."""
        if self.answer is None:
            raise self.failure or LutrinError(SOMETHING_WRONG)
        return self.answer

    async def stream(self, after: int) -> AsyncIterator[bytes]:
        """Frames from number `after + 1` to the last, in batches, with comments while nothing happens."""
        number = after
        async with aclosing(self.batches(after)) as batches:
            async for events in batches:
                await self._log_events(number + len(events))
                frames = [_frame(event, self.id, number + place) for place, event in enumerate(events, 1)]
                number += len(events)
                yield b"".join(frames) or HEARTBEAT

    async def batches(self, after: int = 0) -> AsyncGenerator[list[records.AnswerEvent], None]:
        """Events from number `after + 1` to the last, as they come; none whenever nothing has happened for a while."""
        read = after
        self.attach()
        try:
            while True:
                news = self._news
                if read < len(self.sent):
                    events = self.sent[read:]
                    read += len(events)
                    yield events
                elif self.finished.is_set():
                    return
                elif not await _wait(news, self._heartbeat_s):
                    yield []
        finally:
            self.detach()  # no `await` here: a closed connection cancels its task

    async def _log_events(self, count: int) -> None:
        """Keep the first events where other servers see them; a failure costs at most a resumption elsewhere."""
        if self._services.turns is None or self._logged >= count:
            return
        first, self._logged = self._logged, count
        encoded = [msgspec.json.encode(event) for event in self.sent[first:count]]
        try:
            await self._services.turns.keep(self.id, fingerprint(self.asked), first + 1, encoded)
        except ChatStoreError as error:
            _log.warning("shared_turns_away", detail=error.detail)

    def _abandon(self) -> None:
        if self._readers == 0 and self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        self._began_s = self._services.clock()
        self._stages_ms = {}
        self._timings = Timings(self._metrics)
        self._metrics.running.inc()
        try:
            with stages.listening(self._timings):
                await self._produce()
        except asyncio.CancelledError:
            if not self._saving:
                self._spawn(self._save_partial(), vital=True)
                self._report("cancelled")
                if self._readers:  # the server ends: whoever still reads is told
                    self.failure = as_problem(IndexUnavailable(KNOWLEDGE_BASE_DOWN))
                    self._publish(records.ErrorEvent(self.failure.detail), last=True)
            raise
        except Exception as error:  # noqa: BLE001 - what the stages did not foresee becomes a 500 with an id in the log
            self._fail(error)
        finally:
            self._metrics.running.dec()

    async def _produce(self) -> None:
        # Waiting in a queue is nothing that the same question would produce again.
        known: list[records.AnswerEvent] = [event for event in self.sent if not isinstance(event, records.QueuedEvent)]
        # What is stored of an answer that was cut is no turn before it.
        question = msgspec.structs.replace(self.asked.question, kept_as=self._transcript.message_ids, peer=payer())
        async with aclosing(self._services.answers.answer(question)) as events:
            async for event in events:
                self._clock_in(event)
                if isinstance(event, records.DoneEvent):
                    await asyncio.shield(self._spawn(self._finish(event.answer, event.made), vital=True))
                elif isinstance(event, records.ErrorEvent):
                    raise LutrinError(event.detail)
                elif self._is_new(event, known):
                    self._publish(event)
        if self.answer is None:
            raise LutrinError(SOMETHING_WRONG)

    @staticmethod
    def _is_new(event: records.AnswerEvent, known: list[records.AnswerEvent]) -> bool:
        """Whether the reader has not seen this event before the connection was cut; forgets what has been passed."""
        if not known or isinstance(event, records.QueuedEvent):
            return True
        if event == known.pop(0):
            return False
        known.clear()  # the answer goes another way this time; `done` will replace what was sent
        return True

    async def _finish(self, answer: records.Answer, made: records.Made | None) -> None:
        """Store, then say that it is done: what a reader has seen as done is never lost."""
        self._saving = True
        try:
            await self._save(self._transcript.complete(answer, made), answer)
        except ChatStoreError as error:
            self._metrics.unsaved.inc()
            _log.error("not_saved", message=self.id, detail=error.detail)
            answer = msgspec.structs.replace(answer, warnings=(*answer.warnings, self._unsaved(error)))
        self.answer = answer
        self._report("done")
        self._publish(records.DoneEvent(answer), last=True)
        if self._services.echo is not None:
            self._services.echo(f"Q: {self.asked.question.text}\nA: {answer.answer}\n")

    async def _save_partial(self) -> None:
        messages = self._transcript.partial(self.sent)
        known = await recall_events(self._services.turns, self.id, self.asked)
        if messages and len(known) <= len(self.sent):  # else another server goes on with it, and stores more
            try:
                await self._save(messages, None)
            except ChatStoreError as error:
                self._metrics.unsaved.inc()
                _log.error("not_saved", message=self.id, detail=error.detail)

    async def _save(self, messages: list[records.ChatMessage], answer: records.Answer | None) -> None:
        key = self.asked.question.session_id
        if key and self._space.low:
            raise ChatStoreFull(NOT_SAVED_DISK)
        if key:
            self._allowance.take(self.asked.unnamed_peer, len(msgspec.json.encode(messages)))
            origin = self.asked.origin
            if answer is not None:
                book = answer.sources[0].book if answer.sources else origin.book
                origin = msgspec.structs.replace(origin, book=book, generation=answer.generation)
            try:
                with stages.stage("store"):
                    await self._services.chats.record(key, origin, messages)
            except ChatStoreError as error:
                self._space.failed = not isinstance(error, ChatStoreFull)
                raise
            self._space.failed = False

    def _unsaved(self, error: ChatStoreError) -> str:
        if isinstance(error, ChatStoreFull):
            return error.detail
        return NOT_REMEMBERED if self._services.trouble else NOT_SAVED

    def _fail(self, error: Exception) -> None:
        failure = as_problem(error)
        if self.finished.is_set():  # the answer was given; what failed came after it
            return
        self.failure = failure
        self._report(type(error).__name__)
        self._publish(records.ErrorEvent(failure.detail), last=True)

    def _publish(self, event: records.AnswerEvent, *, last: bool = False) -> None:
        self.sent.append(event)
        if last:
            self.finished.set()
        self._news.set()
        self._news = asyncio.Event()

    def _clock_in(self, event: records.AnswerEvent) -> None:
        name = str(event.__struct_config__.tag)
        if name not in self._stages_ms:
            seconds = self._services.clock() - self._began_s
            self._stages_ms[name] = round(seconds * 1000)
            self._metrics.stage_seconds.labels(name).observe(seconds)

    def _report(self, outcome: str) -> None:
        """One log line a question and its counts: ids, timings, scores and outcome, never its text."""
        question, answer = self.asked.question, self.answer
        self._metrics.outcomes.labels(outcome).inc()
        line: dict[str, object] = {"message": self.id, "session": question.session_id[:13], "surface": question.surface}
        if answer is not None:
            self._metrics.questions.labels(question.surface, answer.kind, answer.refusal or "none").inc()
            scores = [round(source.relevance_score, 3) for source in answer.sources]
            line |= {"mode": answer.mode, "kind": answer.kind, "refusal": answer.refusal, "scores": scores}
            line |= {"generation": answer.generation, "model": answer.model_used, "latency_ms": answer.latency_ms}
        if answer is not None and (question.mode, answer.mode) == ("selection", "book"):
            _log.warning("selection_unusable", message=self.id, detail=EMPTY_SELECTION)
        timings = {"stages_ms": self._stages_ms, "work_ms": self._timings.work_ms()}
        _log.info("question", **line, outcome=outcome, **timings, **self._timings.facts)


async def _wait(news: asyncio.Event, timeout_s: float) -> bool:
    try:
        await asyncio.wait_for(news.wait(), timeout_s)
    except TimeoutError:
        return False
    return True
