"""Vectors in PostgreSQL with the extension pgvector: a table for each generation of a book.

The note that names the table is one of the generation's files, so the transaction that publishes a generation
publishes its vectors. A finished table never changes. An open one is protected by a shared advisory lock on its name,
and `settle` drops only unlocked tables.

Vectors have half precision (`halfvec`): at 384 dimensions this moves a cosine by about 1e-5, and halves memory and
disk. Small tables, and small parts of large ones, are compared record by record; the rest use a graph (HNSW, Malkov and
Yashunin 2016) that goes on searching until enough records pass the filter.
"""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

import asyncpg
import msgspec
import numpy as np
import numpy.typing as npt

from lutrin.errors import IndexUnavailable
from lutrin.ports import Vectors
from lutrin.retry import call_again
from lutrin_remote.postgres_books import AWAY, CONNECT_S, MIGRATION_LOCK

T = TypeVar("T")
Metadata = Mapping[str, str | int | bool]
Connection = Any  # asyncpg has no types

NOTE = "pgvector.json"
CONNECTIONS = 8  # that search, for each server
READ_S, WRITE_S, GRAPH_S = 10.0, 600.0, 6 * 3600.0
"""Seconds for one statement: a search, a batch or a drop, building the graph."""
READ_PATIENCE_S, WRITE_PATIENCE_S = 6.0, 60.0
"""Seconds for which a search or a write is retried while PostgreSQL restarts."""
SCANNED = 10_000
"""Most records of a table that has no graph."""
FILTERED = 20_000
"""Most records that pass a filter and are compared one by one."""
M, EF_CONSTRUCTION, EF_SEARCH = 16, 200, 200
"""Parameters of the graph, as measured at 50,000 and 100,000 records (bench/RESULTS.md)."""
MOST_SCANNED = 200_000
"""Records of the graph that a filtered search may visit before the rest are compared one by one."""
GRAPH_BYTES = 2 * M * 6 + 500
"""Memory of one record while its graph is built, besides its vector."""
GRAPH_MEMORY_KB = 8 << 20
"""Most memory for building a graph."""
SCHEMA = """
CREATE EXTENSION IF NOT EXISTS vector;
CREATE TABLE IF NOT EXISTS lutrin_vectors (
    name TEXT PRIMARY KEY, collection TEXT NOT NULL, records INTEGER, dimension INTEGER);
"""
SESSION = f"""
SET hnsw.ef_search = {EF_SEARCH}; SET hnsw.iterative_scan = strict_order; SET hnsw.max_scan_tuples = {MOST_SCANNED};
SET enable_sort = off; SET jit = off; SET plan_cache_mode = force_custom_plan
"""
"""Settings for searching. The graph's results need no sorting, so without sorting the planner chooses the graph
whenever it can answer; its own estimate of the records that pass a filter is often wrong. A generic plan would parse
the question's numbers again for each record."""
PASSING = (
    asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError, asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError, ConnectionError, TimeoutError,
)  # fmt: skip
"""Errors of a database that restarts or is busy."""


class Note(msgspec.Struct, frozen=True):
    """The note in a generation's folder that names its table."""

    table: Annotated[str, msgspec.Meta(pattern=r"^lutrin_vectors_[0-9a-f]{12}$")]
    records: int
    dimension: int
    graph: bool


class PgvectorStore:
    """Tables of vectors in a PostgreSQL database.

    Each call raises IndexUnavailable if the database cannot be reached, or does not match the note.

    Args:
        url: `postgresql://user:password@host/name`.
        scanned: Most records of a table that has no graph.
    """

    def __init__(self, url: str, scanned: int = SCANNED) -> None:
        self._url = url
        self._scanned = scanned
        self._database: _Database | None = None

    def __reduce__(self) -> tuple[type["PgvectorStore"], tuple[str, int]]:
        return PgvectorStore, (self._url, self._scanned)

    async def create(self, directory: Path, collection: str, count: int) -> "PgvectorIndex":
        """Begin a table, which is created with the first records. See `ports.VectorStore.create`."""
        try:
            await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(f"The collection {collection} cannot be made: {error}") from error
        note = Note(f"lutrin_vectors_{uuid.uuid4().hex[:12]}", 0, 0, graph=count > self._scanned)
        database = self._join()
        async with AsyncExitStack() as unfinished:
            unfinished.push_async_callback(self._leave, database)
            await _call(database.prepare, WRITE_PATIENCE_S, "cannot be written")
            await _call(lambda: database.hold(note.table), WRITE_PATIENCE_S, "cannot be written")
            unfinished.pop_all()
        return PgvectorIndex(database, note, collection, directory, lambda: self._leave(database))

    async def open(self, directory: Path, collection: str) -> "PgvectorIndex":
        """Open the table of a generation; see `ports.VectorStore.open`."""
        note = _read_note(directory)
        database = self._join()
        async with AsyncExitStack() as unfinished:
            unfinished.push_async_callback(self._leave, database)
            if note.records:
                await _call(lambda: database.hold(note.table), READ_PATIENCE_S, "cannot be opened")
                unfinished.push_async_callback(database.release, note.table)
                await _call(lambda: _check(database, note), READ_PATIENCE_S, "cannot be opened")
            unfinished.pop_all()
        return PgvectorIndex(database, note, collection, None, lambda: self._leave(database))

    async def settle(self, collection: str, current: Path, others: Sequence[Path]) -> None:
        """Drop the collection's tables that no generation needs and that are not open."""
        folders = [current, *(folder for folder in others if (folder / NOTE).exists())]
        needed = [_read_note(folder).table for folder in folders]
        stale = "SELECT name FROM lutrin_vectors WHERE collection = $1 AND name <> ALL ($2)"

        async def drop() -> None:
            async with _connected(self._url, WRITE_S) as connection:
                if not await connection.fetchval("SELECT to_regclass('lutrin_vectors')"):
                    return  # a book without passages has no table
                for name in [row["name"] for row in await connection.fetch(stale, collection, needed)]:
                    if await connection.fetchval("SELECT pg_try_advisory_lock($1)", _lock(name)):
                        async with connection.transaction():
                            await connection.execute(f"DROP TABLE IF EXISTS {name}")
                            await connection.execute("DELETE FROM lutrin_vectors WHERE name = $1", name)
                        await connection.execute("SELECT pg_advisory_unlock($1)", _lock(name))

        await _call(drop, WRITE_PATIENCE_S, "cannot be published")

    async def check(self) -> None:
        """Check that the database responds and has the extension."""

        async def look() -> None:
            async with _connected(self._url, READ_S) as connection:
                await _prepare(connection)

        await _call(look, READ_PATIENCE_S, "cannot be reached")

    def _join(self) -> "_Database":
        if self._database is None:
            self._database = _Database(self._url)
        self._database.users += 1
        return self._database

    async def _leave(self, database: "_Database") -> None:
        database.users -= 1
        if not database.users:
            if self._database is database:
                self._database = None
            await database.close()


class PgvectorIndex:
    """One table; safe for many simultaneous callers. Its folder is None for an index that is only read."""

    def __init__(
        self,
        database: "_Database",
        note: Note,
        collection: str,
        directory: Path | None,
        leave: Callable[[], Awaitable[None]],
    ) -> None:
        self._database = database
        self._note = note
        self._collection = collection
        self._directory = directory
        self._leave = leave
        self._is_open = True
        self._counts: dict[str, int] = {}
        """Number of records that pass a filter, up to FILTERED and one more."""

    async def add(self, ids: Sequence[str], vectors: Vectors, metadata: Sequence[Metadata]) -> None:
        """Add records; see `ports.VectorIndex.add`."""
        self._require_open()
        if not ids:
            return
        dimension = int(vectors.shape[1])
        encoded = _encode_halves(vectors)
        rows = [(name, half, json.dumps(dict(data))) for name, half, data in zip(ids, encoded, metadata, strict=True)]

        async def write() -> None:
            async with self._database.writing() as connection, connection.transaction():
                if not self._note.records:
                    await _make_table(connection, self._note.table, self._collection, dimension)
                # An earlier try may have been committed before its connection was lost.
                await connection.execute(f"DELETE FROM {self._note.table} WHERE id = ANY ($1)", list(ids))
                columns = ("id", "vector", "data")
                await connection.copy_records_to_table(self._note.table, records=rows, columns=columns)

        await _call(write, WRITE_PATIENCE_S, "cannot be written")
        records = self._note.records + len(ids)
        self._note = msgspec.structs.replace(self._note, records=records, dimension=dimension)

    async def search(
        self, vector: npt.NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """Return the `k` nearest records; see `ports.VectorIndex.search`."""
        self._require_open()
        if not self._note.records:
            return []
        near = "[" + ",".join(map(str, np.asarray(vector, dtype=np.float32).tolist())) + "]"
        wanted = json.dumps(dict(where)) if where else ""

        async def ask(connection: Connection) -> list[Any]:
            if not self._note.graph:
                return await self._scan(connection, near, k, wanted)
            passing = await self._count(connection, wanted) if wanted else self._note.records
            if wanted and passing <= FILTERED:
                return await self._scan(connection, near, k, wanted) if passing else []
            found = await self._follow(connection, near, k, where or {})
            # Fewer come if nearly the whole table is requested, or if only distant records pass the filter.
            return found if len(found) >= min(k, passing) else await self._scan(connection, near, k, wanted)

        rows = await self._read(ask)
        pairs = [(row["id"], min(1.0, -row["far"])) for row in rows]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    async def ids(self) -> list[str]:
        """Return every id in the table."""
        self._require_open()
        if not self._note.records:
            return []
        rows = await self._read(lambda connection: connection.fetch(f"SELECT id FROM {self._note.table}"))
        return [row["id"] for row in rows]

    async def close(self) -> None:
        """Build the graph of added records, write the note, and release the table."""
        self._require_open()
        self._is_open = False
        try:
            if self._directory is not None:
                if self._note.records:
                    await _call(self._finish, WRITE_PATIENCE_S, "cannot be written")
                (self._directory / NOTE).write_bytes(msgspec.json.encode(self._note))
        finally:
            await self._database.release(self._note.table)
            await self._leave()

    async def _finish(self) -> None:
        name, records, dimension = self._note.table, self._note.records, self._note.dimension
        async with self._database.writing(GRAPH_S) as connection:
            if self._note.graph:
                memory = min(GRAPH_MEMORY_KB, max(65_536, records * (2 * dimension + GRAPH_BYTES) // 1024))
                await connection.execute(f"SET maintenance_work_mem = {memory}")
                graph = (
                    f"CREATE INDEX IF NOT EXISTS {name}_graph ON {name} USING hnsw (vector halfvec_ip_ops)"
                    f" WITH (m = {M}, ef_construction = {EF_CONSTRUCTION})"
                )
                try:
                    await connection.execute(graph)
                except asyncpg.DiskFullError:  # a container has 64 MB of shared memory, which several workers need
                    await connection.execute("SET max_parallel_maintenance_workers = 0")
                    await connection.execute(graph)
                await connection.execute(
                    f"CREATE INDEX IF NOT EXISTS {name}_data ON {name} USING gin (data jsonb_path_ops)"
                )
            await connection.execute(f"VACUUM (ANALYZE, FREEZE) {name}")
            await connection.execute(
                "UPDATE lutrin_vectors SET records = $2, dimension = $3 WHERE name = $1", name, records, dimension
            )

    async def _scan(self, connection: Connection, near: str, k: int, wanted: str) -> list[Any]:
        """Compare all records that pass the filter; the order of ids decides between equals."""
        # The first part must not be merged into the second, which could be answered by the graph.
        statement = (
            f"WITH passing AS MATERIALIZED (SELECT id, vector <#> $1::text::halfvec AS far FROM {self._note.table}"
            f" {'WHERE data @> $2::jsonb' if wanted else ''}) SELECT id, far FROM passing ORDER BY far, id LIMIT {k}"
        )
        return list(await connection.fetch(statement, near, *([wanted] if wanted else [])))

    async def _follow(self, connection: Connection, near: str, k: int, where: Mapping[str, str]) -> list[Any]:
        """Follow the graph; k is part of the statement, because the planner must know it to choose the graph."""
        # Written in this way, a filter is checked record by record, and no other index can be chosen for it.
        clauses = [f"data ->> ${2 * n + 2} = ${2 * n + 3}" for n in range(len(where))]
        statement = (
            f"SELECT id, vector <#> $1::text::halfvec AS far FROM {self._note.table}"
            f" {'WHERE ' + ' AND '.join(clauses) if clauses else ''} ORDER BY vector <#> $1::text::halfvec LIMIT {k}"
        )
        values = [part for pair in where.items() for part in pair]
        return list(await connection.fetch(statement, near, *values))

    async def _count(self, connection: Connection, wanted: str) -> int:
        if wanted not in self._counts:
            if len(self._counts) >= 1000:
                self._counts.clear()
            some = f"SELECT FROM {self._note.table} WHERE data @> $1::jsonb LIMIT {FILTERED + 1}"
            self._counts[wanted] = await connection.fetchval(f"SELECT count(*) FROM ({some}) AS passing", wanted)
        return self._counts[wanted]

    async def _read(self, ask: Callable[[Connection], Awaitable[list[Any]]]) -> list[Any]:
        async def read() -> list[Any]:
            await self._database.hold_again()
            async with self._database.pool.acquire(timeout=CONNECT_S) as connection:
                return await ask(connection)

        return await _call(read, READ_PATIENCE_S, "cannot be read")

    def _require_open(self) -> None:
        if not self._is_open:
            raise IndexUnavailable("The collection is closed.")


class _Database:
    """The connections of one process: a pool for searches, one for the locks, one for writing."""

    def __init__(self, url: str) -> None:
        self.users = 0
        self.pool = asyncpg.create_pool(
            url, min_size=0, max_size=CONNECTIONS, timeout=CONNECT_S, command_timeout=READ_S, init=_begin_session,
            reset=_keep_session,
        )  # fmt: skip
        self._url = url
        self._pool_is_ready = False
        self._is_prepared = False
        self._lock = asyncio.Lock()
        self._holder: Connection | None = None
        self._held: dict[str, int] = {}
        self._writer: Connection | None = None

    async def prepare(self) -> None:
        """Create the extension and the list of tables."""
        if not self._is_prepared:
            async with _connected(self._url, WRITE_S) as connection:
                await _prepare(connection)
            self._is_prepared = True

    async def hold(self, name: str) -> None:
        """Keep a table from being dropped."""
        await self.hold_again()
        async with self._lock:
            if name not in self._held:
                await _required(self._holder).execute("SELECT pg_advisory_lock_shared($1)", _lock(name))
            self._held[name] = self._held.get(name, 0) + 1

    async def hold_again(self) -> None:
        """Open the missing connections; after a restart of the database, take the locks again."""
        if self._pool_is_ready and self._holder is not None and not self._holder.is_closed():
            return
        async with self._lock:
            if not self._pool_is_ready:
                await self.pool
                self._pool_is_ready = True
            if self._holder is None or self._holder.is_closed():
                self._holder = await asyncpg.connect(self._url, timeout=CONNECT_S, command_timeout=READ_S)
                for name in self._held:
                    await self._holder.execute("SELECT pg_advisory_lock_shared($1)", _lock(name))

    async def release(self, name: str) -> None:
        """Release a table that `hold` protected; a lost connection holds nothing."""
        async with self._lock:
            self._held[name] = self._held.get(name, 1) - 1
            if self._held[name] > 0:
                return
            del self._held[name]
            if self._holder is not None and not self._holder.is_closed():
                try:
                    await self._holder.execute("SELECT pg_advisory_unlock_shared($1)", _lock(name))
                except AWAY:
                    self._holder.terminate()

    @asynccontextmanager
    async def writing(self, statement_s: float = WRITE_S) -> AsyncIterator[Connection]:
        """Use the writing connection; the next use replaces a lost one."""
        if self._writer is None or self._writer.is_closed():
            self._writer = await asyncpg.connect(self._url, timeout=CONNECT_S)
            schema = await self._writer.fetchval(
                "SELECT nspname FROM pg_type JOIN pg_namespace AS place ON place.oid = typnamespace"
                " WHERE pg_type.oid = 'halfvec'::regtype"
            )
            await self._writer.set_type_codec("halfvec", schema=schema, encoder=bytes, decoder=bytes, format="binary")
        async with asyncio.timeout(statement_s):
            yield self._writer

    async def close(self) -> None:
        """Close every connection, even one that no longer responds."""
        for connection in (self._holder, self._writer):
            if connection is not None and not connection.is_closed():
                try:
                    await connection.close(timeout=CONNECT_S)
                except AWAY:
                    connection.terminate()
        if self._pool_is_ready:
            await self.pool.close()


async def _begin_session(connection: Connection) -> None:
    await connection.execute(SESSION)


async def _keep_session(_: Connection) -> None:
    """Leave the session as it is: its settings are the same for every search, and resetting takes a round trip."""


def _required(connection: Connection | None) -> Connection:
    if connection is None:
        raise asyncpg.InterfaceError("the connection is closed")
    return connection


@asynccontextmanager
async def _connected(url: str, statement_s: float) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(url, timeout=CONNECT_S, command_timeout=statement_s)
    try:
        yield connection
    finally:
        await connection.close(timeout=CONNECT_S)


async def _prepare(connection: Connection) -> None:
    """Create the extension and the list of tables.

    Raises:
        IndexUnavailable: The extension is missing or too old.
    """
    try:
        async with connection.transaction():
            await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK)
            await connection.execute(SCHEMA)
    except (asyncpg.FeatureNotSupportedError, asyncpg.UndefinedFileError) as error:
        raise IndexUnavailable(
            "PostgreSQL has no extension `vector`.", remedy="Install pgvector 0.8 or newer on its machine."
        ) from error
    except asyncpg.InsufficientPrivilegeError as error:
        raise IndexUnavailable(
            f"PostgreSQL refuses this user the tables of vectors: {error}",
            remedy="Let an administrator of the database run `CREATE EXTENSION vector`.",
        ) from error
    version = await connection.fetchval("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    if tuple(map(int, version.split(".")[:2])) < (0, 8):
        raise IndexUnavailable(
            f"PostgreSQL has pgvector {version}; 0.8 or newer is needed.",
            remedy="Update it, then run `ALTER EXTENSION vector UPDATE`.",
        )


async def _make_table(connection: Connection, name: str, collection: str, dimension: int) -> None:
    await connection.execute(
        f"CREATE TABLE IF NOT EXISTS {name}"
        f" (id TEXT PRIMARY KEY, vector HALFVEC({dimension}) NOT NULL, data JSONB NOT NULL)"
    )
    # In the row itself wherever it fits: a scan must not look up each vector elsewhere.
    await connection.execute(f"ALTER TABLE {name} ALTER COLUMN vector SET STORAGE MAIN")
    await connection.execute(
        "INSERT INTO lutrin_vectors (name, collection) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, collection
    )


def _encode_halves(vectors: Vectors) -> list[bytes]:
    """Vectors in PostgreSQL's binary COPY format of `halfvec`: their length, two unused bytes, numbers of two bytes."""
    count, dimension = vectors.shape
    encoded = np.zeros((count, 2 + dimension), dtype=">u2")
    encoded[:, 0] = dimension
    encoded[:, 2:] = vectors.astype(">f2").view(">u2")
    return [row.tobytes() for row in encoded]


def _lock(name: str) -> int:
    """The key of a table's advisory lock, from the random part of its name."""
    return int(name.rpartition("_")[2], 16)


def _read_note(directory: Path) -> Note:
    try:
        return msgspec.json.decode((directory / NOTE).read_bytes(), type=Note)
    except (OSError, msgspec.MsgspecError) as error:
        raise IndexUnavailable(
            f"{directory} does not name a table of pgvector: {error}",
            remedy="Run `lutrin ingest --rebuild` after a change of LUTRIN_VECTORS; no text is embedded again.",
        ) from error


async def _check(database: _Database, note: Note) -> None:
    statement = "SELECT records, dimension FROM lutrin_vectors WHERE name = $1"
    async with database.pool.acquire(timeout=CONNECT_S) as connection:
        row = await connection.fetchrow(statement, note.table)
    actual = (row["dimension"], row["records"]) if row is not None else "nothing"
    if actual != (note.dimension, note.records):
        raise IndexUnavailable(
            f"PostgreSQL's {note.table} has (dimension, records) {actual}, not {(note.dimension, note.records)}.",
            remedy="Run `lutrin ingest --rebuild`.",
        )


async def _call(call: Callable[[], Awaitable[T]], patience_s: float, trouble: str) -> T:
    """Return a call's result, or raise our error, which contains nothing of the request."""
    try:
        return await call_again(
            call, patience_s=patience_s, pause_s=lambda error: 0.0 if isinstance(error, PASSING) else None
        )
    except asyncpg.UndefinedTableError as error:
        raise IndexUnavailable(
            f"The vector index {trouble}: its table is gone.", remedy="Run `lutrin ingest --rebuild`."
        ) from error
    except AWAY as error:
        raise IndexUnavailable(
            f"The vector index {trouble}: PostgreSQL does not answer as it should ({type(error).__name__}).",
            remedy="Check DATABASE_URL.",
        ) from error
