"""Fit whether a book answers, from the reader's odds and a model's yes: `python -m evaluation.whether collect|fit`.

`collect` asks the questions of a shelf and writes down, for each, the reader's log odds that the book answers and the
log odds of the model's yes to the same; no word of a book. `fit` fits one regression on the books of one half, and two
floors, with a wrong refusal counted as the larger sin; it prints what the floors do on the other half, and `--write`
writes `src/lutrin/search/decisions.json`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np

from evaluation.asking import opened_pipeline
from evaluation.rows import collect_rows, read_rows, row_options
from evaluation.shelf import ROOT, ShelvedBook
from evaluation.show import aligned
from evaluation.written import FITTING, PATIENT_S, Array, fitted
from lutrin.errors import LutrinError
from lutrin.records import Question
from lutrin.search.result import Decision, Decisions
from lutrin.search.result import load_decisions as shipped
from lutrin.settings import load_settings

ROWS = ROOT / "evaluation" / "whether"
DECISIONS = ROOT / "src" / "lutrin" / "search" / "decisions.json"
ALONE_WRONG, WITH_MODEL_WRONG = (0.10, 0.06), (0.06, 0.03)
"""Shares of the answerable questions of the fitting half that get no more than the closest passage, or nothing. With
a model fewer may get nothing: it reads one section, and others may hold the answer."""

LEAST_WRONG = 0.05
"""Share of the answerable questions of the fitting half whose odds by the reader no yes of a model can mend."""


class WhetherRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question with what the reader and the model think of whether the book answers it."""

    book: str
    id: str
    in_book: bool
    reader: float
    yes: float | None = None
    """None: the model did not say."""


async def collect(book: ShelvedBook, data: Path, model: str) -> list[WhetherRow]:
    """Ask every question of a book that is about its subject."""
    settings = load_settings(
        profile="local", data_dir=data, models_dir=ROOT / "models", model=model, explain_s=PATIENT_S, live_s=PATIENT_S,
        deadline_s=PATIENT_S, log_level="error",
    )  # fmt: skip
    rows = []
    async with opened_pipeline(settings) as pipeline:
        for one in book.questions:
            if one.kind == "far" or one.selected_text:
                continue
            made = await pipeline.made(Question(text=one.question), one.previous_question)
            rows.append(
                WhetherRow(book=book.name, id=one.id, in_book=one.in_book, reader=round(made.odds, 3), yes=made.yes)
            )
            print(f"{book.name}: {one.id}", file=sys.stderr)
    return rows


def decisions(rows: Sequence[WhetherRow]) -> Decisions:
    """Fit both decisions on the fitting half."""
    own = [row for row in rows if row.book in FITTING]
    right = np.array([row.in_book for row in own], dtype=np.float64)
    reader = np.array([row.reader for row in own], dtype=np.float64)
    alone = _floored(Decision(reader=1.0, yes=0.0, bias=0.0, answers=0.0, closest=0.0), reader, right, ALONE_WRONG)
    told = [row for row in own if row.yes is not None]
    both = np.array([(row.reader, row.yes) for row in told], dtype=np.float64)
    said = np.array([row.in_book for row in told], dtype=np.float64)
    (slope, weight), bias = fitted(both, said)
    joint = Decision(
        reader=round(float(slope), 4), yes=round(float(weight), 4), bias=round(bias, 4), answers=0.0, closest=0.0
    )
    # For the reader alone they were fitted in the same way before the ranker; for a model's head by `training.head`.
    by_reader, with_head = shipped().by_reader, shipped().with_head
    with_model = _floored(joint, both @ [slope, weight] + bias, said, WITH_MODEL_WRONG)
    least = round(float(np.quantile(reader[right > 0], LEAST_WRONG)), 4)
    with_model = msgspec.structs.replace(with_model, least=least)
    return Decisions(without_model=alone, by_reader=by_reader, with_model=with_model, with_head=with_head)


def _floored(decision: Decision, odds: Array, right: Array, wrong: tuple[float, float]) -> Decision:
    """A decision whose floors keep wrong refusals of the fitting half to these shares."""
    answers, closest = np.quantile(odds[right > 0], wrong)
    return msgspec.structs.replace(decision, answers=round(float(answers), 4), closest=round(float(closest), 4))


def table(rows: Sequence[WhetherRow], found: Decisions) -> str:
    """Effects of the floors on each half: shares of answerable and near questions refused, or shown as closest."""
    heads = [["decision", "books", "answerable", "refused", "closest", "near", "refused", "closest", "area"]]
    for name, decision in (("reader alone", found.without_model), ("with the model", found.with_model)):
        for half, wanted in (("fitted on", True), ("reported", False)):
            own = [row for row in rows if (row.book in FITTING) is wanted and row.yes is not None]
            cells: list[str] = []
            odds: dict[bool, list[float]] = {True: [], False: []}
            for in_book in (True, False):
                of = [row for row in own if row.in_book is in_book]
                odds[in_book] = [decision.odds(row.reader, row.yes or 0.0) for row in of]
                verdicts = [decision.verdict(row.reader, row.yes or 0.0) for row in of]
                shares = [f"{verdicts.count(one) / max(1, len(of)):.3f}" for one in ("no", "closest")]
                cells += [str(len(of)), *shares]
            pairs = [(yes > no) + 0.5 * (yes == no) for yes in odds[True] for no in odds[False]]
            heads.append([name, half, *cells, f"{sum(pairs) / max(1, len(pairs)):.3f}"])
    return aligned(heads)


def main() -> None:
    """The command line."""
    given = row_options(__doc__, ("collect", "fit"), ROWS).parse_args()
    try:
        if given.act == "collect":
            collect_rows(given, collect)
            return
        rows = read_rows(sorted(given.rows.glob("*.jsonl")), WhetherRow, f"There is nothing in {given.rows}.")
    except LutrinError as error:
        sys.exit(f"{error.detail} {error.remedy}".strip())
    found = decisions(rows)
    if given.write:
        DECISIONS.write_bytes(msgspec.json.encode(found) + b"\n")
    print(f"{table(rows, found)}\n\n{msgspec.json.encode(found).decode()}")


if __name__ == "__main__":
    main()
