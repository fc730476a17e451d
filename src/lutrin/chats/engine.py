"""SQLAlchemy's engine over SQLCipher, and the threads in which its transactions run.

A transaction is one call in a thread of its own, not one for each statement: an asynchronous driver changes threads
three times a statement, which took ten times as long as the statements themselves (docs/decisions/0052).
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import QueuePool
from sqlcipher3 import dbapi2

from lutrin import sqlite
from lutrin.chats.key import in_use

T = TypeVar("T")
CONNECTIONS = 4
"""Kept open; one of them writes at a time."""
READS = {"lutrin_begin": "BEGIN"}
"""Execution options of a transaction that only reads; others take the write lock at once (`BEGIN IMMEDIATE`)."""


class SqlCipher:
    """One SQLCipher file, already migrated.

    Args:
        path: Of the file.
        key: Its key, 64 hexadecimal digits.

    Raises:
        ChatStoreError: Its key is being changed.
    """

    def __init__(self, path: Path, key: str) -> None:
        def open_file() -> sqlite.Connection:
            connection = sqlite.connect(path, key=key)
            connection.execute("PRAGMA secure_delete = ON")  # what a reader deletes is overwritten, not only unlinked
            return connection

        self._held = ExitStack()
        self._held.enter_context(in_use(path))
        self._threads = ThreadPoolExecutor(CONNECTIONS, "lutrin-chats")
        self._engine = create_engine(
            "sqlite://",
            creator=open_file,
            module=dbapi2,
            poolclass=QueuePool,
            pool_size=CONNECTIONS,
            max_overflow=0,
            hide_parameters=True,  # an error's text must not hold a reader's words
        )
        event.listen(self._engine, "begin", _begin)
        self._readers = self._engine.execution_options(**READS)

    async def run(self, work: Callable[[Connection], T], *, reads: bool) -> T:
        """Do some work in one transaction, in a thread; it goes on where who waits for it is cancelled.

        Args:
            work: Gets the connection; what it raises undoes the transaction.
            reads: It writes nothing, so that others may write meanwhile.
        """

        def transaction() -> T:
            with (self._readers if reads else self._engine).begin() as connection:
                return work(connection)

        return await asyncio.get_running_loop().run_in_executor(self._threads, transaction)

    async def empty_log(self) -> None:
        """Write what is in the log file into the database and empty it."""

        def checkpoint() -> None:
            connection = self._engine.raw_connection()  # below SQLAlchemy: a checkpoint runs outside of transactions
            try:
                connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()

        await asyncio.get_running_loop().run_in_executor(self._threads, checkpoint)

    async def close(self) -> None:
        """Let work that has begun end and release the file; no other call may follow."""
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()
        self._held.close()


def _begin(connection: Connection) -> None:
    """Begin the transaction ourselves: the driver runs in autocommit mode."""
    options = connection.get_execution_options()
    connection.exec_driver_sql(str(options.get("lutrin_begin", "BEGIN IMMEDIATE")))
