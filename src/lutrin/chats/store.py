"""The conversations of all readers, encrypted at rest: the adapter-free implementation of `ports.ChatStore`."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlmodel import col, delete, select
from sqlmodel.ext.asyncio.session import AsyncSession

from lutrin.chats import rows
from lutrin.chats.engine import READ, open_engine
from lutrin.chats.migrations import migrate
from lutrin.chats.tables import FeedbackRow, MessageRow, SessionRow
from lutrin.errors import ChatStoreError, NotFound
from lutrin.messages import NOTHING_HERE
from lutrin.records import ChatMessage, ChatOrigin, ChatSession


def utc_now() -> datetime:
    """The time of day that new conversations carry."""
    return datetime.now(UTC)


class SqlChatStore:
    """Conversations in one SQLCipher file; open it with `SqlChatStore.open`.

    Every method that says `key` means `owner.conversation_key`: the id itself for a conversation without an owner.
    """

    def __init__(self, engine: AsyncEngine, path: Path, now: Callable[[], datetime] = utc_now) -> None:
        self._engine = engine
        self._readers = engine.execution_options(**READ)
        self._path = path
        self._now = now

    @classmethod
    async def open(cls, path: Path, key: str, now: Callable[[], datetime] = utc_now) -> "SqlChatStore":
        """Migrate the database (made if there is none) and open it.

        Raises:
            ChatStoreError: The key is wrong, or the database cannot be opened or migrated.
        """
        await asyncio.to_thread(migrate, path, key)
        return cls(open_engine(path, key), path, now)

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
        async with self._writing() as session:
            await session.exec(rows.upserted_session(rows.new_session(key, origin, messages, now)))
            if messages:
                stored = await session.exec(rows.upserted_messages([rows.message_row(key, item) for item in messages]))
                if stored.rowcount != len(messages):
                    raise ChatStoreError("A message of that id belongs to another conversation.")
            await session.exec(rows.recounted(key))

    async def history(self, session_id: str, limit: int = 50) -> list[ChatMessage]:
        """The newest `limit` messages of a conversation, oldest first; an unknown one has none.

        Raises:
            ChatStoreError: The database cannot be read.
        """
        newest = col(MessageRow.position).desc()
        wanted = select(MessageRow).where(MessageRow.session == session_id).order_by(newest).limit(limit)
        async with self._reading() as session:
            found = (await session.exec(wanted)).all()
            public = (await session.exec(select(SessionRow.id).where(SessionRow.key == session_id))).first()
            return [rows.chat_message(row, public or session_id) for row in reversed(found)]

    async def sessions(self, owner: str) -> list[ChatSession]:
        """An owner's conversations, the one used last first; the empty owner has none."""
        newest = col(SessionRow.updated).desc()
        wanted = select(SessionRow).where(SessionRow.owner == owner).order_by(newest, col(SessionRow.key))
        async with self._reading() as session:
            return [rows.chat_session(row) for row in (await session.exec(wanted)).all()] if owner else []

    async def session(self, key: str) -> ChatSession:
        """What is known of one conversation.

        Raises:
            NotFound: There is none of that key.
        """
        async with self._reading() as session:
            row = await session.get(SessionRow, key)
            if row is None:
                raise NotFound(NOTHING_HERE)
            return rows.chat_session(row)

    async def rename(self, key: str, title: str) -> ChatSession:
        """Give a conversation a name of the reader's own.

        Raises:
            NotFound: There is none of that key.
        """
        async with self._writing() as session:
            row = await session.get(SessionRow, key)
            if row is None:
                raise NotFound(NOTHING_HERE)
            row.title = title
            return rows.chat_session(row)

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
            await session.merge(FeedbackRow(message=message_id, value=value, comment=comment, created=created))

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
        """Empty the log file and remove the migrations' backups, which still hold what was deleted."""
        with _errors_named():
            async with self._engine.connect() as connection:
                raw = await connection.get_raw_connection()
                if raw.driver_connection is not None:  # below SQLAlchemy: a checkpoint runs outside of transactions
                    await raw.driver_connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for backup in self._path.parent.glob(f"{self._path.name}.before-*"):
            backup.unlink(missing_ok=True)

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[AsyncSession]:
        with _errors_named():
            async with AsyncSession(self._engine, expire_on_commit=False) as session, session.begin():
                yield session

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncSession]:
        with _errors_named():
            async with AsyncSession(self._readers, expire_on_commit=False) as session, session.begin():
                yield session


@contextmanager
def _errors_named() -> Iterator[None]:
    """Errors of the database leave as ours, without the values that a statement carried."""
    try:
        yield
    except SQLAlchemyError as error:
        raise ChatStoreError(
            f"The conversations cannot be read or written ({type(error).__name__}).",
            remedy="See `lutrin doctor`: disk space, permissions, integrity.",
        ) from error
