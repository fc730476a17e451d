"""`lutrin models` and `lutrin eval`: the model files, and the scores of answers."""

import asyncio
import importlib.util
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import click
import msgspec

from lutrin.cli.console import download_progress, json_option, say, settings_option
from lutrin.errors import LutrinError, WeightsError
from lutrin.settings import Settings, load_settings


@click.group()
def models() -> None:
    """Manage the model files: list, fetch, verify, tune."""


@models.command("list")
@json_option
def list_models(*, as_json: bool) -> None:
    """List the models of the manifest, and which of them are installed."""
    from lutrin.keep import weights  # noqa: PLC0415 - an HTTP client loads with it

    settings = load_settings()
    rows = [
        {
            "tier": model.tier,
            "role": model.role,
            "name": model.name,
            "megabytes": round(model.size / 1e6, 1),
            "licence": model.licence,
            "state": weights.state_of(settings.models_dir, model),
            "measured": model.measured,
            "summary": model.summary,
        }
        for model in weights.load_manifest(settings.models_dir).model
    ]
    if as_json:
        say(msgspec.json.encode(rows).decode())
        return
    for row in rows:
        say(f"{row['tier']:<8} {row['state']:<10} {row['megabytes']:>7} MB  {row['name']} ({row['role']})")
        say(f"{'':<8} {'':<10} {'':>7}     {row['summary']}; {row['licence']}")


@models.command()
@click.argument("tiers", nargs=-1)
def fetch(tiers: tuple[str, ...]) -> None:
    """Download models by TIER, name or hf:OWNER/REPO/FILE@REVISION (default: those that the settings need).

    A name of fastembed's list, such as BAAI/bge-small-en-v1.5, fetches an embedding model for LUTRIN_EMBEDDER.
    """
    from lutrin.keep import weights  # noqa: PLC0415 - an HTTP client loads with it
    from lutrin.runtime.profile import fetch_embedder  # noqa: PLC0415 - a stage's vendors load only when it runs

    settings = load_settings()
    manifest = weights.load_manifest(settings.models_dir)
    for tier in _tiers_to_fetch(settings, tiers):
        with download_progress() as progress:
            if tier.startswith("hf:"):
                model = weights.pin(settings.models_dir, tier, progress)
                say(f"{tier} is here, pinned by {model.size:,} bytes and SHA-256 {model.file[0].sha256}.")
            elif "/" in tier:
                model = fetch_embedder(settings, tier, progress)
                say(f"{tier} is here, pinned by {model.size:,} bytes. LUTRIN_EMBEDDER={tier} chooses it.")
            else:
                # `just serve` hands on what LUTRIN_MODEL says.
                model = manifest.find(tier, "generate") if tier == settings.model else manifest.find(tier)
                for path in weights.fetch(settings.models_dir, model, progress):
                    say(f"{path} is here and matches its checksum.")


@models.command()
@click.argument("tiers", nargs=-1)
def verify(tiers: tuple[str, ...]) -> None:
    """Check the SHA-256 of models by TIER (default: all that are installed)."""
    from lutrin.keep import weights  # noqa: PLC0415 - an HTTP client loads with it

    settings = load_settings()
    manifest = weights.load_manifest(settings.models_dir)
    here = [model for model in manifest.model if weights.state_of(settings.models_dir, model) != "missing"]
    failed = False
    for model in [manifest.find(tier) for tier in tiers] or here:
        try:
            weights.verified_path(settings.models_dir, model)
            say(f"ok    {model.tier}: {model.name}")
        except WeightsError as error:
            failed = True
            say(f"FAIL  {model.tier}: {error.detail} {error.remedy}")
    if failed:
        sys.exit(1)


@models.command()
@click.argument("tiers", nargs=-1)
@click.option("--quick", is_flag=True, help="Try fewer formats.")
@click.option(
    "--short", is_flag=True, help="Measure LUTRIN_MODEL once, for at most a minute, unless LUTRIN_TUNE=false."
)
@click.option("--score", "scored", is_flag=True, help="Also have each model file answer 20 sample questions (slow).")
@settings_option
def tune(*, tiers: tuple[str, ...], quick: bool, short: bool, scored: bool, settings: Settings) -> None:
    """Convert and measure models by TIER (default: all installed); LUTRIN_MODEL=auto takes the best fast one."""
    from lutrin.generate.tune import FORMATS, QUICK_FORMATS, Trial, Tuning, table  # noqa: PLC0415 - a stage's vendors load only when it runs
    from lutrin.runtime import language_model  # noqa: PLC0415 - a stage's vendors load only when it runs

    def note(trial: Trial | str) -> None:
        say(trial if isinstance(trial, str) else f"measured {trial.model}, {trial.format}", err=True)

    tuning: Tuning | None
    if short:
        tuning = language_model.tune_short(settings, note)
    else:
        score = _scorer(settings) if scored else None
        formats = QUICK_FORMATS if quick else FORMATS
        tuning = language_model.tune(settings, formats, tiers=tiers, score=score, note=note)
    if tuning is None:
        return
    rows = table(tuning)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    say(f"For each model, the file marked * or auto is loaded; LUTRIN_MODEL=auto is {tuning.auto}.")


def _scorer(settings: Settings) -> Callable[[Path], float]:
    find_judge()
    from evaluation import asking  # noqa: PLC0415 - a stage's vendors load only when it runs

    return asking.scorer(settings, settings.corpus_dir / "questions" / "in_book.jsonl")


def _tiers_to_fetch(settings: Settings, tiers: tuple[str, ...]) -> list[str]:
    """Return the tiers to fetch; a GGUF file or `none` in LUTRIN_MODEL needs no download."""
    from lutrin.runtime.language_model import auto_tier  # noqa: PLC0415 - a stage's vendors load only when it runs

    aliases = {
        "auto": auto_tier(settings) if "auto" in (tiers or (settings.model,)) else "",
        "default": settings.embedder,
    }
    names = [aliases.get(tier, tier) for tier in tiers or ("default", settings.model)]
    return [tier for tier in names if tier != "none" and Path(tier).suffix != ".gguf"]


NO_JUDGE = "This Lutrin was installed without its judge. Run it in a checkout of the repository: `./justw eval`."

ROOT = Path(__file__).parents[3]
"""Root of the checkout, if this is one."""


def find_judge() -> None:
    """Make the package `evaluation` importable; it is a sibling of `src` in a checkout, and no wheel contains it."""
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
@json_option
@settings_option
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
    settings: Settings,
) -> None:
    """Ask the questions in FILES (JSON lines) and print the scores."""
    find_judge()
    # A stage's vendors load only when it runs: every command reads this module.
    from evaluation import asking, bars, questions, report, show  # noqa: PLC0415 - a stage's vendors load only when it runs

    limits = [bars.parse_bar(text) for text in minima] + (bars.goal_bars() if goals else [])
    earlier = report.read_report(compare) if compare is not None else None
    chosen = questions.select(questions.read_questions(list(files)), split)
    outcomes = asyncio.run(asking.run_eval(settings, chosen))
    result = report.report(outcomes, name=f"lutrin/{settings.model}", split=split)
    if save is not None:
        save.write_text(report.to_json(result), encoding="utf-8")
    if as_json:
        say(report.to_json(result))
    else:
        say(f"{show.table(result)}\n\n{show.kinds_table(result)}")
        if earlier is not None:
            say(f"\n{show.comparison_table(report.compare(earlier, result))}")
    if verbose:
        for outcome in outcomes:
            if outcome.missing_facts or outcome.unproven or outcome.error:
                say(f"\n{outcome.id} {outcome.kind}: {outcome.question}\n  left out: {outcome.missing_facts}")
                say(f"  unproven: {outcome.unproven} {outcome.error}")
                say(f"  {outcome.answer.answer if outcome.answer else ''}")
    under = bars.missed(result, limits)
    for line in under:
        say(line, err=True)
    if under:
        sys.exit(1)
