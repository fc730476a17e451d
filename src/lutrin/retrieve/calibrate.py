"""Fits the decision about scope to one book, on questions made from that book.

Logistic regression, penalised for leaving the weights that fit all books (a Gaussian prior around them): what the
book's own questions say for certain moves them, what they leave open does not. Newton's method finds the one optimum.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lutrin.index.generation import OpenGeneration, open_generation
from lutrin.index.manifest import ScopeFit
from lutrin.ports import VectorStore
from lutrin.retrieve import trials
from lutrin.retrieve.search import Searcher
from lutrin.retrieve.signals import PRIOR, SIGNALS_VERSION, SIZE

LEAST = 40
"""Answerable questions without which nothing is fitted: the book is too small."""
STIFFNESS, BIAS_STIFFNESS = 200.0, 100.0
"""Precision of the prior: how hard the weights and the bias are to move."""
FIXED = 1e9
"""Of a signal that is the same for all questions of a book: its own questions say nothing about it."""
HANDICAP = 1.0
"""Readers use other words than the book: their questions have so much lower odds than those made of its sentences."""
STEPS = 50
TOGETHER = 64
Floats = npt.NDArray[np.float64]


async def calibrate_folder(store: VectorStore, searcher: Searcher, directory: Path) -> ScopeFit | None:
    """`calibrate` for the folder of a finished generation.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    generation = await open_generation(directory, store)
    try:
        return await calibrate(generation, searcher)
    finally:
        await generation.close()


async def calibrate(generation: OpenGeneration, searcher: Searcher) -> ScopeFit | None:
    """The scope of one book; None if it is too small to say.

    Args:
        generation: Open, not published yet.
        searcher: With the embedder of the generation.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    chunks = await generation.all_chunks()
    inside = trials.answerable(chunks)
    if len(inside) < LEAST:
        return None
    outside = [*trials.foreign(), *trials.near(chunks)]
    texts = [*inside, *outside]
    signals = []
    for start in range(0, len(texts), TOGETHER):
        part = texts[start : start + TOGETHER]
        await searcher.encode(part)  # all cores at once; the searches remember it
        signals += [await _signals(generation, searcher, text) for text in part]
    labels = np.array([1.0] * len(inside) + [0.0] * len(outside))
    return fit(np.array(signals, dtype=np.float64), labels)


async def _signals(generation: OpenGeneration, searcher: Searcher, text: str) -> Sequence[float]:
    found = await searcher.search(generation, text, k=1)
    return found.signals


def fit(signals: Floats, labels: Floats) -> ScopeFit:
    """The weights that tell answerable questions from others, near those of `PRIOR`.

    Args:
        signals: (n, 7), as `signals.signals_of` gives them.
        labels: (n,): 1 if the book answers the question, else 0; both kinds count the same in all.
    """
    rows = np.c_[signals, np.ones(len(signals))]
    share = np.where(labels > 0, 0.5 / max(1.0, labels.sum()), 0.5 / max(1.0, (1 - labels).sum())) * len(labels)
    centre = np.array([*PRIOR.weights, PRIOR.bias])
    stiffness = [FIXED if place == SIZE else STIFFNESS for place in range(signals.shape[1])]
    precision = np.diag([*stiffness, BIAS_STIFFNESS])
    weights = centre.copy()
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(HANDICAP * labels - rows @ weights))
        slope = rows.T @ (share * (chance - labels)) + precision @ (weights - centre)
        bend = (rows * (share * chance * (1 - chance))[:, None]).T @ rows + precision
        step = np.linalg.solve(bend, slope)
        weights -= step
        if float(np.abs(step).max()) < 1e-9:
            break
    return ScopeFit(
        weights=tuple(round(float(value), 4) for value in weights[:-1]),
        bias=round(float(weights[-1]), 4),
        questions=len(labels),
        signals=SIGNALS_VERSION,
    )
