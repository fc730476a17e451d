"""Measures a model on this machine (prefill, one reader, ten readers), in a separate process, as it will run."""

import os
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import msgspec

from lutrin.errors import GeneratorUnavailable, LutrinError
from lutrin.generate.worker import THREADS_SLEEP
from lutrin.ports import Decoder, TokenRun
from lutrin.records import Message

MAIN = "from lutrin.generate.measure import main; main()"
TEXT = " ".join(f"Joint {n} of the robot turns by {n * 7} degrees and then stops." for n in range(8))
STEP_TOKENS = 120
READERS = 10
STEPS = 12
ROUNDS = 2
LONGEST_S = 600.0


class Speed(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens a second."""

    prefill: float
    """Tokens of a prompt."""
    single: float
    """Tokens written for one reader alone."""
    ten: float
    """Tokens written for ten readers at once, in total."""

    def alone_s(self, prompt_tokens: int, tokens: int) -> float:
        """Seconds until a reader alone has the whole answer."""
        return prompt_tokens / self.prefill + tokens / self.single

    def class_s(self, prompt_tokens: int, tokens: int) -> float:
        """Seconds until ten simultaneous readers with different questions have their whole answers."""
        return READERS * (prompt_tokens / self.prefill + tokens / self.ten)


class Outcome(msgspec.Struct, frozen=True):
    """The measuring process's result."""

    speed: Speed | None = None
    problem: str = ""


def measure(decoder: Decoder, clock: Callable[[], float] = time.perf_counter) -> Speed:
    """Time a decoder: medians of a few rounds after one that does not count.

    Args:
        decoder: Has at least ten sequences, all empty, each with room for the text and a few steps.
        clock: Seconds.
    """
    prompt, _ = decoder.encode((Message(role="user", content=TEXT),))
    size = min(STEP_TOKENS, decoder.step_tokens)

    def timed(runs: list[TokenRun]) -> tuple[float, list[int]]:
        began = clock()
        tokens = decoder.step(runs)
        return clock() - began, [token for token in tokens if token is not None]

    def read(sequence: int) -> tuple[float, int]:
        seconds, token = 0.0, 0
        for at in range(0, len(prompt), size):
            wanted = at + size >= len(prompt)
            took, tokens = timed([TokenRun(sequence, at, prompt[at : at + size], wanted)])
            seconds, token = seconds + took, tokens[0] if wanted else 0
        return seconds, token

    def fill(sequence: int) -> tuple[float, int]:
        if not decoder.shares:
            return read(sequence)
        # What is read again only to be written after would take most of the time.
        decoder.copy(0, sequence, 0, len(prompt))
        return first[0]

    first = [read(sequence) for sequence in range(1 + ROUNDS)]
    first += [fill(sequence) for sequence in range(len(first), READERS)]

    def write(readers: int) -> float:
        tokens = [token for _, token in first[:readers]]
        seconds = []
        for place in range(len(prompt), len(prompt) + STEPS):
            took, tokens = timed([TokenRun(n, place, (token,), wanted=True) for n, token in enumerate(tokens)])
            seconds.append(took)
        for sequence in range(readers):
            decoder.forget(sequence, len(prompt))
        return statistics.median(seconds[1:])

    return Speed(
        prefill=len(prompt) / statistics.median(seconds for seconds, _ in first[1 : 1 + ROUNDS]),
        single=1 / write(1),
        ten=READERS / write(READERS),
    )


def measure_apart(factory: Callable[[], Decoder], longest_s: float = LONGEST_S) -> Speed:
    """Time a decoder in a fresh process with the environment that the model's process gets.

    Args:
        factory: Makes the decoder there; must be picklable.
        longest_s: Seconds after which the decoder counts as far too slow.

    Raises:
        GeneratorUnavailable: The model cannot be loaded, or it is far too slow.
    """
    try:
        # The command is this interpreter with our own module.
        done = subprocess.run(  # noqa: S603 - see above
            [sys.executable, "-P", "-c", MAIN],
            input=pickle.dumps(factory),
            stdout=subprocess.PIPE,
            env={**os.environ, **THREADS_SLEEP},
            timeout=longest_s,
            check=True,
        )
    except subprocess.SubprocessError as error:
        raise GeneratorUnavailable(f"The model could not be measured: {error}") from error
    outcome = msgspec.json.decode(done.stdout, type=Outcome)
    if outcome.speed is None:
        raise GeneratorUnavailable(outcome.problem)
    return outcome.speed


def main() -> None:
    """The measuring process: a pickled factory comes in, an `Outcome` in JSON goes out."""
    try:
        # The bytes come from the process that started this one.
        decoder: Decoder = pickle.loads(sys.stdin.buffer.read())()  # noqa: S301 - see above
        outcome = Outcome(measure(decoder))
        decoder.close()
    except LutrinError as error:
        outcome = Outcome(problem=str(error))
    sys.stdout.buffer.write(msgspec.json.encode(outcome))
