"""The conversations of all readers, encrypted at rest: implements `ports.ChatStore`.

`ChatTables` works on the tables of any database; `SqlChatStore` keeps them in an encrypted file.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from lutrin import sqlite
from lutrin.chats import rows, sql
from lutrin.chats.engine import Database, SqlCipher, Transaction, Values
from lutrin.chats.migrations import migrate
from lutrin.chats.questions import AskedQuestion, asked_questions
from lutrin.chats.rows import Room
from lutrin.chats.seal import Seal
from lutrin.errors import ChatStoreError, ChatStoreFull, NotFound
from lutrin.messages import CONVERSATION_FULL, NOTHING_HERE, READER_FULL
from lutrin.records import ChatMessage, ChatOrigin, ChatSession

T = TypeVar("T")
OWNER_CHARS = 64
"""Length of the hash of a browser's secret."""
NOBODY = "nobody"
"""Hash of an owner that has no conversation."""
LAST_OF_DAY = "U"
"""Appended to a day, it sorts after every time of that day, since those continue with `T`."""
OF_CONTENTS = frozenset({"out_of_scope", "not_in_book", None})
"""Refusals that say something about the contents of the books; None: an old answer, which does not say which it is."""


def utc_now() -> datetime:
    """Return the current time, UTC."""
    return datetime.now(UTC)


class ChatTables:
    """Conversations in the tables of `tables.py`.

    What takes a `key` of one conversation raises NotFound if there is none of that key.

    Each call raises ChatStoreError if the database cannot be read, or nothing was stored.

    An argument `key` is always an `owner.conversation_key`: for a conversation without an owner, the id itself.
    """

    trouble: tuple[type[Exception], ...] = (sqlite.DatabaseError,)
    """Errors that the database raises."""
    reason: ChatStoreError | None = None
    """Why the conversations could not be opened; None if they are open."""

    def __init__(
        self, database: Database, seal: Seal, now: Callable[[], datetime] = utc_now, room: Room | None = None
    ) -> None:
        self._database = database
        self._seal = seal
        self._now = now
        self._room = room

    async def append(self, session_id: str, messages: Sequence[ChatMessage]) -> None:
        """Store messages in one transaction; see `ports.ChatStore`. A message with a known id is replaced."""
        await self.record(session_id, ChatOrigin(session_id=session_id), messages)

    async def record(self, key: str, origin: ChatOrigin, messages: Sequence[ChatMessage]) -> None:
        """Store messages and what is known of their conversation in one transaction.

        Raises:
            ChatStoreFull: The conversation, or its reader, has no room left; nothing was stored.
        """
        now = self._now()
        begun = rows.new_session(key, origin, messages, now, self._seal)
        wanted = [rows.new_message(key, item, self._seal) for item in messages]

        added = sum(map(rows.size_of, wanted))

        async def work(within: Transaction) -> None:
            await self._check_room(within, key, origin.owner, added)
            await within.execute(sql.UPSERT_SESSION, begun)
            for item in wanted:
                if not await within.execute(sql.UPSERT_MESSAGE, item):
                    raise ChatStoreError("A message with that id belongs to another conversation.")
            await within.execute(sql.RECOUNT, {"of": key, "added": added})

        await self._write(work)

    async def _check_room(self, within: Transaction, key: str, owner: str, added: int) -> None:
        if self._room is None:
            return
        # An owner that is not the hash of a secret is shared by many readers, and has no quota.
        whose = owner if len(owner) == OWNER_CHARS else NOBODY
        (used,) = await within.execute(sql.SIZES, {"of": key, "whose": whose})
        if used.conversation + added > self._room.conversation_bytes:
            raise ChatStoreFull(CONVERSATION_FULL)
        if whose != NOBODY and used.reader + added > self._room.reader_bytes:
            raise ChatStoreFull(READER_FULL)

    async def history(self, session_id: str, limit: int = 50) -> list[ChatMessage]:
        """Return the newest `limit` messages of a conversation, oldest first; none if it is unknown."""
        found = await self._read(sql.HISTORY, {"of": session_id, "most": limit})
        return [rows.chat_message(row, row.public, self._seal) for row in reversed(found)]

    async def sessions(self, owner: str, most: int, past: int = 0) -> list[ChatSession]:
        """Return an owner's conversations after the first `past`, the last used first; the empty owner has none."""
        found = await self._read(sql.SESSIONS, {"whose": owner, "most": most, "past": past}) if owner else []
        return [rows.chat_session(row, self._seal) for row in found]

    async def refused(self) -> list[ChatMessage]:
        """Return the questions that the books did not answer, oldest first, without their authors."""
        return [
            rows.chat_message(row, "", self._seal)
            for row in await self._read(sql.REFUSED, {})
            if rows.shown(row.reply, self._seal).refusal in OF_CONTENTS
        ]

    async def recent_questions(self, most: int) -> list[AskedQuestion]:
        """Return the newest questions that were answered or refused, newest first, without their authors."""
        return asked_questions(await self._read(sql.ASKED, {"most": most}), self._seal)

    async def session(self, key: str) -> ChatSession:
        """Return one conversation's record."""
        return rows.chat_session(_only(await self._read(sql.SESSION, {"of": key})), self._seal)

    async def rename(self, key: str, title: str) -> ChatSession:
        """Give a conversation a name of the reader's own."""
        found = await self._change(sql.RENAME, {"of": key, "named": self._seal.close(title)})
        return rows.chat_session(_only(found), self._seal)

    async def delete(self, key: str) -> None:
        """Delete a conversation for good."""
        _only(await self._change(sql.DELETE, {"of": key}))
        await self._erase_traces()

    async def judge(self, message_id: str, owner: str, value: str, comment: str = "") -> None:
        """Store what a reader thought of an answer; a second judgement replaces the first.

        Raises:
            NotFound: There is no such answer, or another browser's conversation holds it.
        """
        judged = {
            "message": message_id,
            "value": value,
            "comment": self._seal.close(comment),
            "created": rows.iso(self._now()),
        }

        async def work(within: Transaction) -> None:
            _only(await within.execute(sql.ANSWER_OF, {"said": message_id, "whose": owner}))
            await within.execute(sql.UPSERT_FEEDBACK, judged)

        await self._write(work)

    async def forget(
        self, *, session_id: str | None = None, older_than: timedelta | None = None, everything: bool = False
    ) -> int:
        """Delete conversations of an id, not used for so long, or all, whoever owns them; return how many."""
        if session_id is not None:
            deleted = await self._change(sql.DELETE_ID, {"id": session_id})
        elif older_than is not None:
            deleted = await self._change(sql.DELETE_BEFORE, {"before": rows.iso(self._now() - older_than)})
        elif everything:
            deleted = await self._change(sql.DELETE_ALL, {})
        else:
            return 0
        if deleted:
            await self._erase_traces()
        return len(deleted)

    async def retain(self, days: int) -> int:
        """Delete conversations not used in the last days on which the database was in use; return how many.

        Only days on which the database was used are counted, today included. So a clock that jumps ahead by years
        adds one day.
        """
        now = self._now()
        today = rows.iso(now)[:10]
        before = rows.iso(now - timedelta(days=days))

        async def work(within: Transaction) -> int:
            await within.execute(sql.KEEP_DAY, {"day": today})
            seen = await within.execute(sql.DAYS, {"today": today, "most": days + 1})
            if len(seen) <= days:
                return 0
            doomed = {"before": min(before, seen[-1].day + LAST_OF_DAY)}
            return len(await within.execute(sql.DELETE_BEFORE, doomed))

        deleted = await self._write(work)
        if deleted:
            await self._erase_traces()
        return deleted

    async def close(self) -> None:
        """Release files and handles. Make no call afterwards."""
        await self._database.close()

    async def _erase_traces(self) -> None:
        """Remove what the database keeps of deleted rows. Databases that do not overwrite them extend this."""

    async def _read(self, statement: str, values: Values) -> list[Any]:
        with self._errors_named():
            return await self._database.read(statement, values)

    async def _change(self, statement: str, values: Values) -> list[Any]:
        return await self._write(lambda within: within.execute(statement, values))

    async def _write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        with self._errors_named():
            return await self._database.write(work)

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        """Turn errors of the database into ours, without the values of a statement."""
        try:
            yield
        except self.trouble as error:
            raise ChatStoreError(
                f"The conversations cannot be read or written ({type(error).__name__}).",
                remedy="See `lutrin doctor`: disk space, permissions, integrity.",
            ) from error


def _only(found: Sequence[Any]) -> Any:  # noqa: ANN401 - a row of either driver
    if not found:
        raise NotFound(NOTHING_HERE)
    return found[0]


class SqlChatStore(ChatTables):
    """Conversations in one SQLCipher file; open it with `SqlChatStore.open`."""

    def __init__(
        self, database: SqlCipher, path: Path, now: Callable[[], datetime] = utc_now, room: Room | None = None
    ) -> None:
        super().__init__(database, Seal(), now, room)
        self._file = database
        self._path = path

    @classmethod
    async def open(
        cls, path: Path, key: str, now: Callable[[], datetime] = utc_now, room: Room | None = None
    ) -> "SqlChatStore":
        """Migrate the database, or create it, and open it.

        Raises:
            ChatStoreError: The key is wrong, or the database cannot be opened or migrated.
        """
        await asyncio.to_thread(migrate, path, key)
        return cls(await SqlCipher.open(path, key), path, now, room)

    async def _erase_traces(self) -> None:
        """Empty the log file and remove the migrations' backups, which still hold what was deleted."""
        with self._errors_named():
            await self._file.empty_log()
        for backup in self._path.parent.glob(f"{self._path.name}.before-*"):
            backup.unlink(missing_ok=True)


class AbsentChats(ChatTables):
    """Conversations that could not be opened: every call fails with this reason."""

    def __init__(self, reason: ChatStoreError) -> None:
        super().__init__(_NoDatabase(reason), Seal())
        self.reason = reason


class _NoDatabase:
    def __init__(self, reason: ChatStoreError) -> None:
        self._reason = reason

    async def read(self, statement: object, values: object) -> NoReturn:
        del statement, values
        self._fail()

    async def write(self, work: object) -> NoReturn:
        del work
        self._fail()

    def _fail(self) -> NoReturn:
        raise ChatStoreError(self._reason.detail, remedy=self._reason.remedy)

    async def close(self) -> None:
        """Do nothing: no file is open."""
