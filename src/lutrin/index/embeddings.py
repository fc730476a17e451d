"""Embeddings kept in the catalogue, so that no text is ever embedded twice by the same model.

The key is the text's SHA-256 and the embedder's name, which says all that decides about its vectors. Token vectors are
kept as int8: as the projection that was learned with the embedder leaves them (128 bytes a token), or at full width
where none was (384 bytes), so that each generation can fit its own.
"""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from lutrin.index.catalog import Catalog
from lutrin.index.tokens import Int8, project, quantise
from lutrin.ports import Encoding, Vectors

Stored = tuple[Vectors, Int8, npt.NDArray[np.int32]]
"""Pooled vectors (windows, d), token vectors (tokens, `EmbeddingCache.width`) and token offsets (tokens, 2)."""


class EmbeddingCache:
    """The embeddings of one embedder.

    Args:
        catalog: The database that holds them.
        embedder: Name of the embedder.
        dimension: Of its vectors.
        projection: (dimension, k) that was learned for its token vectors (`Reading.projection`), if any.
    """

    def __init__(self, catalog: Catalog, embedder: str, dimension: int, projection: Vectors | None = None) -> None:
        self._catalog = catalog
        self._embedder = embedder
        self._dimension = dimension
        self._projection = projection
        if projection is not None:
            self._embedder += f"/p{hashlib.sha256(np.ascontiguousarray(projection).tobytes()).hexdigest()[:8]}"

    @property
    def width(self) -> int:
        """Numbers that are kept of a token."""
        return self._dimension if self._projection is None else self._projection.shape[1]

    def missing(self, hashes: Iterable[str]) -> list[str]:
        """Those of the content hashes that have no embedding yet, each once, in order."""
        find = "SELECT 1 FROM embedding WHERE content_hash = ? AND embedder = ?"
        execute = self._catalog.connection.execute
        return [item for item in dict.fromkeys(hashes) if execute(find, (item, self._embedder)).fetchone() is None]

    def put(self, items: Sequence[tuple[str, Encoding]]) -> None:
        """Keep embeddings by content hash, durably, in one transaction."""
        with self._catalog.transaction():
            self._catalog.connection.executemany(
                "INSERT OR REPLACE INTO embedding (content_hash, embedder, windows, token_vectors, token_offsets)"
                " VALUES (?, ?, ?, ?, ?)",
                [(name, self._embedder, *self._pack(encoding)) for name, encoding in items],
            )

    def get(self, content_hash: str) -> Stored:
        """The embedding of a text.

        Raises:
            KeyError: It is not here.
        """
        row = self._catalog.connection.execute(
            "SELECT windows, token_vectors, token_offsets FROM embedding WHERE content_hash = ? AND embedder = ?",
            (content_hash, self._embedder),
        ).fetchone()
        if row is None:
            raise KeyError(content_hash)
        windows, tokens, offsets = row
        return (
            np.frombuffer(windows, dtype=np.float32).reshape(-1, self._dimension),
            np.frombuffer(tokens, dtype=np.int8).reshape(-1, self.width),
            np.frombuffer(offsets, dtype=np.int32).reshape(-1, 2),
        )

    def prune(self, live: Iterable[str]) -> int:
        """Delete the embeddings, of any embedder, of texts that no living generation holds.

        Args:
            live: Content hashes of all living generations.

        Returns:
            How many were deleted.
        """
        connection = self._catalog.connection
        with self._catalog.transaction():
            connection.execute("CREATE TEMP TABLE IF NOT EXISTS live (content_hash TEXT PRIMARY KEY) WITHOUT ROWID")
            connection.execute("DELETE FROM live")
            connection.executemany("INSERT OR IGNORE INTO live VALUES (?)", ((item,) for item in live))
            return connection.execute(
                "DELETE FROM embedding WHERE content_hash NOT IN (SELECT content_hash FROM live)"
            ).rowcount

    def _pack(self, encoding: Encoding) -> tuple[bytes, bytes, bytes]:
        empty = np.empty((0, self._dimension), dtype=np.float32)
        tokens = encoding.token_vectors if encoding.token_vectors is not None else empty
        if self._projection is not None:
            tokens = project(tokens, self._projection)
        return (
            np.ascontiguousarray(encoding.windows, dtype=np.float32).tobytes(),
            quantise(tokens).tobytes(),
            np.ascontiguousarray(encoding.token_offsets, dtype=np.int32).tobytes(),
        )
