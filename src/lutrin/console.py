"""How the command line talks: a bar on a terminal, lines in a pipe, errors in one sentence with the remedy."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from lutrin.errors import LutrinError

STEP = 10
"""In a pipe a line is printed at every tenth of a download."""


def fail(error: LutrinError, stream: TextIO | None = None) -> int:
    """Print an error as its reader needs it and return the exit code 1."""
    out = stream if stream is not None else sys.stderr
    click.echo(f"{error.detail} {error.remedy}".strip(), file=out)
    return 1


@contextmanager
def download_progress() -> Iterator[Callable[[str, int, int], None]]:
    """A function for `weights.fetch` that shows how far each file is."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        tasks: dict[str, TaskID] = {}

        def show(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = progress.add_task(name, total=total)
            progress.update(tasks[name], completed=done)

        yield show


def _lines() -> Callable[[str, int, int], None]:
    shown: dict[str, int] = {}

    def show(name: str, done: int, total: int) -> None:
        tenth = done * STEP // total
        if tenth > shown.get(name, -1):
            shown[name] = tenth
            click.echo(f"{name}: {done >> 20} of {total >> 20} MB", err=True)

    return show
