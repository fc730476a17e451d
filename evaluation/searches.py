"""Compare Lutrin's search with plain searches in one run: `python -m evaluation.searches [quality|collection] ...`.

`quality` (the default): the sample questions through dense search alone, BM25 alone, both by reciprocal rank fusion,
and Lutrin's search; file@1, file@5, facts@5, and the milliseconds of each.

`collection FOLDER`: nDCG@10 of the same four on a public test collection in the classic form, such as Cranfield: FOLDER
holds `cran.all.1400`, `cran.qry` and `cranqrel`. You have to bring it, since no package contains one; without FOLDER
the command says so and exits with 0.

How fast it is: `bench/retrieval.py`.
"""

import argparse
import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from evaluation import collection
from evaluation.command_line import CORPUS, ROOT, add_question_options, chosen_questions, finish, machine, spread
from evaluation.pipeline import ANY, FUSED_DEPTH, best, complete, reciprocal_rank_fusion
from evaluation.report import Report, compare, read_report, report
from evaluation.run import Subject, run
from evaluation.show import aligned, comparison_table, side_by_side
from lutrin.errors import LutrinError
from lutrin.index.generation import OpenGeneration
from lutrin.ingest.lock import ingest_lock
from lutrin.query.understand import understand
from lutrin.records import Chunk, Passage, Question
from lutrin.runtime import ingestion, wiring
from lutrin.search.search import Searcher
from lutrin.settings import Settings, load_settings

OUT = ROOT / "bench" / "out"
PACKAGES = ("chromadb", "fastembed", "onnxruntime", "numpy")

Search = Callable[[Question, int], Awaitable[Sequence[str]]]
"""A question and how many to the ids of chunks, best first."""


class Peers:
    """The four searches over open books.

    Args:
        generations: One for each book.
        searcher: Lutrin's own search.
        settings: With which the books were opened.
    """

    def __init__(self, generations: Sequence[OpenGeneration], searcher: Searcher, settings: Settings) -> None:
        self.generations = generations
        self.settings = settings
        self.embedder = searcher.embedder
        self.searcher = searcher
        self.searches: dict[str, Search] = {
            "dense": self.dense,
            "BM25": self.lexical,
            "RRF": self.rrf,
            "Lutrin": self.lutrin,
        }

    async def dense(self, question: Question, k: int) -> list[str]:
        """The nearest chunks by cosine of the question, with any selected text after it."""
        vector = (await self.embedder.encode([whole(question)]))[0].pooled
        return best([await generation.nearest(vector, k) for generation in self.generations], k)

    async def lexical(self, question: Question, k: int) -> list[str]:
        """The best chunks by BM25."""
        return best([await generation.matching(whole(question), k) for generation in self.generations], k)

    async def rrf(self, question: Question, k: int) -> list[str]:
        """Both, fused."""
        depth = max(k, FUSED_DEPTH)
        return reciprocal_rank_fusion(await self.dense(question, depth), await self.lexical(question, depth))[:k]

    async def lutrin(self, question: Question, k: int) -> list[str]:
        """Lutrin's search in the book that speaks of it most, before it decides whether any does."""
        query = understand(question, history=(), language=ANY, embedder=self.embedder)
        found = await self.searcher.search(self.generations, query, k=k)
        return [passage.chunk.chunk_id for passage in found.passages]

    async def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """Chunks by their ids, in order, from whichever book has them."""
        found = {chunk.chunk_id: chunk for generation in self.generations for chunk in await generation.chunks(ids)}
        return [found[name] for name in ids]

    def subject(self, name: str, seconds: list[float]) -> Subject:
        """One of the searches under judgement; its times are appended to `seconds`."""
        search = self.searches[name]

        async def retrieve(question: Question) -> list[Passage]:
            start = time.perf_counter()
            ids = await search(question, question.top_k or 5)
            chunks = await self.chunks(ids)
            seconds.append(time.perf_counter() - start)
            return [Passage(chunk=chunk, score=1.0) for chunk in chunks]

        return Subject(name=name, retrieve=retrieve, complete=complete)


def whole(question: Question) -> str:
    """A question as a search without modes gets it."""
    return f"{question.text} {question.selected_text}".strip()


@contextlib.asynccontextmanager
async def indexed(corpus: Path, name: str, data_dir: Path | None = None) -> AsyncIterator[Peers]:
    """Ingest a folder into bench/out/NAME (a second run embeds nothing) and open it; or open an index as it is."""
    settings = bench_settings(name)
    if data_dir is not None:
        async with opened(settings.model_copy(update={"data_dir": data_dir})) as peers:
            yield peers
        return
    with ingest_lock(settings.data_dir):
        summary = await ingestion.run_ingest(settings, corpus)
    if summary.errors:
        print("\n".join(summary.errors), file=sys.stderr)
    async with opened(settings) as peers:
        yield peers


@contextlib.asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Peers]:
    """The books of an index."""
    async with wiring.open_runtime(settings, with_model=False) as house, house.shelf.lease_books() as generations:
        yield Peers(generations, house.searcher, settings)


def bench_settings(name: str) -> Settings:
    """Local settings whose data lies in bench/out/NAME."""
    return load_settings(profile="local", data_dir=OUT / name, models_dir=ROOT / "models", log_level="error")


async def quality(arguments: argparse.Namespace) -> None:
    """Compare the four searches on the sample questions."""
    questions = [question for question in chosen_questions(arguments) if question.in_book]
    reports: list[Report] = []
    times: dict[str, list[float]] = {}
    async with indexed(arguments.corpus, "retrieval", arguments.data_dir) as peers:
        for name in peers.searches:
            # Once unmeasured, so that no search pays for another's warm caches.
            await run(questions[:5], peers.subject(name, []))
            outcomes = await run(questions, peers.subject(name, times.setdefault(name, [])))
            reports.append(report(outcomes, name=name, split=arguments.split))
    speed = [["search", "median ms", "p95 ms"]]
    speed += [[name, *(f"{value:.1f}" for value in spread(found))] for name, found in times.items()]
    beside = [read_report(path) for path in arguments.beside]
    tables = [
        side_by_side([*reports, *beside]),
        aligned(speed),
        comparison_table(compare(reports[2], reports[3])),
    ]
    data = {
        "split": arguments.split,
        "questions": len(questions),
        "figures": {item.name: {value.name: round(value.value, 4) for value in item.figures} for item in reports},
        "latency_ms": {name: [round(value, 2) for value in spread(found)] for name, found in times.items()},
    }
    finish("Retrieval on the sample questions", tables, data, machine(*PACKAGES))


async def public_collection(arguments: argparse.Namespace) -> None:
    """Compare the four searches on a public test collection."""
    if arguments.folder is None:
        print(
            "No collection given: `python -m evaluation.searches collection FOLDER`; "
            "FOLDER holds cran.all.1400, cran.qry and cranqrel."
        )
        return
    found = collection.read_collection(arguments.folder)
    name = f"collection-{arguments.folder.resolve().name}"
    corpus = collection.write_corpus(found, OUT / f"{name}-corpus")
    rows = [["search", "nDCG@10", "queries"]]
    figures: dict[str, float] = {}
    async with indexed(corpus, name) as peers:
        filename = {chunk.chunk_id: chunk.filename for chunk in await peers.generations[0].all_chunks()}
        for label, search in peers.searches.items():
            figures[label] = await collection.judge(found, search, filename)
            rows.append([label, f"{figures[label]:.3f}", str(len(found.relevant))])
    finish(f"Public collection {arguments.folder.name}", [aligned(rows)], {"nDCG@10": figures}, machine(*PACKAGES))


def main() -> None:
    """Run one of the benchmarks."""
    parser = argparse.ArgumentParser(description="Search against its peers.")
    commands = parser.add_subparsers(dest="command")
    sample = commands.add_parser("quality", help="the sample questions")
    add_question_options(sample)
    sample.add_argument("--corpus", type=Path, default=CORPUS, help="folder of the books")
    sample.add_argument("--data-dir", type=Path, help="search this index instead of building one in bench/out")
    sample.add_argument("--beside", type=Path, nargs="*", default=[], help="reports to print beside, such as a peer's")
    public = commands.add_parser("collection", help="a public test collection")
    public.add_argument(
        "folder", type=Path, nargs="?", help="with documents, queries and judgements in the classic form"
    )
    arguments = parser.parse_args(sys.argv[1:] or ["quality"])
    actions = {"quality": quality, "collection": public_collection}
    try:
        asyncio.run(actions[arguments.command](arguments))
    except LutrinError as error:
        sys.exit(error.detail)


if __name__ == "__main__":
    main()
