"""Measure which answers a teacher reads as doubtful: `python -m evaluation.doubt SHELF --data DIR [--book NAME]...`.

Asks the questions of a shelf, quotes only, and prints for some log odds of the reader how many answers without a right
fact lie below, and how many with one.
"""

import argparse
import asyncio
from collections.abc import Sequence
from math import inf
from pathlib import Path

from evaluation.asking import ingest, opened_pipeline
from evaluation.run import run
from evaluation.shelf import ROOT, ShelvedBook, read_shelf
from lutrin.records import Question
from lutrin.search.result import load_decisions
from lutrin.settings import load_settings

STEPS = (1.1, 1.5, 2.0, 2.4, 3.0, 3.5)


async def collect(book: ShelvedBook, data: Path) -> list[tuple[bool, float]]:
    """Whether an answer holds a right fact, and the reader's log odds, of each question that is answered."""
    settings = load_settings(
        profile="local", data_dir=data, models_dir=ROOT / "models", model="none", log_level="error"
    )
    await ingest(settings, book.folder)
    rows = []
    async with opened_pipeline(settings, with_prepared=False) as pipeline:
        for outcome in await run(book.questions, pipeline.quick_subject("lutrin")):
            if outcome.answer is None or outcome.answer.refusal is not None or outcome.answer.closest:
                continue
            asked = next(one for one in book.questions if one.id == outcome.id)
            made = await pipeline.made(Question(text=asked.question), asked.previous_question)
            right, of = outcome.measures.get("facts", (0.0, 0.0))
            odds = load_decisions().without_model.odds(made.odds) if made.odds else inf  # 0: beyond doubt
            rows.append((asked.in_book and of > 0 and right > 0, odds))
    return rows


def table(rows: Sequence[tuple[bool, float]]) -> str:
    """The shares below each step."""
    right, wrong = ([odds for is_right, odds in rows if is_right is wanted] for wanted in (True, False))
    lines = [f"answers with a right fact: {len(right)}, without: {len(wrong)}"]
    lines += ["| log odds below | of those without | of those with |", "|---|---|---|"]
    for step in STEPS:
        shares = [sum(odds < step for odds in some) / max(1, len(some)) for some in (wrong, right)]
        lines.append(f"| {step} | {shares[0]:.2f} | {shares[1]:.2f} |")
    return "\n".join(lines)


def main() -> None:
    """Ask the books and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shelf", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--book", action="append", default=[])
    given = parser.parse_args()
    rows: list[tuple[bool, float]] = []
    for book in read_shelf(given.shelf, given.book):
        rows += asyncio.run(collect(book, given.data / book.name))
    print(table(rows))


if __name__ == "__main__":
    main()
