"""`lutrin backup|restore|bundle|forget|gaps|chats`: save the data, carry it to another machine, list or delete it."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lutrin.cli.console import json_option, say, say_result, settings_option
from lutrin.ingest.lock import ingest_lock
from lutrin.settings import Settings, require_own_data

if TYPE_CHECKING:
    from lutrin.keep.transfer import TransferSummary

UNITS = {"h": "hours", "d": "days", "w": "weeks"}
file_argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False))


class Age(click.ParamType[timedelta]):
    """A span of time: `30d`, `12h`, `8w`."""

    name = "age"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Parse a span of time; fail with an example of what is allowed."""
        if not (match := re.fullmatch(r"([0-9]{1,5})([hdw])", value.strip())):
            self.fail(f"{value!r} is not an age; write 30d for days, 12h for hours or 8w for weeks.", param, ctx)
        return timedelta(**{UNITS[match[2]]: int(match[1])})


trust_option = click.option(
    "--trust", is_flag=True, help="Accept a file from another installation; its maker decides what readers see."
)


@click.command()
@file_argument
@json_option
@settings_option
def backup(file: Path, *, as_json: bool, settings: Settings) -> None:
    """Write catalogue, index and conversations to FILE; the server may be running.

    The conversations are encrypted, and FILE does not contain their key. It is read back before it gets its name.
    """
    from lutrin.keep.backup import backup as make_backup  # noqa: PLC0415 - the databases load only when they are needed

    require_own_data(settings)
    summary = make_backup(settings, file, lambda: datetime.now(UTC))
    contents = [f"{slug} {name}" for slug, name in summary.books.items()]
    contents += ["conversations (encrypted; keep their key elsewhere)"] if summary.conversations else []
    text = f"{file} holds {', '.join(contents)}: {summary.bytes / 1e6:.1f} MB, read back and verified."
    say_result(summary, text, as_json=as_json)


@click.command()
@file_argument
@click.option("--without-conversations", is_flag=True, help="Keep the conversations of this machine.")
@trust_option
@json_option
@settings_option
def restore(file: Path, *, without_conversations: bool, trust: bool, as_json: bool, settings: Settings) -> None:
    """Replace the current state with that of a backup FILE.

    Everything is replaced or nothing: a damaged file changes nothing. A running server follows within two seconds.
    """
    from lutrin.keep.backup import restore as put_back  # noqa: PLC0415 - the databases load only when they are needed

    require_own_data(settings)
    summary = put_back(settings, file, with_chats=not without_conversations, trust=trust)
    back = [f"{slug} {name}" for slug, name in summary.books.items()]
    back += ["the conversations"] if summary.conversations else []
    say_result(summary, f"As of {summary.created}: {', '.join(back)}.", as_json=as_json)


@click.command()
@file_argument
@click.option(
    "--book-only", is_flag=True, help="Write only the books, for a machine that has Lutrin, like `export-index`."
)
@json_option
@settings_option
def bundle(file: Path, *, book_only: bool, as_json: bool, settings: Settings) -> None:
    """Write everything that a machine without a network needs to FILE.

    FILE holds the program with its packages, models, books, index and an installer, but no conversations and no key.
    With `--book-only` it holds the books with their index, their companions and the teacher's decisions, for
    `lutrin import-index --trust` on the other machine.
    """
    if book_only:
        _export(file, as_json=as_json, settings=settings)
        return
    from lutrin.keep.bundle import bundle as make_bundle  # noqa: PLC0415 - the databases load only when they are needed
    from lutrin.runtime.language_model import model_path  # noqa: PLC0415 - a stage's vendors load only when it runs

    require_own_data(settings)
    chosen = None if settings.model.endswith(".gguf") else model_path(settings)
    summary = make_bundle(settings, chosen and chosen[0], Path.cwd(), file, lambda: datetime.now(UTC))
    text = (
        f"{file}: {summary.bytes / 1e6:.0f} MB for Python {summary.python} on {summary.platform}, "
        f"{summary.wheels} packages, models {', '.join(summary.models)}, books {', '.join(summary.books)}.\n"
        f"On the other machine: tar -xf {file.name} && python3 {summary.folder}/install.py FOLDER"
    )
    say_result(summary, text, as_json=as_json)


@click.command("export-index")
@file_argument
@json_option
@settings_option
def export_index(file: Path, *, as_json: bool, settings: Settings) -> None:
    """Write the published books with their vectors to FILE, for `import-index` elsewhere."""
    _export(file, as_json=as_json, settings=settings)


def _export(file: Path, *, as_json: bool, settings: Settings) -> None:
    from lutrin.keep.transfer import export_index as write_index  # noqa: PLC0415 - the databases load only when needed

    _say_moved(write_index(settings, file, lambda: datetime.now(UTC)), "holds", as_json=as_json)


@click.command("import-index")
@file_argument
@trust_option
@json_option
@settings_option
def import_index(file: Path, *, trust: bool, as_json: bool, settings: Settings) -> None:
    """Publish the books of an exported FILE in this vector store, without embedding anything again."""
    with ingest_lock(settings.data_dir):
        from lutrin.runtime import ingestion  # noqa: PLC0415 - the databases load only when they are needed

        moved = asyncio.run(ingestion.run_import(settings, file, trust=trust))
    _say_moved(moved, "is published:", as_json=as_json)


def _say_moved(moved: "TransferSummary", verb: str, *, as_json: bool) -> None:
    books = ", ".join(f"{slug} {name}" for slug, name in moved.books.items())
    say_result(moved, f"{moved.file} {verb} {books}, {moved.chunks} chunks.", as_json=as_json)


@click.command()
@click.option("--session", "session_id", help="Delete the conversations of this session.")
@click.option("--older-than", type=Age(), help="Delete conversations unused for this long: 30d, 12h, 8w.")
@click.option("--all", "everything", is_flag=True, help="Delete all conversations.")
@json_option
@settings_option
def forget(
    *, session_id: str | None, older_than: timedelta | None, everything: bool, as_json: bool, settings: Settings
) -> None:
    """Delete conversations for good: one session's, old ones, or all."""
    from lutrin.runtime import wiring  # noqa: PLC0415 - the databases load only when they are needed

    if (session_id is not None) + (older_than is not None) + everything != 1:
        raise click.UsageError("Choose one of --session ID, --older-than 30d and --all.")
    count = asyncio.run(wiring.forget(settings, session_id=session_id, older_than=older_than, everything=everything))
    say_result({"deleted": count}, f"Deleted: {count} conversations.", as_json=as_json)


@click.command()
@json_option
@settings_option
def gaps(*, as_json: bool, settings: Settings) -> None:
    """List questions that the books do not answer, by chapter.

    They come from the stored conversations, without saying who asked. Questions that the books now answer are left out.
    """
    from lutrin.runtime import wiring  # noqa: PLC0415 - a stage's vendors load only when it runs

    gaps = asyncio.run(wiring.gaps(settings))
    say_result(gaps, wiring.gap_lines(gaps), as_json=as_json)


FORMER = "The former one is kept, encrypted with the new one, so that earlier backups can be restored."


@click.group()
def chats() -> None:
    """Manage the key of the stored conversations: rotate-key."""


@chats.command("rotate-key")
@settings_option
def rotate_key(*, settings: Settings) -> None:
    """Encrypt the conversations with a new key; the server must be stopped.

    The new key goes into the key file. If LUTRIN_CHAT_KEY is set, it is printed instead: set the variable to it.
    """
    from lutrin.chats import key  # noqa: PLC0415 - the databases load only when they are needed
    from lutrin.keep.backup import finish  # noqa: PLC0415 - a stage's vendors load only when it runs

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
