"""The published generations in a server: opened once, leased to answers, and replaced while it runs.

A watcher looks into the catalogue every second. It opens a new generation, hands it to all later leases, lets the
leases on the old one finish, and closes the old one. It deletes generations that are neither current nor previous and
that nobody reads. It gives the open generations what was studied since, and the teacher's decisions. Any number of
servers may do this on the same folder while an ingest writes the next generation: they share only these files.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Self

import aiosqlite

from lutrin import sqlite
from lutrin.errors import IndexUnavailable, LutrinError, NotFound
from lutrin.index.catalog import Catalog, PublishedBook, published_book
from lutrin.index.decisions import StoredDecision, StudiedEntry, stored_decision, stored_entry
from lutrin.index.generation import OpenGeneration, open_generation
from lutrin.index.manifest import read_manifest
from lutrin.index.retired import remove_retired
from lutrin.index.statements import BOOKS, DECISIONS, RETIRED, REVISION, STUDIED
from lutrin.log import get_logger
from lutrin.messages import KNOWLEDGE_BASE_DOWN
from lutrin.ports import VectorStore

POLL_S = 1.0
ROWS_AT_ONCE = 64


class PublishedBooks:
    """The catalogue as a running server reads it, while an ingest writes it; open it with `open`, and close it."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the catalogue; it is created with its tables if missing.

        Raises:
            IndexUnavailable: The file is no catalogue of this program.
        """
        return cls(await aiosqlite.Connection(lambda: Catalog(path).connection, ROWS_AT_ONCE))

    async def books(self) -> list[PublishedBook]:
        """All published books, in the order of their first publication."""
        return [published_book(row) for row in await self._connection.execute_fetchall(BOOKS)]

    async def retired(self) -> list[tuple[str, str]]:
        """Slug and name of the generations whose folders may be deleted."""
        return [(slug, name) for slug, name in await self._connection.execute_fetchall(RETIRED)]

    async def revision(self) -> int:
        """A number that changes with each decision of the teacher and each studied entry."""
        ((revision,),) = await self._connection.execute_fetchall(REVISION)
        return int(revision)

    async def decisions(self, slug: str) -> list[StoredDecision]:
        """The teacher's decisions about the entries of a book, oldest first."""
        return [stored_decision(row) for row in await self._connection.execute_fetchall(DECISIONS, {"slug": slug})]

    async def studied(self, slug: str) -> list[StudiedEntry]:
        """The entries of a book that a study wrote since it was published, oldest first."""
        return [stored_entry(row) for row in await self._connection.execute_fetchall(STUDIED, {"slug": slug})]

    async def close(self) -> None:
        """Release the file, once running reads have ended."""
        await self._connection.close()


class _Held:
    """An open generation, and how many answers are using it."""

    def __init__(self, generation: OpenGeneration, corpus: Path, root: Path | None) -> None:
        self.generation = generation
        self.corpus = corpus
        self.root = root
        self.leases = 0
        self.retired = False
        self.revision = 0
        """Revision of the decisions and studied entries that are applied to its companion."""


class Shelf:
    """All published books, always the newest generation of each that can be opened.

    What takes a slug raises NotFound if there is no such book.

    Use it as an asynchronous context manager, or call `start` and `close`.

    Args:
        embedder: Name of the model that embeds questions; an index of another model is not opened.
        poll_s: Seconds between looks into the catalogue.
    """

    def __init__(
        self, catalog_path: Path, books_dir: Path, store: VectorStore, *, embedder: str = "", poll_s: float = POLL_S
    ) -> None:
        self._embedder = embedder
        self._catalog_path = catalog_path
        self._books_dir = books_dir
        self._store = store
        self._poll_s = poll_s
        self._held: dict[str, _Held] = {}
        self.unreadable: frozenset[str] = frozenset()
        """Books that are published but cannot be opened: what is asked of them is not refused, but not answered now."""
        self._retired: set[_Held] = set()
        self._broken: set[str] = set()
        self._catalog: PublishedBooks | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._refreshing = asyncio.Lock()
        self._log = get_logger("index")

    async def start(self) -> None:
        """Open the published books, then watch for new ones. An empty shelf before the first ingest is fine."""
        try:
            await self.refresh()
        except BaseException:
            await self.close()  # else nobody would close the catalogue, and its thread would keep the program
            raise
        self._watcher = asyncio.create_task(self._watch(), name="shelf")

    async def close(self) -> None:
        """Stop watching and close every generation, leased or not."""
        if self._watcher is not None:
            self._watcher.cancel()
            with suppress(asyncio.CancelledError):
                await self._watcher
            self._watcher = None
        async with self._refreshing:  # let a refresh in progress end first
            await self._close_all()

    async def _close_all(self) -> None:
        for held in (*self._held.values(), *self._retired):
            await held.generation.close()
        self._held, self._retired = {}, set()
        if self._catalog is not None:
            await self._catalog.close()
            self._catalog = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def books(self) -> list[OpenGeneration]:
        """The current generation of each readable book, in the order of the books' first publication.

        Lease one to use it for longer than the current step of the event loop.
        """
        return [held.generation for held in self._held.values()]

    def corpus(self, slug: str) -> Path:
        """The folder that a book was ingested from; it may be gone, or be another machine's."""
        held = self._held.get(slug)
        if held is None:
            raise NotFound(f"There is no book {slug}.")
        return held.corpus

    def root(self, slug: str) -> Path | None:
        """The book's own folder; None if unknown. It may be gone, or be another machine's."""
        held = self._held.get(slug)
        if held is None:
            raise NotFound(f"There is no book {slug}.")
        return held.root

    @asynccontextmanager
    async def lease(self, slug: str = "") -> AsyncIterator[OpenGeneration]:
        """Use a book's current generation (empty: the first book's) until the block ends, whatever comes.

        Raises:
            IndexUnavailable: No book can be read, or not this one.
            NotFound: There are books, but not this one.
        """
        if not self._held or slug in self.unreadable:
            raise IndexUnavailable(KNOWLEDGE_BASE_DOWN, remedy="Run `lutrin ingest`.")
        held = self._held.get(slug) if slug else next(iter(self._held.values()))
        if held is None:
            raise NotFound(f"There is no book {slug}.", remedy=f"There are: {', '.join(self._held)}.")
        held.leases += 1
        try:
            yield held.generation
        finally:
            held.leases -= 1
            if held.retired and held.leases == 0:
                await asyncio.shield(self._put_away(held))

    async def refresh(self) -> None:
        """Bring the shelf up to date with the catalogue; the watcher calls this.

        Raises:
            IndexUnavailable: The catalogue cannot be read.
        """
        async with self._refreshing:
            catalog = await self._open_catalog()
            published, retired, newest = await catalog.books(), await catalog.retired(), await catalog.revision()
            found: dict[str, _Held] = {}
            for book in published:
                slug = book.info.slug
                held = self._held.get(slug)
                if held is None or held.generation.name != book.current:
                    held = await self._open(book) or held
                if held is not None:
                    found[slug] = held
                    if held.revision != newest:
                        catalog = await self._open_catalog()
                        await held.generation.decide(await catalog.decisions(slug), await catalog.studied(slug), newest)
                        held.revision = newest
            self.unreadable = frozenset(book.info.slug for book in published) - found.keys()
            old, self._held = self._held, found
            for held in set(old.values()) - set(found.values()):
                held.retired = True
                self._retired.add(held)
                if held.leases == 0:
                    await self._put_away(held)
            if retired:
                await asyncio.to_thread(remove_retired, self._books_dir, retired)

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._poll_s)
            try:
                await self.refresh()
            except (LutrinError, sqlite.DatabaseError, OSError) as error:  # go on serving what is open
                self._log.error("shelf.refresh_failed", error=str(error))

    async def _open(self, book: PublishedBook) -> _Held | None:
        """The current generation, or the previous one if nothing is open yet and the current one cannot be opened."""
        choices = [book.current]
        if book.info.slug not in self._held and book.previous is not None:
            choices.append(book.previous)
        for name in choices:
            try:
                folder = self._books_dir / book.info.slug / name
                self._require_same_model(folder)
                generation = await open_generation(folder, self._store)
            except IndexUnavailable as error:
                if name not in self._broken:
                    self._log.error("shelf.cannot_open", book=book.info.slug, generation=name, error=error.detail)
                self._broken.add(name)
            else:
                self._broken.discard(name)
                self._log.info("shelf.opened", book=book.info.slug, generation=name, chunks=generation.manifest.chunks)
                return _Held(generation, Path(book.corpus), Path(book.root) if book.root else None)
        return None

    def _require_same_model(self, folder: Path) -> None:
        """Check that this server's model made a generation's vectors; those of two models cannot be compared."""
        made_by = read_manifest(folder).embedder
        if self._embedder and made_by != self._embedder:
            raise IndexUnavailable(
                f"The index {folder.name} was embedded by {made_by}, questions are embedded by {self._embedder}.",
                remedy="Run `lutrin ingest`, or set the embedding model as it was.",
            )

    async def _put_away(self, held: _Held) -> None:
        if held in self._retired:
            self._retired.discard(held)
            await held.generation.close()
            self._log.info("shelf.closed", book=held.generation.book.slug, generation=held.generation.name)

    async def _open_catalog(self) -> PublishedBooks:
        if self._catalog is None:
            self._catalog = await PublishedBooks.open(self._catalog_path)
        return self._catalog
