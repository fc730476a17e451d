"""Builds the reader of books from settings, without loading the server or the answer flow.

The caller takes the ingest lock before it loads this module and its vendor packages.
"""

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Collection, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from lutrin.errors import EmptyCorpus
from lutrin.index.generation import OpenGeneration
from lutrin.index.readback import in_fresh_process
from lutrin.ingest.books import open_book
from lutrin.ingest.chunk import chunk_document, chunk_notices
from lutrin.ingest.documents import read_document
from lutrin.ingest.formats import suffixes_in_words
from lutrin.ingest.labels import with_places
from lutrin.ingest.placed_text import line_number
from lutrin.ingest.run import DEFAULTS, IngestTools, Options, ingest_alone
from lutrin.ingest.scan import scan
from lutrin.ingest.sites import is_site
from lutrin.ingest.summary import IngestSummary
from lutrin.keep import backup
from lutrin.keep.transfer import TransferSummary, import_index
from lutrin.log import configure_logging
from lutrin.prepared import Entry
from lutrin.records import Chunk, Document, Notice, Unit
from lutrin.runtime.profile import embedding, ingesting, open_embedder, open_reranker, open_store
from lutrin.search.search import Searcher
from lutrin.settings import Settings
from lutrin.study.extract import Extractor
from lutrin.study.literal import literal_problem

PATIENCE_S = 300.0
"""Seconds for which to retry a failing embedding service."""


@asynccontextmanager
async def _ingest_tools(settings: Settings) -> AsyncIterator[IngestTools]:
    """Open the tools that make and check generations. The caller holds `lutrin.ingest.lock.ingest_lock`."""
    configure_logging(settings, quiet=True)
    backup.finish_alone(settings)
    store = open_store(settings)
    async with ingesting(settings), embedding(settings, threads=0, patience_s=PATIENCE_S) as embedder:

        async def extract(generation: OpenGeneration, files: Collection[str] | None) -> AsyncGenerator[Entry, None]:
            # Searches like a reader's: loaded only if a book has changed.
            with ExitStack() as stack:
                reranker = open_reranker(settings)
                if reranker is not None:
                    stack.callback(reranker.close)
                async for entry in Extractor(Searcher(embedder, reranker), reranker).entries(generation, files):
                    yield entry

        yield IngestTools(embedder, store, in_fresh_process(store), holds=literal_problem, extract=extract)


async def run_ingest(settings: Settings, corpus: Path, options: Options = DEFAULTS) -> IngestSummary:
    """Update the index to a folder of books; see `lutrin.ingest.run.ingest_alone`."""
    async with _ingest_tools(settings) as tools:
        return await ingest_alone(corpus, settings, tools, options)


async def run_import(settings: Settings, source: Path, *, trust: bool = False) -> TransferSummary:
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


def explain_file(settings: Settings, path: Path, *, password: str = "") -> str:
    """Describe in words the headings, units and chunks of a file; nothing is indexed."""
    root = next((folder for folder in path.resolve().parents if is_site(folder)), path.resolve().parent)
    book = open_book(root)
    name = path.resolve().relative_to(root).as_posix()
    file = next((item for item in scan(root, rules=book.rules) if item.name == name), None)
    if file is None:
        raise EmptyCorpus(f"{path} is not a file that Lutrin reads.", remedy=f"Give a {suffixes_in_words()} file.")
    document = read_document(file, book, password=password, lenient=True)
    embedder = open_embedder(settings)
    target = settings.chunk_tokens
    chunks = chunk_document(document, book.info, embedder.token_offsets, target, settings.chunk_overlap_tokens)
    chunks = with_places(document, chunks)
    return explain(document, chunks, chunk_notices(document, chunks, target))


_WIDTH = 76  # columns of a narrow terminal
_KINDS = {"sentence": "sentence", "list_item": "item", "table_row": "row", "code": "code", "caption": "caption"}


def explain(document: Document, chunks: Sequence[Chunk], notices: Sequence[Notice] = ()) -> str:
    """Metadata, headings with their units, and chunks of a document; `notices` come from the chunker."""
    lines = [*_metadata(document), "", "Headings"]
    for section in document.sections:
        where = f"page {section.page}" if section.page else f"line {line_number(document.source, section.char_start)}"
        anchor = f"  #{section.anchor}" if section.anchor else ""
        lines.append(f"  {'  ' * (section.level - 1)}{section.title}{anchor}  ({where}, {_count(section.units)})")
    lines += ["", f"Chunks: {len(chunks)}"]
    for chunk in chunks:
        lines += ["", *_chunk(document, chunk)]
    all_notices = (*document.notices, *notices)
    lines += ["", "Notices" if all_notices else "Notices: none"]
    lines += [f"  {f'line {notice.line}: ' if notice.line else ''}{notice.message}" for notice in all_notices]
    return "\n".join(lines) + "\n"


def _metadata(document: Document) -> list[str]:
    simulation = {True: "yes", False: "no, real hardware", None: "not said"}[document.is_simulation]
    fields = {
        "File": document.filename,
        "Title": document.title,
        "Module": document.module,
        "Chapter": document.chapter,
        "Section": document.section,
        "Position": "" if document.position is None else f"{document.position:g}",
        "Keywords": ", ".join(document.keywords),
        "Description": document.description,
        "Simulation": simulation,
        "Pages": ", ".join(document.page_labels),
        "Characters": str(len(document.source)),
    }
    return [f"{name + ':':13}{value}" for name, value in fields.items() if value]


def _count(units: Sequence[Unit]) -> str:
    counts = Counter(_KINDS[unit.kind] for unit in units)
    parts = (f"{count} {name}{'s' if count > 1 and name != 'code' else ''}" for name, count in counts.items())
    return ", ".join(parts) or "empty"


def _chunk(document: Document, chunk: Chunk) -> list[str]:
    first = line_number(document.source, chunk.char_start)
    last = line_number(document.source, chunk.char_end)
    place = f"page {chunk.page_label or chunk.page}" if chunk.page else f"lines {first}-{last}"
    head = f"  [{chunk.chunk_index}] {' > '.join(chunk.heading_path)}"
    kind = ", ".join(name for name in (chunk.content_type, chunk.role, chunk.variant) if name and name != "text")
    facts = f"      {chunk.token_count} tokens, {kind or 'text'}, {place}, {chunk.chunk_id}"
    lines = [head, facts]
    for unit in chunk.units:
        mark = "!" if unit.warning else " "
        code = f"{unit.language or 'code'}, {unit.text.count(chr(10)) + 1} lines: " if unit.kind == "code" else ""
        lines.append(f"      {_KINDS[unit.kind]:>8}{mark} {_short(code + unit.text)}")
    return lines


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else flat[: _WIDTH - 1] + "…"
