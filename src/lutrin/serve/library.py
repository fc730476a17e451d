"""The ingested books as their readers see them: shelf, table of contents, pages."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from lutrin.errors import DocumentError, NotFound
from lutrin.index.shelf import Shelf
from lutrin.ingest.discover import find_books
from lutrin.ingest.scan import SourceFile
from lutrin.messages import NOTHING_HERE
from lutrin.serve.pictures import candidates
from lutrin.serve.services import PageEntry, ShelvedBook


class ShelfLibrary:
    """Reads the open generations of a shelf.

    Args:
        shelf: The books.
        corpus: Folder of this machine's books. Pictures are looked for there, too: an index that was made on another
            machine names a folder that is not here.
    """

    def __init__(self, shelf: Shelf, corpus: Path | None = None) -> None:
        self._shelf = shelf
        self._corpus = corpus

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

    async def find_picture(self, slug: str, filename: str, address: str) -> str:
        """Which file of the book's folder a page shows; see `serve.services.Library`."""
        return await asyncio.to_thread(self._find_picture, slug, filename, address)

    async def picture(self, slug: str, name: str) -> bytes:
        """The content of a picture, from inside the book's folder only; see `serve.services.Library`."""
        root = await asyncio.to_thread(self._root, slug)
        if root is None:
            raise NotFound(NOTHING_HERE)
        try:
            return await asyncio.to_thread(SourceFile(name, root, 0).read)
        except DocumentError as error:
            raise NotFound(NOTHING_HERE) from error

    def _find_picture(self, slug: str, filename: str, address: str) -> str:
        root = self._root(slug)
        if root is None:
            return ""
        return next((name for name in candidates(filename, address) if (root / name).is_file()), "")

    def _root(self, slug: str) -> Path | None:
        known = self._shelf.root(slug)
        root = known if known is not None and known.is_dir() else book_root(self._shelf.corpus(slug), slug)
        if root is None and self._corpus is not None:
            root = book_root(self._corpus, slug, renamed=False)
        return root


def book_root(corpus: Path, slug: str, *, renamed: bool = True) -> Path | None:
    """The folder of a book inside the folder that was ingested; None where it is gone.

    Args:
        corpus: The folder.
        slug: Of the book.
        renamed: The only book there is this one whatever its slug, which may have been given on the command line.
    """
    if not corpus.exists():
        return None
    try:
        books = find_books(corpus)
    except (DocumentError, OSError):
        return None
    if len(books) == 1 and renamed:
        return books[0].root
    return next((book.root for book in books if book.info.slug == slug), None)
