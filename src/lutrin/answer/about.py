"""Answers about the book itself, from its table of contents: its chapters, its subject, who answers here."""

from collections.abc import Mapping, Sequence

from lutrin.index.generation import FileEntry
from lutrin.language.words import content_stems
from lutrin.query.frames import THIS, About, number_of
from lutrin.records import BookInfo
from lutrin.search.chapters import chapter_of_number

MOST_LISTED = 40
"""Lines of a list that a reader still reads."""


def about_book(about: About, book: BookInfo, files: Sequence[FileEntry], *, page: str = "") -> str:
    """Answer a question about the book itself, in Markdown.

    Args:
        about: What the question is about.
        book: As it is catalogued.
        files: The book's pages in reading order.
        page: Filename of the page that the reader is on.
    """
    chapters: dict[str, list[FileEntry]] = {}
    for one in files:
        # A page without a chapter forms its own.
        chapters.setdefault(one.chapter or one.title, []).append(one)
    if about.of == "self":
        return (
            f"I am Lutrin, the tutor of *{book.title}*. I answer questions from this book alone and show the passage "
            "that each answer rests on. Ask about anything the book covers, or select a passage and ask about that."
        )
    if about.of == "chapter":
        name = _find_chapter(about.chapter, chapters, page)
        if name is not None:
            return _of_chapter(name, chapters[name])
        missing = "this chapter" if about.chapter == THIS else f"a chapter “{about.chapter}”"
        return f"The book does not name {missing}. {_contents(book, chapters)}"
    return _contents(book, chapters)


def _contents(book: BookInfo, chapters: Mapping[str, Sequence[FileEntry]]) -> str:
    """How many chapters there are, and which, under their modules."""
    lines, module = [], ""
    for name, pages in chapters.items():
        if pages[0].module != module and (module := pages[0].module):
            lines.append(f"- **{module}**")
        lines.append(f"{'  ' if module else ''}- {name}")
    count = len(chapters)
    lead = f"*{book.title}* has {count} {'chapter' if count == 1 else 'chapters'}:"
    return _list(lead, lines)


def _of_chapter(name: str, pages: Sequence[FileEntry]) -> str:
    """The titles of a chapter's pages."""
    if len(pages) == 1:
        return f"**{name}** is one page, “{pages[0].title}”."
    return _list(f"**{name}** has {len(pages)} sections:", [f"- {one.title}" for one in pages])


def _list(lead: str, lines: Sequence[str]) -> str:
    rest = [f"- and {len(lines) - MOST_LISTED} more"] if len(lines) > MOST_LISTED else []
    return "\n".join([lead, "", *lines[:MOST_LISTED], *rest])


def _find_chapter(asked: str, chapters: Mapping[str, Sequence[FileEntry]], page: str) -> str | None:
    """The chapter that a reader means by a number, a name, or by being there."""
    names = list(chapters)
    if asked == THIS:
        return next((name for name, pages in chapters.items() if any(one.filename == page for one in pages)), None)
    if number_of(asked) is not None:
        return chapter_of_number(names, asked)
    wanted = set(content_stems(asked))
    shared = [
        len(wanted & set(content_stems(" ".join([name, *(one.title for one in chapters[name])])))) for name in names
    ]
    best = max(shared, default=0)
    return names[shared.index(best)] if best and 2 * best >= len(wanted) else None
