"""The running parts of Lutrin, as passed to guests that study books (`lutrin.guest_ports.Study`)."""

from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lutrin.answer.grade import Grader, fitted_weights
from lutrin.answer.prompt import Ability
from lutrin.answer.traffic import Traffic
from lutrin.errors import ChatStoreError
from lutrin.index.decisions import add_studied
from lutrin.index.shelf import Shelf
from lutrin.prepared import Practice
from lutrin.runtime.language_model import HousedGenerator
from lutrin.search.search import Searcher
from lutrin.serve.library import ShelfLibrary
from lutrin.settings import Settings
from lutrin.study.workbook import Workbook

if TYPE_CHECKING:
    from lutrin.chats.store import ChatTables

MOST_CITED = 1_000
"""Newest answers whose citations show which sections interest readers."""


class StudyRoom:
    """Opens the books of a shelf for a study; `ability` is the model's, `traffic` counts opened pages."""

    def __init__(
        self,
        settings: Settings,
        shelf: Shelf,
        searcher: Searcher,
        *,
        generator: HousedGenerator | None,
        ability: Ability,
        traffic: Traffic,
        chats: "ChatTables | None",
    ) -> None:
        self.settings = settings
        self.generator = generator
        self.tier = ability.tier
        self.kinds: Collection[str] = ability.study if generator is not None else frozenset()
        self._shelf = shelf
        self._searcher = searcher
        self._traffic = traffic
        self._chats = chats

    async def start(self) -> None:
        """Load the model now."""
        if self.generator is not None:
            await self.generator.start()

    def slugs(self) -> Sequence[str]:
        """The books on the shelf."""
        return [generation.book.slug for generation in self._shelf.books()]

    @asynccontextmanager
    async def open(self, slug: str) -> AsyncIterator[Workbook]:
        """Open a book, by its slug or the first one (empty); raises NotFound or IndexUnavailable."""
        async with self._shelf.lease(slug) as generation:
            own, settings = generation.book.slug, self.settings
            strong = fitted_weights().strong if self.tier == "large" else None
            yield Workbook(
                generation,
                self._searcher,
                Grader(self._searcher.embedder, strong),
                settings.studied_path(own),
                lambda fresh: add_studied(settings.catalog_path, own, fresh, datetime.now(UTC)),
            )

    async def interest(self, slug: str) -> Mapping[str, float]:
        """Counts of a book's cited passages and opened pages, by chunk id and file name."""
        interest: Counter[str] = Counter()
        if self._chats is not None:
            with suppress(ChatStoreError):  # the log says so; the book is studied in its own order
                for question in await self._chats.recent_questions(MOST_CITED):
                    interest.update(question.chunk_ids)
        interest.update({page: count for (book, page), count in self._traffic.opened.items() if book == slug})
        return interest

    async def practice(self, slug: str) -> Practice:
        """A book's practice material; raises as `open`."""
        return await ShelfLibrary(self._shelf).practice(slug)
