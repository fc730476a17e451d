"""The built-in reader: shows the ingested books as pages, rendered from the same text that was indexed."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape, unescape
from itertools import pairwise
from pathlib import PurePosixPath
from urllib.parse import quote

import nh3
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from lutrin.errors import NotFound
from lutrin.ingest.formats import page_html
from lutrin.messages import NOTHING_HERE
from lutrin.serve import html, maths
from lutrin.serve.addresses import page_path
from lutrin.serve.diagrams import with_diagrams
from lutrin.serve.pictures import media_type
from lutrin.serve.practice import render_practice
from lutrin.serve.services import Library, PageEntry, ShelvedBook
from lutrin.study import take_away
from lutrin.study.deck import Card, Practice

# All as `page_html` writes them; whatever a book itself says stands escaped.
CODE = re.compile(r'<pre><code class="language-([^"]+)">(.*?)</code></pre>', re.DOTALL)
IMAGE = re.compile(r'<img src="([^"]*)" alt="([^"]*)">')
SECTION = re.compile(r'<h2 id="([^"]+)">(.*?)</h2>', re.DOTALL)
JOINED = re.compile(r'<math display="inline">(?:(?!</math>).)*</math>[,.;:!?)]+', re.DOTALL)
PICTURE = re.compile(r'<span class="missing-image picture-(\d+)">([^<]*)</span>')
STARTERS = 3
PAGES_A_PART = 8
"""Of a PDF without chapters: about as much as a page of a book made for the screen."""
MOST_PARTLESS = 2
MOST_RESULTS = 20
"""On the page that lists what fits words."""
TABLE = re.compile(r"<table\b(?:(?!<table\b).)*?</table>", re.DOTALL)
LINKED = re.compile(r'<h([2-4]) id="([^"]+)">(.*?)</h\1>', re.DOTALL)
TAG = re.compile(r"<[^>]+>")
PDF_SECTION = re.compile(r'<section class="page" id="page=\d+">')
TITLE = re.compile(r'<h1 id="([^"]+)">(.*?)</h1>', re.DOTALL)
PDF_PAGE = re.compile(r'<section class="page" id="page-(\d+)">')
"""Citations of a PDF lead to `#page=4`, the form that PDF viewers know too."""

_CLASSES = {"class"}
_ATTRIBUTES = {
    **{tag: {*names} for tag, names in nh3.ALLOWED_ATTRIBUTES.items()},
    **{f"h{level}": {"id", "class"} for level in range(1, 7)},
    **maths.ATTRIBUTES,
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
_TAGS = {*nh3.ALLOWED_TAGS, *maths.TAGS, "aside", "details", "figcaption", "figure", "section", "summary"} - {"img"}


@dataclass(frozen=True, slots=True)
class Rendered:
    """A page's text, rendered."""

    html: str
    """Safe; a picture is a `span` that holds its description."""
    pictures: tuple[str, ...]
    """Addresses of its pictures, as the page writes them."""
    sections: tuple[tuple[str, str], ...]
    """Anchor and title, as safe HTML, of each section."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture, ready to be sent."""

    body: bytes
    media_type: str


class Reader:
    """Pages of all books.

    Args:
        library: The books.
    """

    def __init__(self, library: Library) -> None:
        self._library = library

    async def shelf(self) -> str:
        """The page at `/`."""
        books = [(book, await self._library.contents(book.slug)) for book in await self._library.books()]
        return html.shelf(books, await self._library.starters(STARTERS))

    async def version(self) -> str:
        """A value that changes whenever a book is added, updated or removed."""
        return " ".join(sorted(f"{book.slug}={book.generation}" for book in await self._library.books()))

    async def cover(self, slug: str) -> str:
        """A book's table of contents.

        Raises:
            NotFound: There is no such book.
        """
        book = await self._book(slug)
        return html.cover(book, await self._library.contents(slug), await self._library.starters(STARTERS, slug))

    async def practice(self, slug: str) -> Practice:
        """Return a book's practice material.

        Raises:
            NotFound: There is no such book.
        """
        await self._book(slug)
        return await self._library.practice(slug)

    async def study(self, slug: str, view: str = "study", chapter: int = 0) -> str:
        """One of the practice pages.

        Args:
            slug: Of the book.
            view: Which one: `study`, `deck`, `worksheet`, `glossary` or `guide`.
            chapter: Number of the chapter, from 1; 0: the whole book.

        Raises:
            NotFound: There is no such book.
        """
        book = await self._book(slug)
        return render_practice(book, await self._library.practice(slug), view, chapter)

    async def package(self, slug: str, cards: Sequence[Card]) -> bytes:
        """The cards as an Anki package.

        Raises:
            NotFound: There is no such book.
        """
        book = await self._book(slug)
        return await asyncio.to_thread(take_away.anki, book.title, slug, cards)

    async def results(self, typed: str, slug: str) -> str:
        """The page of search results.

        Args:
            typed: The words; empty: none yet.
            slug: Of the book; empty: all of them.

        Raises:
            NotFound: There is no such book.
        """
        book = await self._book(slug) if slug else None
        found = await self._library.find(f"{typed} ", slug, MOST_RESULTS) if typed else ()
        return html.results(book, typed, found)

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
        page = await self._rendered(slug, entry.filename)
        there = [await self._library.find_picture(slug, entry.filename, address) for address in page.pictures]
        text = PICTURE.sub(lambda match: _shown(match, slug, entry.filename, there), page.html)
        text = html.with_notes(text, await self._library.notes(slug, entry.filename))
        starters = await self._library.starters(STARTERS, slug, entry.filename)
        return html.reading(book, pages, entry, text, page.sections, starters=starters)

    async def picture(self, slug: str, path: str, number: int) -> Picture:
        """A picture from a page of a book.

        Readers name it by its page and number, never by its file: what no page shows cannot be asked for.

        Args:
            slug: Of the book.
            path: The page's file.
            number: Ordinal on the page, from 0.

        Raises:
            NotFound: There is no such book, page or picture.
        """
        entry = _find(await self._library.contents(slug), path.strip("/"))
        page = await self._rendered(slug, entry.filename)
        address = page.pictures[number] if 0 <= number < len(page.pictures) else ""
        name = await self._library.find_picture(slug, entry.filename, address)
        if not name:
            raise NotFound(NOTHING_HERE)
        return Picture(await self._library.picture(slug, name), media_type(name))

    async def _rendered(self, slug: str, filename: str) -> Rendered:
        source = await self._library.source(slug, filename)
        return await asyncio.to_thread(rendered, source, filename)

    async def _book(self, slug: str) -> ShelvedBook:
        for book in await self._library.books():
            if book.slug == slug:
                return book
        raise NotFound(NOTHING_HERE)


@lru_cache(maxsize=64)
def rendered(source: str, filename: str) -> Rendered:
    """Render a source file as safe HTML, with the heading anchors that citations link to."""
    pictures: list[str] = []

    def described(match: re.Match[str]) -> str:
        pictures.append(unescape(match[1]))
        return f'<span class="missing-image picture-{len(pictures) - 1}">{match[2]}</span>'

    page = maths.with_mathml(CODE.sub(_highlighted, IMAGE.sub(described, page_html(source, filename))))
    safe = sanitised(PDF_PAGE.sub(r'<section class="page" id="page=\1">', page))
    sections = tuple((unescape(match[1]), _without_links(match[2])) for match in SECTION.finditer(safe))
    scrollable = safe.replace("<pre><code", '<pre tabindex="0"><code')
    scrollable = TABLE.sub(r'<div class="wide" role="region" aria-label="Table" tabindex="0">\g<0></div>', scrollable)
    # A browser would begin a line with the comma behind a formula.
    whole = with_anchors(JOINED.sub(r'<span class="joined">\g<0></span>', scrollable))
    parts, chapters = in_parts(whole)
    return Rendered(with_diagrams(parts), tuple(pictures), chapters or sections)


def with_anchors(page: str) -> str:
    """Add a link to each heading of a page, so that readers can share it."""

    def linked(match: re.Match[str]) -> str:
        level, anchor, title = match.groups()
        said = unescape(TAG.sub("", title))
        link = (
            f'<a class="anchor" href="#{quote(unescape(anchor), safe="=")}" aria-label="Link to: {escape(said)}"></a>'
        )
        return f'<h{level} id="{anchor}">{title}{link}</h{level}>'

    return LINKED.sub(linked, page)


def in_parts(page: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Split a long PDF into chapters, or into parts of a few pages if it has no chapters.

    Args:
        page: HTML with a section for each page of the PDF; others are left as they are.

    Returns:
        The page, each part in a `div`, and for each part an anchor in it and its title, as safe HTML; none if it is
        no PDF, or a short one.
    """
    pages = PDF_SECTION.split(page)[1:]
    if len(pages) <= PAGES_A_PART:
        return page, ()
    openings = [TITLE.search(one) for one in pages]
    starts = [number for number, title in enumerate(openings) if title]
    if len(starts) < MOST_PARTLESS:
        starts = list(range(0, len(pages), PAGES_A_PART))
    bounds = [0, *(start for start in starts if start), len(pages)]
    parts, chapters = [], []
    for first, end in pairwise(bounds):
        title = openings[first]
        span = f"Page {first + 1}" if end - first == 1 else f"Pages {first + 1} to {end}"
        chapters.append((title[1], _without_links(title[2])) if title else (f"page={first + 1}", span))
        inside = "".join(f'<section class="page" id="page={n}">{pages[n - 1]}' for n in range(first + 1, end + 1))
        heading = "" if title else f'<h1 class="quietly">{span}</h1>'
        parts.append(f'<div class="part" data-pages="{span}">{heading}{inside}</div>')
    return "".join(parts), tuple(chapters)


def pictures_in(source: str, filename: str) -> list[str]:
    """Addresses of the pictures on a page, as the page writes them."""
    return [unescape(address) for address, _ in IMAGE.findall(page_html(source, filename))]


def sanitised(page: str) -> str:
    """Remove everything from HTML that runs or loads: scripts, styles, handlers, frames, forms and pictures."""
    return nh3.clean(page, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"}, link_rel=None)


def _highlighted(match: re.Match[str]) -> str:
    """A code block with its tokens in classes; one in a language that nobody knows stays as it is."""
    try:
        lexer = get_lexer_by_name(unescape(match[1]), stripnl=False)
    except ClassNotFound:
        return match[0]
    inside = highlight(unescape(match[2]), lexer, HtmlFormatter(nowrap=True))
    return f'<pre tabindex="0"><code class="language-{match[1]}">{inside}</code></pre>'


def _shown(match: re.Match[str], slug: str, filename: str, there: Sequence[str]) -> str:
    """A picture if its file is there, else its description in a frame; one without description is decoration."""
    number, description = int(match[1]), unescape(match[2])
    if number >= len(there) or not there[number]:
        return f'<span class="missing-image">{match[2]}</span>' if match[2] else ""
    address = page_path(slug, filename).replace("/read/", f"/picture/{number}/", 1)
    kind = media_type(there[number])
    # Whether one made of pixels is a drawing is seen by the page's script; a JPEG is a photograph.
    look = ' class="drawing"' if kind == "image/svg+xml" else " data-look" if kind != "image/jpeg" else ""
    return f'<img{look} src="{escape(address)}" alt="{escape(description)}" loading="lazy" decoding="async">'


def _without_links(inside: str) -> str:
    return re.sub(r'<a class="anchor"[^>]*></a>|</?a\b[^>]*>', "", inside)


def _find(pages: Sequence[PageEntry], path: str) -> PageEntry:
    for entry in pages:
        if path in (entry.filename, str(PurePosixPath(entry.filename).with_suffix(""))):
            return entry
    raise NotFound(NOTHING_HERE)
