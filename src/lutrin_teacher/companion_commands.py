"""`lutrin study` and `lutrin companion check|export|merge`: entries that a model and people prepare for a book."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import msgspec

from lutrin.cli.console import data_dir_option, json_option, say, settings_option
from lutrin.errors import InvalidSettings
from lutrin.guest_ports import Workplace
from lutrin.records import Notice
from lutrin.settings import LOCAL, Settings, load_settings

corpus_option = click.option(
    "--corpus", type=click.Path(path_type=Path, exists=True), help="A book, or a folder of books (default: corpus/)."
)


@click.group()
def companion() -> None:
    """Check, export and merge the answers prepared beside a book (docs/companion.md)."""


@companion.command()
@corpus_option
@json_option
@click.pass_obj
def check(workplace: Workplace, *, corpus: Path | None, as_json: bool) -> None:
    """Check the companions against their books; exit 1 if an entry does not fit."""
    fitting, wrong = workplace.check_companions(corpus or load_settings().corpus_dir, shelf=corpus is None)
    if as_json:
        say(msgspec.json.encode({"fitting": fitting, "wrong": wrong}).decode())
    else:
        _say(wrong)
        say(f"{fitting} entries fit, {len(wrong)} do not.")
    if wrong:
        sys.exit(1)


@companion.command()
@click.argument("drafts", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@corpus_option
@click.option("--author", default="", help="Author of entries that name none (default: the authors).")
@settings_option
@click.pass_obj
def merge(
    workplace: Workplace, *, drafts: Sequence[Path], corpus: Path | None, author: str, settings: Settings
) -> None:
    """Merge the entries of DRAFTS into the companions of their books, and approve them like `approve`.

    Sections and hashes are filled in. An entry whose heading or quote is not exact is refused with its line, and the
    exit code is 1. To confirm entries whose section has changed, merge the companion itself.
    """
    root = corpus or settings.corpus_dir
    merged = workplace.merge_companions(root, drafts, author=author, shelf=corpus is None)
    workplace.approve_companions(merged.written, settings)
    _say(merged.refused)
    for path, count in merged.written.items():
        say(f"{path}: {count} entries.")
    say(f"{merged.added} added, {merged.replaced} replaced, {len(merged.refused)} refused.")
    if merged.refused:
        sys.exit(1)


@companion.command()
@corpus_option
@settings_option
@click.pass_obj
def approve(workplace: Workplace, *, corpus: Path | None, settings: Settings) -> None:
    """Approve all current entries of the books' companions on this machine.

    Until then, entries of a book's folder count as unsigned: they are checked, not pinned, and
    wait for a teacher. A changed file has to be approved again.
    """
    paths = workplace.companions(corpus or settings.corpus_dir, shelf=corpus is None)
    workplace.approve_companions(paths, settings)
    for path in paths:
        say(f"{path} is approved.")


@companion.command()
@click.argument("book", default="")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this file instead of the terminal."
)
@settings_option
@click.pass_obj
def export(workplace: Workplace, *, book: str, output: Path | None, settings: Settings) -> None:
    """Print the published companion of BOOK (default: the first one), including entries made on this machine."""
    entries = asyncio.run(workplace.companion_entries(settings, book))
    if output is not None:
        workplace.write_companion(output, entries)
        say(f"{output}: {len(entries)} entries.")
        return
    say(b"".join(entry.line() for entry in entries).decode(), nl=False)


@click.command()
@click.argument("book", default="")
@click.option(
    "--most",
    type=click.IntRange(min=0),
    default=0,
    help="Maximum number of passages to study in this run (default: all).",
)
@click.option("--tier", help="Language model for this run, named as in LUTRIN_MODEL.")
@click.option("--remote", is_flag=True, help="Let a service's model write; LUTRIN_LLM_MODEL names it.")
@data_dir_option
@click.pass_obj
def study(workplace: Workplace, *, book: str, most: int, tier: str | None, remote: bool, data_dir: Path | None) -> None:
    """Have the model prepare BOOK (default: the first one): questions, key points, terms, examples, quizzes.

    Entries that fail the checks are dropped, and the reasons are counted; readers have the others at once. You can
    interrupt it; it continues where it stopped. Without a model it reports what the book's own markup
    provides. With `--remote`, passages of the book are sent to the service; index and embeddings stay here.
    """
    from lutrin_teacher import study_job  # noqa: PLC0415 - a stage's vendors load only when it runs

    settings = _settings_of_study(tier, data_dir, remote=remote)
    opening = workplace.study(settings)
    say(asyncio.run(study_job.study_once(opening, book, most, lambda line: say(line, err=True))))


def _settings_of_study(tier: str | None, data_dir: Path | None, *, remote: bool) -> Settings:
    settings = load_settings(data_dir=data_dir, model=tier)
    if tier is not None and remote:
        raise click.UsageError("Name --tier or --remote, not both.")
    if tier is not None and settings.profile == "remote":
        return settings.model_copy(update={"llm_model": LOCAL})
    if remote and settings.profile != "remote":
        elsewhere = load_settings(data_dir=data_dir, profile="remote", embed_model=LOCAL, vectors="chroma")
        return elsewhere.model_copy(update={"database_url": None})
    if remote and settings.llm_model == LOCAL:
        raise InvalidSettings("LUTRIN_LLM_MODEL is local.", remedy="Name the service's model in it.")
    return settings


def _say(notices: Sequence[Notice]) -> None:
    for notice in notices:
        say(f"{notice.filename}:{notice.line}: {notice.message}", err=True)
