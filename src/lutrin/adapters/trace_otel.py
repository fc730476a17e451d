"""OpenTelemetry: each answer as a trace, sent by OTLP. Loaded only where `LUTRIN_OTEL_ENDPOINT` is set."""

import time
from collections.abc import Mapping, Sequence
from typing import Protocol

from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import set_span_in_context

NANOSECONDS = 1_000_000_000


class Timed(Protocol):
    """A stretch of time with a name; seconds of `time.monotonic`."""

    @property
    def name(self) -> str:
        """Of the stage."""
        ...

    @property
    def began_s(self) -> float:
        """Its beginning."""
        ...

    @property
    def ended_s(self) -> float:
        """Its end."""
        ...


class OtelTraces:
    """Spans of answers; see `serve.timings.Traces`.

    Args:
        processor: Gets each span; for tests one that exports into memory.
        version: Of Lutrin, as the resource names it.
    """

    def __init__(self, processor: SpanProcessor, version: str) -> None:
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "lutrin", "service.version": version}), shutdown_on_exit=False
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("lutrin", version)

    def answered(self, whole: Timed, parts: Sequence[Timed], facts: Mapping[str, str | int | bool]) -> None:
        """One span for the question, one below it for each stage, at the times when they were."""
        offset_ns = time.time_ns() - time.monotonic_ns()
        attributes = {f"lutrin.{name}": value for name, value in facts.items()}
        root = self._tracer.start_span(whole.name, start_time=_ns(whole.began_s, offset_ns), attributes=attributes)
        below = set_span_in_context(root)
        for part in parts:
            span = self._tracer.start_span(part.name, context=below, start_time=_ns(part.began_s, offset_ns))
            span.end(_ns(part.ended_s, offset_ns))
        root.end(_ns(whole.ended_s, offset_ns))

    def close(self) -> None:
        """Send what is left, and end the sending thread."""
        self._provider.shutdown()


def otlp(endpoint: str, version: str) -> OtelTraces:
    """Spans to a collector.

    Args:
        endpoint: Of its OTLP/gRPC port, such as `http://127.0.0.1:4317`.
        version: Of Lutrin.
    """
    exporter = OTLPSpanExporter(endpoint=endpoint, insecure=endpoint.startswith("http://"))
    return OtelTraces(BatchSpanProcessor(exporter), version)


def _ns(monotonic_s: float, offset_ns: int) -> int:
    return round(monotonic_s * NANOSECONDS) + offset_ns
