"""An ingest from end to end: find changes, build, verify, publish. The old index can be used at any time.

A new generation of a book is built in a hidden folder beside the published ones: changed files are read, the others
copied from the current generation. It is synced, read back in a fresh process, and renamed. One transaction in the
catalogue makes it the current one. The next ingest removes the leftovers of a killed one, and reuses its committed
embeddings.
"""

import asyncio
import hashlib
import shutil
import time
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

import lutrin
from lutrin import sqlite
from lutrin.errors import (
    DocumentError,
    EmptyCorpus,
    IndexUnavailable,
    InvalidInput,
    LutrinError,
    VerificationFailed,
)
from lutrin.index.build import (
    BUILDING,
    BookFile,
    GenerationBuilder,
    chunk_hashes,
    collection_name,
    live_hashes,
    put_in_place,
    read_book_file,
    read_places,
)
from lutrin.index.catalog import Catalog, FileState, PublishedBook
from lutrin.index.companion import Companion, write_companion
from lutrin.index.decisions import for_ingest
from lutrin.index.disk import explain_failure
from lutrin.index.embeddings import EmbeddingCache
from lutrin.index.generation import PASSAGES, VECTORS, is_whole, open_generation
from lutrin.index.manifest import (
    FORMAT_VERSION,
    TRASH,
    is_older,
    manifest_hash,
    read_manifest,
    remove_retired,
    write_manifest,
)
from lutrin.index.readback import Verify
from lutrin.ingest.books import Book
from lutrin.ingest.chunk import chunk_document, chunk_notices
from lutrin.ingest.companion_file import (
    Extract,
    Fitting,
    Holds,
    MisfitError,
    check_files,
    companion_path,
    extraction_of,
    fingerprint_of,
    in_order,
    own_files,
)
from lutrin.ingest.discover import Discovery, discover
from lutrin.ingest.documents import read_document
from lutrin.ingest.formats import suffixes_in_words
from lutrin.ingest.labels import with_places, with_world
from lutrin.ingest.lock import ingest_lock
from lutrin.ingest.scan import SourceFile
from lutrin.ingest.summary import Advance, BookReport, FolderReport, IngestSummary, Progress, silent
from lutrin.log import get_logger
from lutrin.platform import give_back
from lutrin.ports import Embedder, VectorStore
from lutrin.prepared import BY_THE_BOOK, Entry, PreparedEntry, key_of
from lutrin.records import Chunk, LeftOut
from lutrin.settings import Settings
from lutrin.threads import in_thread

Read = tuple[BookFile, list[Chunk]]
YOUNG_NS = 2_000_000_000
"""A file that changed within the last two seconds may change again without a new time (coarse file-system clocks)."""
BATCH = 32
"""Passages embedded between two commits; at most this many are lost if the process dies. Until then their token vectors
stay in memory at full width, half a megabyte a passage."""
REMOVED = "was removed on the teacher's page, where it can be brought back"
NOT_UNDERSTOOD = "cannot be understood; open it in the program that made it and save it again"
_SHOWN = 20
"""Most files named in a message."""
_log = get_logger("ingest")


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
    """Checks unapproved prepared entries; None: only their places count."""
    extract: Extract | None = None
    """Extracts entries from a book's own words; None: only written entries are used."""


@dataclass(frozen=True, slots=True)
class Options:
    """Requests for one ingest; an empty slug, title or edition keeps the book's own."""

    slug: str = ""
    title: str = ""
    edition: str = ""
    rebuild: bool = False
    """Read every file again; embeddings are still taken from the cache."""
    password: str = ""
    """Password of encrypted PDFs."""
    keep_missing: bool = False
    """Keep books whose files are missing, for example on an unplugged disk."""
    lenient: bool = False
    """Read pages that MDX would refuse as far as possible."""
    progress: Progress = silent
    """Called after each folder, and often in between."""


DEFAULTS = Options()


async def ingest(corpus: Path, settings: Settings, tools: IngestTools, options: Options = DEFAULTS) -> IngestSummary:
    """Update the index to the present state of a folder of books, if no other ingest is running.

    Raises:
        IngestInProgress: Another process is ingesting; raised at once.
        LutrinError: `ingest_alone` failed.
    """
    with ingest_lock(settings.data_dir):
        return await ingest_alone(corpus, settings, tools, options)


async def ingest_alone(corpus: Path, settings: Settings, tools: IngestTools, options: Options) -> IngestSummary:
    """Update the index to the present state of a folder of books; the caller holds `lutrin.ingest.lock.ingest_lock`.

    Raises:
        EmptyCorpus: There is nothing to read.
        InvalidInput, DocumentError: No book can be read as its `book.toml` describes it, or the options name one book
            and there are several.
        VerificationFailed: A new index did not read back as written; the old one stays in use.
        NotEnoughSpace, IngestError: The disk is full or broken; the old index stays in use.
        WeightsError: The embedding model cannot be used.
    """
    started = time.perf_counter()
    try:
        discovery = await asyncio.to_thread(_find, corpus, settings, options)
        with Catalog(settings.catalog_path) as catalog:
            resolved = await asyncio.to_thread(corpus.resolve)
            summary = await _Ingest(resolved, settings, tools, options, catalog).all_books(discovery)
    except (OSError, sqlite.DatabaseError, IndexUnavailable, VerificationFailed) as error:
        raise explain_failure(error, settings.data_dir) or error from error
    return summary.plus(IngestSummary(seconds=round(time.perf_counter() - started, 3)))


def _find(corpus: Path, settings: Settings, options: Options) -> Discovery:
    """Find the books of a corpus with their files, and the files that are in no book."""
    if not corpus.exists():
        raise EmptyCorpus(f"There is no folder {corpus}.", remedy="Put your books there, or name another one.")
    shelf = corpus.resolve() == settings.corpus_dir.resolve()
    discovery = discover(corpus, shelf=shelf, slug=options.slug, title=options.title, edition=options.edition)
    # A book without files counts as gone.
    books = [(book, files) for book, files in discovery.books if files]
    if not books and discovery.broken:
        raise InvalidInput("; ".join(discovery.broken.values()) + ".")
    if not books:
        reasons = "".join(f"\n  {item.line()}." for item in discovery.left_out[:_SHOWN])
        raise EmptyCorpus(f"{corpus} holds no {suffixes_in_words()} file.{reasons}", remedy="Put your books there.")
    return replace(discovery, books=books)


@dataclass(frozen=True, slots=True)
class _Ingest:
    corpus: Path
    settings: Settings
    tools: IngestTools
    options: Options
    catalog: Catalog

    async def all_books(self, discovery: Discovery) -> IngestSummary:
        catalog, books_dir, embedder = self.catalog, self.settings.books_dir, self.tools.embedder
        await in_thread(tidy, catalog, books_dir)
        cache = EmbeddingCache(catalog, embedder.name, embedder.dimension, embedder.reading.projection)
        summary = IngestSummary()
        removed = {slug for slug, choice in catalog.choices().items() if choice.removed}
        for book, files in discovery.books:
            if book.info.slug in removed:
                off = LeftOut(filename=files[0].name, reason=REMOVED, book=book.info.slug)
                summary = summary.plus(IngestSummary(left_out=(off,)))
                continue
            work = await in_thread(_BookIngest, self, cache, book, files)
            summary = summary.plus(await work.run())
            root = book.root.resolve()
            place = root.relative_to(self.corpus).as_posix() if root.is_relative_to(self.corpus) else ""
            here = BookReport(slug=book.info.slug, title=book.info.title, files=len(files), make=book.make, root=place)
            summary = summary.plus(IngestSummary(books=(here,)))
        errors = tuple(discovery.broken.values())
        rest = IngestSummary(failed=len(errors), errors=errors, removed=self._withdraw(discovery))
        summary = summary.plus(rest).plus(IngestSummary(left_out=tuple(discovery.left_out)))
        catalog.keep_left_out(str(self.corpus), summary.left_out)
        if summary.published or summary.removed:
            await in_thread(tidy, catalog, books_dir)
            await in_thread(cache.prune, await in_thread(live_hashes, books_dir, catalog.live()))
        # Always tell the vector store the current generation: the ingest that published it may have been killed.
        for one in catalog.books():
            folder = books_dir / one.info.slug
            previous = [folder / one.previous / VECTORS] if one.previous else []
            await self.tools.store.settle(collection_name(one.info), folder / one.current / VECTORS, previous)
        return summary

    def _withdraw(self, discovery: Discovery) -> int:
        """Withdraw books of this corpus that are gone from it; keep one with a broken description."""
        removed = 0
        if self.options.keep_missing:
            return removed
        slugs = {book.info.slug for book, _ in discovery.books}
        broken = {str(root.resolve()) for root in discovery.broken}
        for published in self.catalog.books():
            slug = published.info.slug
            if published.corpus == str(self.corpus) and slug not in slugs and published.root not in broken:
                removed += len(self.catalog.files(slug))
                self.catalog.withdraw(slug)
                _log.info("ingest.withdrawn", book=slug)
        return removed


class _BookIngest:
    """The work on one book."""

    def __init__(self, ingest: _Ingest, cache: EmbeddingCache, book: Book, files: Sequence[SourceFile]) -> None:
        self.catalog, self.cache, self.book, self.corpus = ingest.catalog, cache, book, ingest.corpus
        self.settings, self.tools, self.options = ingest.settings, ingest.tools, ingest.options
        slug = book.info.slug
        self.recipe = _recipe(book, self.settings, self.tools.embedder.name)
        published = self.catalog.book(slug)
        self.current = self._intact(published)
        """Folder of the current generation."""
        self.manifest = read_manifest(self.current) if self.current is not None else None
        is_as_before = self.manifest is not None and published is not None and published.recipe == self.recipe
        everything = self.options.rebuild or not is_as_before
        former, now_ns = self.catalog.files(slug), self.tools.clock_ns()
        places = self._places()
        keys = {name: self.book.reading_key(name, position) for name, (*_, position) in places.items()}
        self.is_reordered = sorted(keys, key=keys.__getitem__) != list(keys)
        """Whether folders or contents put the indexed files in another order."""
        moved = {name for name, (title, *place, _) in places.items() if self.book.place(name, title) != (*place,)}
        self.plan = _make_plan(files, former, everything=everything, now_ns=now_ns, moved=moved)
        self.changed = {file.name for file in self.plan.changed}
        self.companions = (companion_path(book), self.settings.studied_path(slug))
        """Files with entries prepared for the book's readers; they may be missing."""
        self.own = own_files(self.companions, self.companions[1], self.settings.approved_path)
        """The trusted ones among them."""
        self.decisions = for_ingest(self.catalog, slug)
        extracts = self.tools.extract is not None
        self.companion = fingerprint_of(self.companions, self.decisions, self.own, extracts=extracts)
        self.summary = IngestSummary(unchanged=len(self.plan.unchanged), removed=len(self.plan.removed))
        self.embedding = _Embedding(self.tools.embedder, cache)
        self.positions: dict[str, float | None] = {}
        """`sidebar_position` of each file in the new generation."""
        self.stale: set[str] = set()
        """Unreadable files, whose indexed version is kept."""
        self.before: sqlite.Connection | None = None

    def _places(self) -> Mapping[str, tuple[str, str, str, float | None]]:
        """Title, part, chapter and place of each indexed file."""
        if self.current is None:
            return {}
        with closing(sqlite.connect(self.current / PASSAGES, readonly=True)) as passages:
            return read_places(passages)

    def _intact(self, published: PublishedBook | None) -> Path | None:
        """The current generation's folder if it is as published and has the current format.

        Nothing is copied from a damaged one: its text would pass for the book's.
        """
        if published is None:
            return None
        directory = self.settings.books_dir / published.info.slug / published.current
        intact = manifest_hash(directory) == published.manifest_sha256 and not is_older(directory)
        return directory if intact and is_whole(directory) else None

    async def run(self) -> IngestSummary:
        """Publish a new generation if anything has changed.

        Raises:
            VerificationFailed: It did not read back as written.
            IndexUnavailable, OSError, DatabaseError: It could not be written.
            WeightsError: The embedding model cannot be used.
        """
        slug = self.book.info.slug
        if self.plan.touched:
            self.catalog.touch(slug, self.plan.touched)
        is_same = self.manifest is not None and self.manifest.companion == self.companion
        if not self.plan.changed and not self.plan.removed and is_same and not self.is_reordered:
            return self.summary
        name = f"{self.catalog.next_number():06d}-{self.recipe[:8]}"
        created = self.tools.now().isoformat(timespec="seconds")
        digest = await self._build(name, created)
        if digest:
            published = PublishedBook(
                info=self.book.info, corpus=str(self.corpus), recipe=self.recipe, current=name, previous=None,
                manifest_sha256=digest, root=str(self.book.root.resolve()),
            )  # fmt: skip
            states = [(self.plan.former if one in self.stale else self.plan.states)[one] for one in self.positions]
            self.catalog.publish(published, published=created, files=states)
            _log.info("ingest.published", book=slug, generation=name)
            self._count(IngestSummary(published=(f"{slug} {name}",)))
        return self.summary

    async def _build(self, name: str, created: str) -> str:
        """Build and verify a generation; return its manifest's hash, empty if there is nothing new to publish."""
        home = self.settings.books_dir / self.book.info.slug
        building = home / f"{BUILDING}{name}"
        await asyncio.to_thread(building.mkdir, parents=True)
        builder = GenerationBuilder(building)
        if self.current is not None:
            self.before = sqlite.connect(self.current / PASSAGES, readonly=True)
        try:
            await self._fill(builder)
            prepared = self.manifest is not None and self.manifest.companion != self.companion
            if not self.positions or not (self.summary.processed or self.plan.removed or prepared or self.is_reordered):
                return ""  # only files that cannot be read
            self._count(await in_thread(self._compare, builder))
            await self.embedding.finish()
            self._count(IngestSummary(texts_embedded=self.embedding.done))
            await in_thread(give_back)
            self._tell(len(self.positions), len(self.positions))
            is_extracted = await self._prepare(builder)
            await builder.finish(
                name=name, book=self.book.info, created=created, embedder=self.tools.embedder, recipe=self.recipe,
                cache=self.cache, store=self.tools.store, companion=self.companion,
            )  # fmt: skip
            if self.tools.extract is not None:
                await self._add_extracted(building, self.tools.extract, self.changed if is_extracted else None)
            await in_thread(give_back)  # free memory before the verifying process starts
            await self.tools.verify(building)
            return await asyncio.to_thread(put_in_place, building, home / name)
        finally:
            await self.embedding.cancel()
            builder.close()
            if self.before is not None:
                self.before.close()
            await asyncio.to_thread(shutil.rmtree, building, ignore_errors=True)

    def _count(self, figures: IngestSummary) -> None:
        self.summary = self.summary.plus(figures)

    def _tell(self, done: int, total: int) -> None:
        self.options.progress(
            Advance(
                book=self.book.info.slug,
                files_done=done,
                files_total=total,
                chunks_embedded=self.embedding.done,
                chunks_to_embed=len(self.embedding.wanted),
            )
        )

    async def _fill(self, builder: GenerationBuilder) -> None:
        """Add every file to the new generation, sorted by name, so that equal books give equal rows."""
        left = Counter(map(_folder_of, self.changed))
        created: Counter[str] = Counter()
        stay = {file.name for file in self.plan.unchanged}
        old = await in_thread(chunk_hashes, self.before, stay) if self.before is not None else Counter[str]()
        files = sorted((*self.plan.changed, *self.plan.unchanged), key=lambda file: file.name)
        for number, file in enumerate(files):
            is_changed, folder = file.name in self.changed, _folder_of(file.name)
            result = await in_thread(self._read if is_changed else self._copy, file)
            if result is not None:
                entry, chunks = result
                await in_thread(builder.add_file, entry, chunks)
                await self.embedding.add(chunks)
                self.positions[file.name] = entry.position
                if is_changed and file.name not in self.stale:
                    hashes = Counter(chunk.content_hash for chunk in chunks)
                    created[folder] += (hashes - old).total()
                    old -= hashes
            left[folder] -= is_changed
            if is_changed and not left[folder]:
                self.options.progress(FolderReport(name=folder, chunks=created[folder]))
            self._tell(number + 1, len(files))
        await in_thread(builder.order_files, self._order())

    def _order(self) -> list[str]:
        return sorted(self.positions, key=lambda name: self.book.reading_key(name, self.positions[name]))

    def _compare(self, builder: GenerationBuilder) -> IngestSummary:
        new = chunk_hashes(builder.passages)
        old = chunk_hashes(self.before) if self.before is not None else Counter[str]()
        return IngestSummary(
            chunks_created=(new - old).total(), chunks_reused=(new & old).total(), chunks_removed=(old - new).total()
        )

    def _read(self, file: SourceFile) -> Read | None:
        """Read and cut one file; on failure, keep its indexed version."""
        known = True
        try:
            return self._cut(file)
        except DocumentError as error:
            problem = error.detail
        except LutrinError:
            raise
        except Exception as error:  # noqa: BLE001 - a parser's bug on one file must cost that file, not the run
            problem, known = f"{file.name}: cannot be understood ({type(error).__name__}: {error})", False
        before = self._copy(file)
        reason = problem.removeprefix(f"{file.name}: ").rstrip(".") if known else NOT_UNDERSTOOD
        if before is not None:
            self.stale.add(file.name)
            problem += " The index keeps its earlier state."
            reason += "; what was read of it before is kept"
        left_out = LeftOut(filename=file.name, reason=reason, book=self.book.info.slug)
        self._count(IngestSummary(left_out=(left_out,)))
        self._count(IngestSummary(failed=1, errors=(problem,)))
        return before

    def _cut(self, file: SourceFile) -> Read:
        state, settings = self.plan.states.get(file.name), self.settings
        document = read_document(
            file, self.book, password=self.options.password, lenient=self.options.lenient, ocr=settings.ocr
        )
        if state is None:
            raise DocumentError(file.name, "changed while it was read; ingest again")
        offsets, target = self.tools.embedder.token_offsets, settings.chunk_tokens
        chunks = chunk_document(document, self.book.info, offsets, target, settings.chunk_overlap_tokens)
        chunks = with_world(with_places(document, chunks))
        before = self.plan.former.get(file.name)
        updated = int(before is not None and before.sha256 != state.sha256)
        notices = (*document.notices, *chunk_notices(document, chunks, target))
        self._count(IngestSummary(processed=1, updated=updated, notices=notices))
        names = (name for name in BookFile.__struct_fields__ if name != "sha256")
        return BookFile(**{name: getattr(document, name) for name in names}, sha256=state.sha256), chunks

    def _copy(self, file: SourceFile) -> Read | None:
        """A file and its chunks from the current generation."""
        return read_book_file(self.before, file.name) if self.before is not None else None

    async def _prepare(self, builder: GenerationBuilder) -> bool:
        """Add the entries prepared for readers, and report those that do not fit.

        Return whether they include earlier entries from the book's own words.
        """
        fitting = self._fitting(builder.passages)
        entries, notices = await in_thread(check_files, self.companions, fitting, self.decisions, self.own)
        same = self.manifest is not None and self.manifest.embedder == self.tools.embedder.name
        before = await in_thread(_companion_in, self.current) if same and self.current is not None else None
        # Changed files need new extraction, and so does everything after a change of the method.
        is_kept = self.manifest is not None and extraction_of(self.manifest.companion) == extraction_of(self.companion)
        previous = (item.entry for item in (before.entries if before is not None and is_kept else ()))
        earlier = [entry for entry in previous if entry.author == BY_THE_BOOK and entry.file not in self.changed]
        if self.tools.extract is not None:
            entries = await in_thread(_with_extracts, fitting, entries, earlier)
        await write_companion(builder.directory, entries, self.tools.embedder, before)
        self._count(IngestSummary(prepared=len(entries), set_aside=len(notices), notices=notices))
        return bool(earlier)

    def _fitting(self, passages: sqlite.Connection) -> Fitting:
        def read(name: str) -> tuple[str, Sequence[Chunk]] | None:
            file = read_book_file(passages, name)
            return (file[0].source, file[1]) if file is not None else None

        return Fitting(read, self._order(), self.tools.holds)

    async def _add_extracted(self, directory: Path, extract: Extract, files: set[str] | None) -> None:
        """Add entries from the book's own words (of some files, or all), with the questions that readers will ask."""
        generation = await open_generation(directory, self.tools.store)
        try:
            published = generation.companion
            more = [entry async for entry in extract(generation, files)]
        finally:
            await generation.close()
        if not more:
            return
        with closing(sqlite.connect(directory / PASSAGES, readonly=True)) as passages:
            entries = await in_thread(_with_extracts, self._fitting(passages), published.entries, more)
        await write_companion(directory, entries, self.tools.embedder, published)
        await in_thread(lambda: write_manifest(directory, read_manifest(directory)))
        self._count(IngestSummary(prepared=len(entries) - len(published.entries)))


def _with_extracts(
    fitting: Fitting, entries: Sequence[PreparedEntry], more: Iterable[Entry]
) -> tuple[PreparedEntry, ...]:
    """Entries plus those from the book's own words that still fit, in the order of the book."""
    by_key = {key_of(item.entry): item for item in entries}
    for entry in more:
        with suppress(MisfitError):  # the book has changed there
            by_key.setdefault(key_of(entry), fitting.fit(entry))
    return in_order(by_key.values(), fitting.names)


def _companion_in(directory: Path) -> Companion | None:
    """A generation's companion, as a source of encoded questions; None if it is unreadable."""
    try:
        return Companion.open(directory)
    except (OSError, ValueError, msgspec.MsgspecError):
        return None


class _Embedding:
    """Collects passages without an embedding and embeds them in the background, each text once.

    Its calls raise WeightsError if the model cannot be used.
    """

    def __init__(self, embedder: Embedder, cache: EmbeddingCache) -> None:
        self._embedder = embedder
        self._cache = cache
        self.wanted: set[str] = set()
        """Hashes of the texts to embed, among the passages seen so far."""
        self._pending: dict[str, str] = {}
        self._running: asyncio.Task[None] | None = None
        self.done = 0
        """Texts embedded so far."""

    async def add(self, chunks: Iterable[Chunk]) -> None:
        """Take passages; return at once unless the next batch is full while one is still being embedded."""
        texts = {one.content_hash: one.embedded_text() for one in chunks if one.content_hash not in self.wanted}
        for name in await in_thread(self._cache.missing, texts):
            self.wanted.add(name)
            self._pending[name] = texts[name]
        while len(self._pending) >= BATCH:
            await self._start()

    async def finish(self) -> None:
        while self._pending:
            await self._start()
        await self._settle()

    async def cancel(self) -> None:
        """Drop the running batch; committed ones stay."""
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait([self._running])

    async def _start(self) -> None:
        await self._settle()
        batch = {name: self._pending.pop(name) for name in list(self._pending)[:BATCH]}
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
class _Plan:
    """The files of one book, sorted by what happens to them."""

    former: Mapping[str, FileState]
    """States of all files in the current generation, by name."""
    changed: list[SourceFile] = field(default_factory=list)
    """Files that are new, have new content, or must be read again because the recipe or their place changed."""
    unchanged: list[SourceFile] = field(default_factory=list)
    touched: list[FileState] = field(default_factory=list)
    """States of unchanged files with new times."""
    states: dict[str, FileState] = field(default_factory=dict)
    """States of all readable files, by name."""
    removed: Sequence[str] = ()
    """Indexed names that are gone from the folder."""


def _make_plan(
    files: Sequence[SourceFile],
    former: Mapping[str, FileState],
    *,
    everything: bool,
    now_ns: int,
    moved: Container[str] = (),
) -> _Plan:
    """Detect changes: by size and time (nanoseconds since the epoch), and if these differ, by SHA-256.

    Unchanged files are read again if `everything` is set or their name is in `moved`.
    """
    plan = _Plan(former, removed=[*former.keys() - {file.name for file in files}])
    for file in files:
        before = former.get(file.name)
        try:
            state = plan.states[file.name] = _look(file, before, now_ns)
        except DocumentError:
            plan.changed.append(file)  # reading it will report the fault
            continue
        if everything or before is None or before.sha256 != state.sha256 or file.name in moved:
            plan.changed.append(file)
        else:
            plan.unchanged.append(file)
            plan.touched += [state] if state != before else []
    return plan


def _look(file: SourceFile, before: FileState | None, now_ns: int) -> FileState:
    """The state of a file; reads its content only if size or time suggest a change.

    Raises:
        DocumentError: It cannot be read.
    """
    try:
        status = (file.root / file.name).stat(follow_symlinks=False)
    except OSError as error:
        raise DocumentError(file.name, f"cannot be read ({error.strerror or error})") from None
    # Programs can set st_mtime back, but not st_ctime.
    changed_ns = max(status.st_mtime_ns, status.st_ctime_ns)
    if before is not None and before.changed_ns and (before.size, before.changed_ns) == (status.st_size, changed_ns):
        return before
    return FileState(
        filename=file.name,
        size=status.st_size,
        changed_ns=changed_ns if now_ns - changed_ns > YOUNG_NS else 0,
        sha256=file.sha256,
    )


def _recipe(book: Book, settings: Settings, embedder: str) -> str:
    """A fingerprint of everything that determines a file's chunks, besides its content and its place in the book.

    It includes the program's version, because a new release may read files better. Embeddings of unchanged texts are
    still reused.
    """
    simulated = sorted(
        (name, folder.is_simulation) for name, folder in book.folders.items() if folder.is_simulation is not None
    )
    facts = (
        lutrin.__version__, FORMAT_VERSION, book.info, simulated,
        book.simulation, settings.chunk_tokens, settings.chunk_overlap_tokens, settings.ocr, embedder,
    )  # fmt: skip
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()


def _folder_of(filename: str) -> str:
    """The name of a step for an operator: the file's folder, or the file itself at the top level."""
    path = Path(filename)
    return path.parent.name or path.name


def tidy(catalog: Catalog, books_dir: Path) -> None:
    """Remove the leftovers of killed ingests, and unused generations.

    Only the holder of the ingest lock may call this, since another ingest may be using an unfinished folder.
    """
    names = {*catalog.live(), *(name for _, name in catalog.retired_generations())}
    for folder in books_dir.glob("*/*"):
        if folder.parent.is_symlink():
            continue  # what it leads to is not ours
        if folder.name.startswith((BUILDING, TRASH)) or folder.name not in names:
            with suppress(FileNotFoundError):  # a server may be deleting it, too
                shutil.rmtree(folder)
    catalog.forget(remove_retired(books_dir, catalog.retired_generations()))
