"""The ingested books as their readers see them: shelf, table of contents, pages."""

from collections.abc import Sequence

from lutrin.index.shelf import Shelf
from lutrin.serve.services import PageEntry, ShelvedBook


class ShelfLibrary:
    """Reads the open generations of a shelf."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    async def books(self) -> Sequence[ShelvedBook]:
        """All books that have a published generation."""
        return [
            ShelvedBook(
                slug=generation.book.slug,
                title=generation.book.title,
                edition=generation.book.edition,
                generation=generation.name,
            )
            for generation in self._shelf.books()
        ]

    async def contents(self, slug: str) -> Sequence[PageEntry]:
        """A book's pages in reading order; see `serve.services.Library`."""
        async with self._shelf.lease(slug) as generation:
            return [
                PageEntry(filename=file.filename, title=file.title, module=file.module, chapter=file.chapter)
                for file in await generation.files()
            ]

    async def source(self, slug: str, filename: str) -> str:
        """The text of a page's source file; see `serve.services.Library`."""
        async with self._shelf.lease(slug) as generation:
            return await generation.source(filename)
