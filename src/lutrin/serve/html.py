"""The HTML around a page of a book: plain, well set, readable without a script."""

from collections.abc import Iterable, Sequence
from html import escape
from http import HTTPStatus
from itertools import groupby
from pathlib import PurePosixPath
from urllib.parse import quote

from lutrin.messages import NOTHING_HERE
from lutrin.serve.services import PageEntry, ShelvedBook

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


def page_path(slug: str, filename: str) -> str:
    """Path of a page in the reader: Markdown loses its suffix, other files keep it, as citations lead to them."""
    path = PurePosixPath(filename)
    name = str(path.with_suffix("")) if path.suffix.lower() in {".md", ".mdx", ".markdown"} else filename
    return f"/read/{quote(slug)}/{quote(name)}"


def document(title: str, body: str, *, book: str = "", page: str = "", chat: bool = True) -> str:
    """A whole HTML document.

    Args:
        title: Text of the browser's tab.
        body: HTML inside `<body>`, already safe.
        book: Slug that chat and search ask; empty: they ask them all.
        page: Name of the file that is shown, which the chat sends with each question; empty: it is no page of a book.
        chat: Whether the widget is on it.
    """
    asked = (f' book="{escape(book)}"' if book else "") + (f' page="{escape(page)}"' if page else "")
    widget = f'<lutrin-chat api="/"{asked}></lutrin-chat>\n' if chat else ""
    script = '<script src="/widget/lutrin.js" defer></script>\n' if chat else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/reader.css">
{script}<script src="/static/reader.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
{body}
{widget}</body>
</html>
"""


def shelf(books: Sequence[tuple[ShelvedBook, Sequence[PageEntry]]]) -> str:
    """The page at `/`: every book with its table of contents."""
    if not books:
        hint = "No book has been ingested yet. Put one into <code>corpus/</code> and run <code>just ingest</code>."
        return document("Lutrin", f'<main id="content" class="shelf"><h1>Lutrin</h1><p>{hint}</p></main>')
    parts = []
    for book, pages in books:
        edition = f'<p class="edition">{escape(book.edition)}</p>' if book.edition else ""
        parts.append(
            f'<section data-book="{escape(book.slug)}"><h1>{escape(book.title)}</h1>{edition}'
            f'<nav aria-label="Contents of {escape(book.title)}">{contents(book.slug, pages)}</nav></section>'
        )
    title = books[0][0].title if len(books) == 1 else "Books"
    slug = books[0][0].slug if len(books) == 1 else ""
    top = f'<header class="top"><span class="home">Lutrin</span>{search(slug)}</header>'
    return document(title, f'{top}<main id="content" class="shelf">{"".join(parts)}</main>', book=slug)


def trouble(status: int, detail: str, incident: str = "", *, teacher: bool = False) -> str:
    """The page in place of one that could not be shown: what is the matter, and where to go from here.

    Args:
        status: The HTTP status that it is sent with.
        detail: What is the matter, in a sentence.
        incident: Names the line of the log that says more.
        teacher: Whether the way led to the teacher's page.
    """
    missing, failed = status in MISSING, status >= HTTPStatus.INTERNAL_SERVER_ERROR
    sentences = [escape(NOTHING_HERE if missing else detail)]
    if missing:
        sentences.append("The address may be mistyped, or the page was renamed when the book was read again.")
    # A form of the teacher's cannot be sent again by a link.
    links = ['<a href="">Try again</a>'] if failed and not teacher else []
    links.append('<a href="/teacher">To the teacher’s page</a>' if teacher else '<a href="/">To the books</a>')
    number = f'<p class="number">Number of this error: <code>{escape(incident)}</code></p>' if incident else ""
    title = TROUBLES.get(status, HTTPStatus(status).phrase)
    # Search and chat help who is lost; where the server fails they would fail as well.
    lost = missing and not teacher
    top = f'<header class="top"><a class="home" href="/">Lutrin</a>{search("") if lost else ""}</header>'
    main = f'<h1>{escape(title)}</h1><p>{" ".join(sentences)}</p><p class="ways">{"".join(links)}</p>{number}'
    return document(title, f'{top}<main id="content" class="shelf trouble">{main}</main>', chat=lost)


def search(book: str) -> str:
    """The search box; it appears where a script can fill it.

    Args:
        book: Slug of the book that is searched; empty: all of them.
    """
    what = "the book" if book else "the books"
    return (
        f'<form class="search" role="search" data-book="{escape(book)}" hidden>'
        f'<input type="search" name="query" placeholder="Search {what}" aria-label="Search {what}"'
        ' autocomplete="off" maxlength="500"><p class="found-count" role="status"></p>'
        f'<ol class="found" aria-label="Found in {what}" hidden></ol></form>'
    )


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
    before = pages[position - 1] if position > 0 else None
    after = pages[position + 1] if position + 1 < len(pages) else None
    turn = "".join(
        f'<a rel="{rel}" href="{page_path(book.slug, page.filename)}"><span>{label}</span> {escape(page.title)}</a>'
        for rel, label, page in (("prev", "Previous", before), ("next", "Next", after))
        if page is not None
    )
    where = (
        f'<p class="where">{escape(current.chapter or current.module)}</p>' if current.chapter or current.module else ""
    )
    top = (
        f'<a class="home" href="/">{escape(book.title)}</a>{search(book.slug)}'
        '<a class="to-contents" href="#contents">Contents</a>'
    )
    body = f"""<header class="top">{top}</header>
<div class="spread">
<nav class="aside" id="contents" aria-label="Contents">{contents(book.slug, pages, current, sections)}</nav>
<main id="content" data-book="{escape(book.slug)}" data-title="{escape(current.title)}">{where}
<article>{text}</article>
<nav class="turn" aria-label="Pages">{turn}</nav>
</main>
</div>"""
    return document(f"{current.title} · {book.title}", body, book=book.slug, page=current.filename)


def contents(
    slug: str,
    pages: Iterable[PageEntry],
    current: PageEntry | None = None,
    sections: Sequence[tuple[str, str]] = (),
) -> str:
    """A table of contents: modules, chapters, pages, as nested lists; of the current page its sections, too.

    A page that is named as its chapter is led to by the chapter's heading: twice the same words would be two places.
    """
    items = "".join(f'<li><a href="#{quote(anchor, safe="=")}">{title}</a></li>' for anchor, title in sections)
    inside = f'<ul class="sections">{items}</ul>' if items else ""
    parts = []
    for module, in_module in groupby(pages, key=lambda page: page.module):
        chapters = []
        for chapter, in_chapter in groupby(in_module, key=lambda page: page.chapter):
            first, *rest = entries = list(in_chapter)
            level = "h3" if module else "h2"
            if chapter and first.title == chapter:
                opening, below = _link(slug, first, current, inside)
                chapters.append(f'<{level} class="chapter">{opening}</{level}>{below}')
                entries = rest
            elif chapter:
                chapters.append(f'<{level} class="chapter">{escape(chapter)}</{level}>')
            listed = "".join(f"<li>{''.join(_link(slug, page, current, inside))}</li>" for page in entries)
            chapters.append(f"<ul>{listed}</ul>" if listed else "")
        heading = f'<h2 class="module">{escape(module)}</h2>' if module else ""
        parts.append(heading + "".join(chapters))
    return "".join(parts)


def _link(slug: str, page: PageEntry, current: PageEntry | None, sections: str) -> tuple[str, str]:
    """The link to a page, and what stands below it."""
    here = page == current
    mark = ' aria-current="page"' if here else ""
    return (
        f'<a href="{page_path(slug, page.filename)}"{mark}>{escape(page.title)}</a>',
        sections if here else "",
    )
