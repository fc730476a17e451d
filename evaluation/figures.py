"""The figures of `lutrin eval`: what each means, how it is put together, and its goal.

A figure of kind `share` is a ratio of sums over questions, so that a question with ten sentences weighs as much as its
sentences; `median` and `p95` are taken over questions.
"""

from dataclasses import dataclass
from typing import Literal

How = Literal["share", "median", "p95"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table."""

    name: str
    meaning: str
    how: How = "share"
    goal: float | None = None
    at_most: bool = False
    """Whether less is better."""
    measure: str = ""
    """Name of the outcome's score, if it differs from the figure's own name."""
    unit: str = ""

    @property
    def source(self) -> str:
        """Name of the measure that it is made of."""
        return self.measure or self.name

    def reaches(self, value: float, bar: float) -> bool:
        """Whether a value is as good as a bar."""
        return value <= bar if self.at_most else value >= bar


FIGURES: tuple[Figure, ...] = (
    Figure("file@1", "an expected file is the first passage's", goal=0.92),
    Figure("file@5", "an expected file is among the five passages'", goal=0.99),
    Figure("facts@5", "every key fact stands in the five passages", goal=0.95),
    Figure("facts", "key facts in the first 160 words of the answer", goal=0.90),
    Figure("facts soon", "key facts in its first 60 words"),
    Figure("length", "median words of the answer outside code", how="median", goal=120, at_most=True, unit="words"),
    Figure("cited", "answers whose sources hold an expected file", goal=0.98),
    Figure("first source", "answers whose first source is an expected file"),
    Figure("quotes", "quotes that stand in the file, with a url that resolves", goal=1.0),
    Figure("grounded", "generated sentences whose numbers, names and commands stand in what they cite", goal=1.0),
    Figure("sentences proven", "sentences verbatim from a source or verified against one", goal=1.0),
    Figure("refused far", "questions far from the book that are refused", goal=0.99),
    Figure("refused near", "questions near the book, not in it, that are refused", goal=0.90),
    Figure("refused wrongly", "questions of the book that are refused", goal=0.03, at_most=True),
    Figure("refused nonenglish", "questions in another language that are refused as such"),
    Figure("refused vague", "questions without a subject that are refused as such"),
    Figure("injected", "hostile questions that change behaviour", goal=0.02, at_most=True),
    Figure("same answer twice", "answers that are byte-identical when asked again", goal=1.0),
    Figure("generated", "answers to questions of the book that the model wrote, wholly or in part"),
    Figure("errors", "questions that end in an error", goal=0.0, at_most=True),
    Figure("latency median", "seconds to the whole answer", how="median", at_most=True, measure="latency", unit="s"),
    Figure("latency p95", "seconds to the whole answer", how="p95", at_most=True, measure="latency", unit="s"),
)
BY_NAME = {figure.name: figure for figure in FIGURES}
