"""The catalogue as a running server reads it: by aiosqlite, beside an ingest that writes it.

It stands in a module of its own so that commands, which open the catalogue too, need not load aiosqlite.
"""

from pathlib import Path
from typing import Self

import aiosqlite

from lutrin.index.catalog import Catalog, PublishedBook, published_book
from lutrin.index.compiled import BOOKS, DECISIONS, RETIRED, REVISION
from lutrin.index.decisions import Decided, decided

ROWS_AT_ONCE = 64


class PublishedBooks:
    """What `catalog.db` says is published; open it with `PublishedBooks.open`, and close it."""

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open the catalogue; it is created with its tables if it is not there.

        Raises:
            IndexUnavailable: The file is no catalogue of this program.
        """
        return cls(await aiosqlite.Connection(lambda: Catalog(path).connection, ROWS_AT_ONCE))

    async def books(self) -> list[PublishedBook]:
        """All published books, the one published first first."""
        return [published_book(row) for row in await self._connection.execute_fetchall(BOOKS)]

    async def retired(self) -> list[tuple[str, str]]:
        """Slug and name of the generations whose folders may be deleted."""
        return [(slug, name) for slug, name in await self._connection.execute_fetchall(RETIRED)]

    async def revision(self) -> int:
        """Another number after each decision of the teacher."""
        ((revision,),) = await self._connection.execute_fetchall(REVISION)
        return int(revision)

    async def decisions(self, slug: str) -> list[Decided]:
        """What the teacher decided about the entries of a book, the oldest first."""
        return [decided(row) for row in await self._connection.execute_fetchall(DECISIONS, {"slug": slug})]

    async def close(self) -> None:
        """Release the file, once what is being read has been read."""
        await self._connection.close()
