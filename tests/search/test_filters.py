"""Chapters are found as readers and programs name them."""

from collections.abc import Sequence
from typing import cast

import pytest

from lutrin.errors import InvalidQuestion
from lutrin.index.generation import OpenGeneration
from lutrin.records import Question
from lutrin.search.filters import apply_filters


class Book:
    """Fourteen chapters in their order."""

    files: Sequence[object] = ()
    chapters = tuple(f"Chapter {number}: {'A 3D map' if number == 9 else 'Bees'}" for number in range(1, 15))


def filtered(chapter: str) -> dict[str, str] | None:
    """The filter for a chapter."""
    books = [cast("OpenGeneration", Book())]
    ((_, where),) = apply_filters(books, Question(text="What is a bee?", chapter=chapter))
    return where


@pytest.mark.parametrize("chapter", ["Chapter 3: Bees", "chapter 3", " CHAPTER 3 ", "3"])
def test_a_chapter_is_named_by_title_or_number(chapter: str) -> None:
    """The number alone is no part of another number."""
    assert filtered(chapter) == {"chapter": "Chapter 3: Bees"}


def test_a_chapter_that_is_not_there_is_answered_by_those_that_are() -> None:
    """In the order of the book."""
    for chapter in ("99", "bees", "chapter"):
        with pytest.raises(InvalidQuestion, match=r"It has: Chapter 1: Bees; Chapter 2: Bees; .*Chapter 10"):
            filtered(chapter)
