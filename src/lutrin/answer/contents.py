"""Answers questions about the book itself from its table of contents."""

from collections.abc import Mapping, Sequence

from lutrin import messages
from lutrin.answer.plan import Plan
from lutrin.index.generation import FileEntry, OpenGeneration
from lutrin.language.words import content_stems
from lutrin.query.frames import About
from lutrin.query.understand import Query
from lutrin.records import BookInfo
from lutrin.search.filters import chapter_of_number

MOST_LISTED = 40
"""Lines of a list that a reader will still read."""


def from_contents(query: Query, generation: OpenGeneration) -> Plan:
    """Answer a question about the book itself from its table of contents."""
    if query.about is None:
        raise ValueError("the question is not about the book itself")
    text = about_book(query.about, generation.book, generation.files, page=query.page)
    return Plan(query, generation.book.title, generation.name, text, warnings=query.warnings)


def about_book(about: About, book: BookInfo, files: Sequence[FileEntry], *, page: str = "") -> str:
    """Answer a question about the book itself, in Markdown; `page` is the one that the reader is on."""
    if about.of == "self":
        return messages.I_AM.format(title=book.title)
    chapters: dict[str, list[FileEntry]] = {}
    for one in files:
        # A page without a chapter counts as one.
        chapters.setdefault(one.chapter or one.title, []).append(one)
    if about.of != "chapter":
        return _contents(book, chapters)
    name = _find_chapter(about, chapters, page)
    if name is None:
        missing = messages.NOT_THIS_CHAPTER if about.is_here else messages.NO_SUCH_CHAPTER
        return missing.format(chapter=about.chapter, contents=_contents(book, chapters))
    pages = chapters[name]
    if len(pages) == 1:
        return messages.CHAPTER_OF_ONE_PAGE.format(chapter=name, page=pages[0].title)
    return _list(messages.CHAPTER_HAS.format(chapter=name, count=len(pages)), [f"- {one.title}" for one in pages])


def _contents(book: BookInfo, chapters: Mapping[str, Sequence[FileEntry]]) -> str:
    """How many chapters the book has, and their titles under its modules."""
    lines, module = [], ""
    for name, pages in chapters.items():
        if pages[0].module != module and (module := pages[0].module):
            lines.append(f"- **{module}**")
        lines.append(f"{'  ' if module else ''}- {name}")
    lead = messages.BOOK_HAS_ONE if len(chapters) == 1 else messages.BOOK_HAS
    return _list(lead.format(title=book.title, count=len(chapters)), lines)


def _list(lead: str, lines: Sequence[str]) -> str:
    rest = [messages.MORE_OF_THEM.format(count=len(lines) - MOST_LISTED)] if len(lines) > MOST_LISTED else []
    return "\n".join([lead, "", *lines[:MOST_LISTED], *rest])


def _find_chapter(about: About, chapters: Mapping[str, Sequence[FileEntry]], page: str) -> str | None:
    """The chapter that a reader means by a number, by a name, or by being there."""
    if about.is_here:
        return next((name for name, pages in chapters.items() if any(one.filename == page for one in pages)), None)
    if about.number is not None:
        return chapter_of_number(list(chapters), about.number)
    stems = set(content_stems(about.chapter))
    shared = {
        name: len(stems.intersection(content_stems(" ".join([name, *(one.title for one in pages)]))))
        for name, pages in chapters.items()
    }
    best = max(shared, key=shared.__getitem__, default="")
    return best if shared.get(best) and 2 * shared[best] >= len(stems) else None
