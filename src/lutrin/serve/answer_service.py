"""Answers questions over HTTP: admits each one, starts a turn for it, and keeps the turn for a while to be resumed.

A turn is produced once and read by any number of connections. It runs in its own task, so a closed connection does not
interrupt storage: of the question when it is asked, of the book's answer before it is shown, then of each sentence of
the model. When its last reader has left, it is cancelled after `LINGER_S`, which frees the model within a second. A
reader who comes back, with `Last-Event-ID` or after a reload by the message's id, gets the rest: from the buffer, or,
if the turn has been cancelled, by asking again and skipping what was already sent. That is exact because the same
question gives the same answer.
"""

import asyncio
import hashlib
import re
import uuid
from collections import OrderedDict, defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any
from weakref import WeakSet

import msgspec
from litestar import Response
from litestar.response import Stream
from litestar.status_codes import HTTP_500_INTERNAL_SERVER_ERROR

from lutrin import messages, records, stages
from lutrin.answer.render import explanation_of, with_plain_words
from lutrin.chats.key import conversation_key, owner_of
from lutrin.errors import (
    ChatStoreError,
    ChatStoreFull,
    IndexUnavailable,
    InvalidQuestion,
    LutrinError,
    MalformedRequest,
    NotFound,
    RateLimited,
)
from lutrin.log import get_logger, report_repeats
from lutrin.serve.budget import beside_loop, payer
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.limits import Allowance, FreeSpace, Limits, Presence, peer_of_scope
from lutrin.serve.metrics import Metrics
from lutrin.serve.ownership import CLIENT_HEADER, OPENAI_OWNER, Owner, family, is_secure, owner, owner_by_cookie
from lutrin.serve.problems import ReportedProblem, as_problem
from lutrin.serve.services import Services, TurnLog
from lutrin.serve.text_blocks import answer_with_blocks, event_with_blocks
from lutrin.settings import Settings

EVENT_STREAM = "text/event-stream"
HEARTBEAT = b": heartbeat\n\n"
HEARTBEAT_S = 10.0
STREAM_HEADERS = {
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",  # nginx would hold the stream back
}
LINGER_S = 0.8
"""A reloaded page is back within this time; the model is free for others within a second."""
MESSAGE_HEADER = "X-Lutrin-Message"
ASKED_HEADER = "X-Lutrin-Asked"
KEPT_TURNS = 256
KEPT_S = 120.0
FIRST_EVENT_S = 1.0
"""How long a stream's status line waits for the first event, so that an error can still have its own status."""
RETENTION_EVERY_S = 3600.0
NO_STORE = {"Cache-Control": "no-store"}
MOST_QUESTION_CHARS = 8_000
MOST_SELECTION_CHARS = 16_000
HOUSEKEEPING_EVERY_S = 60.0

Shape = Callable[[records.Answer], Any]
"""Builds the body of a reply."""
ASKED = ".asked"
"""Suffix of a turn's id under which other servers find its question."""
PASSING = (records.QueuedEvent, records.WorkingEvent)
"""Events that only report the model's progress."""
_decoder = msgspec.json.Decoder(records.AnswerEvent)
_log = get_logger("serve")


def _frame(event: records.AnswerEvent, stream: str, number: int) -> bytes:
    """The bytes of one event, numbered from 1 in its stream."""
    name = str(event.__struct_config__.tag)
    match event:
        case (
            records.DoneEvent(answer=carried)
            | records.BookAnswerEvent(answer=carried)
            | records.ExcerptEvent(excerpt=carried)
        ):  # its fields stand beside the type
            data = f'{{"type":"{name}",'.encode() + msgspec.json.encode(carried).removeprefix(b"{")
        case _:
            data = msgspec.json.encode(event)
    # JSON escapes line breaks, so this is one line.
    return f"id: {stream}.{number}\nevent: {name}\ndata: ".encode() + data + b"\n\n"


def _with_blocks(events: Sequence[records.AnswerEvent]) -> list[records.AnswerEvent]:
    return list(map(event_with_blocks, events))


def parse_event_id(value: str) -> tuple[str, int] | None:
    """Stream and number of a `Last-Event-ID`; None if it is not one of ours."""
    match = re.fullmatch(r"([0-9a-f]{32})\.([0-9]{1,6})", value.strip())
    return (match[1], int(match[2])) if match else None


@dataclass(slots=True)
class Timings:
    """A `stages.Listener` for one answer."""

    metrics: Metrics
    facts: dict[str, str] = field(default_factory=dict)
    _work_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add_time(self, stage: str, seconds: float) -> None:
        """Record the end of a stage; see `stages.Listener`."""
        self._work_s[stage] += seconds
        self.metrics.work_seconds.labels(stage).observe(seconds)

    def add_fact(self, fact: str, value: str) -> None:
        """Record a fact about the answer; see `stages.Listener`."""
        self.facts[fact] = value
        self.metrics.facts.labels(fact, value).inc()

    def work_ms(self) -> dict[str, int]:
        """Milliseconds of each stage; stages with the same name are summed."""
        return {name: round(seconds * 1000) for name, seconds in self._work_s.items()}


@dataclass(frozen=True, slots=True)
class IncomingQuestion:
    """A question and its owner."""

    question: records.Question
    """Its `session_id` is the conversation's key; empty: do not store it."""
    origin: records.ChatOrigin
    unnamed_peer: str = field(default="", compare=False)
    """The network peer of a reader who sent no secret; see `space.Allowance`."""

    def is_same(self, other: "IncomingQuestion") -> bool:
        """Whether a reader repeats a question: the same words, in the same conversation, from any page of it."""
        mine, theirs = self.question, other.question
        words = (mine.text, mine.selected_text) == (theirs.text, theirs.selected_text)
        return words and mine.session_id == theirs.session_id and self.origin.owner == other.origin.owner


class Transcript:
    """Builds the messages to store; the question's `session_id` is the conversation's key."""

    def __init__(self, message_id: str, question: records.Question, now: Callable[[], datetime]) -> None:
        self._question = question
        self._now = now
        self.message_ids = (uuid.uuid5(uuid.UUID(message_id), "question").hex, message_id)
        """Ids of the question and its answer, as stored."""
        self.asked_at = self._stamp()
        """Of the question, as its message keeps it."""

    def asked(self) -> list[records.ChatMessage]:
        """The question, and a placeholder for its answer, so that no later question comes between them."""
        mode = self._question.mode or ("selection_boosted" if self._question.selected_text else "book")
        answer = msgspec.structs.replace(self._assistant("", None, mode, ()), unfinished=True)
        return [self._user(mode), answer]

    def complete(
        self, answer: records.Answer, certainty: records.Certainty | None = None, *, unfinished: bool = False
    ) -> list[records.ChatMessage]:
        """The question and answer to store, with a record of how the answer was produced."""
        message = msgspec.structs.replace(
            self._assistant(answer.answer, answer.kind, answer.mode, answer.sources), **answer.parts()
        )
        message = msgspec.structs.replace(message, unfinished=unfinished)
        return [self._user(answer.mode), records.KeptMessage(**msgspec.structs.asdict(message), made=certainty)]

    def partial(
        self, events: Sequence[records.AnswerEvent], certainty: records.Certainty | None = None
    ) -> list[records.ChatMessage]:
        """The question and the part of its answer sent so far."""
        if (answer := answer_among(events)) is not None:
            return self.complete(answer, certainty, unfinished=True)
        excerpts = tuple(event.excerpt for event in events if isinstance(event, records.ExcerptEvent))
        sentences = sentences_among(events)
        if not excerpts and not sentences:
            return self.asked()
        explanation = explanation_of(sentences)
        used = {n for sentence in sentences for n in sentence.citations} | {excerpt.n for excerpt in excerpts}
        by_number: dict[int, records.Citation] = {}
        for event in events:
            if isinstance(event, records.SourcesEvent):
                by_number |= {citation.n: citation for citation in event.citations if citation.n in used}
        mode = self._question.mode or ("selection_boosted" if self._question.selected_text else "book")
        kind: records.AnswerKind = "generated" if sentences else "extractive"
        citations = tuple(citation for _, citation in sorted(by_number.items()))
        text = explanation or "\n\n".join(excerpt.text for excerpt in excerpts)
        message = self._assistant(text, kind, mode, citations)
        sent = msgspec.structs.replace(
            message, explanation=explanation, sentences=tuple(sentences), excerpts=excerpts, unfinished=True
        )
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
        self, text: str, kind: records.AnswerKind | None, mode: records.Mode, citations: tuple[records.Citation, ...]
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


def answer_among(events: Sequence[records.AnswerEvent]) -> records.Answer | None:
    """The book's answer with the model's sentences so far; None before there is one."""
    place = next((at for at, event in enumerate(events) if isinstance(event, records.BookAnswerEvent)), None)
    if place is None or not isinstance(book := events[place], records.BookAnswerEvent):
        return None
    answer, words = book.answer, sentences_among(events[place:])
    if not words:
        return answer
    sources = [event.citations for event in events[place:] if isinstance(event, records.SourcesEvent)]
    return msgspec.structs.replace(
        answer,
        answer=with_plain_words(answer.answer, words, closest=answer.closest),
        plain_words=tuple(words),
        sources=sources[-1] if sources else answer.sources,
    )


def sentences_among(events: Sequence[records.AnswerEvent]) -> list[records.Sentence]:
    """The sentences sent so far."""
    return [
        records.Sentence(text=event.text, citations=event.citations, support=event.support)
        for event in events
        if isinstance(event, records.SentenceEvent)
    ]


def fingerprint(incoming: IncomingQuestion) -> str:
    """Hash a question and its owner, so that neither can be recovered."""
    return hashlib.sha256(msgspec.json.encode(incoming)).hexdigest()


async def recall_question(log: TurnLog | None, turn: str) -> "IncomingQuestion | None":
    """Recall the question of a turn that another server started; None if it is unknown or the log is away."""
    if log is None:
        return None
    try:
        kept = await log.recall(turn + ASKED, "")
    except ChatStoreError as error:
        _log.warning("shared_turns_away", detail=error.detail)
        return None
    return msgspec.json.decode(kept[0], type=IncomingQuestion) if kept else None


async def recall_events(log: TurnLog | None, turn: str, incoming: IncomingQuestion) -> list[records.AnswerEvent]:
    """Recall the events of a turn that another server started; empty if it failed or the log is away."""
    if log is None:
        return []
    try:
        events = [_decoder.decode(event) for event in await log.recall(turn, fingerprint(incoming))]
    except ChatStoreError as error:
        _log.warning("shared_turns_away", detail=error.detail)
        return []
    return events[:-1] if events and isinstance(events[-1], records.ErrorEvent) else events


class Turn:
    """One question and the events of its answer.

    Args:
        turn_id: 32 hexadecimal digits; also the id of the answer's message and of the stream. Empty: a new one.
        earlier: Events that another server has sent already.
        keeps_question: Whether to store the question before it is answered: a page may be reloaded in between.
    """

    def __init__(
        self,
        service: "AnswerService",
        incoming: IncomingQuestion,
        turn_id: str = "",
        earlier: Sequence[records.AnswerEvent] = (),
        *,
        keeps_question: bool = False,
    ) -> None:
        self._service = service
        self._services = services = service.services
        self.id = turn_id or uuid.uuid4().hex
        self.incoming = incoming
        self.sent: list[records.AnswerEvent] = []
        self.finished = asyncio.Event()
        self.answer: records.Answer | None = None
        self.failure: ReportedProblem | None = None
        self._metrics = service.metrics
        self._transcript = Transcript(self.id, incoming.question, services.now)
        self._task: asyncio.Task[None] | None = None
        self._readers = 0
        self._news = asyncio.Event()
        self._saving = False
        """Whether its end is being stored, or was: it can no longer be stopped or restarted."""
        self._is_left = False
        """Whether it was cancelled because its readers had left."""
        self._leaving: asyncio.TimerHandle | None = None
        self._keeps_question = keeps_question
        self._kept: asyncio.Task[None] | None = None
        self._is_begun = False
        """Whether part of it is stored: if that is gone, its reader has deleted the conversation."""
        self._certainty: records.Certainty | None = None
        self.is_forgotten = False
        """Whether its conversation was deleted while it ran."""
        self._is_stopped = False
        self._is_producing = False
        self._logged = len(earlier)
        for event in earlier:
            self.sent.append(event)
            if isinstance(event, records.DoneEvent):
                self.answer = event.answer
                self.finished.set()
        self._began_s = services.clock()
        self._stages_ms: dict[str, int] = {}
        self._timings = Timings(service.metrics)

    @property
    def headers(self) -> dict[str, str]:
        """The response headers: the id of the answer's message, and when the question arrived."""
        return {MESSAGE_HEADER: self.id, ASKED_HEADER: self._transcript.asked_at}

    def attach(self) -> None:
        """Attach a connection; start the turn, or restart it if it was cancelled before its end was stored."""
        self._readers += 1
        is_ending = self.finished.is_set() or self._saving or self._is_stopped
        if not is_ending and (self._task is None or self._task.done()):
            self._start()

    def _start(self) -> None:
        if self._keeps_question and self._kept is None:
            self._kept = self._service.spawn(self._try_to_save(self._transcript.asked()), vital=True)
        self._is_left = False
        self._service.note(self)
        self._task = self._service.spawn(self._run())

    def detach(self) -> None:
        """Detach a connection that has finished or closed."""
        self._readers -= 1
        if self._readers == 0 and not self.finished.is_set():
            if self._leaving is not None:  # counted from the last connection that went
                self._leaving.cancel()
            self._leaving = asyncio.get_running_loop().call_later(LINGER_S, self._abandon)

    @property
    def is_running(self) -> bool:
        """Whether its answer is being written."""
        return self._task is not None and not self._task.done()

    async def wait_for_start(self, timeout_s: float) -> None:
        """Wait until there is something to send, at most `timeout_s`."""
        if not self.sent and not self.finished.is_set():
            await _wait(self._news, timeout_s)

    def result(self) -> records.Answer:
        """The answer of a finished turn; raise its error if there is none."""
        if self.answer is None:
            raise self.failure or LutrinError(messages.SOMETHING_WRONG)
        return self.answer

    async def stream(self, after: int, *, blocks: bool) -> AsyncIterator[bytes]:
        """Frames from number `after + 1` to the last, in batches, with comments while nothing happens.

        With `blocks`, texts are sent with what they consist of.
        """
        number = after
        async with aclosing(self.batches(after)) as batches:
            async for events in batches:
                await self._log_events(number + len(events))
                shown = await beside_loop(partial(_with_blocks, events)) if blocks and events else events
                frames = [_frame(event, self.id, number + place) for place, event in enumerate(shown, 1)]
                number += len(events)
                yield b"".join(frames) or HEARTBEAT

    async def batches(self, after: int = 0) -> AsyncGenerator[list[records.AnswerEvent], None]:
        """Events from number `after + 1` to the last, as they come; an empty list after a while without any."""
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
                elif not await _wait(news, self._service.heartbeat_s):
                    yield []
        finally:
            self.detach()  # no `await` here: a closed connection cancels its task

    async def _log_events(self, count: int) -> None:
        """Share the first events with the other servers; a failure costs at most a resumption there."""
        if self._services.turns is None or self._logged >= count:
            return
        first, self._logged = self._logged, count
        encoded = [msgspec.json.encode(event) for event in self.sent[first:count]]
        log = self._services.turns
        try:
            if first == 0:
                await log.keep(self.id + ASKED, "", 1, [msgspec.json.encode(self.incoming)])
            await log.keep(self.id, fingerprint(self.incoming), first + 1, encoded)
        except ChatStoreError as error:
            _log.warning("shared_turns_away", detail=error.detail)

    def stop(self) -> None:
        """End the answer for good at its reader's request; keep what there is."""
        if self.finished.is_set() or self._saving or self._is_stopped:
            return
        self._is_stopped = True
        if self._task is not None:
            self._task.cancel()
        if not self._is_producing:  # a task that is cancelled before its first step ends nothing
            self._service.spawn(self._end_as_it_is(), vital=True)

    async def _end_as_it_is(self) -> None:
        """Store what there is as the complete answer, and tell every page that follows it."""
        answer = answer_among(self.sent)
        if answer is not None:
            await self._finish(msgspec.structs.replace(answer, explainable=True), self._certainty)
            return
        pair = self._transcript.partial(self.sent)
        await self._try_to_save([pair[0], msgspec.structs.replace(pair[1], unfinished=False)])
        self._publish(records.ErrorEvent(messages.STOPPED), last=True)

    def _abandon(self) -> None:
        # A turn that is already ending may finish.
        if self._readers == 0 and not self._is_left and self._task is not None and not self._task.done():
            self._is_left = True
            self._task.cancel()

    async def _run(self) -> None:
        self._began_s = self._services.clock()
        self._stages_ms = {}
        self._timings = Timings(self._metrics)
        self._metrics.running.inc()
        self._is_producing = True
        try:
            with stages.listening(self._timings):
                await self._produce()
        except asyncio.CancelledError:
            if not self._saving:
                self._report("cancelled")
                if self._is_stopped:
                    self._service.spawn(self._end_as_it_is(), vital=True)
                elif self._readers and self._is_left:  # somebody came back while it was being cancelled
                    self._start()
                else:
                    self._service.spawn(self._save_partial(), vital=True)
                    if self._readers:  # the server ends: tell those who still read
                        self.failure = as_problem(IndexUnavailable(messages.KNOWLEDGE_BASE_DOWN))
                        self._publish(records.ErrorEvent(self.failure.detail), last=True)
            raise
        except Exception as error:  # noqa: BLE001 - what the stages did not foresee becomes a 500 with an id in the log
            self._fail(error)
        finally:
            self._is_producing = False
            self._metrics.running.dec()

    async def _produce(self) -> None:
        # Progress events of the model would not be repeated by the same question.
        before: list[records.AnswerEvent] = []
        before += [event for event in self.sent if not isinstance(event, (*PASSING, records.BookAnswerEvent))]
        # The stored part of an interrupted answer does not count as an earlier turn.
        question = msgspec.structs.replace(self.incoming.question, kept_as=self._transcript.message_ids, peer=payer())
        book: records.BookAnswerEvent | None = None
        async with aclosing(self._services.answers.answer(question)) as events:
            async for event in events:
                self._clock_in(event)
                if book is not None and not isinstance(event, records.DoneEvent):  # else both are stored at once
                    await self._give_book_answer(book)
                book = None
                if isinstance(event, records.DoneEvent):
                    await asyncio.shield(self._service.spawn(self._finish(event.answer, event.made), vital=True))
                elif isinstance(event, records.ErrorEvent):
                    raise LutrinError(event.detail)
                elif isinstance(event, records.BookAnswerEvent):
                    book = None if self._has_book_answer else event
                elif self._is_new(event, before):
                    self._publish(event)
                    if isinstance(event, records.SentenceEvent) and self._has_book_answer:
                        await self._store_growth()
        if self.answer is None:
            raise LutrinError(messages.SOMETHING_WRONG)

    @property
    def _has_book_answer(self) -> bool:
        return any(isinstance(event, records.BookAnswerEvent) for event in self.sent)

    async def _give_book_answer(self, event: records.BookAnswerEvent) -> None:
        """Store the book's answer, then show it; from here on the model continues."""
        self._certainty = event.made
        shown = records.BookAnswerEvent(answer=event.answer)
        await self._store_growth(shown)
        self._publish(shown)

    async def _store_growth(self, *more: records.AnswerEvent) -> None:
        """Store what there is so far."""
        pair = self._transcript.partial([*self.sent, *more], self._certainty)
        await asyncio.shield(self._service.spawn(self._try_to_save(pair), vital=True))

    async def _try_to_save(self, pair: list[records.ChatMessage]) -> None:
        """Store a state that is stored again at the end, where a failure is reported."""
        with suppress(ChatStoreError):
            await self._save(pair, None)

    @staticmethod
    def _is_new(event: records.AnswerEvent, before: list[records.AnswerEvent]) -> bool:
        """Whether the reader has not yet seen this event; skips past those sent before the connection broke."""
        if not before or isinstance(event, PASSING):
            return True
        if event == before.pop(0):
            return False
        before.clear()  # the answer goes another way this time; `done` will replace what was sent
        return True

    async def _finish(self, answer: records.Answer, certainty: records.Certainty | None) -> None:
        """Finish, even if the turn is cancelled in the meantime."""
        self._saving = True
        try:
            await self._complete(answer, certainty)
        except Exception as error:  # noqa: BLE001 - the reader is told
            self._fail(error)

    async def _complete(self, answer: records.Answer, certainty: records.Certainty | None) -> None:
        """Store, then report that it is done: a reader never loses what was shown as done."""
        try:
            await self._save(self._transcript.complete(answer, certainty), answer)
        except ChatStoreError as error:
            self._metrics.unsaved.inc()
            _log.error("not_saved", message=self.id, detail=error.detail)
            answer = msgspec.structs.replace(answer, warnings=(*answer.warnings, self._unsaved_warning(error)))
        self.answer = answer
        self._report("done")
        if not self._has_book_answer:
            self._publish(records.BookAnswerEvent(answer=answer))
        self._publish(records.DoneEvent(answer), last=True)
        if self._services.echo is not None:
            self._services.echo(f"Q: {self.incoming.question.text}\nA: {answer.answer}\n")

    async def _save_partial(self) -> None:
        pair = self._transcript.partial(self.sent, self._certainty)
        events = await recall_events(self._services.turns, self.id, self.incoming)
        if len(events) <= len(self.sent):  # else another server goes on with it, and stores more
            try:
                await self._save(pair, None)
            except ChatStoreError as error:
                self._metrics.unsaved.inc()
                _log.error("not_saved", message=self.id, detail=error.detail)

    async def _save(self, pair: list[records.ChatMessage], answer: records.Answer | None) -> None:
        """Store the question and its answer, unless its reader has deleted the conversation."""
        key = self.incoming.question.session_id
        if self._kept is not None and self._kept is not asyncio.current_task():
            await self._kept
        if not key or self.is_forgotten:
            return
        if self._service.space.low:
            raise ChatStoreFull(messages.NOT_SAVED_DISK)
        self._service.allowance.take(self.incoming.unnamed_peer, len(msgspec.json.encode(pair)))
        origin = self.incoming.origin
        if answer is not None:
            book = answer.sources[0].book if answer.sources else origin.book
            origin = msgspec.structs.replace(origin, book=book, generation=answer.generation)
        await self._record(key, origin, pair)

    async def _record(self, key: str, origin: records.ChatOrigin, pair: list[records.ChatMessage]) -> None:
        """Store messages, and take them back if their conversation is deleted meanwhile."""
        try:
            with stages.stage("store"):
                await self._services.chats.record(key, origin, pair, is_begun=self._is_begun)
        except NotFound:
            self.is_forgotten = True
            return
        except ChatStoreError as error:
            self._service.space.failed = not isinstance(error, ChatStoreFull)
            raise
        if self.is_forgotten:
            await self._services.chats.take_back(key, self._transcript.message_ids)
            return
        self._is_begun = True
        self._service.space.failed = False

    async def _take_back(self) -> None:
        """Delete a question that could not be asked, such as one for a missing book."""
        if self._kept is not None:
            await self._kept
        if self._is_begun and not self.is_forgotten:
            with suppress(ChatStoreError):
                key = self.incoming.question.session_id
                await self._services.chats.take_back(key, self._transcript.message_ids)

    def _unsaved_warning(self, error: ChatStoreError) -> str:
        if isinstance(error, ChatStoreFull):
            return error.detail
        return messages.NOT_REMEMBERED if self._services.trouble else messages.NOT_SAVED

    def _fail(self, error: Exception) -> None:
        failure = as_problem(error)
        if self.finished.is_set():  # the answer was given; what failed came after it
            return
        self.failure = failure
        if failure.problem.status < HTTP_500_INTERNAL_SERVER_ERROR and not self._has_book_answer:
            self._service.spawn(self._take_back(), vital=True)
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
        """Log one line for a question and its counts: ids, timings, scores and outcome, never its text."""
        question, answer = self.incoming.question, self.answer
        self._metrics.outcomes.labels(outcome).inc()
        line: dict[str, object] = {"message": self.id, "session": question.session_id[:13], "surface": question.surface}
        if answer is not None:
            self._metrics.questions.labels(question.surface, answer.kind, answer.refusal or "none").inc()
            scores = [round(source.relevance_score, 3) for source in answer.sources]
            line |= {"mode": answer.mode, "kind": answer.kind, "refusal": answer.refusal, "scores": scores}
            line |= {"generation": answer.generation, "model": answer.model_used, "latency_ms": answer.latency_ms}
        if answer is not None and (question.mode, answer.mode) == ("selection", "book"):
            _log.warning("selection_unusable", message=self.id, detail=messages.EMPTY_SELECTION)
        timings = {"stages_ms": self._stages_ms, "work_ms": self._timings.work_ms()}
        _log.info("question", **line, outcome=outcome, **timings, **self._timings.facts)


async def _wait(news: asyncio.Event, timeout_s: float) -> bool:
    try:
        await asyncio.wait_for(news.wait(), timeout_s)
    except TimeoutError:
        return False
    return True


class AnswerService:
    """Handles every request for an answer, from any endpoint."""

    def __init__(
        self, services: Services, settings: Settings, metrics: Metrics, heartbeat_s: float = HEARTBEAT_S
    ) -> None:
        self.services = services
        self.metrics = metrics
        self._settings = settings
        self.heartbeat_s = heartbeat_s
        rates = (settings.rate_session_per_min, settings.rate_peer_per_min)
        self._limits = Limits(*rates, services.clock, services.gate)
        self.presence = Presence(services.clock)
        self.space = FreeSpace(settings.data_dir, settings.free_space_mb << 20, services.clock)
        self.allowance = Allowance(settings.reader_kb << 10, services.clock)
        self._turns: OrderedDict[str, tuple[Turn, float]] = OrderedDict()
        self._writing: WeakSet[Turn] = WeakSet()
        self._tasks: set[asyncio.Task[None]] = set()
        self._vital: set[asyncio.Task[None]] = set()

    async def answer(
        self,
        request: HTTPRequest,
        question: records.Question,
        shape: Shape = lambda answer: answer,
        *,
        blocks: bool = False,
    ) -> Response[Any]:
        """Answer in the form that the request accepts: JSON, built by `shape`, or Server-Sent Events.

        With `blocks`, texts are sent with what they consist of.

        Raises:
            InvalidQuestion, InvalidInput: It is empty or too long; the session id or the secret has a wrong form.
            RateLimited: Too many questions.
            LutrinError: There is no answer.
        """
        whose = await self.owner(request, question.session_id)
        incoming = self.with_owner(request, question, whose)
        if EVENT_STREAM in request.headers.get("accept", ""):
            return await self._stream(request, incoming, whose, blocks=blocks)
        return await self._whole(request, incoming, whose, shape, blocks=blocks)

    async def resume(self, request: HTTPRequest, message_id: str, *, blocks: bool = False) -> Response[Any]:
        """Stream an answer in progress, or one finished a moment ago, to its reader's page; `blocks` as in `answer`.

        Raises:
            NotFound: It is gone, or another reader's.
        """
        turn = await self._turn_of(request, message_id)
        self.metrics.resumed.inc()
        parsed = parse_event_id(request.headers.get("last-event-id", ""))
        after = parsed[1] if parsed is not None and parsed[0] == turn.id else 0
        await self._begin(turn)
        headers = {**STREAM_HEADERS, **turn.headers}
        frames = turn.stream(min(after, len(turn.sent)), blocks=blocks)
        return Stream(frames, status_code=200, media_type=EVENT_STREAM, headers=headers)

    async def stop(self, request: HTTPRequest, message_id: str) -> None:
        """End an answer at its reader's request; no page continues it. Raises as `resume`."""
        (await self._turn_of(request, message_id)).stop()

    async def _turn_of(self, request: HTTPRequest, message_id: str) -> Turn:
        """The turn of an answer, started here or on another server; raises NotFound if it is not the reader's."""
        turn, _ = self._turns.get(message_id, (None, 0.0))
        log = self.services.turns
        incoming = turn.incoming if turn is not None else await recall_question(log, message_id)
        if incoming is None or incoming.origin.owner != (await self.owner(request, incoming.origin.session_id)).hashed:
            raise NotFound(messages.NOTHING_HERE)
        if turn is None:
            turn = Turn(self, incoming, message_id, await recall_events(log, message_id, incoming))
            self._keep(turn)
        return turn

    def note(self, turn: Turn) -> None:
        """Register a turn in progress."""
        self._writing.add(turn)

    def forget(self, key: str) -> None:
        """Stop storing the answers in progress of a deleted conversation."""
        for turn in self._writing:
            if turn.incoming.question.session_id == key:
                turn.is_forgotten = True

    async def owner(self, request: HTTPRequest, session_id: str) -> Owner:
        """Determine the owner of the conversation that a request names; see `ownership.owner`."""
        is_open, key = self._settings.open_sessions, self.services.secret
        return await owner(request, session_id, open_sessions=is_open, key=key, is_known=self._is_known)

    async def reader(self, request: HTTPRequest) -> str:
        """The owner whose conversations a browser may list and delete; empty if it sent no secret."""
        if secret := request.headers.get(CLIENT_HEADER, ""):
            return owner_of(secret)
        found = await owner_by_cookie(request, self.services.secret, self._is_known)
        return found.hashed if found is not None else ""

    async def _is_known(self, owner: str) -> bool:
        """Whether an owner has stored conversations; while that is unknown, none is deleted."""
        try:
            return bool(await self.services.chats.sessions(owner, 1))
        except ChatStoreError:
            return True

    async def open_turn(self, request: HTTPRequest, question: records.Question) -> Turn:
        """Start a turn for an endpoint that writes its own stream; raises as `answer`, or the turn's error."""
        incoming = self.with_owner(request, question, Owner(OPENAI_OWNER))
        await self.admit(request, incoming)
        turn = Turn(self, incoming)
        await self._begin(turn)
        return turn

    async def answer_openai(self, request: HTTPRequest, question: records.Question, shape: Shape) -> Response[Any]:
        """Like `answer`, but for OpenAI's interface, which has no address for conversations."""
        whose = Owner(OPENAI_OWNER)
        return await self._whole(request, self.with_owner(request, question, whose), whose, shape)

    async def _whole(
        self, request: HTTPRequest, incoming: IncomingQuestion, whose: Owner, shape: Shape, *, blocks: bool = False
    ) -> Response[Any]:
        """The whole answer as JSON, built by `shape`: without a model, unless the caller waits for one."""
        await self.admit(request, incoming)
        if incoming.question.wait_s is None:
            wait_s = self._settings.explain_s if incoming.question.explain else 0.0
            incoming = replace(incoming, question=msgspec.structs.replace(incoming.question, wait_s=wait_s))
        incoming = replace(incoming, question=msgspec.structs.replace(incoming.question, whole=True))
        turn = Turn(self, incoming)
        await self._wait_for_answer(turn, request)
        headers = {**turn.headers, **whose.headers(), **NO_STORE}
        cookies = whose.cookies(secure=is_secure(request))
        answer = turn.result()
        shown = await beside_loop(partial(answer_with_blocks, answer)) if blocks else answer
        return Response(shape(shown), status_code=200, headers=headers, cookies=cookies)

    async def admit(self, request: HTTPRequest, incoming: IncomingQuestion) -> None:
        """Count a question against both limits; raises RateLimited if one of them is reached."""
        peer = self.peer(request)
        # Without a browser's secret, count by the id alone: otherwise each request without a cookie had its own window.
        has_owner = request.headers.get(CLIENT_HEADER) or incoming.origin.owner == OPENAI_OWNER
        session = incoming.question.session_id if has_owner else incoming.origin.session_id
        try:
            await self._limits.admit(session, peer)
        except RateLimited:
            self.metrics.limited.inc()
            raise
        self.presence.note(session or peer)

    def peer(self, request: HTTPRequest) -> str:
        """The network peer that a request comes from; see `limits.peer_of`."""
        return peer_of_scope(request.scope, self._settings.trusted_proxies)

    def from_peer(self, request: HTTPRequest, question: records.Question) -> records.Question:
        """A question labelled with its network peer, which takes turns with others."""
        return msgspec.structs.replace(question, peer=self.peer(request))

    def spawn(self, work: Coroutine[Any, Any, None], *, vital: bool = False) -> "asyncio.Task[None]":
        """Start a task that no connection owns. At shutdown the server waits for vital tasks and cancels the others."""
        task = asyncio.get_running_loop().create_task(work)
        tasks = self._vital if vital else self._tasks
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    @asynccontextmanager
    async def keeping_house(self) -> AsyncIterator[None]:
        """While the block runs, delete old conversations and report folded log lines."""
        running = self.services.background.running
        async with running(self._keep_house, name="housekeeping"), AsyncExitStack() as stack:
            if self._settings.retention_days:
                await stack.enter_async_context(running(self._retain, name="retention"))
            yield

    async def end(self, grace_s: float) -> None:
        """Shut down: let running answers finish for some time, then cancel them and tell their readers."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Cancel every running task, and wait until everything that was sent has been stored."""
        for task in self._tasks:
            task.cancel()
        while pending := self._tasks | self._vital:  # a cancelled turn still stores what it has sent
            await asyncio.wait(pending)

    def with_owner(self, request: HTTPRequest, question: records.Question, whose: Owner) -> IncomingQuestion:
        """Attach a conversation's key for a browser's session id; raises InvalidInput, or as `check_lengths`."""
        check_lengths(question)
        key = conversation_key(question.session_id, whose.hashed)
        agent = family(request.headers.get("user-agent", ""))
        origin = records.ChatOrigin(
            session_id=question.session_id, owner=whose.hashed, user_agent=agent, book=question.book
        )
        peer = "" if whose.named or not key else self.peer(request)
        return IncomingQuestion(msgspec.structs.replace(question, session_id=key), origin, peer)

    async def _stream(
        self, request: HTTPRequest, incoming: IncomingQuestion, whose: Owner, *, blocks: bool
    ) -> Response[Any]:
        turn, after = await self._find_resumable(request.headers.get("last-event-id", ""), incoming)
        if turn is None:
            await self.admit(request, incoming)
            turn = Turn(self, incoming, keeps_question=True)
            self._keep(turn)
        await self._begin(turn)
        headers = {**STREAM_HEADERS, **turn.headers, **whose.headers()}
        stream = Stream(turn.stream(after, blocks=blocks), status_code=200, media_type=EVENT_STREAM, headers=headers)
        stream.cookies = whose.cookies(secure=is_secure(request))
        return stream

    async def _begin(self, turn: Turn) -> None:
        """Start a turn and wait for its first event. A client may attach until an unread turn expires."""
        turn.attach()
        try:
            await turn.wait_for_start(FIRST_EVENT_S)
        finally:
            turn.detach()
        if turn.failure is not None and len(turn.sent) == 1:
            raise turn.failure

    async def _find_resumable(self, last_event_id: str, incoming: IncomingQuestion) -> tuple[Turn | None, int]:
        """The turn that a `Last-Event-ID` names, if it has the same question and reader.

        It is either in memory here, or another server started it and it continues here.
        """
        parsed = parse_event_id(last_event_id)
        if parsed is None:
            return None, 0
        name, after = parsed
        turn, _ = self._turns.get(name, (None, 0.0))
        if turn is None and (events := await recall_events(self.services.turns, name, incoming)):
            turn = Turn(self, incoming, name, events)
            self._keep(turn)
        if turn is None or not turn.incoming.is_same(incoming) or after > len(turn.sent):
            return None, 0
        self.metrics.resumed.inc()
        return turn, after

    def _keep(self, turn: Turn) -> None:
        now = self.services.clock()
        self._turns[turn.id] = (turn, now)
        while self._turns:
            oldest, (_, since) = next(iter(self._turns.items()))
            is_wanted = since + KEPT_S > now or self._turns[oldest][0].is_running
            if len(self._turns) <= KEPT_TURNS and is_wanted:
                break
            del self._turns[oldest]

    async def _wait_for_answer(self, turn: Turn, request: HTTPRequest) -> None:
        """Wait for the answer; a reader who disconnects frees the model."""
        turn.attach()
        finished = asyncio.ensure_future(turn.finished.wait())
        gone = asyncio.ensure_future(_wait_for_disconnect(request))
        try:
            await asyncio.wait({finished, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not turn.finished.is_set():
                raise MalformedRequest(messages.SOMETHING_WRONG)  # without a reader
        finally:
            finished.cancel()
            gone.cancel()
            turn.detach()

    async def _retain(self) -> None:
        while True:
            try:
                count = await self.services.chats.retain(self._settings.retention_days)
                if count:
                    _log.info("retention", deleted=count)
            except ChatStoreError as error:
                _log.error("retention_failed", detail=error.detail)
            await asyncio.sleep(RETENTION_EVERY_S)

    async def _keep_house(self) -> None:
        low = False
        while True:
            report_repeats()
            if self.space.low != low:
                low = not low
                _log.warning("disk_low" if low else "disk_has_room", free_mb=self.space.free_bytes >> 20)
            await asyncio.sleep(HOUSEKEEPING_EVERY_S)


def check_lengths(question: records.Question) -> None:
    """Raise InvalidQuestion if a question is empty, or longer than anyone writes."""
    if not question.text.strip():
        raise InvalidQuestion(messages.EMPTY_QUESTION)
    if len(question.text) > MOST_QUESTION_CHARS:
        raise InvalidQuestion(messages.QUESTION_TOO_LONG.format(limit=MOST_QUESTION_CHARS))
    if len(question.selected_text) > MOST_SELECTION_CHARS:
        raise InvalidQuestion(messages.SELECTION_TOO_LONG.format(limit=MOST_SELECTION_CHARS))


async def _wait_for_disconnect(request: HTTPRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
