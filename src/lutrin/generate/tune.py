"""Implements `lutrin models tune`: which number format suits this machine, and which model keeps the deadline in it.

A separate process measures a model (prefill, one reader, ten readers) as it will run. The result is one JSON file in
the data directory, which names the file to load for every model.
"""

import hashlib
import os
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from lutrin.errors import GeneratorError, GeneratorUnavailable, LutrinError, WeightsError
from lutrin.generate.worker import THREADS_SLEEP
from lutrin.ports import Decoder, TokenRun
from lutrin.records import Message

MAIN = "from lutrin.generate.tune import main; main()"
TEXT = " ".join(f"Joint {n} of the robot turns by {n * 7} degrees and then stops." for n in range(8))
STEP_TOKENS = 120
READERS = 10
PROMPT_TOKENS = 300
ANSWER_TOKENS = 64
"""Size of a usual question, for comparing models with the deadline."""
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

    def alone_s(self, prompt_tokens: int = PROMPT_TOKENS, tokens: int = ANSWER_TOKENS) -> float:
        """Seconds until a reader alone has the whole answer."""
        return prompt_tokens / self.prefill + tokens / self.single

    def class_s(self, prompt_tokens: int = PROMPT_TOKENS, tokens: int = ANSWER_TOKENS) -> float:
        """Seconds until ten simultaneous readers with different questions have their whole answers."""
        return READERS * (prompt_tokens / self.prefill + tokens / self.ten)


class Outcome(msgspec.Struct, frozen=True):
    """The measuring process's result."""

    speed: Speed | None = None
    problem: str = ""


def measure(decoder: Decoder, clock: Callable[[], float] = time.perf_counter) -> Speed:
    """Time a decoder: medians of a few rounds after a warm-up.

    Args:
        decoder: Decoder with at least ten sequences, all empty, each with room for the text and a few steps.
        clock: Seconds.
    """
    prompt, _ = decoder.encode((Message(role="user", content=TEXT),))
    size = min(STEP_TOKENS, decoder.step_tokens)

    def timing(runs: list[TokenRun]) -> tuple[float, list[int]]:
        began = clock()
        tokens = decoder.step(runs)
        return clock() - began, [token for token in tokens if token is not None]

    def read(sequence: int) -> tuple[float, int]:
        seconds, token = 0.0, 0
        for at in range(0, len(prompt), size):
            is_last = at + size >= len(prompt)
            took, tokens = timing([TokenRun(sequence, at, prompt[at : at + size], is_last)])
            seconds, token = seconds + took, tokens[0] if is_last else 0
        return seconds, token

    def fill(sequence: int) -> tuple[float, int]:
        if not decoder.shares:
            return read(sequence)
        # Copied, because reading the prompt again for every sequence would take most of the time.
        decoder.copy(0, sequence, 0, len(prompt))
        return first[0]

    first = [read(sequence) for sequence in range(1 + ROUNDS)]
    first += [fill(sequence) for sequence in range(len(first), READERS)]

    def write(readers: int) -> float:
        tokens = [token for _, token in first[:readers]]
        seconds = []
        for place in range(len(prompt), len(prompt) + STEPS):
            took, tokens = timing([TokenRun(n, place, (token,), wanted=True) for n, token in enumerate(tokens)])
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
    """Time a decoder in a fresh process with the environment of the model's process."""
    try:
        # The command is this interpreter with this module.
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


SHIPPED = "as shipped"
FORMATS = ("Q4_0", "Q4_0-all", "IQ4_NL", "Q8_0")
"""Formats to try besides the shipped file; `-all` converts the vocabulary's matrix too."""
QUICK_FORMATS = ("Q4_0", "Q4_0-all")
SHORT_FORMATS = ("Q4_0-all",)
SHORT_S = 60.0
"""Seconds that set-up may take; after that, no further file is tried."""
SAME_SCORE = 0.075
"""Smaller differences of scores do not count: one of twenty questions is chance, two are a difference."""


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One file, measured."""

    model: str
    format: str
    path: str
    sha256: str
    bytes: int
    speed: Speed
    score: float | None = None
    """Share of right answers on the sample questions, 0 to 1; None if not judged."""


class Tuning(msgspec.Struct, frozen=True, kw_only=True):
    """Formats measured on this machine, and the chosen one."""

    machine: str
    date: str
    deadline_s: float
    trials: tuple[Trial, ...]
    files: dict[str, str]
    """The file to load for every model."""
    auto: str
    """The model for `LUTRIN_MODEL=auto`."""

    def choice(self, model: str) -> Trial | None:
        """The trial whose file a model loads; `auto` names the best model that keeps the deadline."""
        path = self.files.get(self.auto if model == "auto" else model)
        return next((trial for trial in self.trials if trial.path == path), None)


def trials(
    models: Sequence[tuple[str, Path]],
    formats: Iterable[str],
    folder: Path,
    *,
    convert: Callable[[Path, Path, str], None],
    speed: Callable[[Path], Speed],
    score: Callable[[Path], float] | None = None,
    goes_on: Callable[[], bool] = lambda: True,
) -> Iterator[Trial | str]:
    """Convert and measure one file after another: a trial for each usable one, a sentence for any other."""
    folder.mkdir(parents=True, exist_ok=True)
    for model, shipped in models:
        for kind in (SHIPPED, *formats):
            if not goes_on():
                return
            path = shipped if kind == SHIPPED else folder / f"{shipped.stem}-{kind.lower()}.gguf"
            try:
                if not path.exists():
                    convert(shipped, path, kind)
                measured = speed(path)
                judged = None if score is None else score(path)
            except (GeneratorError, WeightsError) as error:
                yield f"{model}, {kind}: {error.detail}"
                continue
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            yield Trial(
                model=model,
                format=kind,
                path=str(path),
                sha256=digest,
                bytes=path.stat().st_size,
                speed=measured,
                score=judged,
            )


def choose(measured: Sequence[Trial], deadline_s: float, *, machine: str, date: str) -> Tuning:
    """Pick a file for every model, and a model for `auto`.

    For each model, take the fastest file for ten readers among those whose answers are as good as the best, or of
    unknown score. For `auto`, take the largest model that answers a lone reader before the deadline and is no worse
    than a smaller one; if there is none, the fastest.
    """
    best: dict[str, Trial] = {}
    for model in dict.fromkeys(trial.model for trial in measured):
        files = [trial for trial in measured if trial.model == model]
        most = max(trial.score or 0.0 for trial in files)
        best[model] = min(
            (trial for trial in files if _is_as_good(trial, most)), key=lambda trial: trial.speed.class_s()
        )
    auto = min(best.values(), key=lambda trial: trial.speed.alone_s())
    for trial in best.values():
        if trial.speed.alone_s() <= deadline_s and _is_as_good(trial, auto.score or 0.0):
            auto = trial
    return Tuning(
        machine=machine,
        date=date,
        deadline_s=deadline_s,
        trials=tuple(measured),
        files={model: trial.path for model, trial in best.items()},
        auto=auto.model,
    )


def merge_trials(measured: Sequence[Trial], tuning: Tuning | None, machine: str, models: Sequence[str]) -> list[Trial]:
    """New trials, with earlier trials of other models on this machine."""
    fresh = {trial.model for trial in measured}
    old = [trial for trial in tuning.trials if trial.model not in fresh] if tuning and tuning.machine == machine else []
    return sorted((trial for trial in (*measured, *old) if trial.model in models), key=lambda t: models.index(t.model))


def _is_as_good(trial: Trial, score: float) -> bool:
    return (trial.score or 0.0) > score - SAME_SCORE


def table(tuning: Tuning) -> list[tuple[str, ...]]:
    """Header and rows for a terminal: every file measured, the chosen ones marked."""
    head = ("", "model", "format", "MB", "prefill/s", "one/s", "ten/s", "alone s", "ten s", "score")
    rows: list[tuple[str, ...]] = [head]
    for trial in tuning.trials:
        chosen = tuning.files[trial.model] == trial.path
        mark = ("auto" if trial.model == tuning.auto else "*") if chosen else ""
        speeds = (trial.bytes / 1e6, trial.speed.prefill, trial.speed.single, trial.speed.ten)
        score = "" if trial.score is None else f"{trial.score:.2f}"
        times = (f"{trial.speed.alone_s():.1f}", f"{trial.speed.class_s():.1f}")
        rows.append((mark, trial.model, trial.format, *(f"{number:.0f}" for number in speeds), *times, score))
    return rows


def write_tuning(tuning: Tuning, path: Path) -> None:
    """Store the result, replacing an older one atomically."""
    fresh = path.with_suffix(".new")
    fresh.write_bytes(msgspec.json.format(msgspec.json.encode(tuning), indent=2))
    fresh.replace(path)


def read_tuning(path: Path) -> Tuning | None:
    """Read the stored result; None if this version cannot use one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Tuning)
    except (OSError, msgspec.DecodeError):
        return None
