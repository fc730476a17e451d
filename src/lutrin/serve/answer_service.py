"""Answers questions over HTTP: admits each one, starts a turn for it, and keeps the turn for a while to be resumed."""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from litestar import Response
from litestar.response import Stream

from lutrin import messages
from lutrin.chats.key import conversation_key
from lutrin.errors import ChatStoreError, InvalidQuestion, MalformedRequest, RateLimited
from lutrin.log import get_logger, report_folded
from lutrin.records import Answer, AnswerEvent, ChatOrigin, Question
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.limits import Allowance, FreeSpace, Limits, Presence, peer_of_scope
from lutrin.serve.metrics import Metrics
from lutrin.serve.ownership import CLIENT_HEADER, OPENAI_OWNER, Owner, family, owner
from lutrin.serve.services import Services
from lutrin.serve.turns import (
    EVENT_STREAM,
    HEARTBEAT_S,
    STREAM_HEADERS,
    IncomingQuestion,
    Turn,
    parse_event_id,
    recall_events,
)
from lutrin.settings import Settings

KEPT_TURNS = 256
KEPT_S = 120.0
FIRST_EVENT_S = 1.0
"""A stream's status line waits this long for the first event, so that an error can still be a status of its own."""
RETENTION_EVERY_S = 3600.0
WAIT_S = 6.0
"""Seconds that a JSON caller waits for an explanation unless it says otherwise."""
NO_STORE = {"Cache-Control": "no-store"}
MOST_QUESTION_CHARS = 8_000
MOST_SELECTION_CHARS = 16_000
HOUSEKEEPING_EVERY_S = 60.0

_log = get_logger("serve")


class AnswerService:
    """Handles every request for an answer, whichever endpoint it came to."""

    def __init__(
        self, services: Services, settings: Settings, metrics: Metrics, heartbeat_s: float = HEARTBEAT_S
    ) -> None:
        self.services = services
        self.metrics = metrics
        self._settings = settings
        self._heartbeat_s = heartbeat_s
        rates = (settings.rate_session_per_min, settings.rate_peer_per_min)
        self._limits = Limits(*rates, services.clock, services.gate)
        self.presence = Presence(services.clock)
        self.space = FreeSpace(settings.data_dir, settings.free_space_mb << 20, services.clock)
        self.allowance = Allowance(settings.reader_kb << 10, services.clock)
        self._turns: OrderedDict[str, tuple[Turn, float]] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._vital: set[asyncio.Task[None]] = set()

    async def answer(
        self, request: HTTPRequest, question: Question, shape: Callable[[Answer], Any] = lambda answer: answer
    ) -> Response[Any]:
        """Answer a question as the request accepts it: as JSON, which `shape` makes, or as Server-Sent Events.

        Raises:
            InvalidQuestion: It is empty, or too long.
            InvalidInput: The session id or the secret has a wrong form.
            RateLimited: Too many questions.
            LutrinError: There is no answer.
        """
        whose = self.owner(request, question.session_id)
        asked = self.with_owner(request, question, whose)
        if EVENT_STREAM in request.headers.get("accept", ""):
            return await self._streamed(request, asked, whose)
        asked = replace(
            asked, question=msgspec.structs.replace(asked.question, wait_s=self._patience_s(asked.question))
        )
        return await self._whole(request, asked, whose, shape)

    def owner(self, request: HTTPRequest, session_id: str) -> Owner:
        """Determine who owns the conversation that a request names; see `ownership.owner`."""
        return owner(request, session_id, open_sessions=self._settings.open_sessions)

    def _patience_s(self, question: Question) -> float | None:
        """Return how long a JSON caller waits for the explanation."""
        if question.explain or question.wait_s is not None:
            return question.wait_s
        return min(WAIT_S, self._settings.explain_s)

    async def open_turn(self, request: HTTPRequest, question: Question) -> Turn:
        """Start a turn for an endpoint that writes its own stream; raises as `answer`, and what it failed by."""
        asked = self.with_owner(request, question, Owner(OPENAI_OWNER))
        await self.admit(request, asked)
        turn = self._new_turn(asked)
        await self._begin(turn)
        return turn

    async def answer_openai(
        self, request: HTTPRequest, question: Question, shape: Callable[[Answer], Any]
    ) -> Response[Any]:
        """Answer as `answer` does, but through OpenAI's interface, which has no address for conversations."""
        whose = Owner(OPENAI_OWNER)
        return await self._whole(request, self.with_owner(request, question, whose), whose, shape)

    async def _whole(
        self, request: HTTPRequest, asked: IncomingQuestion, whose: Owner, shape: Callable[[Answer], Any]
    ) -> Response[Any]:
        """The whole answer as JSON, which `shape` makes."""
        await self.admit(request, asked)
        turn = self._new_turn(asked)
        await self._until_finished(turn, request)
        headers = {**turn.headers, **whose.headers(), **NO_STORE}
        cookies = whose.cookies(secure=is_secure(request))
        return Response(shape(turn.result()), status_code=200, headers=headers, cookies=cookies)

    async def admit(self, request: HTTPRequest, asked: IncomingQuestion) -> None:
        """Count a question against both limits; raises RateLimited if one of them is reached."""
        peer = self.peer(request)
        # By the id alone where the browser has named no secret: else each request without a cookie had its own window.
        known = request.headers.get(CLIENT_HEADER) or asked.origin.owner == OPENAI_OWNER
        session = asked.question.session_id if known else asked.origin.session_id
        try:
            await self._limits.admit(session, peer)
        except RateLimited:
            self.metrics.limited.inc()
            raise
        self.presence.note(session or peer)

    def peer(self, request: HTTPRequest) -> str:
        """The network peer that a request comes from; see `limits.peer_of`."""
        return peer_of_scope(request.scope, self._settings.trusted_proxies)

    def from_peer(self, request: HTTPRequest, question: Question) -> Question:
        """A question with the network peer whose turn it waits for."""
        return msgspec.structs.replace(question, peer=self.peer(request))

    def spawn(self, work: Coroutine[Any, Any, None], *, vital: bool = False) -> "asyncio.Task[None]":
        """Start a task that no connection owns. At shutdown the server waits for vital tasks and cancels the rest."""
        task = asyncio.get_running_loop().create_task(work)
        tasks = self._vital if vital else self._tasks
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return task

    async def open(self) -> None:
        """Start the background work: deleting old conversations and reporting log lines that were folded."""
        self.spawn(self._keep_house())
        if self._settings.retention_days:
            self.spawn(self._retain())

    async def end(self, grace_s: float) -> None:
        """Shut down: give running answers some time to finish, then cancel them and tell their readers."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_s)
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Cancel whatever is still running, and wait until everything that was sent has been stored."""
        for task in self._tasks:
            task.cancel()
        while pending := self._tasks | self._vital:  # a cancelled turn still stores what it has sent
            await asyncio.wait(pending)

    def with_owner(self, request: HTTPRequest, question: Question, whose: Owner) -> IncomingQuestion:
        """Put the key of the conversation for a browser's session id; raises InvalidInput, or as `check_lengths`."""
        check_lengths(question)
        key = conversation_key(question.session_id, whose.hashed)
        agent = family(request.headers.get("user-agent", ""))
        origin = ChatOrigin(session_id=question.session_id, owner=whose.hashed, user_agent=agent, book=question.book)
        unnamed = "" if whose.named or not key else self.peer(request)
        return IncomingQuestion(msgspec.structs.replace(question, session_id=key), origin, unnamed)

    def _new_turn(self, asked: IncomingQuestion, turn_id: str = "", known: Sequence[AnswerEvent] = ()) -> Turn:
        return Turn(
            turn_id or uuid.uuid4().hex,
            asked,
            known=known,
            services=self.services,
            metrics=self.metrics,
            spawn=self.spawn,
            heartbeat_s=self._heartbeat_s,
            space=self.space,
            allowance=self.allowance,
        )

    async def _streamed(self, request: HTTPRequest, asked: IncomingQuestion, whose: Owner) -> Response[Any]:
        turn, after = await self._resumed(request.headers.get("last-event-id", ""), asked)
        if turn is None:
            await self.admit(request, asked)
            turn = self._new_turn(asked)
            self._keep(turn)
        await self._begin(turn)
        headers = {**STREAM_HEADERS, **turn.headers, **whose.headers()}
        stream = Stream(turn.stream(after), status_code=200, media_type=EVENT_STREAM, headers=headers)
        stream.cookies = whose.cookies(secure=is_secure(request))
        return stream

    async def _begin(self, turn: Turn) -> None:
        """Start a turn and wait for its first event; who streams it attaches within the time that turns linger."""
        turn.attach()
        try:
            await turn.started(FIRST_EVENT_S)
        finally:
            turn.detach()
        if turn.failure is not None and len(turn.sent) == 1:
            raise turn.failure

    async def _resumed(self, last_event_id: str, asked: IncomingQuestion) -> tuple[Turn | None, int]:
        """The turn that a `Last-Event-ID` names, if it is of the same question and the same reader.

        It is one that is kept here, or one that another server began and that goes on here.
        """
        parsed = parse_event_id(last_event_id)
        if parsed is None:
            return None, 0
        name, after = parsed
        turn, _ = self._turns.get(name, (None, 0.0))
        if turn is None and (known := await recall_events(self.services.turns, name, asked)):
            turn = self._new_turn(asked, name, known)
            self._keep(turn)
        if turn is None or turn.asked != asked or after > len(turn.sent):
            return None, 0
        self.metrics.resumed.inc()
        return turn, after

    def _keep(self, turn: Turn) -> None:
        now = self.services.clock()
        self._turns[turn.id] = (turn, now)
        while self._turns:
            oldest, (_, since) = next(iter(self._turns.items()))
            if len(self._turns) <= KEPT_TURNS and since + KEPT_S > now:
                break
            del self._turns[oldest]

    async def _until_finished(self, turn: Turn, request: HTTPRequest) -> None:
        """Wait for the answer; a reader who disconnects frees the model."""
        turn.attach()
        finished = asyncio.ensure_future(turn.finished.wait())
        gone = asyncio.ensure_future(_disconnected(request))
        try:
            await asyncio.wait({finished, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not turn.finished.is_set():
                raise MalformedRequest(messages.SOMETHING_WRONG)  # nobody is there to read it
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
            report_folded()
            if self.space.low != low:
                low = not low
                _log.warning("disk_low" if low else "disk_has_room", free_mb=self.space.free_bytes >> 20)
            await asyncio.sleep(HOUSEKEEPING_EVERY_S)


def check_lengths(question: Question) -> None:
    """Raise InvalidQuestion if a question asks nothing, or is longer than anyone writes."""
    if not question.text.strip():
        raise InvalidQuestion(messages.EMPTY_QUESTION)
    if len(question.text) > MOST_QUESTION_CHARS:
        raise InvalidQuestion(messages.QUESTION_TOO_LONG.format(limit=MOST_QUESTION_CHARS))
    if len(question.selected_text) > MOST_SELECTION_CHARS:
        raise InvalidQuestion(messages.SELECTION_TOO_LONG.format(limit=MOST_SELECTION_CHARS))


def is_secure(request: HTTPRequest) -> bool:
    """Whether the browser uses TLS, to us or to a proxy in front of us."""
    return "https" in {request.url.scheme, request.headers.get("x-forwarded-proto", "")}


async def _disconnected(request: HTTPRequest) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
