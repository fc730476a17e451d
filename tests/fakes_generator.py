"""Fake language models: deterministic, quick, strict about memory and order, and faulty on request.

`ScriptedGenerator` replaces a whole `Generator`. `ScriptedDecoder` replaces the model below the scheduler, in the
model's process. Its tokens are bytes. It remembers exactly what its sequences were given, and its next token depends on
all of that, so a token that is lost, repeated or given to the wrong reader changes the answer.
"""

import asyncio
import os
import signal
import time
import zlib
from array import array
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Literal

import numpy as np

from lutrin.answer.prompt import YES_NO
from lutrin.errors import DeadlineExceeded, GeneratorUnavailable, QueueFull
from lutrin.ports import TokenRun, Values
from lutrin.records import Finished, Forecast, GenerationEvent, GenerationRequest, Message, Piece

BEGIN, END, NEXT = 256, 257, 258
"""Control tokens: the answer begins, the answer ends, the next message begins."""
SURE = 8.0
"""Log-odds (natural logarithm) of the word that the script says."""

Script = Callable[[Sequence[str]], str]
"""Function from the texts of the messages to the answer."""


def echo(texts: Sequence[str]) -> str:
    """Answer with a checksum of the whole prompt, then the last message."""
    return f"{zlib.crc32(chr(0).join(texts).encode()):08x} {texts[-1]}"


class ScriptedGenerator:
    """A `Generator` that answers by a script, with a word as a token.

    Args:
        script: Function from the texts of the messages to the answer.
        name: Name of the model.
        pause_s: Pause before each word.
        readers: Most streams at once; others are refused with `QueueFull`.
        logprob: Log probability of each word.
        answers: Log odds of its yes to whether what it was shown answers.
        head: Log odds of its head to the same; None: it has none.
        first_s: Estimated seconds to a first sentence; None: it gives no estimate.

    Attributes:
        away: Set it to make the model unavailable, for running streams too.
        active: Number of running streams.
        requests: All requests for text, in order.
        warmed: All requests that were to be warmed, in order.
    """

    def __init__(
        self,
        script: Script = echo,
        *,
        name: str = "scripted",
        pause_s: float = 0.0,
        readers: int = 64,
        logprob: float | None = None,
        answers: float = SURE,
        head: float | None = None,
        first_s: float | None = 0.0,
    ) -> None:
        self.name = name
        self.first_s = first_s
        self._answers = answers
        self._head = head
        self.away = False
        self.active = 0
        self.requests: list[GenerationRequest] = []
        self.warmed: list[GenerationRequest] = []
        self.held: list[int] = []
        self._script = script
        self._pause_s = pause_s
        self._readers = readers
        self._logprob = logprob

    async def stream(self, request: GenerationRequest) -> AsyncGenerator[GenerationEvent, None]:
        """Yield the answer word by word; see `ports.Generator`."""
        deadline = time.monotonic() + request.deadline_s
        if request.between != YES_NO:
            self.requests.append(request)
        self._present()
        if self.active >= self._readers:
            raise QueueFull("Too many readers are waiting for the language model.")
        self.active += 1
        try:
            texts = [message.content for message in request.messages]
            answer = self._script(texts)
            if request.between == YES_NO:
                yield Finished("stop", 0, 0, self._answers, head=self._head)
                return
            if request.between is not None:
                yield Finished("stop", 0, 0, SURE if answer.upper().startswith(request.between[0]) else -SURE)
                return
            stops = [at for stop in request.stop if stop and (at := answer.find(stop)) >= 0]
            words = answer[: min(stops, default=None)].split(" ")
            size = len(" ".join(texts).split())
            for said, word in enumerate(words[: request.max_tokens]):
                await asyncio.sleep(self._pause_s)
                self._present()
                if time.monotonic() >= deadline:
                    if not said:
                        raise DeadlineExceeded("The language model was too slow.")
                    yield Finished("deadline", size, said, logprob=self._logprob)
                    return
                yield Piece(word if said == 0 else f" {word}", self._logprob)
            reason: Literal["stop", "length"] = "stop" if len(words) <= request.max_tokens else "length"
            yield Finished(reason, size, min(len(words), request.max_tokens), logprob=self._logprob)
        finally:
            self.active -= 1

    async def ready(self) -> bool:
        """Return whether the model is available."""
        return not self.away

    def forecast(self, request: GenerationRequest) -> Forecast | None:  # noqa: ARG002 - every request takes as long
        """Return the estimate that the test chose."""
        return None if self.first_s is None else Forecast(self.first_s, 2 * self.first_s)

    def warm(self, requests: Sequence[GenerationRequest]) -> None:
        """Note what is likely to be asked."""
        self.warmed += requests

    def hold(self, waiting: int) -> None:
        """Note whether readers wait for the book's words."""
        self.held.append(waiting)

    async def close(self) -> None:
        """Nothing to free."""

    def _present(self) -> None:
        if self.away:
            raise GeneratorUnavailable("The language model is not available right now.")


class ScriptedDecoder:
    """A `Decoder` whose tokens are bytes, and which checks its calls.

    Args:
        script: Function from the texts of the messages to the answer.
        sequences: Number of sequences.
        context_tokens: Cells that the sequences share.
        step_tokens: Most tokens in one step.
        shares: Whether sequences can share cells.
        step_s: Duration of a step.

    Attributes:
        computed: Tokens computed so far.
        restored: Tokens taken from states so far.
        overfull: Steps that failed because no cells were left.
        fail_next: Set it to make the next step fail.
    """

    def __init__(
        self,
        script: Script = echo,
        *,
        sequences: int = 16,
        context_tokens: int = 4096,
        step_tokens: int = 256,
        shares: bool = True,
        step_s: float = 0.0,
    ) -> None:
        self.sequences = sequences
        self.context_tokens = self.window_tokens = context_tokens
        self.step_tokens = step_tokens
        self.shares = shares
        self.step_seconds: dict[int, float] = {}
        self.computed_by = "script"
        self.state_kind = "script" if shares else ""
        self.computed = self.overfull = self.restored = 0
        self.fail_next = False
        self.script = script
        self._step_s = step_s
        # The (cell, token) pairs of each sequence; a cell's number is the position at which its token was computed.
        self._memory: list[list[tuple[int, int]]] = [[] for _ in range(sequences)]
        self._asked: list[int] = []
        self._chosen: list[int] = []

    def encode(self, messages: Sequence[Message], stable_chars: int = 0) -> tuple[list[int], int]:
        """Return the bytes of all messages, each after a control token, then the token that begins the answer."""
        tokens: list[int] = []
        for message in messages:
            tokens += [NEXT, *message.content.encode()]
        tail = len(messages[-1].content[stable_chars:].encode())
        return [*tokens, BEGIN], len(tokens) - tail if stable_chars else 0

    def step(self, runs: Sequence[TokenRun], *, quietly: Callable[[], bool] | None = None) -> list[int | None]:
        """Take the tokens in and return the script's next ones.

        Raises:
            GeneratorUnavailable: It was told to fail, or no cells are left.
            ValueError: The caller broke a rule: gaps in a sequence, too many tokens, a sequence twice.
        """
        time.sleep(self._step_s)
        if quietly is not None and quietly():
            return []
        if self.fail_next:
            self.fail_next = False
            raise GeneratorUnavailable("The language model failed at a step, as it was told to.")
        size = sum(len(run.tokens) for run in runs)
        if size > self.step_tokens:
            raise ValueError(f"{size} tokens in a step")
        if self.cells() + size > self.context_tokens:
            self.overfull += 1
            raise GeneratorUnavailable("No cells are left.")
        said: list[int | None] = []
        for run in runs:
            memory = self._memory[run.sequence]
            if run.start != len(memory) or not run.tokens:
                raise ValueError(f"{len(run.tokens)} tokens at {run.start} where {len(memory)} are held")
            for token in run.tokens:
                memory.append((self.computed, token))
                self.computed += 1
            said.append(self._next(run.sequence) if run.wanted else None)
        self._asked = [run.sequence for run in runs if run.wanted]
        self._chosen = [token for token in said if token is not None]
        return said

    def odds(self, output: int, words: tuple[str, str]) -> float:
        """Give high odds to the word with which the script's answer begins."""
        tokens = [token for _, token in self._memory[self._asked[output]]]
        return SURE if self.script(self.texts(tokens[: tokens.index(BEGIN)])).upper().startswith(words[0]) else -SURE

    def logprob(self, output: int) -> float:
        """Give each byte a log probability of its own: the larger the byte, the less likely."""
        return -self._chosen[output] / 256

    def values(self, sequence: int, place: int) -> Values | None:
        """Give two layers: a checksum of the tokens up to this one, and the token itself."""
        tokens = [token for _, token in self._memory[sequence][: place + 1]]
        checksum = zlib.crc32(array("i", tokens).tobytes()) / 2**32
        return np.array([[checksum], [tokens[-1]]], np.float32) if self.shares else None

    def cells(self) -> int:
        """Return the number of cells in use."""
        return len({cell for memory in self._memory for cell, _ in memory})

    def copy(self, source: int, target: int, start: int, end: int) -> None:
        """Share cells of another sequence.

        Raises:
            ValueError: There are none, or they would leave a gap in the target.
        """
        if not self.shares or len(self._memory[target]) != start or len(self._memory[source]) < end:
            raise ValueError(f"cannot copy {start} to {end}")
        self._memory[target] += self._memory[source][start:end]

    def save(self, sequence: int, end: int) -> bytes:
        """Return the tokens."""
        return array("i", [token for _, token in self._memory[sequence][:end]]).tobytes()

    def restore(self, state: bytes, sequence: int, start: int, end: int) -> bool:
        """Put the tokens into new cells, if they fit.

        Raises:
            ValueError: They would leave a gap in the sequence.
        """
        tokens = array("i", state)
        if len(tokens) != end or self.cells() + end > self.context_tokens:
            return False
        if not self.shares or len(self._memory[sequence]) != start:
            raise ValueError(f"cannot restore {start} to {end}")
        for token in tokens[start:]:
            self.restored += 1
            self._memory[sequence].append((-self.restored, token))
        return True

    def forget(self, sequence: int, start: int = 0) -> None:
        """Drop tokens from the end of a sequence.

        Raises:
            ValueError: This decoder can only drop all of them.
        """
        if start and not self.shares:
            raise ValueError(f"cannot go back to {start}")
        del self._memory[sequence][start:]

    def text(self, token: int) -> bytes:
        """Return the byte of the token."""
        return bytes([token]) if token < BEGIN else b""

    def ends(self, token: int) -> bool:
        """Return whether it is a control token."""
        return token >= BEGIN

    def close(self) -> None:
        """Nothing to free."""

    def _next(self, sequence: int) -> int:
        tokens = [token for _, token in self._memory[sequence]]
        if BEGIN not in tokens:  # no prompt: the pace is measured
            return END
        begin = tokens.index(BEGIN)
        answer = self.script(self.texts(tokens[:begin])).encode()
        said = tokens[begin + 1 :]
        if said != list(answer[: len(said)]):
            return sum(said) % 256  # a wrong token was assumed: the following text shows it
        return answer[len(said)] if len(said) < len(answer) else END

    def texts(self, tokens: Sequence[int]) -> list[str]:
        """Return the messages of a prompt from its tokens."""
        texts: list[bytearray] = []
        for token in tokens:
            if token == NEXT:
                texts.append(bytearray())
            else:
                texts[-1].append(token)
        # A shortened prompt may be cut inside a character.
        return [text.decode("utf-8", "replace") for text in texts]


class FaultyDecoder(ScriptedDecoder):
    """A `ScriptedDecoder` that fails if a prompt tells it to: `[hang]`, `[die]`, `[swell]`, `[fail]`, `[starve]`."""

    SWOLLEN_BYTES = 1 << 28
    STARVED_S = 3.0
    """Seconds for which a starved step gets a twentieth of a processor."""

    def step(self, runs: Sequence[TokenRun], *, quietly: Callable[[], bool] | None = None) -> list[int | None]:
        """Compute a step like the parent class, unless a prompt asks for a failure."""
        prompts = b"".join(bytes(t for t in run.tokens if t < BEGIN) for run in runs)
        if b"[hang]" in prompts:
            time.sleep(3600)
        if b"[starve]" in prompts:
            end = time.monotonic() + self.STARVED_S
            while time.monotonic() < end:
                time.sleep(0.095)
                turn = time.process_time() + 0.005
                while time.process_time() < turn:
                    pass
        if b"[die]" in prompts:
            os.kill(os.getpid(), signal.SIGKILL)
        if b"[swell]" in prompts:
            self._swollen = bytearray(os.urandom(1 << 16)) * (self.SWOLLEN_BYTES >> 16)
        self.fail_next = b"[fail]" in prompts
        return super().step(runs, quietly=quietly)


class AgreeingDecoder(FaultyDecoder):
    """A `FaultyDecoder` that agrees to every question, so that the answers are those of the book."""

    def odds(self, output: int, words: tuple[str, str]) -> float:  # noqa: ARG002 - the port's
        """Give high odds to the first word."""
        return SURE
