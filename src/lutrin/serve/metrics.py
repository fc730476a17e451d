"""Metrics for Prometheus: counts and timings, never a reader's ids or words."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from lutrin import __version__

MEDIA_TYPE = CONTENT_TYPE_LATEST.removesuffix("; charset=utf-8")  # the framework adds it to text
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
        self._registry = CollectorRegistry()
        self.questions = Counter(
            "lutrin_questions", "Questions answered", ["surface", "kind", "refusal"], registry=self._registry
        )
        self.outcomes = Counter(
            "lutrin_question_outcomes", "Questions by outcome", ["outcome"], registry=self._registry
        )
        self.stage_seconds = Histogram(
            "lutrin_stage_seconds",
            "Seconds from the question to a stage of its answer",
            ["stage"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self.work_seconds = Histogram(
            "lutrin_work_seconds",
            "Seconds of a piece of work: embed, search, rank (part of search), queue (until the model's first word), "
            "write, store",
            ["work"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self.facts = Counter(
            "lutrin_answer_facts",
            "Answers by cache (hit, miss) and by model_end (stop, length, deadline, cancelled, full, away)",
            ["fact", "value"],
            registry=self._registry,
        )
        self.retrieve_seconds = Histogram(
            "lutrin_retrieve_seconds", "Seconds of a search", buckets=SECONDS, registry=self._registry
        )
        self.requests = Counter(
            "lutrin_http_requests", "HTTP requests", ["operation", "status"], registry=self._registry
        )
        self.unsaved = Counter("lutrin_messages_not_saved", "Answers that could not be stored", registry=self._registry)
        self.limited = Counter("lutrin_rate_limited", "Questions refused by a rate limit", registry=self._registry)
        self.resumed = Counter("lutrin_streams_resumed", "Streams resumed by Last-Event-ID", registry=self._registry)
        self.running = Gauge("lutrin_questions_running", "Questions being answered", registry=self._registry)
        self.queue = Gauge("lutrin_queue_length", "Readers who wait for the model", registry=self._registry)

        self.request_seconds = Histogram(
            "lutrin_http_seconds",
            "Seconds from a request to the head of its reply",
            ["operation"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self.free_bytes = Gauge("lutrin_disk_free_bytes", "Free bytes of the data's disk", registry=self._registry)
        self.memory_bytes = Gauge("lutrin_memory_bytes", "Resident memory of the server", registry=self._registry)
        self.connections = Gauge("lutrin_connections", "Open connections", registry=self._registry)
        self.index_age_seconds = Gauge(
            "lutrin_index_age_seconds", "Seconds since a book's index was made", ["book"], registry=self._registry
        )
        self.model_ready = Gauge(
            "lutrin_model_ready", "1 while the language model takes requests", registry=self._registry
        )
        self.model_restarts = Gauge(
            "lutrin_model_restarts", "Times that the model's process was started anew", registry=self._registry
        )
        self.passages = {
            name: Gauge(f"lutrin_passage_{name}", text, registry=self._registry) for name, text in PASSAGES.items()
        }
        build = Gauge("lutrin_build_info", "Always 1; its labels say what runs", ["version"], registry=self._registry)
        build.labels(__version__).set(1)

    def exposition(self) -> bytes:
        """All meters in Prometheus' text format."""
        return generate_latest(self._registry)
