"""Output of the command line: a progress bar on a terminal, lines in a pipe, errors in one sentence with a remedy."""

import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click
import msgspec
from rich import progress as bar
from rich.console import Console
from rich.markup import escape

from lutrin import records
from lutrin.ingest.summary import Advance, FolderReport, IngestSummary
from lutrin.messages import LIKELY_MARK
from lutrin.settings import load_settings

STEP = 10
"""In a pipe, a download prints a line for each tenth of the file."""
QUOTE_CHARACTERS = 240
"""Longer quotes are cut on the terminal (characters)."""

DATA_DIR = "Folder of catalogue, indexes and conversations (LUTRIN_DATA_DIR)."

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""C0 and C1 controls, marks that change the direction of text, and surrogates; not tab and line feed."""

data_dir_option = click.option("--data-dir", type=click.Path(path_type=Path), help=DATA_DIR)
settings_option = click.option(
    "--data-dir", "settings", type=click.Path(path_type=Path), help=DATA_DIR,
    callback=lambda _context, _parameter, folder: load_settings(data_dir=folder),
)  # fmt: skip
"""The same option, for commands that take loaded settings."""
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def say(text: object, *, err: bool = False, nl: bool = True, file: TextIO | None = None) -> None:
    """Print a text on the terminal, with its control characters escaped.

    Questions, books and file names come from strangers, whose bytes could change a terminal's title, clipboard or
    earlier output. The escapes are those of JSON, so that JSON output stays valid.
    """
    click.echo(visible(str(text)), err=err, nl=nl, file=file)


def say_result(result: object, text: str, *, as_json: bool) -> None:
    """Print a result as JSON or in words."""
    say(msgspec.json.encode(result).decode() if as_json else text)


def visible(text: str) -> str:
    r"""Escape the control characters of a text, except line breaks and tabs.

    >>> visible("a\x1b]0;title\x07\n")
    'a\\u001b]0;title\\u0007\n'
    """
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text.replace("\r\n", "\n"))


@contextmanager
def download_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Return a function that `weights.fetch` calls to show the progress of each file."""
    if not sys.stderr.isatty():
        tenths: dict[str, int] = {}

        def show_tenth(name: str, done: int, total: int) -> None:
            if (tenth := done * STEP // total) > tenths.get(name, -1):
                tenths[name] = tenth
                say(f"{name}: {done >> 20} of {total >> 20} MB", err=True)

        yield show_tenth
        return
    columns = (bar.TextColumn("{task.description}"), bar.BarColumn(), bar.DownloadColumn(), bar.TransferSpeedColumn())
    with bar.Progress(*columns, bar.TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        tasks: dict[str, bar.TaskID] = {}

        def show(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(escape(visible(name)), total=total)
            progress.update(tasks[name], completed=done)

        yield show


def serving(address: str) -> None:
    """Print the address of the server."""
    say(f"Lutrin answers on {address} (Ctrl-C ends it).")


@contextmanager
def ingest_progress(*, as_data: bool) -> Iterator[Callable[[FolderReport | Advance], None]]:
    """Return the display of an ingest: a line for each folder (on stderr if `as_data`), a bar on a terminal."""
    if not sys.stderr.isatty():
        yield lambda event: say(event.line(), err=as_data) if isinstance(event, FolderReport) else None
        return
    description, pace = bar.TextColumn("{task.description}"), bar.TextColumn("{task.fields[rate]}")
    columns = (description, bar.BarColumn(), bar.MofNCompleteColumn(), pace, bar.TimeRemainingColumn())
    with bar.Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict[str, bar.TaskID] = {}
        started = time.monotonic()

        def show(event: FolderReport | Advance) -> None:
            if isinstance(event, FolderReport):
                progress.console.print(visible(event.line()), highlight=False, markup=False)
                return
            if event.book not in tasks:
                tasks[event.book] = progress.add_task(escape(visible(event.book)), rate="")
            rate = f"{event.files_done}/{event.files_total} files"
            if event.chunks_embedded:
                rate += f", {event.chunks_embedded / max(time.monotonic() - started, 1e-9):.0f} chunks/s"
            done, total = event.chunks_embedded, event.chunks_to_embed or None
            progress.update(tasks[event.book], completed=done, total=total, rate=rate)

        yield show


def summary_lines(summary: IngestSummary) -> str:
    """Return the figures of an ingest, then its errors and its notes for authors."""
    files = (
        f"Files: {summary.processed} processed, {summary.unchanged} unchanged, "
        f"{summary.updated} updated, {summary.removed} removed, {summary.failed} failed."
    )
    lines = [
        *summary.found_lines(),
        files,
        f"Chunks: {summary.chunks_created} created, {summary.chunks_reused} reused, {summary.chunks_removed} removed.",
        f"Seconds: {summary.seconds:.1f}.",
    ]
    if summary.prepared or summary.set_aside:
        lines.append(f"Companion: {summary.prepared} entries prepared, {summary.set_aside} set aside.")
    lines += [f"Published: {name}." for name in summary.published]
    return "\n".join([*lines, *summary.trouble_lines()])


def print_answer(answer: records.Answer) -> str:
    """Print an answer with its warnings and sources."""
    lines = [answer.answer]
    lines += [f"\nNote: {warning}" for warning in answer.warnings]
    if answer.suggestions:
        heading = "Covered topics" if answer.kind == "refusal" else "Ask next"
        lines.append(f"\n{heading}: " + "; ".join(answer.suggestions))
    if answer.sources:
        lines.append("\nSources:")
    lines += [source_line(source) for source in answer.sources]
    lines.append(f"\n({answer.kind}, {answer.model_used or 'no model'}, {answer.latency_ms} ms)")
    return "\n".join(lines)


def source_line(source: records.Citation) -> str:
    """Format a source: its number, its place and the quoted words."""
    place = " > ".join(dict.fromkeys(part for part in (source.chapter, source.section_title) if part))
    page = f", page {source.page_label or source.page}" if source.page is not None else ""
    quote = " ".join(source.quote.split())
    excerpt = quote if len(quote) <= QUOTE_CHARACTERS else f"{quote[: QUOTE_CHARACTERS - 1]}…"
    return f'[{source.n}] {place} ({source.filename}{page})\n    "{excerpt}"'


def excerpt_lines(excerpt: records.Excerpt) -> str:
    """Format an excerpt below its place in the book, with an ellipsis where the book continues."""
    before, after = "… " if excerpt.cut_before else "", " …" if excerpt.cut_after else ""
    return f"From the book, {' > '.join(excerpt.heading_path)}:\n{before}{excerpt.text}{after}"


async def stream_answer(events: AsyncIterator[records.AnswerEvent]) -> None:
    """Print the book's answer at once, then each sentence of the model as soon as it is verified."""
    book: records.Answer | None = None
    async for event in events:
        match event:
            case records.QueuedEvent():
                say(f"Waiting: {event.position} ahead of you, about {event.eta_s:.0f} s.", err=True)
            case records.WorkingEvent(what="reading", eta_s=float(seconds)):
                say(f"The model reads the passage, about {seconds:.0f} s (Ctrl-C leaves it).", err=True)
            case records.BookAnswerEvent():
                book = event.answer
                say(print_answer(book))
            case records.SentenceEvent() if book is not None:
                say(f"  {event.text}{f' {LIKELY_MARK}' if event.support == 'likely' else ''}", err=True)
            case records.DoneEvent() if book != event.answer:
                say("")
                say(print_addition(event.answer, book))
            case records.ErrorEvent():
                say(event.detail, err=True)
            case _:
                pass


def print_addition(answer: records.Answer, book: records.Answer | None) -> str:
    """Print what a model added to the book's answer, or the whole answer if it has changed."""
    if book is None or not answer.answer.startswith(book.answer):
        return print_answer(answer)
    lines = [answer.answer.removeprefix(book.answer).strip()]
    lines += [f"\nNote: {warning}" for warning in answer.warnings if warning not in book.warnings]
    lines += [source_line(source) for source in answer.sources[len(book.sources) :]]
    lines.append(f"\n({answer.kind}, {answer.model_used or 'no model'}, {answer.latency_ms} ms)")
    return "\n".join(line for line in lines if line)
