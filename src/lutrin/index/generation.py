"""One published, immutable state of a book, open for reading.

A generation is a folder::

    manifest.json   what it holds, and the SHA-256 of every other file
    passages.db     files, chunks, full-text indexes (SQLite, read-only, no journal)
    windows.npy     (windows, dimension) float32: pooled vectors, one or more a chunk
    vectors/        the vector index over them
    tokens.*        token vectors for late interaction
    companion.*     prepared entries, if the book has a companion
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin import sqlite
from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index import lexical, statements, typeahead
from lutrin.index.companion import Companion
from lutrin.index.decisions import StoredDecision, StudiedEntry
from lutrin.index.disk import file_hash
from lutrin.index.manifest import MANIFEST, Manifest, ReadLock, read_manifest
from lutrin.index.postings import Key, Posting, Postings, read_postings, read_rare
from lutrin.index.tokens import TokenIndex
from lutrin.ports import VectorIndex, Vectors, VectorStore
from lutrin.prepared import PreparedEntry
from lutrin.records import BookChoice, Chunk, TextRole
from lutrin.threads import to_the_end

T = TypeVar("T")

PASSAGES = "passages.db"
WINDOWS = "windows.npy"
VECTORS = "vectors"
EXACT_ROWS = 20_000
"""Largest number of chunks that a filtered search scans: exact, and faster than a filter inside the vector index."""

OWN_CHOICE = BookChoice()
"""No choices: everything is as in the book."""
KEPT_CHUNKS = 4096
"""Chunks that stay decoded, about 10 kB each; the oldest are dropped first."""
KEPT_WORDS = 50_000
KEPT_SOURCES = 128
"""File texts that stay in memory, some 20 kB each; the oldest are dropped first."""
TYPED_KEPT = 1024
"""Cached passages of type-ahead searches; the next letter mostly finds the same ones."""


class FileEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A source file of a book, as readers know it."""

    filename: str
    title: str
    module: str
    chapter: str
    section: str
    sha256: str
    chunks: int


class OpenGeneration:
    """A generation open for reading, from `open_generation`. Safe for many simultaneous callers.

    Searches raise IndexUnavailable if the index cannot be read.
    """

    def __init__(
        self, directory: Path, manifest: Manifest, lock: ReadLock, passages: sqlite.Connection, vectors: VectorIndex
    ) -> None:
        self.directory = directory
        self.manifest = manifest
        self.name = manifest.name
        self.book = manifest.book
        """The book, under the title that its teacher chose."""
        self.choice = OWN_CHOICE
        self.tokens = TokenIndex.open(directory)
        """Late interaction over the chunks, addressed by the row numbers from `places`."""
        self._published = Companion.open(directory)
        self.companion = self._published
        """The entries prepared for the book's readers, see `decide`; empty if there are none."""
        self.state = manifest.name
        """A text that changes whenever answers may change."""
        # A plain array over the mapped file, because `np.memmap` is slow for every row access.
        self.windows: Vectors = np.asarray(np.load(directory / WINDOWS, mmap_mode="r", allow_pickle=False))
        """(windows, dimension): pooled vectors, memory-mapped, for exact scans and calibration."""
        self._lock = lock
        self._passages = passages
        self.vectors = vectors
        """The vector index over the windows; its ids are chunk ids, with `#1`, `#2` for further windows."""
        self._reading = threading.Lock()
        self._cache: dict[str, tuple[int, Chunk]] = {}
        self._typed_at = lru_cache(TYPED_KEPT)(self._chunk_at)
        self._frequencies: dict[str, int] = {}
        self._sources: dict[str, str] = {}
        self._vocabulary: dict[str, int] | None = None
        self.files = read_files(passages)
        """The book's files in reading order."""
        self.chapters: list[str] = [name for (name,) in passages.execute(statements.CHAPTERS)]
        """The names of the chapters in the book's order; pages outside of chapters have none."""
        rows = passages.execute(statements.CHUNK_STATES).fetchall()
        ids, starts, firsts, roles = zip(*rows, strict=True) if rows else ((),) * 4
        self.labels: dict[str, list[str]] = {}
        """Chunk ids by label, such as `figure 2.1`."""
        for label, name in passages.execute(statements.LABELS):
            self.labels.setdefault(label, []).append(name)
        self._postings = Postings(ids, self._read_postings)
        self._window_starts = np.array([*starts, len(self.windows)], dtype=np.int64)
        self.firsts: npt.NDArray[np.int64] = np.array(firsts, dtype=np.int64)
        """(chunks,): row of the first chunk that each one nearly repeats, or its own row."""
        self.roles: tuple[TextRole, ...] = tuple(roles)
        """(chunks,): the role of each chunk; see `lutrin.ingest.roles`."""

    async def nearest(
        self, vector: npt.NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """The `k` chunks nearest to a vector.

        Args:
            vector: (dimension,), of length 1.
            where: Only chunks with this `chapter`, `module`, `filename`, `section`, `content_type`, `role` or
                `variant`.

        Returns:
            Pairs of chunk id and cosine of its nearest window, best first.

        Raises:
            ValueError: `where` has another name.
        """
        if where:
            rows = await self._query(lambda: self._filter(where))
            if len(rows) <= EXACT_ROWS:
                cosines = await asyncio.to_thread(self.cosines, vector, [row for row, _ in rows])
                scored = zip((name for _, name in rows), map(float, cosines), strict=True)
                return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]
        best: dict[str, float] = {}
        # Windows of one chunk share a place in the result, so ask for more until there are `k` chunks.
        limit = k if len(self.windows) == len(self.firsts) else 2 * k
        while True:
            hits = await self.vectors.search(vector, limit, where)
            for window_id, cosine in hits:
                best.setdefault(window_id.partition("#")[0], cosine)
                if len(best) == k:
                    break
            if len(best) == k or len(hits) < limit:
                return list(best.items())
            limit *= 2

    async def matching(self, words: str, k: int, where: Mapping[str, str] | None = None) -> list[tuple[str, float]]:
        """Id and BM25 of the `k` chunks whose words match best, larger first; `where` as for `nearest`."""
        rows = [row for row, _ in await self._query(lambda: self._filter(where))] if where else None
        return await self._postings.match(words, k, rows)

    async def matching_chunks(self, words: str, k: int) -> list[Chunk]:
        """The `k` chunks whose words match best, best first."""
        return await self.chunks([name for name, _ in await self.matching(words, k)])

    async def keep_terms(self, text: str) -> None:
        """Load a text's terms into the search's cache."""
        await self._postings.keep(text)

    async def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Chunks by their ids, in the requested order; unknown ids are skipped."""
        return [chunk for _, chunk in await self.places(ids)]

    async def places(self, ids: Sequence[str]) -> list[tuple[int, Chunk]]:
        """Chunks by their ids with their rows, for `tokens` and `windows_of`, in the requested order.

        Unknown ids are skipped. Recently read chunks stay in memory, because a generation never changes.
        """
        places = {name: self._cache[name] for name in ids if name in self._cache}
        missing = [name for name in ids if name not in places]

        def read() -> dict[str, tuple[int, Chunk]]:
            rows = self._passages.execute(statements.RECORDS_BY_ID, {"ids": msgspec.json.encode(missing).decode()})
            return {name: (int(row), self._decode(record)) for name, row, record in rows}

        if missing:
            places |= await self._look(read)
            self._cache.update(places)
            while len(self._cache) > KEPT_CHUNKS:
                del self._cache[next(iter(self._cache))]
        return [places[name] for name in ids if name in places]

    async def chunks_of(self, filename: str) -> list[Chunk]:
        """Every chunk of a file, in order."""
        return [self._decode(row[0]) for row in await self._rows(statements.RECORDS_OF_PAGE, {"filename": filename})]

    async def section_chunks(self, chunk: Chunk) -> list[Chunk]:
        """Every chunk that stands under the same heading, in order."""
        return [one for one in await self.chunks_of(chunk.filename) if one.heading_key == chunk.heading_key]

    async def all_chunks(self) -> list[Chunk]:
        """Every chunk of the book in row order; a chunk's row is its index in this list."""
        return await self._query(lambda: [self._decode(row[0]) for row in self._passages.execute(statements.RECORDS)])

    async def first_ids(self, count: int) -> list[str]:
        """The ids of the book's first chunks, in row order."""
        return [str(row[0]) for row in await self._rows(statements.FIRST_IDS, {"most": count})]

    def windows_of(self, row: int) -> Vectors:
        """The pooled vectors of one chunk: (windows of the chunk, dimension)."""
        return self.windows[self._window_starts[row] : self._window_starts[row + 1]]

    def cosines(self, vector: npt.NDArray[np.float32], rows: Sequence[int]) -> npt.NDArray[np.float32]:
        """(rows,): cosine of a vector of length 1 and the nearest window of each chunk."""
        if not rows:
            return np.empty(0, dtype=np.float32)
        starts = self._window_starts[rows]
        counts = self._window_starts[np.asarray(rows) + 1] - starts
        firsts = np.cumsum(counts) - counts
        indices = np.repeat(starts - firsts, counts) + np.arange(int(counts.sum()))
        near = np.vecdot(self.windows[indices], vector)  # row by row: see `tokens.product`
        best: npt.NDArray[np.float32] = np.maximum.reduceat(near, firsts)
        return best

    async def chapter_starts(self) -> list[Chunk]:
        """The first chunk of each chapter in files with several, such as PDFs."""
        return [self._decode(row[0]) for row in await self._rows(statements.CHAPTER_STARTS)]

    async def page_count(self) -> int:
        """Number of pages in the book; each page of a PDF counts."""
        (count,) = await self._query(lambda: self._passages.execute(statements.SHEET_COUNT).fetchone())
        return int(count or 0)

    async def source(self, filename: str) -> str:
        """The whole text of a file, to which the offsets of its chunks refer.

        Raises:
            NotFound: The book has no such file.
        """

        def read() -> str:
            row = self._passages.execute(statements.SOURCE, {"filename": filename}).fetchone()
            if row is None:
                raise NotFound(f"The book has no page {filename}.")
            return str(row[0])

        text = self._sources.get(filename)
        if text is None:
            text = self._sources[filename] = await self._query(read)
            while len(self._sources) > KEPT_SOURCES:
                del self._sources[next(iter(self._sources))]
        return text

    async def document_frequency(self, words: Iterable[str]) -> dict[str, int]:
        """Number of chunks (of `manifest.chunks`) that contain each lower-case word."""
        distinct = set(words)
        known = {word: self._frequencies[word] for word in distinct & self._frequencies.keys()}
        missing = distinct - known.keys()
        if missing:
            known |= await self._look(lambda: lexical.document_frequency(self._passages, missing))
            # Another call may have emptied the cache meanwhile; the result does not depend on it.
            if len(self._frequencies) + len(missing) > KEPT_WORDS:
                self._frequencies = {}
            self._frequencies.update(known)
        return known

    async def consult(self, look: Callable[[typeahead.WordsFrom], T]) -> T:
        """Call a function with this book's `lexical.words_from` and return its result."""
        return await self._query(lambda: look(partial(lexical.words_from, self._passages)))

    async def match_typing(self, text: str, most: int) -> tuple[list[typeahead.TypedWord], list[tuple[Chunk, float]]]:
        """The typed words with the book's words for each, and passages with their BM25, best first; see `typeahead`."""

        def read() -> tuple[list[typeahead.TypedWord], list[tuple[Chunk, float]]]:
            if self._vocabulary is None:
                self._vocabulary = lexical.all_words(self._passages)
            words_from = partial(lexical.words_from, self._passages)
            words = typeahead.match_words(text, words_from, self._vocabulary)
            scored = typeahead.rows_for(self._passages, words, most)
            return words, [(self._typed_at(row), score) for row, score in scored]

        return await self._query(read)

    def _decode(self, record: bytes) -> Chunk:
        chunk = decode_chunk(record)
        title = self.book.title
        return chunk if chunk.book_title == title else msgspec.structs.replace(chunk, book_title=title)

    def _chunk_at(self, row: int) -> Chunk:
        chunk: Chunk = self._decode(self._passages.execute(statements.RECORD, {"row": row}).fetchone()[0])
        return chunk

    async def close(self) -> None:
        """Release files and handles; make no other call afterwards."""
        await self.vectors.close()
        with self._reading:
            self._passages.close()
        del self.tokens, self.windows, self.companion, self._published
        self._lock.close()

    async def decide(
        self,
        decided: Sequence[StoredDecision],
        studied: Sequence[StudiedEntry],
        revision: int,
        choice: BookChoice = OWN_CHOICE,
    ) -> None:
        """Add newly studied entries to the published companion, and apply the teacher's decisions and choices."""
        self.choice = choice
        title = choice.title or self.manifest.book.title
        if title != self.book.title:
            self.book = msgspec.structs.replace(self.book, title=title)
            self._cache.clear()
            self._typed_at.cache_clear()
        own = [one for one in decided if not one.decision.is_own or await self._holds(one.decision.item)]
        more = [one for one in studied if await self._holds(one.item)]
        stored: list[StudiedEntry | StoredDecision] = [*more, *own]
        wordings = [word for one in stored if one.embedder == self.manifest.embedder for word in one.wordings]
        self.companion = self._published
        if own or more:
            items = [one.item for one in more]
            self.companion = self._published.with_decisions([one.decision for one in own], wordings, items)
        self.state = f"{self.name} {revision}"

    async def _holds(self, item: PreparedEntry) -> bool:
        """Whether this generation has an entry's passages, with its quotes in the stated places."""
        names = {item.chunk_id, *(name for name, _, _ in item.places)}
        if len(await self.chunks(sorted(names))) < len(names):
            return False
        source = await self.source(item.entry.file)
        return tuple(source[start:end] for _, start, end in item.places) == item.entry.quotes

    async def _rows(self, statement: str, values: Mapping[str, object] | None = None) -> list[Any]:
        return await self._query(lambda: self._passages.execute(statement, values or {}).fetchall())

    async def _query(self, read: Callable[[], T]) -> T:
        def under_lock() -> T:
            with self._reading:
                return self._guard(read)

        return await asyncio.to_thread(under_lock)

    async def _look(self, read: Callable[[], T]) -> T:
        """Like `_query`, for quick reads: on the calling thread, unless another thread is reading."""
        if not self._reading.acquire(blocking=False):
            return await self._query(read)
        try:
            return self._guard(read)
        finally:
            self._reading.release()

    def _guard(self, read: Callable[[], T]) -> T:
        try:
            return read()
        except sqlite.DatabaseError as error:
            raise IndexUnavailable(f"The index {self.name} cannot be read: {error}") from error

    async def _read_postings(self, keys: Sequence[Key]) -> dict[Key, Posting]:
        postings = await self._look(lambda: read_rare(self._passages, keys))
        rest = [key for key in keys if key not in postings]
        return postings | (await self._query(lambda: read_postings(self._passages, rest)) if rest else {})

    def _filter(self, where: Mapping[str, str]) -> list[tuple[int, str]]:
        clause, values = lexical.chunk_filter(where)
        query = f"SELECT row, chunk_id FROM chunk WHERE TRUE {clause} ORDER BY row"  # noqa: S608 - `lexical.FILTERS`
        return list(self._passages.execute(query, values))


async def open_generation(directory: Path, store: VectorStore) -> OpenGeneration:
    """Open a published generation for reading.

    A cancelled caller waits for the threads that open it, and leaves nothing open.

    Raises:
        IndexUnavailable: It is missing, or its texts have changed since it was written.
    """
    opening = asyncio.ensure_future(_open_generation(directory, store))
    try:
        return await to_the_end(opening)
    except asyncio.CancelledError:
        if not opening.cancelled() and opening.exception() is None:
            await asyncio.shield(opening.result().close())
        raise


async def _open_generation(directory: Path, store: VectorStore) -> OpenGeneration:
    def open_files() -> tuple[ReadLock, Manifest, sqlite.Connection]:
        lock = ReadLock(directory / MANIFEST)
        try:
            manifest = read_manifest(directory)
            _require_whole(directory)
            return lock, manifest, sqlite.connect(directory / PASSAGES, readonly=True)
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
        except (OSError, ValueError, msgspec.MsgspecError, sqlite.DatabaseError) as error:
            await vectors.close()
            raise IndexUnavailable(f"The index {directory.name} cannot be opened: {error}") from error
    except BaseException:
        passages.close()
        lock.close()
        raise


def is_whole(directory: Path) -> bool:
    """Compare the texts with their hash: SQLite has no checksums, and a flipped byte is a wrong word in an answer.

    Raises:
        IndexUnavailable: There is no readable manifest.
    """
    try:
        return file_hash(directory / PASSAGES) == read_manifest(directory).hashes.get(PASSAGES)
    except OSError:
        return False


def _require_whole(directory: Path) -> None:
    if not is_whole(directory):
        raise IndexUnavailable(
            f"The index {directory.name} is damaged: {PASSAGES} is not what was written.",
            remedy="Run `lutrin ingest --rebuild`.",
        )


def decode_chunk(record: bytes) -> Chunk:
    """A chunk from its stored form."""
    return msgspec.json.decode(record, type=Chunk)


def read_files(passages: sqlite.Connection) -> list[FileEntry]:
    """The files of a generation in reading order."""
    names = FileEntry.__struct_fields__
    return [FileEntry(**dict(zip(names, row, strict=True))) for row in passages.execute(statements.PAGES)]
