"""`lutrin gaps|chats`: questions that the books did not answer, and the key of the conversations."""

import asyncio
from pathlib import Path

import click

from lutrin.cli.console import data_dir_option, json_option, say, say_result
from lutrin.settings import load_settings, require_own_data


@click.command()
@json_option
@data_dir_option
def gaps(*, as_json: bool, data_dir: Path | None) -> None:
    """List questions that the books do not answer, by chapter.

    They come from the stored conversations, without saying who asked. Questions that the books now answer are left out.
    """
    from lutrin.runtime import agents  # noqa: PLC0415 - a stage's vendors load only when it runs

    found = asyncio.run(agents.gaps(load_settings(data_dir=data_dir)))
    say_result(found, agents.gap_lines(found), as_json=as_json)


FORMER = "The former one is kept, encrypted with the new one, so that earlier backups can be restored."


@click.group()
def chats() -> None:
    """Manage the key of the stored conversations: rotate-key."""


@chats.command("rotate-key")
@data_dir_option
def rotate_key(*, data_dir: Path | None) -> None:
    """Encrypt the conversations with a new key; the server must be stopped.

    The new key goes into the key file. If LUTRIN_CHAT_KEY is set, it is printed instead: set the variable to it.
    """
    from lutrin.chats import key  # noqa: PLC0415 - the databases load only when they are needed
    from lutrin.keep.restore import finish  # noqa: PLC0415 - as above

    settings = load_settings(data_dir=data_dir)
    require_own_data(settings)
    finish(settings)
    if settings.chat_key is None:
        key.rotate_file_key(settings.chats_path, settings.chat_key_path)
        say(f"The conversations have a new key, in {settings.chat_key_path}. {FORMER}")
        return
    following = key.new_key()
    key.rotate_key(settings.chats_path, settings.chat_key.get_secret_value(), following)
    say(f"LUTRIN_CHAT_KEY={following}")
    say(f"The conversations have a new key; set the variable to it before the next start. {FORMER}", err=True)
