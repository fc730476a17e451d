"""The tables of the conversations as SQLModel classes, from which a new database is created.

Only the creation of a database imports this module, because loading SQLModel takes most of a second.

Times are ISO 8601 in UTC, so that their order is the order of their text.
"""

from typing import Literal

from sqlalchemy import BigInteger, Index, Integer, MetaData, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable, DDLElement
from sqlmodel import Field, SQLModel


class ChatTable(SQLModel):
    """Metadata of the conversations' tables."""

    metadata = MetaData()


class SessionRow(ChatTable, table=True):
    """A conversation."""

    __tablename__ = "session"
    __table_args__ = (Index("ix_session_owner_updated", "owner", "updated"),)

    key: str = Field(primary_key=True)
    """The `key.conversation_key`."""
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
    stored_bytes: int = Field(default=0, sa_column_kwargs={"server_default": text("0")})
    """Bytes of its messages at the time they were stored."""


class DayRow(ChatTable, table=True):
    """A day on which the database was in use. Retention counts these, so a clock that jumps deletes nothing."""

    __tablename__ = "day"

    day: str = Field(primary_key=True)
    """ISO 8601, UTC."""


class MessageRow(ChatTable, table=True):
    """One message of a conversation; `position` is its place among all messages ever stored."""

    __tablename__ = "message"
    __table_args__ = (Index("ix_message_session", "session", "position"), {"sqlite_autoincrement": True})

    position: int | None = Field(default=None, primary_key=True, sa_type=BigInteger().with_variant(Integer, "sqlite"))
    id: str = Field(unique=True, index=True)
    session: str = Field(foreign_key="session.key", ondelete="CASCADE")
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
    made: str = Field(default="", sa_column_kwargs={"server_default": ""})
    """JSON of `records.Made`, sealed; empty if unknown."""
    shown: str = Field(default="", sa_column_kwargs={"server_default": ""})
    """JSON of `records.Shown`, sealed; empty: only the text is shown."""


class FeedbackRow(ChatTable, table=True):
    """A reader's verdict on an answer; the newest for each message."""

    __tablename__ = "feedback"

    message: str = Field(foreign_key="message.id", primary_key=True, ondelete="CASCADE")
    value: str
    comment: str
    created: str


class AssignmentRow(ChatTable, table=True):
    """An assignment of a class, with the number of browsers that opened and finished it."""

    __tablename__ = "assignment"

    id: str = Field(primary_key=True)
    created: str
    body: str
    """JSON of its content, sealed."""
    opened: int
    finished: int
    sent: int
    """Number of results counted."""


class AssignmentCardRow(ChatTable, table=True):
    """How often a card of an assignment was answered, and how often it was not known."""

    __tablename__ = "assignment_card"

    assignment: str = Field(foreign_key="assignment.id", primary_key=True, ondelete="CASCADE")
    card: str = Field(primary_key=True)
    tries: int
    missed: int


class AssignmentReceiptRow(ChatTable, table=True):
    """The random mark of counted results, so that results sent twice count once. It does not reveal the sender."""

    __tablename__ = "assignment_receipt"

    receipt: str = Field(primary_key=True)
    assignment: str = Field(foreign_key="assignment.id", index=True, ondelete="CASCADE")


def make_tables(database: Literal["sqlite", "postgresql"]) -> list[str]:
    """The statements that create the tables and their indexes."""
    dialect = {"sqlite": sqlite, "postgresql": postgresql}[database].dialect()
    elements: list[DDLElement] = []
    for table in ChatTable.metadata.sorted_tables:
        elements += [CreateTable(table), *map(CreateIndex, sorted(table.indexes, key=lambda index: str(index.name)))]
    return [str(statement.compile(dialect=dialect)) for statement in elements]
