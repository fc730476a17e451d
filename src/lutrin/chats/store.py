"""The conversations of all readers, encrypted at rest: the adapter-free implementation of `ports.ChatStore`.

`ChatTables` works on the tables of any database; `SqlChatStore` keeps them in a file of its own.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import aliased
from sqlmodel import col, delete, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from lutrin.chats import rows
from lutrin.chats.engine import READ, open_engine
from lutrin.chats.migrations import migrate
from lutrin.chats.seal import NoSeal, Seal
from lutrin.chats.tables import FeedbackRow, MessageRow, SessionRow
from lutrin.errors import ChatStoreError, NotFound
from lutrin.messages import NEEDS_CONTEXT, NOT_ENGLISH, NOT_IN_SELECTION, NOTHING_HERE
from lutrin.records import ChatMessage, ChatOrigin, ChatSession, KeptMessage

OTHER_REFUSALS = frozenset({NEEDS_CONTEXT, NOT_ENGLISH, NOT_IN_SELECTION})
"""Refusals that say nothing about what the books hold."""


def utc_now() -> datetime:
    """The time of day that new conversations carry."""
    return datetime.now(UTC)


class ChatTables:
    """Conversations in the tables of `tables.py`.

    Every method that says `key` means `owner.conversation_key`: the id itself for a conversation without an owner.

    Args:
        engine: Of the database, migrated; closed with this.
        readers: The same engine with the options of transactions that only read.
        insert: Of the database's dialect.
        seal: Closes readers' words where the database is not encrypted as a whole.
        now: The time of day.
    """

    trouble: tuple[type[Exception], ...] = (SQLAlchemyError,)
    """What the database raises when it cannot do its work."""

    def __init__(
        self,
        engine: AsyncEngine,
        readers: AsyncEngine,
        insert: rows.Inserter,
        seal: Seal,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._engine = engine
        self._readers = readers
        self._statements = rows.Statements(insert)
        self._seal = seal
        self._now = now

    async def append(self, session_id: str, messages: Sequence[ChatMessage]) -> None:
        """Store messages in one transaction; see `ports.ChatStore`. A message whose id is stored is replaced.

        Raises:
            ChatStoreError: Nothing was stored.
        """
        await self.record(session_id, ChatOrigin(session_id=session_id), messages)

    async def record(self, key: str, origin: ChatOrigin, messages: Sequence[ChatMessage]) -> None:
        """Store messages with what is known of their conversation, in one transaction.

        Raises:
            ChatStoreError: Nothing was stored.
        """
        now = self._now()
        begun = rows.new_session(key, origin, messages, now, self._seal)
        wanted = [rows.new_message(key, item, self._seal) for item in messages]
        with self._errors_named():
            async with self._engine.begin() as connection:
                await connection.execute(self._statements.upsert_session, begun)
                for item in wanted:
                    if not (await connection.execute(self._statements.upsert_message, item)).rowcount:
                        raise ChatStoreError("A message of that id belongs to another conversation.")
                await connection.execute(self._statements.recount, {"of": key})

    async def history(self, session_id: str, limit: int = 50) -> list[ChatMessage]:
        """The newest `limit` messages of a conversation, oldest first; an unknown one has none.

        Raises:
            ChatStoreError: The database cannot be read.
        """
        with self._errors_named():
            async with self._readers.begin() as connection:
                found = (await connection.execute(self._statements.history, {"of": session_id, "most": limit})).all()
        return [rows.chat_message(row, row.public, self._seal) for row in reversed(found)]

    async def sessions(self, owner: str) -> list[ChatSession]:
        """An owner's conversations, the one used last first; the empty owner has none."""
        newest = col(SessionRow.updated).desc()
        wanted = select(SessionRow).where(SessionRow.owner == owner).order_by(newest, col(SessionRow.key))
        async with self._reading() as session:
            return [rows.chat_session(row, self._seal) for row in (await session.exec(wanted)).all()] if owner else []

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
        async with self._reading() as session:
            places = [
                place
                for text, place in (await session.exec(refusals)).all()
                if self._seal.open(text) not in OTHER_REFUSALS and place is not None
            ]
            found = []
            for place in sorted(places):
                row = (await session.exec(select(MessageRow).where(MessageRow.position == place))).one()
                found.append(rows.chat_message(row, "", self._seal))
            return found

    async def conversation_of(self, message_id: str) -> list[KeptMessage]:
        """A stored message at the end of the conversation that leads to it, oldest first; for the operator.

        Raises:
            NotFound: There is no such message.
        """
        async with self._reading() as session:
            said = (await session.exec(select(MessageRow).where(MessageRow.id == message_id))).first()
            if said is None or said.position is None:
                raise NotFound(NOTHING_HERE)
            before = select(MessageRow).where(
                MessageRow.session == said.session, col(MessageRow.position) <= said.position
            )
            found = (await session.exec(before.order_by(col(MessageRow.position)))).all()
            return [rows.kept_message(row, said.session, self._seal) for row in found]

    async def session(self, key: str) -> ChatSession:
        """What is known of one conversation.

        Raises:
            NotFound: There is none of that key.
        """
        async with self._reading() as session:
            row = await session.get(SessionRow, key)
            if row is None:
                raise NotFound(NOTHING_HERE)
            return rows.chat_session(row, self._seal)

    async def rename(self, key: str, title: str) -> ChatSession:
        """Give a conversation a name of the reader's own.

        Raises:
            NotFound: There is none of that key.
        """
        async with self._writing() as session:
            row = await session.get(SessionRow, key)
            if row is None:
                raise NotFound(NOTHING_HERE)
            row.title = self._seal.close(title)
            return rows.chat_session(row, self._seal)

    async def delete(self, key: str) -> None:
        """Delete a conversation for good.

        Raises:
            NotFound: There is none of that key.
        """
        async with self._writing() as session:
            if await session.get(SessionRow, key) is None:
                raise NotFound(NOTHING_HERE)
            await session.exec(delete(SessionRow).where(col(SessionRow.key) == key))
        await self._erase_traces()

    async def judge(self, message_id: str, owner: str, value: str, comment: str = "") -> None:
        """Store what a reader thought of an answer; a second judgement replaces the first.

        Raises:
            NotFound: There is no such answer, or another browser's conversation holds it.
        """
        answers = select(MessageRow.id).join(SessionRow).where(MessageRow.id == message_id)
        mine = answers.where(MessageRow.role == "assistant", SessionRow.owner == owner)
        async with self._writing() as session:
            if (await session.exec(mine)).first() is None:
                raise NotFound(NOTHING_HERE)
            created = rows.iso(self._now())
            await session.merge(
                FeedbackRow(message=message_id, value=value, comment=self._seal.close(comment), created=created)
            )

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
        async with self._writing() as session:
            keys = (await session.exec(doomed)).all()
            for key in keys:
                await session.exec(delete(SessionRow).where(col(SessionRow.key) == key))
        if keys:
            await self._erase_traces()
        return len(keys)

    async def close(self) -> None:
        """Release files and handles; no other call may follow."""
        await self._engine.dispose()

    async def _erase_traces(self) -> None:
        """Remove what the database keeps of deleted rows; those that overwrite nothing themselves have more to do."""

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[AsyncSession]:
        with self._errors_named():
            async with AsyncSession(self._engine, expire_on_commit=False) as session, session.begin():
                yield session

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncSession]:
        with self._errors_named():
            async with AsyncSession(self._readers, expire_on_commit=False) as session, session.begin():
                yield session

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


class SqlChatStore(ChatTables):
    """Conversations in one SQLCipher file; open it with `SqlChatStore.open`."""

    def __init__(self, engine: AsyncEngine, path: Path, now: Callable[[], datetime] = utc_now) -> None:
        super().__init__(engine, engine.execution_options(**READ), insert, NoSeal(), now)
        self._path = path

    @classmethod
    async def open(cls, path: Path, key: str, now: Callable[[], datetime] = utc_now) -> "SqlChatStore":
        """Migrate the database (made if there is none) and open it.

        Raises:
            ChatStoreError: The key is wrong, or the database cannot be opened or migrated.
        """
        await asyncio.to_thread(migrate, path, key)
        return cls(open_engine(path, key), path, now)

    async def _erase_traces(self) -> None:
        """Empty the log file and remove the migrations' backups, which still hold what was deleted."""
        with self._errors_named():
            async with self._engine.connect() as connection:
                raw = await connection.get_raw_connection()
                if raw.driver_connection is not None:  # below SQLAlchemy: a checkpoint runs outside of transactions
                    await raw.driver_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for backup in self._path.parent.glob(f"{self._path.name}.before-*"):
            backup.unlink(missing_ok=True)
