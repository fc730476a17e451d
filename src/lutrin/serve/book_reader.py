"""The built-in reader: shows the ingested books as pages, rendered from the same text that was indexed."""

import re
from collections.abc import Callable, Sequence
from html import escape, unescape
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from lutrin.errors import NotFound
from lutrin.messages import NOTHING_HERE
from lutrin.prepared import Practice
from lutrin.records import PageEntry
from lutrin.serve import html
from lutrin.serve.budget import Same, Workshop, charge
from lutrin.serve.html import render_practice, sittings_of
from lutrin.serve.library import ShelfLibrary, media_type
from lutrin.serve.render_process import Renderer
from lutrin.serve.rendering import RenderedPage
from lutrin.serve.templating import page_path
from lutrin.study import take_away

Form = Literal["terms", "json", "csv", "apkg"]

PICTURE = re.compile(r'<span class="missing-image picture-(\d+)">([^<]*)</span>')
STARTERS = 3
MOST_RESULTS = 20
"""Entries on the page of search results."""


class Reader:
    """Pages of all books. Each raises NotFound if there is no such book, chapter, page or picture.

    Args:
        opened: Called with each opened page: the book's slug and the file's name.
        reading: Describes the progress of reading the books in a sentence; empty if they are not being read.
    """

    def __init__(
        self,
        library: ShelfLibrary,
        workshop: Workshop,
        renderer: Renderer,
        stamp: Callable[[str], str] = lambda page: page,
        *,
        opened: Callable[[str, str], None] = lambda _slug, _filename: None,
        reading: Callable[[], str] = str,
    ) -> None:
        self._library = library
        self._workshop = workshop
        self._renderer = renderer
        self._stamp = stamp
        self._opened = opened
        self._reading = reading

    async def shelf(self) -> str:
        """The page at `/`."""
        books = [(book, tuple(await self._library.contents(book.slug))) for book in await self._library.books()]
        if not books:
            return self._stamp(html.empty_shelf(self._reading()))
        starters = tuple(await self._library.starters(STARTERS))
        return await self._workshop.once(("shelf", *books, starters), lambda: self._stamp(html.shelf(books, starters)))

    async def version(self) -> str:
        """A value that changes whenever a book is added, updated or removed."""
        books = await self._library.books()
        return " ".join(f"{book.slug}={book.generation} {book.title} {book.line}" for book in books)

    async def cover(self, slug: str) -> str:
        """A book's table of contents."""
        book = await self._library.book(slug)
        pages, starters = tuple(await self._library.contents(slug)), tuple(await self._library.starters(STARTERS, slug))
        return await self._workshop.once(
            ("cover", book, pages, starters), lambda: self._stamp(html.cover(book, pages, starters))
        )

    async def study(self, slug: str, view: str = "study", chapter: int = 0, sitting: int = 1, path: str = "") -> str:
        """A practice page (`VIEWS`); chapters and sittings count from 1, and chapter 0 is the whole book.

        Args:
            path: File of one page: only its cards; empty: those of the chapter.
        """
        book = await self._library.book(slug)
        practice = await self._library.practice(slug)
        page = _find(await self._library.contents(slug), path) if path else None
        self._check_chapter(practice, chapter)
        sitting = min(sitting, sittings_of(practice.of_chapter(chapter)))
        return await self._workshop.once(
            (view, book, chapter, sitting, page, Same(practice)),
            lambda: self._stamp(render_practice(book, practice, view, chapter, sitting=sitting, page=page)),
        )

    async def take_away(self, slug: str, form: Form, chapter: int) -> bytes:
        """A book's `terms`, or a chapter's cards as `json`, `csv`, or `apkg` for Anki."""
        book, practice = await self._library.book(slug), await self._library.practice(slug)
        self._check_chapter(practice, chapter)

        def make() -> bytes:
            cards = practice.of_chapter(chapter)
            match form:
                case "terms":
                    return msgspec.json.encode(practice.glossary)
                case "json":
                    return msgspec.json.encode(cards)
                case "csv":
                    return take_away.table(cards).encode()
                case "apkg":
                    return take_away.anki(book.title, slug, cards)

        return await self._workshop.once((form, book, chapter, Same(practice)), make)

    @staticmethod
    def _check_chapter(practice: Practice, chapter: int) -> None:
        if chapter > max(1, len(practice.chapters)):
            raise NotFound(NOTHING_HERE)

    async def results(self, typed: str, slug: str) -> str:
        """The page of search results."""
        book = await self._library.book(slug) if slug else None
        suggestions = await self._library.find(f"{typed} ", slug, MOST_RESULTS) if typed else ()
        return await self._workshop.do(lambda: self._stamp(html.results(book, typed, suggestions)))

    async def page(self, slug: str, path: str) -> str:
        """A page of a book, by its file's name with or without suffix."""
        book = await self._library.book(slug)
        pages = await self._library.contents(slug)
        entry = _find(pages, path.strip("/"))
        self._opened(slug, entry.filename)
        page = await self._render(slug, entry.filename)
        there = await self._library.find_pictures(slug, entry.filename, page.pictures)
        notes = await self._library.notes(slug, entry.filename)
        starters = await self._library.starters(STARTERS, slug, entry.filename)
        labels = await self._library.page_labels(slug, entry.filename)
        exercises = await self._library.exercises(slug, entry.filename)

        def make() -> str:
            text = PICTURE.sub(lambda match: _picture_html(match, slug, entry.filename, there), page.html)
            text = html.with_notes(html.with_page_labels(text, labels), notes)
            return self._stamp(
                html.reading(book, pages, entry, text, page.sections, starters=starters, exercises=exercises)
            )

        return await self._workshop.do(make)

    async def picture(self, slug: str, path: str, number: int) -> tuple[bytes, str]:
        """A picture from a page of a book, by its index on the page, from 0, and its media type.

        Readers address it by page and number, never by file: they cannot request a file that no page shows.
        """
        entry = _find(await self._library.contents(slug), path.strip("/"))
        page = await self._render(slug, entry.filename)
        address = page.pictures[number] if 0 <= number < len(page.pictures) else ""
        (name,) = await self._library.find_pictures(slug, entry.filename, [address])
        if not name:
            raise NotFound(NOTHING_HERE)
        return await self._library.picture(slug, name), media_type(name)

    async def _render(self, slug: str, filename: str) -> RenderedPage:
        source = await self._library.source(slug, filename)

        def make() -> RenderedPage:
            page, spent_s = self._renderer.render(source, filename)
            charge(spent_s)
            return page

        return await self._workshop.once(("page", filename, source), make, lambda page: len(page.html) + len(source))


def _picture_html(match: re.Match[str], slug: str, filename: str, there: Sequence[str]) -> str:
    """A picture if its file exists, else its description in a frame; one without description is decoration."""
    number, description = int(match[1]), unescape(match[2])
    if number >= len(there) or not there[number]:
        return f'<span class="missing-image">{match[2]}</span>' if match[2] else ""
    address = page_path(slug, filename).replace("/read/", f"/picture/{number}/", 1)
    kind = media_type(there[number])
    # The page's script decides whether a bitmap is a drawing; a JPEG is a photograph.
    look = ' class="drawing"' if kind == "image/svg+xml" else " data-look" if kind != "image/jpeg" else ""
    return f'<img{look} src="{escape(address)}" alt="{escape(description)}" loading="lazy" decoding="async">'


def _find(pages: Sequence[PageEntry], path: str) -> PageEntry:
    for entry in pages:
        if path in (entry.filename, str(PurePosixPath(entry.filename).with_suffix(""))):
            return entry
    raise NotFound(NOTHING_HERE)
