"""Vectors in Qdrant, with a collection for each generation of a book.

A generation's folder contains a note with the name of its collection, so readers of a generation get exactly those
records, whatever is published meanwhile. The collection's public name, such as `physical-ai-textbook-v1`, is an alias,
which moves to the new collection atomically when that is published.
"""

import asyncio
import uuid
import warnings
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import ParamSpec, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
from qdrant_client import AsyncQdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from lutrin.errors import IndexUnavailable
from lutrin.ports import Vectors
from lutrin.retry import call_again

P = ParamSpec("P")
T = TypeVar("T")
Metadata = Mapping[str, str | int | bool]
Connect = Callable[[], AsyncQdrantClient]

NOTE = "collection.json"
DENSE, ID = "dense", "lutrin_id"
BATCH = 256  # points in one request
PAGE = 1000  # points in one answer of a scroll
TIMEOUT_S = 5
READ_PATIENCE_S = 2.0
"""Seconds for which a reader's search is retried; after that, a 503 with a reason is better than waiting."""
WRITE_PATIENCE_S = 60.0
READY_S = 1800.0
"""Longest wait for the graph of a collection that was just written."""
HNSW = models.HnswConfigDiff(m=24, ef_construct=200)
EF_SEARCH = 256
SCHEMAS = {
    str: models.PayloadSchemaType.KEYWORD,
    bool: models.PayloadSchemaType.BOOL,
    int: models.PayloadSchemaType.INTEGER,
}


class Note(msgspec.Struct, frozen=True):
    """The note in a generation's folder that names its collection."""

    collection: str
    """Name of the collection on the server, not the alias."""
    records: int
    dimension: int


class QdrantStore:
    """Collections of a Qdrant server, whose names begin with `prefix`; `connect`, picklable, makes a client.

    Each call raises IndexUnavailable if the server cannot be reached, or does not match the note.
    """

    def __init__(self, connect: Connect, prefix: str = "") -> None:
        self._connect = connect
        self._prefix = prefix

    async def create(self, directory: Path, collection: str, count: int) -> "QdrantIndex":  # noqa: ARG002 - the server lays itself out
        """Begin a collection, which is created with the first records. See `ports.VectorStore.create`."""
        try:
            await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(f"The collection {collection} cannot be made: {error}") from error
        note = Note(f"{self._prefix}{collection}--{uuid.uuid4().hex[:12]}", 0, 0)
        return QdrantIndex(self._connect(), note, directory)

    async def open(self, directory: Path, collection: str) -> "QdrantIndex":
        """Open the collection of a generation; see `ports.VectorStore.open`."""
        note = _read_note(directory)
        client = self._connect()
        async with AsyncExitStack() as unfinished:
            unfinished.push_async_callback(client.close)
            if note.records:
                info = await _call(lambda: client.get_collection(note.collection), READ_PATIENCE_S, "cannot be opened")
                _check(info, note, collection)
            unfinished.pop_all()
        return QdrantIndex(client, note, None)

    async def settle(self, collection: str, current: Path, others: Sequence[Path]) -> None:
        """Point the alias at the current generation and delete the collections that no generation needs."""
        note = _read_note(current)
        needed = {note.collection, *(_read_note(folder).collection for folder in others if (folder / NOTE).exists())}
        alias = self._prefix + collection
        client = self._connect()
        try:
            await _call(lambda: _publish(client, alias, note, needed), WRITE_PATIENCE_S, "cannot be published")
        finally:
            await client.close()

    async def check(self) -> None:
        """Check that the server responds."""
        client = self._connect()
        try:
            await _call(client.get_collections, READ_PATIENCE_S, "cannot be reached")
        finally:
            await client.close()


class QdrantIndex:
    """One collection; safe for many simultaneous callers. Its folder is None for an index that is only read."""

    def __init__(self, client: AsyncQdrantClient, note: Note, directory: Path | None) -> None:
        self._client = client
        self._note = note
        self._directory = directory
        self._is_open = True

    async def add(self, ids: Sequence[str], vectors: Vectors, metadata: Sequence[Metadata]) -> None:
        """Add records; see `ports.VectorIndex.add`."""
        if not ids:
            return
        if not self._note.records:
            await self._write(self._make, int(vectors.shape[1]), metadata[0])
        points = [
            models.PointStruct(id=_point_id(name), vector={DENSE: vector.tolist()}, payload={ID: name, **data})
            for name, vector, data in zip(ids, vectors, metadata, strict=True)
        ]
        for start in range(0, len(points), BATCH):
            part = points[start : start + BATCH]
            await self._write(self._client.upsert, self._note.collection, points=part, wait=True)
        records = self._note.records + len(ids)
        self._note = msgspec.structs.replace(self._note, records=records, dimension=int(vectors.shape[1]))

    async def search(
        self, vector: npt.NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """Return the `k` nearest records; see `ports.VectorIndex.search`."""
        self._require_open()
        if not self._note.records:
            return []
        must: list[models.Condition] = [
            models.FieldCondition(key=name, match=models.MatchValue(value=value))
            for name, value in (where or {}).items()
        ]
        response = await self._read(
            self._client.query_points,
            self._note.collection,
            query=np.asarray(vector, dtype=np.float32).tolist(),
            using=DENSE,
            limit=k,
            query_filter=models.Filter(must=must) if must else None,
            search_params=models.SearchParams(hnsw_ef=max(EF_SEARCH, k)),
            with_payload=[ID],
        )
        pairs = [(str((point.payload or {})[ID]), float(point.score)) for point in response.points]
        return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))

    async def ids(self) -> list[str]:
        """Return every id in the collection."""
        ids: list[str] = []
        after: models.ExtendedPointId | None = None
        while self._note.records:
            points, after = await self._read(
                self._client.scroll, self._note.collection, limit=PAGE, offset=after, with_payload=[ID],
                with_vectors=False,
            )  # fmt: skip
            ids += [str((point.payload or {})[ID]) for point in points]
            if after is None:
                break
        return ids

    async def close(self) -> None:
        """Wait until the added records can be searched, write the note, and close the connections."""
        self._require_open()
        self._is_open = False
        try:
            if self._directory is not None:
                if self._note.records:
                    await self._build_graph()
                (self._directory / NOTE).write_bytes(msgspec.json.encode(self._note))
        finally:
            await self._client.close()

    async def _make(self, dimension: int, example: Metadata) -> None:
        name = self._note.collection
        if not await self._client.collection_exists(name):  # an earlier try may have created it
            await self._client.create_collection(
                name,
                vectors_config={DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)},
                hnsw_config=HNSW,
                # Build no graph while records arrive; `_build_graph` builds it once.
                optimizers_config=models.OptimizersConfigDiff(indexing_threshold=0),
            )
        for field, value in example.items():
            await self._client.create_payload_index(name, field, field_schema=SCHEMAS[type(value)], wait=True)

    async def _build_graph(self) -> None:
        name = self._note.collection
        threshold = models.OptimizersConfigDiff(indexing_threshold=20_000)  # kilobytes of vectors; Qdrant's default
        await self._write(self._client.update_collection, name, optimizers_config=threshold)
        async with asyncio.timeout(READY_S):
            while True:
                info = await self._write(self._client.get_collection, name)
                if info.status == models.CollectionStatus.GREEN:
                    return
                await asyncio.sleep(0.5)

    async def _read(self, call: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        self._require_open()
        return await _call(partial(call, *args, **kwargs), READ_PATIENCE_S, "cannot be read")

    async def _write(self, call: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        return await _call(partial(call, *args, **kwargs), WRITE_PATIENCE_S, "cannot be written")

    def _require_open(self) -> None:
        if not self._is_open:
            raise IndexUnavailable("The collection is closed.")


def connect(url: str, api_key: str) -> AsyncQdrantClient:
    """Make a client of a server; it connects with the first request."""
    with warnings.catch_warnings():
        # Inside a closed network, operators may send a key over plain HTTP; docs/scaling.md says when that is safe.
        warnings.simplefilter("ignore", UserWarning)
        return AsyncQdrantClient(url=url, api_key=api_key or None, timeout=TIMEOUT_S, check_compatibility=False)


def _point_id(name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"lutrin:{name}"))  # Qdrant wants a UUID; the payload has the id itself


def _read_note(directory: Path) -> Note:
    try:
        return msgspec.json.decode((directory / NOTE).read_bytes(), type=Note)
    except (OSError, msgspec.MsgspecError) as error:
        raise IndexUnavailable(
            f"{directory} does not name a Qdrant collection: {error}",
            remedy="Run `lutrin ingest --rebuild` after a change of LUTRIN_VECTORS; no text is embedded again.",
        ) from error


def _check(info: models.CollectionInfo, note: Note, collection: str) -> None:
    vectors = info.config.params.vectors
    dense = vectors.get(DENSE) if isinstance(vectors, dict) else None
    actual = (dense.size if dense else 0, info.points_count or 0)
    if actual != (note.dimension, note.records):
        raise IndexUnavailable(
            f"Qdrant's {note.collection} has (dimension, records) {actual}, {collection} was written with"
            f" {(note.dimension, note.records)}.",
            remedy="Run `lutrin ingest --rebuild`.",
        )


async def _publish(client: AsyncQdrantClient, alias: str, note: Note, needed: set[str]) -> None:
    aliases = {item.alias_name: item.collection_name for item in (await client.get_aliases()).aliases}
    moves: list[models.AliasOperations] = []
    if alias in aliases and aliases[alias] != note.collection:
        moves.append(models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
    if aliases.get(alias) != note.collection and note.records:
        target = models.CreateAlias(collection_name=note.collection, alias_name=alias)
        moves.append(models.CreateAliasOperation(create_alias=target))
    if moves:
        await client.update_collection_aliases(moves)
    for collection in (await client.get_collections()).collections:
        if collection.name.startswith(f"{alias}--") and collection.name not in needed:
            await client.delete_collection(collection.name)


async def _call(call: Callable[[], Awaitable[T]], patience_s: float, trouble: str) -> T:
    """Return a call's result, or raise our error, which contains nothing of the request."""
    try:
        return await call_again(call, patience_s=patience_s, pause_s=_pause_s)
    except UnexpectedResponse as error:
        meaning = "refuses the key" if error.status_code in {401, 403} else f"answered {error.status_code}"
        raise IndexUnavailable(f"The vector index {trouble}: Qdrant {meaning}.", remedy="Check QDRANT_URL.") from None
    except (ApiException, QdrantException) as error:
        reason = type(error.source).__name__ if isinstance(error, ResponseHandlingException) else type(error).__name__
        raise IndexUnavailable(
            f"The vector index {trouble}: no answer from Qdrant ({reason}).", remedy="Check QDRANT_URL."
        ) from None
    except ValueError as error:  # raised by the client itself, and by local mode for what does not exist
        raise IndexUnavailable(f"The vector index {trouble}: {error}") from error


def _pause_s(error: Exception) -> float | None:
    """Return the seconds to wait before another try; None if that would not help."""
    if isinstance(error, ResourceExhaustedResponse):
        return float(error.retry_after_s)
    if isinstance(error, ResponseHandlingException):
        return 0.0
    if isinstance(error, UnexpectedResponse):
        return 0.0 if (error.status_code or 0) >= HTTPStatus.INTERNAL_SERVER_ERROR else None
    return None
