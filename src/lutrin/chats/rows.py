"""Between the records that travel and the rows that are stored, and the statements that store them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import msgspec
from sqlalchemy import Row, Table, bindparam, case, func, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import SQLModel

from lutrin.chats.seal import Seal
from lutrin.chats.tables import MessageRow, SessionRow
from lutrin.records import (
    AnswerKind,
    ChatMessage,
    ChatOrigin,
    ChatSession,
    Citation,
    Excerpt,
    KeptMessage,
    Made,
    Mode,
    Refusal,
    Role,
)
from lutrin.settings import Settings

Insert = sqlite.Insert | postgresql.Insert
Inserter = Callable[[Table], Insert]
"""`insert` of the database's dialect; both know `ON CONFLICT`, in the same words."""

TITLE_CHARS = 80
USER_AGENT_CHARS = 300


class Shown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a page shows of an answer besides its text; named as in `records.ChatMessage`."""

    refusal: Refusal | None = None
    explanation: str = ""
    excerpts: tuple[Excerpt, ...] = ()
    suggestions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    prepared_by: str = ""
    explainable: bool = False


_shown = msgspec.json.Decoder(Shown)
_citations = msgspec.json.Decoder(tuple[Citation, ...])
_made = msgspec.json.Decoder(Made)
_ids = msgspec.json.Decoder(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class Room:
    """What may be stored."""

    conversation_bytes: int
    """In one conversation."""
    reader_bytes: int
    """In all conversations of one browser."""

    @classmethod
    def of(cls, settings: Settings) -> "Room":
        """What the operator allows."""
        return cls(settings.conversation_kb << 10, settings.reader_kb << 10)


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC, always with microseconds, so that texts order as times do."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def title_of(messages: Sequence[ChatMessage]) -> str:
    """The beginning of the first question, cut at a word."""
    text = " ".join(next((message.text for message in messages if message.role == "user"), "").split())
    if len(text) <= TITLE_CHARS:
        return text
    return text[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"


def new_session(
    key: str, origin: ChatOrigin, messages: Sequence[ChatMessage], now: datetime, seal: Seal
) -> dict[str, str | int]:
    """The columns of a conversation that begins."""
    return {
        "key": key,
        "id": origin.session_id,
        "owner": origin.owner,
        "title": seal.close(title_of(messages)),
        "created": iso(now),
        "updated": iso(now),
        "book": origin.book,
        "generation": origin.generation,
        "user_agent": seal.close(origin.user_agent[:USER_AGENT_CHARS]),
        "message_count": 0,
        "stored_bytes": 0,
    }


class Statements:
    """What is said to the database for every question, built once: to build a statement takes longer than to run it.

    Args:
        insert: Of the database's dialect.
    """

    def __init__(self, insert: Inserter) -> None:
        session, message = (SQLModel.metadata.tables[name] for name in ("session", "message"))
        begun = insert(session).inline()
        self.upsert_session = begun.on_conflict_do_update(
            index_elements=["key"],
            set_={
                "updated": begun.excluded.updated,
                "book": case((begun.excluded.book != "", begun.excluded.book), else_=session.c.book),
                "generation": case(
                    (begun.excluded.generation != "", begun.excluded.generation), else_=session.c.generation
                ),
            },
        )
        """Inserts a conversation; one that is there gets the new time, and the book and generation where known."""
        said = insert(message).inline()
        kept = {"position", "id", "session"}
        self.upsert_message = said.on_conflict_do_update(
            index_elements=["id"],
            set_={column.name: said.excluded[column.name] for column in message.c if column.name not in kept},
            where=message.c.session == said.excluded.session,
        )
        """Inserts a message; one that is there is replaced in its place, unless it is another conversation's."""
        count = select(func.count()).select_from(message).where(message.c.session == bindparam("of")).scalar_subquery()
        self.recount = (
            update(session)
            .where(session.c.key == bindparam("of"))
            .values(message_count=count, stored_bytes=session.c.stored_bytes + bindparam("added"))
        )
        """Brings the number of messages of the conversation `of` up to date, and adds what was stored."""
        self.size = select(session.c.stored_bytes).where(session.c.key == bindparam("of"))
        """Bytes of the conversation `of`."""
        self.size_of_all = select(func.coalesce(func.sum(session.c.stored_bytes), 0)).where(
            session.c.owner == bindparam("whose")
        )
        """Bytes of all conversations of an owner."""
        self.history = (
            select(message, session.c.id.label("public"))
            .join(session)
            .where(message.c.session == bindparam("of"))
            .order_by(message.c.position.desc())
            .limit(bindparam("most"))
        )
        """The newest `most` messages of the conversation `of`, the newest first, with the browser's id of it."""


def new_message(key: str, message: ChatMessage, seal: Seal) -> dict[str, str | None]:
    """The columns of a message in the conversation `key`."""
    made = message.made if isinstance(message, KeptMessage) else None
    shown = Shown(**{name: getattr(message, name) for name in Shown.__struct_fields__})
    return {
        "id": message.id,
        "session": key,
        "role": message.role,
        "text": seal.close(message.text),
        "created": message.created,
        "mode": message.mode,
        "kind": message.kind,
        "selected_text": seal.close(message.selected_text),
        "chunk_ids": msgspec.json.encode(message.chunk_ids).decode(),
        "citations": seal.close(msgspec.json.encode(message.citations).decode()),
        "shown": seal.close(msgspec.json.encode(shown).decode()) if shown != Shown() else "",
        "made": seal.close(msgspec.json.encode(made).decode()) if made is not None else "",
    }


def size_of(row: dict[str, str | None]) -> int:
    """Bytes that the texts of a row take."""
    return sum(len(value.encode("utf-8", "surrogatepass")) for value in row.values() if value)


def chat_message(row: MessageRow | Row[Any], session_id: str, seal: Seal) -> ChatMessage:
    """The message of a row; `session_id` as the browser made it."""
    shown = _shown.decode(seal.open(row.shown)) if row.shown else Shown()
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
        **msgspec.structs.asdict(shown),
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
