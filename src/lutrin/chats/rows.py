"""Between the records that travel and the rows that are stored, and the statements that store them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast

import msgspec
from sqlalchemy import Update, case, func, select, update
from sqlalchemy.dialects.sqlite import Insert, insert
from sqlmodel import col

from lutrin.chats.tables import MessageRow, SessionRow
from lutrin.records import AnswerKind, ChatMessage, ChatOrigin, ChatSession, Citation, Mode, Role

TITLE_CHARS = 80
USER_AGENT_CHARS = 300

_citations = msgspec.json.Decoder(tuple[Citation, ...])
_ids = msgspec.json.Decoder(tuple[str, ...])


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds, so that texts order as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def title_of(messages: Sequence[ChatMessage]) -> str:
    """The beginning of the first question, cut at a word."""
    text = " ".join(next((message.text for message in messages if message.role == "user"), "").split())
    if len(text) <= TITLE_CHARS:
        return text
    return text[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"


def new_session(key: str, origin: ChatOrigin, messages: Sequence[ChatMessage], now: datetime) -> SessionRow:
    """The row of a conversation that begins."""
    return SessionRow(
        key=key,
        id=origin.session_id,
        owner=origin.owner,
        title=title_of(messages),
        created=iso(now),
        updated=iso(now),
        book=origin.book,
        generation=origin.generation,
        user_agent=origin.user_agent[:USER_AGENT_CHARS],
        message_count=0,
    )


def upserted_session(row: SessionRow) -> Insert:
    """Insert a conversation; one that is there gets the new time, and the book and generation where they are known."""
    statement = insert(SessionRow).values(row.model_dump())
    fresh = statement.excluded
    return statement.on_conflict_do_update(
        index_elements=["key"],
        set_={
            "updated": fresh.updated,
            "book": case((fresh.book != "", fresh.book), else_=col(SessionRow.book)),
            "generation": case((fresh.generation != "", fresh.generation), else_=col(SessionRow.generation)),
        },
    )


def upserted_messages(messages: Sequence[MessageRow]) -> Insert:
    """Insert messages; one that is there is replaced in its place, unless it is another conversation's."""
    statement = insert(MessageRow).values([row.model_dump(exclude={"position"}) for row in messages])
    fresh = statement.excluded
    replaced = {name: fresh[name] for name in MessageRow.model_fields if name not in {"position", "id", "session"}}
    return statement.on_conflict_do_update(
        index_elements=["id"], set_=replaced, where=col(MessageRow.session) == fresh.session
    )


def recounted(key: str) -> Update:
    """Bring the number of messages of a conversation up to date."""
    count = select(func.count()).select_from(MessageRow).where(col(MessageRow.session) == key).scalar_subquery()
    return update(SessionRow).where(col(SessionRow.key) == key).values(message_count=count)


def message_row(key: str, message: ChatMessage) -> MessageRow:
    """The row of a message in the conversation `key`."""
    return MessageRow(
        id=message.id,
        session=key,
        role=message.role,
        text=message.text,
        created=message.created,
        mode=message.mode,
        kind=message.kind,
        selected_text=message.selected_text,
        chunk_ids=msgspec.json.encode(message.chunk_ids).decode(),
        citations=msgspec.json.encode(message.citations).decode(),
    )


def chat_message(row: MessageRow, session_id: str) -> ChatMessage:
    """The message of a row; `session_id` as the browser made it."""
    return ChatMessage(
        id=row.id,
        session_id=session_id,
        role=cast("Role", row.role),
        text=row.text,
        created=row.created,
        mode=cast("Mode | None", row.mode),
        kind=cast("AnswerKind | None", row.kind),
        selected_text=row.selected_text,
        chunk_ids=_ids.decode(row.chunk_ids),
        citations=_citations.decode(row.citations),
    )


def chat_session(row: SessionRow) -> ChatSession:
    """What its reader sees of a conversation."""
    return ChatSession(
        id=row.id,
        title=row.title,
        created=row.created,
        updated=row.updated,
        book=row.book,
        generation=row.generation,
        message_count=row.message_count,
    )
