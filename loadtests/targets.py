"""What a scenario must reach, and whether it did: pure functions over samples."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

NOTICED_S = 1.0
"""A reader does not notice a shorter wait, so a session's mean counts as at least this when sessions are compared."""
OK = 200


@dataclass(frozen=True)
class Sample:
    """One request and what became of it."""

    session: str
    what: str
    """`answer` or `retrieve`."""
    at_s: float
    """Since the beginning of the run."""
    seconds: float
    status: int
    """0: no reply at all."""
    kind: str
    """Of an answer: `generated`, `extractive` or `refusal`."""

    @property
    def failed(self) -> bool:
        """Anything else than an answer; the rate limits are off in a load test."""
        return self.status != OK


@dataclass(frozen=True)
class Verdict:
    """A figure beside its goal."""

    figure: str
    value: float
    goal: str
    met: bool
    needed: bool = True
    """Whether a miss fails the run."""


Target = Callable[[Sequence[Sample]], Verdict]


def read_samples(path: Path) -> list[Sample]:
    """The samples of a run, in order of their beginning."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sorted((Sample(**json.loads(line)) for line in lines), key=lambda sample: sample.at_s)


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed (nearest rank); NaN of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def answers(samples: Sequence[Sample]) -> list[Sample]:
    """Answers that came."""
    return [sample for sample in samples if sample.what == "answer" and not sample.failed]


def waits(samples: Sequence[Sample]) -> dict[str, float]:
    """Mean seconds that each session waited for an answer, of sessions with more than one."""
    counts = Counter(sample.session for sample in answers(samples))
    return {
        session: sum(sample.seconds for sample in answers(samples) if sample.session == session) / count
        for session, count in counts.items()
        if count > 1
    }


def errors(most: float) -> Target:
    """At most this share of the requests failed, and there were some."""

    def judge(samples: Sequence[Sample]) -> Verdict:
        share = sum(sample.failed for sample in samples) / len(samples) if samples else 1.0
        return Verdict("errors", share, f"<= {most:g}", share <= most)

    return judge


def slowest(share: float, most_s: float, *, what: str = "answer", kind: str = "") -> Target:
    """A percentile of the seconds; without such requests there is nothing to miss."""

    def judge(samples: Sequence[Sample]) -> Verdict:
        chosen = [sample for sample in samples if sample.what == what and not sample.failed]
        value = percentile((sample.seconds for sample in chosen if kind in {"", sample.kind}), share)
        name = f"{'max' if share == 1 else f'p{share * 100:.0f}'} s, {kind or what}"
        return Verdict(name, value, f"<= {most_s:g}", math.isnan(value) or value <= most_s)

    return judge


def generated(least: float) -> Target:
    """At least this share of the answers was written by the model, the rest are quotes."""

    def judge(samples: Sequence[Sample]) -> Verdict:
        came = answers(samples)
        share = sum(sample.kind == "generated" for sample in came) / len(came) if came else 0.0
        return Verdict("generated", share, f">= {least:g}", share >= least)

    return judge


def fair(most: float, noticed_s: float = NOTICED_S) -> Target:
    """No session's mean wait is more than so many times another's.

    Args:
        most: The largest ratio.
        noticed_s: Shorter waits count as this. In a short run each session asks one question again and again, and how
            long its answer is weighs more than whose turn it was; there, what comes in the promised time is no wait.
    """

    def judge(samples: Sequence[Sample]) -> Verdict:
        means = [max(mean, noticed_s) for mean in waits(samples).values()]
        ratio = max(means) / min(means) if means else math.nan
        return Verdict("longest / shortest mean wait of a session", ratio, f"<= {most:g}", ratio <= most)

    return judge


def beside(quiet: Sequence[Sample], most: float) -> Target:
    """The 95th percentile is at most so many times that of a quiet time in the same run."""

    def judge(samples: Sequence[Sample]) -> Verdict:
        calm = percentile((sample.seconds for sample in quiet), 0.95)
        ratio = percentile((sample.seconds for sample in answers(samples)), 0.95) / calm if quiet else math.nan
        return Verdict("p95 while ingesting / p95 in quiet", ratio, f"<= {most:g}", ratio <= most)

    return judge


def summary(samples: Sequence[Sample]) -> dict[str, Any]:
    """What happened, in figures."""
    came = answers(samples)
    seconds = [sample.seconds for sample in came]
    return {
        "answers": len(came),
        "failed": sum(sample.failed for sample in samples),
        "sessions": len({sample.session for sample in came}),
        "kinds": dict(Counter(sample.kind for sample in came).most_common()),
        "median_s": round(percentile(seconds, 0.5), 3),
        "p95_s": round(percentile(seconds, 0.95), 3),
        "max_s": round(max(seconds, default=math.nan), 3),
    }


def table(verdicts: Sequence[Verdict]) -> str:
    """The verdicts in Markdown."""
    lines = ["| figure | value | goal | met |", "|---|---|---|---|"]
    for verdict in verdicts:
        met = "yes" if verdict.met else "no" if verdict.needed else "no (not judged here)"
        lines.append(f"| {verdict.figure} | {verdict.value:.3g} | {verdict.goal} | {met} |")
    return "\n".join(lines)


def as_data(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """The verdicts as JSON takes them."""
    return [{**asdict(verdict), "value": None if math.isnan(verdict.value) else verdict.value} for verdict in verdicts]
