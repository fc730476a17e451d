"""Fit whether a selection answers: `python -m evaluation.marked [FOLDER] [--data DIR] [--book BOOK] [--write]`.

Selections of 1 to 400 words are drawn from the pages that answer the questions of a shelf: those that hold all key
facts of a question answer it, others of the same page, and of other pages, do not. A logistic regression on the signals
of `lutrin.search.marked.selection_signals` is fitted on the questions of the half `tune`; the bias is moved so that at
most `WRONG` of the selections that answer are refused. Both halves are printed.
"""

import argparse
import asyncio
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np

from evaluation.asking import PATIENT_S, opened_pipeline
from evaluation.command_line import ROOT
from evaluation.measures import facts_in, same_file
from evaluation.pipeline import ANY
from evaluation.questions import EvalQuestion, half_of
from evaluation.shelf import DATA, SHELF, ShelvedBook, read_shelf
from evaluation.written import Array, fitted
from lutrin.index.generation import OpenGeneration
from lutrin.query.understand import understand
from lutrin.records import Chunk, Question
from lutrin.search.fits import Logistic
from lutrin.search.marked import search_selection
from lutrin.search.search import Searcher
from lutrin.settings import load_settings

FILE = ROOT / "src" / "lutrin" / "search" / "selection.json"
WRONG = 0.14
"""Share of the selections that answer which the floor refuses, on the fitting half."""
LENGTHS = (10, 25, 50, 100, 200, 400)
SEED = 56


class Marked(msgspec.Struct, frozen=True):
    """A selection with a question."""

    id: str
    answers: bool
    evidence: tuple[float, ...]


def windows(chunks: Sequence[Chunk], length: int) -> Iterator[str]:
    """Runs of whole units up to a number of words, as a reader marks them; a longer unit is a run by itself."""
    for chunk in chunks:
        run: list[str] = []
        for unit in chunk.units:
            if run and len(" ".join([*run, unit.text]).split()) > length:
                yield " ".join(run)
                run = []
            run.append(unit.text)
        if run:
            yield " ".join(run)


async def marked_of(
    book: ShelvedBook, generation: OpenGeneration, searcher: Searcher, chance: random.Random
) -> list[Marked]:
    """For each question of a book selections that answer it, others of the same page, and some of another page."""
    found: list[Marked] = []
    files = [file.filename for file in generation.files]
    for item in book.questions:
        own = [name for name in files if any(same_file(path, book.name, name) for path in item.expected_files)]
        if not item.key_facts or item.selected_text or item.previous_question or not own:
            continue
        for length in chance.sample(LENGTHS, 2):
            page = list(windows(await generation.chunks_of(own[0]), length))
            other = list(windows(await generation.chunks_of(chance.choice(files)), length))
            holding = [text for text in page if len(facts_in(item.key_facts, [text])) == len(item.key_facts)]
            without = [text for text in page if not facts_in(item.key_facts, [text])]
            elsewhere = [text for text in other if not facts_in(item.key_facts, [text])]
            for texts, answers in ((holding, True), (without, False), (elsewhere, False)):
                if texts:
                    found.append(await _marked(item, chance.choice(texts), generation, searcher, answers=answers))
    return [one for one in found if one.evidence]


async def _marked(
    item: EvalQuestion, text: str, generation: OpenGeneration, searcher: Searcher, *, answers: bool
) -> Marked:
    asked = Question(text=item.question, selected_text=text, mode="selection")
    query = understand(asked, history=(), language=ANY, embedder=searcher.embedder)
    result = await search_selection(searcher.embedder, generation, query)
    return Marked(item.id, answers, result.parts[0].evidence)


def fit(rows: Sequence[Marked]) -> Logistic:
    """Fit weights and floor on one half."""
    own = [row for row in rows if half_of(row.id) == "tune"]
    evidence = np.array([row.evidence for row in own], dtype=np.float64)
    right = np.array([row.answers for row in own], dtype=np.float64)
    weights, bias = fitted(evidence, right)
    odds: Array = evidence @ np.array(weights) + bias
    floor = min(float(np.quantile(odds[right > 0], WRONG)), 0.0)
    return Logistic(weights=tuple(round(float(one), 4) for one in (*weights, bias - floor)))


def table(rows: Sequence[Marked], floor: Logistic) -> str:
    """Effects of the floor on each half."""
    lines = []
    for half in ("tune", "test"):
        for answers in (True, False):
            odds = [
                floor.odds(np.array(row.evidence, dtype=np.float32))
                for row in rows
                if half_of(row.id) == half and row.answers is answers
            ]
            refused = sum(one < 0 for one in odds)
            kind = "answering" if answers else "not answering"
            lines.append(f"{half}, {kind}: {refused} of {len(odds)} refused ({refused / max(1, len(odds)):.3f})")
    return "\n".join(lines)


async def collect(books: Sequence[ShelvedBook], data: Path) -> list[Marked]:
    """The selections of all books."""
    rows: list[Marked] = []
    for book in books:
        settings = load_settings(
            profile="local", data_dir=data / book.name, models_dir=ROOT / "models", model="none", explain_s=PATIENT_S,
            deadline_s=PATIENT_S, log_level="error",
        )  # fmt: skip
        async with (
            opened_pipeline(settings) as pipeline,
            pipeline.shelf.lease_books() as generations,
        ):
            rows += await marked_of(book, generations[0], pipeline.searcher, random.Random(SEED))  # noqa: S311 - draws a sample, guards nothing
            print(f"{book.name}: {len(rows)} selections so far", flush=True)
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Collect, fit, print and write."""
    parser = argparse.ArgumentParser(prog="evaluation.marked", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=SHELF, help="with books/ and questions/")
    parser.add_argument(
        "--data", type=Path, default=DATA, help="the books' data folders, as evaluation.shelf made them"
    )
    parser.add_argument("--book", action="append", default=[], help="this book only; may be repeated")
    parser.add_argument("--write", action="store_true", help="write the file that Lutrin reads")
    given = parser.parse_args(arguments)
    rows = asyncio.run(collect(read_shelf(given.folder, given.book), given.data))
    floor = fit(rows)
    print(f"{table(rows, floor)}\n{floor}")
    if given.write:
        FILE.write_bytes(msgspec.json.encode(floor) + b"\n")


if __name__ == "__main__":
    main()
