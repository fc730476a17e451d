"""Qdrant's engine in this process (the package `qdrant-edge-py`) behind the calls that Lutrin makes of its client.

The engine is that of the server: storage, payload indexes, graph, filters. What the server adds is imitated here: the
names of collections and aliases.
"""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import qdrant_edge as edge
from qdrant_client import models

KINDS = {
    models.PayloadSchemaType.KEYWORD: edge.PayloadSchemaType.Keyword,
    models.PayloadSchemaType.BOOL: edge.PayloadSchemaType.Bool,
    models.PayloadSchemaType.INTEGER: edge.PayloadSchemaType.Integer,
}


@dataclass
class Collection:
    """An open shard and how it was made."""

    folder: Path
    vectors: dict[str, models.VectorParams]
    graph: models.HnswConfigDiff
    shard: Any = None


@dataclass
class EdgeClient:
    """The data outlives `close`, as that of a server does; `connect` gives it to a `QdrantStore`."""

    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="lutrin-qdrant-")))
    collections: dict[str, Collection] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def connect(self) -> Any:
        """A client for a store; all share the data."""
        return self

    async def close(self) -> None:
        """The data stays."""

    def end(self) -> None:
        """Close every shard."""
        for collection in self.collections.values():
            collection.shard.close()

    async def create_collection(
        self,
        name: str,
        vectors_config: dict[str, models.VectorParams],
        hnsw_config: models.HnswConfigDiff | None = None,
        optimizers_config: models.OptimizersConfigDiff | None = None,  # noqa: ARG002 - the engine builds on order only
        sparse_vectors: Any = None,  # noqa: ARG002 - Lutrin has none
    ) -> bool:
        """Make a collection."""
        graph = hnsw_config or models.HnswConfigDiff(m=16, ef_construct=100)
        made = Collection(self.folder / f"{len(self.collections)}-{name}", vectors_config, graph)
        made.shard = edge.EdgeShard.create(str(made.folder), _configuration(made))
        self.collections[name] = made
        return True

    async def collection_exists(self, name: str) -> bool:
        """Whether there is one."""
        return name in self.collections

    async def get_collections(self) -> models.CollectionsResponse:
        """The names of all."""
        return models.CollectionsResponse(collections=[models.CollectionDescription(name=n) for n in self.collections])

    async def get_collection(self, name: str) -> models.CollectionInfo:
        """Dimension and number of points."""
        found = self._of(name)
        return models.CollectionInfo.model_construct(
            status=models.CollectionStatus.GREEN,
            points_count=found.shard.count(edge.CountRequest(exact=True)),
            config=SimpleNamespace(params=SimpleNamespace(vectors=found.vectors)),
        )

    async def delete_collection(self, name: str) -> bool:
        """Forget one."""
        self._of(name).shard.close()
        del self.collections[name]
        self.aliases = {alias: target for alias, target in self.aliases.items() if target != name}
        return True

    async def update_collection(self, name: str, optimizers_config: models.OptimizersConfigDiff) -> bool:
        """Build the graph, which the server does beside its other work when it is allowed to."""
        if optimizers_config.indexing_threshold:
            self._of(name).shard.optimize()
        return True

    async def create_payload_index(
        self, name: str, field_name: str, field_schema: models.PayloadSchemaType, *, wait: bool = True
    ) -> bool:
        """Make a field quick to filter by."""
        assert wait
        self._of(name).shard.update(edge.UpdateOperation.create_field_index(field_name, KINDS[field_schema]))
        return True

    async def upsert(self, name: str, points: list[models.PointStruct], *, wait: bool = True) -> bool:
        """Write points."""
        assert wait
        shard = self._of(name).shard
        written = [edge.Point(str(point.id), point.vector, point.payload) for point in points]
        shard.update(edge.UpdateOperation.upsert_points(written))
        return True

    async def query_points(  # noqa: PLR0917 - as the client has it
        self,
        name: str,
        query: list[float],
        using: str,
        limit: int,
        query_filter: models.Filter | None = None,
        search_params: models.SearchParams | None = None,
        with_payload: Any = True,
    ) -> Any:
        """The nearest points that pass a filter."""
        request = edge.QueryRequest(
            limit=limit,
            query=edge.Query.Nearest(query, using),
            filter=_filter(query_filter),
            params=edge.SearchParams(hnsw_ef=search_params.hnsw_ef if search_params is not None else None),
            with_payload=bool(with_payload),
        )
        return SimpleNamespace(points=self._of(name).shard.query(request))

    async def scroll(
        self, name: str, limit: int, offset: Any = None, with_payload: Any = True, *, with_vectors: bool = False
    ) -> tuple[list[Any], Any]:
        """A page of points."""
        assert not with_vectors
        request = edge.ScrollRequest(offset=offset, limit=limit, with_payload=bool(with_payload))
        found: tuple[list[Any], Any] = self._of(name).shard.scroll(request)
        return found

    async def get_aliases(self) -> models.CollectionsAliasesResponse:
        """All aliases."""
        pairs = self.aliases.items()
        return models.CollectionsAliasesResponse(
            aliases=[models.AliasDescription(alias_name=alias, collection_name=target) for alias, target in pairs]
        )

    async def update_collection_aliases(self, operations: list[Any]) -> bool:
        """Move aliases, all at once."""
        for operation in operations:
            if isinstance(operation, models.DeleteAliasOperation):
                del self.aliases[operation.delete_alias.alias_name]
            else:
                self.aliases[operation.create_alias.alias_name] = operation.create_alias.collection_name
        return True

    def _of(self, name: str) -> Collection:
        if name not in self.collections:
            raise ValueError(f"Collection {name} not found")  # as the client's local mode
        return self.collections[name]


def _configuration(collection: Collection) -> Any:
    graph = collection.graph
    vectors = {
        name: edge.EdgeVectorParams(params.size, edge.Distance.Cosine) for name, params in collection.vectors.items()
    }
    return edge.EdgeConfig(
        vectors=vectors,
        hnsw_config=edge.HnswIndexConfig(graph.m, graph.ef_construct, graph.full_scan_threshold or 10_000),
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=20_000, default_segment_number=1),
    )


def _filter(wanted: models.Filter | None) -> Any:
    if wanted is None:
        return None
    conditions = wanted.must if isinstance(wanted.must, list) else []
    must = []
    for condition in conditions:
        assert isinstance(condition, models.FieldCondition)
        assert isinstance(condition.match, models.MatchValue)
        must.append(edge.FieldCondition(condition.key, edge.MatchValue(condition.match.value)))
    return edge.Filter(must=must)
