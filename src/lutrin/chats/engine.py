"""The encrypted file of the conversations: aiosqlite on SQLCipher connections, and the migrations of its tables.

Each connection has a thread of its own, and each statement is one change of threads (docs/decisions/0052). A new
database gets the tables of `tables.py`; SQLite's `user_version` is the version.
"""

import asyncio
import logging
from collections import namedtuple
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import aiosqlite
from filelock import FileLock, Timeout

from lutrin import sqlite
from lutrin.chats.key import in_use
from lutrin.errors import ChatStoreError

T = TypeVar("T")
Values = Mapping[str, object]
READERS = 3
"""Connections for reading, beside the one for writing."""
ROWS_AT_ONCE = 64
"""Rows that aiosqlite would fetch at a time if a result were read row by row; none is."""


Execute = Callable[[str, Values], Awaitable[list[Any]]]
"""Runs one statement and returns its rows, which have their columns as attributes."""


class Database(Protocol):
    """Runs statements without holding up the event loop."""

    async def read(self, statement: str, values: Values) -> list[Any]:
        """Return the rows of one statement that only reads; see `Execute`."""

    async def write(self, work: Callable[[Execute], Awaitable[T]]) -> T:
        """Run some work in one transaction, which completes even if its caller is cancelled; an error rolls it back."""

    async def close(self) -> None:
        """Let running work end, then release files and handles. Make no call afterwards."""


def _with_names(cursor: Any, row: Sequence[object]) -> Any:  # noqa: ANN401 - the names are known only here
    return _row_factory(tuple(column[0] for column in cursor.description))(row)


@cache
def _row_factory(columns: tuple[str, ...]) -> Callable[[Sequence[object]], Any]:
    """A factory for rows of these columns; statements, and so their columns, are few."""
    row: Any = namedtuple  # noqa: PYI024 - its fields come from the tables
    make: Callable[[Sequence[object]], Any] = row("Row", columns)._make
    return make


class SqlCipher:
    """One SQLCipher file, already migrated; open it with `SqlCipher.open`."""

    def __init__(self, writer: aiosqlite.Connection, readers: list[aiosqlite.Connection], stack: ExitStack) -> None:
        self._writer = writer
        self._readers = readers
        self._stack = stack
        self._writing = asyncio.Lock()
        self._begun: set[asyncio.Task[Any]] = set()
        self._emptying: asyncio.Task[None] | None = None
        """Waits for its turn to empty the log."""
        self._idle: asyncio.LifoQueue[aiosqlite.Connection] = asyncio.LifoQueue()
        for reader in readers:
            self._idle.put_nowait(reader)

    @classmethod
    async def open(cls, path: Path, key: str) -> "SqlCipher":
        """Open the file for one writer and a few readers."""

        def connect() -> sqlite.Connection:
            connection = sqlite.connect(path, key=key)
            connection.execute("PRAGMA secure_delete = ON")  # overwrite what a reader deletes
            connection.row_factory = _with_names
            return connection

        # At its most talkative level aiosqlite logs each statement with its values, which are readers' words.
        logging.getLogger("aiosqlite").setLevel(logging.WARNING)
        opened: list[aiosqlite.Connection] = []
        with ExitStack() as stack:
            stack.enter_context(in_use(path))
            try:
                while len(opened) < 1 + READERS:
                    opened.append(await aiosqlite.Connection(connect, ROWS_AT_ONCE))
            except BaseException:
                for connection in opened:
                    await connection.close()
                raise
            return cls(opened[0], opened[1:], stack.pop_all())

    async def read(self, statement: str, values: Values) -> list[Any]:
        """Return the rows of one statement that only reads, from a snapshot of its beginning; see `Database.read`."""
        reader = await self._idle.get()
        try:
            return await _execute(reader, statement, values)
        finally:
            self._idle.put_nowait(reader)

    async def write(self, work: Callable[[Execute], Awaitable[T]]) -> T:
        """Do some work in one transaction; see `Database.write`."""
        task = asyncio.ensure_future(self._transaction(work))
        self._begun.add(task)
        task.add_done_callback(self._on_end)
        return await asyncio.shield(task)

    async def empty_log(self) -> None:
        """Move the contents of the write-ahead log into the database and empty the log.

        It may wait for readers, so calls that wait in the meantime share the next turn instead of taking one each.
        """
        if self._emptying is None:
            self._emptying = asyncio.create_task(self._empty_log())
            self._begun.add(self._emptying)
            self._emptying.add_done_callback(self._on_end)
        await asyncio.shield(self._emptying)

    async def _empty_log(self) -> None:
        async with self._writing:
            self._emptying = None  # what is written from now on needs another turn
            await self._writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")

    async def close(self) -> None:
        """Let running transactions end, then release the file. Make no call afterwards."""
        if self._begun:
            await asyncio.wait(self._begun)
        for connection in (*self._readers, self._writer):
            await connection.close()
        self._stack.close()

    async def _transaction(self, work: Callable[[Execute], Awaitable[T]]) -> T:
        async with self._writing:
            await self._writer.execute_fetchall("BEGIN IMMEDIATE")
            try:
                result = await work(partial(_execute, self._writer))
                await self._writer.execute_fetchall("COMMIT")
            except BaseException:
                with suppress(sqlite.DatabaseError):  # SQLite itself rolls back when the disk is full
                    await self._writer.execute_fetchall("ROLLBACK")
                raise
            return result

    def _on_end(self, task: "asyncio.Task[Any]") -> None:
        self._begun.discard(task)
        if not task.cancelled():
            task.exception()  # the caller may have been cancelled


async def _execute(connection: aiosqlite.Connection, statement: str, values: Values) -> list[Any]:
    return list(await connection.execute_fetchall(statement, dict(values)))


WAIT_S = 30.0
"""Seconds to wait for another process that creates or migrates the same file."""


MIGRATIONS: tuple[tuple[str, ...], ...] = (
    # The list of a browser's conversations and the newest 50 of one are read in the order of these indexes.
    (
        "CREATE INDEX ix_session_owner_updated ON session (owner, updated)",
        "DROP INDEX ix_message_session",
        "CREATE INDEX ix_message_session ON message (session, position)",
    ),
    # Data with which `lutrin replay` asks a question again.
    ("ALTER TABLE message ADD COLUMN made VARCHAR NOT NULL DEFAULT ''",),
    # The parts of an answer that a page shows: explanation, excerpts, suggestions.
    ("ALTER TABLE message ADD COLUMN shown VARCHAR NOT NULL DEFAULT ''",),
    # Bytes of a conversation, and the days that retention counts.
    (
        "ALTER TABLE session ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0",
        """UPDATE session SET stored_bytes = (
            SELECT coalesce(sum(length(text) + length(selected_text) + length(citations) + length(made)), 0)
            FROM message WHERE message.session = session."key"
        )""",
        "CREATE TABLE day (day VARCHAR NOT NULL PRIMARY KEY)",
        "INSERT INTO day SELECT DISTINCT substr(created, 1, 10) FROM message WHERE created LIKE '____-__-__T%'",
    ),
    # Assignments of classes and their results, as counts alone.
    (
        """CREATE TABLE assignment (
            id VARCHAR NOT NULL, created VARCHAR NOT NULL, body VARCHAR NOT NULL,
            opened INTEGER NOT NULL, finished INTEGER NOT NULL, sent INTEGER NOT NULL, PRIMARY KEY (id)
        )""",
        """CREATE TABLE assignment_card (
            assignment VARCHAR NOT NULL, card VARCHAR NOT NULL, tries INTEGER NOT NULL, missed INTEGER NOT NULL,
            PRIMARY KEY (assignment, card), FOREIGN KEY(assignment) REFERENCES assignment (id) ON DELETE CASCADE
        )""",
        """CREATE TABLE assignment_receipt (
            receipt VARCHAR NOT NULL, assignment VARCHAR NOT NULL,
            PRIMARY KEY (receipt), FOREIGN KEY(assignment) REFERENCES assignment (id) ON DELETE CASCADE
        )""",
        "CREATE INDEX ix_assignment_receipt_assignment ON assignment_receipt (assignment)",
    ),
)
"""Migration n leads from version n to n + 1."""


def migrate(path: Path, key: str, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> list[Path]:
    """Migrate the database, or create it; return paths of the encrypted backups made, such as `chats.db.before-2`.

    Raises:
        ChatStoreError: The key is wrong, the database is damaged or newer than this program, or a step failed (the
            database then is as it was before that step).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Two processes creating the file at once would each choose a salt, and one could not read the other's pages.
    try:
        with FileLock(path.with_name(f"{path.name}.lock"), timeout=WAIT_S):
            return _migrate(path, key, migrations)
    except Timeout as error:
        raise ChatStoreError(
            f"Another program is migrating the conversations in {path}.", remedy="Try again when it has ended."
        ) from error


def _migrate(path: Path, key: str, migrations: Sequence[Sequence[str]]) -> list[Path]:
    backups = []
    try:
        connection = sqlite.connect(path, key=key)
    except sqlite.DatabaseError as error:
        raise ChatStoreError(
            f"The conversations in {path} cannot be opened with this key: {error}.",
            remedy="Check LUTRIN_CHAT_KEY or the key file.",
        ) from error
    path.chmod(0o600)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > 1 + len(migrations):
            raise ChatStoreError(
                f"The conversations in {path} were written by a newer Lutrin (version {version}).",
                remedy="Install that version, or restore an older backup.",
            )
        if version == 0:
            from lutrin.chats.tables import make_tables  # noqa: PLC0415 - loads SQLModel, which takes most of a second

            _apply(connection, 0, 1 + len(migrations), make_tables("sqlite"))
        for number in range(version or 1 + len(migrations), 1 + len(migrations)):
            backups.append(_backup(connection, path, key, number + 1))
            _apply(connection, number, number + 1, migrations[number - 1])
    except sqlite.DatabaseError as error:
        raise ChatStoreError(f"The conversations in {path} could not be migrated: {error}.") from error
    finally:
        connection.close()
    return backups


def _apply(connection: sqlite.Connection, version: int, next_version: int, statements: Sequence[str]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        (current,) = connection.execute("PRAGMA user_version").fetchone()
        if current == version:  # otherwise another process has done it
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {next_version}")
        connection.execute("COMMIT")
    except sqlite.DatabaseError:
        connection.execute("ROLLBACK")
        raise


def _backup(connection: sqlite.Connection, path: Path, key: str, number: int) -> Path:
    target = path.with_name(f"{path.name}.before-{number}")
    target.unlink(missing_ok=True)
    copy = sqlite.connect(target, key=key)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    target.chmod(0o600)
    return target
