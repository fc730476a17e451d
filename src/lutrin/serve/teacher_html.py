"""The HTML of the teacher's page: plain forms that work without a script, set for a phone first."""

from collections.abc import Sequence
from datetime import datetime
from html import escape
from itertools import groupby
from math import isinf
from typing import TypeVar

import msgspec

from lutrin.doctor import Check
from lutrin.index.catalog import LeftOut
from lutrin.ingest.formats import FORMATS, suffixes_in_words
from lutrin.serve.routes.ingest import Job
from lutrin.serve.teacher_errand import Errand
from lutrin.serve.teacher_load import Load
from lutrin.serve.teacher_office import BookRow, Edition, Gap, ModelRow

T = TypeVar("T")

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
ROLES = {"embed": "finds passages", "generate": "writes answers"}


class Board(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the page shows."""

    books: Sequence[BookRow]
    corpus: str
    job: Job | None
    load: Load
    models: Sequence[ModelRow]
    model: str
    """Name of the language model that answers; empty: none."""
    model_ready: bool
    health: Errand[list[Check]]
    gaps: Errand[list[Gap]]
    left_out: Sequence[LeftOut] = ()
    """Files that are in no book."""
    troubles: Sequence[str] = ()
    """What could not be looked up, a sentence each."""

    @property
    def busy(self) -> bool:
        """Whether something runs whose end the page waits for."""
        reading = self.job is not None and self.job.state == "running"
        return reading or self.health.running or self.gaps.running


def off() -> str:
    """The page where no token is set: how to set one."""
    return _document(
        "Teacher's page",
        """<main id="content" class="gate"><h1>The teacher’s page is off</h1>
<p>It shows how the book is used and lets you read your books again, so it asks for a password of yours.
Nobody has set one on this server yet. To switch it on:</p>
<ol><li>Put a long password into the file <code>.env</code> beside Lutrin, in one line:
<pre><code>LUTRIN_ADMIN_TOKEN=a-long-password-of-your-own</code></pre></li>
<li>Start the server again: <code>./justw serve</code>.</li>
<li>Come back to this page and type the password.</li></ol>
<p>To make one: <code>openssl rand -hex 24</code>. <a href="/">To the books</a></p></main>""",
    )


def sign_in(message: str = "") -> str:
    """The form that asks for the token.

    Args:
        message: Why it is asked again.
    """
    said = f'<p class="bad" id="why" role="alert">{escape(message)}</p>' if message else ""
    why = ' aria-describedby="why" aria-invalid="true"' if message else ""
    return _document(
        "Teacher's page",
        f"""<main id="content" class="gate"><h1>Teacher’s page</h1>{said}
<form method="post" action="/teacher/sign-in"><label for="token">Password of this server</label>
<p class="hint">The value of <code>LUTRIN_ADMIN_TOKEN</code>.</p>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus{why}>
<button class="first">Sign in</button></form><p><a href="/">To the books</a></p></main>""",
    )


def board(shown: Board, form_key: str) -> str:
    """The page itself.

    Args:
        shown: What it shows.
        form_key: What its forms carry.
    """
    troubles = "".join(f'<p class="bad" role="alert">{escape(text)}</p>' for text in shown.troubles)
    now = _figures(figures(shown.load)[:3])
    body = f"""<header class="top"><a href="/">The books</a>{_form("sign-out", form_key, "Sign out", "quiet")}</header>
<main id="content"><h1>Teacher’s page</h1>{troubles}
<section class="now" aria-label="Now">{now}</section>
<div class="sections">
{_section("books", "Books", _books(shown.books, form_key) + _left_out(shown.left_out))}
{_section("reading", "Read the books again", _reading(shown, form_key))}
{_section("gaps", "What the books did not answer", _gaps(shown.gaps, form_key))}
{_section("load", "Since the server started", _figures(figures(shown.load)[3:]))}
{_section("models", "Models", _models(shown))}
{_section("health", "Health", _health(shown.health, form_key))}
</div></main>"""
    return _document("Teacher's page", body, refreshed=shown.busy)


def figures(load: Load) -> list[tuple[str, str, str]]:
    """Name, label and value of each figure of the load; the first three are of now."""
    return [
        ("readers", "asked in the last five minutes", str(load.readers)),
        ("running", "answers being written", str(load.running)),
        ("waiting", "waiting for the model", str(load.waiting)),
        ("answers", "Questions answered", f"{load.answers:,}"),
        ("generated", "by the model, checked against the book", f"{load.generated:,}"),
        ("quoted", "by the book’s own sentences", f"{load.quoted:,}"),
        ("refused", "not in the book", f"{load.refused:,}"),
        ("first", "First words, for half of the answers and for 95 of 100: within", _times(load.first_words_s)),
        ("whole", "Whole answers, likewise", _times(load.whole_s)),
        ("limited", "Questions refused because they came too fast", f"{load.limited:,}"),
        ("failed", "Questions that failed", f"{load.failed:,}"),
    ]


def job_text(job: Job) -> str:
    """How an ingestion is or went, in one sentence."""
    text = STATES[job.state]
    if job.detail:
        text += f" {job.detail}"
    counts = [
        f"{_counted(number, thing)} {what}"
        for name, (thing, what) in COUNTED.items()
        if isinstance(number := (job.summary or {}).get(name, 0), int) and number
    ]
    return text + (f" {', '.join(counts)}." if counts else "")


def _document(title: str, body: str, *, refreshed: bool = False) -> str:
    again = '<noscript><meta http-equiv="refresh" content="4"></noscript>' if refreshed else ""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>{escape(title)}</title>{again}
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/teacher.css">
<script src="/static/teacher.js" type="module"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
{body}
</body>
</html>
"""


def _section(name: str, title: str, body: str) -> str:
    return f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>{body}</section>'


def _form(action: str, form_key: str, label: str, style: str = "") -> str:
    return (
        f'<form method="post" action="/teacher/{action}"><input type="hidden" name="key" value="{form_key}">'
        f'<button class="{style}">{label}</button></form>'
    )


def _figures(rows: Sequence[tuple[str, str, str]]) -> str:
    shown = "".join(
        f'<div><dt>{escape(label)}</dt><dd data-figure="{name}">{escape(value)}</dd></div>'
        for name, label, value in rows
    )
    return f"<dl>{shown}</dl>"


def _books(books: Sequence[BookRow], form_key: str) -> str:
    if not books:
        return "<p>No book has been read yet.</p>"
    return "".join(_book(book, form_key) for book in books)


def _book(book: BookRow, form_key: str) -> str:
    edition = f' <span class="hint">{escape(book.edition)}</span>' if book.edition else ""
    back = ""
    if book.previous is not None:
        button = _form(f"books/{book.slug}/previous", form_key, "Go back to it", "danger")
        back = (
            f"<details><summary>The index before it: {_edition(book.previous)}</summary>"
            "<p>If the new text is wrong, let the old index answer while you mend your files. Reading the books again "
            f"replaces it.</p>{button}</details>"
        )
    return (
        f'<article><h3><a href="/">{escape(book.title)}</a>{edition}</h3>'
        f"<p>{_edition(book.current)}</p>{back}</article>"
    )


def _left_out(left_out: Sequence[LeftOut]) -> str:
    """Files that are in no book, by reason, folded."""
    if not left_out:
        return ""
    reasons: dict[str, list[str]] = {}
    for item in left_out:
        reasons.setdefault(item.reason, []).append(f"{item.book}{'/' if item.book else ''}{item.filename}")
    items = "".join(
        f'<li><strong>{escape(reason)}</strong> <span class="hint">{len(names)}</span>'
        f"<br>{', '.join(f'<code>{escape(name)}</code>' for name in names)}</li>"
        for reason, names in sorted(reasons.items())
    )
    return f"<details><summary>Left out: {_counted(len(left_out), 'file')}</summary><ul>{items}</ul></details>"


def _edition(edition: Edition) -> str:
    if not edition.created:
        return f"index <code>{escape(edition.generation)}</code> cannot be read"
    made = datetime.fromisoformat(edition.created)
    return f"{_counted(edition.files, 'file')}, {_counted(edition.chunks, 'passage')}, {_time(made)}"


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"


def _time(moment: datetime) -> str:
    """In UTC; the script puts the reader's own time in its place."""
    return f'<time datetime="{moment.isoformat()}">{moment:%Y-%m-%d %H:%M} UTC</time>'


def _reading(shown: Board, form_key: str) -> str:
    job = shown.job
    running = job is not None and job.state == "running"
    intro = (
        f"<p>Put your files into <code>{escape(shown.corpus)}</code>, then press the button. Only "
        "what changed is read, and readers go on meanwhile.</p>"
    )
    button = "" if running else _form("ingest", form_key, "Read the books again", "first")
    state = "" if job is None else escape(job_text(job))
    lines = "" if job is None else "\n".join(escape(line) for line in job.progress)
    hidden = "" if lines else " hidden"
    bar = '<progress aria-label="Reading the books"></progress>' if running else ""
    kind = "bad" if job is not None and job.state == "failed" else "state"
    upload = "" if running else _upload_form(form_key)
    return (
        f'{intro}{button}{upload}<p class="{kind}" role="status" data-job="{job.state if job else ""}">{state}</p>{bar}'
        f'<pre class="lines" data-lines tabindex="0" role="log" aria-label="Progress"{hidden}>{lines}</pre>'
    )


def _upload_form(form_key: str) -> str:
    """Sends a book: files, or a folder as a zip."""
    suffixes = ",".join((*sorted(FORMATS), ".zip"))
    return (
        "<details><summary>Send a book to this server</summary>"
        f'<form method="post" action="/teacher/books" enctype="multipart/form-data">'
        f'<input type="hidden" name="key" value="{form_key}">'
        f'<p class="hint">{escape(suffixes_in_words())}, several at once, or a folder as one .zip.</p>'
        f'<p><label for="files">Files</label> <input id="files" name="files" type="file" multiple required '
        f'accept="{suffixes}"></p>'
        '<p><label for="book">Name of the book</label> '
        '<input id="book" name="book" maxlength="60" placeholder="as the file or folder is called"></p>'
        '<p><label><input type="checkbox" name="replace" value="true"> Replace a book of this name</label></p>'
        '<button class="first">Send and read it</button></form></details>'
    )


def _models(shown: Board) -> str:
    if not shown.model:
        said = "<p>No language model answers: readers get the book’s own sentences.</p>"
    elif shown.model_ready:
        said = f"<p><strong>{escape(shown.model)}</strong> answers.</p>"
    else:
        said = (
            f'<p class="bad"><strong>{escape(shown.model)}</strong> is not ready: readers get the book’s sentences.</p>'
        )
    items = "".join(_model(model) for model in shown.models)
    hint = (
        '<p class="hint">To fetch one: <code>lutrin models fetch small</code>. '
        "To choose: <code>LUTRIN_MODEL</code>.</p>"
    )
    return f'{said}<ul class="rows">{items}</ul>{hint}'


def _model(model: ModelRow) -> str:
    size = f"{model.size_bytes / 1e6:,.0f} MB"
    state = "in use" if model.in_use and model.state == "present" else FILES[model.state]
    kind = "good" if model.state == "present" else "hint"
    return (
        f'<li><span><strong>{escape(model.tier)}</strong> {escape(model.name)} <span class="hint">{ROLES[model.role]}, '
        f'{size}</span></span> <span class="{kind}">{state}</span></li>'
    )


def _health(errand: Errand[list[Check]], form_key: str) -> str:
    if errand.running:
        return _awaited("Looking at everything…")
    button = _form("check", form_key, "Check now", "first")
    if errand.found is None:
        intro = "<p>Versions, disk, models, indexes and databases can be looked at while readers go on.</p>"
        return f"{_trouble(errand)}{intro}{button}"
    bad = sum(not check.ok for check in errand.found)
    verdict = f'<p class="bad">{bad} to mend.</p>' if bad else '<p class="good">Everything is well.</p>'
    items = "".join(_check(check) for check in errand.found)
    return f'{verdict}<ul class="rows">{items}</ul>{_ended(errand)}{button}'


def _gaps(errand: Errand[list[Gap]], form_key: str) -> str:
    if errand.running:
        return _awaited("Asking the books once more…")
    button = _form("gaps", form_key, "Look now", "first")
    if errand.found is None:
        intro = (
            "<p>Questions of your readers on which the books are silent can be listed by chapter. Nobody’s name is in "
            "the list, and what the books answer by now is left out.</p>"
        )
        return f"{_trouble(errand)}{intro}{button}"
    if not errand.found:
        return f"<p>Nothing: the books answer whatever was asked of them.</p>{_ended(errand)}{button}"
    chapters = [(chapter, list(gaps)) for chapter, gaps in groupby(errand.found, key=lambda gap: gap.chapter)]
    return "".join(_chapter(chapter, gaps) for chapter, gaps in chapters) + _ended(errand) + button


def _chapter(chapter: str, gaps: Sequence[Gap]) -> str:
    items = "".join(f"<li>{escape(gap.question)}{_times_asked(gap.times)}</li>" for gap in gaps)
    count = sum(gap.times for gap in gaps)
    return (
        f'<details><summary>{escape(chapter or "Far from every book")} <span class="hint">{count}</span></summary>'
        f"<ul>{items}</ul></details>"
    )


def _times_asked(times: int) -> str:
    return f' <span class="hint">{times} times</span>' if times > 1 else ""


def _awaited(text: str) -> str:
    return f'<p role="status" data-awaited>{text}</p><progress aria-label="{text}"></progress>'


def _trouble(errand: Errand[T]) -> str:
    return f'<p class="bad" role="alert">{escape(errand.trouble)}</p>' if errand.trouble else ""


def _ended(errand: Errand[T]) -> str:
    return f'<p class="hint">{_time(errand.at)}</p>' if errand.at is not None else ""


def _check(check: Check) -> str:
    mark = '<span class="good">well</span>' if check.ok else '<span class="bad">to mend</span>'
    remedy = f"<br><strong>{escape(check.remedy)}</strong>" if check.remedy else ""
    return f"<li><span><strong>{escape(check.name)}</strong> {escape(check.detail)}{remedy}</span> {mark}</li>"


def _times(pair: tuple[float, float]) -> str:
    half, most = pair
    return "none yet" if most == 0 else f"{_seconds(half)} and {_seconds(most)}"


def _seconds(bound: float) -> str:
    return "more than 30 s" if isinf(bound) else f"{bound:g} s"
