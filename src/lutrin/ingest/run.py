"""An ingest from end to end: find changes, build, verify, publish. The old index can be served at any time.

A new generation is built in a hidden folder beside the published ones, synced, read back in a fresh process, and
renamed. One transaction in the catalogue makes it the current one. What a killed ingest left behind is removed by the
next one, which reuses the committed embeddings.
"""

import asyncio
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from lutrin import sqlite
from lutrin.errors import EmptyCorpus, IndexUnavailable, InvalidInput, VerificationFailed
from lutrin.index.build import collection_name
from lutrin.index.catalog import Catalog, PublishedBook
from lutrin.index.decisions import for_ingest
from lutrin.index.disk import TRASH, explain_failure
from lutrin.index.embeddings import EmbeddingCache
from lutrin.index.generation import VECTORS, is_whole
from lutrin.index.manifest import is_older, manifest_hash, read_manifest
from lutrin.index.retired import live_hashes, remove_retired
from lutrin.ingest.book import BUILDING, DEFAULTS, BookIngest, IngestTools, Options
from lutrin.ingest.books import Book
from lutrin.ingest.changes import make_plan, recipe
from lutrin.ingest.companion_file import companion_path, fingerprint_of, own_files
from lutrin.ingest.discover import Discovery, discover
from lutrin.ingest.formats import suffixes_in_words
from lutrin.ingest.lock import ingest_lock
from lutrin.ingest.scan import SourceFile
from lutrin.ingest.summary import BookFound, IngestSummary
from lutrin.log import get_logger
from lutrin.settings import Settings
from lutrin.threads import in_thread


async def ingest(corpus: Path, settings: Settings, tools: IngestTools, options: Options = DEFAULTS) -> IngestSummary:
    """Bring the index up to what a folder of books holds now, if no other ingest is running.

    Raises:
        IngestInProgress: Another process is ingesting; raised at once.
        LutrinError: `ingest_alone` failed.
    """
    with ingest_lock(settings.data_dir):
        return await ingest_alone(corpus, settings, tools, options)


async def ingest_alone(corpus: Path, settings: Settings, tools: IngestTools, options: Options) -> IngestSummary:
    """Bring the index up to what a folder of books holds now; the caller holds `lutrin.ingest.lock.ingest_lock`.

    Raises:
        EmptyCorpus: There is nothing to read.
        InvalidInput, DocumentError: No book can be read as its `book.toml` describes it, or one is named of several.
        VerificationFailed: A new index did not read back as it was written; the old one serves.
        NotEnoughSpace, IngestError: The disk is full or broken; the old index serves.
        WeightsError: The embedding model cannot be used.
    """
    started = time.perf_counter()
    try:
        summary = await _Ingest(corpus, settings, tools, options).all_books()
    except (OSError, sqlite.DatabaseError, IndexUnavailable, VerificationFailed) as error:
        raise explain_failure(error, settings.data_dir) or error from error
    return summary.plus(IngestSummary(seconds=round(time.perf_counter() - started, 3)))


_SHOWN = 20
"""Most files that a message names."""
_log = get_logger("ingest")


@dataclass(frozen=True, slots=True)
class _Ingest:
    corpus: Path
    settings: Settings
    tools: IngestTools
    options: Options

    async def all_books(self) -> IngestSummary:
        found = await asyncio.to_thread(self._find)
        corpus = str(self.corpus.resolve())
        with Catalog(self.settings.catalog_path) as catalog:
            await in_thread(tidy, catalog, self.settings.books_dir)
            embedder = self.tools.embedder
            cache = EmbeddingCache(catalog, embedder.name, embedder.dimension, embedder.reading.projection)
            summary = IngestSummary()
            for book, files in found.books:
                summary = summary.plus(await self._one_book(catalog, cache, book, files))
                summary = summary.plus(IngestSummary(books=(self._description(book, files),)))
            summary = summary.plus(IngestSummary(failed=len(found.broken), errors=tuple(found.broken.values())))
            summary = summary.plus(self._withdraw(catalog, found))
            summary = summary.plus(IngestSummary(left_out=tuple(found.left_out)))
            catalog.keep_left_out(corpus, summary.left_out)
            if summary.published or summary.removed:
                await in_thread(tidy, catalog, self.settings.books_dir)
                live = await in_thread(live_hashes, self.settings.books_dir, catalog.live())
                await in_thread(cache.prune, live)
            await self._settle(catalog)
            return summary

    def _find(self) -> Discovery:
        """Find the books of the corpus with their files, and the files that are in no book."""
        if not self.corpus.exists():
            raise EmptyCorpus(f"There is no folder {self.corpus}.", remedy="Put your books there, or name another one.")
        found = discover(
            self.corpus,
            shelf=self.corpus.resolve() == self.settings.corpus_dir.resolve(),
            slug=self.options.slug,
            title=self.options.title,
            edition=self.options.edition,
        )
        # A book without files is treated as one that is gone.
        books = [(book, files) for book, files in found.books if files]
        if not books and found.broken:
            raise InvalidInput("; ".join(found.broken.values()) + ".")
        if not books:
            reasons = "".join(f"\n  {item.line()}." for item in found.left_out[:_SHOWN])
            raise EmptyCorpus(
                f"{self.corpus} holds no {suffixes_in_words()} file.{reasons}", remedy="Put your books there."
            )
        return replace(found, books=books)

    def _description(self, book: Book, files: Sequence[SourceFile]) -> BookFound:
        root = book.root.resolve()
        base = self.corpus.resolve()
        place = root.relative_to(base).as_posix() if root.is_relative_to(base) else ""
        return BookFound(slug=book.info.slug, title=book.info.title, files=len(files), make=book.make, root=place)

    async def _one_book(
        self, catalog: Catalog, cache: EmbeddingCache, book: Book, files: Sequence[SourceFile]
    ) -> IngestSummary:
        slug = book.info.slug
        fingerprint = recipe(book, self.settings, self.tools.embedder.name)
        published = catalog.book(slug)
        current = self._intact(published)
        everything = self.options.rebuild or current is None or published is None or published.recipe != fingerprint
        plan = await asyncio.to_thread(
            make_plan, files, catalog.files(slug), everything=everything, now_ns=self.tools.clock_ns()
        )
        summary = IngestSummary(unchanged=len(plan.unchanged), removed=len(plan.removed))
        if plan.touched:
            catalog.touch(slug, plan.touched)
        companions = (companion_path(book), self.settings.studied_path(slug))
        decisions = for_ingest(catalog, slug)
        own = await asyncio.to_thread(own_files, companions, companions[1], self.settings.approved_path)
        companion = await asyncio.to_thread(
            fingerprint_of, companions, decisions, own, extracts=self.tools.extract is not None
        )
        is_same = current is not None and read_manifest(current).companion == companion
        if not plan.changed and not plan.removed and is_same:
            return summary
        name = f"{catalog.next_number():06d}-{fingerprint[:8]}"
        created = self.tools.now().isoformat(timespec="seconds")
        work = BookIngest(
            book, plan, self.settings, self.tools, self.options, cache, name, fingerprint, current,
            companions=companions, own_companions=own, companion=companion, decisions=decisions,
        )  # fmt: skip
        outcome = await work.run(created)
        if outcome.manifest_sha256 is None:
            return summary.plus(outcome.summary)
        catalog.publish(
            PublishedBook(
                info=book.info,
                corpus=str(self.corpus.resolve()),
                recipe=fingerprint,
                current=name,
                previous=None,
                manifest_sha256=outcome.manifest_sha256,
                root=str(book.root.resolve()),
            ),
            published=created,
            files=outcome.states,
        )
        _log.info("ingest.published", book=slug, generation=name)
        return summary.plus(outcome.summary).plus(IngestSummary(published=(f"{slug} {name}",)))

    def _intact(self, published: PublishedBook | None) -> Path | None:
        """Return the current generation's folder if it is as it was published and has the current format.

        From one that is damaged nothing is copied: what it says would pass for what the book says.
        """
        if published is None:
            return None
        directory = self.settings.books_dir / published.info.slug / published.current
        known = manifest_hash(directory) == published.manifest_sha256 and not is_older(directory)
        return directory if known and is_whole(directory) else None

    def _withdraw(self, catalog: Catalog, found: Discovery) -> IngestSummary:
        """Withdraw books that came from this corpus and are no longer in it; one whose description broke stays."""
        removed = 0
        slugs = {book.info.slug for book, _ in found.books}
        broken = {str(root.resolve()) for root in found.broken}
        for published in catalog.books():
            slug = published.info.slug
            is_here = slug in slugs or published.root in broken
            if published.corpus == str(self.corpus.resolve()) and not is_here:
                removed += len(catalog.files(slug))
                catalog.withdraw(slug)
                _log.info("ingest.withdrawn", book=slug)
        return IngestSummary(removed=removed)

    async def _settle(self, catalog: Catalog) -> None:
        """Tell the vector store the current generation, always: the ingest that published it may have been killed."""
        for book in catalog.books():
            folder = self.settings.books_dir / book.info.slug
            kept = [folder / book.previous / VECTORS] if book.previous else []
            await self.tools.store.settle(collection_name(book.info), folder / book.current / VECTORS, kept)


def tidy(catalog: Catalog, books_dir: Path) -> None:
    """Remove what killed ingests left behind, and generations that nobody needs.

    Only the holder of the ingest lock may call this, since another ingest may be working in an unfinished folder.
    """
    known = {*catalog.live(), *(name for _, name in catalog.retired())}
    for folder in books_dir.glob("*/*"):
        if folder.parent.is_symlink():
            continue  # what it leads to is not ours
        if folder.name.startswith((BUILDING, TRASH)) or folder.name not in known:
            with suppress(FileNotFoundError):  # a server may be deleting it, too
                shutil.rmtree(folder)
    catalog.forget(remove_retired(books_dir, catalog.retired()))
