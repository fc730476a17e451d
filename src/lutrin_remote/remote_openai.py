"""A language model and an embedding model behind OpenAI's HTTP protocol: Gemini, vLLM, llama-server, Ollama.

The official client speaks the protocol; this module decides about retries, deadlines and the meaning of errors. The
texts of a service's errors are dropped, since they may quote a reader's question or part of the key.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from http import HTTPStatus
from typing import Any, Literal, cast

import msgspec
import numpy as np
import openai
from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

from lutrin.errors import DeadlineExceeded, GeneratorError, GeneratorUnavailable, IndexUnavailable, QueueFull
from lutrin.ports import Embedder, Encoding, Vectors, unit_length, windows
from lutrin.records import Finished, Forecast, GenerationEvent, GenerationRequest, Message, Piece
from lutrin.retry import call_again

CONNECT_S = 3.0
READ_S = 30.0
"""Seconds of silence after which a request fails; a reader's deadline is shorter."""
AGAIN_S = 6.0
"""Seconds for which to retry an unreachable service; then the reader is told."""
RECENT = 0.3
"""Weight of the newest request in the running mean of durations."""
READY_S = 10.0
"""Seconds for which the result of a check of the service is reused."""
BATCH_TEXTS = 64
"""Most texts in one request for embeddings; Gemini takes 100."""
BATCHES_AT_ONCE = 4
WINDOW_TOKENS = 512
"""Most tokens (of the local tokenizer) in one text; Gemini reads 2,048 of its own tokens."""
WINDOW_OVERLAP = 32
MOST_STOPS = 4
QUIET: dict[str, Any] = {"reasoning_effort": "none", "chat_template_kwargs": {"enable_thinking": False}}
"""Fields that tell a model not to think aloud: Gemini and Ollama read the first, vLLM and llama-server the second. A
service that refuses unknown fields no longer gets them."""
MOST_CUTS = 4
"""How often a prompt that is too long for the model is halved before giving up."""

for _name in ("openai", "httpx2"):
    logging.getLogger(_name).setLevel(logging.WARNING)  # at lower levels, the client logs whole requests


class RemoteGenerator:
    """A language model of a service; see `ports.Generator`."""

    def __init__(self, model: str, base_url: str, api_key: str) -> None:
        self.name = model
        self.identity = ""  # the model behind the name may change any day
        self.computed_by = "service"
        self._client = _client(base_url, api_key)
        self._service = str(self._client.base_url)
        self._closed_until_s = 0.0
        self._closed_by: GeneratorError | None = None
        self._looked_s = float("-inf")
        self._is_ready = False
        self._takes_quiet = True
        self._writing = 0
        self._usual: Forecast | None = None

    @property
    def load(self) -> tuple[int, int]:
        """Count running answers and waiting readers; no reader waits here, because the service has the queue."""
        return self._writing, 0

    async def start(self) -> bool:
        """Return whether the service answers."""
        return await self.ready()

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Generate text for one reader; see `ports.Generator.stream`."""
        if request.deadline_s <= 0:
            raise DeadlineExceeded(f"{self._service}: no time was left to ask.")
        end_s = time.monotonic() + request.deadline_s
        if self._closed_by is not None and self._closed_until_s > time.monotonic():
            raise type(self._closed_by)(self._closed_by.detail, remedy=self._closed_by.remedy)
        pieces, reason, usage = 0, "", None
        began_s, first_s = time.monotonic(), 0.0
        self._writing += 1
        try:
            answer = await self._begin(request, end_s)
            async with answer:
                while True:
                    async with asyncio.timeout(end_s - time.monotonic()):
                        chunk = await anext(answer, None)
                    if chunk is None:
                        break
                    usage = chunk.usage or usage
                    for choice in chunk.choices:
                        reason = choice.finish_reason or reason
                        if choice.delta.content:
                            pieces += 1
                            first_s = first_s or time.monotonic() - began_s
                            yield Piece(choice.delta.content)
        except TimeoutError:
            if not pieces:
                raise DeadlineExceeded(f"{self._service} sent nothing in time.") from None
            reason = "deadline"
        except (openai.OpenAIError, ValueError) as error:  # ValueError: a line of the stream is not JSON
            raise self._explain(error) from None
        finally:
            self._writing -= 1
        if reason not in {"stop", "length", "deadline"}:
            raise GeneratorUnavailable(f"{self._service} cut the answer short ({reason or 'no end'}).")
        if first_s:
            self._note(Forecast(first_s, time.monotonic() - began_s))
        ended: Literal["stop", "length", "deadline"] = reason  # type: ignore[assignment]  # checked the line before
        yield Finished(
            reason=ended,
            prompt_tokens=usage.prompt_tokens if usage else 0,
            tokens=usage.completion_tokens if usage else pieces,
        )

    def _note(self, took: Forecast) -> None:
        before = self._usual or took
        first_s, whole_s = before.first_s, before.whole_s
        self._usual = Forecast(first_s + RECENT * (took.first_s - first_s), whole_s + RECENT * (took.whole_s - whole_s))

    def forecast(self, request: GenerationRequest) -> Forecast | None:  # noqa: ARG002 - a service takes about as long for any
        """Return the duration of recent requests; None before the first."""
        return self._usual

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Do nothing: a service manages its own cache, and each request costs."""

    def hold(self, waiting: int) -> None:
        """Do nothing: a service computes elsewhere."""

    async def ready(self) -> bool:
        """Return whether the service answers, checked at most every `READY_S` seconds."""
        if time.monotonic() - self._looked_s > READY_S:
            self._looked_s = time.monotonic()
            try:
                await self.check()
            except GeneratorError:
                self._is_ready = False
        return self._is_ready and self._closed_until_s <= time.monotonic()

    async def check(self) -> None:
        """Check that the service responds."""
        try:
            await self._client.with_options(timeout=CONNECT_S).models.list()
        except openai.NotFoundError:
            pass  # a service need not offer a list of its models
        except openai.OpenAIError as error:
            raise self._explain(error) from None
        self._is_ready = True

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _begin(self, request: GenerationRequest, end_s: float) -> AsyncStream[ChatCompletionChunk]:
        messages = request.messages

        async def begin() -> AsyncStream[ChatCompletionChunk]:
            nonlocal messages
            for cuts in range(MOST_CUTS + 1):
                try:
                    return await self._client.chat.completions.create(
                        model=self.name,
                        messages=[
                            cast("ChatCompletionMessageParam", msgspec.structs.asdict(item)) for item in messages
                        ],
                        max_tokens=request.max_tokens,
                        temperature=0,  # the same question should get the same answer; not every service guarantees it
                        stop=list(request.stop[:MOST_STOPS]) or openai.omit,
                        stream=True,
                        stream_options={"include_usage": True},
                        extra_body=QUIET if self._takes_quiet else None,
                    )
                except openai.BadRequestError as error:
                    if self._takes_quiet and error.code != "context_length_exceeded":
                        self._takes_quiet = False
                        continue
                    if error.code != "context_length_exceeded" or cuts == MOST_CUTS:
                        raise
                    messages = _halve(messages)
            raise AssertionError("the last try returns or raises")

        left_s = end_s - time.monotonic()
        async with asyncio.timeout(left_s):
            return await call_again(begin, patience_s=min(left_s, AGAIN_S), pause_s=_pause_s)

    def _explain(self, error: Exception) -> GeneratorError:
        """Return our error for a client's error, with a text that contains nothing of the request."""
        self._is_ready = False
        detail = f"{self._service}: {_trouble(error)}"
        if isinstance(error, openai.RateLimitError):
            return self._close(QueueFull(detail), _retry_after_s(error) or 1.0)
        away = GeneratorUnavailable(detail, remedy="Check the address, the key and the model.")
        is_gone = isinstance(error, openai.APIConnectionError) and not isinstance(error, openai.APITimeoutError)
        return self._close(away, READY_S) if is_gone else away

    def _close(self, error: GeneratorError, seconds: float) -> GeneratorError:
        """Tell the next readers at once for a while, instead of trying with each of them."""
        self._closed_until_s = time.monotonic() + seconds
        self._closed_by = error
        return error


class RemoteEmbedder:
    """An embedding model of a service, and a local one for tokens; see `ports.Embedder`.

    Services give one vector for a text. The vectors of tokens, which select the sentences (late interaction), come from
    a small local model. They are padded with zeros to the service's width, which does not change their cosines.

    Args:
        dimension: Width of its vectors, at least that of `tokens`.
        tokens: Local model that counts tokens and embeds each of them.
        patience_s: Seconds for a request with all its retries: few for questions, many for an ingest.
    """

    def __init__(
        self, model: str, dimension: int, base_url: str, api_key: str, tokens: Embedder, *, patience_s: float
    ) -> None:
        if dimension < tokens.dimension:
            raise ValueError(f"the service's vectors must have at least {tokens.dimension} dimensions")
        self.name = f"{model}-{dimension}+{tokens.name}"
        self.dimension = dimension
        self.reading = tokens.reading.widen(dimension)
        self._model = model
        self._tokens = tokens
        self._patience_s = patience_s
        self._client = _client(base_url, api_key)
        self._service = str(self._client.base_url)
        self._at_once = asyncio.Semaphore(BATCHES_AT_ONCE)
        self._names_dimension = True

    def token_offsets(self, text: str) -> Sequence[tuple[int, int]]:
        """Return start and end of each token of the local tokenizer."""
        return self._tokens.token_offsets(text)

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode texts of any length, in order; see `ports.Embedder.encode`."""
        parts = [self._parts(text) for text in texts]
        flat = [part for item in parts for part in item]
        batches = [flat[start : start + BATCH_TEXTS] for start in range(0, len(flat), BATCH_TEXTS)]
        remote = asyncio.gather(*map(self._batch, batches))
        local, parts_of_rows = await asyncio.gather(self._tokens.encode(texts), remote)
        rows = (row for part in parts_of_rows for row in part)
        encodings = []
        for item, mine in zip(parts, local, strict=True):
            pooled = np.stack([next(rows) for _ in item])
            encodings.append(
                Encoding(
                    windows=pooled, token_vectors=self._widen(mine.token_vectors), token_offsets=mine.token_offsets
                )
            )
        return encodings

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def _parts(self, text: str) -> list[str]:
        offsets = self._tokens.token_offsets(text)
        cut = windows(len(offsets), WINDOW_TOKENS, WINDOW_OVERLAP)
        if len(cut) == 1:
            return [text]
        return [text[offsets[start][0] : offsets[stop - 1][1]] for start, stop in cut]

    def _widen(self, vectors: Vectors | None) -> Vectors | None:
        if vectors is None:
            return None
        return np.pad(vectors, ((0, 0), (0, self.dimension - vectors.shape[1])))

    async def _batch(self, texts: Sequence[str]) -> Vectors:
        """Return a vector of length 1 for each of at most `BATCH_TEXTS` texts."""
        # Services refuse an empty text, so it gets a fixed direction.
        inputs = [text if text.strip() else "-" for text in texts]
        async with self._at_once:
            try:
                rows = await call_again(lambda: self._request(inputs), patience_s=self._patience_s, pause_s=_pause_s)
            except openai.OpenAIError as error:
                raise IndexUnavailable(
                    f"{self._service}: {_trouble(error)}", remedy="Check the address, the key and the model."
                ) from None
        wrong = {len(row) for row in rows} - {self.dimension}
        if wrong or len(rows) != len(texts):
            raise IndexUnavailable(
                f"{self._service} gave {len(rows)} vectors of {sorted({len(row) for row in rows})} dimensions"
                f" for {len(texts)} texts, not of {self.dimension}.",
                remedy="Set LUTRIN_EMBED_DIMENSION to the model's dimension, and run `lutrin ingest`.",
            )
        return unit_length(np.array(rows, dtype=np.float32))

    async def _request(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            response = await self._client.embeddings.create(
                model=self._model,
                input=list(texts),
                encoding_format="float",
                dimensions=self.dimension if self._names_dimension else openai.omit,
            )
        except openai.BadRequestError:
            if not self._names_dimension:
                raise
            self._names_dimension = False  # a model with a fixed width; the result is checked all the same
            return await self._request(texts)
        return [item.embedding for item in sorted(response.data, key=lambda item: item.index)]


def _client(base_url: str, api_key: str) -> AsyncOpenAI:
    timeout = openai.Timeout(READ_S, connect=CONNECT_S)
    return AsyncOpenAI(base_url=base_url, api_key=api_key, timeout=timeout, max_retries=0)


def _pause_s(error: Exception) -> float | None:
    """Return the wait that the service asks for, in seconds (0 if it names none); None if a retry would fail too."""
    if isinstance(error, openai.APIConnectionError):
        return 0.0
    if isinstance(error, openai.APIStatusError):
        passing = error.status_code in {408, 409, 429} or error.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR
        return (_retry_after_s(error) or 0.0) if passing else None
    return None


def _retry_after_s(error: openai.APIStatusError) -> float | None:
    text = error.response.headers.get("retry-after", "")
    return float(text) if text.replace(".", "", 1).isdigit() else None


def _trouble(error: Exception) -> str:
    """Describe a failure without quoting the request or the service's answer."""
    if isinstance(error, openai.APITimeoutError):
        return "no answer in time."
    if isinstance(error, openai.APIConnectionError):
        return "no connection."
    if isinstance(error, openai.APIStatusError):
        meaning = {401: "the key is refused", 403: "the key is refused", 404: "there is no such model", 429: "too many"}
        return f"status {error.status_code}, {meaning.get(error.status_code, 'an error of the service')}."
    return f"an answer that cannot be read ({type(error).__name__})."


def _halve(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Drop the middle of the longest message, since the best passages come first and the question last."""
    longest = max(range(len(messages)), key=lambda index: len(messages[index].content))
    text = messages[longest].content
    quarter = len(text) // 4
    shorter = msgspec.structs.replace(messages[longest], content=f"{text[:quarter]}\n\n{text[-quarter:]}")
    return (*messages[:longest], shorter, *messages[longest + 1 :])
