"""Content of the teacher's pages: indexes, models, load, readers' questions, and prepared entries.

The HTML is in `templates/teacher*.html`: plain forms that work without a script, laid out for phones first.
"""

import asyncio
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Literal
from urllib.parse import urlencode

import msgspec
import segno

from lutrin import messages
from lutrin.ingest.formats import all_formats
from lutrin.records import (
    OF_CONTENTS,
    Answer,
    AskedQuestion,
    BookRow,
    Check,
    Job,
    LeftOut,
    ModelRow,
    ServerCounts,
    ServerLoad,
    ShelvedBook,
    StoredAssignment,
)
from lutrin.search.result import load_decisions
from lutrin.serve.templating import count_of, render
from lutrin.settings import Settings
from lutrin.spreadsheet import to_csv
from lutrin_teacher.teach import EntryFilter, EntryList

PATIENCE_S = 600.0
"""Time limit: the doctor reads every model file and every vector once."""
MOST_READ = 5_000
"""Newest questions to consider: some weeks of a school."""
DAYS = 14
SURE, SURE_WITH_MODEL = 2.4, math.log(3)
"""Log odds from which an answer counts as one, by the reader alone and with the model's yes.

Of 90 answers on three books of the shelf, .45 of those without a right fact are below 2.4, and .27 of the others; none
is below log 3, which decides whether to answer at all (bench/RESULTS.md, "Doubtful answers").
"""
_MARKER = re.compile(r"(?<!\s)\s*+\[\d+\]")

Outcome = Literal["missed", "doubtful", "answered"]
OUTCOMES: tuple[Outcome, ...] = ("missed", "doubtful", "answered")
"""Outcomes in the order in which a teacher reads them."""


class Examination:
    """Runs `lutrin doctor --json`, once at a time, and keeps its latest output."""

    def __init__(self, settings: Settings, now: Callable[[], datetime], command: str = "doctor") -> None:
        self._command = command
        self._settings = settings
        self._now = now
        self.running = False
        self.checks: list[Check] | None = None
        self.at: datetime | None = None
        """End of the last run."""
        self.trouble = ""
        """Why the last run gave no checks."""

    def start(self, spawn: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        """Start the command, in a task that ends with the server, unless it is already running."""
        if not self.running:
            self.running = True
            spawn(self._run())

    async def _run(self) -> None:
        try:
            output, errors = await asyncio.wait_for(self._process(), PATIENCE_S)
            self.checks, self.trouble = msgspec.json.decode(output, type=list[Check]), ""
        except TimeoutError:
            self.checks, self.trouble = None, messages.DOCTOR_SLOW.format(seconds=PATIENCE_S)
        except msgspec.MsgspecError:
            message = errors.decode(errors="replace").strip().rpartition("\n")[2]
            self.checks, self.trouble = None, message or messages.DOCTOR_FAILED.format(command=self._command)
        finally:
            self.running = False
            self.at = self._now()

    async def _process(self) -> tuple[bytes, bytes]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "lutrin.cli", self._command, "--json",
            "--data-dir", str(self._settings.data_dir),
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "LUTRIN_LOG_LEVEL": "error"},
        )  # fmt: skip
        try:
            return await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()


class ChapterRow(msgspec.Struct, frozen=True, kw_only=True):
    """A chapter with the number of questions about it."""

    title: str
    days: tuple[int, ...]
    """Questions on each displayed day, the latest last."""
    total: int


class InboxRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question, however often it was asked, with its outcome."""

    text: str
    """Its latest wording."""
    question: str
    """Completed from its conversation: an answer is pinned to this text."""
    book: str
    """Slug; empty if no book was named and none was cited."""
    times: int
    up: int
    down: int
    comments: tuple[str, ...]
    answer: str
    """The last answer that a reader got."""
    outcome: Outcome
    pinned: bool = False
    """Whether the teacher has answered it since."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """Everything about questions that the page shows."""

    total: int = 0
    books: tuple[tuple[str, tuple[ChapterRow, ...]], ...] = ()
    """Titles, with the chapters that were asked about in the book's own order."""
    elsewhere: int = 0
    """Questions whose answers cite no place of a book."""
    inbox: tuple[InboxRow, ...] = ()
    """The questions to the books: missed, doubtful, then answered ones, the most frequent first."""
    most: int = 1
    """Questions of one chapter on one day: a bar's height."""
    since: date | None = None
    """The first displayed day: that of the first question, or the first of the last `DAYS` days."""


def overview(
    questions: Sequence[AskedQuestion],
    books: Sequence[tuple[str, str, Sequence[str]]],
    today: date,
    pinned: Collection[str] = (),
) -> Overview:
    """Arrange readers' questions for the page.

    Args:
        books: Slug, title and chapters of each book.
        pinned: The keys (`AskedQuestion.key`) of questions answered by the teacher.
    """
    dates = [date.fromisoformat(question.created[:10]) for question in questions]
    since = min(max(min(dates, default=today), today - timedelta(days=DAYS - 1)), today)
    span = range((today - since).days + 1)
    days = Counter(
        (one.book, one.chapter, (day - since).days) for one, day in zip(questions, dates, strict=True) if one.chapter
    )
    totals = Counter((one.book, one.chapter) for one in questions if one.chapter)
    tables = []
    for slug, title, order in books:
        places = {chapter: place for place, chapter in enumerate(order)}
        chapters = [chapter for book, chapter in totals if book == slug]
        rows = tuple(
            ChapterRow(title=chapter, days=tuple(days[slug, chapter, day] for day in span), total=totals[slug, chapter])
            for chapter in sorted(chapters, key=lambda name: (places.get(name, len(places)), name))
        )
        if rows:
            tables.append((title, rows))
    return Overview(
        total=len(questions),
        books=tuple(tables),
        elsewhere=sum(not question.chapter for question in questions),
        inbox=inbox(questions, pinned),
        most=max((day for _, rows in tables for row in rows for day in row.days), default=1) or 1,
        since=since,
    )


def outcome_of(question: AskedQuestion) -> Outcome:
    """The outcome of a question: by its reader's thumb, else by the odds of its answer and whether it came again."""
    if question.refusal is not None or question.thumb == "down":
        return "missed"
    if question.thumb == "up":
        return "answered"
    return "doubtful" if question.closest or question.again or not _is_sure(question) else "answered"


def _is_sure(question: AskedQuestion) -> bool:
    """Whether the book surely answers a question; prepared answers and those from its contents are beyond doubt."""
    if question.odds is None or question.prepared_by:
        return True
    if question.yes is None:
        return load_decisions().without_model.odds(question.odds) >= SURE
    return load_decisions().odds(question.odds, question.yes, question.head) >= SURE_WITH_MODEL


def inbox(questions: Sequence[AskedQuestion], pinned: Collection[str]) -> tuple[InboxRow, ...]:
    """Group questions with the same words into one row; skip messages that are not questions about a book."""
    same: dict[str, list[AskedQuestion]] = {}
    for question in questions:
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


def as_csv(questions: Sequence[AskedQuestion], titles: Mapping[str, str]) -> str:
    """Export the questions as a table for a spreadsheet."""
    rows = (
        (
            *(one.created, titles.get(one.book, one.book), one.chapter, one.text),
            *(messages.ANSWERS_CALLED[one.kind], outcome_of(one), one.thumb, one.comment),
        )
        for one in questions
    )
    return to_csv(messages.QUESTIONS_HEADER, rows)


def figures(counts: ServerCounts) -> list[tuple[str, str, str]]:
    """Name, label and value of each figure since the server started."""
    kinds, failed = Counter(counts.kinds), Counter(counts.outcomes)
    del failed["done"], failed["cancelled"]
    values = {
        "answers": f"{kinds.total():,}",
        "generated": f"{kinds['generated']:,}",
        "quoted": f"{kinds['extractive']:,}",
        "refused": f"{kinds['refusal']:,}",
        "first": _times(counts.within.get("excerpt", ())),
        "whole": _times(counts.within.get("done", ())),
        "limited": f"{counts.limited:,}",
        "failed": f"{failed.total():,}",
    }
    return [(name, messages.FIGURES[name], value) for name, value in values.items()]


def _times(within: Sequence[tuple[float, int]]) -> str:
    """The median and the 95th percentile of a stage's times, as bounds in seconds."""
    if not within or within[-1][1] == 0:
        return messages.NONE_YET
    bounds = [next(bound for bound, count in within if count >= share * within[-1][1]) for share in (0.5, 0.95)]
    median, high = (messages.OVER_30_S if math.isinf(bound) else f"{bound:g} s" for bound in bounds)
    return messages.MEDIAN_AND_95TH.format(median=median, high=high)


def now_text(load: ServerLoad) -> str:
    """Describe the present load in a sentence or two."""
    return f"{_load_text(load)} {load.progress}".strip()


def _load_text(load: ServerLoad) -> str:
    if not (load.readers or load.running or load.waiting):
        return messages.NOBODY_ASKS
    parts = [messages.ASKED_LATELY.format(readers=count_of(load.readers, "reader"))]
    if load.running:
        written = messages.ANSWERS_WRITTEN[messages.plural(load.running)]
        parts.append(written.format(answers=count_of(load.running, "answer")))
    if load.waiting:
        waits = messages.READERS_WAIT[messages.plural(load.waiting)]
        parts.append(waits.format(readers=count_of(load.waiting, "reader")))
    return f"{', '.join(parts)}."


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the teacher's page shows."""

    books: Sequence[BookRow]
    facts: Mapping[str, ShelvedBook]
    """The books on the shelf as readers see them, by slug."""
    job: Job | None
    now: str
    figures: Sequence[tuple[str, str, str]]
    models: Sequence[ModelRow]
    model: str
    """Name of the language model that answers; empty: none."""
    model_ready: bool
    health: Examination
    job_text: str = ""
    """The present or last reading of the books, in words."""
    left_out: Sequence[LeftOut] = ()
    """Files that belong to no book."""
    prepared: Mapping[str, tuple[EntryList, str]] = {}
    """States of the prepared entries by book slug, and the progress of the model that studies it."""
    assignments: Sequence[tuple[StoredAssignment, str]] = ()
    """The assignments of the class, with their titles, the newest first."""
    questions: Overview = Overview()
    address: str = ""
    """This server's address for other devices; empty: they cannot reach it."""
    door: Literal["", "shut", "open"] = ""
    """Whether a button can let the class in, and whether it is in; empty: the operator decided."""
    own_password: bool = False
    """Whether the password was set in a browser, and so can be changed there."""
    troubles: Sequence[str] = ()
    """Lookups that failed, a sentence each."""


def board_page(board: Board, form_key: str) -> str:
    """The teacher's page."""
    return render(
        "teacher.html",
        refreshed=board.health.running or (board.job is not None and board.job.state in {"waiting", "running"}),
        board=board,
        questions=board.questions,
        form_key=form_key,
        code=qr_uri(board.address) if board.address else "",
        suffixes=",".join((*sorted(all_formats()), ".zip")),
        whole=",".join(suffix for suffix, kind in all_formats().items() if kind.stands_alone),
        formats=formats_in_words(),
        job_text=board.job_text,
        entry_states=messages.ENTRY_STATES,
        reasons=reasons_of(board.left_out),
        rows=[(row, reasons_of(row.left_out)) for row in board.books if not row.choice.removed],
        removed=[row for row in board.books if row.choice.removed],
    )


def reasons_of(left_out: Sequence[LeftOut]) -> list[tuple[str, list[str]]]:
    """Left-out files by reason."""
    reasons: dict[str, list[str]] = {}
    for item in left_out:
        reasons.setdefault(item.reason, []).append(item.filename)
    return sorted(reasons.items())


def qr_uri(text: str) -> str:
    """Draw a text as a QR code, dark on white as telephones read it best, as a data address for a picture."""
    return segno.make(text, micro=False).svg_data_uri(scale=4, border=2, dark="#000", light="#fff")


def companion_page(book: str, listed: EntryList, wanted: EntryFilter, form_key: str) -> str:
    """The entries of a companion, each with its form."""
    state = "pinned" if wanted.pinned else wanted.state or ""
    filters = {"kind": wanted.kind or "", "state": state, "words": wanted.words}
    chosen = {name: value for name, value in filters.items() if value}
    return render(
        "teacher_companion.html",
        book=book,
        listed=listed,
        wanted=filters,
        form_key=form_key,
        kinds=messages.ENTRY_KINDS,
        states=messages.ENTRY_STATES,
        page=wanted.page,
        search=lambda number: urlencode({**chosen, "page": str(number)}),
    )


def formats_in_words() -> str:
    """The supported file formats, by their common names, each once."""
    kinds = sorted(all_formats().values(), key=lambda kind: not kind.stands_alone)
    return ", ".join(dict.fromkeys(kind.name for kind in kinds))


def proposed_text(answer: Answer) -> str:
    """Initial text of the pinning form: the explanation without its markers, or else the words that answer."""
    if answer.explanation:
        return _MARKER.sub("", answer.explanation).strip()
    return " ".join(" ".join(one.text[first:last].split()) for one in answer.excerpts for first, last in one.marks)
