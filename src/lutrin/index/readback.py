"""Reads a new generation back in a fresh process before it goes into use."""

import asyncio
import hashlib
import pickle
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import numpy as np

from lutrin import sqlite
from lutrin.errors import LutrinError, VerificationFailed
from lutrin.index.disk import file_hashes
from lutrin.index.generation import PASSAGES, OpenGeneration, open_generation
from lutrin.index.manifest import MANIFEST
from lutrin.ports import VectorStore
from lutrin.records import Chunk

Verify = Callable[[Path], Awaitable[None]]
"""Checks a generation's folder; raises VerificationFailed."""

PROBES = 64
"""Number of vectors for which to compare the vector index with an exact scan."""
NEIGHBOURS = 10  # compared with an exact scan
LEAST_RECALL = 0.95
"""Share of an exact scan's neighbours that the index must find, on average over the probes."""
TIE = 1e-4
"""Cosines that differ by less may swap places, because the index computes in another order."""


async def verify_generation(directory: Path, store: VectorStore) -> None:
    """Check a generation against its manifest, and its vector index against an exact scan.

    Raises:
        VerificationFailed: A check fails; the message names the first difference.
    """
    try:
        generation = await open_generation(directory, store)
    except LutrinError as error:
        raise VerificationFailed(f"The new index cannot be opened: {error.detail}") from error
    try:
        manifest = generation.manifest
        if await asyncio.to_thread(file_hashes, directory, without=MANIFEST) != manifest.hashes:
            raise VerificationFailed("The new index's files differ from those that were written.")
        await asyncio.to_thread(_check_database, directory)
        chunks = await generation.all_chunks()
        await _check_chunks(generation, chunks)
        await _check_companion(generation, chunks)
        await _check_vectors(generation, chunks)
    except (LutrinError, sqlite.DatabaseError, OSError) as error:
        if isinstance(error, VerificationFailed):
            raise
        raise VerificationFailed(f"The new index cannot be read back: {error}") from error
    finally:
        await generation.close()


def in_fresh_process(store: VectorStore) -> Verify:
    """A verifier that starts a new Python for each generation; the store must be picklable, to be opened there."""

    async def verify(directory: Path) -> None:
        await asyncio.to_thread(_run_child, directory, store)

    return verify


def _run_child(directory: Path, store: VectorStore) -> None:
    # Use a plain interpreter: `multiprocessing` would run the caller's main module again in the child.
    command = [sys.executable, "-c", "from lutrin.index.readback import _child; _child()"]
    done = subprocess.run(  # noqa: S603 - our own interpreter and code
        command, input=pickle.dumps((directory, store)), capture_output=True, check=False
    )
    if done.returncode:
        problem = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        raise VerificationFailed(problem or f"The process that checked the new index died ({done.returncode}).")


def _child() -> None:
    directory, store = pickle.load(sys.stdin.buffer)  # noqa: S301 - from our parent process
    try:
        asyncio.run(verify_generation(directory, store))
    except VerificationFailed as error:
        sys.exit(error.detail)


def _check_database(directory: Path) -> None:
    with closing(sqlite.connect(directory / PASSAGES, readonly=True)) as connection:
        (state,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if state != "ok":
            raise VerificationFailed(f"The new index's passages are damaged: {state}")


async def _check_chunks(generation: OpenGeneration, chunks: list[Chunk]) -> None:
    manifest, files = generation.manifest, generation.files
    chunk_count = sum(file.chunks for file in files)
    counts = (len(files), len(chunks), chunk_count, generation.tokens.chunks, len(generation.windows))
    expected = (manifest.files, manifest.chunks, manifest.chunks, manifest.chunks, manifest.windows)
    if counts != expected:
        raise VerificationFailed(f"The new index holds {counts} files, chunks and vectors, not {expected}.")
    by_file: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        by_file.setdefault(chunk.filename, []).append(chunk)
        if hashlib.sha256(chunk.embedded_text().encode("utf-8", "surrogatepass")).hexdigest() != chunk.content_hash:
            raise VerificationFailed(f"Passage {chunk.chunk_id} has another text than when it was embedded.")
    for filename, own in by_file.items():
        length = len(await generation.source(filename))
        for chunk in own:
            if not 0 <= chunk.char_start <= chunk.char_end <= length:
                raise VerificationFailed(f"Passage {chunk.chunk_id} lies outside of {filename}.")


async def _check_companion(generation: OpenGeneration, chunks: list[Chunk]) -> None:
    """Check that each prepared entry has its passages, with its quotes in the stated places."""
    ids = {chunk.chunk_id for chunk in chunks}
    for item in generation.companion.entries:
        source = await generation.source(item.entry.file)
        is_complete = {item.chunk_id, *(name for name, _, _ in item.places)} <= ids
        if not is_complete or tuple(source[start:end] for _, start, end in item.places) != item.entry.quotes:
            raise VerificationFailed(f"The prepared entry “{item.entry.topic}” has another place than its book.")


async def _check_vectors(generation: OpenGeneration, chunks: list[Chunk]) -> None:
    """Check the ids in the vector index, and its recall against an exact scan of the stored vectors."""
    expected = []
    for row, chunk in enumerate(chunks):
        count = len(generation.windows_of(row))
        if count == 0:
            raise VerificationFailed(f"Passage {chunk.chunk_id} has no vector.")
        expected += [chunk.chunk_id, *(f"{chunk.chunk_id}#{number}" for number in range(1, count))]
    ids = await generation.vectors.ids()
    if sorted(ids) != sorted(expected):
        raise VerificationFailed(
            f"The vector index holds {len(ids)} records, not the {len(expected)} that were written."
        )
    windows = generation.windows
    picked = np.unique(np.linspace(0, max(0, len(windows) - 1), min(PROBES, len(windows))).astype(int))
    probes = np.asarray(windows[picked])
    recalls = []
    for probe, cosines in zip(probes, (windows @ probes.T).T, strict=True):
        exact = np.sort(cosines)[::-1][:NEIGHBOURS]
        near = await generation.vectors.search(probe, NEIGHBOURS)
        recalls.append(sum(cosine >= exact[-1] - TIE for _, cosine in near) / len(exact))
    if recalls and float(np.mean(recalls)) < LEAST_RECALL:
        raise VerificationFailed(f"The vector index finds only {np.mean(recalls):.2f} of what an exact scan finds.")
