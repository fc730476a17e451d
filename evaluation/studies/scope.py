"""Whether the book speaks of a question: what is refused, with the weights fitted on the book and with the common ones.

    python -m evaluation.searches scope                  the sample book and its questions
    python -m evaluation.searches scope --second         npm's own documentation, which comes with Node.js, and
                                                     bench/questions/npm.jsonl: a book that nothing was tuned on

Follow-ups are completed from the question before. A question that is refused for its language or for saying nothing is
refused before any of this, so only questions of the book and those far from it and near it are asked here.
"""

import argparse
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluation.command_line import ROOT, chosen_questions, finish, machine
from evaluation.pipeline import complete
from evaluation.questions import EvalQuestion
from evaluation.show import aligned
from lutrin.errors import InvalidInput
from lutrin.index.generation import OpenGeneration
from lutrin.index.manifest import ScopeFit
from lutrin.retrieve.calibrate import calibrate
from lutrin.retrieve.search import Searcher
from lutrin.retrieve.signals import PRIOR, SIGNALS, log_odds

NPM_QUESTIONS = ROOT / "bench" / "questions" / "npm.jsonl"
KINDS = ("inside", "near", "far")
Floats = npt.NDArray[np.float32]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of `scope`, besides those that choose questions."""
    parser.add_argument("--second", action="store_true", help="npm's documentation instead of the sample book")


async def run_scope(arguments: argparse.Namespace) -> None:
    """Print what is refused under both fits, and how well each signal parts the groups."""
    from evaluation.searches import indexed  # noqa: PLC0415 - that module imports this one

    if arguments.second:
        arguments.questions, arguments.corpus = (NPM_QUESTIONS,), npm_pages(ROOT / "bench" / "out" / "npm-corpus")
        arguments.split = "all"
    questions = [item for item in chosen_questions(arguments) if item.in_book or item.kind in KINDS]
    async with indexed(arguments.corpus, "npm" if arguments.second else "retrieval") as peers:
        started = time.perf_counter()
        fits = {item.name: await calibrate(item, peers.searcher) for item in peers.generations}
        seconds = time.perf_counter() - started
        fitted: dict[str, list[float]] = {kind: [] for kind in KINDS}
        common: dict[str, list[float]] = {kind: [] for kind in KINDS}
        signals: dict[str, list[Floats]] = {kind: [] for kind in KINDS}
        for question in questions:
            kind = "inside" if question.in_book else question.kind
            text = complete(question.question, question.previous_question or "")
            seen = [await _signals(item, peers.searcher, text, question) for item in peers.generations]
            odds = [log_odds(row, fits[item.name]) for row, item in zip(seen, peers.generations, strict=True)]
            fitted[kind].append(max(odds))
            common[kind].append(max(log_odds(row, None) for row in seen))
            signals[kind].append(seen[int(np.argmax(odds))])
    rows = [["refused", *KINDS], ["fitted on the book", *_refused(fitted)], ["common weights", *_refused(common)]]
    areas = [["signal", "area, near", "area, far"]]
    groups = {kind: np.array(values) for kind, values in signals.items()}
    for column, name in enumerate(SIGNALS):
        inside = groups["inside"][:, column]
        areas.append([name, *(f"{area(inside, groups[kind][:, column]):.3f}" for kind in ("near", "far"))])
    areas.append(["all, fitted", *(f"{area(np.array(fitted['inside']), np.array(fitted[k])):.3f}" for k in KINDS[1:])])
    data = {"refused": {"fitted": _refused(fitted), "common": _refused(common)}, "fit_s": round(seconds, 1)}
    title = f"Scope, {'npm documentation' if arguments.second else 'sample book'}, {len(questions)} questions"
    finish(title, [aligned(rows), aligned(areas), _weights(list(fits.values()))], data, machine("numpy"))


async def _signals(generation: OpenGeneration, searcher: Searcher, text: str, question: EvalQuestion) -> Floats:
    selected = question.selected_text or ""
    found = await searcher.search(generation, text, k=1, selected_text=selected)
    return np.array(found.signals, dtype=np.float32)


def _refused(odds: dict[str, list[float]]) -> list[str]:
    return [f"{np.mean(np.array(odds[kind]) < 0):.3f}" if odds[kind] else "" for kind in KINDS]


def _weights(fits: Sequence[ScopeFit | None]) -> str:
    rows = [["weights", *SIGNALS, "bias"]]
    for name, fit in (("common", PRIOR), *((f"book {number}", fit) for number, fit in enumerate(fits, start=1))):
        if fit is not None:
            rows.append([name, *(f"{weight:.2f}" for weight in fit.weights), f"{fit.bias:.2f}"])
    return aligned(rows)


def area(inside: npt.NDArray[np.floating], outside: npt.NDArray[np.floating]) -> float:
    """Area under the curve: how often a question of the book scores higher than another one, ties half."""
    pairs = inside[:, None] - outside[None]
    return float((pairs > 0).mean() + (pairs == 0).mean() / 2)


def npm_pages(folder: Path) -> Path:
    """A copy of npm's documentation as a book.

    Raises:
        InvalidInput: There is no npm here, or it has no documentation.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise InvalidInput("There is no npm here; its documentation comes with Node.js.")
    root = Path(subprocess.run([npm, "root", "-g"], check=True, capture_output=True, text=True).stdout.strip())
    pages = root / "npm" / "docs" / "content"
    if not pages.is_dir():
        raise InvalidInput(f"npm has no documentation in {pages}.")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(pages, folder / "npm")
    (folder / "npm" / "book.toml").write_text('slug = "npm"\ntitle = "npm"\n', encoding="utf-8")
    return folder
