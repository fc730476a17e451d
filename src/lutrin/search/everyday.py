"""Questions that people ask any assistant and no book answers: "What time is it?", "Tell me a joke".

They share words with a book ("time") but are close to nothing in it. A regression on the question's vector, trained on
listed examples and look-alikes, scores how everyday it is; `python -m evaluation.everyday` fits it.
"""

from functools import cache
from importlib import resources

import msgspec
import numpy as np

from lutrin.search.result import Float


class Everyday(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file that `python -m evaluation.everyday` writes."""

    embedder: str
    """Name of the embedder whose vectors the weights fit."""
    weights: tuple[float, ...]
    """One weight for each dimension of the question's vector, then the bias."""

    def odds(self, vector: Float) -> float:
        """Log odds that a question, a (d,) vector, is an everyday one."""
        return float(vector @ np.array(self.weights[:-1], dtype=np.float32)) + self.weights[-1]


@cache
def fit() -> Everyday:
    """The fitted weights."""
    data = resources.files("lutrin.search").joinpath("everyday.json").read_bytes()
    return msgspec.json.decode(data, type=Everyday)


def loss(vector: Float, embedder: str) -> float:
    """What to subtract from the log odds that the book answers: the log odds of an everyday question, if positive.

    Zero for vectors of another embedder.
    """
    return max(fit().odds(vector), 0.0) if embedder.partition("/")[0] == fit().embedder else 0.0
