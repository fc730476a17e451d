"""Weights that `evaluation` and `training` fit and write into data files."""

from functools import cache
from importlib import resources
from typing import TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float32]
T = TypeVar("T")


class Logistic(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A logistic regression."""

    weights: tuple[float, ...]
    """One weight for each signal, then the bias: log odds above 0 mean yes."""

    def odds(self, signals: Float) -> float:
        """Log odds of a yes, from signals: (n,)."""
        return float(signals @ np.array(self.weights[:-1], dtype=np.float32)) + self.weights[-1]


class VectorFit(Logistic, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A logistic regression on what an embedder's vectors tell."""

    embedder: str
    """Name of the embedder that it was fitted for; it means nothing for another one's vectors."""


class Fit(VectorFit, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The same on named signals."""

    signals: tuple[str, ...]


def load_fit(package: str, name: str, kind: type[T]) -> T:
    """Read a fit that ships in a package, or examples with which questions are compared.

    Raises:
        ValidationError: The file is damaged.
    """
    return msgspec.json.decode((resources.files(package) / name).read_bytes(), type=kind)


@cache
def read_fit(package: str, name: str, kind: type[T]) -> T | None:
    """Read a fit; None before fitting.

    Raises:
        ValidationError: The file is damaged.
    """
    file = resources.files(package) / name
    return msgspec.json.decode(file.read_bytes(), type=kind) if file.is_file() else None
