"""Tables of a shelf: a row for each book, mean and worst, the testing half beside the whole; and comparisons."""

import datetime as dt
import math
import os
import platform
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from evaluation import rivals
from evaluation.bootstrap import combine
from evaluation.figures import BY_NAME, Figure
from evaluation.questions import half_of
from evaluation.report import Report, compare
from evaluation.run import Outcome
from evaluation.show import aligned, comparison_table
from lutrin.errors import InvalidInput

LUTRIN = "Lutrin"
COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("facts", LUTRIN, "facts"),
    ("facts soon", LUTRIN, "facts soon"),
    ("facts@5", LUTRIN, "facts@5"),
    ("file@1", LUTRIN, "file@1"),
    ("refused near", LUTRIN, "refused near"),
    ("wrongly", LUTRIN, "refused wrongly"),
    ("far", LUTRIN, "refused far"),
    ("words", LUTRIN, "length"),
    ("generated", LUTRIN, "generated"),
    ("RRF file@1", rivals.FUSED, "file@1"),
    ("RRF facts@5", rivals.FUSED, "facts@5"),
    ("RRF facts", rivals.FUSED, "facts"),
    ("start facts", rivals.START, "facts"),
    ("oracle facts", rivals.ORACLE, "facts"),
)
"""Head, system and figure of each column."""
GOALS = {
    "facts": 0.72, "facts soon": 0.60, "facts@5": 0.92, "file@1": 0.88, "refused near": 0.65, "refused wrongly": 0.04,
    "refused far": 1.0, "length": 150,
}  # fmt: skip
"""On real books, quotes only."""
MODEL_GOALS = GOALS | {"facts": 0.78, "facts soon": 0.70, "refused near": 0.80}
"""The same with a small model."""
LEGEND = (
    "Each cell: all questions / the testing half. Questions about a selection count as all others do.\n"
    "RRF: dense and BM25 search fused; its facts stand in the first 160 words of its passages. start: the first 160\n"
    "words of Lutrin's best passage. oracle: the best 150 consecutive words in one of its twelve passages."
)


class Scores(msgspec.Struct, frozen=True, kw_only=True):
    """Scores of one question, without a word of the book."""

    id: str
    kind: str
    measures: dict[str, tuple[float, float]]


class BookResult(msgspec.Struct, frozen=True, kw_only=True):
    """One book: every system's scores."""

    book: str
    systems: dict[str, tuple[Scores, ...]]
    embedded: int = 0
    """Texts that this run had to embed."""


class PeerResult(msgspec.Struct, frozen=True, kw_only=True):
    """Another pipeline on some questions of one book."""

    peer: str
    book: str
    scores: tuple[Scores, ...]


class ShelfResult(msgspec.Struct, frozen=True, kw_only=True):
    """One run over a shelf."""

    model: str
    commit: str
    date: str
    machine: str
    seconds: float
    figures: dict[str, dict[str, tuple[float | None, float | None]]]
    """By book (with `mean` and `worst`) and column: the whole and the testing half; None: not measured."""
    books: tuple[BookResult, ...]
    peers: tuple[PeerResult, ...] = ()


def made(results: Sequence[BookResult], *, model: str, root: Path, seconds: float) -> ShelfResult:
    """A run put together.

    Args:
        results: One for each book.
        model: Tier that answered.
        root: The checkout, whose commit is named.
        seconds: That the run took.
    """
    rows = {result.book: row(result) for result in results}
    return ShelfResult(
        model=model,
        commit=_commit(root),
        date=dt.datetime.now(dt.UTC).date().isoformat(),
        machine=f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        seconds=round(seconds, 1),
        figures={**rows, "mean": _over(rows.values(), mean=True), "worst": _over(rows.values(), mean=False)},
        books=tuple(results),
    )


def row(result: BookResult) -> dict[str, tuple[float | None, float | None]]:
    """The figures of one book by column: the whole and the testing half."""
    found = {}
    for head, system, name in COLUMNS:
        scores = result.systems.get(system, ())
        half = [item for item in scores if half_of(item.id) == "test"]
        found[head] = (_value(scores, BY_NAME[name]), _value(half, BY_NAME[name]))
    return found


def table(result: ShelfResult) -> str:
    """The table with its goals, and where, when and of what it is."""
    heads = [head for head, _, _ in COLUMNS]
    rows = [["book", *heads]]
    for book, values in result.figures.items():
        rows.append([book, *(_cell(values.get(head, (None, None)), name) for head, _, name in COLUMNS)])
    wanted = GOALS if result.model == "none" else MODEL_GOALS
    goals = [_goal(name, wanted) if system == LUTRIN else "" for _, system, name in COLUMNS]
    rows.append(["goal", *goals])
    count = sum(len(book.systems[LUTRIN]) for book in result.books)
    about = f"model {result.model}, commit {result.commit}, {result.date}, {result.machine}"
    return f"{aligned(rows)}\n\n{LEGEND}\n{count} questions in {result.seconds:.0f} s; {about}."


def peers_table(result: ShelfResult) -> str:
    """Lutrin beside the peers, over the questions that all of them were asked."""
    names = list(dict.fromkeys(item.peer for item in result.peers))
    ids = {item.id for peer in result.peers for item in peer.scores}
    own = [item for book in result.books for item in book.systems[LUTRIN] if item.id in ids]
    rows = [["pipeline", "questions", "facts", "refused near", "refused wrongly", "median seconds"]]
    asked = {f"Lutrin, {result.model}": own}
    asked |= {name: [item for peer in result.peers if peer.peer == name for item in peer.scores] for name in names}
    for name, scores in asked.items():
        figures = [_number(_value(scores, BY_NAME[figure])) for figure in ("facts", "refused near", "refused wrongly")]
        seconds = _value(scores, BY_NAME["latency median"])
        rows.append([name, str(len(scores)), *figures, f"{seconds or 0:.2f}"])
    return aligned(rows)


def comparison(earlier: ShelfResult, result: ShelfResult) -> str:
    """Lutrin's figures then and now over the questions that both have, and each book's change of facts."""
    names = (f"{earlier.commit} {earlier.model}", f"{result.commit} {result.model}")
    pooled = compare(_report(names[0], earlier.books), _report(names[1], result.books))
    before = {book.book: book for book in earlier.books}
    rows = [["book", "facts then", "facts now", "change", "testing half"]]
    for book in result.books:
        if book.book in before:
            old, new = row(before[book.book])["facts"], row(book)["facts"]
            rows.append([book.book, _number(old[0]), _number(new[0]), _change(old[0], new[0]), _change(old[1], new[1])])
    return f"{comparison_table(pooled)}\n\n{aligned(rows)}"


def read(path: Path) -> ShelfResult:
    """A run that was saved.

    Raises:
        InvalidInput: The file cannot be read or is no such run.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=ShelfResult)
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}.") from None
    except msgspec.DecodeError as error:
        raise InvalidInput(f"{path}: {error}; it must be what --save wrote.") from None


def _report(name: str, books: Iterable[BookResult]) -> Report:
    """Lutrin's scores over all books as the report that `compare` wants."""
    outcomes = tuple(
        Outcome(id=item.id, kind=item.kind, question="", measures=item.measures)
        for book in books
        for item in book.systems[LUTRIN]
    )
    return Report(name=name, split="all", seed=0, figures=(), kinds={}, outcomes=outcomes)


def _value(scores: Sequence[Scores], figure: Figure) -> float | None:
    pairs = [item.measures[figure.source] for item in scores if figure.source in item.measures]
    value = combine(np.asarray(pairs, dtype=np.float64), figure.how) if pairs else math.nan
    return None if math.isnan(value) else round(value, 4)


def _over(
    rows: Iterable[Mapping[str, tuple[float | None, float | None]]], *, mean: bool
) -> dict[str, tuple[float | None, float | None]]:
    """The mean of the books, or the worst of them, for each column."""
    every = list(rows)

    def of(head: str, name: str, half: int) -> float | None:
        values = [value for item in every if (value := item[head][half]) is not None]
        if not values:
            return None
        worst = max if BY_NAME[name].at_most else min
        return round(sum(values) / len(values), 4) if mean else worst(values)

    return {head: (of(head, name, 0), of(head, name, 1)) for head, _, name in COLUMNS}


def _cell(pair: tuple[float | None, float | None], name: str) -> str:
    return " / ".join(_number(value, words=name == "length") for value in pair)


def _number(value: float | None, *, words: bool = False) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if words else f"{value:.3f}".removeprefix("0")


def _change(old: float | None, new: float | None) -> str:
    return "" if old is None or new is None else f"{new - old:+.3f}"


def _goal(name: str, wanted: Mapping[str, float]) -> str:
    if name not in wanted:
        return ""
    return f"{'<=' if BY_NAME[name].at_most else '>='} {wanted[name]:g}"


def _commit(root: Path) -> str:
    """The checkout's commit, with `+` if files differ from it; `unknown` outside a checkout."""
    try:
        name = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "--short=9", "HEAD"], capture_output=True, text=True, check=True
        )
        changed = subprocess.run(
            ["git", "-C", str(root), "status", "--porcelain", "--", "src"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return name.stdout.strip() + ("+" if changed.stdout.strip() else "")


def _processor() -> str:
    """The processor's name, where the system tells it (Linux)."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text(encoding="utf-8").splitlines() if cpuinfo.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
