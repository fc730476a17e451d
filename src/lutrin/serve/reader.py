"""The built-in reader: the ingested books as pages, rendered from the very text that was indexed."""

from collections.abc import Sequence
from functools import lru_cache
from html import escape

import nh3

from lutrin.errors import NotFound
from lutrin.messages import NOTHING_HERE
from lutrin.serve import html
from lutrin.serve.services import Library, PageEntry, ShelvedBook

_CLASSES = {"class"}
_ATTRIBUTES = {
    **{tag: {*names} for tag, names in nh3.ALLOWED_ATTRIBUTES.items()},
    **{f"h{level}": {"id", "class"} for level in range(1, 7)},
    "a": {"href", "id", "class", "title"},
    "aside": _CLASSES,
    "code": _CLASSES,
    "details": {"open", "class"},
    "div": {"class", "id"},
    "figure": _CLASSES,
    "p": _CLASSES,
    "pre": {"class", "tabindex"},
    "section": {"class", "id"},
    "span": {"class", "id"},
    "table": _CLASSES,
    "td": {"class", "colspan", "rowspan", "align"},
    "th": {"class", "colspan", "rowspan", "align", "scope"},
}
_TAGS = {*nh3.ALLOWED_TAGS, "aside", "details", "figcaption", "figure", "section", "summary"} - {"img"}


class Reader:
    """Pages of all books.

    Args:
        library: The books.
    """

    def __init__(self, library: Library) -> None:
        self._library = library

    async def shelf(self) -> str:
        """The page at `/`."""
        return html.shelf([(book, await self._library.contents(book.slug)) for book in await self._library.books()])

    async def page(self, slug: str, path: str) -> str:
        """A page of a book.

        Args:
            slug: Of the book.
            path: The file's name, with or without its suffix.

        Raises:
            NotFound: There is no such book or page.
        """
        book = await self._book(slug)
        pages = await self._library.contents(slug)
        entry = _find(pages, path.strip("/"))
        source = await self._library.source(slug, entry.filename)
        return html.reading(book, pages, entry, rendered(source, entry.filename))

    async def _book(self, slug: str) -> ShelvedBook:
        for book in await self._library.books():
            if book.slug == slug:
                return book
        raise NotFound(NOTHING_HERE)


@lru_cache(maxsize=64)
def rendered(source: str, filename: str) -> str:
    """Safe HTML of a source file; anchors of headings are those that citations lead to."""
    return sanitised(f"<h1>{escape(filename)}</h1><pre>{escape(source)}</pre>")


def sanitised(page: str) -> str:
    """HTML without anything that runs or loads: no script, style, handler, frame, form or image from elsewhere."""
    return nh3.clean(page, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"}, link_rel=None)


def _find(pages: Sequence[PageEntry], path: str) -> PageEntry:
    for entry in pages:
        if path in (entry.filename, entry.filename.rpartition(".")[0]):
            return entry
    raise NotFound(NOTHING_HERE)
