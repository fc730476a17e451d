"""What the teacher's page shows besides the server's figures: indexes, models and findings."""

import asyncio
from collections.abc import Callable
from datetime import datetime

import msgspec

from lutrin.doctor import Check
from lutrin.errors import IndexUnavailable
from lutrin.index.catalog import Catalog, LeftOut, PublishedBook, read_left_out
from lutrin.index.manifest import read_manifest
from lutrin.ingest.lock import ingest_lock
from lutrin.keep import weights
from lutrin.serve.teacher_jobs import CommandJob
from lutrin.settings import Settings
from lutrin.study.write import progress_of


class Edition(msgspec.Struct, frozen=True, kw_only=True):
    """A published index of a book."""

    generation: str
    made: datetime | None = None
    """In UTC; None if it cannot be read."""
    files: int = 0
    chunks: int = 0


class BookRow(msgspec.Struct, frozen=True, kw_only=True):
    """A book with the index that answers and the one before it."""

    slug: str
    title: str
    edition: str
    current: Edition
    previous: Edition | None


class ModelRow(msgspec.Struct, frozen=True, kw_only=True):
    """A model of the manifest."""

    tier: str
    name: str
    role: str
    summary: str
    size_bytes: int
    state: str
    in_use: bool


class TeacherView:
    """Collects what the teacher's page shows. Only `roll_back` changes anything."""

    def __init__(self, settings: Settings, now: Callable[[], datetime]) -> None:
        self._settings = settings
        self.health = CommandJob("doctor", list[Check], settings, now)

    async def books(self) -> list[BookRow]:
        """All published books; none before the first ingest.

        Raises:
            IndexUnavailable: The catalogue cannot be read.
        """
        return await asyncio.to_thread(self._books)

    async def left_out(self) -> list[LeftOut]:
        """List what the latest ingest left out.

        Raises:
            IndexUnavailable: The catalogue cannot be read.
        """
        return await asyncio.to_thread(read_left_out, self._settings.catalog_path)

    async def studied(self, slug: str) -> str:
        """How far a model has got in studying a book; empty if none did on this machine."""
        return await asyncio.to_thread(progress_of, self._settings.studied_path(slug))

    async def roll_back(self, slug: str) -> None:
        """Make a book's previous index the one that answers; the server follows within two seconds.

        Raises:
            NotFound: There is no such book, or nothing to go back to.
            IngestInProgress: The books are being read.
            IndexUnavailable: The catalogue cannot be read, or the previous index is gone.
        """
        await asyncio.to_thread(self._roll_back, slug)

    def models(self, in_use: str) -> list[ModelRow]:
        """The models of the manifest, and whether the one that answers is among them.

        Raises:
            LutrinError: There is no readable manifest.
        """
        folder = self._settings.models_dir
        return [
            ModelRow(
                tier=model.tier,
                name=model.name,
                role=model.role,
                summary=model.summary,
                size_bytes=model.size,
                state=weights.state_of(folder, model),
                in_use=model.name == in_use or model.role == "embed",
            )
            for model in weights.load_manifest(folder).model
        ]

    def _books(self) -> list[BookRow]:
        if not self._settings.catalog_path.exists():
            return []
        with Catalog(self._settings.catalog_path) as catalog:
            return [self._row(book) for book in catalog.books()]

    def _row(self, book: PublishedBook) -> BookRow:
        return BookRow(
            slug=book.info.slug,
            title=book.info.title,
            edition=book.info.edition,
            current=self._edition(book.info.slug, book.current),
            previous=self._edition(book.info.slug, book.previous) if book.previous else None,
        )

    def _edition(self, slug: str, name: str) -> Edition:
        try:
            manifest = read_manifest(self._settings.books_dir / slug / name)
        except IndexUnavailable:  # the page is where its operator learns of it
            return Edition(generation=name)
        made = datetime.fromisoformat(manifest.created)
        return Edition(generation=name, made=made, files=manifest.files, chunks=manifest.chunks)

    def _roll_back(self, slug: str) -> None:
        with ingest_lock(self._settings.data_dir), Catalog(self._settings.catalog_path) as catalog:
            book = catalog.book(slug)
            if book is not None and book.previous is not None:
                read_manifest(self._settings.books_dir / slug / book.previous)
            catalog.roll_back(slug)
