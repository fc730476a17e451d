"""Transactions in threads of their own."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import Connection

from lutrin.chats.engine import CONNECTIONS, SqlCipher
from lutrin.chats.key import new_key
from lutrin.chats.migrations import migrate

KEY = new_key()
WAIT_S = 20


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqlCipher]:
    """A new file with a table of numbers."""
    migrate(tmp_path / "chats.db", KEY)
    opened = SqlCipher(tmp_path / "chats.db", KEY)
    await opened.run(lambda connection: connection.exec_driver_sql("CREATE TABLE number (n INTEGER)"), reads=False)
    yield opened
    await opened.close()


class Slow:
    """Stores 1, stands still until it may go on, stores 2."""

    def __init__(self) -> None:
        self._begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, connection: Connection) -> None:
        """The work of a transaction."""
        insert(connection, 1)
        self._begun.set()
        assert self.go_on.wait(WAIT_S)
        insert(connection, 2)

    async def begun_in(self, database: SqlCipher) -> "asyncio.Task[None]":
        """A transaction that stands still, in a task that waits for it."""
        task = asyncio.create_task(database.run(self, reads=False))
        assert await asyncio.to_thread(self._begun.wait, WAIT_S)
        return task


def insert(connection: Connection, number: int) -> None:
    """Store a number."""
    connection.exec_driver_sql("INSERT INTO number VALUES (?)", (number,))


def known(connection: Connection) -> list[int]:
    """The numbers that are stored."""
    return [int(row[0]) for row in connection.exec_driver_sql("SELECT n FROM number ORDER BY n")]


async def test_what_fails_is_undone_as_a_whole(database: SqlCipher) -> None:
    """An error after the first of two statements leaves none of them."""

    def half(connection: Connection) -> None:
        insert(connection, 1)
        raise LookupError("the second one")

    with pytest.raises(LookupError, match="the second one"):
        await database.run(half, reads=False)
    await database.run(lambda connection: insert(connection, 2), reads=False)
    assert await database.run(known, reads=True) == [2]


async def test_who_leaves_undoes_nothing(database: SqlCipher) -> None:
    """A task that is cancelled while its transaction runs leaves it to end."""
    slow = Slow()
    leaving = await slow.begun_in(database)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert await database.run(known, reads=True) == []
    slow.go_on.set()
    await database.run(lambda connection: insert(connection, 3), reads=False)
    assert await database.run(known, reads=True) == [1, 2, 3]


async def test_closing_waits_for_what_has_begun(tmp_path: Path) -> None:
    """The last transaction is in the file after `close`."""
    migrate(tmp_path / "chats.db", KEY)
    first = SqlCipher(tmp_path / "chats.db", KEY)
    await first.run(lambda connection: connection.exec_driver_sql("CREATE TABLE number (n INTEGER)"), reads=False)
    slow = Slow()
    writing = await slow.begun_in(first)
    closing = asyncio.create_task(first.close())
    await asyncio.sleep(0.05)
    assert not closing.done()
    slow.go_on.set()
    await closing
    await writing
    again = SqlCipher(tmp_path / "chats.db", KEY)
    assert await again.run(known, reads=True) == [1, 2]
    await again.close()


async def test_readers_wait_for_no_writer(database: SqlCipher) -> None:
    """As many readings as there are other threads end while a writer holds the file."""
    slow = Slow()
    writing = await slow.begun_in(database)
    async with asyncio.timeout(WAIT_S):
        found = await asyncio.gather(*(database.run(known, reads=True) for _ in range(CONNECTIONS - 1)))
    assert found == [[]] * (CONNECTIONS - 1)
    slow.go_on.set()
    await writing
