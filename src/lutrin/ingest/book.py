"""Builds the next generation of one book: reads changed files, and copies the others from the current generation."""

import asyncio
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec

from lutrin import sqlite
from lutrin.errors import DocumentError, LutrinError
from lutrin.index.build import BookFile, GenerationBuilder, chunk_hashes, read_book_file
from lutrin.index.catalog import FileState, LeftOut
from lutrin.index.companion import BY_THE_BOOK, Companion, Decision, Entry, Prepared, key_of, write_companion
from lutrin.index.disk import sync, sync_tree
from lutrin.index.embeddings import EmbeddingCache
from lutrin.index.generation import PASSAGES, open_generation
from lutrin.index.manifest import manifest_hash, read_manifest, write_manifest
from lutrin.index.readback import Verify
from lutrin.ingest.books import Book
from lutrin.ingest.changes import Plan, folder_of
from lutrin.ingest.chunk import chunk_document, chunk_notices
from lutrin.ingest.companion_file import Checked, Extract, Fitting, Holds, MisfitError, check_files, in_order
from lutrin.ingest.documents import read_document
from lutrin.ingest.placing import with_places, with_world
from lutrin.ingest.scan import SourceFile
from lutrin.ingest.summary import Advance, FolderDone, IngestSummary, Progress, silent
from lutrin.platform import give_back
from lutrin.ports import Embedder, VectorStore
from lutrin.records import Chunk
from lutrin.settings import Settings
from lutrin.threads import in_thread

BUILDING = ".building-"
"""Learns on the folder of a finished generation, not published yet, which questions it answers."""
Read = tuple[BookFile, list[Chunk]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one book."""

    summary: IngestSummary
    states: Sequence[FileState] = ()
    """States of the files in the new generation."""
    manifest_sha256: str | None = None
    """None if there is nothing new to publish."""


@dataclass(frozen=True, slots=True)
class IngestTools:
    """Adapters and clocks of an ingest."""

    embedder: Embedder
    store: VectorStore
    verify: Verify
    """Reads a new generation back, in a fresh process; see `lutrin.index.readback.in_fresh_process`."""
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock_ns: Callable[[], int] = time.time_ns
    """The clock of the file system's times."""
    holds: Holds | None = None
    """Checks prepared entries that nobody vouches for; None: only their places count."""
    extract: Extract | None = None
    """Prepares a book from its own words; None: only what was written for it is prepared."""


@dataclass(frozen=True, slots=True)
class Options:
    """What one ingest is asked for; an empty slug, title or edition leaves the book's own."""

    slug: str = ""
    title: str = ""
    edition: str = ""
    rebuild: bool = False
    """Read every file again; embeddings are still taken from the cache."""
    password: str = ""
    """Of encrypted PDFs."""
    lenient: bool = False
    """Read pages that MDX would refuse as far as possible."""
    progress: Progress = silent
    """Called after each folder, and often in between."""


DEFAULTS = Options()


BATCH = 32
"""Passages that are embedded between two commits; at most so many are lost if the process dies. Until then their token
vectors stay in memory at full width, half a megabyte a passage."""


class Embedding:
    """Collects passages without an embedding and embeds them in the background, each text once.

    Both calls raise WeightsError if the model cannot be used.
    """

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self._wanted: set[str] = set()
        self._pending: dict[str, str] = {}
        self._running: asyncio.Task[None] | None = None
        self.done = 0
        """Texts embedded so far."""

    @property
    def wanted(self) -> int:
        """Texts to embed, of the passages seen so far."""
        return len(self._wanted)

    async def add(self, chunks: Iterable[Chunk]) -> None:
        """Take passages; return at once unless the next batch is full while one is still being embedded."""
        texts = {
            chunk.content_hash: chunk.embedded_text() for chunk in chunks if chunk.content_hash not in self._wanted
        }
        for name in await in_thread(self._cache.missing, texts):
            self._wanted.add(name)
            self._pending[name] = texts[name]
        while len(self._pending) >= BATCH:
            await self._start()

    async def finish(self) -> None:
        """Embed the rest and wait for all of it."""
        while self._pending:
            await self._start()
        await self._settle()

    async def cancel(self) -> None:
        """Give up the running batch; committed ones stay."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _start(self) -> None:
        await self._settle()
        batch = dict(list(self._pending.items())[:BATCH])
        for name in batch:
            del self._pending[name]
        self._running = asyncio.create_task(self._embed(batch))

    async def _settle(self) -> None:
        if self._running is not None:
            await self._running
            self._running = None

    async def _embed(self, batch: dict[str, str]) -> None:
        encodings = await self._embedder.encode(list(batch.values()))
        await in_thread(self._cache.put, list(zip(batch, encodings, strict=True)))
        self.done += len(batch)


@dataclass(slots=True)
class BookIngest:
    """The work on one book; `lutrin.ingest.run.ingest` does the rest."""

    book: Book
    plan: Plan
    settings: Settings
    tools: IngestTools
    options: Options
    cache: EmbeddingCache
    name: str
    """The new generation's."""
    recipe: str
    """Fingerprint of everything that determines its chunks."""
    current: Path | None
    """Folder of the current generation, if it is intact."""
    companions: Sequence[Path]
    """Files with entries prepared for the book's readers; they may be missing."""
    own_companions: Sequence[Path]
    """Of those, the ones that are believed in what they say of themselves."""
    companion: str
    """Their fingerprint; if it differs from the current generation's, a new generation is made."""
    decisions: Sequence[Decision]
    """The teacher's decisions about prepared entries."""
    _embedding: Embedding = field(init=False)
    _summary: IngestSummary = field(init=False, default_factory=IngestSummary)
    _positions: dict[str, float | None] = field(init=False, default_factory=dict)
    """`sidebar_position` of each file in the new generation."""
    _kept: set[str] = field(init=False, default_factory=set)
    """Files that could not be read, so the index keeps its version of them."""
    _before: sqlite.Connection | None = field(init=False, default=None)
    _is_extracted: bool = field(init=False, default=False)
    """Whether the book's own words were prepared before."""

    def __post_init__(self) -> None:
        self._embedding = Embedding(self.tools.embedder, self.cache)

    async def run(self, created: str) -> Outcome:
        """Build and verify the new generation and put it in its place; the caller publishes it.

        Raises:
            VerificationFailed: It did not read back as it was written.
            IndexUnavailable, OSError, DatabaseError: It could not be written.
            WeightsError: The embedding model cannot be used.
        """
        home = self.settings.books_dir / self.book.info.slug
        building = home / f"{BUILDING}{self.name}"
        await asyncio.to_thread(building.mkdir, parents=True)
        builder = GenerationBuilder(building)
        if self.current is not None:
            self._before = sqlite.connect(self.current / PASSAGES, readonly=True)
        try:
            await self._fill(builder)
            prepared = self.current is not None and read_manifest(self.current).companion != self.companion
            if not self._positions or not (self._summary.processed or self.plan.removed or prepared):
                return Outcome(self._summary)  # only files that cannot be read
            self._count(await in_thread(self._compare, builder))
            await self._embedding.finish()
            self._count(IngestSummary(texts_embedded=self._embedding.done))
            await in_thread(give_back)
            self._tell(len(self._positions), len(self._positions))
            await self._prepare(builder)
            await builder.finish(
                name=self.name,
                book=self.book.info,
                created=created,
                embedder=self.tools.embedder,
                recipe=self.recipe,
                cache=self.cache,
                store=self.tools.store,
                companion=self.companion,
            )
            if self.tools.extract is not None:
                await self._add_extracted(building, self.tools.extract)
            await in_thread(give_back)  # free memory before the verifying process starts
            await self.tools.verify(building)
            digest = await asyncio.to_thread(put_in_place, building, home / self.name)
        finally:
            await self._embedding.cancel()
            builder.close()
            if self._before is not None:
                self._before.close()
            await asyncio.to_thread(shutil.rmtree, building, ignore_errors=True)
        states = [(self.plan.known if name in self._kept else self.plan.states)[name] for name in self._positions]
        return Outcome(self._summary, states, digest)

    def _count(self, figures: IngestSummary) -> None:
        self._summary = self._summary.plus(figures)

    async def _fill(self, builder: GenerationBuilder) -> None:
        """Add every file to the new generation, in the order of names, so that equal books give equal rows."""
        changed = {file.name for file in self.plan.changed}
        left = Counter(folder_of(file.name) for file in self.plan.changed)
        created: Counter[str] = Counter()
        stay = {file.name for file in self.plan.unchanged}
        old = await in_thread(chunk_hashes, self._before, stay) if self._before is not None else Counter[str]()
        files = sorted((*self.plan.changed, *self.plan.unchanged), key=lambda file: file.name)
        for number, file in enumerate(files):
            found = await in_thread(self._read if file.name in changed else self._copy, file)
            if found is not None:
                entry, chunks = found
                await in_thread(builder.add_file, entry, chunks)
                await self._embedding.add(chunks)
                self._positions[file.name] = entry.position
                if file.name in changed and file.name not in self._kept:
                    hashes = Counter(chunk.content_hash for chunk in chunks)
                    created[folder_of(file.name)] += (hashes - old).total()
                    old -= hashes
            if file.name in changed:
                folder = folder_of(file.name)
                left[folder] -= 1
                if not left[folder]:
                    self.options.progress(FolderDone(name=folder, chunks=created[folder]))
            self._tell(number + 1, len(files))
        await in_thread(builder.order_files, self._order())

    def _order(self) -> list[str]:
        return sorted(self._positions, key=lambda name: self.book.reading_key(name, self._positions[name]))

    async def _prepare(self, builder: GenerationBuilder) -> None:
        """Add the entries prepared for readers to the book, and report those that do not fit."""
        checked = await in_thread(self._checked, builder)
        same = self.current is not None and read_manifest(self.current).embedder == self.tools.embedder.name
        before = await in_thread(_companion_in, self.current) if same and self.current is not None else None
        known = [item for item in before.entries if item.entry.author == BY_THE_BOOK] if before is not None else []
        # What is read anew is asked for anew.
        changed = {file.name for file in self.plan.changed}
        earlier = [item for item in known if item.entry.file not in changed]
        if self.tools.extract is not None and earlier:
            checked = replace(checked, entries=await in_thread(self._with, builder.book_file, checked.entries, earlier))
        await write_companion(builder.directory, checked.entries, self.tools.embedder, before)
        notices = tuple(checked.notices)
        self._count(IngestSummary(prepared=len(checked.entries), set_aside=len(notices), notices=notices))
        self._is_extracted = bool(earlier)

    def _checked(self, builder: GenerationBuilder) -> Checked:
        names = self._order()
        fitting = self._fitting(builder.book_file)
        return check_files(self.companions, fitting, names, self.decisions, self.own_companions)

    def _fitting(self, book_file: Callable[[str], Read | None]) -> Fitting:
        def read(name: str) -> tuple[str, Sequence[Chunk]] | None:
            found = book_file(name)
            return (found[0].source, found[1]) if found is not None else None

        return Fitting(read, self._order(), self.tools.holds)

    def _with(
        self, book_file: Callable[[str], Read | None], known: Sequence[Prepared], more: Sequence[Prepared | Entry]
    ) -> tuple[Prepared, ...]:
        """Entries with those of the book's own words that still fit it, in its order."""
        fitting, found = self._fitting(book_file), {key_of(item.entry): item for item in known}
        for item in more:
            entry = item.entry if isinstance(item, Prepared) else item
            with suppress(MisfitError):  # the book has changed there
                found.setdefault(key_of(entry), fitting.fitted(entry))
        return in_order(found.values(), self._order())

    async def _add_extracted(self, directory: Path, extract: Extract) -> None:
        """Add entries of the book's own words, for which it is asked as readers will ask it."""
        changed = {file.name for file in self.plan.changed} if self._is_extracted else None
        generation = await open_generation(directory, self.tools.store)
        try:
            published = generation.companion
            more = [entry async for entry in extract(generation, changed)]
        finally:
            await generation.close()
        if not more:
            return
        with closing(sqlite.connect(directory / PASSAGES, readonly=True)) as passages:
            entries = await in_thread(self._with, partial(read_book_file, passages), published.entries, more)
        await write_companion(directory, entries, self.tools.embedder, published)
        await in_thread(lambda: write_manifest(directory, read_manifest(directory)))
        self._summary = msgspec.structs.replace(self._summary, prepared=len(entries))

    def _read(self, file: SourceFile) -> Read | None:
        """Read and cut one file; if that fails, keep the index's version of it."""
        try:
            return self._cut(file)
        except DocumentError as error:
            problem = error.detail
        except LutrinError:
            raise
        except Exception as error:  # noqa: BLE001 - a parser's bug on one file must cost that file, not the run
            problem = f"{file.name}: cannot be understood ({type(error).__name__}: {error})"
        before = self._copy(file)
        if before is not None:
            self._kept.add(file.name)
            problem += " The index keeps its earlier state."
        else:
            reason = problem.removeprefix(f"{file.name}: ").rstrip(".")
            left_out = LeftOut(filename=file.name, reason=reason, book=self.book.info.slug)
            self._count(IngestSummary(left_out=(left_out,)))
        self._count(IngestSummary(failed=1, errors=(problem,)))
        return before

    def _cut(self, file: SourceFile) -> Read:
        state = self.plan.states.get(file.name)
        document = read_document(
            file, self.book, password=self.options.password, lenient=self.options.lenient, ocr=self.settings.ocr
        )
        if state is None:
            raise DocumentError(file.name, "changed while it was read; ingest again")
        target, overlap = self.settings.chunk_tokens, self.settings.chunk_overlap_tokens
        chunks = chunk_document(document, self.book.info, self.tools.embedder.token_offsets, target, overlap)
        chunks = with_world(with_places(document, chunks))
        known = self.plan.known.get(file.name)
        updated = int(known is not None and known.sha256 != state.sha256)
        notices = (*document.notices, *chunk_notices(document, chunks, target))
        self._count(IngestSummary(processed=1, updated=updated, notices=notices))
        entry = BookFile(
            filename=document.filename,
            title=document.title,
            module=document.module,
            chapter=document.chapter,
            section=document.section,
            position=document.position,
            sha256=state.sha256,
            source=document.source,
        )
        return entry, chunks

    def _copy(self, file: SourceFile) -> Read | None:
        """A file and its chunks as the current generation has them."""
        return read_book_file(self._before, file.name) if self._before is not None else None

    def _compare(self, builder: GenerationBuilder) -> IngestSummary:
        """Numbers of chunks that are new, unchanged, and gone."""
        new = builder.chunk_hashes()
        old = chunk_hashes(self._before) if self._before is not None else Counter[str]()
        return IngestSummary(
            chunks_created=(new - old).total(), chunks_reused=(new & old).total(), chunks_removed=(old - new).total()
        )

    def _tell(self, done: int, total: int) -> None:
        self.options.progress(
            Advance(
                book=self.book.info.slug,
                files_done=done,
                files_total=total,
                chunks_embedded=self._embedding.done,
                chunks_to_embed=self._embedding.wanted,
            )
        )


def _companion_in(directory: Path) -> Companion | None:
    """A generation's companion, as a source of encoded questions; None if it cannot be read."""
    try:
        return Companion.open(directory)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


def put_in_place(building: Path, target: Path) -> str:
    """Give a finished folder its name, durably; return the SHA-256 of its manifest."""
    sync_tree(building)
    digest = manifest_hash(building)
    building.rename(target)
    sync(target.parent)
    sync(target.parent.parent)
    return digest
