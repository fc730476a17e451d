"""Sentences that a model really wrote, labelled by reading: `python -m evaluation.written collect|show|fit`.

`collect` asks the questions of a shelf, as a reader would, and writes down every sentence of the model, shown or not,
with the reading section that it was shown (file, offset, length, SHA-256), the model's log probabilities and its yes to
whether the section answers. A person then sets `label`: `right` (the section says so, and it helps the reader who
asked), `wrong` (the section does not say it, or denies it), `empty` (it says nothing that was asked).

Rows of books that are not on the shelf are read with `--books FOLDER`, which holds a checkout of each under its name,
as `training/books.toml` lists them.

`show` prints sentences below their section and question, for reading. `fit` fits the grades and prints how they do on
books that are left out in turn; `--write` also writes `src/lutrin/answer/grades.json`.
"""

import asyncio
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from evaluation.asking import opened_pipeline
from evaluation.claims import folder_of, stretch_as_passage
from evaluation.questions import EvalQuestion
from evaluation.remote import ANSWERS, RemoteAnswer, read_answers
from evaluation.rows import collect_rows, read_rows, row_options
from evaluation.shelf import ROOT, ShelvedBook
from evaluation.show import aligned
from lutrin.answer.grade import SIGNALS, AllWeights, Grade, Grader, RawSentence, Weights, broken_literal, evidence_of
from lutrin.answer.runs import Run, whole
from lutrin.errors import LutrinError
from lutrin.ports import Embedder
from lutrin.records import Question
from lutrin.settings import load_settings

ROWS = ROOT / "evaluation" / "written"
GRADES = ROOT / "src" / "lutrin" / "answer" / "grades.json"
FITTING = frozenset({"gazebo", "iot", "transformers"})
"""Books of the shelf whose answers are fitted on where a book is not left out in turn; the others are reported."""
STATED_TRUE, SHOWN_TRUE = 0.97, 0.94
"""Share of sentences that must not be false: of those without a mark, and of all that are shown."""
GOOD_MARKED, GOOD_UNSEEN = 0.05, 0.01
"""Shares of a strong model's good sentences that may be marked or unseen, and unseen."""
OF_THE_MODEL = ("certainty", "least certainty", "answers")
"""Signals that only the model that wrote can give."""
RIDGE = 0.01
STEPS = 5000
PATIENT_S = 600.0
AT_ONCE = 4
"""Questions under way together, so that the model writes several answers in one step."""
Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class WrittenRow(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence that a model wrote of one reading section."""

    book: str
    question: str
    model: str
    file: str
    offset: int
    length: int
    hash: str
    text: str
    logprob: float
    least_logprob: float
    yes: float
    """Log odds of the model's yes to whether the section answers."""
    label: str = ""


class RecordingGrader(Grader):
    """A grader that keeps what it was given."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self.rows: list[tuple[RawSentence, Run, str, float]] = []

    async def grade(
        self,
        sentence: RawSentence,
        sections: Sequence[tuple[int, Run]],
        question: str,
        **more: Any,  # noqa: ANN401 - as the method that it extends
    ) -> Grade:
        """Grade as usual; keep the sentence with the first section."""
        self.rows.append((sentence, sections[0][1], question, more.get("answers", 0.0)))
        return await super().grade(sentence, sections, question, **more)


async def collect(book: ShelvedBook, data: Path, model: str) -> list[WrittenRow]:
    """Ask the questions of a book; return what the model wrote, without labels."""
    settings = load_settings(
        profile="local",
        data_dir=data,
        models_dir=ROOT / "models",
        model=model,
        explain_s=PATIENT_S,
        live_s=PATIENT_S,
        log_level="error",
    )
    rows: list[WrittenRow] = []
    graders: list[RecordingGrader] = []

    def recording(embedder: Embedder) -> Grader:
        graders.append(RecordingGrader(embedder))
        return graders[-1]

    async with opened_pipeline(settings, grader=recording) as pipeline:
        turns = asyncio.Semaphore(AT_ONCE)

        async def ask(one: EvalQuestion) -> None:
            async with turns:
                await pipeline.answer(Question(text=one.question, selected_text=one.selected_text))
                print(f"{book.name}: {one.id}", file=sys.stderr)

        await asyncio.gather(*map(ask, book.questions))
    for written, section, question, yes in graders[0].rows:
        if not section.chunk.filename:
            continue
        start, end = section.units[0].char_start, section.units[-1].char_end
        source = (book.folder / section.chunk.filename).read_bytes().decode()
        rows.append(
            WrittenRow(
                book=book.name,
                question=question,
                model=model,
                file=section.chunk.filename,
                offset=start,
                length=end - start,
                hash=sha256(source[start:end].encode()).hexdigest(),
                text=written.text,
                logprob=round(written.logprob, 4),
                least_logprob=round(written.least_logprob, 4),
                yes=round(yes, 3),
            )
        )
    rows.sort(key=lambda row: (row.question, row.hash))
    return rows


async def signals_of(
    rows: Sequence[WrittenRow], embedder: Embedder, folders: Sequence[Path]
) -> tuple[Array, list[bool]]:
    """The signals of every sentence, (n, signals), and whether its literals stand."""
    grader = Grader(embedder)
    found, stand = [], []
    for row in rows:
        place = (row.file, row.offset, row.length, row.hash)
        section = whole(stretch_as_passage(row.book, folder_of(row.book, *folders) / row.file, place))
        found.append(
            await grader.signals(RawSentence(row.text, row.logprob, row.least_logprob), section, answers=row.yes)
        )
        stand.append(not broken_literal(row.text, evidence_of(section), row.question))
    return np.array(found, dtype=np.float64), stand


def fitted(signals: Array, right: Array) -> tuple[Array, float]:
    """Weights and bias of a logistic regression with a ridge, by gradient descent on standardised signals."""
    mean, spread = signals.mean(axis=0), signals.std(axis=0) + 1e-9
    scaled = (signals - mean) / spread
    weights, bias = np.zeros(scaled.shape[1]), 0.0
    for _ in range(STEPS):
        error = 1 / (1 + np.exp(-(scaled @ weights + bias))) - right
        weights -= 0.5 * (scaled.T @ error / len(right) + RIDGE * weights)
        bias -= 0.5 * float(error.mean())
    return weights / spread, bias - float((weights * mean / spread).sum())


def floor_for(chances: Array, right: Array, share: float) -> float:
    """The lowest probability above which at least a share of the sentences is right."""
    order = np.argsort(-chances)
    held = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    fine = np.flatnonzero(held >= share)
    return float(chances[order][fine[-1]]) if len(fine) else 1.0


def cross_chances(signals: Array, right: Array, standing: Mask, books: npt.NDArray[np.str_]) -> Array:
    """(n,): the chance of each sentence by what is fitted on the other books; 0 where a literal does not stand."""
    chances = np.zeros(len(right))
    for book in np.unique(books):
        own = books == book
        slopes, bias = fitted(signals[~own & standing], right[~own & standing])
        chances[own] = 1 / (1 + np.exp(-(signals[own] @ slopes + bias)))
    return np.where(standing, chances, 0.0)


def figures(chances: Array, right: Array, false: Array, weights: Weights) -> list[str]:
    """Shares of right and false sentences among stated and shown ones, and the share of right ones that is shown.

    Args:
        chances: (n,), of each sentence.
        right: (n,), 1 where it is right.
        false: (n,), 1 where it is wrong; what is neither is true and says nothing that was asked.
        weights: With the floors.
    """
    stated, shown = chances >= weights.stated, chances >= weights.likely

    def share(mask: Mask, of: Array) -> str:
        return f"{of[mask].mean():.3f}" if mask.any() else "-"

    seen = shown[right > 0].mean() if (right > 0).any() else float("nan")
    shares = [share(mask, of) for mask in (stated, shown) for of in (right, false)]
    return [str(len(right)), f"{right.mean():.3f}", *shares, f"{seen:.3f}"]


async def signals_of_strong(
    answers: Sequence[RemoteAnswer], embedder: Embedder, folders: Sequence[Path]
) -> tuple[Array, Array]:
    """The signals of a strong model's sentences whose literals stand, against the best section; and which are right."""
    grader = Grader(embedder)
    found, right = [], []
    for answer in answers:
        folder = folder_of(answer.book, *folders)
        sections = [whole(stretch_as_passage(answer.book, folder / place[0], place)) for place in answer.passages]
        evidence = "\n".join(map(evidence_of, sections))
        for number, text in enumerate(answer.sentences):
            if not broken_literal(text, evidence, answer.question):
                each = [await grader.signals(RawSentence(text), section) for section in sections]
                found.append(max(each, key=lambda one: float(one[: SIGNALS.index("certainty")].sum())))
                right.append(number != answer.false_sentence)
    return np.array(found, dtype=np.float64), np.array(right, dtype=np.float64)


def without_model(signals: Array) -> Array:
    """The signals, those that only a model can give set to nothing."""
    return np.where([name in OF_THE_MODEL for name in SIGNALS], 0.0, signals)


def made(slopes: Array, bias: float, stated: float, likely: float) -> Weights:
    """Weights as they are kept."""
    return Weights(tuple(round(float(one), 4) for one in slopes), round(bias, 4), round(stated, 4), round(likely, 4))


async def fit(rows: Sequence[WrittenRow], folders: Sequence[Path], *, write: bool) -> str:
    """Fit the grades of small and strong models and of sentences without a model; return a table.

    What small models wrote is judged by what is fitted on all books but its own, and the floors are set on that; what
    is kept is fitted on all books.
    """
    from lutrin.runtime.profile import open_embedder  # noqa: PLC0415 - models load only when something is fitted

    settings = load_settings(profile="local", models_dir=ROOT / "models", model="none", log_level="error")
    embedder = open_embedder(settings)
    signals, stand = await signals_of(rows, embedder, folders)
    labels, books = np.array([row.label for row in rows]), np.array([row.book for row in rows])
    right, false = (labels == "right").astype(np.float64), (labels == "wrong").astype(np.float64)
    standing = np.array(stand)
    heads = ["who writes", "books", "sentences", "right"]
    heads += [f"{what} of {of}" for of in ("stated", "shown") for what in ("right", "false")]
    table, fits = [[*heads, "shown of right"]], []
    for name, seen in (("small", signals), ("unsigned", without_model(signals))):
        chances = cross_chances(seen, right, standing, books)
        floors = [floor_for(chances, 1 - false, share) for share in (STATED_TRUE, SHOWN_TRUE)]
        fits.append(made(*fitted(seen[standing], right[standing]), floors[0], floors[1]))
        table += [[name, "left out in turn", *figures(chances, right, false, fits[-1])]]
        for book in np.unique(books) if name == "small" else ():
            own = books == book
            table.append([name, str(book), *figures(chances[own], right[own], false[own], fits[-1])])
    answers = read_answers(sorted(ANSWERS.glob("*.jsonl")))
    halves = [[one for one in answers if (one.book in FITTING) is wanted] for wanted in (True, False)]
    told, good = await signals_of_strong(halves[0], embedder, folders)
    slopes, bias = fitted(told, good)
    chances = 1 / (1 + np.exp(-(told @ slopes + bias)))
    likely, stated = np.quantile(chances[good > 0], [GOOD_UNSEEN, GOOD_MARKED])
    fits.append(made(slopes, bias, float(stated), float(likely)))
    table.append(["strong", "fitted on", *figures(chances, good, 1 - good, fits[-1])])
    told, good = await signals_of_strong(halves[1], embedder, folders)
    chances = 1 / (1 + np.exp(-(told @ slopes + bias)))
    table.append(["strong", "reported", *figures(chances, good, 1 - good, fits[-1])])
    weights = AllWeights(small=fits[0], unsigned=fits[1], strong=fits[2])
    if write:
        GRADES.write_bytes(msgspec.json.encode(weights) + b"\n")
    return f"{aligned(table)}\n\n{msgspec.json.encode(weights).decode()}"


def page(rows: Sequence[WrittenRow], folders: Sequence[Path]) -> str:
    """The sentences below their section and question, numbered from 1."""
    lines: list[str] = []
    before: tuple[str, str] = ("", "")
    for number, row in enumerate(rows, 1):
        if (row.question, row.hash) != before:
            place = (row.file, row.offset, row.length, row.hash)
            section = whole(stretch_as_passage(row.book, folder_of(row.book, *folders) / row.file, place))
            lines += ["", f"## {row.book}: {row.question}", evidence_of(section), "--"]
            before = (row.question, row.hash)
        lines.append(f"{number} [{row.label}] {row.text}")
    return "\n".join(lines)


def main() -> None:
    """The command line."""
    options = row_options(__doc__, ("collect", "show", "fit"), ROWS)
    options.add_argument(
        "--books", type=Path, action="append", default=[], metavar="FOLDER", help="with more of the books, by name"
    )
    given = options.parse_args()
    try:
        if given.act == "collect":
            collect_rows(given, collect)
            return
        files = [path for path in sorted(given.rows.glob("*.jsonl")) if not given.book or path.stem in given.book]
        rows = read_rows(files, WrittenRow, f"There are no sentences in {given.rows}.")
        books = [given.shelf / "books", *given.books]
        if given.act == "show":
            print(page(rows, books))
        else:
            print(asyncio.run(fit([row for row in rows if row.label], books, write=given.write)))
    except LutrinError as error:
        sys.exit(f"{error.detail} {error.remedy}".strip())


if __name__ == "__main__":
    main()
