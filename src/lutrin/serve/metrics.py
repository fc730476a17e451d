"""Metrics for Prometheus: counts and timings, never a reader's ids or words."""

import time
from collections import Counter as Counts
from functools import partial

from litestar.types import Message, Scope
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics import MetricWrapperBase

from lutrin import __version__
from lutrin.records import ServerCounts

MEDIA_TYPE = CONTENT_TYPE_LATEST.removesuffix("; charset=utf-8")  # the framework adds it to text
BEGAN = "lutrin.began_s"
"""Key in the scope: the time of the request."""
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 30.0)

PASSAGES = {
    "hits": "Questions whose passage the model had read before",
    "misses": "Questions whose passage the model read for them",
    "tokens_read": "Tokens of prompts that the model computed",
    "tokens_saved": "Tokens of prompts that it took from earlier computations",
    "seconds_saved": "Seconds that those would have cost",
    "memory_bytes": "Memory of passages that the model has read",
    "disk_bytes": "Disk space of passages that the model has read",
}
"""Since the model was loaded."""


class Metrics:
    """The meters of one server; each has its own registry, so two servers in one process do not mix."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        counter = partial(Counter, namespace="lutrin", registry=registry)
        gauge = partial(Gauge, namespace="lutrin", registry=registry)
        histogram = partial(Histogram, namespace="lutrin", buckets=SECONDS, registry=registry)
        work = (
            "Seconds of a piece of work: embed, search, rank (part of search), queue (until the model's first word), "
            "write, store"
        )
        facts = "Answers by cache (hit, miss) and by model_end (stop, length, deadline, cancelled, full, away)"
        self.questions = counter("questions", "Questions answered", ["surface", "kind", "refusal"])
        self.outcomes = counter("question_outcomes", "Questions by outcome", ["outcome"])
        self.stage_seconds = histogram("stage_seconds", "Seconds from the question to a stage of its answer", ["stage"])
        self.work_seconds = histogram("work_seconds", work, ["work"])
        self.facts = counter("answer_facts", facts, ["fact", "value"])
        self.retrieve_seconds = histogram("retrieve_seconds", "Seconds of a search")
        self.requests = counter("http_requests", "HTTP requests", ["operation", "status"])
        self.unsaved = counter("messages_not_saved", "Answers that could not be stored")
        self.limited = counter("rate_limited", "Questions refused by a rate limit")
        self.resumed = counter("streams_resumed", "Streams resumed by Last-Event-ID")
        self.running = gauge("questions_running", "Questions being answered")
        self.queue = gauge("queue_length", "Readers who wait for the model")
        self.request_seconds = histogram(
            "http_seconds", "Seconds from a request to the head of its reply", ["operation"]
        )
        self.free_bytes = gauge("disk_free_bytes", "Free bytes of the data's disk")
        self.memory_bytes = gauge("memory_bytes", "Resident memory of the server")
        self.connections = gauge("connections", "Open connections")
        self.index_age_seconds = gauge("index_age_seconds", "Seconds since a book's index was made", ["book"])
        self.model_ready = gauge("model_ready", "1 while the language model takes requests")
        self.model_restarts = gauge("model_restarts", "Times that the model's process was started anew")
        self.passages = {name: gauge(f"passage_{name}", text) for name, text in PASSAGES.items()}
        gauge("build_info", "Always 1; its labels say what runs", ["version"]).labels(__version__).set(1)

    def counts(self) -> ServerCounts:
        """The meters' values, for people."""
        return ServerCounts(
            kinds=_totals(self.questions, "kind"),
            outcomes=_totals(self.outcomes, "outcome"),
            limited=_totals(self.limited).total(),
            within=_within(self.stage_seconds),
        )

    def count_answers(self) -> int:
        """Number of answers in progress."""
        return _totals(self.running, suffix="").total()

    def exposition(self) -> bytes:
        """All meters in Prometheus' text format."""
        return generate_latest(self._registry)

    async def count(self, message: Message, scope: Scope) -> None:
        """Count a response and the time to its head. A `before_send` hook."""
        if message["type"] == "http.response.start":
            operation = getattr(scope.get("route_handler"), "operation_id", None)
            name = operation if isinstance(operation, str) else "other"
            self.requests.labels(name, message["status"]).inc()
            began_s = scope.get(BEGAN)
            if isinstance(began_s, float):
                self.request_seconds.labels(name).observe(time.monotonic() - began_s)


def _totals(meter: MetricWrapperBase, label: str = "", suffix: str = "_total") -> Counts[str]:
    """A meter's values, summed by one of its labels."""
    totals: Counts[str] = Counts()
    for metric in meter.collect():
        for sample in metric.samples:
            if sample.name == metric.name + suffix:
                totals[sample.labels.get(label, "")] += round(sample.value)
    return totals


def _within(meter: Histogram) -> dict[str, tuple[tuple[float, int], ...]]:
    """Buckets of a histogram by stage, with their bounds in seconds."""
    buckets: dict[str, list[tuple[float, int]]] = {}
    for metric in meter.collect():
        for sample in metric.samples:
            if sample.name == f"{metric.name}_bucket":
                bucket = float(sample.labels["le"]), round(sample.value)
                buckets.setdefault(sample.labels["stage"], []).append(bucket)
    return {stage: tuple(sorted(found)) for stage, found in buckets.items()}
