"""How fast an ingest is, against fastembed as it comes, and how little a second one costs.

    python bench/ingest.py [--chunks 200] [--files 300]

Embedding: passages of the sample book and single sentences of it, half and half, in random order, so that lengths are
mixed. The peer is `TextEmbedding.embed(documents)` of the same package with the same model and its own defaults; it
gives pooled vectors only, Lutrin's embedder token vectors, too, and reads texts of any length to their end. Both run in
turns. Ingest: files made of the book's sentences, each with its own, into an empty data folder, then once more.
"""

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from common import CORPUS, EMBED_MODEL, finish, machine
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from evaluation.show import aligned
from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.adapters.index_chroma import ChromaStore
from lutrin.index.readback import in_fresh_process
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.discover import find_books
from lutrin.ingest.documents import read_document
from lutrin.ingest.run import IngestTools, ingest
from lutrin.ingest.scan import scan
from lutrin.log import configure_logging
from lutrin.records import Chunk
from lutrin.settings import load_settings

TURNS = 3
SENTENCES_A_FILE = 12


def passages(embedder: FastembedEmbedder) -> list[Chunk]:
    """The chunks of the sample book with the default settings."""
    settings = load_settings()
    (book,) = find_books(CORPUS / "physical-ai")
    documents = [read_document(file, book) for file in scan(book.root)]
    return [
        chunk
        for document in documents
        for chunk in chunk_document(
            document, book.info, embedder.token_offsets, settings.chunk_tokens, settings.chunk_overlap_tokens
        )
    ]


def peer() -> TextEmbedding:
    """Fastembed with the same model file and nothing else set."""
    TextEmbedding.add_custom_model(
        model="bench/minilm",
        pooling=PoolingType.MEAN,
        normalization=True,
        sources=ModelSource(hf="bench/minilm"),
        dim=384,
        model_file="model.onnx",
    )
    return TextEmbedding("bench/minilm", specific_model_path=str(EMBED_MODEL))


def seconds(work: Callable[[], object]) -> float:
    """How long something takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def embedding(embedder: FastembedEmbedder, chunks: list[Chunk], count: int, rng: random.Random) -> dict[str, float]:
    """Texts a second of both, the best of `TURNS` turns each."""
    sentences = [unit.text for chunk in chunks for unit in chunk.units if unit.kind == "sentence"]
    texts = [chunk.embedded_text() for chunk in rng.sample(chunks, min(count // 2, len(chunks)))]
    texts += rng.sample(sentences, count - len(texts))
    rng.shuffle(texts)
    other = peer()
    list(other.embed(texts[:4]))
    asyncio.run(embedder.encode(texts[:4]))
    turns = [
        (seconds(lambda: asyncio.run(embedder.encode(texts))), seconds(lambda: list(other.embed(texts))))
        for _ in range(TURNS)
    ]
    ours, theirs = (min(turn[side] for turn in turns) for side in (0, 1))
    return {
        "texts": len(texts),
        "texts_per_s": round(len(texts) / ours, 1),
        "fastembed_default_texts_per_s": round(len(texts) / theirs, 1),
        "ratio": round(theirs / ours, 2),
    }


async def twice(embedder: FastembedEmbedder, chunks: list[Chunk], files: int, rng: random.Random) -> dict[str, float]:
    """A first ingest of many files, and a second one of the same."""
    sentences = [unit.text for chunk in chunks for unit in chunk.units if unit.kind == "sentence"]
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        for number in range(files):
            path = corpus / f"{number // 20:02}-chapter-{number // 20}" / f"{number:03}-page.md"
            await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
            text = f"# Page {number}\n\n{' '.join(rng.sample(sentences, SENTENCES_A_FILE))}\n"
            await asyncio.to_thread(path.write_text, text, encoding="utf-8")
        await asyncio.sleep(2.1)  # files younger than two seconds are compared by content
        settings = load_settings(data_dir=Path(folder) / "data")
        store = ChromaStore(settings.data_dir / "scratch")
        tools = IngestTools(embedder, store, in_fresh_process(store))
        first = await ingest(corpus, settings, tools)
        second = await ingest(corpus, settings, tools)
        if second.processed or second.texts_embedded or second.published:
            raise SystemExit("the second ingest did something")
    return {
        "files": first.processed,
        "chunks": first.chunks_created,
        "first_s": first.seconds,
        "chunks_per_s": round(first.chunks_created / first.seconds, 1),
        "second_s": second.seconds,
        "second_of_first": round(second.seconds / first.seconds, 5),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=200, help="texts that are embedded by both")
    parser.add_argument("--files", type=int, default=300, help="files that are ingested twice")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    configure_logging(load_settings(log_level="error"))
    rng = random.Random(arguments.seed)  # noqa: S311 - repeatable, not secret
    embedder = FastembedEmbedder(EMBED_MODEL)
    chunks = passages(embedder)
    embedded = embedding(embedder, chunks, arguments.chunks, rng)
    ingested = asyncio.run(twice(embedder, chunks, arguments.files, rng))
    embedder.close()
    rows = [
        ["texts of mixed lengths, a second", f"{embedded['texts_per_s']}"],
        ["fastembed's embed(documents), same run", f"{embedded['fastembed_default_texts_per_s']}"],
        ["ratio", f"{embedded['ratio']} (goal 2)"],
        [f"first ingest of {ingested['files']} files, {ingested['chunks']} chunks", f"{ingested['first_s']:.2f} s"],
        ["second ingest, nothing changed", f"{ingested['second_s']:.3f} s"],
        ["second / first", f"1/{1 / ingested['second_of_first']:.0f} (goal 1/50)"],
    ]
    about = machine("fastembed", "onnxruntime", "chromadb")
    finish("Ingest", [aligned([["what", "figure"], *rows])], {"embedding": embedded, "ingest": ingested}, about)


if __name__ == "__main__":
    main()
