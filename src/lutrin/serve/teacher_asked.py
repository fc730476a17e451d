"""Readers' questions on the teacher's page: by chapter over time, most asked, with their thumbs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import msgspec

from lutrin.chats.questions import AskedQuestion
from lutrin.study.spreadsheet import comma_separated

MOST_READ = 5_000
"""Questions that are looked at, the newest: some weeks of a school."""
DAYS = 14
MOST_SHOWN = 12
"""Lines of a list before it is folded."""
"""A spreadsheet would reckon with what begins so."""


class ChapterRow(msgspec.Struct, frozen=True, kw_only=True):
    """A chapter and how often it was asked about."""

    title: str
    days: tuple[int, ...]
    """Questions on each of the days that are shown, the latest last."""
    total: int


class BookAsked(msgspec.Struct, frozen=True, kw_only=True):
    """A book with those of its chapters that were asked about, in its own order."""

    title: str
    chapters: tuple[ChapterRow, ...]


class Often(msgspec.Struct, frozen=True, kw_only=True):
    """A question that came more than once."""

    text: str
    book: str
    """Slug; empty: no book was named and none was cited."""
    times: int
    answered: bool
    """Whether the books answered it, the last time."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about questions that the page shows."""

    total: int = 0
    books: tuple[BookAsked, ...] = ()
    elsewhere: int = 0
    """Questions on which no place of a book was cited."""
    often: tuple[Often, ...] = ()
    thumbs: tuple[AskedQuestion, ...] = ()
    """Answers that readers judged, those found wanting first."""
    up: int = 0
    down: int = 0
    most: int = 1
    """Questions of one chapter on one day: a bar's height."""
    since: date | None = None
    """The first of the days that are shown: that of the first question, or the first of the last `DAYS` days."""


def overview(asked: Sequence[AskedQuestion], books: Sequence[tuple[str, str, Sequence[str]]], today: date) -> Overview:
    """Order what was asked.

    Args:
        asked: The newest first.
        books: Slug, title and chapters of each book, in order.
        today: The last of the days that are shown.
    """
    earliest = min((_day(question) for question in asked), default=today)
    since = min(max(earliest, today - timedelta(days=DAYS - 1)), today)
    found = tuple(_of_book(asked, slug, title, order, (since, today)) for slug, title, order in books)
    judged = [question for question in asked if question.thumb]
    shown = tuple(book for book in found if book.chapters)
    return Overview(
        total=len(asked),
        books=shown,
        elsewhere=sum(not question.chapter for question in asked),
        often=_often(asked),
        thumbs=tuple(sorted(judged, key=lambda question: (question.thumb == "up", not question.comment))),
        up=sum(question.thumb == "up" for question in judged),
        down=sum(question.thumb == "down" for question in judged),
        most=max((day for book in shown for chapter in book.chapters for day in chapter.days), default=1) or 1,
        since=since,
    )


def _day(question: AskedQuestion) -> date:
    return date.fromisoformat(question.created[:10])


def _of_book(
    asked: Sequence[AskedQuestion], slug: str, title: str, order: Sequence[str], span: tuple[date, date]
) -> BookAsked:
    first, last = span
    none = [0] * ((last - first).days + 1)
    days: dict[str, list[int]] = {}
    totals: Counter[str] = Counter()
    for question in asked:
        if question.book != slug or not question.chapter:
            continue
        totals[question.chapter] += 1
        at = (_day(question) - first).days
        if 0 <= at < len(none):
            days.setdefault(question.chapter, none.copy())[at] += 1
    known = {chapter: place for place, chapter in enumerate(order)}
    chapters = sorted(totals, key=lambda chapter: (known.get(chapter, len(known)), chapter))
    return BookAsked(
        title=title,
        chapters=tuple(
            ChapterRow(title=chapter, days=tuple(days.get(chapter, none)), total=totals[chapter])
            for chapter in chapters
        ),
    )


def _often(asked: Sequence[AskedQuestion]) -> tuple[Often, ...]:
    """Questions of the same words; how they are written and how they end does not count."""
    same: dict[str, list[AskedQuestion]] = {}
    for question in asked:
        same.setdefault(question.text.casefold().rstrip("?!. "), []).append(question)
    several = [group for group in same.values() if len(group) > 1]
    return tuple(
        Often(text=group[0].text, book=group[0].book, times=len(group), answered=group[0].kind != "refusal")
        for group in sorted(several, key=len, reverse=True)
    )


def as_csv(asked: Sequence[AskedQuestion], titles: Mapping[str, str]) -> str:
    """Export the questions as a table for a spreadsheet.

    Args:
        asked: The newest first.
        titles: Of the books, by slug.
    """
    header = ["answered at (UTC)", "book", "chapter", "question", "answer", "thumb", "comment"]
    answers = {"generated": "explained", "extractive": "quoted", "refusal": "not in the book", None: ""}
    rows = (
        (one.created, titles.get(one.book, one.book), one.chapter, one.text, answers[one.kind], one.thumb, one.comment)
        for one in asked
    )
    return comma_separated(header, rows)
