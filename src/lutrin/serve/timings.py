"""Measures the stages of one answer, for the log line and the metrics."""

import time
from dataclasses import dataclass, field

from lutrin.serve.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time with a name; times are of `time.monotonic`."""

    name: str
    began_s: float
    ended_s: float


@dataclass(slots=True)
class Timings:
    """A `stages.Listener` for one answer."""

    metrics: Metrics
    facts: dict[str, str] = field(default_factory=dict)
    _began_s: float = field(default_factory=time.monotonic)
    _spans: list[Span] = field(default_factory=list)

    def timed(self, stage: str, began_s: float, ended_s: float) -> None:
        """Note that a stage has ended; see `stages.Listener`."""
        self._spans.append(Span(stage, began_s, ended_s))
        self.metrics.work_seconds.labels(stage).observe(ended_s - began_s)

    def noted(self, fact: str, value: str) -> None:
        """Note a fact about the answer; see `stages.Listener`."""
        self.facts[fact] = value
        self.metrics.facts.labels(fact, value).inc()

    def work_ms(self) -> dict[str, int]:
        """Milliseconds of each stage; stages with the same name are added up."""
        found: dict[str, float] = {}
        for span in self._spans:
            found[span.name] = found.get(span.name, 0.0) + span.ended_s - span.began_s
        return {name: round(seconds * 1000) for name, seconds in found.items()}
