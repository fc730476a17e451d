"""An index of words in PostgreSQL (`tsvector`), for vectors in any store; on one machine SQLite's FTS5 does this.

Each generation has its own rows, whose name stands in a note in its folder, like that of Qdrant's collections.
PostgreSQL finds the records with any of the terms by its index on `tsvector`. They are ranked by BM25 (Robertson and
Zaragoza 2009) from the positions in the `tsvector`, because `ts_rank` ignores inverse document frequency.
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import asyncpg
import msgspec
import numpy as np
import numpy.typing as npt

from lutrin.adapters.postgres import CONNECT_S, CONNECTIONS, MIGRATION_LOCK, TROUBLE
from lutrin.errors import IndexUnavailable
from lutrin.ports import VectorIndex, Vectors, VectorStore

Metadata = Mapping[str, str | int | bool]

NOTE = "words.json"
SEARCH_S, BUILD_S = 5.0, 600.0
MOST_POSITIONS = 255
"""Most positions of a term in a record; PostgreSQL keeps no more than 256."""
LONGEST_TERM = 500
"""Most characters of a term; PostgreSQL takes 2,046 bytes."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS lutrin_words (
    collection TEXT NOT NULL, id TEXT NOT NULL, fields JSONB NOT NULL, length INTEGER NOT NULL, words TSVECTOR NOT NULL,
    PRIMARY KEY (collection, id));
CREATE INDEX IF NOT EXISTS lutrin_words_words ON lutrin_words USING gin (words);
CREATE TABLE IF NOT EXISTS lutrin_term (
    collection TEXT NOT NULL, term TEXT NOT NULL, records INTEGER NOT NULL, PRIMARY KEY (collection, term));
"""
COUNT = """
INSERT INTO lutrin_term
SELECT $1, lexeme, count(*) FROM lutrin_words, unnest(words) WHERE collection = $1 GROUP BY lexeme
"""
# BM25 with k1 = 1.2, b = 0.75; a term's frequency is the number of its positions.
RANK = """
WITH whole AS (SELECT count(*) AS n, greatest(avg(length), 1) AS usual FROM lutrin_words WHERE collection = $1),
asked AS (
    SELECT term, ln(1 + (n - records + 0.5) / (records + 0.5)) AS weight
    FROM lutrin_term, whole WHERE collection = $1 AND term = ANY ($2))
SELECT id, sum(weight * f * 2.2 / (f + 1.2 * (0.25 + 0.75 * length / usual)))::float8 AS score
FROM lutrin_words, whole, unnest(words) AS held JOIN asked ON asked.term = held.lexeme,
    cardinality(held.positions) AS f
WHERE collection = $1 AND words @@ $3::tsquery AND fields @> $4::jsonb
GROUP BY id ORDER BY score DESC, id LIMIT $5
"""


class WordedStore:
    """A vector store whose indexes also find words, in PostgreSQL.

    Args:
        store: The store of the vectors.
        url: `postgresql://user:password@host:port/name`.
    """

    def __init__(self, store: VectorStore, url: str) -> None:
        self._store = store
        self._url = url

    async def create(self, directory: Path, collection: str, count: int) -> "WordedIndex":
        """Make an empty collection; see `ports.VectorStore.create`."""
        vectors = await self._store.create(directory, collection, count)
        name = f"{collection}--{uuid.uuid4().hex[:12]}"
        async with AsyncExitStack() as unfinished:
            unfinished.push_async_callback(vectors.close)
            async with _connected(self._url) as connection, connection.transaction():
                await connection.execute("SELECT pg_advisory_xact_lock($1)", MIGRATION_LOCK)
                await connection.execute(SCHEMA)
            pool = await self._pool(BUILD_S)
            unfinished.pop_all()
        return WordedIndex(vectors, name, pool, directory)

    async def open(self, directory: Path, collection: str) -> "WordedIndex":
        """Open a finished collection; see `ports.VectorStore.open`."""
        name = _read_note(directory)
        vectors = await self._store.open(directory, collection)
        async with AsyncExitStack() as unfinished:
            unfinished.push_async_callback(vectors.close)
            pool = await self._pool(SEARCH_S)
            unfinished.pop_all()
        return WordedIndex(vectors, name, pool, None)

    async def settle(self, collection: str, current: Path, kept: Sequence[Path]) -> None:
        """Publish the vectors, and delete the words that no generation needs; see `ports.VectorStore.settle`."""
        await self._store.settle(collection, current, kept)
        needed = [_read_note(folder) for folder in (current, *kept) if (folder / NOTE).exists()]
        async with _connected(self._url) as connection:
            for table in ("lutrin_words", "lutrin_term"):
                await connection.execute(
                    f"DELETE FROM {table} WHERE starts_with(collection, $1) AND collection <> ALL ($2)",  # noqa: S608 - literals
                    f"{collection}--",
                    needed,
                )

    async def _pool(self, patience_s: float) -> "asyncpg.Pool[asyncpg.Record]":
        try:
            return await asyncpg.create_pool(
                self._url, min_size=0, max_size=CONNECTIONS, timeout=CONNECT_S, command_timeout=patience_s
            )
        except TROUBLE as error:
            raise _unavailable(error) from error


class WordedIndex:
    """An index of vectors and words.

    Args:
        vectors: The index of the vectors.
        name: Name of this generation's rows.
        pool: Connections; closed with the index.
        directory: Folder for the note once everything is written; None for an index that is only read.
    """

    def __init__(
        self, vectors: VectorIndex, name: str, pool: "asyncpg.Pool[asyncpg.Record]", directory: Path | None
    ) -> None:
        self._vectors = vectors
        self._name = name
        self._pool = pool
        self._directory = directory

    async def add(
        self,
        ids: Sequence[str],
        vectors: Vectors,
        metadata: Sequence[Metadata],
        terms: Sequence[Sequence[str]] | None = None,
    ) -> None:
        """Add records; see `ports.VectorIndex.add`."""
        await self._vectors.add(ids, vectors, metadata, terms)
        rows = [
            (self._name, name, msgspec.json.encode(data).decode(), len(spoken), _tsvector(spoken))
            for name, data, spoken in zip(ids, metadata, terms or [()] * len(ids), strict=True)
            if spoken
        ]
        try:
            await self._pool.executemany("INSERT INTO lutrin_words VALUES ($1, $2, $3::jsonb, $4, $5::tsvector)", rows)
        except TROUBLE as error:
            raise _unavailable(error) from error

    async def search(
        self, vector: npt.NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """Return the `k` nearest records; see `ports.VectorIndex.search`."""
        return await self._vectors.search(vector, k, where)

    async def matching(
        self, terms: Sequence[str], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """Return the `k` records whose terms match best; see `ports.WordIndex.matching`."""
        wanted = [_plain(term) for term in dict.fromkeys(terms)]
        if not wanted:
            return []
        query = " | ".join(_quoted(term) for term in wanted)
        fields = msgspec.json.encode(dict(where or {})).decode()
        try:
            rows = await self._pool.fetch(RANK, self._name, wanted, query, fields, k)
        except TROUBLE as error:
            raise _unavailable(error) from error
        return [(row["id"], row["score"]) for row in rows]

    async def ids(self) -> list[str]:
        """Return every id in the collection."""
        return await self._vectors.ids()

    async def close(self) -> None:
        """Count the records of each term, write the note, and close everything."""
        try:
            await self._vectors.close()
            if self._directory is not None:
                await self._pool.execute(COUNT, self._name)
                await asyncio.to_thread((self._directory / NOTE).write_text, self._name, "utf-8")
            await self._pool.close()
        except TROUBLE as error:
            self._pool.terminate()
            raise _unavailable(error) from error


def _tsvector(terms: Sequence[str]) -> str:
    """Format a `tsvector` with one position for each occurrence of a term in the record."""
    counts = Counter(map(_plain, terms))
    return " ".join(
        f"{_quoted(term)}:{','.join(map(str, range(1, min(count, MOST_POSITIONS) + 1)))}"
        for term, count in counts.items()
    )


def _plain(term: str) -> str:
    return term[:LONGEST_TERM].replace("\0", " ")


def _quoted(term: str) -> str:
    return "'" + term.replace("\\", "\\\\").replace("'", "''") + "'"


def _read_note(directory: Path) -> str:
    try:
        return (directory / NOTE).read_text("utf-8")
    except OSError as error:
        raise IndexUnavailable(
            f"{directory} names no words in PostgreSQL.", remedy="Run `lutrin ingest --rebuild`."
        ) from error


@asynccontextmanager
async def _connected(url: str) -> "AsyncIterator[asyncpg.Connection[asyncpg.Record]]":
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_S, command_timeout=BUILD_S)
        try:
            yield connection
        finally:
            await connection.close(timeout=CONNECT_S)
    except TROUBLE as error:
        raise _unavailable(error) from error


def _unavailable(error: Exception) -> IndexUnavailable:
    return IndexUnavailable(
        f"The words in PostgreSQL cannot be reached ({type(error).__name__}).", remedy="Check DATABASE_URL."
    )
