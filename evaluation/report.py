"""Compute every figure over all questions and for each kind, with its interval; and compare two reports."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from evaluation.bootstrap import RESAMPLES, difference, interval
from evaluation.figures import FIGURES, Figure
from evaluation.run import Outcome
from lutrin.errors import InvalidInput


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """A figure with its 95% interval."""

    name: str
    value: float
    low: float
    high: float
    questions: int
    """Questions that the figure is about."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one pipeline on one set of questions."""

    name: str
    split: str
    """`tune`, `test` or `all`."""
    seed: int
    figures: tuple[Value, ...]
    kinds: dict[str, tuple[Value, ...]]
    outcomes: tuple[Outcome, ...]

    def value(self, name: str) -> Value | None:
        """The figure of that name, if the questions say something about it."""
        return next((item for item in self.figures if item.name == name), None)


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One figure under two settings, over the questions that both answered."""

    name: str
    first: float
    second: float
    change: float
    low: float
    high: float
    questions: int

    @property
    def shown(self) -> bool:
        """Whether the interval of the change leaves out zero."""
        return self.low > 0 or self.high < 0


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two reports, question by question."""

    first: str
    second: str
    changes: tuple[Change, ...]


def report(
    outcomes: Sequence[Outcome], *, name: str, split: str = "all", seed: int = 0, resamples: int = RESAMPLES
) -> Report:
    """Compute the figures of a run.

    Args:
        outcomes: Outcomes of the run.
        name: Name of the pipeline or setting.
        split: Half of the questions that was asked.
        seed: Seed of the intervals.
        resamples: Samples for each interval.
    """
    kinds = list(dict.fromkeys(outcome.kind for outcome in outcomes))
    return Report(
        name=name,
        split=split,
        seed=seed,
        figures=_values(outcomes, seed, resamples),
        kinds={kind: _values([item for item in outcomes if item.kind == kind], seed, resamples) for kind in kinds},
        outcomes=tuple(outcomes),
    )


def compare(first: Report, second: Report, *, seed: int = 0, resamples: int = RESAMPLES) -> Comparison:
    """Differences between two reports, by paired bootstrap.

    Raises:
        InvalidInput: They have no question in common.
    """
    theirs = {outcome.id: outcome for outcome in second.outcomes}
    pairs = [(outcome, theirs[outcome.id]) for outcome in first.outcomes if outcome.id in theirs]
    if not pairs:
        raise InvalidInput(f"{first.name} and {second.name} have no question in common.")
    changes = (_change(figure, pairs, seed, resamples) for figure in FIGURES)
    return Comparison(first=first.name, second=second.name, changes=tuple(item for item in changes if item))


def to_json(result: Report | Comparison) -> str:
    """A report or comparison as one line of JSON."""
    return msgspec.json.encode(result).decode()


def read_report(path: Path) -> Report:
    """A report that was written with `to_json`.

    Raises:
        InvalidInput: The file cannot be read or is no report.
    """
    try:
        return msgspec.json.decode(path.read_bytes(), type=Report)
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}.") from None
    except msgspec.DecodeError as error:
        raise InvalidInput(f"{path}: {error}.") from None


def _values(outcomes: Sequence[Outcome], seed: int, resamples: int) -> tuple[Value, ...]:
    found = []
    for figure in FIGURES:
        pairs = [outcome.measures[figure.source] for outcome in outcomes if figure.source in outcome.measures]
        if pairs:
            value, low, high = interval(pairs, figure.how, seed=seed, resamples=resamples)
            found.append(Value(name=figure.name, value=value, low=low, high=high, questions=len(pairs)))
    return tuple(found)


def _change(figure: Figure, outcomes: Sequence[tuple[Outcome, Outcome]], seed: int, resamples: int) -> Change | None:
    pairs = [
        (one.measures[figure.source], two.measures[figure.source])
        for one, two in outcomes
        if figure.source in one.measures and figure.source in two.measures
    ]
    if not pairs:
        return None
    first, second = [one for one, _ in pairs], [two for _, two in pairs]
    change, low, high = difference(first, second, figure.how, seed=seed, resamples=resamples)
    before, _, _ = interval(first, figure.how, seed=seed, resamples=1)
    return Change(
        name=figure.name,
        first=before,
        second=before + change,
        change=change,
        low=low,
        high=high,
        questions=len(pairs),
    )
