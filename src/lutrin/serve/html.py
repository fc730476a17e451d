"""The pages around a book, and the practice pages, readable without a script; their HTML is in `templates/`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape, unescape
from http import HTTPStatus
from itertools import groupby, pairwise

from markupsafe import Markup

from lutrin.ingest.labels import label_after
from lutrin.messages import (
    ASSIGNMENT_OVER,
    BOOKS,
    CARD_KINDS,
    NOTHING_HERE,
    OFFLINE,
    OFFLINE_TITLE,
    PAGE,
    TROUBLES,
)
from lutrin.prepared import CHOICE_LETTERS, ON_PAPER, Card, GlossaryTerm, Practice
from lutrin.records import PageEntry, ShelvedBook
from lutrin.serve.finding import Suggestion
from lutrin.serve.notes import Notes
from lutrin.serve.rendering import PDF_SECTION
from lutrin.serve.templating import book_path, count_of, environment, page_path, render

SECTION_START = re.compile(r'<h2 id="')
HEADING = re.compile(r'<h[1-6] id="([^"]+)"')
MISSING = frozenset({HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED})


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter in a table of contents."""

    title: str
    """Empty: its pages are outside of chapters."""
    opening: PageEntry | None
    """The page with the chapter's name; the heading links to it, for the same words twice would look like two."""
    pages: tuple[PageEntry, ...]
    """The other pages."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a book, or all of a book without parts."""

    module: str
    """Its title; empty: the book has no parts here."""
    chapters: tuple[Chapter, ...]
    opening: PageEntry | None = None
    """The page with the part's name; its heading links there."""


def outline(pages: Iterable[PageEntry]) -> list[Part]:
    """Arrange a book's pages by part and chapter, in reading order."""
    parts = [
        Part(module, tuple(_chapter(title, list(inside)) for title, inside in groupby(within, key=lambda p: p.chapter)))
        for module, within in groupby(pages, key=lambda page: page.module)
    ]
    for number, (before, part) in enumerate(pairwise(parts)):
        last = before.chapters[-1]
        if not before.module and last.opening is not None and last.title == part.module:
            own = (Chapter("", None, last.pages),) if last.pages else ()
            parts[number] = replace(before, chapters=before.chapters[:-1])
            parts[number + 1] = replace(part, chapters=(*own, *part.chapters), opening=last.opening)
    return [part for part in parts if part.chapters]


def _chapter(title: str, pages: list[PageEntry]) -> Chapter:
    opens = bool(title) and pages[0].title == title
    return Chapter(title, pages[0] if opens else None, tuple(pages[1:] if opens else pages))


def shelf(books: Sequence[tuple[ShelvedBook, Sequence[PageEntry]]], starters: Sequence[str] = ()) -> str:
    """The page at `/`: a card for each book, one box, and starter questions; a single book has its contents."""
    only = books[0][0] if len(books) == 1 else None
    covers = [
        {**_cover(book, pages), "slug": book.slug, "address": _first(book, pages) if only else book_path(book.slug)}
        for book, pages in books
    ]
    title = only.title if only else BOOKS
    values = {"title": title, "books": covers, "book": only.slug if only else "", "starters": starters}
    return render("shelf.html", **values)


def empty_shelf(reading: str) -> str:
    """The page at `/` before the first book is there; `reading` describes the progress of reading, if any."""
    return render("shelf.html", chat=False, title="Lutrin", books=(), book="", starters=(), reading=reading)


def cover(book: ShelvedBook, pages: Sequence[PageEntry], starters: Sequence[str] = ()) -> str:
    """A book's table of contents."""
    return render("book.html", book=book.slug, starters=starters, hints=book.hints, **_cover(book, pages))


def results(book: ShelvedBook | None, typed: str, suggestions: Sequence[Suggestion]) -> str:
    """Render the search results as a page, for browsers without scripts and for links."""
    home = {"address": book_path(book.slug), "title": book.title} if book else {"address": "/", "title": "Lutrin"}
    return render("search.html", book=book.slug if book else "", home=home, typed=typed, suggestions=suggestions)


def _cover(book: ShelvedBook, pages: Sequence[PageEntry]) -> dict[str, object]:
    chapters = [count_of(book.chapters, "chapter")] if book.chapters > 1 else []
    return {
        "title": book.title,
        "edition": book.edition,
        "line": book.line,
        "size": ", ".join([*chapters, count_of(book.pages or len(pages), "page")]),
        "outline": outline(pages),
    }


def _first(book: ShelvedBook, pages: Sequence[PageEntry]) -> str:
    return page_path(book.slug, pages[0].filename) if pages else "/"


def trouble(status: int, detail: str, incident: str = "", *, teacher: bool = False) -> str:
    """The error page: says what went wrong and where to go from here."""
    missing, failed = status in MISSING, status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return render(
        "trouble.html",
        title=TROUBLES.get(status, HTTPStatus(status).phrase),
        detail=NOTHING_HERE if missing and detail != ASSIGNMENT_OVER else detail,
        missing=missing,
        again=failed and not teacher,  # a form of the teacher's cannot be sent again by a link
        teacher=teacher,
        incident=incident,
        # Search and chat help a lost reader; if the server fails, they would fail as well.
        chat=missing and not teacher,
    )


def offline() -> str:
    """The offline page, for a page that this browser has not stored."""
    return render("trouble.html", title=OFFLINE_TITLE, detail=OFFLINE, history=True, again=True, chat=False)


def reading(
    book: ShelvedBook,
    pages: Sequence[PageEntry],
    current: PageEntry,
    text: str,
    sections: Sequence[tuple[str, str]] = (),
    *,
    starters: Sequence[str] = (),
    exercises: Sequence[str] = (),
) -> str:
    """A page of a book.

    Args:
        text: Its HTML, sanitised.
        sections: Anchor and title (as safe HTML) of each section.
        exercises: Anchors of the sections with the book's own exercises.
    """
    position = pages.index(current)
    return render(
        "reading.html",
        title=book.title,
        edition=book.edition,
        book=book.slug,
        cover=book_path(book.slug),
        page=current.filename,
        outline=outline(pages),
        current=current,
        sections=[(name, Markup(title)) for name, title in sections],  # noqa: S704 - as `text`
        starters=starters,
        hints=book.hints,
        exercises=exercises,
        text=Markup(text),  # noqa: S704 - sanitised by `rendering.sanitise`
        before=pages[position - 1] if position > 0 else None,
        after=pages[position + 1] if position + 1 < len(pages) else None,
    )


def with_page_labels(text: str, labels: Mapping[int, str]) -> str:
    """Head each page of a sanitised PDF with its printed number, if that is known or follows from an earlier one."""
    label = ""

    def head(page: re.Match[str]) -> str:
        nonlocal label
        label = labels.get(int(page[0].partition("page=")[2].rstrip('">'))) or label_after(label)
        number = PAGE.format(label=escape(label))
        return f'{page[0]}<p class="page-number"><small>{number}</small></p>' if label else page[0]

    return PDF_SECTION.sub(head, text) if labels else text


def with_notes(text: str, notes: Mapping[str, Notes]) -> str:
    """Add the notes of each section (`<h2 id="...">`) to a sanitised page, by anchor; those of "" come first."""
    if not notes:
        return text
    macro = vars(environment().get_template("parts.html").module)["notes"]
    starts = [0, *(match.start() for match in SECTION_START.finditer(text)), len(text)]
    pieces = []
    for start, end in pairwise(starts):
        piece = text[start:end]
        anchors = [unescape(match[1]) for match in HEADING.finditer(piece)]
        own = sum((notes[name] for name in ([] if start else [""]) + anchors if name in notes), Notes())
        pieces.append(piece + (str(macro(own)) if own else ""))
    return "".join(pieces)


WORKSHEET_CARDS = 40
"""Questions on one worksheet, spread over its chapter; more would not fit a lesson."""
SITTING_CARDS = 10
"""Cards of one sitting: some minutes of work."""
VIEWS = ("study", "deck", "today", "worksheet", "glossary", "guide")


def render_practice(
    book: ShelvedBook,
    practice: Practice,
    view: str,
    chapter: int,
    *,
    sitting: int = 1,
    page: PageEntry | None = None,
) -> str:
    """Render a practice page; chapters and sittings count from 1, and chapter 0 is the whole book.

    Args:
        page: Limit it to the cards of this page of the book, in one sitting.
    """
    if view not in VIEWS:
        raise ValueError(f"there is no page {view}")
    heading = practice.chapters[chapter - 1] if 0 < chapter <= len(practice.chapters) else book.title
    cards = practice.of_page(page_path(book.slug, page.filename)) if page else practice.of_chapter(chapter)
    selection: Sequence[Card] = cards
    if view == "worksheet":
        fit = [card for card in cards if card.kind in ON_PAPER]
        most = min(len(fit), WORKSHEET_CARDS)
        selection = [fit[place * len(fit) // most] for place in range(most)]
    elif view == "deck" and page is None:
        selection = cards[sitting - 1 :: sittings_of(cards)]  # each goes through the whole chapter: none is of one page
    return render(
        f"study-{view}.html",
        book=book.slug,
        title=book.title,
        edition=book.edition,
        chapters=[(title, len(practice.of_chapter(number))) for number, title in enumerate(practice.chapters, 1)],
        chapter=chapter,
        heading=page.title if page else heading,
        cards=selection,
        sitting=sitting,
        sittings=1 if page else sittings_of(cards),
        quizzed=page,
        hints=book.hints,
        again=list(dict.fromkeys((card.section, card.url) for card in selection)),
        kinds=CARD_KINDS,
        letters=CHOICE_LETTERS,
        glossary=by_letter(practice.glossary),
        guide=practice.guide,
        total=len(practice.cards),
        terms=len(practice.glossary),
    )


def sittings_of(cards: Sequence[Card]) -> int:
    """Number of sittings for some cards."""
    return max(1, -(-len(cards) // SITTING_CARDS))


def by_letter(glossary: Sequence[GlossaryTerm]) -> list[tuple[str, list[GlossaryTerm]]]:
    """Terms by first letter; those that begin otherwise come under `#`."""

    def letter(term: GlossaryTerm) -> str:
        first = term.term[:1].upper()
        return first if first.isalpha() else "#"

    ordered = sorted(glossary, key=lambda term: (letter(term) == "#", letter(term), term.term.casefold()))
    return [(name, list(group)) for name, group in groupby(ordered, key=letter)]
