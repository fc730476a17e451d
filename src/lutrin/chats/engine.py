"""The encrypted file of the conversations: aiosqlite on SQLCipher's connections.

Each connection has a thread of its own, and each statement is one change of threads (docs/decisions/0052).
"""

import asyncio
import logging
from collections import namedtuple
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeVar

import aiosqlite

from lutrin import sqlite
from lutrin.chats.key import in_use

T = TypeVar("T")
Values = Mapping[str, object]
READERS = 3
"""Connections for reading, beside the one for writing."""
ROWS_AT_ONCE = 64
"""Rows that aiosqlite would fetch at a time if a result were read row by row; none is."""


class Transaction(Protocol):
    """Statements that are stored together or not at all."""

    async def execute(self, statement: str, values: Values) -> list[Any]:
        """Run one statement and return its rows, which have their columns as attributes."""


class Database(Protocol):
    """Runs statements without holding up the event loop."""

    async def read(self, statement: str, values: Values) -> list[Any]:
        """Return the rows of one statement that only reads; see `Transaction.execute`."""

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run some work in one transaction, which completes even if its caller is cancelled; an error rolls it back."""

    async def close(self) -> None:
        """Let running work end, then release files and handles. Make no call afterwards."""


def _with_names(cursor: Any, row: Sequence[object]) -> Any:  # noqa: ANN401 - the names are known only here
    """Turn a row into a named tuple, as the connection's `row_factory`."""
    return _named(tuple(column[0] for column in cursor.description))(row)


@cache
def _named(columns: tuple[str, ...]) -> Callable[[Sequence[object]], Any]:
    """What makes rows of these columns; the statements are few, and so are their columns."""
    row: Any = namedtuple  # noqa: PYI024 - as above
    make: Callable[[Sequence[object]], Any] = row("Row", columns)._make
    return make


class SqlCipher:
    """One SQLCipher file, already migrated; open it with `SqlCipher.open`."""

    def __init__(self, writer: aiosqlite.Connection, readers: list[aiosqlite.Connection], held: ExitStack) -> None:
        self._writer = writer
        self._readers = readers
        self._held = held
        self._within = _OneConnection(writer)
        self._writing = asyncio.Lock()
        self._begun: set[asyncio.Task[Any]] = set()
        self._idle: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue()
        for reader in readers:
            self._idle.put_nowait(reader)

    @classmethod
    async def open(cls, path: Path, key: str) -> "SqlCipher":
        """Open the file for one writer and a few readers.

        Raises:
            ChatStoreError: Its key is being changed.
            DatabaseError: It cannot be opened with this key.
        """

        def connect() -> sqlite.Connection:
            connection = sqlite.connect(path, key=key)
            connection.execute("PRAGMA secure_delete = ON")  # overwrite what a reader deletes
            connection.row_factory = _with_names
            return connection

        # At its most talkative level aiosqlite logs each statement with its values, which are readers' words.
        logging.getLogger("aiosqlite").setLevel(logging.WARNING)
        opened: list[aiosqlite.Connection] = []
        with ExitStack() as held:
            held.enter_context(in_use(path))
            try:
                while len(opened) < 1 + READERS:
                    opened.append(await aiosqlite.Connection(connect, ROWS_AT_ONCE))
            except BaseException:
                for connection in opened:
                    await connection.close()
                raise
            return cls(opened[0], opened[1:], held.pop_all())

    async def read(self, statement: str, values: Values) -> list[Any]:
        """Return the rows of one statement that only reads, from a snapshot of its beginning; see `Database.read`."""
        reader = await self._idle.get()
        try:
            return await _OneConnection(reader).execute(statement, values)
        finally:
            self._idle.put_nowait(reader)

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Do some work in one transaction; see `Database.write`."""
        task = asyncio.ensure_future(self._transaction(work))
        self._begun.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def empty_log(self) -> None:
        """Move the contents of the write-ahead log into the database and empty the log."""
        async with self._writing:
            await self._writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")

    async def close(self) -> None:
        """Let running transactions end, then release the file. Make no call afterwards."""
        if self._begun:
            await asyncio.wait(self._begun)
        for connection in (*self._readers, self._writer):
            await connection.close()
        self._held.close()

    async def _transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        async with self._writing:
            await self._writer.execute_fetchall("BEGIN IMMEDIATE")
            try:
                result = await work(self._within)
                await self._writer.execute_fetchall("COMMIT")
            except BaseException:
                with suppress(sqlite.DatabaseError):  # SQLite itself rolls back when the disk is full
                    await self._writer.execute_fetchall("ROLLBACK")
                raise
            return result

    def _ended(self, task: "asyncio.Task[Any]") -> None:
        self._begun.discard(task)
        if not task.cancelled():
            task.exception()  # the caller may have been cancelled


class _OneConnection:
    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    async def execute(self, statement: str, values: Values) -> list[Any]:
        return list(await self._connection.execute_fetchall(statement, dict(values)))
