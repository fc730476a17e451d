"""The tables of the conversations as SQLModel classes; `migrations.py` makes them in the database.

Times are ISO 8601 in UTC, so that their order is the order of their text.
"""

from sqlalchemy import MetaData
from sqlmodel import Field, SQLModel


class ChatTable(SQLModel):
    """Metadata of the conversations' tables."""

    metadata = MetaData()


class SessionRow(ChatTable, table=True):
    """A conversation."""

    __tablename__ = "session"

    key: str = Field(primary_key=True)
    """The `owner.conversation_key`."""
    id: str = Field(index=True)
    """The id that the browser made."""
    owner: str
    title: str
    created: str
    updated: str = Field(index=True)
    book: str
    generation: str
    user_agent: str
    message_count: int
    stored_bytes: int = 0
    """Bytes of its messages at the time they were stored."""


class DayRow(ChatTable, table=True):
    """A day on which the database was in use. Retention counts these, so a clock that jumps deletes nothing."""

    __tablename__ = "day"

    day: str = Field(primary_key=True)
    """ISO 8601, UTC."""


class MessageRow(ChatTable, table=True):
    """One message of a conversation; `position` is its place among all messages ever stored."""

    __tablename__ = "message"

    position: int | None = Field(default=None, primary_key=True)
    id: str = Field(unique=True, index=True)
    session: str = Field(foreign_key="session.key", index=True, ondelete="CASCADE")
    role: str
    text: str
    created: str
    mode: str | None
    kind: str | None
    selected_text: str
    chunk_ids: str
    """JSON array of ids."""
    citations: str
    """JSON array of `records.Citation`."""
    made: str = ""
    """JSON of `records.Made`, sealed; empty: not known."""
    shown: str = ""
    """JSON of `rows.Shown`, sealed; empty: the text is all that is shown."""


class FeedbackRow(ChatTable, table=True):
    """A reader's verdict on an answer; the newest for each message."""

    __tablename__ = "feedback"

    message: str = Field(foreign_key="message.id", primary_key=True, ondelete="CASCADE")
    value: str
    comment: str
    created: str


SESSION, MESSAGE, FEEDBACK, DAY = (
    ChatTable.metadata.tables[name] for name in ("session", "message", "feedback", "day")
)
