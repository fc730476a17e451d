"""Vectors in an embedded Chroma: one collection in the folder of each generation.

Chroma writes to its folder whenever it opens it (a row in `acquire_write`), and allows one process for each folder. But
a published generation must never change, and several processes read it. So every process opens a private copy, which a
lock marks as in use; the next process that opens one removes the copies of ended processes.
"""

import asyncio
import shutil
import sqlite3
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from filelock import FileLock, Timeout

from lutrin.errors import IndexUnavailable
from lutrin.ports import Vectors

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.api.collection_configuration import CreateCollectionConfiguration

T = TypeVar("T")
Metadata = Mapping[str, str | int | bool]

BATCH = 5000
"""Records sent to Chroma at once; it refuses more than 5461."""
HNSW: dict[str, Any] = {"space": "cosine", "ef_construction": 200, "ef_search": 256, "max_neighbors": 24}
"""Parameters of the graph (Malkov and Yashunin 2016), wider than Chroma's defaults (docs/decisions/0005)."""

SCANNED = 10_000
"""Most records to compare one by one: that takes at most 1 ms, and a Chroma query 3 ms."""


class ChromaStore:
    """Collections of Chroma, each in a folder; up to `scanned` records are compared one by one, more use the graph."""

    def __init__(self, scratch: Path, *, scanned: int = SCANNED) -> None:
        self._scratch = scratch
        self._scanned = scanned

    async def create(self, directory: Path, collection: str, count: int) -> "ChromaIndex":
        """Make an empty collection; see `ports.VectorStore.create`."""
        # Chroma writes its graph out after `sync_threshold` additions and keeps later ones in a log that each reader
        # would have to replay: a threshold of `count` leaves one graph and an empty log.
        configuration = cast("CreateCollectionConfiguration", {"hnsw": HNSW | {"sync_threshold": max(2, count)}})

        def make() -> ChromaIndex:
            directory.mkdir(parents=True, exist_ok=True)
            client = _client(directory)
            handle = client.create_collection(collection, embedding_function=None, configuration=configuration)
            return ChromaIndex(client, handle, finish=lambda: _compact(directory))

        return await _in_thread(make, "cannot be made")

    async def open(self, directory: Path, collection: str) -> "ChromaIndex":
        """Open a private copy of a finished collection; see `ports.VectorStore.open`."""

        def load() -> ChromaIndex:
            copy = _PrivateCopy(directory, self._scratch)
            client = None
            try:
                client = _client(copy.path)
                handle = client.get_collection(collection, embedding_function=None)
                rows = _SmallCollection.read(handle) if handle.count() <= self._scanned else None
                if rows is None and handle.count():  # the first query loads the graph, and no reader should wait for it
                    handle.query(query_embeddings=handle.peek(1)["embeddings"], n_results=1, include=[])
            except BaseException:
                if client is not None:
                    client.close()
                copy.remove()
                raise
            return ChromaIndex(client, handle, finish=copy.remove, small=rows)

        return await _in_thread(load, "cannot be opened")

    async def settle(self, collection: str, current: Path, others: Sequence[Path]) -> None:
        """Nothing to do: collections come and go with their folders."""


@dataclass(frozen=True, slots=True)
class _SmallCollection:
    """The records of a small collection, for comparison one by one."""

    ids: Sequence[str]
    """n ids in alphabetical order, which is the order of equally near records."""
    vectors: Vectors
    """(n, d), each row of length 1."""

    @classmethod
    def read(cls, collection: Any) -> "_SmallCollection":  # noqa: ANN401 - Chroma's class has no usable types
        content = collection.get(include=["embeddings"])
        ids: list[str] = content["ids"]
        vectors = np.asarray(content["embeddings"], dtype=np.float32).reshape(len(ids), -1 if ids else 0)
        order = sorted(range(len(ids)), key=ids.__getitem__)
        return cls([ids[place] for place in order], np.ascontiguousarray(vectors[order]))

    def nearest(self, vector: npt.NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        if not self.ids:
            return []
        cosines = np.vecdot(self.vectors, vector / np.linalg.norm(vector))
        # Include all ties with the k-th, so that only the order of ids decides between equals.
        near = np.flatnonzero(cosines >= np.partition(cosines, -k)[-k]) if k < len(cosines) else np.arange(len(cosines))
        best = near[np.argsort(-cosines[near], kind="stable")[:k]]
        return [(self.ids[row], cosine) for row, cosine in zip(best.tolist(), cosines[best].tolist(), strict=True)]


class ChromaIndex:
    """An open collection. Calls run in a thread, one at a time, because Chroma's client does not promise thread safety.

    Args:
        finish: Called after the client is closed.
        small: The records, if they are few and do not change.
    """

    def __init__(
        self,
        client: "Client",
        collection: Any,  # noqa: ANN401 - Chroma's class has no usable types
        finish: Callable[[], None],
        small: _SmallCollection | None = None,
    ) -> None:
        self._small = small
        self._client = client
        self._collection = collection
        self._finish = finish
        self._lock = threading.Lock()

    async def add(self, ids: Sequence[str], vectors: Vectors, metadata: Sequence[Metadata]) -> None:
        """Add records; see `ports.VectorIndex.add`."""

        def send() -> None:
            for start in range(0, len(ids), BATCH):
                part = slice(start, start + BATCH)
                self._collection.add(
                    ids=list(ids[part]),
                    embeddings=np.ascontiguousarray(vectors[part], dtype=np.float32),
                    metadatas=[dict(item) for item in metadata[part]],
                )

        await self._call(send, "cannot be written")

    async def search(
        self, vector: npt.NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """Return the `k` nearest records; see `ports.VectorIndex.search`."""
        if self._small is not None and not where:
            return self._small.nearest(vector, k)
        clauses: list[dict[str, str]] = [{name: value} for name, value in (where or {}).items()]
        condition: Any = {"$and": clauses} if len(clauses) > 1 else clauses[0] if clauses else None

        def ask() -> list[tuple[str, float]]:
            hits = self._collection.query(
                query_embeddings=np.asarray(vector, dtype=np.float32)[None],
                n_results=k,
                where=condition,
                include=["distances"],
            )
            # Chroma's cosine distance is 1 - cosine.
            pairs = [(name, 1.0 - float(far)) for name, far in zip(hits["ids"][0], hits["distances"][0], strict=True)]
            return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

        return await self._call(ask, "cannot be read")

    async def ids(self) -> list[str]:
        """Return every id in the collection."""
        return await self._call(lambda: list(self._collection.get(include=[])["ids"]), "cannot be read")

    async def close(self) -> None:
        """Release files and handles."""

        def release() -> None:
            self._collection, self._small = None, None
            self._client.close()
            self._finish()

        await self._call(release, "cannot be closed")

    async def _call(self, work: Callable[[], T], trouble: str) -> T:
        def under_lock() -> T:
            with self._lock:
                return work()

        return await _in_thread(under_lock, trouble)


class _PrivateCopy:
    """A copy of a collection's folder, owned by this process while it keeps the lock file open."""

    def __init__(self, source: Path, scratch: Path) -> None:
        scratch.mkdir(parents=True, exist_ok=True)
        self.path = scratch / uuid.uuid4().hex
        with FileLock(scratch / "sweep"):  # otherwise another process might sweep the new lock file
            _sweep(scratch)
            # A different thread releases it from the one that takes it.
            self._lock = FileLock(self.path.with_suffix(".lock"), thread_local=False)
            self._lock.acquire()
        try:
            shutil.copytree(source, self.path, copy_function=shutil.copyfile)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self.path.with_suffix(".lock").unlink(missing_ok=True)
        self._lock.release()


def _sweep(scratch: Path) -> None:
    """Remove the copies of ended processes, whose locks are free."""
    for lock in scratch.glob("*.lock"):
        with suppress(Timeout), FileLock(lock, timeout=0):
            shutil.rmtree(lock.with_suffix(""), ignore_errors=True)
            lock.unlink(missing_ok=True)


def _client(directory: Path) -> "Client":
    import chromadb  # noqa: PLC0415 - takes a second to import; commands that search nothing need not wait for it
    from chromadb.config import Settings  # noqa: PLC0415 - the package loads only where it is used

    client = chromadb.PersistentClient(str(directory), settings=Settings(anonymized_telemetry=False))
    return cast("Client", client)


def _compact(directory: Path) -> None:
    """Shrink Chroma's database, nine tenths of which are free after its log is emptied."""
    with closing(sqlite3.connect(directory / "chroma.sqlite3", isolation_level=None)) as database:
        database.execute("VACUUM")


async def _in_thread(work: Callable[[], T], trouble: str) -> T:
    def under_lock() -> T:
        from chromadb.errors import ChromaError  # noqa: PLC0415 - as in `_client`

        try:
            return work()
        # Besides its own errors, Chroma raises ValueError and TypeError for wrong input, and pyo3 RuntimeError.
        except (ChromaError, OSError, sqlite3.Error, ValueError, TypeError, RuntimeError) as error:
            raise IndexUnavailable(f"The vector index {trouble}: {error}") from error

    return await asyncio.to_thread(under_lock)
