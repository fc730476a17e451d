"""Wrap any adapter to report how long its calls took; see `lutrin.stages`."""

import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from lutrin import stages
from lutrin.errors import DeadlineExceeded, GeneratorError, QueueFull
from lutrin.ports import Embedder, Encoding, Generator, Reading
from lutrin.records import Finished, GenerationEvent, GenerationRequest, Piece


class TimedEmbedder:
    """An `Embedder` whose encodings are timed as the stage `embed`."""

    def __init__(self, inner: Embedder) -> None:
        self.name = inner.name
        self.dimension = inner.dimension
        self._inner = inner

    @property
    def reading(self) -> Reading:
        """Return what the wrapped adapter returns."""
        return self._inner.reading

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Return what the wrapped adapter returns."""
        return self._inner.token_offsets(text)

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Call the wrapped adapter and time it."""
        with stages.stage("embed"):
            return await self._inner.encode(texts)


class TimedGenerator:
    """A `Generator` timed as two stages: `queue` up to the first word, then `write`.

    The end is noted as `model_end`: `stop`, `length`, `deadline`, `cancelled`, `full` or `away`.
    """

    def __init__(self, inner: Generator) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The model's name; a model may arrive later."""
        return self._inner.name

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Call the wrapped adapter and time it."""
        began_s = time.monotonic()
        first_s: float | None = None
        outcome = "cancelled"
        try:
            async with aclosing(self._inner.stream(request)) as events:
                async for event in events:
                    if isinstance(event, Piece) and first_s is None:
                        first_s = time.monotonic()
                    elif isinstance(event, Finished):
                        outcome = event.reason
                    yield event
        except GeneratorError as error:
            outcome = _outcome(error)
            raise
        finally:
            stages.spent("queue", began_s, first_s)
            if first_s is not None:
                stages.spent("write", first_s)
            stages.note("model_end", outcome)

    async def ready(self) -> bool:
        """Return what the wrapped adapter returns."""
        return await self._inner.ready()

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Call the wrapped adapter."""
        self._inner.warm(requests)

    async def close(self) -> None:
        """Close the wrapped adapter."""
        await self._inner.close()


def _outcome(error: GeneratorError) -> str:
    match error:
        case QueueFull():
            return "full"
        case DeadlineExceeded():
            return "deadline"
        case _:
            return "away"
