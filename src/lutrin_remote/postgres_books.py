"""The published books in PostgreSQL, from which every server fills its data folder.

A generation is published in one transaction: its files in parts, and the row that makes it the current one of its book.
Servers keep fetched books and search them on their own disks. They ask PostgreSQL for news once a second, and never for
an answer.
"""

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg

from lutrin.errors import IndexUnavailable

CONNECT_S = 3.0
MIGRATION_LOCK = 0x6C75747269
"""Key of the advisory lock under which one server at a time creates tables, as in `lutrin_remote.postgres_chats`."""
PART_BYTES = 1 << 20
TRANSFER_S = 600.0
"""Seconds for one statement. A part takes milliseconds; waiting for another publication may take longer."""
# Not every error of the operating system: our full disk is not PostgreSQL's failure.
AWAY = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    ConnectionError,
    TimeoutError,
    socket.gaierror,
)
SCHEMA = """
CREATE TABLE IF NOT EXISTS lutrin_book (
    slug TEXT PRIMARY KEY, name TEXT NOT NULL, previous TEXT, record BYTEA NOT NULL);
CREATE TABLE IF NOT EXISTS lutrin_file (
    generation TEXT NOT NULL, slug TEXT NOT NULL, path TEXT NOT NULL, part INTEGER NOT NULL, data BYTEA NOT NULL,
    PRIMARY KEY (generation, path, part));
ALTER TABLE lutrin_file ALTER COLUMN data SET STORAGE EXTERNAL;
"""


class PostgresRack:
    """Published books in PostgreSQL; see `ports.BookRack`. Each call opens a connection."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._is_ready = False

    async def generations(self) -> dict[str, bytes]:
        """List the published generations; see `ports.BookRack.generations`."""
        async with self._connect() as connection:
            rows = await connection.fetch("SELECT name, record FROM lutrin_book ORDER BY slug")
        return {row["name"]: bytes(row["record"]) for row in rows}

    async def offer(self, slug: str, name: str, record: bytes, files: Mapping[str, Path]) -> None:
        """Publish a generation; see `ports.BookRack.offer`."""
        insert = "INSERT INTO lutrin_file VALUES ($1, $2, $3, $4, $5)"
        publish = (
            "INSERT INTO lutrin_book AS book VALUES ($1, $2, NULL, $3) ON CONFLICT (slug) DO UPDATE"
            " SET previous = book.name, name = excluded.name, record = excluded.record"
        )
        stale = (
            "DELETE FROM lutrin_file WHERE slug = $1 AND generation NOT IN"
            " (SELECT unnest(ARRAY[name, coalesce(previous, name)]) FROM lutrin_book WHERE slug = $1)"
        )
        async with self._connect() as connection, connection.transaction():
            await connection.execute("DELETE FROM lutrin_file WHERE generation = $1", name)
            for path, file in files.items():
                with file.open("rb") as source:
                    part = 0
                    while (data := source.read(PART_BYTES)) or part == 0:
                        await connection.execute(insert, name, slug, path, part, data)
                        part += 1
            await connection.execute(publish, slug, name, record)
            await connection.execute(stale, slug)

    async def withdraw(self, slug: str) -> None:
        """Withdraw a book; see `ports.BookRack.withdraw`."""
        async with self._connect() as connection, connection.transaction():
            await connection.execute("DELETE FROM lutrin_book WHERE slug = $1", slug)
            await connection.execute("DELETE FROM lutrin_file WHERE slug = $1", slug)

    async def fetch(self, name: str, folder: Path) -> None:
        """Write the files of a generation into a folder; see `ports.BookRack.fetch`."""
        select = "SELECT path, data FROM lutrin_file WHERE generation = $1 ORDER BY path, part"
        count = 0
        async with self._connect() as connection, connection.transaction(isolation="repeatable_read"):
            async for path, data in connection.cursor(select, name, prefetch=4):
                count += 1
                _append(folder, path, data)
        if not count:
            raise IndexUnavailable(f"PostgreSQL has no index {name} any more.")

    @asynccontextmanager
    async def _connect(self) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
        try:
            connection = await asyncpg.connect(self._url, timeout=CONNECT_S, command_timeout=TRANSFER_S)
            try:
                if not self._is_ready:
                    async with connection.transaction():
                        await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK)
                        await connection.execute(SCHEMA)
                    self._is_ready = True
                yield connection
            finally:
                await connection.close(timeout=CONNECT_S)
        except AWAY as error:
            raise IndexUnavailable(
                f"The books in PostgreSQL cannot be reached ({type(error).__name__}).", remedy="Check DATABASE_URL."
            ) from error


def _append(folder: Path, path: str, data: bytes) -> None:
    """Add a part to a file, which must be below the folder."""
    file = (folder / path).resolve()
    if not file.is_relative_to(folder.resolve()):
        raise IndexUnavailable(f"PostgreSQL names a file outside of the index: {path}")
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as target:
        target.write(data)
