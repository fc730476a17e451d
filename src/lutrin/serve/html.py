"""The HTML around a page of a book: plain, well set, readable without a script."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby
from pathlib import PurePosixPath
from urllib.parse import quote

from lutrin.serve.services import PageEntry, ShelvedBook


def page_path(slug: str, filename: str) -> str:
    """Path of a page in the reader: a PDF keeps its suffix, as citations lead to it."""
    path = PurePosixPath(filename)
    name = filename if path.suffix.lower() == ".pdf" else str(path.with_suffix(""))
    return f"/read/{quote(slug)}/{quote(name)}"


def document(title: str, body: str, *, book: str = "") -> str:
    """A whole HTML document.

    Args:
        title: Text of the browser's tab.
        body: HTML inside `<body>`, already safe.
        book: Slug that the chat panel asks; empty: the panel asks them all.
    """
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="lutrin-book" content="{escape(book)}">
<title>{escape(title)}</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/reader.css">
<link rel="stylesheet" href="/static/chat.css">
<script type="module" src="/static/chat.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
{body}
</body>
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
            f"<section><h1>{escape(book.title)}</h1>{edition}"
            f'<nav aria-label="Contents of {escape(book.title)}">{contents(book.slug, pages)}</nav></section>'
        )
    title = books[0][0].title if len(books) == 1 else "Books"
    slug = books[0][0].slug if len(books) == 1 else ""
    return document(title, f'<main id="content" class="shelf">{"".join(parts)}</main>', book=slug)


def reading(book: ShelvedBook, pages: Sequence[PageEntry], current: PageEntry, text: str) -> str:
    """A page of a book.

    Args:
        book: The book.
        pages: All its pages in reading order.
        current: The one that is shown.
        text: Its HTML, sanitised.
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
    top = f'<a href="/">{escape(book.title)}</a><a class="to-contents" href="#contents">Contents</a>'
    body = f"""<header class="top">{top}</header>
<div class="spread">
<nav class="aside" id="contents" aria-label="Contents">{contents(book.slug, pages, current)}</nav>
<main id="content">{where}
<article>{text}</article>
<nav class="turn" aria-label="Pages">{turn}</nav>
</main>
</div>"""
    return document(f"{current.title} · {book.title}", body, book=book.slug)


def contents(slug: str, pages: Iterable[PageEntry], current: PageEntry | None = None) -> str:
    """A table of contents: modules, chapters, pages, as nested lists."""
    parts = []
    for module, in_module in groupby(pages, key=lambda page: page.module):
        chapters = []
        for chapter, in_chapter in groupby(in_module, key=lambda page: page.chapter):
            items = "".join(_entry(slug, page, current) for page in in_chapter)
            heading = f"<h3>{escape(chapter)}</h3>" if chapter else ""
            chapters.append(f"{heading}<ul>{items}</ul>")
        heading = f"<h2>{escape(module)}</h2>" if module else ""
        parts.append(heading + "".join(chapters))
    return "".join(parts)


def _entry(slug: str, page: PageEntry, current: PageEntry | None) -> str:
    here = ' aria-current="page"' if page == current else ""
    return f'<li><a href="{page_path(slug, page.filename)}"{here}>{escape(page.title)}</a></li>'
