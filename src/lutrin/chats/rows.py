"""Between the records that travel and the rows that are stored, and the statements that store them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import cast

import msgspec
from sqlalchemy import Update, case, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import col

from lutrin.chats.seal import Seal
from lutrin.chats.tables import MessageRow, SessionRow
from lutrin.records import AnswerKind, ChatMessage, ChatOrigin, ChatSession, Citation, KeptMessage, Made, Mode, Role

Insert = sqlite.Insert | postgresql.Insert
Inserter = Callable[[type[SessionRow] | type[MessageRow]], Insert]
"""`insert` of the database's dialect; both know `ON CONFLICT`, in the same words."""

TITLE_CHARS = 80
USER_AGENT_CHARS = 300

_citations = msgspec.json.Decoder(tuple[Citation, ...])
_made = msgspec.json.Decoder(Made)
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


def new_session(key: str, origin: ChatOrigin, messages: Sequence[ChatMessage], now: datetime, seal: Seal) -> SessionRow:
    """The row of a conversation that begins."""
    return SessionRow(
        key=key,
        id=origin.session_id,
        owner=origin.owner,
        title=seal.close(title_of(messages)),
        created=iso(now),
        updated=iso(now),
        book=origin.book,
        generation=origin.generation,
        user_agent=seal.close(origin.user_agent[:USER_AGENT_CHARS]),
        message_count=0,
    )


def upserted_session(insert: Inserter, row: SessionRow) -> Insert:
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


def upserted_messages(insert: Inserter, messages: Sequence[MessageRow]) -> Insert:
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


def message_row(key: str, message: ChatMessage, seal: Seal) -> MessageRow:
    """The row of a message in the conversation `key`."""
    made = message.made if isinstance(message, KeptMessage) else None
    return MessageRow(
        id=message.id,
        session=key,
        role=message.role,
        text=seal.close(message.text),
        created=message.created,
        mode=message.mode,
        kind=message.kind,
        selected_text=seal.close(message.selected_text),
        chunk_ids=msgspec.json.encode(message.chunk_ids).decode(),
        citations=seal.close(msgspec.json.encode(message.citations).decode()),
        made=seal.close(msgspec.json.encode(made).decode()) if made is not None else "",
    )


def chat_message(row: MessageRow, session_id: str, seal: Seal) -> ChatMessage:
    """The message of a row; `session_id` as the browser made it."""
    return ChatMessage(
        id=row.id,
        session_id=session_id,
        role=cast("Role", row.role),
        text=seal.open(row.text),
        created=row.created,
        mode=cast("Mode | None", row.mode),
        kind=cast("AnswerKind | None", row.kind),
        selected_text=seal.open(row.selected_text),
        chunk_ids=_ids.decode(row.chunk_ids),
        citations=_citations.decode(seal.open(row.citations)),
    )


def kept_message(row: MessageRow, session_id: str, seal: Seal) -> KeptMessage:
    """The same with how it was made."""
    made = _made.decode(seal.open(row.made)) if row.made else None
    return KeptMessage(**msgspec.structs.asdict(chat_message(row, session_id, seal)), made=made)


def chat_session(row: SessionRow, seal: Seal) -> ChatSession:
    """What its reader sees of a conversation."""
    return ChatSession(
        id=row.id,
        title=seal.open(row.title),
        created=row.created,
        updated=row.updated,
        book=row.book,
        generation=row.generation,
        message_count=row.message_count,
    )
