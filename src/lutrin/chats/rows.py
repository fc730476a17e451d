"""Convert between the records of the program and the rows of the database.

A row has the columns of `tables.py` as its attributes, whichever driver read it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import msgspec

from lutrin import records
from lutrin.chats.seal import Seal
from lutrin.settings import Settings

TITLE_CHARS = 80
USER_AGENT_CHARS = 300


class StoredParts(records.Shown, frozen=True, kw_only=True, omit_defaults=True):
    """As they are stored."""


_shown = msgspec.json.Decoder(StoredParts)
_citations = msgspec.json.Decoder(tuple[records.Citation, ...])
_ids = msgspec.json.Decoder(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class Room:
    """Limits on what is stored."""

    conversation_bytes: int
    """Most bytes in one conversation."""
    reader_bytes: int
    """Most bytes in all conversations of one browser."""

    @classmethod
    def of(cls, settings: Settings) -> "Room":
        """Return the limits of the settings."""
        return cls(settings.conversation_kb << 10, settings.reader_kb << 10)


def iso(moment: datetime) -> str:
    """Format a time in ISO 8601, UTC, always with microseconds, so that the texts sort like the times."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def title_of(messages: Sequence[records.ChatMessage]) -> str:
    """Return the beginning of the first question, cut between words."""
    text = " ".join(next((message.text for message in messages if message.role == "user"), "").split())
    if len(text) <= TITLE_CHARS:
        return text
    return text[: TITLE_CHARS - 1].rsplit(" ", 1)[0] + "…"


def new_session(
    key: str, origin: records.ChatOrigin, messages: Sequence[records.ChatMessage], now: datetime, seal: Seal
) -> dict[str, str | int]:
    """Return the columns of a new conversation."""
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


def new_message(key: str, message: records.ChatMessage, seal: Seal) -> dict[str, str | None]:
    """Return the columns of a message in the conversation `key`."""
    made = message.made if isinstance(message, records.KeptMessage) else None
    parts = StoredParts(**message.shown())
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
        "shown": seal.close(msgspec.json.encode(parts).decode()) if parts != StoredParts() else "",
        "made": seal.close(msgspec.json.encode(made).decode()) if made is not None else "",
    }


def size_of(row: dict[str, str | None]) -> int:
    """Return the bytes of the texts of a row."""
    return sum(len(value.encode("utf-8", "surrogatepass")) for value in row.values() if value)


def shown(stored: str, seal: Seal) -> records.Shown:
    """Return the parts of an answer that a page shows; none if they were not stored."""
    return _shown.decode(seal.open(stored)) if stored else StoredParts()


def chat_message(row: Any, session_id: str, seal: Seal) -> records.ChatMessage:  # noqa: ANN401 - a row of either driver
    """Make the message of a row; `session_id` is the browser's own id."""
    return records.ChatMessage(
        id=row.id,
        session_id=session_id,
        role=cast("records.Role", row.role),
        text=seal.open(row.text),
        created=row.created,
        mode=cast("records.Mode | None", row.mode),
        kind=cast("records.AnswerKind | None", row.kind),
        selected_text=seal.open(row.selected_text),
        chunk_ids=_ids.decode(row.chunk_ids),
        citations=_citations.decode(seal.open(row.citations)),
        **msgspec.structs.asdict(shown(row.shown, seal)),
    )


def chat_session(row: Any, seal: Seal) -> records.ChatSession:  # noqa: ANN401 - as above
    """Make the record of a conversation that its reader sees."""
    return records.ChatSession(
        id=row.id,
        title=seal.open(row.title),
        created=row.created,
        updated=row.updated,
        book=row.book,
        generation=row.generation,
        message_count=row.message_count,
    )
