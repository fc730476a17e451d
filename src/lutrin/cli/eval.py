"""`lutrin eval`: ask the questions of files and print the scores of the answers."""

import asyncio
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from lutrin.cli.console import data_dir_option, say
from lutrin.errors import LutrinError
from lutrin.settings import load_settings

NO_JUDGE = "This Lutrin was installed without its judge. Run it in a checkout of the repository: `./justw eval`."

ROOT = Path(__file__).parents[3]
"""Root of the checkout, if this is one."""


def find_judge() -> None:
    """Make the package `evaluation` importable; it stands beside `src` in a checkout and is in no wheel.

    Raises:
        LutrinError: This is no checkout.
    """
    if (ROOT / "evaluation" / "__init__.py").is_file():
        if str(ROOT) not in sys.path:
            sys.path.append(str(ROOT))
    elif importlib.util.find_spec("evaluation") is None:
        raise LutrinError(NO_JUDGE)


@click.command("eval")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--split", type=click.Choice(["tune", "test", "all"]), default="all", show_default=True,
              help="Ask the half for tuning, the half for testing, or both.")  # fmt: skip
@click.option("--min", "minima", multiple=True, metavar="FIGURE=VALUE", help="Exit 1 if FIGURE is worse than VALUE.")
@click.option("--goals", is_flag=True, help="Exit 1 if any goal is missed.")
@click.option("--compare", type=click.Path(path_type=Path, exists=True), help="Compare with this earlier report.")
@click.option("--save", type=click.Path(path_type=Path), help="Write the report as JSON.")
@click.option("--verbose", is_flag=True, help="Print each answer that lacks a fact or has an unproven sentence.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@data_dir_option
def evaluate(
    files: Sequence[Path],
    *,
    split: Literal["tune", "test", "all"],
    minima: Sequence[str],
    goals: bool,
    compare: Path | None,
    save: Path | None,
    verbose: bool,
    as_json: bool,
    data_dir: Path | None,
) -> None:
    """Ask the questions in FILES (JSON lines) and print the scores."""
    find_judge()
    # A stage's vendors load only when it runs: every command reads this module.
    from evaluation import asking, bars, show  # noqa: PLC0415 - as said
    from evaluation.questions import read_questions, select  # noqa: PLC0415 - as said
    from evaluation.report import compare as compare_reports  # noqa: PLC0415 - as said
    from evaluation.report import read_report, report, to_json  # noqa: PLC0415 - as said

    wanted = [bars.parse_bar(text) for text in minima] + (bars.goal_bars() if goals else [])
    earlier = read_report(compare) if compare is not None else None
    settings = load_settings(data_dir=data_dir)
    questions = select(read_questions(list(files)), split)
    outcomes = asyncio.run(asking.run_eval(settings, questions))
    result = report(outcomes, name=f"lutrin/{settings.model}", split=split)
    if save is not None:
        save.write_text(to_json(result), encoding="utf-8")
    if as_json:
        say(to_json(result))
    else:
        say(f"{show.table(result)}\n\n{show.kinds_table(result)}")
        if earlier is not None:
            say(f"\n{show.comparison_table(compare_reports(earlier, result))}")
    if verbose:
        for outcome in outcomes:
            if outcome.missing_facts or outcome.unproven or outcome.error:
                say(f"\n{outcome.id} {outcome.kind}: {outcome.question}\n  left out: {outcome.missing_facts}")
                say(f"  unproven: {outcome.unproven} {outcome.error}")
                say(f"  {outcome.answer.answer if outcome.answer else ''}")
    under = bars.missed(result, wanted)
    for line in under:
        say(line, err=True)
    if under:
        sys.exit(1)
