"""Answers about the book itself."""

import pytest

from lutrin.answer.about import AboutAnswer, about_book
from lutrin.index.generation import FileEntry
from lutrin.query.frames import About
from lutrin.records import BookInfo

BOOK = BookInfo(slug="robots", title="Robots")
DESCRIPTIONS = {"index.md": "How robots are built.", "1/legs.md": "How many joints a leg has."}


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


def answer(about: About, files: list[FileEntry] = NUMBERED, at: str = "") -> AboutAnswer:
    """What is said of the book."""
    return about_book(about, BOOK, files, descriptions=DESCRIPTIONS, page=at)


def test_the_contents_are_counted_and_listed_under_their_modules() -> None:
    """Each chapter once, in reading order."""
    assert answer(About("contents")).text == (
        "*Robots* has 3 chapters:\n\n- Welcome\n- **Part I**\n  - Chapter 1: Walking\n- **Part II**\n"
        "  - Chapter 2: Navigation"
    )


def test_a_long_list_ends() -> None:
    """With the number of those left out."""
    many = [page(f"{n}.md", f"Page {n}") for n in range(45)]
    assert answer(About("contents"), many).text.endswith("- Page 39\n- and 5 more")


@pytest.mark.parametrize("asked", ["1", "one", "first", "1st", "walking", "legs and feet"])
def test_a_chapter_is_found_by_number_or_name(asked: str) -> None:
    """It is told by its pages, with what they say of themselves."""
    found = answer(About("chapter", asked))
    assert found.text == ("**Chapter 1: Walking** has 2 sections:\n\n- Legs: How many joints a leg has.\n- Feet")
    assert [one.filename for one in found.files] == ["1/legs.md", "1/feet.md"]


@pytest.mark.parametrize(("asked", "title"), [("2", "Bolts"), ("last", "Cranes"), ("cranes", "Cranes")])
def test_chapters_without_numbers_are_counted(asked: str, title: str) -> None:
    """In reading order."""
    assert answer(About("chapter", asked), PLAIN).text == f"**{title}** is one page, “{title}”."


def test_this_chapter_is_the_one_that_the_reader_is_on() -> None:
    """By the page."""
    assert answer(About("chapter", "this"), at="2/maps.md").text.startswith("**Chapter 2: Navigation**")


@pytest.mark.parametrize("asked", ["9", "0", "cooking", "this"])
def test_a_chapter_that_is_not_there_is_said_so(asked: str) -> None:
    """With those that are."""
    found = answer(About("chapter", asked)).text
    assert found.startswith("The book does not name ")
    assert "Chapter 2: Navigation" in found


def test_the_book_says_what_it_is_about() -> None:
    """By its first page's description, then its chapters."""
    found = answer(About("book"))
    assert found.text.startswith("How robots are built.\n\n*Robots* has 3 chapters:")
    assert answer(About("book"), PLAIN).text.startswith("*Robots* has 3 chapters:")


def test_the_tutor_says_who_it_is() -> None:
    """It rests on no page."""
    found = answer(About("self"))
    assert "*Robots*" in found.text
    assert found.files == ()
