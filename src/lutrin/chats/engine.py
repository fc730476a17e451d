"""SQLAlchemy's asynchronous engine over SQLCipher: `aiosqlite` runs each connection in its own thread.

SQLAlchemy knows aiosqlite over the standard library's sqlite3 only; the dialect here says where the error classes of
`sqlcipher3` are, so that an IntegrityError arrives as one.
"""

from pathlib import Path
from types import ModuleType

import aiosqlite
from sqlalchemy import Connection, event
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi, SQLiteDialect_aiosqlite
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlcipher3 import dbapi2

from lutrin import sqlite

READ = {"lutrin_begin": "BEGIN"}
"""Execution options of a transaction that only reads; others take the write lock at once (`BEGIN IMMEDIATE`)."""

_ERRORS = ("Error", "DatabaseError", "IntegrityError", "NotSupportedError", "OperationalError", "ProgrammingError")


class SQLCipherDialect(SQLiteDialect_aiosqlite):
    """The aiosqlite dialect with the error classes of sqlcipher3."""

    driver = "aiosqlcipher"
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> AsyncAdapt_aiosqlite_dbapi:
        """The DBAPI module that SQLAlchemy calls."""
        module: ModuleType = dbapi2
        adapted = AsyncAdapt_aiosqlite_dbapi(aiosqlite, module)
        for name in _ERRORS:
            setattr(adapted, name, getattr(module, name))
        return adapted


registry.register("sqlite.aiosqlcipher", __name__, "SQLCipherDialect")


def open_engine(path: Path, key: str, *, connections: int = 4) -> AsyncEngine:
    """An engine of a few connections; close it with `await engine.dispose()`.

    Args:
        path: The database, already migrated.
        key: Its key, 64 hexadecimal digits.
        connections: Kept open; one of them writes at a time.
    """

    def open_file() -> sqlite.Connection:
        connection = sqlite.connect(path, key=key)
        connection.execute("PRAGMA secure_delete = ON")  # what a reader deletes is overwritten, not only unlinked
        return connection

    async def connect() -> aiosqlite.Connection:
        connection = aiosqlite.Connection(open_file, 64)
        # As SQLAlchemy does for its own connections: a forgotten close must not keep the process alive.
        connection._thread.daemon = True  # noqa: SLF001 - aiosqlite has no public name for it
        return await connection

    engine = create_async_engine(
        "sqlite+aiosqlcipher:///conversations",  # a name only; `connect` knows the file
        async_creator=connect,
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,  # an error's text must not hold a reader's words
    )
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _begin(connection: Connection) -> None:
    """Begin the transaction ourselves: the driver runs in autocommit mode."""
    options = connection.get_execution_options()
    connection.exec_driver_sql(str(options.get("lutrin_begin", "BEGIN IMMEDIATE")))
