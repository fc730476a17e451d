"""Fit what is left once a reader is trained: how much words count beside it, and when a book answers.

    python -m training.calibrate READER.json LABELS.jsonl DATA_DIR...

Runs the real search over ingested books that the reader was not trained on, with questions whose answers are known, and
writes `lexical`, `answers` and `scope` into the reader's file. `LABELS` holds one object a line: `book` (slug), `q`, and
`spans`, a list of `[file, start, end]` in characters of the source; none where the book does not answer. Ranking is a
softmax over the candidates of each question, scope a logistic regression whose bias leaves `WRONGLY` of the answered
questions refused.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from lutrin.index.shelf import Shelf
from lutrin.query.understand import alone
from lutrin.records import NEVER_AN_ANSWER, Question
from lutrin.search.asked import asked
from lutrin.search.candidates import gather
from lutrin.search.reader import read
from lutrin.search.scope import SIGNALS, signals
from lutrin.search.search import Searcher
from lutrin.settings import load_settings
from lutrin.wiring_parts import open_embedder, open_store

WRONGLY = 0.03
"""Share of answered questions that may be refused where the bias is set."""
PENALTY = 1e-3
"""On squared weights of standardised signals."""


async def observe(folder: Path, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """For each question of the books in a data folder: features of its candidates, which of them answer, signals."""
    os.environ["LUTRIN_DATA_DIR"] = str(folder)
    settings = load_settings()
    embedder = open_embedder(settings, threads=1)
    seen = []
    async with Shelf(settings.catalog_path, settings.books_dir, open_store(settings), embedder=embedder.name) as shelf:
        searcher = Searcher(embedder)
        for generation in shelf.books():
            async with shelf.lease(generation.book.slug) as book:
                for row in rows:
                    if row["book"] != book.book.slug:
                        continue
                    query = alone(Question(text=row["q"]))
                    (encoding,) = await searcher.encode([query.topic])
                    wanted = await asked(book, query.topic, encoding, embedder.reading)
                    pool, (matched,) = await gather(book, [wanted], None, without=NEVER_AN_ANSWER)
                    found = read(pool, matched, embedder.reading)
                    best = max(matched.lexical.values(), default=0.0) or 1.0
                    words = [matched.lexical.get(item.chunk.chunk_id, 0.0) / best for item in found]
                    own = embedder.reading.lexical
                    scores = [item.score - own * held for item, held in zip(found, words, strict=True)]
                    right = [
                        any(
                            item.chunk.filename == file and unit.char_start < end and unit.char_end > start
                            for file, start, end in row["spans"]
                            for unit in item.chunk.units
                        )
                        for item in found
                    ]
                    seen.append(
                        {
                            "book": row["book"],
                            "answered": bool(row["spans"]),
                            "features": np.array([scores, words]).T,
                            "right": np.array(right),
                            "signals": signals(pool, matched, found),
                        }
                    )
    return seen


def ranking(seen: list[dict[str, Any]]) -> tuple[float, float]:
    """What BM25 counts beside the reader's score, and the temperature of that sum, by gradient ascent."""
    weights = np.array([0.5, 0.5])
    for step in range(400):
        slope = np.zeros(2)
        count = 0
        for item in seen:
            if item["right"].any():
                logits = item["features"] @ weights
                chance = np.exp(logits - logits.max())
                chance /= chance.sum()
                target = chance * item["right"]
                slope += (target / max(target.sum(), 1e-12) - chance) @ item["features"]
                count += 1
        weights += 0.02 * (1 if step < 300 else 0.2) * slope / max(count, 1)
    return float(weights[1] / weights[0]), float(weights[0])


def logistic(rows: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights and bias, last, of a logistic regression on standardised columns, both classes counting the same."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    design = np.c_[(rows - mean) / spread, np.ones(len(rows))]
    share = np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum()) * len(labels)
    weights = np.zeros(design.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-design @ weights))
        slope = design.T @ (share * (labels - chance)) / len(labels) - PENALTY * weights
        bend = (design * (share * chance * (1 - chance))[:, None]).T @ design / len(labels)
        weights += np.linalg.solve(bend + PENALTY * np.eye(len(weights)), slope)
    return np.r_[weights[:-1] / spread, weights[-1] - (weights[:-1] * mean / spread).sum()]


def area(scores: np.ndarray, labels: np.ndarray) -> float:
    """Area under the ROC curve."""
    order = scores.argsort().argsort() + 1
    positive = labels.sum()
    return float((order[labels].sum() - positive * (positive + 1) / 2) / (positive * (~labels).sum()))


def main() -> None:
    """Fit and write."""
    path, labels_path, *folders = map(Path, sys.argv[1:])
    labelled = [json.loads(line) for line in labels_path.open(encoding="utf-8")]
    seen = [item for folder in folders for item in asyncio.run(observe(folder, labelled))]
    lexical, temperature = ranking(seen)
    answered = np.array([item["answered"] for item in seen])
    rows = np.array([item["signals"] for item in seen])
    books = np.array([item["book"] for item in seen])
    for book in dict.fromkeys(books.tolist()):
        here = books == book
        if answered[here].any() and not answered[here].all() and len(set(books.tolist())) > 1:
            left_out = logistic(rows[~here], answered[~here])
            odds = rows[here] @ left_out[:-1] + left_out[-1]
            print(f"{book}: area {area(odds, answered[here]):.3f} of {here.sum()}, left out")
    weights = logistic(rows, answered)
    odds = rows @ weights[:-1] + weights[-1]
    shift = float(np.quantile(odds[answered], WRONGLY))
    print(f"lexical {lexical:.3f} temperature {temperature:.3f} area {area(odds, answered):.3f}")
    print(f"refused of what is not answered {(odds[~answered] < shift).mean():.3f} at {WRONGLY} wrongly")
    print(dict(zip(SIGNALS, np.round(weights, 3).tolist(), strict=False)))
    best = np.array([max(item["features"] @ [1.0, lexical]) for item in seen])[:, None]
    slope, bias = logistic(best, answered)
    bias -= float(np.quantile(slope * best[answered, 0] + bias, WRONGLY))
    learned = json.loads(path.read_text())
    learned |= {"lexical": round(lexical, 3), "answers": [round(float(slope), 4), round(float(bias), 4)]}
    learned["scope"] = [round(float(value), 4) for value in [*weights[:-1], weights[-1] - shift]]
    path.write_text(json.dumps(learned, indent=1) + "\n")


if __name__ == "__main__":
    main()
