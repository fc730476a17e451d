"""OpenAI's chat completions, so that existing clients can ask the book. The field `lutrin` has the citations."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Annotated, Any, Literal

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency as Given
from litestar.params import JSONBody
from litestar.response import Stream

from lutrin import records
from lutrin.answer.render import GAP, plain_words_heading, sentence_piece
from lutrin.errors import InvalidQuestion
from lutrin.messages import EMPTY_QUESTION
from lutrin.serve.answer_service import EVENT_STREAM, HEARTBEAT, NO_STORE, STREAM_HEADERS, AnswerService, Turn
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.ownership import openai_session
from lutrin.serve.problems import OpenAIProblem, operation
from lutrin.serve.schemas import WaitS

TAG = "openai"
Tokens = Annotated[int, msgspec.Meta(ge=1)]
MOST_EARLIER, EARLIER_CHARS = 12, 4_000
"""Earlier messages to read, and characters of each: a follow-up depends on the last ones only."""
MODEL = "lutrin"
SERVER_ERROR = {"type": "server_error", "param": None, "code": None}


class TextPart(msgspec.Struct, frozen=True):
    """A part of a message; parts other than text are ignored."""

    type: str
    text: str = ""


class CompletionMessage(msgspec.Struct, frozen=True):
    """A message of the request; the user's last message is the question."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[TextPart] | None = None

    def text(self) -> str:
        """The text of the message."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type == "text")
        return self.content or ""


class CompletionBody(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /v1/chat/completions`; other fields of OpenAI's are accepted and ignored."""

    messages: list[CompletionMessage]
    model: str = MODEL
    stream: bool = False
    user: str | None = None
    """Name of a stored conversation, for clients that send only the newest message."""
    max_tokens: Tokens | None = None
    """Maximum tokens of the explanation; the book's own words are never cut."""
    max_completion_tokens: Tokens | None = None
    """Newer name of `max_tokens`."""
    wait_s: WaitS | None = None
    """Seconds to wait for the model's explanation, as in Lutrin's own requests."""


@get("/v1/models", **operation("listModels", "The only model: the book", TAG, 503, shape=OpenAIProblem))
async def models(service: Given[AnswerService]) -> Response[dict[str, Any]]:
    """List the book as the only model; each answer names the language model behind it."""
    books = await service.services.library.books()
    entry = {"id": MODEL, "object": "model", "created": 0, "owned_by": "lutrin", "books": [book.slug for book in books]}
    return Response({"object": "list", "data": [entry]}, headers=NO_STORE)


@post(
    "/v1/chat/completions",
    **operation("chatCompletions", "Ask in OpenAI's format", TAG, 404, 413, 422, 429, 503, shape=OpenAIProblem),
    status_code=200,
)
async def completions(
    data: JSONBody[CompletionBody], request: HTTPRequest, service: Given[AnswerService]
) -> Response[Any]:
    """Answer the user's last message; earlier ones complete it. Instructions to the model have no effect."""
    places = [place for place, message in enumerate(data.messages) if message.role == "user"]
    text = data.messages[places[-1]].text() if places else ""
    if not text.strip():
        raise InvalidQuestion(EMPTY_QUESTION)
    session = openai_session(service.services.secret, data.user or "", request.headers.get("authorization", ""))
    question = records.Question(
        text=text,
        session_id=session,
        surface="chat",
        answer_tokens=data.max_completion_tokens or data.max_tokens,
        wait_s=data.wait_s,
        earlier=_earlier(data.messages[: places[-1]]),
    )
    created = int(service.services.now().timestamp())
    if not data.stream:
        return await service.answer_openai(request, question, lambda answer: _completion(answer, created))
    turn = await service.open_turn(request, question)
    return Stream(_chunks(turn, created), status_code=200, media_type=EVENT_STREAM, headers=STREAM_HEADERS)


def _earlier(messages: Sequence[CompletionMessage]) -> tuple[records.Message, ...]:
    """Return the earlier turns of the user and the assistant that hold text."""
    turns = [
        records.Message(role="user" if message.role == "user" else "assistant", content=text[:EARLIER_CHARS])
        for message in messages
        if message.role in {"user", "assistant"} and (text := message.text().strip())
    ]
    return tuple(turns[-MOST_EARLIER:])


def _completion(answer: records.Answer, created: int) -> dict[str, Any]:
    message = {"role": "assistant", "content": answer.answer, "refusal": None}
    return {
        "id": f"chatcmpl-{created}",
        "object": "chat.completion",
        "created": created,
        "model": MODEL,
        "choices": [{"index": 0, "message": message, "finish_reason": _end(answer), "logprobs": None}],
        "lutrin": answer,
    }


def _end(answer: records.Answer) -> Literal["stop", "length"]:
    return "length" if answer.is_cut else "stop"


async def _chunks(turn: Turn, created: int) -> AsyncIterator[bytes]:
    """Stream the answer in OpenAI's chunks: the book's answer, then each sentence of the model once it is verified."""
    yield _chunk(turn, created, {"role": "assistant", "content": ""})
    sent = Sent()
    async with aclosing(turn.batches()) as batches:
        async for events in batches:
            if not events:
                yield HEARTBEAT
            for event in events:
                if piece := sent.piece(event):
                    yield _chunk(turn, created, {"content": piece})
                if isinstance(event, records.ErrorEvent):
                    yield _line({"error": {**SERVER_ERROR, "message": event.detail}})
                elif isinstance(event, records.DoneEvent):
                    yield _chunk(turn, created, {}, finish=_end(event.answer), lutrin=event.answer)
    yield b"data: [DONE]\n\n"


class Sent:
    """The text that a streaming client has, and the next chunk for each event."""

    def __init__(self) -> None:
        self.text = ""
        self._sentences = ""
        """Text rendered since the book's answer, or since the start."""
        self._book: records.Answer | None = None

    def piece(self, event: records.AnswerEvent) -> str:
        """Return the text that an event adds."""
        piece = ""
        match event:
            case records.SentenceEvent():
                said = sentence_piece(event, self._sentences)
                if self._book is not None and not self._sentences:
                    piece = f"{GAP}{plain_words_heading(closest=self._book.closest)}{GAP}"
                piece += said
                self._sentences += said
            case records.BookAnswerEvent(answer=answer):
                piece, self._book, self._sentences = rest_of(answer.answer, self.text), answer, ""
            case records.DoneEvent(answer=answer) if self._book is None or answer.answer != self._book.answer:
                piece = rest_of(answer.answer, self.text)
        self.text += piece
        return piece


def rest_of(whole: str, sent: str) -> str:
    """Return the part of the whole answer that has not been sent yet.

    This shape cannot take back what it has sent. What a model adds follows the book's answer, so there is nothing
    to take back; an answer that begins otherwise (a refusal that was lifted) follows whole.
    """
    if not sent:
        return whole
    return whole[len(sent) :] if whole.startswith(sent) else f"\n\n{whole}"


def _chunk(turn: Turn, created: int, delta: dict[str, str], finish: str | None = None, **more: Any) -> bytes:  # noqa: ANN401 - further fields
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    head = {"id": f"chatcmpl-{turn.id}", "object": "chat.completion.chunk", "created": created, "model": MODEL}
    return _line({**head, "choices": [choice], **more})


def _line(body: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(body) + b"\n\n"


HANDLERS = [models, completions]
