"""Fit when two questions mean the same (`lutrin.study.same`), on pairs that were labelled by hand.

A logistic regression on the standardised signals of the pairs that agree literally, on the sample book and on other
subjects (`BOOKS`). Its bias is then set so that no near pair of the sample book passes, by a margin. The figures are of
pairs that the fit has not seen: all pairs of one prepared question are left out together, of other subjects all pairs
of one. What is not sure is offered: a second limit lets `OFFERED` of what means the same be offered.
"""

import asyncio
import hashlib
import json
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin.answer.plan import MOST_NEXT
from lutrin.index.companion import encoded_texts
from lutrin.ingest.companion_file import read_lines
from lutrin.ports import Embedder
from lutrin.runtime.profile import open_embedder
from lutrin.settings import load_settings
from lutrin.study import same
from lutrin.study.same import SIGNALS, SameFit, Terms, agree, compare, encode_question

ROOT = Path(__file__).resolve().parents[1]
PAIRS = ROOT / "evaluation" / "prepared" / "pairs.jsonl"
BOOKS = PAIRS.with_name("books.jsonl")
COMPANION = ROOT / "corpus" / "physical-ai" / "companion.jsonl"
"""Names the terms of the book on which most pairs are written."""
FOLDS = 5
OFFERED = 0.9
"""Share of the pairs that mean the same that are to be taken, or offered."""
PENALTY = 1.0
"""Ridge penalty on the weights of standardised signals; there are few pairs."""
MARGIN = 0.6
"""Added to the log odds that the likeliest near pair has: the next near pair will be another one."""

Array = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


class Pair(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two questions, and whether the answer to the first one answers the second."""

    prepared: str
    text: str
    """The answer, for who labels."""
    asked: str
    same: bool
    book: str = ""
    """Its subject, in `BOOKS`."""


def read_pairs(path: Path = PAIRS) -> list[Pair]:
    """The labelled pairs."""
    return [msgspec.json.decode(line, type=Pair) for line in path.read_bytes().splitlines()]


async def measured(pairs: list[Pair], embedder: Embedder) -> tuple[Array, Mask]:
    """(pairs, signals), and which pairs agree in what must agree literally."""
    terms = Terms(line.entry for line in read_lines(COMPANION) if line.entry is not None)
    texts = sorted({text for pair in pairs for text in (pair.prepared, pair.asked)})
    known = {
        text: encode_question(text, encoding, embedder.reading)
        for text, encoding in zip(texts, await embedder.encode(texts), strict=True)
    }
    told = sorted({pair.text for pair in pairs if pair.text})
    answers = {text: encoding.pooled for text, encoding in zip(told, await embedder.encode(told), strict=True)}
    both = [(known[pair.asked], known[pair.prepared], answers.get(pair.text)) for pair in pairs]
    values = np.array([compare(*three) for three in both], dtype=np.float64)
    return values, np.array([agree(one, other, terms) for one, other, _ in both])


async def offered(pairs: list[Pair], embedder: Embedder) -> tuple[float, float]:
    """Shares of the pairs that mean the same whose prepared question is the nearest one, and among those offered."""
    lines = [line.entry for line in read_lines(COMPANION)]
    kept = list(dict.fromkeys(entry.topic for entry in lines if entry is not None and entry.kind == "question"))
    vectors = np.array([one.vector for one in await encoded_texts(kept, embedder)])
    meant = [pair for pair in pairs if pair.same and pair.prepared in kept]
    asked = np.array([encoding.pooled for encoding in await embedder.encode([pair.asked for pair in meant])])
    best = np.argsort(-(asked @ vectors.T), axis=1)[:, :MOST_NEXT]
    places = [row.tolist().index(place) if (place := kept.index(pair.prepared)) in row else MOST_NEXT
              for pair, row in zip(meant, best, strict=True)]  # fmt: skip
    return float(np.mean([place == 0 for place in places])), float(np.mean([place < MOST_NEXT for place in places]))


def fit(values: Array, means: Mask, own: Mask) -> Array:
    """(signals + 1,): weights and bias, for signals as they are, so that no near pair of `own` passes."""
    plain = logistic(values, means)
    plain[-1] -= float((np.c_[values, np.ones(len(values))] @ plain)[~means & own].max()) + MARGIN
    return plain


def logistic(values: Array, means: Mask) -> Array:
    """(signals + 1,): weights and bias of a logistic regression, for signals as they are.

    Iteratively reweighted least squares: Newton's method on the penalised likelihood.
    """
    centre, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    inputs = np.c_[(values - centre) / spread, np.ones(len(values))]
    penalty = PENALTY * np.diag([*np.ones(values.shape[1]), 0.0])
    weights = np.zeros(inputs.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-inputs @ weights))
        curvature = inputs.T @ (inputs * (chance * (1 - chance) + 1e-9)[:, None]) + penalty
        weights += np.linalg.solve(curvature, inputs.T @ (means - chance) - penalty @ weights)
    plain = weights[:-1] / spread
    return np.append(plain, weights[-1] - plain @ centre)


def fold_of(pair: Pair) -> str:
    """With which pairs a pair is left out."""
    return pair.book or str(int(hashlib.sha256(pair.prepared.encode()).hexdigest(), 16) % FOLDS)


def labels(pairs: list[Pair]) -> tuple[Mask, Mask]:
    """Which pairs mean the same, and which are on the sample book."""
    return np.array([pair.same for pair in pairs]), np.array([not pair.book for pair in pairs])


def fit_all(pairs: list[Pair], values: Array, agreeing: Mask, embedder: str) -> tuple[SameFit, Array]:
    """What is fitted on all pairs, with the figures of the sample book's, and the odds of each by a fit without it."""
    means, own = labels(pairs)
    folds = np.array([fold_of(pair) for pair in pairs])
    odds = np.full(len(pairs), -np.inf)
    for fold in set(folds):
        rest, left = (folds != fold) & agreeing, folds == fold
        odds[left] = np.c_[values, np.ones(len(values))][left] @ fit(values[rest], means[rest], own[rest])
    made = SameFit(
        embedder=embedder,
        signals=SIGNALS,
        weights=tuple(round(float(weight), 4) for weight in fit(values[agreeing], means[agreeing], own[agreeing])),
        nearest=round(float(values[own, SIGNALS.index("nearer to the answer")].max()), 4),
        offered=round(float(np.quantile(odds[means & own], 1 - OFFERED, method="lower")) - 0.005, 2),
        pairs=int(own.sum()),
        near=int((~means & own).sum()),
        passed=round(float((odds[means & agreeing & own] > 0).sum() / (means & own).sum()), 3),
        wrongly=int((odds[~means & agreeing & own] > 0).sum()),
    )
    return made, odds


def shares(made: SameFit, odds: Array, agreeing: Mask, means: Mask) -> str:
    """What is taken, and taken or offered, of what means the same and of what does not."""
    taken, either = (odds > 0) & agreeing, odds > made.offered
    near = f"{taken[~means].sum()} taken and {either[~means].mean():.3f} offered of {(~means).sum()} that do not"
    return (
        f"{taken[means].mean():.3f} taken and {either[means].mean():.3f} taken or offered of {means.sum()} that mean"
        f" the same; {near}"
    )


def run() -> None:
    """Fit, write the file, and print what passes wrongly and what is missed."""
    embedder = open_embedder(load_settings(), threads=1)
    pairs = [*read_pairs(), *read_pairs(BOOKS)]
    try:
        values, agreeing = asyncio.run(measured(pairs, embedder))
        first, among = asyncio.run(offered([pair for pair in pairs if not pair.book], embedder))
    finally:
        embedder.close()
    made, odds = fit_all(pairs, values, agreeing, embedder.name)
    target = Path(same.__file__).with_name(same.FITTED)
    target.write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    shown = np.where(agreeing, odds, -np.inf)
    for chance, pair in sorted(zip(shown.tolist(), pairs, strict=True), key=lambda item: item[0]):
        if (chance > 0) != pair.same:
            print(f"{chance:7.2f} {'missed' if pair.same else 'WRONG '} {pair.prepared} | {pair.asked}")
    print(json.dumps(msgspec.to_builtins(made)))
    means, own = labels(pairs)
    print(f"Sample book: {shares(made, odds[own], agreeing[own], means[own])}")
    print(f"Other subjects: {shares(made, odds[~own], agreeing[~own], means[~own])}")
    print(f"Offered below an answer: {among:.3f}, as the first one {first:.3f}.")
