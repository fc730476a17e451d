"""Describes how busy the server is, for the teacher's page, from the same meters that Prometheus reads."""

import math
from collections import OrderedDict
from collections.abc import Callable, Iterable

import msgspec
from prometheus_client import Counter, Histogram
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.samples import Sample

from lutrin.serve.metrics import Metrics

RECENT_S = 300.0
MOST_READERS = 10_000


class Presence:
    """Counts the readers of the last five minutes without revealing them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seen_s: OrderedDict[str, float] = OrderedDict()

    def note(self, reader: str) -> None:
        """Note that a reader has asked."""
        self._seen_s[reader] = self._clock()
        self._seen_s.move_to_end(reader)
        while len(self._seen_s) > MOST_READERS:
            self._seen_s.popitem(last=False)

    def count(self) -> int:
        """How many readers asked in the last five minutes."""
        since_s = self._clock() - RECENT_S
        while self._seen_s and next(iter(self._seen_s.values())) < since_s:
            self._seen_s.popitem(last=False)
        return len(self._seen_s)


class Load(msgspec.Struct, frozen=True, kw_only=True):
    """Figures since the server started; the first three describe the present."""

    readers: int
    running: int
    waiting: int
    answers: int
    generated: int
    quoted: int
    refused: int
    limited: int
    failed: int
    first_words_s: tuple[float, float]
    """Half of the answers, and 95 of 100, began within these seconds: upper bounds, from a histogram."""
    whole_s: tuple[float, float]
    """The same of whole answers."""


def load_of(metrics: Metrics, *, readers: int, waiting: int) -> Load:
    """Read the meters."""
    kinds = totals(metrics.questions, "kind")
    outcomes = totals(metrics.outcomes, "outcome")
    return Load(
        readers=readers,
        running=round(sum(sample.value for sample in _samples(metrics.running, ""))),
        waiting=waiting,
        answers=sum(kinds.values()),
        generated=kinds.get("generated", 0),
        quoted=kinds.get("extractive", 0),
        refused=kinds.get("refusal", 0),
        limited=round(sum(sample.value for sample in _samples(metrics.limited, "_total"))),
        failed=sum(count for outcome, count in outcomes.items() if outcome not in {"done", "cancelled"}),
        first_words_s=(within(metrics.stage_seconds, "excerpt", 0.5), within(metrics.stage_seconds, "excerpt", 0.95)),
        whole_s=(within(metrics.stage_seconds, "done", 0.5), within(metrics.stage_seconds, "done", 0.95)),
    )


def totals(counter: Counter, label: str) -> dict[str, int]:
    """A counter's values summed by one of its labels."""
    found: dict[str, int] = {}
    for sample in _samples(counter, "_total"):
        found[sample.labels[label]] = found.get(sample.labels[label], 0) + round(sample.value)
    return found


def within(histogram: Histogram, stage: str, share: float) -> float:
    """The smallest bound in seconds below which this share of times lies; infinity: beyond all, 0: nothing measured."""
    buckets = sorted(
        (float(sample.labels["le"]), sample.value)
        for sample in _samples(histogram, "_bucket")
        if sample.labels["stage"] == stage
    )
    if not buckets or buckets[-1][1] == 0:
        return 0.0
    wanted = share * buckets[-1][1]
    return next((bound for bound, count in buckets if count >= wanted), math.inf)


def _samples(meter: MetricWrapperBase, suffix: str) -> Iterable[Sample]:
    for metric in meter.collect():
        for sample in metric.samples:
            if sample.name == metric.name + suffix:
                yield sample
