"""Deterministic fakes of embedder, support and vector index, without model or native library."""

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lutrin.answer.grade import Grader, Weights
from lutrin.errors import IndexUnavailable
from lutrin.ports import Encoding, Reading, Vectors

WORD = re.compile(r"\w+|[^\w\s]")
WINDOW_WORDS = 256


class WordHashEmbedder:
    """Embeds a text as the mean of its words' vectors, which come from hashes, so equal words match exactly."""

    name = "word-hash-96"
    dimension = 96
    reading = Reading(answers=(1.0, -16.0), fitted=True)
    """Weights with which a book answers if it has about half of a question's words in one place."""

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Return start and end of each word and punctuation mark."""
        return [match.span() for match in WORD.finditer(text)]

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode texts, `WINDOW_WORDS` words a window."""
        return [self._encode(text) for text in texts]

    def _encode(self, text: str) -> Encoding:
        offsets = self.token_offsets(text)
        rows = np.array([self._vector(text[start:end].lower()) for start, end in offsets], dtype=np.float32)
        vectors = rows.reshape(-1, self.dimension)
        parts = [vectors[start : start + WINDOW_WORDS] for start in range(0, max(1, len(vectors)), WINDOW_WORDS)]
        return Encoding(
            windows=np.stack([self._pool(part) for part in parts]),
            token_vectors=vectors,
            token_offsets=np.array(offsets, dtype=np.int32).reshape(-1, 2),
        )

    def _pool(self, vectors: Vectors) -> npt.NDArray[np.float32]:
        total = vectors.sum(axis=0) if len(vectors) else self._vector("")
        return (total / max(float(np.linalg.norm(total)), 1e-12)).astype(np.float32)

    def _vector(self, word: str) -> npt.NDArray[np.float32]:
        seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
        vector = np.random.default_rng(seed).normal(size=self.dimension).astype(np.float32)
        return (vector / np.linalg.norm(vector)).astype(np.float32)


WORDS_HELD = Weights(signals=(0, 0, 24, 0, 0, 0, 0, 0, 0, 0), bias=-18, stated=0.97, likely=0.3)
"""Grades by the share of a sentence's content words that the section holds: from .9 on stated, from .72 on likely."""
CREDULOUS = Weights(signals=(0,) * 10, bias=9, stated=0.5, likely=0.5)
"""Believes every sentence, so that only the rules for literals drop any."""


def word_grader(weights: Weights = WORDS_HELD) -> Grader:
    """A grader without any knowledge of meaning."""
    return Grader(WordHashEmbedder(), weights)


class ExactStore:
    """Collections as one NumPy file each, searched by an exact scan."""

    async def create(self, directory: Path, collection: str, count: int) -> "ExactIndex":  # noqa: ARG002 - the port's
        """Make an empty collection."""
        path = directory / f"{collection}.npz"
        try:
            await asyncio.to_thread(directory.mkdir, parents=True, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(f"The collection {collection} cannot be made: {error}") from error
        return ExactIndex(path, [], np.empty((0, 0), dtype=np.float32), [], writable=True)

    async def open(self, directory: Path, collection: str) -> "ExactIndex":
        """Read a finished collection."""
        path = directory / f"{collection}.npz"
        try:
            with np.load(path, allow_pickle=False) as stored:
                records = json.loads(stored["records"].tobytes())
                vectors = stored["vectors"]
        except (OSError, ValueError, KeyError) as error:
            raise IndexUnavailable(f"The collection {collection} cannot be opened: {error}") from error
        return ExactIndex(path, records["ids"], vectors, records["metadata"], writable=False)

    async def settle(self, collection: str, current: Path, others: Sequence[Path]) -> None:
        """Nothing to do: collections come and go with their folders."""


class ExactIndex:
    """An open collection in memory, written out when it is closed."""

    def __init__(
        self,
        path: Path,
        ids: list[str],
        vectors: Vectors,
        metadata: list[Mapping[str, str | int | bool]],
        *,
        writable: bool,
    ) -> None:
        self._path = path
        self._ids = ids
        self._vectors = vectors
        self._metadata = metadata
        self._writable = writable
        self._open = True

    async def add(
        self,
        ids: Sequence[str],
        vectors: Vectors,
        metadata: Sequence[Mapping[str, str | int | bool]],
    ) -> None:
        """Add records."""
        self._require_open()
        if set(ids) & set(self._ids) or len(set(ids)) != len(ids):
            raise IndexUnavailable("The records cannot be written: an id is there already.")
        self._ids = [*self._ids, *ids]
        self._vectors = np.concatenate([self._vectors, vectors]) if self._vectors.size else np.asarray(vectors)
        self._metadata = [*self._metadata, *metadata]

    async def search(
        self, vector: npt.NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """Return the `k` nearest of all records, exactly."""
        self._require_open()
        wanted = (where or {}).items()
        rows = [
            row for row, item in enumerate(self._metadata) if all(item.get(name) == value for name, value in wanted)
        ]
        if not rows:
            return []
        scored = zip((self._ids[row] for row in rows), map(float, self._vectors[rows] @ vector), strict=True)
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]

    async def ids(self) -> list[str]:
        """Return every id."""
        self._require_open()
        return list(self._ids)

    async def close(self) -> None:
        """Write the added records to the disk."""
        self._require_open()
        self._open = False
        if self._writable:
            records = np.frombuffer(json.dumps({"ids": self._ids, "metadata": self._metadata}).encode(), dtype=np.uint8)
            try:
                await asyncio.to_thread(np.savez, self._path, vectors=self._vectors, records=records)
            except OSError as error:
                raise IndexUnavailable(f"The collection cannot be written: {error}") from error

    def _require_open(self) -> None:
        if not self._open:
            raise IndexUnavailable("The collection is closed.")
