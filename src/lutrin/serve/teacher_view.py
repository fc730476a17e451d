"""What the teacher's page shows besides the server's figures: indexes, models and findings."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec

from lutrin.doctor import Check
from lutrin.errors import IndexUnavailable
from lutrin.index.catalog import Catalog, LeftOut, PublishedBook, read_left_out
from lutrin.index.manifest import read_manifest
from lutrin.ingest.lock import ingest_lock
from lutrin.keep import weights
from lutrin.settings import Settings
from lutrin.study.write import progress_of

PATIENCE_S = 600.0
"""The doctor reads every model file and every vector once."""

T = TypeVar("T")


class CommandJob(Generic[T]):
    """Runs `lutrin COMMAND --json`, once at a time, and keeps what it printed last."""

    def __init__(self, command: str, shape: type[T], settings: Settings, now: Callable[[], datetime]) -> None:
        self._command = command
        self._shape = shape
        self._settings = settings
        self._now = now
        self.running = False
        self.found: T | None = None
        self.at: datetime | None = None
        """When it ended last."""
        self.trouble = ""
        """Why it found nothing, the last time."""

    def start(self, spawn: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        """Start the command, in a task that ends with the server, unless it is already running."""
        if not self.running:
            self.running = True
            spawn(self._run())

    async def _run(self) -> None:
        try:
            output, errors = await asyncio.wait_for(self._process(), PATIENCE_S)
            self.found, self.trouble = msgspec.json.decode(output, type=self._shape), ""
        except TimeoutError:
            self.found, self.trouble = None, f"It took more than {PATIENCE_S:.0f} s."
        except msgspec.MsgspecError:
            said = errors.decode(errors="replace").strip().rpartition("\n")[2]
            self.found, self.trouble = None, said or f"`lutrin {self._command}` did not end as it should."
        finally:
            self.running = False
            self.at = self._now()

    async def _process(self) -> tuple[bytes, bytes]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "lutrin.cli", self._command, "--json",
            "--data-dir", str(self._settings.data_dir),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "LUTRIN_LOG_LEVEL": "error"},
        )  # fmt: skip
        try:
            return await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


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

    def models(self, in_use: str) -> list[tuple[weights.Model, str, bool]]:
        """The models of the manifest, each with the state of its files and whether it is the one that answers.

        Raises:
            LutrinError: There is no readable manifest.
        """
        folder = self._settings.models_dir
        return [
            (model, weights.state_of(folder, model), model.name == in_use or model.role == "embed")
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
