"""The conversations of all readers, encrypted at rest: the adapter-free implementation of `ports.ChatStore`.

`ChatTables` works on the tables of any database; `SqlChatStore` keeps them in a file of its own.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from sqlalchemy import Connection
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, delete, func, select

from lutrin import sqlite
from lutrin.chats import rows
from lutrin.chats.engine import SqlCipher
from lutrin.chats.migrations import migrate
from lutrin.chats.questions import AskedQuestion, newest_asked
from lutrin.chats.rows import Room
from lutrin.chats.seal import NoSeal, Seal
from lutrin.chats.tables import DayRow, FeedbackRow, MessageRow, SessionRow
from lutrin.errors import ChatStoreError, ChatStoreFull, NotFound
from lutrin.messages import CONVERSATION_FULL, NEEDS_CONTEXT, NOT_ENGLISH, NOT_IN_SELECTION, NOTHING_HERE, READER_FULL
from lutrin.records import ChatMessage, ChatOrigin, ChatSession, KeptMessage

T = TypeVar("T")
OWNER_CHARS = 64
"""Of the hash of a browser's secret."""
LAST_OF_DAY = "U"
"""After a day it is later than any time of that day, which goes on with `T`."""
OTHER_REFUSALS = frozenset({NEEDS_CONTEXT, NOT_ENGLISH, NOT_IN_SELECTION})
"""Refusals that say nothing about what the books hold."""


def utc_now() -> datetime:
    """The time of day that new conversations carry."""
    return datetime.now(UTC)


class Database(Protocol):
    """Runs transactions."""

    async def run(self, work: Callable[[Connection], T], *, reads: bool) -> T:
        """Do some work in one transaction, without holding up the event loop.

        Args:
            work: Gets the connection; what it raises undoes the transaction.
            reads: It writes nothing, so that others may write meanwhile.
        """
        ...

    async def close(self) -> None:
        """Let work that has begun end and release files and handles; no other call may follow."""
        ...


class ChatTables:
    """Conversations in the tables of `tables.py`.

    Every method that says `key` means `owner.conversation_key`: the id itself for a conversation without an owner.

    Args:
        database: Migrated; closed with this.
        insert: Of the database's dialect.
        seal: Closes readers' words where the database is not encrypted as a whole.
        now: The time of day.
        room: What conversations may take; None: all that they want.
    """

    trouble: tuple[type[Exception], ...] = (SQLAlchemyError,)
    """What the database raises when it cannot do its work."""
    reason: ChatStoreError | None = None
    """Why the conversations could not be opened; None: they could."""

    def __init__(
        self,
        database: Database,
        insert: rows.Inserter,
        seal: Seal,
        now: Callable[[], datetime] = utc_now,
        room: Room | None = None,
    ) -> None:
        self._database = database
        self._statements = rows.Statements(insert)
        self._seal = seal
        self._now = now
        self._room = room

    async def append(self, session_id: str, messages: Sequence[ChatMessage]) -> None:
        """Store messages in one transaction; see `ports.ChatStore`. A message whose id is stored is replaced.

        Raises:
            ChatStoreError: Nothing was stored.
        """
        await self.record(session_id, ChatOrigin(session_id=session_id), messages)

    async def record(self, key: str, origin: ChatOrigin, messages: Sequence[ChatMessage]) -> None:
        """Store messages with what is known of their conversation, in one transaction.

        Raises:
            ChatStoreFull: The conversation, or its reader, has no room left; nothing was stored.
            ChatStoreError: Nothing was stored.
        """
        now = self._now()
        begun = rows.new_session(key, origin, messages, now, self._seal)
        wanted = [rows.new_message(key, item, self._seal) for item in messages]

        added = sum(map(rows.size_of, wanted))

        def work(connection: Connection) -> None:
            self._check_room(connection, key, origin.owner, added)
            connection.execute(self._statements.upsert_session, begun)
            for item in wanted:
                if not connection.execute(self._statements.upsert_message, item).rowcount:
                    raise ChatStoreError("A message of that id belongs to another conversation.")
            connection.execute(self._statements.recount, {"of": key, "added": added})

        await self._run(work)

    def _check_room(self, connection: Connection, key: str, owner: str, added: int) -> None:
        if self._room is None:
            return
        used = connection.execute(self._statements.size, {"of": key}).scalar() or 0
        if used + added > self._room.conversation_bytes:
            raise ChatStoreFull(CONVERSATION_FULL)
        if len(owner) != OWNER_CHARS:  # many readers share the other owners
            return
        used = connection.execute(self._statements.size_of_all, {"whose": owner}).scalar() or 0
        if used + added > self._room.reader_bytes:
            raise ChatStoreFull(READER_FULL)

    async def history(self, session_id: str, limit: int = 50) -> list[ChatMessage]:
        """The newest `limit` messages of a conversation, oldest first; an unknown one has none.

        Raises:
            ChatStoreError: The database cannot be read.
        """
        limits = {"of": session_id, "most": limit}
        found = await self._run(lambda within: within.execute(self._statements.history, limits).all(), reads=True)
        return [rows.chat_message(row, row.public, self._seal) for row in reversed(found)]

    async def sessions(self, owner: str) -> list[ChatSession]:
        """An owner's conversations, the one used last first; the empty owner has none."""
        newest = col(SessionRow.updated).desc()
        wanted = select(SessionRow).where(SessionRow.owner == owner).order_by(newest, col(SessionRow.key))

        def read(session: Session) -> list[ChatSession]:
            return [rows.chat_session(row, self._seal) for row in session.exec(wanted).all()]

        return await self._read(read) if owner else []

    async def refused(self) -> list[ChatMessage]:
        """Questions that the books did not answer, oldest first; whose they were is left out.

        Raises:
            ChatStoreError: The database cannot be read.
        """
        asked, said = aliased(MessageRow), aliased(MessageRow)
        before = (
            select(func.max(asked.position))
            .where(asked.session == said.session, asked.role == "user", col(asked.position) < col(said.position))
            .correlate(said)
            .scalar_subquery()
        )
        refusals = select(said.text, before).where(said.role == "assistant", said.kind == "refusal")

        def read(session: Session) -> list[ChatMessage]:
            places = [
                place
                for text, place in session.exec(refusals).all()
                if self._seal.open(text) not in OTHER_REFUSALS and place is not None
            ]
            found = []
            for place in sorted(places):
                row = session.exec(select(MessageRow).where(MessageRow.position == place)).one()
                found.append(rows.chat_message(row, "", self._seal))
            return found

        return await self._read(read)

    async def asked(self, most: int) -> list[AskedQuestion]:
        """The newest questions that were answered or refused, the newest first; whose they were is left out.

        Raises:
            ChatStoreError: The database cannot be read.
        """
        return await self._read(lambda session: newest_asked(session, self._seal, most))

    async def conversation_of(self, message_id: str) -> list[KeptMessage]:
        """A stored message at the end of the conversation that leads to it, oldest first; for the operator.

        Raises:
            NotFound: There is no such message.
        """

        def read(session: Session) -> list[KeptMessage]:
            said = session.exec(select(MessageRow).where(MessageRow.id == message_id)).first()
            if said is None or said.position is None:
                raise NotFound(NOTHING_HERE)
            before = select(MessageRow).where(
                MessageRow.session == said.session, col(MessageRow.position) <= said.position
            )
            found = session.exec(before.order_by(col(MessageRow.position))).all()
            return [rows.kept_message(row, said.session, self._seal) for row in found]

        return await self._read(read)

    async def session(self, key: str) -> ChatSession:
        """What is known of one conversation.

        Raises:
            NotFound: There is none of that key.
        """
        return await self._read(lambda session: rows.chat_session(_conversation(session, key), self._seal))

    async def rename(self, key: str, title: str) -> ChatSession:
        """Give a conversation a name of the reader's own.

        Raises:
            NotFound: There is none of that key.
        """

        def write(session: Session) -> ChatSession:
            row = _conversation(session, key)
            row.title = self._seal.close(title)
            return rows.chat_session(row, self._seal)

        return await self._write(write)

    async def delete(self, key: str) -> None:
        """Delete a conversation for good.

        Raises:
            NotFound: There is none of that key.
        """

        def write(session: Session) -> None:
            _conversation(session, key)
            session.exec(delete(SessionRow).where(col(SessionRow.key) == key))

        await self._write(write)
        await self._erase_traces()

    async def judge(self, message_id: str, owner: str, value: str, comment: str = "") -> None:
        """Store what a reader thought of an answer; a second judgement replaces the first.

        Raises:
            NotFound: There is no such answer, or another browser's conversation holds it.
        """
        answers = select(MessageRow.id).join(SessionRow).where(MessageRow.id == message_id)
        mine = answers.where(MessageRow.role == "assistant", SessionRow.owner == owner)
        created = rows.iso(self._now())

        def write(session: Session) -> None:
            if session.exec(mine).first() is None:
                raise NotFound(NOTHING_HERE)
            session.merge(
                FeedbackRow(message=message_id, value=value, comment=self._seal.close(comment), created=created)
            )

        await self._write(write)

    async def forget(
        self, *, session_id: str | None = None, older_than: timedelta | None = None, everything: bool = False
    ) -> int:
        """Delete conversations for good, whoever owns them; for the operator.

        Args:
            session_id: Those of this id.
            older_than: Those not used for this long.
            everything: All of them.

        Returns:
            How many conversations were deleted.
        """
        doomed = select(SessionRow.key)
        if session_id is not None:
            doomed = doomed.where(SessionRow.id == session_id)
        elif older_than is not None:
            doomed = doomed.where(SessionRow.updated < rows.iso(self._now() - older_than))
        elif not everything:
            return 0

        def write(session: Session) -> int:
            keys = session.exec(doomed).all()
            for key in keys:
                session.exec(delete(SessionRow).where(col(SessionRow.key) == key))
            return len(keys)

        deleted = await self._write(write)
        if deleted:
            await self._erase_traces()
        return deleted

    async def retain(self, days: int) -> int:
        """Delete conversations that were last used before so many days on which the database was in use.

        A day counts once the database has seen it, today included: a clock that jumps ahead brings one day, not years.

        Returns:
            How many conversations were deleted.
        """
        now = self._now()
        today = rows.iso(now)[:10]
        before = min(rows.iso(now - timedelta(days=days)), today)

        def write(session: Session) -> int:
            session.merge(DayRow(day=today))
            session.flush()
            seen = session.exec(
                select(DayRow.day).where(DayRow.day <= today).order_by(col(DayRow.day).desc()).limit(days + 1)
            ).all()
            if len(seen) <= days:
                return 0
            doomed = select(SessionRow.key).where(SessionRow.updated < min(before, seen[-1] + LAST_OF_DAY))
            keys = session.exec(doomed).all()
            for key in keys:
                session.exec(delete(SessionRow).where(col(SessionRow.key) == key))
            return len(keys)

        deleted = await self._write(write)
        if deleted:
            await self._erase_traces()
        return deleted

    async def close(self) -> None:
        """Release files and handles; no other call may follow."""
        await self._database.close()

    async def _erase_traces(self) -> None:
        """Remove what the database keeps of deleted rows; those that overwrite nothing themselves have more to do."""

    async def _read(self, work: Callable[[Session], T]) -> T:
        return await self._run(lambda connection: _in_session(connection, work), reads=True)

    async def _write(self, work: Callable[[Session], T]) -> T:
        return await self._run(lambda connection: _in_session(connection, work))

    async def _run(self, work: Callable[[Connection], T], *, reads: bool = False) -> T:
        with self._errors_named():
            return await self._database.run(work, reads=reads)

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        """Errors of the database leave as ours, without the values that a statement carried."""
        try:
            yield
        except self.trouble as error:
            raise ChatStoreError(
                f"The conversations cannot be read or written ({type(error).__name__}).",
                remedy="See `lutrin doctor`: disk space, permissions, integrity.",
            ) from error


def _in_session(connection: Connection, work: Callable[[Session], T]) -> T:
    """Work with rows as objects; what was changed in them is written before the transaction ends."""
    with Session(connection, expire_on_commit=False) as session:
        result = work(session)
        session.flush()
        return result


def _conversation(session: Session, key: str) -> SessionRow:
    """The row of a conversation.

    Raises:
        NotFound: There is none of that key.
    """
    row = session.get(SessionRow, key)
    if row is None:
        raise NotFound(NOTHING_HERE)
    return row


class SqlChatStore(ChatTables):
    """Conversations in one SQLCipher file; open it with `SqlChatStore.open`."""

    trouble = (SQLAlchemyError, sqlite.DatabaseError)

    def __init__(
        self, database: SqlCipher, path: Path, now: Callable[[], datetime] = utc_now, room: Room | None = None
    ) -> None:
        super().__init__(database, insert, NoSeal(), now, room)
        self._file = database
        self._path = path

    @classmethod
    async def open(
        cls, path: Path, key: str, now: Callable[[], datetime] = utc_now, room: Room | None = None
    ) -> "SqlChatStore":
        """Migrate the database (made if there is none) and open it.

        Raises:
            ChatStoreError: The key is wrong, or the database cannot be opened or migrated.
        """
        await asyncio.to_thread(migrate, path, key)
        return cls(SqlCipher(path, key), path, now, room)

    async def _erase_traces(self) -> None:
        """Empty the log file and remove the migrations' backups, which still hold what was deleted."""
        with self._errors_named():
            await self._file.empty_log()
        for backup in self._path.parent.glob(f"{self._path.name}.before-*"):
            backup.unlink(missing_ok=True)
