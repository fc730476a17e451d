"""The built-in reader: the ingested books as pages, rendered from the very text that was indexed."""

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache
from html import unescape

import nh3
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from lutrin.errors import NotFound
from lutrin.ingest.page import page_html
from lutrin.messages import NOTHING_HERE
from lutrin.serve import html
from lutrin.serve.services import Library, PageEntry, ShelvedBook

# Both as `page_html` writes them; whatever a book itself says stands escaped.
CODE = re.compile(r'<pre><code class="language-([^"]+)">(.*?)</code></pre>', re.DOTALL)
IMAGE = re.compile(r'<img src="[^"]*" alt="([^"]*)">')
PDF_PAGE = re.compile(r'<section class="page" id="page-(\d+)">')
"""Citations of a PDF lead to `#page=4`, the form that PDF viewers know too."""

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
        text = await asyncio.to_thread(rendered, source, entry.filename)
        return html.reading(book, pages, entry, text)

    async def _book(self, slug: str) -> ShelvedBook:
        for book in await self._library.books():
            if book.slug == slug:
                return book
        raise NotFound(NOTHING_HERE)


@lru_cache(maxsize=64)
def rendered(source: str, filename: str) -> str:
    """Safe HTML of a source file; anchors of headings are those that citations lead to."""
    page = CODE.sub(_highlighted, IMAGE.sub(_described, page_html(source, filename)))
    return sanitised(PDF_PAGE.sub(r'<section class="page" id="page=\1">', page))


def sanitised(page: str) -> str:
    """HTML without anything that runs or loads: no script, style, handler, frame, form or image from elsewhere."""
    return nh3.clean(page, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"}, link_rel=None)


def _highlighted(match: re.Match[str]) -> str:
    """A code block with its tokens in classes; one in a language that nobody knows stays as it is."""
    try:
        lexer = get_lexer_by_name(unescape(match[1]), stripnl=False)
    except ClassNotFound:
        return match[0]
    inside = highlight(unescape(match[2]), lexer, HtmlFormatter(nowrap=True))
    return f'<pre tabindex="0"><code class="language-{match[1]}">{inside}</code></pre>'


def _described(match: re.Match[str]) -> str:
    """The index holds texts only: of a picture its description is shown."""
    return f'<span class="missing-image">{match[1]}</span>' if match[1] else ""


def _find(pages: Sequence[PageEntry], path: str) -> PageEntry:
    for entry in pages:
        if path in (entry.filename, entry.filename.rpartition(".")[0]):
            return entry
    raise NotFound(NOTHING_HERE)
