"""`lutrin replay`: ask a stored question again and show what differs."""

import asyncio
from pathlib import Path

import click
import msgspec

from lutrin.cli.console import data_dir_option, json_option, say
from lutrin.settings import load_settings


@click.command()
@click.argument("message_id")
@json_option
@data_dir_option
def replay(message_id: str, *, as_json: bool, data_dir: Path | None) -> None:
    """Ask the question behind the answer MESSAGE_ID again and show the difference.

    It uses the conversation, the settings and the index generation of that answer, and says if the index is gone.
    """
    from lutrin.runtime.ask_again import replay as ask_again  # noqa: PLC0415 - as said
    from lutrin.runtime.differences import difference  # noqa: PLC0415 - a stage loads only when it runs

    found = asyncio.run(ask_again(load_settings(data_dir=data_dir), message_id))
    say(msgspec.json.encode(found).decode() if as_json else difference(found))
