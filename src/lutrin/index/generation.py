"""One published, immutable state of a book, open for reading.

A generation is a folder::

    manifest.json   what it holds, and the SHA-256 of every other file
    passages.db     files, chunks, full-text indexes (SQLite, read-only, no journal)
    windows.npy     (windows, dimension) float32: pooled vectors, one or more a chunk
    vectors/        the vector index over them
    tokens.*        token vectors for late interaction
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin import sqlite
from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index import lexical
from lutrin.index.disk import ReadLock, remove_unless_read
from lutrin.index.tokens import TokenIndex
from lutrin.ports import VectorIndex, Vectors, VectorStore
from lutrin.records import BookInfo, Chunk

T = TypeVar("T")

FORMAT_VERSION = 1
MANIFEST = "manifest.json"
PASSAGES = "passages.db"
WINDOWS = "windows.npy"
VECTORS = "vectors"
EXACT_ROWS = 20_000
"""Filtered searches scan up to this many chunks: exact, and faster than a filter inside the vector index."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a generation holds, written last."""

    format_version: int = FORMAT_VERSION
    name: str
    book: BookInfo
    created: str
    """ISO 8601, UTC."""
    collection: str
    embedder: str
    """Name of the embedder; only vectors of an embedder of this name are compared with these."""
    dimension: int
    recipe: str
    """Fingerprint of the settings and book data that decide about chunks."""
    files: int
    chunks: int
    windows: int
    tokens: int
    hashes: dict[str, str]
    """SHA-256 of each other file, by relative name."""


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A source file of a book, as readers know it."""

    filename: str
    title: str
    module: str
    chapter: str
    section: str
    sha256: str
    chunks: int


def read_manifest(directory: Path) -> Manifest:
    """Read what a generation says of itself.

    Raises:
        IndexUnavailable: There is no readable manifest of this format.
    """
    try:
        manifest = msgspec.json.decode((directory / MANIFEST).read_bytes(), type=Manifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise IndexUnavailable(f"The index {directory.name} cannot be read: {error}") from error
    if manifest.format_version != FORMAT_VERSION:
        raise IndexUnavailable(
            f"The index {directory.name} has format {manifest.format_version}, this program reads {FORMAT_VERSION}.",
            remedy="Run `lutrin ingest --rebuild`.",
        )
    return manifest


class OpenGeneration:
    """A generation that is being read; `open_generation` makes it. Safe for many simultaneous callers."""

    def __init__(
        self,
        directory: Path,
        manifest: Manifest,
        lock: ReadLock,
        passages: sqlite.Connection,
        vectors: VectorIndex,
    ) -> None:
        self.directory = directory
        self.manifest = manifest
        self.name = manifest.name
        self.book = manifest.book
        self.tokens = TokenIndex(directory)
        """Late interaction over the chunks; give it the row numbers that `rows` returns."""
        self.windows: Vectors = np.load(directory / WINDOWS, mmap_mode="r", allow_pickle=False)
        """(windows, dimension): pooled vectors, memory-mapped, for exact scans and calibration."""
        self._lock = lock
        self._passages = passages
        self.vectors = vectors
        """The vector index over the windows; its ids are chunk ids, with `#1`, `#2` for further windows."""
        self._reading = threading.Lock()
        first = passages.execute("SELECT window_start FROM chunk ORDER BY row").fetchall()
        self._window_starts = np.array([row[0] for row in first] + [len(self.windows)], dtype=np.int64)

    async def nearest(
        self, vector: npt.NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """The `k` chunks nearest to a vector.

        Args:
            vector: (dimension,), of length 1.
            k: How many at most.
            where: Only chunks whose `chapter`, `module`, `filename`, `section` or `content_type` is this.

        Returns:
            Pairs of chunk id and cosine of its nearest window, best first.

        Raises:
            IndexUnavailable: The vector index cannot be read.
            ValueError: `where` has another name.
        """
        if where:
            chosen = await self._query(lambda: self._filtered(where))
            if len(chosen) <= EXACT_ROWS:
                return await asyncio.to_thread(self._scan, vector, k, chosen)
        best: dict[str, float] = {}
        wanted = k
        while True:
            found = await self.vectors.search(vector, wanted, where)
            for window_id, cosine in found:
                best.setdefault(window_id.partition("#")[0], cosine)
            # Windows of one chunk share a place in the result; ask for more until `k` chunks have one.
            if len(best) >= k or len(found) < wanted:
                return list(best.items())[:k]
            wanted *= 2

    async def matching(self, words: str, k: int, where: Mapping[str, str] | None = None) -> list[tuple[str, float]]:
        """The `k` chunks whose words match best.

        Args:
            words: A question, or any text.
            k: How many at most.
            where: As for `nearest`.

        Returns:
            Pairs of chunk id and BM25, larger is better, best first.
        """
        return await self._query(lambda: lexical.match(self._passages, words, k, where))

    async def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Chunks by their ids, in the order asked for; unknown ids are left out."""

        def read() -> list[Chunk]:
            found = {}
            for start in range(0, len(ids), 500):
                part = ids[start : start + 500]
                marks = ",".join("?" * len(part))
                rows = self._passages.execute(
                    f"SELECT chunk_id, record FROM chunk WHERE chunk_id IN ({marks})",  # noqa: S608 - question marks
                    part,
                )
                found.update({name: decode_chunk(record) for name, record in rows})
            return [found[name] for name in ids if name in found]

        return await self._query(read)

    async def chunks_of(self, filename: str) -> list[Chunk]:
        """Every chunk of a file, in order."""
        query = "SELECT record FROM chunk WHERE filename = ? ORDER BY chunk_index"
        rows = await self._query(lambda: self._passages.execute(query, (filename,)).fetchall())
        return [decode_chunk(row[0]) for row in rows]

    async def all_chunks(self) -> list[Chunk]:
        """Every chunk of the book in the order of rows; the row of chunk `c` is its place in this list."""
        rows = await self._query(lambda: self._passages.execute("SELECT record FROM chunk ORDER BY row").fetchall())
        return [decode_chunk(row[0]) for row in rows]

    async def rows(self, ids: Sequence[str]) -> list[int]:
        """Row numbers of chunks, for `tokens` and `windows_of`, in the order asked for.

        Raises:
            NotFound: There is no chunk of that id.
        """

        def read() -> list[int]:
            found = [
                self._passages.execute("SELECT row FROM chunk WHERE chunk_id = ?", (name,)).fetchone() for name in ids
            ]
            if None in found:
                raise NotFound(f"The index has no passage {ids[found.index(None)]}.")
            return [int(row[0]) for row in found]

        return await self._query(read)

    def windows_of(self, row: int) -> Vectors:
        """The pooled vectors of one chunk: (windows of the chunk, dimension)."""
        return self.windows[self._window_starts[row] : self._window_starts[row + 1]]

    async def neighbours(self, chunk: Chunk) -> list[Chunk]:
        """The chunks just before and just after one, in its file."""
        sides = (chunk.filename, chunk.chunk_index - 1, chunk.chunk_index + 1)
        return await self._query(
            lambda: [
                decode_chunk(row[0])
                for row in self._passages.execute(
                    "SELECT record FROM chunk WHERE filename = ? AND chunk_index IN (?, ?) ORDER BY chunk_index", sides
                )
            ]
        )

    async def files(self) -> list[FileEntry]:
        """The book's files in reading order."""
        return await self._query(lambda: read_files(self._passages))

    async def source(self, filename: str) -> str:
        """The whole text of a file, to which the offsets of its chunks refer.

        Raises:
            NotFound: The book has no such file.
        """

        def read() -> str:
            row = self._passages.execute("SELECT source FROM file WHERE filename = ?", (filename,)).fetchone()
            if row is None:
                raise NotFound(f"The book has no page {filename}.")
            return str(row[0])

        return await self._query(read)

    async def document_frequency(self, words: Iterable[str]) -> dict[str, int]:
        """In how many chunks (of `manifest.chunks`) each lower-case word stands."""
        return await self._query(lambda: lexical.document_frequency(self._passages, words))

    async def close(self) -> None:
        """Release files and handles; no other call may follow."""
        await self.vectors.close()
        with self._reading:
            self._passages.close()
        del self.tokens, self.windows
        self._lock.close()

    async def _query(self, read: Callable[[], T]) -> T:
        def locked() -> T:
            with self._reading:
                try:
                    return read()
                except sqlite.DatabaseError as error:
                    raise IndexUnavailable(f"The index {self.name} cannot be read: {error}") from error

        return await asyncio.to_thread(locked)

    def _filtered(self, where: Mapping[str, str]) -> list[tuple[int, str]]:
        clause, values = lexical.chunk_filter(where)
        found: list[Any] = self._passages.execute(
            f"SELECT row, chunk_id FROM chunk WHERE TRUE {clause} ORDER BY row",  # noqa: S608 - columns of `lexical.FILTERS`
            values,
        ).fetchall()
        return found

    def _scan(
        self, vector: npt.NDArray[np.float32], k: int, chosen: Sequence[tuple[int, str]]
    ) -> list[tuple[str, float]]:
        if not chosen:
            return []
        rows = np.array([row for row, _ in chosen])
        starts, stops = self._window_starts[rows], self._window_starts[rows + 1]
        taken = np.concatenate([np.arange(start, stop) for start, stop in zip(starts, stops, strict=True)])
        cosines = np.einsum("wd,d->w", self.windows[taken], vector)  # not BLAS: see `tokens.product`
        best = np.maximum.reduceat(cosines, np.cumsum([0, *(stops - starts)[:-1]]))
        scored = zip((name for _, name in chosen), map(float, best), strict=True)
        return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


async def open_generation(directory: Path, store: VectorStore) -> OpenGeneration:
    """Open a published generation for reading.

    Raises:
        IndexUnavailable: It is not there, or not what its manifest says.
    """

    def open_files() -> tuple[ReadLock, Manifest, sqlite.Connection]:
        lock = ReadLock(directory / MANIFEST)
        try:
            return lock, read_manifest(directory), sqlite.connect(directory / PASSAGES, readonly=True)
        except BaseException:
            lock.close()
            raise

    try:
        lock, manifest, passages = await asyncio.to_thread(open_files)
    except (OSError, sqlite.DatabaseError) as error:
        raise IndexUnavailable(f"The index {directory.name} cannot be opened: {error}") from error
    try:
        vectors = await store.open(directory / VECTORS, manifest.collection)
        try:
            return await asyncio.to_thread(OpenGeneration, directory, manifest, lock, passages, vectors)
        except (OSError, ValueError, sqlite.DatabaseError) as error:
            await vectors.close()
            raise IndexUnavailable(f"The index {directory.name} cannot be opened: {error}") from error
    except BaseException:
        passages.close()
        lock.close()
        raise


def decode_chunk(record: bytes) -> Chunk:
    """A chunk from its stored form."""
    return msgspec.json.decode(record, type=Chunk)


def read_files(passages: sqlite.Connection) -> list[FileEntry]:
    """The files of a generation in reading order."""
    rows = passages.execute(
        "SELECT filename, title, module, chapter, section, sha256, chunks FROM file ORDER BY ordinal"
    )
    names = FileEntry.__struct_fields__
    return [msgspec.convert(dict(zip(names, row, strict=True)), FileEntry) for row in rows]


def remove_retired(books_dir: Path, retired: Iterable[tuple[str, str]]) -> list[str]:
    """Delete the folders of generations that are neither current nor previous, unless somebody still reads them.

    Args:
        books_dir: One folder a book, in it one folder a generation.
        retired: Slug and name of each, from `Catalog.retired`.

    Returns:
        The names of those that are gone.
    """
    return [name for slug, name in retired if remove_unless_read(books_dir / slug / name, MANIFEST)]


def live_hashes(books_dir: Path, live: Mapping[str, str]) -> set[str]:
    """Content hashes of all chunks of the generations that are current or previous.

    Args:
        books_dir: One folder a book, in it one folder a generation.
        live: Slug by name of each, from `Catalog.live`.
    """
    hashes: set[str] = set()
    for name, slug in live.items():
        path = books_dir / slug / name / PASSAGES
        if path.is_file():
            with closing(sqlite.connect(path, readonly=True)) as passages:
                hashes.update(row[0] for row in passages.execute("SELECT content_hash FROM chunk"))
    return hashes
