"""Fit what questions beside an open page point at: `python -m evaluation.pointing [--write]`.

`pointing/questions.jsonl` holds questions beside a page and what each points at, the hardest of them look-alikes ("How
does a page table work?"). Ordinary questions on the books of training point at nothing. A softmax regression on the
vectors of `lutrin.answer.pointing` is fitted on half of each, and its floors are the least that `MISTAKEN` and
`PERHAPS` of the ordinary questions of the other half reach. Printed is, on that half, how many are found, with the
right kind, and how many are taken wrongly. What is written is fitted on all, with these floors.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import msgspec
import numpy as np

from evaluation.command_line import ROOT
from evaluation.written import Array
from lutrin.answer.pointing import Pointer, both_vectors, reader_of
from lutrin.query.understand import Pointing
from lutrin.runtime.profile import open_embedder
from lutrin.search.search import Searcher
from lutrin.settings import load_settings

QUESTIONS = ROOT / "evaluation" / "pointing" / "questions.jsonl"
ORDINARY = ROOT / "training" / "questions"
OF_EACH = 60
"""Ordinary questions of each book."""
FILE = ROOT / "src" / "lutrin" / "answer" / "pointing.json"
KINDS: tuple[Pointing, ...] = tuple(kind for kind in get_args(Pointing) if kind != "perhaps")
MISTAKEN = 0.003
"""Share of ordinary questions that may count as pointing at the page."""
PERHAPS = 0.1
"""Share of them that may count as perhaps pointing there."""
PENALTY = 1.0
"""On squared weights, beside the weighted log likelihood of all questions."""
STEPS, RATE = 600, 0.05
BATCH = 32
SEED = 83


async def read_vectors() -> tuple[Array, list[str], int, str]:
    """The vectors of all questions, what each points at, how many are not ordinary, and the model that read them."""
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    texts, kinds = [row["question"] for row in rows], [row["to"] for row in rows]
    chance = random.Random(SEED)  # noqa: S311 - draws a sample, guards nothing
    for file in sorted(ORDINARY.glob("*.jsonl")):
        own = [json.loads(line)["question"] for line in file.read_text(encoding="utf-8").splitlines()]
        texts += chance.sample(own, OF_EACH)
    kinds += ["none"] * (len(texts) - len(rows))
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(profile="local", data_dir=Path(folder), models_dir=ROOT / "models", log_level="error")
        embedder = open_embedder(settings, threads=1)
        searcher = Searcher(embedder)
        vectors = [
            await both_vectors(searcher, texts[at : at + BATCH], embedder.dimension)
            for at in range(0, len(texts), BATCH)
        ]
    return np.concatenate(vectors).astype(np.float64), kinds, len(rows), reader_of(embedder)


def fit(vectors: Array, kinds: Sequence[str]) -> Array:
    """(K, 2d + 1): weights and biases; what points and what does not count the same in all.

    Args:
        vectors: (n, 2d).
        kinds: n of `KINDS`.
    """
    target = np.array([[kind == name for name in KINDS] for kind in kinds], dtype=np.float64)
    points = np.array([kind != "none" for kind in kinds])
    counts = np.where(points, (~points).sum() / points.sum(), 1.0)[:, None]
    design = np.c_[vectors, np.ones(len(vectors))]
    weights = np.zeros((len(KINDS), design.shape[1]))
    mean, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        logits = design @ weights.T
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        slope = ((odds / odds.sum(axis=1, keepdims=True) - target) * counts).T @ design
        slope[:, :-1] += PENALTY * weights[:, :-1]
        # Adam (Kingma and Ba, 2015).
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        weights -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
    return weights


def pointer_of(weights: Array, floors: tuple[float, float, float], reader: str) -> Pointer:
    """The file's content."""
    least, perhaps, mostly = (round(floor, 3) for floor in floors)
    table = tuple(tuple(round(float(value), 3) for value in row) for row in weights)
    return Pointer(reader=reader, kinds=KINDS, weights=table, least=least, perhaps=perhaps, mostly=mostly)


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, print and write."""
    parser = argparse.ArgumentParser(prog="evaluation.pointing", description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="write the file that Lutrin reads")
    given = parser.parse_args(arguments)
    vectors, names, listed, reader = asyncio.run(read_vectors())
    kinds, place = np.array(names), np.arange(len(names))
    ordinary, tested = place >= listed, place % 2 == 1
    fitted = pointer_of(fit(vectors[~tested], kinds[~tested].tolist()), (0.0, 0.0, 0.0), reader)
    chances = fitted.chances(vectors.astype(np.float32))
    nothing = KINDS.index("none")
    points = 1 - chances[:, nothing]
    least = float(np.quantile(points[tested & ordinary], 1 - MISTAKEN))
    perhaps = float(np.quantile(points[tested & ordinary], 1 - PERHAPS))
    others = np.delete(chances, nothing, axis=1)
    guessed = np.delete(np.array(KINDS), nothing)[others.argmax(axis=1)]
    share = others.max(axis=1) / points
    here = tested & (kinds == "here") & (points >= least) & (guessed != "here")
    mostly = float(share[here].max(initial=0.5))
    guessed[share <= mostly] = "here"
    for kind in KINDS:
        own = tested & ~ordinary & (kinds == kind)
        taken = own & (points >= least)
        right = f", {(guessed[taken] == kind).sum()} as what they are" if kind != "none" else " wrongly"
        more = (own & (points >= perhaps)).sum() - taken.sum()
        print(f"{kind}: {taken.sum()} of {own.sum()} point at the page{right}, {more} perhaps")
    asked = points[tested & ordinary]
    floors = f"from {least:.3f}, perhaps from {perhaps:.3f}, a kind from {mostly:.3f}"
    print(f"ordinary: {(asked >= least).sum()} of {len(asked)} wrongly, {floors}")
    if given.write:
        whole = pointer_of(fit(vectors, names), (least, perhaps, mostly), reader)
        FILE.write_bytes(msgspec.json.encode(whole) + b"\n")


if __name__ == "__main__":
    main()
