"""The published generations in a server: opened once, leased to answers, and replaced while it runs.

A watcher checks the catalogue every second. It opens a new generation, gives it to all later leases, lets the leases on
the old one finish, and closes the old one. It deletes generations that are neither current nor previous and have no
reader. It gives the open generations newly studied entries and the teacher's decisions. Any number of servers may do
this on the same folder while an ingest writes the next generation: they share only these files.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import aiosqlite
import msgspec

from lutrin import sqlite
from lutrin.background import Background
from lutrin.errors import IndexUnavailable, LutrinError, NotFound
from lutrin.index.catalog import Catalog, PublishedBook, published_book
from lutrin.index.decisions import stored_decision, stored_entry
from lutrin.index.generation import OpenGeneration, open_generation
from lutrin.index.manifest import read_manifest, remove_retired
from lutrin.index.statements import BOOKS, DECISIONS, RETIRED, REVISION, STUDIED
from lutrin.log import get_logger
from lutrin.messages import KNOWLEDGE_BASE_DOWN
from lutrin.ports import VectorStore

T = TypeVar("T")
POLL_S = 1.0
ROWS_AT_ONCE = 64


@dataclass(eq=False, slots=True)
class _Lease:
    """An open generation, and the number of answers that use it."""

    generation: OpenGeneration
    corpus: Path
    root: Path | None
    leases: int = 0
    retired: bool = False
    revision: int = 0
    """Revision of the decisions and studied entries applied to its companion."""


class Shelf:
    """All published books, always the newest generation of each that can be opened.

    Methods that take a slug raise NotFound if there is no such book.

    Use it as an asynchronous context manager, or call `start` and `close`.

    Args:
        embedder: Name of the model that embeds questions; an index of another model is not opened.
        poll_s: Seconds between checks of the catalogue.
        background: Supervises the watcher; None creates a supervisor.
    """

    def __init__(
        self,
        catalog_path: Path,
        books_dir: Path,
        store: VectorStore,
        *,
        embedder: str = "",
        poll_s: float = POLL_S,
        background: Background | None = None,
    ) -> None:
        self._background = background or Background(first_pause_s=poll_s)
        self._embedder = embedder
        self._catalog_path = catalog_path
        self._books_dir = books_dir
        self._store = store
        self._poll_s = poll_s
        self._leases: dict[str, _Lease] = {}
        self.unreadable: frozenset[str] = frozenset()
        """Published books that cannot be opened: questions about them get no answer for now, but no refusal either."""
        self._retired: set[_Lease] = set()
        self._broken: set[str] = set()
        self._catalog: aiosqlite.Connection | None = None
        self._watching = AsyncExitStack()
        self._refreshing = asyncio.Lock()
        self._log = get_logger("index")

    async def start(self) -> None:
        """Open the published books, then watch for new ones. The shelf may be empty before the first ingest."""
        try:
            await self.refresh()
        except BaseException:
            await self.close()  # else the catalogue would stay open, and its thread would keep the program
            raise
        await self._watching.enter_async_context(self._background.running(self._watch, name="shelf"))

    async def close(self) -> None:
        """Stop watching and close every generation, leased or not."""
        await self._watching.aclose()
        async with self._refreshing:  # let a refresh in progress end first
            await self._close_all()

    async def _close_all(self) -> None:
        for lease in (*self._leases.values(), *self._retired):
            await lease.generation.close()
        self._leases, self._retired = {}, set()
        if self._catalog is not None:
            await self._catalog.close()
            self._catalog = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def books(self) -> list[OpenGeneration]:
        """The current generation of each readable book in the order of the shelf, except books taken off it.

        Lease one to use it for longer than the current step of the event loop.
        """
        return [lease.generation for lease in self._leases.values()]

    def corpus(self, slug: str) -> Path:
        """The folder that a book was ingested from; it may be gone, or on another machine."""
        return self._of(slug).corpus

    def root(self, slug: str) -> Path | None:
        """The book's own folder; None if unknown. It may be gone, or on another machine."""
        return self._of(slug).root

    def _of(self, slug: str) -> _Lease:
        lease = self._leases.get(slug)
        if lease is None:
            raise NotFound(f"There is no book {slug}.", remedy=f"There are: {', '.join(self._leases)}.")
        return lease

    @asynccontextmanager
    async def lease(self, slug: str = "") -> AsyncIterator[OpenGeneration]:
        """Use a book's current generation (empty: the first book's) until the block ends, even if it is replaced.

        Raises:
            IndexUnavailable: No book can be read, or this one cannot.
            NotFound: There are books, but not this one.
        """
        if not self._leases or slug in self.unreadable:
            raise IndexUnavailable(KNOWLEDGE_BASE_DOWN, remedy="Run `lutrin ingest`.")
        lease = self._of(slug) if slug else next(iter(self._leases.values()))
        lease.leases += 1
        try:
            yield lease.generation
        finally:
            lease.leases -= 1
            if lease.retired:
                await self._close_unused(lease)

    @asynccontextmanager
    async def lease_books(self, slug: str = "") -> AsyncIterator[list[OpenGeneration]]:
        """Use the named book, or every book on the shelf, until the block ends.

        Raises:
            NotFound: There is no such book.
            IndexUnavailable: No book can be opened.
        """
        async with AsyncExitStack() as stack:
            slugs = [slug] if slug else [generation.book.slug for generation in self.books()] or [""]
            yield [await stack.enter_async_context(self.lease(name)) for name in slugs]

    def require_all_readable(self) -> None:
        """Check that no book was left out, before refusing a question on behalf of all of them.

        Raises:
            IndexUnavailable: A published book cannot be opened.
        """
        if self.unreadable:
            raise IndexUnavailable(KNOWLEDGE_BASE_DOWN, remedy="Run `lutrin doctor`.")

    async def refresh(self) -> None:
        """Bring the shelf up to date with the catalogue; the watcher calls this.

        Raises:
            IndexUnavailable: The catalogue cannot be read.
        """
        async with self._refreshing:
            published = [book for row in await self._rows(BOOKS) if not (book := published_book(row)).choice.is_off]
            retired: list[tuple[str, str]] = [(slug, name) for slug, name in await self._rows(RETIRED)]
            ((newest,),) = await self._rows(REVISION)
            leases: dict[str, _Lease] = {}
            for book in published:
                slug = book.info.slug
                if (lease := await self._newest(book, newest)) is not None:
                    leases[slug] = self._leases[slug] = lease
            self.unreadable = frozenset(book.info.slug for book in published) - leases.keys()
            withdrawn, self._leases = set(self._leases.values()) - set(leases.values()), leases
            for lease in withdrawn:  # all, before the first is closed: a cancellation may come then
                self._withdraw(lease)
            for lease in withdrawn:
                await self._close_unused(lease)
            if retired:
                await asyncio.to_thread(remove_retired, self._books_dir, retired)

    async def _newest(self, book: PublishedBook, revision: int) -> _Lease | None:
        """The newest generation of a book that can be opened, with a revision's decisions; None if there is none.

        Decisions are read first: if they cannot be, the book stays unchanged, for a hidden answer must not come back.
        """
        slug = book.info.slug
        lease = self._leases.get(slug)
        is_newest = lease is not None and lease.generation.name == book.current
        if lease is not None and is_newest and lease.revision == revision:
            return lease
        opened: _Lease | None = None
        try:
            decided = self._decoded(slug, stored_decision, await self._rows(DECISIONS, slug))
            studied = self._decoded(slug, stored_entry, await self._rows(STUDIED, slug))
            opened = None if is_newest else await self._open(book)
            fresh = opened or lease
            if fresh is None:
                return None
            await fresh.generation.decide(decided, studied, revision, book.choice)
            fresh.revision = revision
        except BaseException as error:
            if opened is not None:
                await asyncio.shield(opened.generation.close())
            if not isinstance(error, LutrinError | sqlite.DatabaseError | OSError):
                raise
            self._log.error("shelf.cannot_decide", book=slug, error=str(error))
            return lease
        if opened is not None and lease is not None:
            self._leases[slug] = opened
            self._withdraw(lease)
            await self._close_unused(lease)
        return fresh

    def _decoded(self, slug: str, decode: Callable[[Sequence[Any]], T], rows: Sequence[Sequence[Any]]) -> list[T]:
        """Decode rows; skip and log damaged ones."""
        records: list[T] = []
        for row in rows:
            try:
                records.append(decode(row))
            except (msgspec.MsgspecError, ValueError) as error:
                self._log.error("shelf.damaged_decision", book=slug, error=type(error).__name__)
        return records

    def _withdraw(self, lease: _Lease) -> None:
        """Offer a generation to no later lease; its last user closes it."""
        lease.retired = True
        self._retired.add(lease)

    async def _close_unused(self, lease: _Lease) -> None:
        if lease.leases == 0:
            await asyncio.shield(self._put_away(lease))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(self._poll_s)
            try:
                await self.refresh()
            except (LutrinError, sqlite.DatabaseError, OSError) as error:  # go on serving what is open
                self._log.error("shelf.refresh_failed", error=str(error))

    async def _open(self, book: PublishedBook) -> _Lease | None:
        """The current generation, or the previous one if nothing is open yet and the current one cannot be opened."""
        choices = [book.current]
        if book.info.slug not in self._leases and book.previous is not None:
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
                return _Lease(generation, Path(book.corpus), Path(book.root) if book.root else None)
        return None

    def _require_same_model(self, folder: Path) -> None:
        """Check that this server's model made a generation's vectors: vectors of two models cannot be compared."""
        made_by = read_manifest(folder).embedder
        if self._embedder and made_by != self._embedder:
            raise IndexUnavailable(
                f"The index {folder.name} was embedded by {made_by}, questions are embedded by {self._embedder}.",
                remedy="Run `lutrin ingest`, or set the embedding model as it was.",
            )

    async def _put_away(self, lease: _Lease) -> None:
        if lease in self._retired:
            self._retired.discard(lease)
            await lease.generation.close()
            self._log.info("shelf.closed", book=lease.generation.book.slug, generation=lease.generation.name)

    async def _rows(self, statement: str, slug: str = "") -> list[Any]:
        """Rows of a statement from the catalogue, which is opened first, and created if missing."""
        if self._catalog is None:
            self._catalog = await aiosqlite.Connection(lambda: Catalog(self._catalog_path).connection, ROWS_AT_ONCE)
        return list(await self._catalog.execute_fetchall(statement, {"slug": slug} if slug else {}))
