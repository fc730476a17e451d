"""Send each answer as an OpenTelemetry trace by OTLP. Loaded only if `LUTRIN_OTEL_ENDPOINT` is set."""

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
    """A named span of time, in seconds of `time.monotonic`."""

    @property
    def name(self) -> str:
        """Name of the stage."""
        ...

    @property
    def began_s(self) -> float:
        """Beginning of the span."""
        ...

    @property
    def ended_s(self) -> float:
        """End of the span."""
        ...


class OtelTraces:
    """Spans of answers; see `serve.timings.Traces`.

    Args:
        processor: Receives each span; tests pass one that exports to memory.
    """

    def __init__(self, processor: SpanProcessor, version: str) -> None:
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "lutrin", "service.version": version}), shutdown_on_exit=False
        )
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("lutrin", version)

    def answered(self, whole: Timed, parts: Sequence[Timed], facts: Mapping[str, str | int | bool]) -> None:
        """Record a span for the question and one below it for each stage."""
        offset_ns = time.time_ns() - time.monotonic_ns()
        attributes = {f"lutrin.{name}": value for name, value in facts.items()}
        root = self._tracer.start_span(whole.name, start_time=_ns(whole.began_s, offset_ns), attributes=attributes)
        below = set_span_in_context(root)
        for part in parts:
            span = self._tracer.start_span(part.name, context=below, start_time=_ns(part.began_s, offset_ns))
            span.end(_ns(part.ended_s, offset_ns))
        root.end(_ns(whole.ended_s, offset_ns))

    def close(self) -> None:
        """Send the remaining spans and end the sending thread."""
        self._provider.shutdown()


def otlp(endpoint: str, version: str) -> OtelTraces:
    """Make traces that are sent to a collector.

    Args:
        endpoint: Address of its OTLP/gRPC port, such as `http://127.0.0.1:4317`.
    """
    exporter = OTLPSpanExporter(endpoint=endpoint, insecure=endpoint.startswith("http://"))
    return OtelTraces(BatchSpanProcessor(exporter), version)


def _ns(monotonic_s: float, offset_ns: int) -> int:
    return round(monotonic_s * NANOSECONDS) + offset_ns
