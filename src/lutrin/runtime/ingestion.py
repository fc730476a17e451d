"""Turn settings into what reads books: neither the server nor the flow of answers is loaded for that.

Whoever calls took the lock of ingests before this module and its vendors were loaded.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Collection
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from lutrin.index.companion import Entry
from lutrin.index.generation import OpenGeneration
from lutrin.index.readback import in_fresh_process
from lutrin.ingest.run import DEFAULTS, IngestTools, Options, ingest_alone
from lutrin.ingest.summary import IngestSummary
from lutrin.keep import restore
from lutrin.keep.transfer import Transferred, import_index
from lutrin.log import configure_logging
from lutrin.runtime.profile import embedding, ingesting, open_reranker, open_store
from lutrin.search.search import Searcher
from lutrin.settings import Settings
from lutrin.study.extract import Extractor
from lutrin.study.literal import literal_problem

PATIENCE_S = 300.0
"""Seconds for which an embedding service that fails is tried again."""


@asynccontextmanager
async def _ingest_tools(settings: Settings) -> AsyncIterator[IngestTools]:
    """Open what makes and checks generations. The caller holds `lutrin.ingest.lock.ingest_lock`."""
    configure_logging(settings, quiet=True)
    restore.finish_alone(settings)
    store = open_store(settings)
    async with ingesting(settings), embedding(settings, threads=0, patience_s=PATIENCE_S) as embedder:

        async def extract(generation: OpenGeneration, files: Collection[str] | None) -> AsyncGenerator[Entry, None]:
            # As readers will ask: loaded only where a book has changed.
            with ExitStack() as stack:
                reranker = open_reranker(settings)
                if reranker is not None:
                    stack.callback(reranker.close)
                async for entry in Extractor(Searcher(embedder, reranker)).entries(generation, files):
                    yield entry

        yield IngestTools(embedder, store, in_fresh_process(store), holds=literal_problem, extract=extract)


async def run_ingest(settings: Settings, corpus: Path, options: Options = DEFAULTS) -> IngestSummary:
    """Bring the index up to date with a folder of books; see `lutrin.ingest.run.ingest_alone`."""
    async with _ingest_tools(settings) as tools:
        return await ingest_alone(corpus, settings, tools, options)


async def run_import(settings: Settings, source: Path, *, trust: bool = False) -> Transferred:
    """Publish an exported index in the vector store of the profile; see `lutrin.keep.transfer.import_index`."""
    async with _ingest_tools(settings) as tools:
        return await import_index(
            settings,
            source,
            embedder=tools.embedder.name,
            store=tools.store,
            verify=tools.verify,
            now=tools.now,
            trust=trust,
        )
