"""What `python -m training` has fitted, as it lies beside the modules that use it."""

from functools import cache
from importlib import resources
from typing import TypeVar

import msgspec

T = TypeVar("T")


class Fit(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A logistic regression on signals."""

    embedder: str
    """Name of the embedder that it was fitted for; it says nothing of another one's vectors."""
    signals: tuple[str, ...]
    weights: tuple[float, ...]
    """Of each signal, then the bias: log odds above 0 mean yes."""


@cache
def read_fit(package: str, name: str, kind: type[T]) -> T | None:
    """Read a file of a package; None before fitting.

    Raises:
        ValidationError: The file is damaged.
    """
    file = resources.files(package) / name
    return msgspec.json.decode(file.read_bytes(), type=kind) if file.is_file() else None
