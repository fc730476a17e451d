"""What people ask of any book: how near a question is to such questions says how little it is about this one.

As speaker recognition scores a voice against a universal background model (Reynolds, Quatieri and Dunn 2000), a
question is held against questions on common subjects, from sorting arrays to baking bread. "How do I reverse a string
in Python?" shares every word with a book on robots, and is nearer to "How do I sort an array in Java?" than to any of
its passages.
"""

from importlib import resources

import numpy as np
import numpy.typing as npt

from lutrin.index.tokens import quantise, restore, unit_length
from lutrin.ports import Embedder, Vectors

NEAREST = 3
"""Questions whose mean similarity counts: one alone may be there by chance."""
KNOWN = "background.npz"
"""Vectors of the embedder that comes with Lutrin, int8; `python bench/background.py` writes them."""


def background_questions() -> list[str]:
    """The questions, one a line of `background.txt`; none of them is among those that scope is fitted on."""
    return resources.files("lutrin.retrieve").joinpath("background.txt").read_text(encoding="utf-8").splitlines()


async def background_vectors(embedder: Embedder) -> Vectors:
    """(questions, dimension) vectors of length 1, in order; those of the usual embedder are at hand."""
    with resources.as_file(resources.files("lutrin.retrieve").joinpath(KNOWN)) as path, np.load(path) as known:
        if str(known["embedder"]) == embedder.name:
            return unit_length(restore(known["vectors"]))
    return await computed(embedder)


async def computed(embedder: Embedder) -> Vectors:
    """The same, by the embedder itself."""
    encoded = await embedder.encode(background_questions())
    return unit_length(np.stack([item.windows.mean(axis=0) for item in encoded]))


async def packed(embedder: Embedder) -> dict[str, npt.NDArray[np.generic]]:
    """What `KNOWN` holds for an embedder: its name and the vectors as int8."""
    return {"embedder": np.array(embedder.name), "vectors": quantise(await computed(embedder))}


def nearness(vector: npt.NDArray[np.float32], background: Vectors) -> float:
    """Mean cosine of a question and the questions nearest to it: -1 to 1."""
    near = np.vecdot(background, vector)  # row by row: see `tokens.product`
    return float(np.sort(near)[-NEAREST:].mean())
