"""SQLite as every database of Lutrin opens it.

`sqlcipher3` brings a current SQLite for plain and encrypted files alike; releases before 3.51.3 can corrupt a database
in WAL mode (two connections, one of them checkpointing), so an older one is refused.
"""

import random
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import cast

from sqlcipher3 import dbapi2

from lutrin.errors import LutrinError

OLDEST = (3, 51, 3)
VERSION: str = dbapi2.sqlite_version
BUSY_TIMEOUT_MS = 5000

# sqlcipher3 has the interface of the standard library's sqlite3, but no annotations of its own.
Connection = sqlite3.Connection
DatabaseError: type[sqlite3.DatabaseError] = dbapi2.DatabaseError
OperationalError: type[sqlite3.OperationalError] = dbapi2.OperationalError


def assert_version(version: tuple[int, ...] = dbapi2.sqlite_version_info) -> None:
    """Refuse an SQLite that can corrupt our databases."""
    if version < OLDEST:
        raise LutrinError(
            f"SQLite {'.'.join(map(str, version))} can corrupt databases; 3.51.3 or newer is needed.",
            remedy="Reinstall sqlcipher3 0.6.4 or newer.",
        )


def connect(path: Path, *, key: str | None = None, readonly: bool = False) -> Connection:
    """Open a database in WAL mode with full durability and explicit transactions.

    Args:
        path: The file; it is created unless `readonly`.
        key: 64 hexadecimal digits; the file is encrypted with them.
        readonly: Never write; for files that are published and immutable.
    """
    assert_version()
    uri = f"{path.resolve().as_uri()}?mode={'ro' if readonly else 'rwc'}{'&immutable=1' if readonly else ''}"
    connection = cast(
        "sqlite3.Connection", dbapi2.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    )
    try:
        if key is not None:
            connection.execute(f"PRAGMA key = \"x'{key}'\"")
        connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")
        connection.execute("PRAGMA foreign_keys = ON")
        if not readonly:
            _write_ahead(connection)
            connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: Connection) -> None:
    """Set WAL mode; where others set it in a new file at the same moment, SQLite reports a lock without waiting."""
    end_s = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end_s:
                raise
            time.sleep(random.uniform(0.001, 0.02))  # noqa: S311 - keeps those who wait apart, guards nothing
        else:
            return


def copy(source: Path, target: Path, *, key: str | None = None) -> None:
    """Copy a database into another one with the same key, while others may be using either."""
    with closing(connect(source, key=key)) as giving, closing(connect(target, key=key)) as taking:
        giving.backup(taking)


def replace(database: Path, other: Path) -> None:
    """Replace an unreadable database by another file."""
    for suffix in ("-wal", "-shm"):
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    other.replace(database)
