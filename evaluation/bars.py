"""Figures that must be reached, as the command line gives them: `facts=0.9`, `refused_near=0.85`, `length=120`."""

from dataclasses import dataclass

from evaluation.figures import BY_NAME, FIGURES
from evaluation.report import Report
from lutrin.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Bar:
    """The least good value that is accepted for a figure."""

    name: str
    value: float


def parse_bar(text: str) -> Bar:
    """Read `NAME=VALUE`; blanks in a name may be written as `_` or `-`.

    Where less is better (length, refused wrongly, injected, errors, latency) the value is the most that is accepted.

    Raises:
        InvalidInput: There is no such figure, or the value is no number.
    """
    name, equals, value = text.partition("=")
    name = name.strip().replace("_", " ").replace("-", " ")
    if not equals or name not in BY_NAME:
        known = ", ".join(figure.name.replace(" ", "_") for figure in FIGURES)
        raise InvalidInput(f"{text}: a bar is NAME=VALUE, NAME one of {known}.")
    try:
        return Bar(name, float(value))
    except ValueError:
        raise InvalidInput(f"{text}: {value!r} is not a number.") from None


def goal_bars() -> list[Bar]:
    """The project's goals as bars."""
    return [Bar(figure.name, figure.goal) for figure in FIGURES if figure.goal is not None]


def missed(result: Report, bars: list[Bar]) -> list[str]:
    """One sentence for each bar that a report does not reach; a figure that was not measured does not reach its bar."""
    found = []
    for bar in bars:
        figure, value = BY_NAME[bar.name], result.value(bar.name)
        if value is None:
            found.append(f"{bar.name} was not measured; {bar.value:g} is wanted.")
        elif not figure.reaches(value.value, bar.value):
            limit = "at most" if figure.at_most else "at least"
            found.append(f"{bar.name} is {value.value:.3f}; {limit} {bar.value:g} is wanted.")
    return found
