"""Fit what tells everyday questions: `python -m evaluation.everyday [--write]`.

`evaluation/everyday` lists questions that people ask any assistant and no book answers ("What time is it?"), and
look-alikes that a book may answer ("How does the robot tell the time?"). With the questions of `training/questions`,
which books answer, they are examples of a logistic regression on the reader's vectors; nothing is told by a phrase.
Printed is which of the examples that were left out count as everyday; the file is fitted on all of them.
"""

import argparse
import asyncio
from pathlib import Path

import msgspec
import numpy as np

from evaluation.asking import opened_pipeline
from evaluation.command_line import ROOT
from evaluation.pipeline import Pipeline
from evaluation.questions import half_of
from evaluation.written import Array, Mask
from lutrin.search.fits import VectorFit
from lutrin.search.joints import model_of
from lutrin.settings import load_settings

FILE = ROOT / "src" / "lutrin" / "search" / "everyday.json"
EXAMPLES = ROOT / "evaluation" / "everyday"
WRITTEN = ROOT / "training" / "questions"
LISTED, OTHERS = 3.0, 0.3
"""Weights of an example of the lists, and of one of the thousands of written questions."""
SCALE, RIDGE, STEPS = 5.0, 3.0, 30
BATCH = 16


class WrittenQuestion(msgspec.Struct, frozen=True):
    """A question of `training/questions`."""

    repository: str
    question: str


def regression(vectors: Array, right: Array, counts: Array) -> Array:
    """(d + 1,): weights and bias of a logistic regression with a ridge, by Newton's method."""
    scaled = np.c_[vectors * SCALE, np.ones(len(vectors))]
    weights = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-scaled @ weights))
        curve = (scaled * (counts * chance * (1 - chance))[:, None]).T @ scaled + RIDGE * np.eye(len(weights))
        weights += np.linalg.solve(curve, scaled.T @ (counts * (right - chance)) - RIDGE * weights)
    fitted: Array = np.r_[weights[:-1] * SCALE, weights[-1]]
    return fitted


async def vectors_of(pipeline: Pipeline, texts: list[str]) -> Array:
    """(n, d): the reader's vectors, of texts of about one length at a time."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    rows: dict[int, Array] = {}
    for start in range(0, len(order), BATCH):
        own = order[start : start + BATCH]
        encodings = await pipeline.searcher.embedder.encode([texts[place] for place in own])
        rows |= {place: one.pooled.astype(np.float64) for place, one in zip(own, encodings, strict=True)}
    return np.array([rows[place] for place in range(len(texts))])


async def fit(data: Path) -> VectorFit:
    """Fit on half, print what that says of the other half, and fit on all."""
    everyday, alike = ((EXAMPLES / name).read_text("utf-8").splitlines() for name in ("everyday.txt", "lookalike.txt"))
    lines = (line for path in sorted(WRITTEN.glob("*.jsonl")) for line in path.read_bytes().splitlines())
    written = [msgspec.json.decode(line, type=WrittenQuestion) for line in lines]
    texts = [*everyday, *alike, *(one.question for one in written)]
    settings = load_settings(
        profile="local", data_dir=data, models_dir=ROOT / "models", model="none", log_level="error"
    )  # fmt: skip
    async with opened_pipeline(settings) as pipeline:
        vectors, name = await vectors_of(pipeline, texts), model_of(pipeline.searcher.embedder.name)
    kinds = np.array([0] * len(everyday) + [1] * len(alike) + [2] * len(written))
    keys = [*everyday, *alike, *(one.repository for one in written)]
    tuning: Mask = np.array([half_of(key) == "tune" for key in keys])
    counts = np.where(kinds < kinds.max(), LISTED, OTHERS)
    half = regression(vectors[tuning], (kinds == 0)[tuning].astype(np.float64), counts[tuning])
    above = vectors @ half[:-1] + half[-1] > 0
    for kind, what in enumerate(("everyday", "look-alikes", "written for books")):
        own = above[(kinds == kind) & ~tuning]
        print(f"{what}, left out: {own.sum()} of {len(own)} count as everyday")
    weights = regression(vectors, (kinds == 0).astype(np.float64), counts)
    return VectorFit(embedder=name, weights=tuple(round(float(one), 3) for one in weights))


def main(arguments: list[str] | None = None) -> None:
    """Fit, print and write."""
    parser = argparse.ArgumentParser(prog="evaluation.everyday", description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="any data folder with a book")
    parser.add_argument("--write", action="store_true", help="write the file that Lutrin reads")
    given = parser.parse_args(arguments)
    found = asyncio.run(fit(given.data))
    if given.write:
        FILE.write_bytes(msgspec.json.encode(found) + b"\n")


if __name__ == "__main__":
    main()
