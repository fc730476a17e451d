"""Stores embeddings in the catalogue, so that no model embeds the same text twice.

The key is the text's SHA-256 and the embedder's name, which covers everything that affects its vectors. Token vectors
are stored as int8: after the projection learned with the embedder (128 bytes a token), or at full width (384 bytes) if
there is none, so that each generation can fit its own.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from lutrin.index import statements
from lutrin.index.catalog import Catalog
from lutrin.index.tokens import Int8, project, quantise
from lutrin.ports import Encoding, Vectors

Stored = tuple[Vectors, Int8, npt.NDArray[np.int32]]
"""Pooled vectors (windows, d), token vectors (tokens, `EmbeddingCache.width`) and token offsets (tokens, 2)."""


class EmbeddingCache:
    """The embeddings of one embedder; `projection` (dimension, k) is learned for its token vectors, if any."""

    def __init__(self, catalog: Catalog, embedder: str, dimension: int, projection: Vectors | None = None) -> None:
        self._catalog = catalog
        self._embedder = embedder
        self._dimension = dimension
        self._projection = projection
        if projection is not None:
            self._embedder += f"/p{hashlib.sha256(np.ascontiguousarray(projection).tobytes()).hexdigest()[:8]}"

    @property
    def width(self) -> int:
        """Numbers stored for each token."""
        return self._dimension if self._projection is None else self._projection.shape[1]

    def missing(self, hashes: Iterable[str]) -> list[str]:
        """Content hashes without an embedding, each once, in order."""
        return [item for item in dict.fromkeys(hashes) if self._row(statements.HAS_EMBEDDING, item) is None]

    def put(self, items: Sequence[tuple[str, Encoding]]) -> None:
        """Store embeddings by content hash, durably, in one transaction."""
        with self._catalog.transaction():
            self._catalog.connection.executemany(
                statements.PUT_EMBEDDING, [self._key(name) | self._pack(encoding) for name, encoding in items]
            )

    def get(self, content_hash: str) -> Stored:
        """The embedding of a text.

        Raises:
            KeyError: There is none.
        """
        row = self._row(statements.EMBEDDING, content_hash)
        if row is None:
            raise KeyError(content_hash)
        windows, tokens, offsets = row
        return (
            np.frombuffer(windows, dtype=np.float32).reshape(-1, self._dimension),
            np.frombuffer(tokens, dtype=np.int8).reshape(-1, self.width),
            np.frombuffer(offsets, dtype=np.int32).reshape(-1, 2),
        )

    def prune(self, live: Iterable[str]) -> int:
        """Delete embeddings of texts that are in no current or previous generation; return their number."""
        connection = self._catalog.connection
        with self._catalog.transaction():
            connection.execute(statements.MAKE_LIVE)
            connection.execute(statements.EMPTY_LIVE)
            connection.executemany(statements.ADD_LIVE, ({"content_hash": item} for item in live))
            return connection.execute(statements.PRUNE_EMBEDDINGS).rowcount

    def _key(self, content_hash: str) -> dict[str, str]:
        return {"content_hash": content_hash, "embedder": self._embedder}

    def _row(self, statement: str, content_hash: str) -> Any:  # noqa: ANN401 - a row of any width
        return self._catalog.connection.execute(statement, self._key(content_hash)).fetchone()

    def _pack(self, encoding: Encoding) -> dict[str, bytes]:
        empty = np.empty((0, self._dimension), dtype=np.float32)
        tokens = encoding.token_vectors if encoding.token_vectors is not None else empty
        if self._projection is not None:
            tokens = project(tokens, self._projection)
        return {
            "windows": np.ascontiguousarray(encoding.windows, dtype=np.float32).tobytes(),
            "token_vectors": quantise(tokens).tobytes(),
            "token_offsets": np.ascontiguousarray(encoding.token_offsets, dtype=np.int32).tobytes(),
        }
