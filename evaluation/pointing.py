"""Fit what questions beside an open page point at: `python -m evaluation.pointing [--write]`.

`pointing/questions.jsonl` holds questions beside a page and what each points at, the hardest of them look-alikes ("How
does a page table work?"). Ordinary questions on the books of training point at nothing. The votes of tokens of
`lutrin.answer.pointing` are fitted on half of each by gradient descent on the log likelihood, and the floors are the
least that `MISTAKEN` and `PERHAPS` of the ordinary questions of the other half reach. Printed is, on that half, how
many are found, with the right kind, and how many are taken wrongly. What is written is fitted on all, with these
floors.
"""

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import msgspec
import numpy as np
import numpy.typing as npt

from evaluation.command_line import ROOT
from evaluation.written import Array
from lutrin.answer.pointing import Pointer, reader_of
from lutrin.query.understand import Pointing
from lutrin.runtime.profile import open_embedder
from lutrin.search.search import Searcher
from lutrin.settings import load_settings

QUESTIONS = ROOT / "evaluation" / "pointing" / "questions.jsonl"
ORDINARY = ROOT / "training" / "questions"
OF_EACH = 60
"""Ordinary questions of each book."""
FILE = ROOT / "src" / "lutrin" / "answer" / "pointing.json"
KINDS: tuple[Pointing, ...] = tuple(kind for kind in get_args(Pointing) if kind not in {"perhaps", "none"})
MISTAKEN = 0.003
"""Share of ordinary questions that may count as pointing at the page."""
PERHAPS = 0.1
"""Share of them that may count as perhaps pointing there."""
PENALTY = 0.3
"""On squared weights, beside the weighted log likelihood of all questions."""
START = -4.0
"""Bias before the fit, at which all tokens together hardly point."""
STEPS, RATE = 800, 0.05
BATCH = 32
SEED = 83


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions, as tokens."""

    tokens: Sequence[Array]
    """n of (Q, d)."""
    kinds: npt.NDArray[np.str_]
    """(n,): what each points at."""
    is_ordinary: npt.NDArray[np.bool_]
    """(n,)."""

    def half(self, wanted: npt.NDArray[np.bool_]) -> "QuestionSet":
        """Some of them."""
        tokens = [one for one, is_in in zip(self.tokens, wanted.tolist(), strict=True) if is_in]
        return QuestionSet(tokens, self.kinds[wanted], self.is_ordinary[wanted])


async def read_questions() -> tuple[QuestionSet, str]:
    """All questions, and the model that read them."""
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
        batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
        read = [one.token_vectors for batch in batches for one in await searcher.encode(batch)]
    tokens = [one.astype(np.float64) for one in read if one is not None]
    return QuestionSet(tokens, np.array(kinds), np.arange(len(texts)) >= len(rows)), reader_of(embedder)


def fit(questions: QuestionSet) -> Array:
    """(K, d + 1): weights and biases; what points and what does not count the same in all."""
    design = np.concatenate([np.c_[one, np.ones(len(one))] for one in questions.tokens])
    lengths = np.array([len(one) for one in questions.tokens])
    starts = np.cumsum(lengths) - lengths
    target = np.array([[kind == name for name in KINDS] for kind in questions.kinds], dtype=np.float64)
    points = target.any(axis=1)
    counts = np.where(points, (~points).sum() / points.sum(), 1.0)[:, None]
    weights = np.zeros((len(KINDS), design.shape[1]))
    weights[:, -1] = START
    mean, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        votes = np.exp(design @ weights.T)
        sums = np.add.reduceat(votes, starts)
        slopes = (sums / (1 + sums.sum(axis=1, keepdims=True)) - target) * counts / sums
        slope = (np.repeat(slopes, lengths, axis=0) * votes).T @ design
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
    questions, reader = asyncio.run(read_questions())
    is_held_out = np.arange(len(questions.kinds)) % 2 == 1
    half, held_out = (questions.half(wanted) for wanted in (~is_held_out, is_held_out))
    half_fit = pointer_of(fit(half), (0.0, 0.0, 0.0), reader)
    chances = np.array([list(half_fit.chances(one.astype(np.float32)).values()) for one in held_out.tokens])
    points, best = chances.sum(axis=1), chances.max(axis=1)
    ordinary = points[held_out.is_ordinary]
    least, perhaps = (float(np.quantile(ordinary, 1 - share)) for share in (MISTAKEN, PERHAPS))
    guess = np.array(KINDS)[chances.argmax(axis=1)]
    here = (held_out.kinds == "here") & (points >= least) & (guess != "here")
    mostly = float((best / points)[here].max(initial=0.5))
    guess[best <= mostly * points] = "here"
    for kind in (*KINDS, "none"):
        own = ~held_out.is_ordinary & (held_out.kinds == kind)
        taken = own & (points >= least)
        right = f", {(guess[taken] == kind).sum()} as what they are" if kind != "none" else " wrongly"
        more = (own & (points >= perhaps)).sum() - taken.sum()
        print(f"{kind}: {taken.sum()} of {own.sum()} point at the page{right}, {more} perhaps")
    floors = f"from {least:.3f}, perhaps from {perhaps:.3f}, a kind from {mostly:.3f}"
    print(f"ordinary: {(ordinary >= least).sum()} of {len(ordinary)} wrongly, {floors}")
    if given.write:
        FILE.write_bytes(msgspec.json.encode(pointer_of(fit(questions), (least, perhaps, mostly), reader)) + b"\n")


if __name__ == "__main__":
    main()
