"""Fit what a prepared question counts in a search (`lutrin.search.search`), on the sample questions and companion.

Needs `data/` with the sample book ingested. Each half of the questions is also judged by what is best for the other.
"""

import asyncio
import json
import sys
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin.index.generation import OpenGeneration
from lutrin.query.understand import Query, alone
from lutrin.records import Question
from lutrin.runtime.wiring import open_runtime
from lutrin.search import sought
from lutrin.search.fits import read_fit
from lutrin.search.search import Searcher
from lutrin.search.sought import Weight, leads_of
from lutrin.settings import load_settings

ROOT = Path(__file__).resolve().parents[1]
QUESTIONS = ROOT / "corpus" / "questions" / "in_book.jsonl"
BOOK, FOLDER = "physical-ai-textbook", "physical-ai/"
WEIGHTS = (0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0)

Ranked = list[tuple[float, float, bool]]
"""For each candidate of a question: score, cosine of the nearest kept question, and whether its file is right."""


async def ranked() -> tuple[str, list[Ranked]]:
    """Name of the embedder, and the candidates of each sample question as they rank without kept questions."""
    found: list[Ranked] = []
    async with open_runtime(load_settings(model="none", log_level="error"), with_model=False) as house:
        async with house.shelf.lease(BOOK) as generation:
            for line in QUESTIONS.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                files = {name.removeprefix(FOLDER) for name in row["expected_files"] if name.startswith(FOLDER)}
                if files:
                    query = alone(Question(text=row["question"]))
                    found.append(await _candidates(house.searcher, generation, query, files))
        return house.searcher.embedder.name, found


async def _candidates(searcher: Searcher, generation: OpenGeneration, query: Query, files: set[str]) -> Ranked:
    part = (await searcher.search([generation], query, k=5)).parts[0]
    (encoding,) = await searcher.encode([part.text])
    leads = leads_of(generation.companion, encoding.pooled)
    return [(item.score, leads.get(item.chunk.chunk_id, 0.0), item.chunk.filename in files) for item in part.passages]


def first_right(questions: list[Ranked], weight: float) -> npt.NDArray[np.bool_]:
    """(questions,): whether the best candidate is of the right file."""
    return np.array([max(one, key=lambda item: item[0] + weight * item[1])[2] for one in questions])


def run() -> None:
    """Fit, write the file, print the table."""
    target = Path(sought.__file__).with_name(sought.FITTED)
    shipped = target.read_bytes()
    target.unlink()
    read_fit.cache_clear()
    try:
        embedder, questions = asyncio.run(ranked())
    finally:
        target.write_bytes(shipped)
    table = np.array([first_right(questions, weight) for weight in WEIGHTS])
    for weight, row in zip(WEIGHTS, table, strict=True):
        print(f"{weight:5.1f}  file@1 {row.mean():.3f}  halves {row[::2].mean():.3f} {row[1::2].mean():.3f}")
    for own in (0, 1):
        best = int(table[:, 1 - own :: 2].mean(axis=1).argmax())
        before, after = table[0, own::2].mean(), table[best, own::2].mean()
        print(f"half {own + 1} with the other one's {WEIGHTS[best]}: {before:.3f} -> {after:.3f}")
    best = int(table.mean(axis=1).argmax())
    made = Weight(
        embedder=embedder,
        weight=WEIGHTS[best],
        questions=len(questions),
        file_at_1=(round(float(table[0].mean()), 3), round(float(table[best].mean()), 3)),
    )
    target.write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    print(msgspec.json.encode(made).decode(), file=sys.stderr)
