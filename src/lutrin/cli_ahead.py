"""`lutrin read-ahead`: the model says the books' passages before anybody asks."""

import asyncio
import sys
from pathlib import Path

import click

from lutrin.console import data_dir_option, page_progress
from lutrin.settings import load_settings


@click.command("read-ahead")
@data_dir_option
def read_ahead(*, data_dir: Path | None) -> None:
    """Have the model say every passage of the books once, as a server does while nobody asks.

    Afterwards its sentences come with the quotes, for a whole class at once. It takes about half a second a passage on
    two cores; broken off, it goes on where it was.
    """
    # A stage's vendors load only when it runs: every command reads this module.
    from lutrin import wiring_ahead  # noqa: PLC0415 - as said

    with page_progress() as note:
        is_kept = asyncio.run(wiring_ahead.read_ahead(load_settings(data_dir=data_dir), note))
    if not is_kept:
        click.echo("No model's words are kept: see LUTRIN_MODEL and LUTRIN_READ_AHEAD.", err=True)
        sys.exit(1)
