"""The chapter that a question names is the one that is searched."""

import pytest

from lutrin.index.generation import OpenGeneration
from lutrin.search.filters import chapter_of_number, in_chapter

from .conftest import asked


@pytest.mark.parametrize(
    ("question", "chapter", "topic"),
    [
        ("What does chapter 2 say about smoke?", "Chapter 2: Summer", "What does say about smoke?"),
        ("How does the second chapter explain smoke?", "Chapter 2: Summer", "How does the explain smoke?"),
        ("Summarise chapter one", "Chapter 1: Hive", "Chapter 1: Hive"),
        ("Summarise the last chapter", "Chapter 2: Summer", "Chapter 2: Summer"),
        ("Summarise chapter 7", "", "chapter 7"),
        ("What burns in a smoker?", "", "What burns in a smoker?"),
    ],
)
async def test_a_chapter_is_meant_by_its_number(
    generation: OpenGeneration, question: str, chapter: str, topic: str
) -> None:
    """In digits, in words, or by its place; where nothing else is asked, its title is what is searched for."""
    query = in_chapter(asked(question), [generation])
    assert (query.question.chapter, query.topic) == (chapter, topic)
    assert query.whole_chapter == (topic == chapter)


async def test_this_chapter_is_that_of_the_reader_s_page(generation: OpenGeneration) -> None:
    """Without a page it is none."""
    page = "02-chapter-2-summer/03-smoke.md"
    assert in_chapter(asked("Summarise this chapter", page=page), [generation]).question.chapter
    assert not in_chapter(asked("Summarise this chapter"), [generation]).question.chapter


async def test_a_chapter_that_the_caller_names_stays(generation: OpenGeneration) -> None:
    """Even if the question names another."""
    query = asked("What does chapter 2 say?", chapter="Chapter 1: Hive")
    assert in_chapter(query, [generation]) == query


def test_chapters_without_numbers_are_counted() -> None:
    """Chapters with numbers are not counted: an appendix shifts nothing."""
    assert chapter_of_number(["Bees", "Wax", "Honey"], 2) == "Wax"
    assert chapter_of_number(["Preface", "1 Bees", "2 Wax"], 2) == "2 Wax"
    assert chapter_of_number(["1 Bees"], 3) is None
