"""State that several servers share in PostgreSQL: conversations, rates, resume buffers, ingestions, a lock.

Readers' words are sealed with the chat key. Rates and buffers matter for a minute, so their tables are unlogged. If
PostgreSQL crashes they are emptied, and a reader who resumes an answer sees its beginning again. Keys are hashed with a
secret, so no address and no id is stored.
"""

import hashlib
import math
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg

from lutrin.chats.engine import MIGRATIONS, Execute, Values
from lutrin.chats.key import KeySeal
from lutrin.chats.store import ChatTables, Room, T, utc_now
from lutrin.errors import ChatStoreError, IngestInProgress, InvalidSettings, RateLimited
from lutrin.messages import TOO_MANY_QUESTIONS
from lutrin.records import ChatMessage, ChatOrigin
from lutrin.retry import call_again

CONNECTIONS = 8  # of this server, in each of two pools
CONNECT_S = 3.0
STATEMENT_S = 3.0
"""Seconds for rates and buffers, which readers wait for."""
CHAT_STATEMENT_S = 5.0
PATIENCE_S = 6.0
"""Seconds for which a write is retried while PostgreSQL restarts or fails over."""
WINDOW_S = 60.0
KEPT_S = 120.0
JOB_KEPT_S = 86_400.0
SWEEP_EVERY_S = 30.0
CHATS_LOCK, MIGRATION_LOCK, INGEST_LOCK = 0x6C757472696E, 0x6C75747269, 0x6C757472
"""Keys of the advisory locks under which one server at a time migrates conversations and other tables, and ingests."""
# A machine that dies must not hold the ingest lock for hours; keepalives notice it after about a minute. They are set
# after connecting: PgBouncer rejects clients that name them when they connect.
ALIVE = "SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3"
TROUBLE = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError)
"""Errors of the database, and of connecting to it."""
NOW = "extract(epoch FROM clock_timestamp())"
SWEEP = f"""DELETE FROM lutrin_rate WHERE seen < {NOW} - {WINDOW_S};
    DELETE FROM lutrin_event WHERE kept < {NOW} - {KEPT_S};
    DELETE FROM lutrin_job WHERE posted < {NOW} - {JOB_KEPT_S}"""  # noqa: S608 - constants above
"""Deletes rows that are too old to matter."""
WRONG_ADDRESS = "DATABASE_URL must read postgresql://user:password@host:port/name."


class PostgresChatStore(ChatTables):
    """Conversations in PostgreSQL; open it with `PostgresChatStore.open`."""

    trouble = TROUBLE

    @classmethod
    async def open(
        cls, url: str, key: str, now: Callable[[], datetime] = utc_now, room: Room | None = None
    ) -> "PostgresChatStore":
        """Migrate the tables (created if missing) and open them."""
        address = place(url)
        seal = KeySeal(key)
        async with AsyncExitStack() as unfinished:
            try:
                pool = await asyncpg.create_pool(
                    url, min_size=0, max_size=CONNECTIONS, timeout=CONNECT_S, command_timeout=CHAT_STATEMENT_S,
                    record_class=Row,
                )  # fmt: skip
                unfinished.push_async_callback(pool.close)
                async with pool.acquire() as connection, connection.transaction():
                    await _migrate(connection, seal)
            except (*TROUBLE, ValueError) as error:
                raise ChatStoreError(
                    f"PostgreSQL at {address} cannot be used ({type(error).__name__}).", remedy="Check DATABASE_URL."
                ) from error
            unfinished.pop_all()
        return cls(Pool(pool), seal, now, room)

    async def record(
        self, key: str, origin: ChatOrigin, messages: Sequence[ChatMessage], *, is_begun: bool = False
    ) -> None:
        """Store messages, retrying while PostgreSQL is away: storing a message twice has no further effect."""
        await call_again(
            lambda: super(PostgresChatStore, self).record(key, origin, messages, is_begun=is_begun),
            patience_s=PATIENCE_S,
            pause_s=lambda error: 0.0 if isinstance(error.__cause__, TROUBLE) else None,
        )


class Row(asyncpg.Record):  # type: ignore[misc]  # the package has no types
    """A row whose columns are attributes, as in `engine.Execute`."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any value of the column
        return self[name]


class Pool:
    """See `engine.Database`; a connection cut by a restart is replaced before use."""

    def __init__(self, pool: "asyncpg.Pool[Row]") -> None:
        self._pool = pool
        self.close = pool.close

    async def read(self, statement: str, values: Values) -> list[Any]:
        """Return the rows of one statement."""
        async with self._pool.acquire(timeout=CONNECT_S) as connection:
            return await _execute(connection, statement, values)

    async def write(self, work: Callable[[Execute], Awaitable[T]]) -> T:
        """Run some work in one transaction."""
        async with self._pool.acquire(timeout=CONNECT_S) as connection, connection.transaction():
            return await work(partial(_execute, connection))


async def _execute(connection: "asyncpg.Connection[Row]", statement: str, values: Values) -> list[Any]:
    numbered, names = _number_parameters(statement)
    return list(await connection.fetch(numbered, *(values[name] for name in names)))


@cache
def _number_parameters(statement: str) -> tuple[str, list[str]]:
    """A statement of `sql.py` with numbers for its parameters, and their names in this order."""
    names = list(dict.fromkeys(re.findall(r":(\w+)", statement)))
    return re.sub(r":(\w+)", lambda name: f"${1 + names.index(name[1])}", statement), names


def place(url: str) -> str:
    """Return host and database of an address, without user and password."""
    address = urlsplit(url)
    if address.scheme not in {"postgresql", "postgres"}:
        raise InvalidSettings(WRONG_ADDRESS)
    return f"{address.netloc.rpartition('@')[2] or 'the local socket'}/{address.path.lstrip('/')}"


async def _migrate(connection: "asyncpg.Connection[Row]", seal: KeySeal) -> None:
    """Migrate the tables to the newest version, all steps or none.

    Version 1 had the tables of SQLite's version 2; from there the migrations are the same.
    """
    await connection.execute(f"SELECT pg_advisory_xact_lock({CHATS_LOCK})")
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS lutrin_chats (version INTEGER NOT NULL, proof VARCHAR NOT NULL)"
    )
    row = await connection.fetchrow("SELECT version, proof FROM lutrin_chats")
    if row is None:
        from lutrin.chats.tables import make_tables  # noqa: PLC0415 - loads SQLModel, which takes most of a second

        for statement in make_tables("postgresql"):
            await connection.execute(statement)
        proof = seal.close(time.strftime("%Y-%m-%d"))
        await connection.execute("INSERT INTO lutrin_chats VALUES ($1, $2)", len(MIGRATIONS), proof)
        return
    seal.open(row.proof)
    if row.version > len(MIGRATIONS):
        raise ChatStoreError(
            f"The conversations were written by a newer Lutrin (version {row.version}).", remedy="Install that version."
        )
    for step in MIGRATIONS[row.version :]:
        for statement in step:
            await connection.execute(statement)
    await connection.execute("UPDATE lutrin_chats SET version = $1", len(MIGRATIONS))


class SharedDatabase:
    """A few connections to the database that all servers share; open it with `Shared.open`.

    Each call raises ChatStoreError if PostgreSQL is away.
    """

    def __init__(self, pool: "asyncpg.Pool[asyncpg.Record]", seal: KeySeal, secret: bytes) -> None:
        self.pool = pool
        self._seal = seal
        self._secret = secret
        self._swept_s = time.monotonic()

    @classmethod
    async def open(cls, url: str, seal: KeySeal, secret: bytes) -> "SharedDatabase":
        """Connect and create the missing tables."""
        with _our_errors():
            pool = await asyncpg.create_pool(
                url, min_size=0, max_size=CONNECTIONS, timeout=CONNECT_S, command_timeout=STATEMENT_S
            )
            async with pool.acquire() as connection, connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK)
                await connection.execute(Path(__file__).with_name("shared.sql").read_text("utf-8"))
        return cls(pool, seal, secret)

    async def admit(self, wanted: Sequence[tuple[str, int]]) -> None:
        """Count a question under every key, or under none."""
        keys = [hashlib.blake2b(key.encode(), key=self._secret).hexdigest() for key, _ in wanted]
        if not keys:
            return
        limits = [limit for _, limit in wanted]
        call = "SELECT lutrin_admit($1, $2, $3)"
        with _our_errors():
            wait_s = await self.pool.fetchval(call, keys, limits, WINDOW_S)
            if time.monotonic() - self._swept_s >= SWEEP_EVERY_S:
                self._swept_s = time.monotonic()
                await self.pool.execute(SWEEP)
        if wait_s > 0:
            raise RateLimited(TOO_MANY_QUESTIONS, retry_after_s=max(1, math.ceil(wait_s)))

    async def keep(self, turn: str, digest: str, first: int, events: Sequence[bytes]) -> None:
        """Store an answer's events under its stream's id, for a reader who resumes at another server."""
        rows = [(turn, first + place, digest, self._seal.close(event.decode())) for place, event in enumerate(events)]
        insert = (
            "INSERT INTO lutrin_event VALUES ($1, $2, $3, $4, extract(epoch FROM clock_timestamp()))"
            " ON CONFLICT (turn, number) DO UPDATE SET event = excluded.event"
        )
        with _our_errors():
            await self.pool.executemany(insert, rows)

    async def recall(self, turn: str, digest: str) -> list[bytes]:
        """Return the events of an answer; none if it belongs to another question or reader, or is too old."""
        select = "SELECT number, event FROM lutrin_event WHERE turn = $1 AND asked = $2 ORDER BY number"
        with _our_errors():
            rows = await self.pool.fetch(select, turn, digest)
        whole = [row["event"] for number, row in enumerate(rows, start=1) if row["number"] == number]
        return [self._seal.open(event).encode() for event in whole]

    async def post(self, job: str, state: bytes) -> None:
        """Store the state of an ingestion; see `serve.services.JobBoard`."""
        insert = (
            "INSERT INTO lutrin_job VALUES ($1, $2, extract(epoch FROM clock_timestamp()))"
            " ON CONFLICT (job) DO UPDATE SET state = excluded.state, posted = excluded.posted"
        )
        with _our_errors():
            await self.pool.execute(insert, job, self._seal.close(state.decode()))

    async def look(self, job: str) -> tuple[bytes, float] | None:
        """Return the latest state of an ingestion and its age in seconds; see `serve.services.JobBoard`."""
        select = "SELECT state, extract(epoch FROM clock_timestamp()) - posted AS age_s FROM lutrin_job WHERE job = $1"
        with _our_errors():
            row = await self.pool.fetchrow(select, job)
        return (self._seal.open(row["state"]).encode(), float(row["age_s"])) if row is not None else None

    async def close(self) -> None:
        """Close the connections. Make no call afterwards."""
        await self.pool.close()


@asynccontextmanager
async def ingest_alone(url: str) -> AsyncIterator[None]:
    """Hold the ingest lock of all machines; PostgreSQL releases it if this process or its machine dies.

    Raises:
        IngestInProgress: Another machine or process is ingesting.
        ChatStoreError: PostgreSQL is away.
    """
    with _our_errors():
        connection = await asyncpg.connect(url, timeout=CONNECT_S)
    try:
        with _our_errors():
            await connection.execute(ALIVE)
            is_free = await connection.fetchval("SELECT pg_try_advisory_lock($1)", INGEST_LOCK)
        if not is_free:
            raise IngestInProgress
        yield
    finally:
        await connection.close(timeout=CONNECT_S)


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except (asyncpg.InvalidPasswordError, asyncpg.InvalidCatalogNameError) as error:
        raise ChatStoreError(
            f"PostgreSQL refuses the connection ({type(error).__name__}).", remedy="Check DATABASE_URL."
        ) from None
    except (ValueError, asyncpg.exceptions.ClientConfigurationError) as error:
        raise InvalidSettings(WRONG_ADDRESS) from error
    except TROUBLE as error:
        raise ChatStoreError(
            f"PostgreSQL cannot be reached ({type(error).__name__}).", remedy="Check DATABASE_URL."
        ) from error
