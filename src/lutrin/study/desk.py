"""The companions of the books on a shelf, and the decisions about their entries, stored in the catalogue."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from lutrin import messages
from lutrin.errors import InvalidInput
from lutrin.index import decisions
from lutrin.index.catalog import Catalog
from lutrin.index.companion import encoded_texts, wordings
from lutrin.index.decisions import StoredDecision
from lutrin.index.shelf import Shelf
from lutrin.ingest.companion_file import Fitting, MisfitError
from lutrin.ports import Embedder
from lutrin.prepared import Decision, Entry, PreparedEntry, id_of
from lutrin.query.understand import normalize

T = TypeVar("T")


class CompanionDesk:
    """See `lutrin.guest_ports.Companions`."""

    def __init__(
        self,
        shelf: Shelf,
        catalog_path: Path,
        embedder: Embedder,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._shelf = shelf
        self._catalog_path = catalog_path
        self._embedder = embedder
        self._now = now

    def key(self, question: str) -> str:
        """A key that is equal for questions with the same words."""
        return normalize(question)

    async def companion(self, slug: str) -> tuple[str, Sequence[PreparedEntry]]:
        """A book's title, and its prepared entries, in its order."""
        async with self._shelf.lease(slug) as generation:
            return generation.book.title, generation.companion.entries

    async def decisions(self, slug: str) -> Mapping[str, Decision]:
        """The decisions about a book's entries, by their ids."""
        return {name: stored.decision for name, stored in (await self._decisions_by_name(slug)).items()}

    async def quote(self, slug: str, proofs: Sequence[tuple[str, str]]) -> Entry:
        """An entry on the section of the first of some passages, with the words that prove it; without a topic.

        Raises:
            InvalidInput: None of the passages is in the book.
        """
        async with self._shelf.lease(slug) as generation:
            chunks = {chunk.chunk_id: chunk for chunk in await generation.chunks([name for name, _ in proofs])}
            if not chunks:
                raise InvalidInput(messages.NOTHING_TO_PIN)
            home = chunks[next(name for name, _ in proofs if name in chunks)]
            source = await generation.source(home.filename)
        return Entry(
            kind="question",
            file=home.filename,
            heading=home.section_title,
            anchor=home.anchor,
            topic="",
            quotes=tuple(
                words or source[chunks[name].char_start : chunks[name].char_end]
                for name, words in proofs
                if name in chunks and chunks[name].filename == home.filename
            ),
        )

    async def fit(self, slug: str, entry: Entry) -> PreparedEntry:
        """An entry with its places in the book; raises InvalidInput if nothing in the book proves it."""
        async with self._shelf.lease(slug) as generation:
            file = await generation.source(entry.file), await generation.chunks_of(entry.file)
        try:
            return Fitting({entry.file: file}.get, [entry.file]).fit(entry, draft=True)
        except MisfitError as misfit:
            raise InvalidInput(messages.CANNOT_BE_KEPT.format(problem=misfit)) from misfit

    async def decide(self, slug: str, item: PreparedEntry, entry: Entry, *, is_own: bool, asked_anew: bool) -> None:
        """Replace a prepared entry in every later answer and page, on every server.

        Args:
            is_own: Whether more than its state is the teacher's.
            asked_anew: Whether its questions have changed.
        """
        name = id_of(item.entry)
        before = (await self._decisions_by_name(slug)).get(name)
        embedded = (before.embedder, before.wordings) if before is not None else ("", ())
        if asked_anew:
            item = msgspec.structs.replace(item, asked=wordings(entry))
            embedded = (self._embedder.name, tuple(await encoded_texts(item.asked, self._embedder)))
        decision = StoredDecision(Decision(item=msgspec.structs.replace(item, entry=entry), is_own=is_own), *embedded)
        when = self._now().isoformat()
        await self._in_catalog(lambda catalog: decisions.decide(catalog, slug, name, decision, when=when))
        await self._shelf.refresh()

    async def withdraw(self, slug: str, name: str) -> None:
        """Restore an entry's version in the companion; remove an entry that is in no companion."""
        await self._in_catalog(lambda catalog: decisions.withdraw(catalog, slug, name))
        await self._shelf.refresh()

    async def _decisions_by_name(self, slug: str) -> dict[str, StoredDecision]:
        rows = await self._in_catalog(lambda catalog: decisions.decisions(catalog, slug))
        return {id_of(one.decision.item.entry): one for one in rows}

    async def _in_catalog(self, work: Callable[[Catalog], T]) -> T:
        def run() -> T:
            with Catalog(self._catalog_path) as catalog:
                return work(catalog)

        return await asyncio.to_thread(run)
