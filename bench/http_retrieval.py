"""Retrieval over HTTP with ten simultaneous readers, beside a bare query of Chroma with the same embedder.

    python bench/retrieval.py http [--chunks 2500] [--readers 10] [--rounds 3]

The book is the sample book several times over, each copy without other paragraphs, under other titles. Lutrin runs as
it is served (`lutrin serve`, no language model, no rate limit), and its readers ask `POST /api/retrieve` one question
after the other. The peer embeds a question and asks Chroma for the same number of results in this process, without
HTTP, words, ranking or scope; as many at once. Both take turns, round by round, so that what else the machine does
falls on both. The readers' side of HTTP is that of wire.py.
"""

import argparse
import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import chromadb
import httpx
from chromadb.config import Settings as ChromaSettings
from common import CORPUS, QUESTIONS, ROOT, finish, machine, spread
from wire import Connections

from evaluation.questions import read_questions
from evaluation.show import aligned
from lutrin.index.generation import VECTORS, OpenGeneration
from lutrin.settings import Settings

OUT = ROOT / "bench" / "out"
BOOK = CORPUS / "physical-ai"
CHUNKS_OF_A_COPY = 440
"""Chunks of the sample book, roughly; it is copied until the requested number of chunks is reached."""
STARTS_WITHIN_S = 120
TOP_K = 5

Ask = Callable[[str], Awaitable[object]]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of `http`."""
    parser.add_argument("--chunks", type=int, default=2500, help="chunks of the book")
    parser.add_argument("--readers", type=int, default=10, help="who ask at the same time")
    parser.add_argument("--rounds", type=int, default=3, help="turns of each side")


async def run_http(arguments: argparse.Namespace) -> None:
    """Measure both and print the table."""
    from evaluation.searches import indexed  # noqa: PLC0415 - its vendors load only when it runs

    name = f"http-{arguments.chunks}"
    corpus = write_copies(OUT / f"{name}-corpus", -(-arguments.chunks // CHUNKS_OF_A_COPY))
    questions = [item.question for item in read_questions(QUESTIONS) if item.in_book]
    lutrin: list[float] = []
    bare: list[float] = []
    async with indexed(corpus, name) as peers:
        generation, embedder = peers.generations[0], peers.embedder
        chunks = generation.manifest.chunks

        collection = bare_collection(generation, OUT / f"{name}-bare")

        async def chroma(text: str) -> object:
            vector = (await embedder.encode([text]))[0].pooled
            return await asyncio.to_thread(collection.query, vector[None], n_results=TOP_K, include=["distances"])

        async with served(peers.settings) as port:
            connections = Connections(port)

            async def over_http(text: str) -> object:
                return await connections.post("/api/retrieve", {"query": text, "top_k": TOP_K})

            for ask in (chroma, over_http):
                await simultaneous(ask, questions[:20], arguments.readers)
            for number in range(arguments.rounds):
                # No text is asked twice, so that no cache answers.
                asked = [f"{question} ({number})" for question in questions]
                bare += await simultaneous(chroma, asked, arguments.readers)
                lutrin += await simultaneous(over_http, asked, arguments.readers)
            connections.close()
    peer, own = spread(bare), spread(lutrin)
    rows = [
        ["", "median ms", "p95 ms", "questions"],
        ["bare Chroma query", *(f"{value:.1f}" for value in peer), str(len(bare))],
        ["Lutrin over HTTP", *(f"{value:.1f}" for value in own), str(len(lutrin))],
        ["ratio", *(f"{mine / theirs:.2f}x" for mine, theirs in zip(own, peer, strict=True)), ""],
    ]
    data = {
        "chunks": chunks,
        "readers": arguments.readers,
        "bare_ms": [round(value, 2) for value in peer],
        "lutrin_ms": [round(value, 2) for value in own],
        "p95_ratio": round(own[1] / peer[1], 3),
    }
    title = f"Retrieval over HTTP, {chunks:,} chunks, {arguments.readers} simultaneous readers"
    finish(title, [aligned(rows)], data, machine("chromadb", "litestar", "uvicorn"))


def bare_collection(generation: OpenGeneration, folder: Path) -> Any:  # noqa: ANN401 - Chroma's class has no usable types
    """The vectors of a book in Chroma itself, as its documentation opens it, without anything of Lutrin's."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(generation.directory / VECTORS, folder)
    client = chromadb.PersistentClient(str(folder), settings=ChromaSettings(anonymized_telemetry=False))
    return client.get_collection(generation.manifest.collection, embedding_function=None)


async def simultaneous(ask: Ask, questions: Sequence[str], readers: int) -> list[float]:
    """Seconds of each question, asked by that many readers, each of whom asks one after the other."""
    waiting = iter(questions)
    seconds: list[float] = []

    async def reader() -> None:
        for text in waiting:
            start = time.perf_counter()
            await ask(text)
            seconds.append(time.perf_counter() - start)

    async with asyncio.TaskGroup() as group:
        for _ in range(readers):
            group.create_task(reader())
    return seconds


@contextlib.asynccontextmanager
async def served(settings: Settings) -> AsyncIterator[int]:
    """`lutrin serve` on a free port of this machine, which is given."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    chosen = {"MODEL": "none", "RATE_SESSION_PER_MIN": "0", "RATE_PEER_PER_MIN": "0", "LOG_LEVEL": "error"}
    environment = {**os.environ, **{f"LUTRIN_{name}": value for name, value in chosen.items()}}
    command = [str(Path(sys.prefix) / "bin" / "lutrin"), "serve", "--port", str(port)]
    process = await asyncio.create_subprocess_exec(
        *command, "--data-dir", str(settings.data_dir), env=environment, stdout=subprocess.DEVNULL
    )
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            await ready(client)
        yield port
    finally:
        process.terminate()
        await process.wait()


async def ready(client: httpx.AsyncClient) -> None:
    """Wait until the server answers."""
    async with asyncio.timeout(STARTS_WITHIN_S):
        while True:
            with contextlib.suppress(httpx.TransportError):
                if (await client.get("/ready")).status_code == httpx.codes.OK:
                    return
            await asyncio.sleep(0.2)


def write_copies(folder: Path, copies: int) -> Path:
    """The sample book several times as one book: each copy in a folder, without every n-th paragraph, retitled."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "book.toml").write_text('slug = "copies"\ntitle = "Copies"\n', encoding="utf-8")
    for copy in range(copies):
        for path in sorted(BOOK.rglob("*.mdx")):
            target = folder / f"copy-{copy}" / path.relative_to(BOOK)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(varied(path.read_text(encoding="utf-8"), copy), encoding="utf-8")
    return folder


def varied(page: str, copy: int) -> str:
    """A page without some of its paragraphs, and with the copy's number in its title."""
    blocks = page.split("\n\n")
    kept = [
        block
        for number, block in enumerate(blocks)
        if not (block[:1].isalpha() and "\n" not in block and (number + copy) % (5 + copy) == 0)
    ]
    titled = "\n\n".join(kept).replace("\n# ", f"\n# {copy}: ", 1)
    return titled.replace("\ntitle: ", f"\ntitle: Copy {copy} of ", 1)
