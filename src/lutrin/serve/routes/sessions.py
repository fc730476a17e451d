"""Endpoints for a browser's conversations: read, list, rename, export, delete; and for rating answers."""

from typing import Annotated, Any, Literal

from litestar import Response, delete, get, patch, post
from litestar.di import NamedDependency as Given
from litestar.params import FromQuery, JSONBody, PathParameter, QueryParameter

from lutrin.chats.key import SESSION_ID_PATTERN, conversation_key
from lutrin.chats.store import as_json, as_markdown
from lutrin.errors import NotPermitted
from lutrin.messages import CLIENT_SECRET_MISSING
from lutrin.records import ChatSession
from lutrin.serve.answer_service import NO_STORE, AnswerService
from lutrin.serve.budget import beside_loop
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.problems import operation
from lutrin.serve.schemas import Feedback, History, Renaming, Sessions, WithBlocks
from lutrin.serve.text_blocks import message_with_blocks

NEWEST = 50  # messages of a history, as the specification has it
EXPORTED = 100_000  # messages: all of a conversation
MOST_LISTED = 500
TAG = "conversations"

SessionPath = Annotated[str, PathParameter(pattern=SESSION_ID_PATTERN, description="As the browser made it")]
Most = Annotated[int, QueryParameter(ge=1, le=MOST_LISTED, description="Maximum number")]
Past = Annotated[int, QueryParameter(ge=0, le=1_000_000, description="Number of conversations to skip")]
MessagePath = Annotated[str, PathParameter(pattern=r"^[0-9a-f]{32}$", description="From X-Lutrin-Message or a history")]


@get("/history/{session_id:str}", **operation("history", "The newest 50 messages", TAG, 422, 503))
async def history(
    session_id: SessionPath, request: HTTPRequest, service: Given[AnswerService], *, blocks: WithBlocks = False
) -> Response[History]:
    """List messages, oldest first; an unknown conversation, or another browser's, has none."""
    key = conversation_key(session_id, (await service.owner(request, session_id)).hashed)
    messages = await service.services.chats.history(key, NEWEST)
    shown = await beside_loop(lambda: list(map(message_with_blocks, messages))) if blocks else messages
    return Response(History(shown), headers=NO_STORE)


@get("/sessions", **operation("listSessions", "This browser's conversations", TAG, 403, 422, 503))
async def sessions(
    request: HTTPRequest, service: Given[AnswerService], most: Most = MOST_LISTED, past: Past = 0
) -> Response[Sessions]:
    """List conversations, the most recently used first; `past=500` skips the first 500."""
    rows = await service.services.chats.sessions(await _require_owner(request, service), most + 1, past)
    return Response(Sessions(rows[:most], more=len(rows) > most), headers=NO_STORE)


@patch("/sessions/{session_id:str}", **operation("renameSession", "Name a conversation", TAG, 403, 404, 413, 422, 503))
async def rename(
    session_id: SessionPath, data: JSONBody[Renaming], request: HTTPRequest, service: Given[AnswerService]
) -> Response[ChatSession]:
    """Change the title of a conversation."""
    key = conversation_key(session_id, await _require_owner(request, service))
    return Response(await service.services.chats.rename(key, data.title), headers=NO_STORE)


@delete("/sessions/{session_id:str}", **operation("deleteSession", "Delete a conversation", TAG, 403, 404, 422, 503))
async def remove(session_id: SessionPath, request: HTTPRequest, service: Given[AnswerService]) -> None:
    """Delete a conversation for good, with answers in progress."""
    key = conversation_key(session_id, await _require_owner(request, service))
    service.forget(key)
    await service.services.chats.delete(key)


@get("/sessions/{session_id:str}/export", **operation("exportSession", "Keep a conversation", TAG, 403, 404, 422, 503))
async def export(
    session_id: SessionPath,
    request: HTTPRequest,
    service: Given[AnswerService],
    form: FromQuery[Literal["markdown", "json"]] = "markdown",
    *,
    blocks: WithBlocks = False,
) -> Response[bytes]:
    """The whole conversation as a file: Markdown, or JSON with `?form=json`, which may have blocks."""
    key = conversation_key(session_id, await _require_owner(request, service))
    session = await service.services.chats.session(key)
    messages = await service.services.chats.history(key, EXPORTED)

    def write() -> bytes:
        if form == "markdown":
            return as_markdown(session, messages).encode()
        return as_json(session, list(map(message_with_blocks, messages)) if blocks else messages)

    body = await beside_loop(write)
    suffix, media_type = ("json", "application/json") if form == "json" else ("md", "text/markdown; charset=utf-8")
    disposition = f'attachment; filename="conversation-{session.created[:10]}.{suffix}"'
    return Response(body, media_type=media_type, headers={"Content-Disposition": disposition, **NO_STORE})


@get("/messages/{message_id:str}/events", **operation("resumeAnswer", "Follow an answer after a reload", TAG, 404, 422))
async def resume(
    message_id: MessagePath, request: HTTPRequest, service: Given[AnswerService], *, blocks: WithBlocks = False
) -> Response[Any]:
    """Stream the events of an `unfinished` answer, from the first or from after `Last-Event-ID`."""
    return await service.resume(request, message_id, blocks=blocks)


@delete(
    "/messages/{message_id:str}/events", **operation("stopAnswer", "Stop an answer", TAG, 404, 422), status_code=204
)
async def stop(message_id: MessagePath, request: HTTPRequest, service: Given[AnswerService]) -> None:
    """End an answer in progress: the text so far stays, and no page continues it."""
    await service.stop(request, message_id)


@post(
    "/messages/{message_id:str}/feedback",
    **operation("feedback", "Judge an answer", TAG, 404, 413, 422, 503),
    status_code=204,
)
async def feedback(
    message_id: MessagePath, data: JSONBody[Feedback], request: HTTPRequest, service: Given[AnswerService]
) -> None:
    """Rate an answer with a thumb up or down; a second rating replaces the first."""
    await service.services.chats.judge(message_id, await service.reader(request), data.value, data.comment)


async def _require_owner(request: HTTPRequest, service: AnswerService) -> str:
    owner = await service.reader(request)
    if not owner:
        raise NotPermitted(CLIENT_SECRET_MISSING)
    return owner


HANDLERS = [history, sessions, rename, remove, export, resume, stop, feedback]
