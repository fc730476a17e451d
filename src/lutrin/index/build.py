"""Writes a new generation into a folder that is not published yet."""

import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin import sqlite
from lutrin.index import lexical, statements
from lutrin.index.disk import sync, sync_tree
from lutrin.index.embeddings import EmbeddingCache
from lutrin.index.generation import PASSAGES, VECTORS, WINDOWS, decode_chunk
from lutrin.index.manifest import Manifest, manifest_hash, write_manifest
from lutrin.index.postings import write_common
from lutrin.index.tokens import SAMPLE_TOKENS, fit_basis, restore, write_tokens
from lutrin.ports import Embedder, Vectors, VectorStore
from lutrin.records import BookInfo, Chunk
from lutrin.threads import in_thread

BUILDING = ".building-"
"""Prefix of an incomplete folder's name."""
CHUNK_COLUMNS = (
    "chunk_id", "filename", "chunk_index", "module", "chapter", "section", "content_type", "role", "variant",
    "content_hash",
)  # fmt: skip
"""Columns for filters, beside a chunk's row and its whole record."""


class BookFile(msgspec.Struct, frozen=True, kw_only=True):
    """A source file with its text and its metadata for readers."""

    filename: str
    title: str
    module: str
    chapter: str
    section: str
    position: float | None
    sha256: str
    source: str


class GenerationBuilder:
    """Fills a new, empty folder; `finish` completes it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.passages = sqlite.connect(directory / PASSAGES)
        # The folder is useless until it is complete and synced, so no journal on disk and no sync for each commit.
        self.passages.execute("PRAGMA journal_mode = MEMORY")
        self.passages.execute("PRAGMA synchronous = OFF")
        for statement in (*statements.MAKE_PASSAGES, *lexical.MAKE_INDEXES):
            self.passages.execute(statement)
        self._rows = 0

    def add_file(self, file: BookFile, chunks: Sequence[Chunk]) -> None:
        """Add a file and its chunks."""
        self.passages.execute("BEGIN")
        self.passages.execute(statements.ADD_PAGE, {**msgspec.structs.asdict(file), "chunks": len(chunks)})
        for chunk in chunks:
            self.passages.execute(
                statements.ADD_CHUNK,
                {name: getattr(chunk, name) for name in CHUNK_COLUMNS}
                | {"row": self._rows, "record": msgspec.json.encode(chunk)},
            )
            self.passages.executemany(
                statements.ADD_LABEL,
                [{"label": unit.label, "chunk_id": chunk.chunk_id} for unit in chunk.units if unit.label],
            )
            lexical.index_chunk(self.passages, self._rows, file.title, chunk)
            self._rows += 1
        self.passages.execute("COMMIT")

    def order_files(self, order: Sequence[str]) -> None:
        """Set the reading order of all files."""
        self._write(statements.ORDER_PAGE, [{"of": name, "place": place} for place, name in enumerate(order)])

    async def finish(
        self,
        *,
        name: str,
        book: BookInfo,
        created: str,
        embedder: Embedder,
        recipe: str,
        cache: EmbeddingCache,
        store: VectorStore,
        companion: str = "",
    ) -> Manifest:
        """Write vectors, token vectors and manifest, and close every file.

        Raises:
            KeyError: A chunk's embedding is not in the cache.
            IndexUnavailable: The vector index cannot be written.
        """
        collection, dimension = collection_name(book), embedder.dimension
        windows = self._write_windows(cache, dimension)
        await write_vectors(self.directory, self.passages, store, collection, dimension)
        tokens = self._write_tokens(cache, embedder.reading.projection)
        await in_thread(self._mark_repeats)
        lexical.finish(self.passages, self._chunks())
        await in_thread(write_common, self.passages)
        (files,) = self.passages.execute(statements.PAGE_COUNT).fetchone()
        self.passages.execute("PRAGMA journal_mode = DELETE")
        self.passages.close()
        manifest = Manifest(
            name=name,
            book=book,
            created=created,
            collection=collection,
            embedder=embedder.name,
            dimension=dimension,
            recipe=recipe,
            files=files,
            chunks=self._rows,
            windows=windows,
            tokens=tokens,
            companion=companion,
            hashes={},
        )
        return write_manifest(self.directory, manifest)

    def close(self) -> None:
        """Release the files of a generation that will not be finished."""
        self.passages.close()

    def _chunks(self) -> Iterator[Chunk]:
        rows = self.passages.execute(statements.RECORDS)
        return (decode_chunk(row[0]) for row in rows)

    def _write_windows(self, cache: EmbeddingCache, dimension: int) -> int:
        """Write `windows.npy` and the start of each chunk's windows; return the number of windows."""
        parts, starts, count = [], [], 0
        for row, content_hash, _ in self.passages.execute(statements.CHUNK_HASHES).fetchall():
            windows = cache.get(content_hash)[0]
            parts.append(windows)
            starts.append({"of": row, "start": count})
            count += len(windows)
        np.save(self.directory / WINDOWS, np.concatenate([np.empty((0, dimension), dtype=np.float32), *parts]))
        self._write(statements.SET_WINDOW_START, starts)
        return count

    def _write_tokens(self, cache: EmbeddingCache, learned: Vectors | None) -> int:
        """Write the token vectors and the projection for questions; return the number of token vectors."""
        stored = ((chunk, *cache.get(chunk.content_hash)[1:]) for chunk in self._chunks())
        if learned is None:
            return write_tokens(self.directory, fit_basis(self._token_sample(cache, cache.width)), stored)
        # The cache keeps them projected, so they are copied, and only questions still need projecting.
        count = write_tokens(self.directory, np.eye(cache.width, dtype=np.float32), stored)
        np.save(self.directory / "tokens.basis.npy", learned)
        return count

    def _mark_repeats(self) -> None:
        """Record, for each chunk, the first chunk that it nearly repeats."""
        firsts = find_repeats(chunk.text for chunk in self._chunks())
        self._write(statements.SET_FIRST, [{"of": row, "same": first} for row, first in enumerate(firsts)])

    def _write(self, statement: str, rows: Iterable[Mapping[str, object]]) -> None:
        self.passages.execute("BEGIN")
        self.passages.executemany(statement, rows)
        self.passages.execute("COMMIT")

    def _token_sample(self, cache: EmbeddingCache, dimension: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        """Token vectors of chunks evenly spread over the book: (at most about `SAMPLE_TOKENS`, dimension)."""
        hashes = [row[1] for row in self.passages.execute(statements.CHUNK_HASHES)]
        count, parts = 0, [np.empty((0, dimension), dtype=np.float32)]
        # A deterministic shuffle by hash, which does not depend on the place in the book.
        for content_hash in sorted(set(hashes), key=lambda item: hashlib.sha256(item.encode()).digest()):
            parts.append(restore(cache.get(content_hash)[1]))
            count += len(parts[-1])
            if count >= SAMPLE_TOKENS:
                break
        return np.concatenate(parts)


def collection_name(book: BookInfo) -> str:
    """Name of the vector collection of a book's version, such as `physical-ai-textbook-v1`.

    Only letters, digits, dots, hyphens and underscores are allowed in it, at the end only letters and digits.
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", f"{book.slug}-v{book.version.removeprefix('v')}").strip("-._")


def chunk_hashes(passages: sqlite.Connection, without: Collection[str] = ()) -> Counter[str]:
    """Number of chunks of each text in a `passages.db`, skipping some files.

    A moved page keeps its hashes.
    """
    return Counter(row[1] for row in passages.execute(statements.CHUNK_HASHES) if row[2] not in without)


def live_hashes(books_dir: Path, live: Mapping[str, str]) -> set[str]:
    """Content hashes of all chunks of the generations that are current or previous."""
    hashes: set[str] = set()
    for name, slug in live.items():
        path = books_dir / slug / name / PASSAGES
        if path.is_file():
            with closing(sqlite.connect(path, readonly=True)) as passages:
                hashes.update(chunk_hashes(passages))
    return hashes


def read_book_file(passages: sqlite.Connection, filename: str) -> tuple[BookFile, list[Chunk]] | None:
    """A file and its chunks from a `passages.db`, as passed to `add_file`; None if it is missing."""
    row = passages.execute(statements.PAGE, {"filename": filename}).fetchone()
    if row is None:
        return None
    records = passages.execute(statements.RECORDS_OF_PAGE, {"filename": filename})
    return BookFile(**dict(zip(BookFile.__struct_fields__, row, strict=True))), [
        decode_chunk(record[0]) for record in records
    ]


def read_places(passages: sqlite.Connection) -> dict[str, tuple[str, str, str, float | None]]:
    """Title, part, chapter and place among its siblings of each file of a `passages.db`, by name, in reading order."""
    return {name: (title, *place) for name, title, *place in passages.execute(statements.PAGE_PLACES)}


RECORDS_AT_ONCE = 1000  # that a vector store gets


async def write_vectors(
    directory: Path, passages: sqlite.Connection, store: VectorStore, collection: str, dimension: int
) -> None:
    """Create the vector collection of a generation in progress.

    Raises:
        IndexUnavailable: It cannot be written.
    """
    vectors = np.load(directory / WINDOWS, mmap_mode="r", allow_pickle=False).reshape(-1, dimension)
    count = len(vectors)
    index = await store.create(directory / VECTORS, collection, count)
    try:
        records = list(_records(passages, count))
        for start in range(0, count, RECORDS_AT_ONCE):
            part = records[start : start + RECORDS_AT_ONCE]
            await index.add(
                [name for name, _ in part], vectors[start : start + RECORDS_AT_ONCE], [data for _, data in part]
            )
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


SHINGLE_WORDS = 3
ALIKE = 0.5
SKETCH = 24
"""Number of smallest hashes to compare for candidates. Two sets with a coefficient of ALIKE have none in common with a
probability of about 1e-7."""
_WORD = re.compile(r"\w+")
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
Hashes = npt.NDArray[np.uint64]


def find_repeats(texts: Iterable[str]) -> list[int]:
    """Return, for each passage in reading order, the number of the first one that it nearly repeats, or its own.

    Two are alike if their sets of word shingles have a Jaccard coefficient of at least ALIKE (A. Broder, "On the
    resemblance and containment of documents", 1997). Candidates are found by the smallest hashes of each set, as in
    bottom-k sketches of that paper; docs/decisions/0031 has the measurements.
    """
    firsts: list[int] = []
    by_hash: dict[int, list[int]] = {}
    sets: dict[int, Hashes] = {}
    for number, text in enumerate(texts):
        hashes = shingles(text)
        sketch = hashes[:SKETCH].tolist()
        candidates = sorted({first for item in sketch for first in by_hash.get(item, ())})
        original = next((first for first in candidates if jaccard(hashes, sets[first]) >= ALIKE), number)
        firsts.append(original)
        if original == number:
            sets[number] = hashes
            for item in sketch:
                by_hash.setdefault(item, []).append(number)
    return firsts


def shingles(text: str) -> Hashes:
    """Hashes of the runs of SHINGLE_WORDS words of a text, each once, ascending: (shingles,).

    A shorter text is one run.
    """
    spelt = (word.encode("utf-8", "surrogatepass") for word in _WORD.findall(text.lower()))
    codes = np.array([zlib.crc32(word) for word in spelt], dtype=np.uint64)
    count = max(1, len(codes) - SHINGLE_WORDS + 1)
    mixed = np.zeros(count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for offset in range(min(SHINGLE_WORDS, len(codes))):
            mixed = (mixed ^ codes[offset : offset + count]) * _FACTOR
            mixed ^= mixed >> np.uint64(29)
    return np.unique(mixed)


def jaccard(one: Hashes, other: Hashes) -> float:
    """Size of the intersection of two ascending sets, divided by that of their union."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


def put_in_place(building: Path, target: Path) -> str:
    """Give a finished folder its name, durably; return the SHA-256 of its manifest."""
    sync_tree(building)
    digest = manifest_hash(building)
    building.rename(target)
    sync(target.parent)
    sync(target.parent.parent)
    return digest
