"""Copies the vectors and passages of a generation's folder into a collection of a vector store."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lutrin import sqlite
from lutrin.index import lexical
from lutrin.index.generation import VECTORS, WINDOWS
from lutrin.ports import VectorStore

BATCH = 1000  # records that the store gets at a time


async def write_vectors(
    directory: Path, passages: sqlite.Connection, store: VectorStore, collection: str, dimension: int
) -> None:
    """Make the collection of a generation that is being built.

    Raises:
        IndexUnavailable: It cannot be written.
    """
    vectors = np.load(directory / WINDOWS, mmap_mode="r", allow_pickle=False).reshape(-1, dimension)
    count = len(vectors)
    index = await store.create(directory / VECTORS, collection, count)
    try:
        records = list(_records(passages, count))
        for start in range(0, count, BATCH):
            part = records[start : start + BATCH]
            await index.add([name for name, _ in part], vectors[start : start + BATCH], [data for _, data in part])
    finally:
        await index.close()


def _records(passages: sqlite.Connection, count: int) -> Iterator[tuple[str, dict[str, str | int | bool]]]:
    """Id and metadata of each window: a chunk's first window has the chunk's id, the next ones `id#1`, `id#2`."""
    columns = ", ".join(("chunk_id", *lexical.FILTERS))
    rows = passages.execute(f"SELECT window_start, {columns} FROM chunk ORDER BY row").fetchall()  # noqa: S608 - literals
    stops = [*(row[0] for row in rows[1:]), count][: len(rows)]  # a book of headings alone has none
    for (start, chunk_id, *values), stop in zip(rows, stops, strict=True):
        metadata = dict(zip(lexical.FILTERS, values, strict=True))
        for number in range(stop - start):
            yield (f"{chunk_id}#{number}" if number else chunk_id), metadata
