"""The teacher's page: plain forms that work without a script, laid out for phones first.

The HTML stands in `templates/teacher*.html`.
"""

from collections.abc import Sequence
from math import isinf

import msgspec
import segno

from lutrin.doctor import Check
from lutrin.index.catalog import LeftOut
from lutrin.ingest.formats import FORMATS, suffixes_in_words
from lutrin.keep.weights import Model
from lutrin.serve.html import count_of
from lutrin.serve.prepared_html import PreparedRow
from lutrin.serve.routes.ingest import Job
from lutrin.serve.teacher_asked import Overview
from lutrin.serve.teacher_load import Load
from lutrin.serve.teacher_view import BookRow, CommandJob
from lutrin.serve.templating import render

COUNTED = {
    "processed": ("file", "read"),
    "unchanged": ("file", "unchanged"),
    "removed": ("file", "removed"),
    "failed": ("file", "failed"),
    "chunks_created": ("passage", "made"),
    "chunks_reused": ("passage", "kept"),
}
STATES = {"running": "Reading the books…", "done": "The books have been read.", "failed": "It did not work."}
FILES = {"present": "here", "incomplete": "incomplete", "missing": "not here"}
NONE_YET = "none yet"
NOTHING = ("0", NONE_YET)
"""Values of figures that are not worth a line."""
OUTCOMES = {"missed": "Missed", "doubtful": "Doubtful", "answered": "Answered"}
ROLES = {"embed": "finds passages", "generate": "writes answers"}


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the page shows."""

    books: Sequence[BookRow]
    corpus: str
    job: Job | None
    load: Load
    models: Sequence[tuple[Model, str, bool]]
    """With the state of their files, and whether they are in use."""
    model: str
    """Name of the language model that answers; empty: none."""
    model_ready: bool
    health: CommandJob[list[Check]]
    left_out: Sequence[LeftOut] = ()
    """Files that are in no book."""
    prepared: Sequence[PreparedRow] = ()
    """The prepared entries of each book."""
    asked: Overview = Overview()
    """Readers' questions."""
    address: str = ""
    """Of this server for other devices; empty: they cannot reach it."""
    troubles: Sequence[str] = ()
    """Lookups that failed, a sentence each."""

    @property
    def busy(self) -> bool:
        """Whether the page is waiting for something to finish."""
        reading = self.job is not None and self.job.state == "running"
        return reading or self.health.running


def off() -> str:
    """The page shown when no token is set, which tells how to set one."""
    return render("teacher_gate.html", chat=False, off=True)


def sign_in(message: str = "") -> str:
    """The form that asks for the token."""
    return render("teacher_gate.html", chat=False, off=False, message=message)


def board(shown: Board, form_key: str) -> str:
    """The page itself."""
    return render(
        "teacher.html",
        chat=False,
        refreshed=shown.busy,
        board=shown,
        asked=shown.asked,
        form_key=form_key,
        now=now_text(shown.load),
        code=segno.make(shown.address, micro=False).svg_data_uri(scale=4, border=2) if shown.address else "",
        outcomes=OUTCOMES,
        books=shown.books,
        left_out=_by_reason(shown.left_out),
        suffixes=",".join((*sorted(FORMATS), ".zip")),
        formats=suffixes_in_words(),
        job_text=job_text(shown.job) if shown.job is not None else "",
        figures=[(*figure, figure[2] not in NOTHING) for figure in figures(shown.load)],
        counted=count_of,
        files=FILES,
        roles=ROLES,
    )


def figures(load: Load) -> list[tuple[str, str, str]]:
    """Name, label and value of each figure since the server started."""
    return [
        ("answers", "Questions answered", f"{load.answers:,}"),
        ("generated", "explained by the model, checked against the book", f"{load.generated:,}"),
        ("quoted", "answered in the book’s own words", f"{load.quoted:,}"),
        ("refused", "not in the book", f"{load.refused:,}"),
        ("first", "Time to the first words: median, 95th percentile", _times(load.first_words_s)),
        ("whole", "Time to the whole answer: median, 95th percentile", _times(load.whole_s)),
        ("limited", "Questions put off because they came too fast", f"{load.limited:,}"),
        ("failed", "Questions that failed", f"{load.failed:,}"),
    ]


def now_text(load: Load) -> str:
    """Describe the present load in one sentence."""
    if not (load.readers or load.running or load.waiting):
        return "Nobody is asking at the moment."
    parts = [f"{count_of(load.readers, 'reader')} asked in the last five minutes"]
    if load.running:
        parts.append(f"{count_of(load.running, 'answer')} {'is' if load.running == 1 else 'are'} being written")
    if load.waiting:
        parts.append(f"{count_of(load.waiting, 'reader')} {'waits' if load.waiting == 1 else 'wait'} for the model")
    return f"{', '.join(parts)}."


def job_text(job: Job) -> str:
    """Describe in one sentence how an ingestion is going or went."""
    text = STATES[job.state]
    if job.detail:
        text += f" {job.detail}"
    counts = [
        f"{count_of(number, thing)} {what}"
        for name, (thing, what) in COUNTED.items()
        if isinstance(number := (job.summary or {}).get(name, 0), int) and number
    ]
    return text + (f" {', '.join(counts)}." if counts else "")


def _by_reason(left_out: Sequence[LeftOut]) -> list[tuple[str, list[str]]]:
    reasons: dict[str, list[str]] = {}
    for item in left_out:
        reasons.setdefault(item.reason, []).append(f"{item.book}{'/' if item.book else ''}{item.filename}")
    return sorted(reasons.items())


def _times(pair: tuple[float, float]) -> str:
    half, most = pair
    return NONE_YET if most == 0 else f"{_seconds(half)} and {_seconds(most)}"


def _seconds(bound: float) -> str:
    return "more than 30 s" if isinf(bound) else f"{bound:g} s"
