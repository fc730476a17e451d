"""Questions that people ask any assistant and no book answers: "What time is it?", "Tell me a joke".

They share words with a book ("time") and are near nothing in it. How much a question is like them is a regression on
its vector, of listed examples and look-alikes; `python -m evaluation.everyday` fits it.
"""

from functools import cache
from importlib import resources

import msgspec
import numpy as np

from lutrin.search.reader import Float


class Everyday(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file that `python -m evaluation.everyday` writes."""

    embedder: str
    """Name of the model whose vectors it is for."""
    weights: tuple[float, ...]
    """Of each number of a question's vector, then the bias."""

    def odds(self, vector: Float) -> float:
        """Log odds that a question, a (d,) vector, is an everyday one."""
        return float(vector @ np.array(self.weights[:-1], dtype=np.float32)) + self.weights[-1]


@cache
def fit() -> Everyday:
    """What was fitted."""
    data = resources.files("lutrin.search").joinpath("everyday.json").read_bytes()
    return msgspec.json.decode(data, type=Everyday)


def loss(vector: Float, embedder: str) -> float:
    """What the log odds that the book answers lose: the log odds that a question is an everyday one, if it is.

    Nothing for another embedder's vectors.
    """
    return max(fit().odds(vector), 0.0) if embedder.partition("/")[0] == fit().embedder else 0.0
