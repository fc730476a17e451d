"""Readers' questions on the teacher's page: by chapter over time, and as an inbox with what became of each."""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta
from typing import Literal

import msgspec

from lutrin.chats.questions import AskedQuestion
from lutrin.chats.store import OF_CONTENTS
from lutrin.search.decide import load_decisions
from lutrin.study.take_away import comma_separated

MOST_READ = 5_000
"""Questions that are looked at, the newest: some weeks of a school."""
DAYS = 14


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


Outcome = Literal["missed", "doubtful", "answered"]
OUTCOMES: tuple[Outcome, ...] = ("missed", "doubtful", "answered")
"""In the order in which a teacher reads them."""
SURE = math.log(3)
"""Log odds from which an answer counts as one: three times as likely as not."""


class InboxRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question, however often it came, with what became of it."""

    text: str
    """As it was typed the last time."""
    question: str
    """Completed from its conversation: what an answer is pinned to."""
    book: str
    """Slug; empty: no book was named and none was cited."""
    times: int
    up: int
    down: int
    comments: tuple[str, ...]
    answer: str
    """What a reader was told the last time."""
    outcome: Outcome
    pinned: bool = False
    """Whether the teacher has given the answer since."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about questions that the page shows."""

    total: int = 0
    books: tuple[BookAsked, ...] = ()
    elsewhere: int = 0
    """Questions on which no place of a book was cited."""
    inbox: tuple[InboxRow, ...] = ()
    """The questions to the books: missed, doubtful, then answered ones, the most frequent first."""
    most: int = 1
    """Questions of one chapter on one day: a bar's height."""
    since: date | None = None
    """The first of the days that are shown: that of the first question, or the first of the last `DAYS` days."""


def overview(
    asked: Sequence[AskedQuestion],
    books: Sequence[tuple[str, str, Sequence[str]]],
    today: date,
    pinned: Collection[str] = (),
) -> Overview:
    """Order what was asked; `pinned` has the keys (`AskedQuestion.key`) that the teacher has answered."""
    earliest = min((_day(question) for question in asked), default=today)
    since = min(max(earliest, today - timedelta(days=DAYS - 1)), today)
    found = tuple(_of_book(asked, slug, title, order, (since, today)) for slug, title, order in books)
    shown = tuple(book for book in found if book.chapters)
    return Overview(
        total=len(asked),
        books=shown,
        elsewhere=sum(not question.chapter for question in asked),
        inbox=_inbox(asked, pinned),
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


def outcome_of(question: AskedQuestion) -> Outcome:
    """What became of a question: by its reader's thumb, else by the odds of its answer and whether it came again."""
    if question.refusal is not None or question.thumb == "down":
        return "missed"
    if question.thumb == "up":
        return "answered"
    return "doubtful" if question.closest or question.again or _odds(question) < SURE else "answered"


def _odds(question: AskedQuestion) -> float:
    """Log odds that the book answers a question; what was prepared, or stands in its contents, is beyond doubt."""
    if question.odds is None or question.prepared_by:
        return math.inf
    if question.yes is None:
        return load_decisions().without_model.odds(question.odds)
    return load_decisions().with_model.odds(question.odds, question.yes)


def _inbox(asked: Sequence[AskedQuestion], pinned: Collection[str]) -> tuple[InboxRow, ...]:
    """Questions of the same words are one row; what asks nothing of a book is none."""
    same: dict[str, list[AskedQuestion]] = {}
    for question in asked:
        if question.refusal in OF_CONTENTS:
            same.setdefault(question.key, []).append(question)
    rows = [_row(group, is_pinned=key in pinned) for key, group in same.items()]
    return tuple(sorted(rows, key=lambda row: (OUTCOMES.index(row.outcome), -row.times)))


def _row(group: Sequence[AskedQuestion], *, is_pinned: bool) -> InboxRow:
    newest = group[0]
    up, down = (sum(question.thumb == thumb for question in group) for thumb in ("up", "down"))
    outcome = "missed" if down > up else "answered" if up > down else outcome_of(newest)
    return InboxRow(
        text=newest.text,
        question=newest.searched or newest.text,
        book=next((question.book for question in group if question.book), ""),
        times=len(group),
        up=up,
        down=down,
        comments=tuple(question.comment for question in group if question.comment),
        answer=newest.answer,
        outcome="answered" if is_pinned else outcome,
        pinned=is_pinned,
    )


def as_csv(asked: Sequence[AskedQuestion], titles: Mapping[str, str]) -> str:
    """Export the questions as a table for a spreadsheet."""
    header = ["answered at (UTC)", "book", "chapter", "question", "answer", "outcome", "thumb", "comment"]
    answers = {"generated": "explained", "extractive": "quoted", "refusal": "not in the book", None: ""}
    rows = (
        (
            *(one.created, titles.get(one.book, one.book), one.chapter, one.text),
            *(answers[one.kind], outcome_of(one), one.thumb, one.comment),
        )
        for one in asked
    )
    return comma_separated(header, rows)
