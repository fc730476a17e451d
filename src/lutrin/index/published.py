"""The catalogue as a running server reads it: through aiosqlite, while an ingest writes it.

This is a separate module so that commands, which also open the catalogue, need not load aiosqlite.
"""

from pathlib import Path
from typing import Self

import aiosqlite

from lutrin.index.catalog import Catalog, PublishedBook, published_book
from lutrin.index.decisions import StoredDecision, StudiedEntry, stored_decision, stored_entry
from lutrin.index.statements import BOOKS, DECISIONS, RETIRED, REVISION, STUDIED

ROWS_AT_ONCE = 64


class PublishedBooks:
    """The published books of `catalog.db`; open it with `PublishedBooks.open`, and close it."""

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
