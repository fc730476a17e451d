"""Search at many chunks: memory, load time, latency, recall against an exact scan.

    python bench/retrieval.py scale [--sizes 2500 100000 1000000] [--parts chroma pgvector qdrant text]

Vectors are synthetic but shaped like real ones: each mixes three passages of the sample book in random shares and adds
noise; a question is a passage of the index with more noise. Texts, for the full-text index, are made of the sample
book's own sentences, six a passage; its questions are the words of the sample questions. Each part of each size runs in
a process of its own, so that memory is that of one index alone: for pgvector it is what PostgreSQL's processes hold,
for Qdrant that of its engine in this process (`qdrant-edge-py`, called as the adapter calls it). What else a retrieval
does costs the same at any size (the question is embedded, 48 candidates are looked up and compared by their token
vectors), so it is measured once, on the sample book. A word is as common among a million passages as in the one book,
which is the hardest case for the full-text index: all passages that share a word are ranked.
"""

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt
from common import CORPUS, QUESTIONS, ROOT, finish, machine, resident_mb, spread
from tests.remote.postgres import cluster
from tests.remote.qdrant_edge import EdgeClient

from evaluation.questions import read_questions
from evaluation.show import aligned
from lutrin import sqlite
from lutrin.adapters.index_chroma import ChromaStore
from lutrin.index import lexical, statements
from lutrin.index.generation import OpenGeneration
from lutrin.index.postings import Key, Posting, Postings, read_postings, write_common
from lutrin.ports import Embedder, VectorIndex, VectorStore
from lutrin.query.understand import alone
from lutrin.records import Chunk, Question
from lutrin.search.search import Searcher
from lutrin_remote.index_pgvector import PgvectorStore
from lutrin_remote.index_qdrant import QdrantStore

Floats = npt.NDArray[np.float32]
OUT = ROOT / "bench" / "out"
SEED = 20
SEARCHES = 200
K = 24
"""Results asked for: as many as each of Lutrin's searches gives."""
RECALL_AT = 10
TIE = 1e-5
TOP = 5
"""Passages that a retrieval gives."""
ADDED_AT_ONCE = 5000
SENTENCES = 6
PARTS = ("chroma", "pgvector", "qdrant", "text")
CHAPTERS = 14
SHARED_BUFFERS_MB = 1024
"""PostgreSQL's own cache; the rest of a table is read from the page cache of the system."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of `scale`."""
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[2500, 100_000],
        help="chunks; 1000000 takes over an hour, 6 GB of memory",
    )
    parser.add_argument(
        "--parts", nargs="+", choices=PARTS, default=("chroma", "text"), help="what is built and searched"
    )
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--seeds", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--keep", action="store_true", help="keep the built indexes in bench/out")


async def run_scale(arguments: argparse.Namespace) -> None:
    """Measure each size in a process of its own and print the table."""
    if arguments.one:
        (part,) = arguments.parts
        print(json.dumps(await measure(arguments.one, arguments.seeds, part, keep=arguments.keep)))
        return
    from evaluation.searches import indexed  # noqa: PLC0415 - its vendors load only when it runs

    seeds = OUT / "scale-seeds.npz"
    async with indexed(CORPUS, "retrieval") as peers:
        await write_seeds(peers.generations[0], seeds)
        rest = await measure_rest(peers.generations[0], peers.searcher.embedder)
    results = []
    for size in arguments.sizes:
        measured: dict[str, float] = {"chunks": size}
        for part in arguments.parts:
            measured |= _in_own_process(size, seeds, part, keep=arguments.keep)
            print(f"{part} at {size} chunks done: {measured}", file=sys.stderr)
        results.append(measured)
    names = list(results[0])
    rows = [["", *(f"{result['chunks']:,} chunks" for result in results)]]
    rows += [[name, *(_shown(result[name]) for result in results)] for name in names[1:]]
    chosen = (f"{arguments.parts[0]}: search p95 ms", "full text p95 ms")
    searches = [sum(item.get(name, 0.0) for name in chosen) for item in results]
    rows.append(["both searches p95, against the first size", *(f"{item / searches[0]:.1f}x" for item in searches)])
    rows.append(["everything else p95 ms", *(f"{rest:.4g}" for _ in results)])
    whole = [rest + item for item in searches]
    rows.append(["a retrieval p95, against the first size", *(f"{item / whole[0]:.1f}x" for item in whole)])
    finish(
        "Search at many chunks", [aligned(rows)], {"sizes": results, "rest p95 ms": rest}, machine("chromadb", "numpy")
    )


async def write_seeds(generation: OpenGeneration, path: Path) -> None:
    """Keep what synthetic chunks are made of: the pooled vectors, sentences and headings of a book."""
    chunks = await generation.all_chunks()
    sentences = sorted({unit.text for chunk in chunks for unit in chunk.units if unit.kind == "sentence"})
    bare = [msgspec.structs.replace(chunk, text="", units=()) for chunk in chunks]
    encoded = np.frombuffer(msgspec.json.encode(bare), dtype=np.uint8)
    np.savez(path, vectors=np.array(generation.windows), sentences=np.array(sentences), chunks=encoded)


async def measure_rest(generation: OpenGeneration, embedder: Embedder) -> float:
    """Milliseconds (p95) that a retrieval takes besides its two searches: embedding, records, late interaction."""
    asked = [question.question for question in read_questions(QUESTIONS) if question.in_book][:SEARCHES]
    for text in asked:  # so that no question pays for words and records that are read for the first time
        await Searcher(embedder).search([generation], alone(Question(text=text)), k=TOP)
    searcher, seconds = Searcher(embedder), []
    await searcher.search([generation], alone(Question(text="Which question is the first one?")), k=TOP)
    for text in asked:
        start = time.perf_counter()
        await searcher.search([generation], alone(Question(text=text)), k=TOP)
        whole = time.perf_counter() - start
        (encoded,) = await searcher.encode([text])
        start = time.perf_counter()
        await asyncio.gather(generation.nearest(encoded.windows[0], K), generation.matching(text, K))
        seconds.append(max(0.0, whole - (time.perf_counter() - start)))
    return round(spread(seconds)[1], 2)


async def measure(size: int, seeds: Path, part: str, *, keep: bool) -> dict[str, float]:
    """Build an index of one size, search it, and compare vectors with an exact scan."""
    folder = OUT / f"scale-{size}-{part}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with np.load(seeds) as stored:
        real, sentences = stored["vectors"], stored["sentences"].tolist()
        bare = msgspec.json.decode(stored["chunks"].tobytes(), type=list[Chunk])
    rng = np.random.default_rng(SEED)
    try:
        if part == "text":
            return await measure_text(folder / "text", bare, sentences, size, rng)
        vectors = synthetic(real, size, rng)
        questions = noisy(vectors[rng.integers(0, size, SEARCHES)], 0.6, rng)
        with STORES[part](folder) as (store, place, held_mb):
            measured = await measure_vectors(folder / "vectors", store, place, held_mb, vectors, questions)
        return {f"{part}: {name}": value for name, value in measured.items()}
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


Opened = tuple[VectorStore, Path, Callable[[], float]]
"""A store, the folder of its files, and what it holds in memory now, in MB."""


@contextmanager
def chroma(folder: Path) -> Iterator[Opened]:
    """Chroma in this process."""
    yield ChromaStore(OUT / "scratch"), folder, resident_mb


@contextmanager
def pgvector(_: Path) -> Iterator[Opened]:
    """PostgreSQL with pgvector, on the loopback interface."""
    with cluster(f"shared_buffers={SHARED_BUFFERS_MB}MB", "max_wal_size=8GB") as server:
        yield PgvectorStore(server.url("postgres")), server.data, server.memory_mb


@contextmanager
def qdrant(folder: Path) -> Iterator[Opened]:
    """Qdrant's engine in this process."""
    engine = EdgeClient(folder / "engine")
    yield QdrantStore(engine.connect), folder, resident_mb
    engine.end()


STORES = {"chroma": chroma, "pgvector": pgvector, "qdrant": qdrant}


async def timed(index: VectorIndex, questions: Floats, where: dict[str, str]) -> tuple[list[float], list[list[int]]]:
    """Seconds of each search, and the rows that it found."""
    seconds: list[float] = []
    found: list[list[int]] = []
    for question in questions:
        start = time.perf_counter()
        found.append([int(name) for name, _ in await index.search(question, K, where)][:RECALL_AT])
        seconds.append(time.perf_counter() - start)
    return seconds, found


async def measure_vectors(  # noqa: PLR0917 - the build, its place and the questions
    folder: Path, store: VectorStore, place: Path, held_mb: Callable[[], float], vectors: Floats, questions: Floats
) -> dict[str, float]:
    """Build, open and search the vector index."""
    start = time.perf_counter()
    index = await store.create(folder, "scale", len(vectors))
    for first in range(0, len(vectors), ADDED_AT_ONCE):
        part = vectors[first : first + ADDED_AT_ONCE]
        names = [str(first + offset) for offset in range(len(part))]
        await index.add(names, part, [{"chapter": f"Chapter {int(name) % CHAPTERS}"} for name in names])
    await index.close()
    built = time.perf_counter() - start
    before = resident_mb()
    start = time.perf_counter()
    index = await store.open(folder, "scale")
    loaded = time.perf_counter() - start
    where = {"chapter": "Chapter 3"}
    await timed(index, questions[:20], {})  # so that every store is compared with warm caches
    seconds, found = await timed(index, questions, {})
    filtered_seconds, filtered = await timed(index, questions, where)
    held = held_mb() - (before if held_mb is resident_mb else 0.0)
    on_disk = _megabytes(place)
    await index.close()
    scans, hits, filtered_hits = [], 0, 0
    within = np.arange(3, len(vectors), CHAPTERS)
    for question, rows, others in zip(questions, found, filtered, strict=True):
        start = time.perf_counter()
        cosines = vectors @ question
        best = np.argpartition(-cosines, RECALL_AT)[:RECALL_AT]
        scans.append(time.perf_counter() - start)
        # A tie at the edge is as good as the one that the scan happened to take; half precision makes more of them.
        hits += int((cosines[rows] >= cosines[best].min() - TIE).sum())
        filtered_hits += int((cosines[others] >= np.sort(cosines[within])[-RECALL_AT] - TIE).sum())
    median, p95 = spread(seconds)
    return {
        "built s": round(built, 1),
        "on disk MB": on_disk,
        "opened s": round(loaded, 2),
        "in memory MB": round(held, 1),
        "search median ms": round(median, 2),
        "search p95 ms": round(p95, 2),
        "search in a chapter p95 ms": round(spread(filtered_seconds)[1], 2),
        "exact scan in NumPy median ms": round(spread(scans)[0], 2),
        f"recall@{RECALL_AT}": round(hits / (RECALL_AT * len(questions)), 4),
        f"recall@{RECALL_AT} in a chapter": round(filtered_hits / (RECALL_AT * len(questions)), 4),
    }


async def measure_text(
    folder: Path, bare: Sequence[Chunk], sentences: Sequence[str], size: int, rng: np.random.Generator
) -> dict[str, float]:
    """Build and search the full-text index."""
    start = time.perf_counter()
    await asyncio.to_thread(folder.mkdir)
    path = folder / "passages.db"
    connection = sqlite.connect(path)
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("CREATE TABLE chunk (row INTEGER PRIMARY KEY, chunk_id TEXT NOT NULL UNIQUE)")
    for statement in (
        *lexical.MAKE_INDEXES,
        *(one for one in statements.MAKE_PASSAGES if one.startswith("CREATE TABLE word")),
    ):
        connection.execute(statement)
    frequency: Counter[str] = Counter()
    connection.execute("BEGIN")
    for row, text in enumerate(texts(sentences, size, rng)):
        connection.execute("INSERT INTO chunk (row, chunk_id) VALUES (?, ?)", (row, str(row)))
        chunk = bare[int(rng.integers(0, len(bare)))]
        title = chunk.heading_path[0] if chunk.heading_path else ""
        lexical.index_chunk(connection, row, title, msgspec.structs.replace(chunk, text=text))
        frequency.update(set(lexical.words(f"{' '.join(chunk.heading_path)} {text}")))
    connection.executemany("INSERT INTO word (word, chunks) VALUES (?, ?)", frequency.items())
    connection.execute("COMMIT")
    lexical.finish(connection, ())
    indexed = time.perf_counter()
    write_common(connection)
    kept = time.perf_counter() - indexed
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    built = time.perf_counter() - start
    asked = [question.question for question in read_questions(QUESTIONS) if question.in_book][:SEARCHES]
    before = resident_mb()
    start = time.perf_counter()
    connection = sqlite.connect(path, readonly=True)

    async def read(keys: Sequence[Key]) -> dict[Key, Posting]:
        return await asyncio.to_thread(read_postings, connection, keys)

    postings = Postings([str(row) for row in range(size)], read)
    await postings.match(asked[0], K)
    opened = time.perf_counter() - start
    seconds = []
    for question in asked:
        start = time.perf_counter()
        await postings.match(question, K)
        seconds.append(time.perf_counter() - start)
    held = resident_mb() - before
    connection.close()
    median, p95 = spread(seconds)
    return {
        "full text built s": round(built, 1),
        "of it for common terms s": round(kept, 1),
        "full text on disk MB": _megabytes(folder),
        "full text opened s": round(opened, 3),
        "full text in memory MB": round(held, 1),
        "full text median ms": round(median, 2),
        "full text p95 ms": round(p95, 2),
    }


def synthetic(real: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Vectors shaped like real ones: (m, d) real -> (count, d), each a random mix of three with noise, of length 1."""
    made = np.empty((count, real.shape[1]), dtype=np.float32)
    for first in range(0, count, ADDED_AT_ONCE):
        number = min(ADDED_AT_ONCE, count - first)
        shares = rng.dirichlet(np.ones(3), number).astype(np.float32)
        mixed = (real[rng.integers(0, len(real), (number, 3))] * shares[:, :, None]).sum(axis=1)
        made[first : first + number] = noisy(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), 0.4, rng)
    return made


def noisy(vectors: Floats, share: float, rng: np.random.Generator) -> Floats:
    """Vectors of length 1 with noise of length `share` added, brought back to length 1."""
    noise = rng.standard_normal(vectors.shape, dtype=np.float32)
    moved = vectors + share * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    result: Floats = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
    return result


def texts(sentences: Sequence[str], count: int, rng: np.random.Generator) -> Iterator[str]:
    """Passages of random sentences."""
    for _ in range(count):
        yield " ".join(sentences[index] for index in rng.integers(0, len(sentences), SENTENCES))


def _in_own_process(size: int, seeds: Path, part: str, *, keep: bool) -> dict[str, float]:
    command = [sys.executable, str(Path(__file__).with_name("retrieval.py")), "scale", "--one", str(size)]
    options = ["--seeds", str(seeds), "--parts", part, *(["--keep"] if keep else [])]
    done = subprocess.run([*command, *options], check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def _megabytes(folder: Path) -> float:
    return round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 1)


def _shown(value: float) -> str:
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
