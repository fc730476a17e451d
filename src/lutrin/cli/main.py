"""The command line: `lutrin COMMAND`. Exit 0 is success, 1 a failure that the message explains, 2 wrong usage."""

import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Before NumPy loads: its threads would fight those of the models for the same cores (a small product takes 16 ms
# instead of 0.2 on a busy machine).
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import click
import msgspec

from lutrin import __version__
from lutrin.cli import console
from lutrin.cli.console import json_option, say, say_result, settings_option
from lutrin.cli.keep import backup, bundle, chats, export_index, forget, gaps, import_index, restore
from lutrin.cli.models import evaluate, models
from lutrin.cli.serve import serve, service
from lutrin.cli.workplace import Workplace
from lutrin.errors import LutrinError
from lutrin.guests import load_guests
from lutrin.ingest.lock import ingest_lock
from lutrin.platform import restrict_new_files, stand_back, use_one_arena
from lutrin.records import Question
from lutrin.settings import Settings, describe_settings, is_advanced, unknown_variables


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lutrin")
def lutrin() -> None:
    """A textbook that answers, offline."""


for command in (
    models, evaluate, serve, service, backup, restore, bundle, forget, export_index, import_index, gaps, chats,
):  # fmt: skip
    lutrin.add_command(command)


def with_guests() -> click.Group:
    """All commands, including those of guests; raises InvalidSettings like `load_guests`."""
    for command in load_guests("commands"):
        lutrin.add_command(command)
    return lutrin


@lutrin.command()
@click.argument("path", type=click.Path(path_type=Path), required=False)
@click.option("--book", metavar="SLUG", help="Short name of the book, for a folder without book.toml.")
@click.option("--title", help="Title of the book, for a folder without book.toml.")
@click.option("--edition", help="Edition of the book, for a folder without book.toml.")
@click.option("--rebuild", is_flag=True, help="Read every file again, including unchanged ones.")
@click.option("--password", default="", help="Password of encrypted PDF files.")
@click.option("--lenient", is_flag=True, help="Read invalid MDX files as far as possible instead of skipping them.")
@click.option("--keep-missing", is_flag=True, help="Keep books whose files are missing.")
@click.option("--explain", "explained", is_flag=True, help="Show how Lutrin understands the file PATH; index nothing.")
@json_option
@settings_option
def ingest(
    path: Path | None, *, book: str | None, title: str | None, edition: str | None, rebuild: bool,
    password: str, lenient: bool, keep_missing: bool, explained: bool, as_json: bool, settings: Settings,
) -> None:  # fmt: skip
    """Read the books in PATH (default: corpus/) into the index."""
    root = path if path is not None else settings.corpus_dir
    if explained:
        if not root.is_file():
            raise click.UsageError("--explain needs the PATH of one file.")
        from lutrin.runtime import ingestion  # noqa: PLC0415 - a stage's vendors load only when it runs

        say(ingestion.explain_file(settings, root, password=password), nl=False)
        return
    with ingest_lock(settings.data_dir), console.ingest_progress(as_data=as_json) as progress:
        stand_back()
        use_one_arena()
        # Imported after the lock: they take a second to load, and a second ingest has to end at once.
        from lutrin.ingest.run import Options  # noqa: PLC0415 - a stage's vendors load only when it runs
        from lutrin.runtime import ingestion  # noqa: PLC0415 - a stage's vendors load only when it runs

        options = Options(
            slug=book or "", title=title or "", edition=edition or "", rebuild=rebuild, password=password,
            lenient=lenient, keep_missing=keep_missing, progress=progress,
        )  # fmt: skip
        summary = asyncio.run(ingestion.run_ingest(settings, root, options))
    say_result(summary, console.summary_lines(summary), as_json=as_json)
    if summary.failed:
        sys.exit(1)


@lutrin.command()
@settings_option
def mcp(*, settings: Settings) -> None:
    """Offer search_book and ask_book to an agent over the Model Context Protocol (stdio)."""
    from lutrin.runtime import wiring  # noqa: PLC0415 - a stage's vendors load only when it runs

    asyncio.run(wiring.serve_tools(settings))


@lutrin.command()
@click.argument("question")
@click.option("--selected-text", default="", help="The passage that the question is about.")
@click.option("--book", default="", help="Slug of the book, if there are several.")
@click.option("--chapter", default="", help="Search this chapter only.")
@click.option("--stream", is_flag=True, help="Print the book's answer at once, then what the model adds.")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(0),
    help="Seconds to wait for the model (default: 0 with --json, else LUTRIN_EXPLAIN_S).",
)
@json_option
@settings_option
def ask(
    question: str, *, selected_text: str, book: str, chapter: str, stream: bool, wait_s: float | None, as_json: bool,
    settings: Settings,
) -> None:  # fmt: skip
    """Answer QUESTION in the terminal, with citations."""
    from lutrin.runtime import wiring  # noqa: PLC0415 - a stage's vendors load only when it runs

    waits_s = wait_s if wait_s is not None else 0.0 if as_json else settings.explain_s
    is_streamed = stream and not as_json
    query = Question(
        text=question, selected_text=selected_text, book=book, chapter=chapter, wait_s=waits_s, whole=not is_streamed
    )
    if is_streamed:
        asyncio.run(console.stream_answer(wiring.ask_events(settings, query)))
        return
    answer = asyncio.run(wiring.ask(settings, query))
    say_result(answer, console.print_answer(answer), as_json=as_json)


@lutrin.command()
@click.argument("question")
@click.option("--selected-text", default="", help="Search near this passage.")
@click.option("--book", default="", help="Slug of the book, if there are several.")
@click.option(
    "-k", "top_k", type=click.IntRange(1, 50), default=5, show_default=True, help="Maximum number of passages to print."
)
@settings_option
def retrieve(question: str, *, selected_text: str, book: str, top_k: int, settings: Settings) -> None:
    """Print the passages nearest to QUESTION as a JSON array."""
    from lutrin.runtime import wiring  # noqa: PLC0415 - a stage's vendors load only when it runs

    query = Question(text=question, selected_text=selected_text, book=book, top_k=top_k)
    say(msgspec.json.format(msgspec.json.encode(asyncio.run(wiring.retrieve(settings, query)))).decode())


@lutrin.command()
@click.option("--book", default="", help="Slug of the book (default: all books).")
@settings_option
def citations(*, book: str, settings: Settings) -> None:
    """Print every address that an answer may link to, as a JSON array, so that a site can check them."""
    from lutrin.runtime import wiring  # noqa: PLC0415 - a stage's vendors load only when it runs

    places = asyncio.run(wiring.citations(settings, book))
    say(msgspec.json.format(msgspec.json.encode(places)).decode())


@lutrin.command()
@click.option("--all", "all_of_them", is_flag=True, help="Also list advanced settings at their default values.")
@json_option
@settings_option
def config(*, all_of_them: bool, as_json: bool, settings: Settings) -> None:
    """List the settings with their values; secrets are hidden."""
    rows = describe_settings(settings)
    if as_json:
        say(msgspec.json.encode({name: value for name, value, _ in rows}).decode())
        return
    for name, nearest in unknown_variables():
        say(f"Nothing reads {name}.{f' Did you mean {nearest}?' if nearest else ''}", err=True)
    defaults = describe_settings(Settings.model_construct())
    shown = [
        row for row, default in zip(rows, defaults, strict=True)
        if all_of_them or row != default or not is_advanced(row[0])
    ]  # fmt: skip
    width = max(len(name) for name, _, _ in shown)
    for name, value, meaning in shown:
        say(f"{name:<{width}}  {value or '-'}\n{'':<{width}}  {meaning}")
    if len(shown) < len(rows):
        say(f"{len(rows) - len(shown)} advanced settings have their default values; `lutrin config --all` lists them.")


@lutrin.command()
@json_option
@settings_option
def doctor(*, as_json: bool, settings: Settings) -> None:
    """Check models, index, databases and disk, and say how to fix each failure."""
    from lutrin.runtime.doctor import examine  # noqa: PLC0415 - a stage's vendors load only when it runs

    checks = asyncio.run(examine(settings))
    if as_json:
        say(msgspec.json.encode(checks).decode())
    else:
        for check in checks:
            say(f"{'ok  ' if check.ok else 'FAIL'}  {check.name}: {check.detail} {check.remedy}".rstrip())
    if not all(check.ok for check in checks):
        sys.exit(1)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(lambda: with_guests().main(args=arguments, standalone_mode=False, obj=Workplace())))


def run(command: Callable[[], Any]) -> int:
    """Run a command, and turn its exceptions into a message and an exit code."""
    restrict_new_files()
    try:
        code = command()
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        say("".join([f"{context.get_usage()}\n" if context else "", f"Error: {error.format_message()}"]), err=True)
        return error.exit_code
    except LutrinError as error:
        say(f"{error.detail} {error.remedy}".strip(), err=True)
        return 1
    except (click.Abort, KeyboardInterrupt):
        say("Stopped.", err=True)
        return 130
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else 1
    return code if isinstance(code, int) else 0


if __name__ == "__main__":
    main()
