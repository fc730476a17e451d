"""Embeds new passages while the next files are being read."""

import asyncio
from collections.abc import Iterable

from lutrin.index.embeddings import EmbeddingCache
from lutrin.ports import Embedder
from lutrin.records import Chunk
from lutrin.threads import in_thread

BATCH = 32
"""Passages that are embedded between two commits; at most so many are lost if the process dies. Until then their token
vectors stay in memory at full width, half a megabyte a passage."""


class Embedding:
    """Collects passages without an embedding and embeds them in the background, each text once.

    Both calls raise WeightsError if the model cannot be used.
    """

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self._wanted: set[str] = set()
        self._pending: dict[str, str] = {}
        self._running: asyncio.Task[None] | None = None
        self.done = 0
        """Texts embedded so far."""

    @property
    def wanted(self) -> int:
        """Texts to embed, of the passages seen so far."""
        return len(self._wanted)

    async def add(self, chunks: Iterable[Chunk]) -> None:
        """Take passages; return at once unless the next batch is full while one is still being embedded."""
        texts = {
            chunk.content_hash: chunk.embedded_text() for chunk in chunks if chunk.content_hash not in self._wanted
        }
        for name in await in_thread(self._cache.missing, texts):
            self._wanted.add(name)
            self._pending[name] = texts[name]
        while len(self._pending) >= BATCH:
            await self._start()

    async def finish(self) -> None:
        """Embed the rest and wait for all of it."""
        while self._pending:
            await self._start()
        await self._settle()

    async def cancel(self) -> None:
        """Give up the running batch; committed ones stay."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _start(self) -> None:
        await self._settle()
        batch = dict(list(self._pending.items())[:BATCH])
        for name in batch:
            del self._pending[name]
        self._running = asyncio.create_task(self._embed(batch))

    async def _settle(self) -> None:
        if self._running is not None:
            await self._running
            self._running = None

    async def _embed(self, batch: dict[str, str]) -> None:
        encodings = await self._embedder.encode(list(batch.values()))
        await in_thread(self._cache.put, list(zip(batch, encodings, strict=True)))
        self.done += len(batch)
