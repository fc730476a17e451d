"""What the pages around a book show: plain, well set, readable without a script. The HTML stands in `templates/`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from itertools import groupby

from markupsafe import Markup

from lutrin.messages import NOTHING_HERE
from lutrin.serve.services import PageEntry, ShelvedBook
from lutrin.serve.templating import environment, render

MISSING = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})
TROUBLES: dict[int, str] = {
    HTTPStatus.BAD_REQUEST: "This address does not work",
    HTTPStatus.FORBIDDEN: "Not permitted",
    HTTPStatus.NOT_FOUND: "Page not found",
    HTTPStatus.METHOD_NOT_ALLOWED: "Page not found",
    HTTPStatus.CONFLICT: "Not just now",
    HTTPStatus.INTERNAL_SERVER_ERROR: "An error on this server",
    HTTPStatus.SERVICE_UNAVAILABLE: "Not available right now",
}
"""What the page says first in place of one that could not be shown."""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter in a table of contents."""

    title: str
    """Empty: its pages are in no chapter."""
    opening: PageEntry | None
    """The page that is named as the chapter; the heading leads to it, for twice the same words would be two places."""
    pages: tuple[PageEntry, ...]
    """The other pages."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a book, or all of a book without parts."""

    module: str
    """Its title; empty: the book has no parts here."""
    chapters: tuple[Chapter, ...]


def outline(pages: Iterable[PageEntry]) -> list[Part]:
    """A book's table of contents: parts, chapters, pages, in reading order."""
    return [
        Part(module, tuple(_chapter(title, list(inside)) for title, inside in groupby(within, key=lambda p: p.chapter)))
        for module, within in groupby(pages, key=lambda page: page.module)
    ]


def _chapter(title: str, pages: list[PageEntry]) -> Chapter:
    opens = bool(title) and pages[0].title == title
    return Chapter(title, pages[0] if opens else None, tuple(pages[1:] if opens else pages))


def shelf(books: Sequence[tuple[ShelvedBook, Sequence[PageEntry]]]) -> str:
    """The page at `/`: every book with its table of contents."""
    only = books[0][0] if len(books) == 1 else None
    shown = [
        {"slug": book.slug, "title": book.title, "edition": book.edition, "outline": outline(pages)}
        for book, pages in books
    ]
    title = "Lutrin" if not books else only.title if only else "Books"
    return render("shelf.html", title=title, books=shown, book=only.slug if only else "", chat=bool(books))


def trouble(status: int, detail: str, incident: str = "", *, teacher: bool = False) -> str:
    """The page in place of one that could not be shown: what is the matter, and where to go from here.

    Args:
        status: The HTTP status that it is sent with.
        detail: What is the matter, in a sentence.
        incident: Names the line of the log that says more.
        teacher: Whether the way led to the teacher's page.
    """
    missing, failed = status in MISSING, status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return render(
        "trouble.html",
        title=TROUBLES.get(status, HTTPStatus(status).phrase),
        detail=NOTHING_HERE if missing else detail,
        missing=missing,
        again=failed and not teacher,  # a form of the teacher's cannot be sent again by a link
        teacher=teacher,
        incident=incident,
        chat=missing
        and not teacher,  # search and chat help who is lost; where the server fails they would fail as well
    )


def search(book: str) -> str:
    """The search box.

    Args:
        book: Slug of the book that is searched; empty: all of them.
    """
    return _part("search", book)


def reading(
    book: ShelvedBook,
    pages: Sequence[PageEntry],
    current: PageEntry,
    text: str,
    sections: Sequence[tuple[str, str]] = (),
) -> str:
    """A page of a book.

    Args:
        book: The book.
        pages: All its pages in reading order.
        current: The one that is shown.
        text: Its HTML, sanitised.
        sections: Anchor and title, as safe HTML, of each section on the page.
    """
    position = pages.index(current)
    return render(
        "reading.html",
        title=book.title,
        book=book.slug,
        page=current.filename,
        outline=outline(pages),
        current=current,
        sections=_marked(sections),
        text=Markup(text),  # noqa: S704 - sanitised by `reader.sanitised`
        before=pages[position - 1] if position > 0 else None,
        after=pages[position + 1] if position + 1 < len(pages) else None,
    )


def contents(
    slug: str,
    pages: Iterable[PageEntry],
    current: PageEntry | None = None,
    sections: Sequence[tuple[str, str]] = (),
) -> str:
    """A table of contents as HTML: parts, chapters, pages, as nested lists; of the current page its sections, too."""
    return _part("contents", slug, outline(pages), current, _marked(sections))


def _marked(sections: Sequence[tuple[str, str]]) -> list[tuple[str, Markup]]:
    return [(name, Markup(title)) for name, title in sections]  # noqa: S704 - cut out of a page that was sanitised


def _part(macro: str, *values: object) -> str:
    return str(getattr(environment().get_template("parts.html").module, macro)(*values))
