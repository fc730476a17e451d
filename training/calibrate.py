"""Fit what is left once a reader is trained: how much words count beside it, and when a book answers.

Runs the real search over the books that are left out of training, with the questions that were written on them and
others far from them, and writes `lexical`, `answers` and `scope` into the reader's file. Ranking is a softmax over the
candidates of a question. Scope is a logistic regression on `lutrin.search.reader.SIGNALS`, whose bias leaves `WRONGLY`
of the answered questions refused. Each make of book is also judged by what is fitted on the others.
"""

import asyncio
import json
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lutrin.answer.runs import Run, choose
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.ingest.lock import ingest_lock
from lutrin.ports import Embedder
from lutrin.query.understand import alone
from lutrin.records import NEVER_AN_ANSWER, Question
from lutrin.runtime.ingestion import run_ingest
from lutrin.runtime.profile import open_embedder, open_store
from lutrin.search.reader import SIGNALS, gather, score_passages, signals
from lutrin.search.result import Part
from lutrin.search.search import Searcher
from lutrin.settings import Settings, load_settings
from training import sources
from training.install import entry
from training.passages import extract
from training.sources import Source

WRONGLY = 0.03
"""Share of answered questions that may be refused where the bias is set."""
HELD = 0.7
"""Share of each place that answers which an excerpt must hold to count as the answer."""
FAR = sources.HERE.parent / "bench" / "questions" / "common.jsonl"
"""Questions on common subjects that no textbook on something else answers."""
FAR_OF = 4
"""Number of books of which one is asked each far question."""
PENALTY = 1e-3
"""Ridge penalty on the weights of standardised signals."""

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Label:
    """A question on a book, and the runs of characters that answer it; none: the book does not."""

    book: str
    make: str
    question: str
    spans: tuple[tuple[str, int, int], ...]
    """File, start and end."""
    far: bool = False
    """Whether it has nothing to do with the book."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a search found for a question."""

    label: Label
    features: Array
    """(P, 2): of each candidate the reader's score, and BM25 as a share of the best."""
    right: Mask
    """(P,): which candidates answer."""
    signals: Array
    held: tuple[bool, bool]
    """Whether the first excerpt, and all excerpts together, contain the whole answer."""


def labels(source: Source, folder: Path, turn: int) -> list[Label]:
    """The questions on a book, and one in `FAR_OF` of those that have nothing to do with it.

    Args:
        source: The book.
        folder: Where it is checked out.
        turn: Which of the far questions.

    Raises:
        Missing: A page is not there, or another than the questions were written on.
    """
    found = []
    for question in sources.written(source.name):
        spans = tuple((question.file, start, end) for start, end in sources.places(question, folder))
        if spans or question.near:
            found.append(Label(source.name, source.make, question.question, spans))
    far = sources.rows(FAR)[turn % FAR_OF :: FAR_OF]
    return [*found, *(Label(source.name, source.make, row["question"], (), far=True) for row in far)]


def ingest(source: Source, folder: Path, out: Path, models: Path | None = None) -> Settings:
    """Index the pages of a book that are asked about; what has not changed is kept.

    Args:
        source: The book.
        folder: Where it is checked out.
        out: Where pages and index go.
        models: Folder of the reader; None: the one in `out`.

    Raises:
        LutrinError: It cannot be indexed.
    """
    pages = out / "left-out" / source.name
    for name in {question.file for question in sources.written(source.name)}:
        (pages / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, pages / name)
    # Else each of its folders could count as a book.
    (pages / "book.toml").write_text(f"title = {json.dumps(source.title)}\n", encoding="utf-8")
    settings = load_settings(data_dir=out / "index" / source.name, models_dir=models or out / "models", profile="local")
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    with ingest_lock(settings.data_dir):
        asyncio.run(run_ingest(settings, pages))
    return settings


async def observe(settings: Settings, rows: Sequence[Label]) -> list[Seen]:
    """What a search finds for each question in the one book of a data folder."""
    embedder = open_embedder(settings, threads=1)
    async with Shelf(settings.catalog_path, settings.books_dir, open_store(settings), embedder=embedder.name) as shelf:
        (generation,) = shelf.books()
        async with shelf.lease(generation.book.slug) as book:
            return [await look(book, row, embedder) for row in rows]


async def look(book: OpenGeneration, row: Label, embedder: Embedder) -> Seen:
    """Search for one question."""
    query = alone(Question(text=row.question))
    (encoding,) = await Searcher(embedder).encode([query.topic])
    candidates = await gather(book, [(query.topic, encoding)], embedder.reading)
    (pool,) = candidates.match(lambda chunk: chunk.role in NEVER_AN_ANSWER)
    found = score_passages(pool, embedder.reading)
    best = max(pool.lexical.values(), default=0.0) or 1.0
    words = [pool.lexical.get(item.chunk.chunk_id, 0.0) / best for item in found]
    scores = [item.score - embedder.reading.lexical * held for item, held in zip(found, words, strict=True)]
    right = [
        any(
            item.chunk.filename == file and unit.char_start < end and unit.char_end > start
            for file, start, end in row.spans
            for unit in item.chunk.units
        )
        for item in found
    ]
    told = signals(pool, found).astype(np.float64)
    ranked = tuple(sorted(found, key=lambda item: (-item.score, item.chunk.chunk_id)))
    runs = choose([Part(query.topic, ranked, 0.0)])
    held = holds(runs[:1], row), holds(runs, row)
    return Seen(row, np.array([scores, words]).T, np.array(right, dtype=np.bool_), told, held)


def holds(runs: Sequence[Run], row: Label) -> bool:
    """Whether excerpts hold `HELD` of each place that answers a question."""
    shown = [(run.chunk.filename, *run.span) for run in runs]
    return all(
        sum(max(0, min(end, last) - max(start, first)) for name, first, last in shown if name == file)
        >= HELD * (end - start)
        for file, start, end in row.spans
    )


def ranking(seen: Sequence[Seen]) -> tuple[float, float]:
    """What BM25 counts beside the reader's score, and the temperature of that sum, by gradient ascent."""
    weights = np.array([0.5, 0.5])
    for step in range(400):
        slope = np.zeros(2)
        count = 0
        for item in seen:
            if item.right.any():
                logits = item.features @ weights
                chance = np.exp(logits - logits.max())
                chance /= chance.sum()
                target = chance * item.right
                slope += (target / max(target.sum(), 1e-12) - chance) @ item.features
                count += 1
        weights += 0.02 * (1 if step < 300 else 0.2) * slope / max(count, 1)
    return float(weights[1] / weights[0]), float(weights[0])


def logistic(rows: Array, answered: Mask) -> Array:
    """Weights and bias, last, of a logistic regression on standardised columns, both classes counting the same."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    design = np.c_[(rows - mean) / spread, np.ones(len(rows))]
    share = np.where(answered, 0.5 / answered.sum(), 0.5 / (~answered).sum()) * len(answered)
    weights = np.zeros(design.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (share * (answered - chance)) / len(answered) - PENALTY * weights
        bend = (design * (share * chance * (1 - chance))[:, None]).T @ design / len(answered)
        weights += np.linalg.solve(bend + PENALTY * np.eye(len(weights)), slope)
    fitted: Array = np.r_[weights[:-1] / spread, weights[-1] - (weights[:-1] * mean / spread).sum()]
    return fitted


def area(scores: Array, answered: Mask) -> float:
    """Area under the ROC curve."""
    order = scores.argsort().argsort() + 1
    positive = answered.sum()
    return float((order[answered].sum() - positive * (positive + 1) / 2) / (positive * (~answered).sum()))


def first_right(seen: Sequence[Seen], lexical: float) -> float:
    """The share of answered questions whose best candidate answers."""
    found = [item for item in seen if item.label.spans]
    best = [int((item.features @ np.array([1.0, lexical])).argmax()) for item in found]
    return sum(bool(item.right[place]) for item, place in zip(found, best, strict=True)) / max(1, len(found))


@dataclass(frozen=True, slots=True)
class Judged:
    """How well a scope fitted on books of other site generators decides what the books of one generator answer."""

    questions: int
    near: float
    """ROC area against near questions."""
    before: float
    """That of the weights that the reader had; 0: it had none."""
    all: float
    """ROC area against near and far questions."""
    refused: float
    """Share of the near questions that are refused at the other makes' threshold, which refuses `WRONGLY` there."""
    wrongly: float
    """Share of the answered questions that it refuses here."""


def left_out(seen: Sequence[Seen], before: Sequence[float]) -> tuple[dict[str, Judged], Array]:
    """Judge the scope on each make of book by what is fitted on the others.

    Args:
        seen: What a search found.
        before: Weights and bias that the reader had; empty: none.

    Returns:
        How each make fares, and (questions,) the odds less the threshold of the others; -inf where none can be fitted.
    """
    makes = np.array([item.label.make for item in seen])
    far = np.array([item.label.far for item in seen])
    rows, answered = _table(seen)
    had = rows @ np.array(before[:-1]) + before[-1] if before else np.zeros(len(rows))
    pooled, found = np.full(len(rows), -np.inf), {}
    for make in dict.fromkeys(makes.tolist()):
        here, near = makes == make, ~far
        if len(set(answered[here & near].tolist())) == 2 and len(set(answered[~here].tolist())) == 2:
            weights = logistic(rows[~here], answered[~here])
            odds = rows @ weights[:-1] + weights[-1]
            shift = np.quantile(odds[~here & answered], WRONGLY)
            pooled[here] = odds[here] - shift
            found[make] = Judged(
                questions=int((here & near).sum()),
                near=area(odds[here & near], answered[here & near]),
                before=area(had[here & near], answered[here & near]) if before else 0.0,
                all=area(odds[here], answered[here]),
                refused=float((odds[here & near & ~answered] < shift).mean()),
                wrongly=float((odds[here & answered] < shift).mean()),
            )
    return found, pooled


def at_once(odds: Array, seen: Sequence[Seen]) -> str:
    """Shares of near questions that are refused at given shares of refused answerable ones."""
    _, answered = _table(seen)
    near = ~answered & ~np.array([item.label.far for item in seen])
    shares = {share: (odds[near] < np.quantile(odds[answered], share)).mean() for share in (WRONGLY, 0.07)}
    return ", ".join(f"{value:.3f} of the near ones with {share} of the answered" for share, value in shares.items())


def scope(seen: Sequence[Seen]) -> list[float]:
    """Weights and bias, last, of the odds that a book answers."""
    rows, answered = _table(seen)
    weights = logistic(rows, answered)
    odds = rows @ weights[:-1] + weights[-1]
    shift = float(np.quantile(odds[answered], WRONGLY))
    print(f"area {area(odds, answered):.3f}, {dict(zip(SIGNALS, weights.round(3).tolist(), strict=False))}")
    print(f"refused of what is not answered {(odds[~answered] < shift).mean():.3f} at {WRONGLY} wrongly")
    return [round(float(value), 4) for value in [*weights[:-1], weights[-1] - shift]]


def answers(seen: Sequence[Seen], lexical: float) -> list[float]:
    """Slope and bias, moved in the same way, from the best passage's score to the odds that it answers."""
    _, answered = _table(seen)
    best = np.array([(item.features @ np.array([1.0, lexical])).max() for item in seen])
    slope, bias = logistic(best[:, None], answered)
    shift = float(np.quantile(slope * best[answered] + bias, WRONGLY))
    return [round(float(slope), 4), round(float(bias) - shift, 4)]


def sample(rows: Sequence[Label], most: int) -> list[Label]:
    """A random sample of at most that many near, answerable and far questions each; 0: all."""
    kinds: dict[tuple[bool, bool], list[Label]] = {}
    for row in rows:
        kinds.setdefault((bool(row.spans), row.far), []).append(row)
    rng = random.Random(1)
    return [row for some in kinds.values() for row in rng.sample(some, min(most or len(some), len(some)))]


def opened(checkouts: Path, out: Path, names: Sequence[str], most: int) -> list[tuple[Settings, list[Label]]]:
    """Index books by the reader in `out`, and label their questions.

    Args:
        checkouts: Folder with a checkout of each book.
        out: Where `export` wrote; the indexes lie beside.
        names: The books; none: those left out of training.
        most: See `sample`.

    Raises:
        Missing: A checkout or the reader is not there.
    """
    described = [book for book in sources.sources().values() if (book.name in names if names else book.left_out)]
    folders = [sources.checkout(checkouts, book) for book in described]
    update(out, {})
    found = []
    for turn, (book, folder) in enumerate(zip(described, folders, strict=True)):
        extract(folder)
        found.append((ingest(book, folder, out), sample(labels(book, folder, turn), most)))
    return found


def look_through(books: Sequence[tuple[Settings, list[Label]]]) -> list[Seen]:
    """What a search finds for each question."""
    return [item for settings, rows in books for item in asyncio.run(observe(settings, rows))]


def calibrate(checkouts: Path, out: Path, names: Sequence[str] = (), most: int = 0) -> None:
    """Fit the three, and write them into the exported reader; the arguments are those of `opened`."""
    books = opened(checkouts, out, names, most)
    lexical, temperature = ranking(look_through(books))
    print(f"lexical {lexical:.3f}, temperature {temperature:.3f}")
    update(out, {"lexical": round(lexical, 3)})
    # Once more, for the signals hold the score of the best passage.
    update(out, fit_scope(look_through(books), lexical))


def refit(checkouts: Path, out: Path, names: Sequence[str] = (), most: int = 0) -> None:
    """Fit only when a book answers, and keep what words count; the arguments are those of `opened`."""
    books = opened(checkouts, out, names, most)
    learned = json.loads((out / "models" / "reader" / "reader.json").read_text())
    update(out, fit_scope(look_through(books), learned["lexical"], learned["scope"]))


def fit_scope(seen: Sequence[Seen], lexical: float, before: Sequence[float] = ()) -> dict[str, object]:
    """Print how well it is known when a book answers, also by the weights before, and give the numbers that decide."""
    print(f"the first passage answers {first_right(seen, lexical):.4f} of what the books answer")
    held = np.array([item.held for item in seen if item.label.spans])
    first, both = held.mean(axis=0)
    print(f"the first excerpt holds the answer to {first:.4f} of {len(held)}, all excerpts to {both:.4f}")
    print("make left out   questions  area: near  before    all   refused at the others' threshold: near  answerable")
    makes, pooled = left_out(seen, before)
    for make, it in makes.items():
        counts = f"{it.questions:9}{it.near:12.3f}{it.before:8.3f}{it.all:7.3f}"
        print(f"{make:16}{counts}{it.refused:39.3f}{it.wrongly:12.3f}")
    print(f"fitted on other makes: {at_once(pooled, seen)}")
    if before:
        rows, _ = _table(seen)
        print(f"weights before: {at_once(rows @ np.array(before[:-1]), seen)}")
    return {"answers": answers(seen, lexical), "scope": scope(seen)}


def update(out: Path, values: dict[str, object]) -> None:
    """Write numbers into the exported reader, and a manifest that names its files as they are now."""
    reader = out / "models" / "reader"
    text = entry(reader)
    if values:
        path = reader / "reader.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | values, indent=1) + "\n")
        text = entry(reader)
    (out / "models" / "manifest.toml").write_text(f"format = 1\n\n{text}", encoding="utf-8")


def _table(seen: Sequence[Seen]) -> tuple[Array, Mask]:
    """Signals, (questions, signals), and which questions are answered."""
    return np.array([item.signals for item in seen]), np.array([bool(item.label.spans) for item in seen])
