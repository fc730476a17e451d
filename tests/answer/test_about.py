"""Answers about the book itself."""

import pytest

from lutrin.answer.contents import about_book
from lutrin.index.generation import FileEntry
from lutrin.query.frames import About
from lutrin.records import BookInfo

BOOK = BookInfo(slug="robots", title="Robots")


def page(filename: str, title: str, chapter: str = "", module: str = "") -> FileEntry:
    """A page of the book."""
    return FileEntry(filename=filename, title=title, module=module, chapter=chapter, section="", sha256="", chunks=1)


NUMBERED = [
    page("index.md", "Welcome"),
    page("1/legs.md", "Legs", "Chapter 1: Walking", "Part I"),
    page("1/feet.md", "Feet", "Chapter 1: Walking", "Part I"),
    page("2/maps.md", "Maps", "Chapter 2: Navigation", "Part II"),
]
PLAIN = [page("a.md", "Alloys"), page("b.md", "Bolts"), page("c.md", "Cranes")]


def answer(about: About, files: list[FileEntry] = NUMBERED, at: str = "") -> str:
    """The answer about the book."""
    return about_book(about, BOOK, files, page=at)


def test_the_contents_are_counted_and_listed_under_their_modules() -> None:
    """Each chapter once, in reading order."""
    assert answer(About("contents")) == (
        "*Robots* has 3 chapters:\n\n- Welcome\n- **Part I**\n  - Chapter 1: Walking\n- **Part II**\n"
        "  - Chapter 2: Navigation"
    )


def test_a_long_list_ends() -> None:
    """With the number of those left out."""
    many = [page(f"{n}.md", f"Page {n}") for n in range(45)]
    assert answer(About("contents"), many).endswith("- Page 39\n- and 5 more")


def test_a_chapter_is_found_by_number_or_name() -> None:
    """It is told by its pages."""
    for asked in ("1", "one", "first", "1st", "walking", "legs and feet"):
        assert answer(About("chapter", asked)) == "**Chapter 1: Walking** has 2 sections:\n\n- Legs\n- Feet"


@pytest.mark.parametrize(("asked", "title"), [("2", "Bolts"), ("last", "Cranes"), ("cranes", "Cranes")])
def test_chapters_without_numbers_are_counted(asked: str, title: str) -> None:
    """In reading order."""
    assert answer(About("chapter", asked), PLAIN) == f"**{title}** is one page, “{title}”."


def test_this_chapter_is_the_one_that_the_reader_is_on() -> None:
    """By the page."""
    assert answer(About("chapter", "this"), at="2/maps.md").startswith("**Chapter 2: Navigation**")


def test_a_chapter_that_is_not_there_is_said_so() -> None:
    """With those that are."""
    for asked in ("9", "0", "cooking", "this"):
        found = answer(About("chapter", asked))
        assert found.startswith("The book does not name ")
        assert "Chapter 2: Navigation" in found


def test_the_tutor_says_who_it_is() -> None:
    """And of which book."""
    assert "the tutor of *Robots*" in answer(About("self"))
