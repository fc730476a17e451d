"""The result of a search: passages with a score for each unit, and the verdict on whether the book answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import chain, zip_longest
from typing import Literal

import msgspec
import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.ports import Reading
from lutrin.records import Chunk, Passage
from lutrin.search.fits import Float, load_fit

Verdict = Literal["answers", "closest", "no"]

CONSIDERED = 5
"""Passages searched for a question's words."""
FAR = -3.5
"""Log odds below which a question is far from the book's subject and gets a different refusal, without a model. On the
sample book, 17 of 30 far questions and 7 of 40 near ones are below, and none of the 162 that it answers (-1.1 and
more)."""

UNLIKE = 0.18
"""Cosine with the nearest passage below which an unanswered question also counts as far: "What is the weather today?"
has odds of -3.6, "Will it rain tomorrow?" of -1.5, and both a cosine under 0.14. With it, 23 of the 30 far questions
and 9 of the 40 near ones count as far."""


def log_sum(scores: Float | Sequence[float]) -> float:
    """The logarithm of a sum of exponentials; -inf for an empty sum."""
    values = np.asarray(scores, dtype=np.float32)
    highest = float(values.max(initial=-np.inf))
    return highest if np.isinf(highest) else highest + float(np.log(np.exp(values - highest).sum()))


def chance_of(score: float, reading: Reading) -> float:
    """The probability that a passage with this score answers; never quite 0 or 1."""
    slope, bias = reading.answers
    return round(float(1 / (1 + np.exp(-np.clip(slope * score + bias, -13, 13)))), 6)


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage with the reader's scores for its units, for one text of a question."""

    chunk: Chunk
    scores: Float
    """(units,): log probability that each unit is the answer, up to a constant; -inf for a unit without words."""
    score: float
    """The passage's score: the logarithm of the sum over its units, plus its lexical score."""
    cosine: float
    matches: Float = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    """(units, Q): best match of each question token in each unit or its heading; empty if unknown."""


SUREST = 100.0
"""Log odds of a yes that outweighs any judgement of a model."""


class Decision(msgspec.Struct, frozen=True):
    """Turns log odds into a verdict."""

    reader: float
    """Weight of the reader's log odds that the book answers."""
    yes: float
    """Weight of the log odds of the model's yes; 0 without a model."""
    bias: float
    answers: float
    """Log odds from which the book answers."""
    closest: float
    """Log odds from which the closest passage is shown."""
    least: float | None = None
    """Reader's log odds below which no yes counts: some models say yes to anything."""
    head: float = 0.0
    """Weight of the log odds of the model's head; 0 if it has none."""

    def odds(self, reader: float, yes: float = 0.0, head: float = 0.0) -> float:
        """Log odds that the book answers, from the reader, the model's yes and its head."""
        return self.reader * reader + self.yes * yes + self.head * head + self.bias

    @property
    def floor(self) -> float:
        """Reader's log odds from which the closest passage is shown without a model."""
        return (self.closest - self.bias) / self.reader

    def may_lift(self, reader: float) -> bool:
        """Whether the model's yes, however sure, could change the verdict."""
        return self.verdict(reader, SUREST) != "no"

    def verdict(self, reader: float, yes: float = 0.0, head: float = 0.0) -> Verdict:
        """Whether the book answers."""
        if self.least is not None and reader < self.least:
            return "no"
        odds = self.odds(reader, yes, head)
        return "answers" if odds >= self.answers else "closest" if odds >= self.closest else "no"


class Decisions(msgspec.Struct, frozen=True):
    """The rules that decide whether the book answers: yes, no, or only with its closest passage.

    `evaluation.whether` and `training.head` fit weights and floors; a wrong refusal costs more than a wrong answer.
    """

    without_model: Decision
    """The reader with its ranker."""
    by_reader: Decision
    """The reader alone, without a cross-encoder."""
    with_model: Decision
    with_head: Decision
    """With a model that has a head; `training.head` fits it."""

    def odds(self, reader: float, yes: float | None, head: float | None) -> float:
        """Log odds that the book answers, from all available signals."""
        return self._decision(yes, head).odds(reader, yes or 0.0, head or 0.0)

    def verdict(self, reader: float, yes: float | None, head: float | None) -> Verdict:
        """Whether the book answers, from all available signals."""
        return self._decision(yes, head).verdict(reader, yes or 0.0, head or 0.0)

    def _decision(self, yes: float | None, head: float | None) -> Decision:
        if yes is None:
            return self.without_model
        return self.with_model if head is None else self.with_head


@cache
def load_decisions() -> Decisions:
    """The decisions that ship with Lutrin."""
    return load_fit("lutrin.search", "decisions.json", Decisions)


def is_far(odds: float, *, found: bool) -> bool:
    """Whether a question is far from the book's subject, in spite of the model; `found`: any passage was found."""
    return not found or odds < FAR


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that a question asks."""

    text: str
    passages: tuple[ScoredPassage, ...]
    """Best first."""
    odds: float
    """Logarithm of the odds that the book answers it."""
    around: bool = False
    """Whether more than a sentence is wanted: the text around a selection, or a table that compares two things."""
    is_reranked: bool = False
    """Whether the odds include a cross-encoder's scores."""
    evidence: tuple[float, ...] = ()
    """For a selection: the signals behind the odds."""
    share: tuple[float, ...] = ()
    """Weight of each token of the text; they sum to 1."""

    @property
    def decision(self) -> Decision:
        """The rule that turns its odds into a verdict without a model."""
        return load_decisions().without_model if self.is_reranked else load_decisions().by_reader

    @property
    def verdict(self) -> Verdict:
        """Whether the book answers it, without asking a model."""
        return self.decision.verdict(self.odds)

    def shown(self) -> "Part":
        """A copy whose verdict shows at least its closest passage."""
        return replace(self, odds=max(self.odds, self.decision.floor))


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The result of a search: the evidence for an answer."""

    generation: OpenGeneration
    """The book that answers best."""
    passages: tuple[Passage, ...]
    """Best first, at most as many as requested; the score is the probability that a passage answers."""
    parts: tuple[Part, ...]
    """One part for each thing that is asked, in order."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Words of the question that were searched for in the book's spelling."""

    @property
    def odds(self) -> float:
        """Log odds that the book answers any part of the question; comparable between books."""
        return max((part.odds for part in self.parts), default=-np.inf)

    @property
    def verdict(self) -> Verdict:
        """Whether the book answers any part of the question."""
        return max(self.parts, key=lambda part: part.odds).verdict if self.parts else "no"


def best_passages(parts: Sequence[Part], k: int, reading: Reading) -> tuple[Passage, ...]:
    """The best passages of all parts, taken in turn, each once."""
    chosen: dict[str, Passage] = {}
    for item in chain.from_iterable(zip_longest(*(part.passages for part in parts))):
        if item is not None and len(chosen) < k:
            passage = Passage(chunk=item.chunk, score=chance_of(item.score, reading), cosine=item.cosine)
            chosen.setdefault(item.chunk.chunk_id, passage)
    return tuple(sorted(chosen.values(), key=lambda item: -item.score)) if len(parts) == 1 else tuple(chosen.values())
