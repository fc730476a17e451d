"""Decides whether the book answers: yes, no, or only with the passage that comes closest.

Without a model the reader's log odds decide alone; with one, its yes to *Does the passage answer?* counts as well.
`training.grades` fits weights and floors to `decisions.json`, with a wrong refusal counted as the larger sin.
"""

from functools import cache
from importlib import resources
from typing import Literal, TypeVar

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


Verdict = Literal["answers", "closest", "no"]


class Decision(msgspec.Struct, frozen=True):
    """How odds become a verdict."""

    reader: float
    """Weight of the reader's log odds that the book answers."""
    yes: float
    """Weight of the log odds of the model's yes; 0 without a model."""
    bias: float
    answers: float
    """Least log odds from which the book answers."""
    closest: float
    """Least log odds from which the closest passage is shown."""
    least: float | None = None
    """Log odds of the reader below which no yes helps: there are models that say yes to anything."""

    def odds(self, reader: float, yes: float = 0.0) -> float:
        """Log odds that the book answers, from those of the reader and of the model's yes."""
        return self.reader * reader + self.yes * yes + self.bias

    def verdict(self, reader: float, yes: float = 0.0) -> Verdict:
        """Whether the book answers."""
        if self.least is not None and reader < self.least:
            return "no"
        odds = self.odds(reader, yes)
        return "answers" if odds >= self.answers else "closest" if odds >= self.closest else "no"


class Decisions(msgspec.Struct, frozen=True):
    """What was fitted."""

    without_model: Decision
    """The reader with its ranker."""
    by_reader: Decision
    """The reader alone, where nothing is ranked again."""
    with_model: Decision


@cache
def load_decisions() -> Decisions:
    """The decisions that come with Lutrin."""
    data = resources.files("lutrin.search").joinpath("decisions.json").read_bytes()
    return msgspec.json.decode(data, type=Decisions)
