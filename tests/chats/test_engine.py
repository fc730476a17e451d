"""Transactions and readings under aiosqlite."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lutrin import sqlite
from lutrin.chats.engine import READERS, Execute, SqlCipher, migrate
from lutrin.chats.key import new_key

KEY = new_key()
WAIT_S = 20
INSERT = "INSERT INTO number (n) VALUES (:n)"
KNOWN = "SELECT n FROM number ORDER BY n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A new file with a table of numbers."""
    migrate(tmp_path / "chats.db", KEY)
    with closing(sqlite.connect(tmp_path / "chats.db", key=KEY)) as connection:
        connection.execute("CREATE TABLE number (n INTEGER PRIMARY KEY)")
    return tmp_path / "chats.db"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[SqlCipher]:
    """The same, open."""
    opened = await SqlCipher.open(path, KEY)
    yield opened
    await opened.close()


class Slow:
    """Stores 1, stands still until it may go on, stores 2."""

    def __init__(self) -> None:
        self._begun, self.go_on = asyncio.Event(), asyncio.Event()

    async def __call__(self, execute: Execute) -> None:
        """The work of a transaction."""
        await execute(INSERT, {"n": 1})
        self._begun.set()
        await self.go_on.wait()
        await execute(INSERT, {"n": 2})

    async def begun_in(self, database: SqlCipher) -> "asyncio.Task[None]":
        """A transaction that stands still, in a task that waits for it."""
        task = asyncio.create_task(database.write(self))
        async with asyncio.timeout(WAIT_S):
            await self._begun.wait()
        return task


async def store(database: SqlCipher, number: int) -> None:
    """Store a number in a transaction of its own."""
    await database.write(lambda execute: execute(INSERT, {"n": number}))


async def known(database: SqlCipher) -> list[int]:
    """The numbers that are stored."""
    return [row.n for row in await database.read(KNOWN, {})]


async def test_what_fails_is_undone_as_a_whole(database: SqlCipher) -> None:
    """An error after the first of two statements leaves none of them."""

    async def half(execute: Execute) -> None:
        await execute(INSERT, {"n": 1})
        raise LookupError("the second one")

    with pytest.raises(LookupError, match="the second one"):
        await database.write(half)
    await store(database, 2)
    assert await known(database) == [2]


async def test_what_the_database_refuses_is_undone_too(database: SqlCipher) -> None:
    """A statement that breaks a rule of the tables takes those before it with it, and the next transaction begins."""
    await store(database, 2)

    async def twice(execute: Execute) -> None:
        await execute(INSERT, {"n": 1})
        await execute(INSERT, {"n": 2})

    with pytest.raises(sqlite.DatabaseError, match="UNIQUE"):
        await database.write(twice)
    await store(database, 3)
    assert await known(database) == [2, 3]


async def test_who_leaves_undoes_nothing(database: SqlCipher) -> None:
    """A task that is cancelled while its transaction runs leaves it to end."""
    slow = Slow()
    leaving = await slow.begun_in(database)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert await known(database) == []
    slow.go_on.set()
    await store(database, 3)
    assert await known(database) == [1, 2, 3]


async def test_a_reader_who_leaves_takes_no_connection_along(database: SqlCipher) -> None:
    """As many cancelled readings as there are connections, and the next one is answered."""
    await store(database, 1)
    for _ in range(READERS):
        leaving = asyncio.create_task(known(database))
        await asyncio.sleep(0)
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
    async with asyncio.timeout(WAIT_S):
        assert await known(database) == [1]


async def test_writers_wait_for_each_other(path: Path, database: SqlCipher) -> None:
    """A hundred transactions at once, and as many of another program beside them, are stored, each as a whole."""
    other = await SqlCipher.open(path, KEY)
    try:
        await asyncio.gather(*(store(each, n * 2 + i) for n in range(100) for i, each in enumerate((database, other))))
        assert await known(database) == list(range(200))
    finally:
        await other.close()


async def test_closing_waits_for_what_has_begun(path: Path) -> None:
    """The last transaction is in the file after `close`."""
    first = await SqlCipher.open(path, KEY)
    slow = Slow()
    writing = await slow.begun_in(first)
    closing = asyncio.create_task(first.close())
    await asyncio.sleep(0.05)
    assert not closing.done()
    slow.go_on.set()
    await closing
    await writing
    again = await SqlCipher.open(path, KEY)
    assert await known(again) == [1, 2]
    await again.close()


async def test_readers_wait_for_no_writer(database: SqlCipher) -> None:
    """Many readings end while a writer holds the file."""
    slow = Slow()
    writing = await slow.begun_in(database)
    async with asyncio.timeout(WAIT_S):
        found = await asyncio.gather(*(known(database) for _ in range(5 * READERS)))
    assert found == [[]] * (5 * READERS)
    slow.go_on.set()
    await writing


async def test_a_file_that_cannot_be_opened_leaves_no_thread(path: Path) -> None:
    """A wrong key is refused, and the file can be opened with the right one."""
    with pytest.raises(sqlite.DatabaseError):
        await SqlCipher.open(path, new_key())
    await (await SqlCipher.open(path, KEY)).close()


async def test_what_is_stored_is_durable(database: SqlCipher) -> None:
    """The connection that writes waits for the disk with each transaction, and overwrites what is deleted."""
    settings = {
        name: (await database._writer.execute_fetchall(f"PRAGMA {name}"))
        for name in ("synchronous", "journal_mode", "secure_delete", "foreign_keys")
    }
    assert {name: next(iter(rows))[0] for name, rows in settings.items()} == {
        "synchronous": 2,
        "journal_mode": "wal",
        "secure_delete": 1,
        "foreign_keys": 1,
    }


async def test_no_statement_is_logged_with_its_values(database: SqlCipher, caplog: pytest.LogCaptureFixture) -> None:
    """The driver's own log says nothing, however talkative the program's is."""
    with caplog.at_level(logging.DEBUG):
        await store(database, 71234)
    assert "71234" not in caplog.text


async def test_a_row_has_its_columns_as_attributes(database: SqlCipher) -> None:
    """By the names that the statement gives them."""
    await store(database, 7)
    (row,) = await database.read("SELECT n, n + :more AS later FROM number", {"more": 1})
    assert (row.n, row.later) == (7, 8)


async def test_calls_that_wait_to_empty_the_log_share_a_turn(
    database: SqlCipher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Emptying it may wait for readers: twenty who delete at once wait for two turns, not for twenty."""
    turns: list[str] = []
    execute = database._writer.execute_fetchall

    async def slowly(statement: str, *values: object) -> object:
        turns.append(statement)
        await asyncio.sleep(0.05)
        return await execute(statement, *values)

    monkeypatch.setattr(database._writer, "execute_fetchall", slowly)
    await asyncio.wait_for(asyncio.gather(*(database.empty_log() for _ in range(20))), WAIT_S)
    first = asyncio.create_task(database.empty_log())
    await asyncio.sleep(0.01)
    await asyncio.wait_for(asyncio.gather(first, *(database.empty_log() for _ in range(20))), WAIT_S)
    assert len(turns) == 3
