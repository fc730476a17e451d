"""The targets of each scenario, and whether they are met: pure functions over samples."""

import json
import math
import random
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

AT_ONCE_S = 0.1
"""A shorter wait is none: readers see what comes within a tenth of a second as coming at once (Miller 1968), and of
those who ask at the same moment somebody must be searched for first."""
CHANCE = 0.05
"""A ratio that so large a share of random dealings reaches is no session's treatment."""
DEALINGS = 400
STEP_S = 0.25
"""One step of the model that reads a new prompt (128 tokens): the moment of arrival within it is chance."""
OK = 200
SHOWN = 5
"""Number of failures that are described."""


@dataclass(frozen=True)
class Sample:
    """One request and what became of it."""

    session: str
    what: str
    """`answer` or `retrieve`."""
    at_s: float
    """Since the beginning of the run."""
    seconds: float
    """Until its end; of an answer, until the book's is complete."""
    status: int
    """0: no reply at all."""
    error: str = ""
    """Why there was no reply, or only a part of one."""
    kind: str = ""
    """Of an answer: `generated`, `extractive` or `refusal`."""
    first_s: float | None = None
    """Until its first words; None if it has none."""
    unsaved: bool = False
    """Whether the reader got a notice that it could not be saved."""
    message: str = ""
    """Id of the answer, by which the server's log speaks of it."""
    turn: int = 0
    """Which question of its session's, from 0."""
    words_s: float | None = None
    """Until the first sentence of an explanation; None if none came."""
    begun: bool = False
    """Whether the model was to explain it."""
    ended_s: float | None = None
    """Until the model came to its end of itself, with a sentence or with nothing to add; None if it did not."""
    eta_s: float | None = None
    """The first estimate of the first sentence that the reader got; `told_s` is when."""
    told_s: float | None = None
    queue_s: float | None = None
    """How long it waited for the model's first word, or for word that there would be none; None if it did not ask."""

    @property
    def waited_s(self) -> float | None:
        """Until the first sentence of an explanation, or word that there is none; None if neither came."""
        return self.ended_s if self.words_s is None else self.words_s

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
    note: str = ""


Target = Callable[[Sequence[Sample]], Verdict]


def read_samples(path: Path, log: Path) -> list[Sample]:
    """The samples of a run, in order of their beginning, with what the server's log says of each."""
    queues = read_queues(log)
    known = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    samples = (Sample(**item, queue_s=queues.get(item.get("message", ""))) for item in known)
    return sorted(samples, key=lambda sample: sample.at_s)


def read_queues(log: Path) -> dict[str, float]:
    """Seconds in the model's queue, by message id."""
    found = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        if '"work_ms"' in line:
            said = json.loads(line)
            if "queue" in said["work_ms"]:
                found[said["message"]] = said["work_ms"]["queue"] / 1000
    return found


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that at least `share` of the values do not exceed (nearest rank); NaN of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def answers(samples: Sequence[Sample]) -> list[Sample]:
    """Answers that came."""
    return [sample for sample in samples if sample.what == "answer" and not sample.failed]


Waits = Sequence[tuple[str, int, float]]
"""Session, turn and seconds of each wait."""


def medians(waits: Waits) -> dict[str, float]:
    """The middle of each session's waits (of an even number the mean of both), of sessions with three or more.

    The median says what a session usually got: one moment at which all of the class asked at once is not a session's
    fate, and a session that is served last every time has no other. Of two waits it would be their mean.
    """
    found: dict[str, list[float]] = {}
    for session, _, seconds in waits:
        found.setdefault(session, []).append(seconds)
    return {session: statistics.median(values) for session, values in found.items() if len(values) > 2}


def spread(waits: Waits) -> float:
    """The longest of the sessions' medians over the shortest; NaN of nothing."""
    middle = medians(waits).values()
    return max(middle) / min(middle) if middle else math.nan


def apart(waits: Waits) -> float:
    """How far the sessions' mean logarithms of their waits lie apart: by all waits, so finer than the medians."""
    found: dict[str, list[float]] = {}
    for session, _, seconds in waits:
        found.setdefault(session, []).append(math.log(seconds))
    means = [statistics.fmean(values) for values in found.values() if len(values) > 2]
    return max(means) - min(means)


def chance(waits: Waits) -> float:
    """How often sessions differ as much if the waits of each turn are assigned to them at random.

    A permutation test (Fisher 1935): without favourites, the waits of a turn can be exchanged between sessions. Of
    thirty sessions with a handful of waits each, some are always unlucky; a session that is served last every time is
    so in almost no permutation.
    """
    order = random.Random(7)  # the same verdict for the same samples
    turns: dict[int, list[int]] = {}
    for place, (_, turn, _) in enumerate(waits):
        turns.setdefault(turn, []).append(place)
    reached, seen = 0, apart(waits) - 1e-9
    for _ in range(DEALINGS):
        dealt = list(waits)
        for places in turns.values():
            for place, other in zip(places, order.sample(places, len(places)), strict=True):
                dealt[place] = (waits[place][0], waits[place][1], waits[other][2])
        reached += apart(dealt) >= seen
    return reached / DEALINGS


def errors(most: float) -> Target:
    """At most this share of the requests failed, and there were some."""

    def judge(samples: Sequence[Sample]) -> Verdict:
        share = sum(sample.failed for sample in samples) / len(samples) if samples else 1.0
        return Verdict("errors", share, f"<= {most:g}", share <= most)

    return judge


def slowest(share: float, most_s: float, *, what: str = "answer") -> Target:
    """A percentile of the seconds; without such requests there is nothing to miss."""

    def judge(samples: Sequence[Sample]) -> Verdict:
        chosen = [sample for sample in samples if sample.what == what and not sample.failed]
        value = percentile((sample.seconds for sample in chosen), share)
        name = f"{'max' if share == 1 else f'p{share * 100:.0f}'} s, {what}"
        return Verdict(name, value, f"<= {most_s:g}", math.isnan(value) or value <= most_s)

    return judge


def explained(least: float, within_s: float) -> Target:
    """Whether the model explains at least this share of the answers, without refusals, within the given seconds."""

    def judge(samples: Sequence[Sample]) -> Verdict:
        came = [sample for sample in answers(samples) if sample.kind != "refusal"]
        there = [sample.words_s for sample in came if sample.words_s is not None and sample.words_s <= within_s]
        share = len(there) / len(came) if came else 0.0
        note = f"{len(there)} of {len(came)}, median {percentile(there, 0.5):.1f} s"
        return Verdict(f"explained within {within_s:g} s", share, f">= {least:g}", share >= least, note=note)

    return judge


def ended(least: float, within_s: float) -> Target:
    """Whether the model ends within the given seconds for at least this share of the answers that it was to explain.

    It has then written sentences, or has nothing to add to the book's words.
    """

    def judge(samples: Sequence[Sample]) -> Verdict:
        begun = [sample for sample in answers(samples) if sample.begun]
        there = [sample.ended_s for sample in begun if sample.ended_s is not None and sample.ended_s <= within_s]
        share = len(there) / len(begun) if begun else 0.0
        note = f"{len(there)} of {len(begun)}, median {percentile(there, 0.5):.1f} s"
        return Verdict(f"the model at its end within {within_s:g} s", share, f">= {least:g}", share >= least, note=note)

    return judge


def estimates(least: float) -> Target:
    """Whether at least this share of the waits took between half and twice the first estimate.

    A wait ends with the first sentence, or with the model's end without one.
    """

    def judge(samples: Sequence[Sample]) -> Verdict:
        ratios = [
            (sample.waited_s - (sample.told_s or 0.0)) / sample.eta_s
            for sample in answers(samples)
            if sample.waited_s is not None and sample.eta_s
        ]
        share = sum(0.5 <= ratio <= 2 for ratio in ratios) / len(ratios) if ratios else math.nan
        note = f"of {len(ratios)}; median ratio {percentile(ratios, 0.5):.2f}"
        return Verdict(
            "estimates within a factor of two", share, f">= {least:g}", not ratios or share >= least, note=note
        )

    return judge


def fair(most: float) -> Target:
    """Whether no session usually waits for first words more than so many times as long as another.

    The length of an answer, or the time to write it, is no wait. Waits under `AT_ONCE_S` count as `AT_ONCE_S`.
    """

    def judge(samples: Sequence[Sample]) -> Verdict:
        came = [(item.session, item.turn, item.first_s) for item in answers(samples)]
        waits = [(session, turn, max(wait, AT_ONCE_S)) for session, turn, wait in came if wait is not None]
        return _compared("wait for the first words", waits, most)

    return judge


def fair_queue(most: float) -> Target:
    """Whether no session usually waits in the model's queue more than so many times as long as another.

    A wait ends with the model's first word, or with the notice that it comes too late. Waits under `STEP_S` count as
    `STEP_S`. Without a model no session waits; fewer than two sessions with enough waits cannot be compared.
    """

    def judge(samples: Sequence[Sample]) -> Verdict:
        came = [(item.session, item.turn, item.queue_s) for item in answers(samples)]
        waits = [(session, turn, max(wait, STEP_S)) for session, turn, wait in came if wait is not None]
        if came and len(medians(waits)) < 2:
            note = "no model, or nobody had to wait for it"
            return Verdict("wait in the model's queue", 1.0, f"<= {most:g}", met=True, note=note)
        return _compared("wait in the model's queue", waits, most)

    return judge


def _compared(what: str, waits: Waits, most: float) -> Verdict:
    """The spread of the sessions' medians; one beyond the bar is held against the server unless it is chance."""
    ratio = spread(waits)
    share = chance(waits) if ratio > most else 0.0
    note = f"{share:.0%} of random dealings part sessions as far" if ratio > most else ""
    name = f"{what}: longest / shortest median of a session"
    return Verdict(name, ratio, f"<= {most:g}, or chance", ratio <= most or share >= CHANCE, note=note)


def beside(quiet: Sequence[Sample], most: float) -> Target:
    """Whether the 95th percentile is at most so many times that of a quiet period of the same run."""

    def judge(samples: Sequence[Sample]) -> Verdict:
        calm = percentile((sample.seconds for sample in quiet), 0.95)
        ratio = percentile((sample.seconds for sample in answers(samples)), 0.95) / calm if quiet else math.nan
        return Verdict("p95 while ingesting / p95 in quiet", ratio, f"<= {most:g}", ratio <= most)

    return judge


def summary(samples: Sequence[Sample]) -> dict[str, Any]:
    """What happened, in figures."""
    came = answers(samples)
    lost = [sample for sample in samples if sample.failed]
    seconds = [sample.seconds for sample in came]
    return {
        "answers": len(came),
        "failed": len(lost),
        "failures": [f"{item.what} at {item.at_s:g} s: {item.status} {item.error}".strip() for item in lost[:SHOWN]],
        "sessions": len({sample.session for sample in came}),
        "kinds": dict(Counter(sample.kind for sample in came).most_common()),
        "median_s": round(percentile(seconds, 0.5), 3),
        "p95_s": round(percentile(seconds, 0.95), 3),
        "max_s": round(max(seconds, default=math.nan), 3),
        "first_words_median_s": round(percentile((item.first_s or 0 for item in came), 0.5), 3),
        "first_words_p95_s": round(percentile((item.first_s or 0 for item in came), 0.95), 3),
    }


def by_time(samples: Sequence[Sample], readers: int, ramp_s: float, seconds: float, parts: int = 10) -> str:
    """A table of what readers got in each part of a run, whose readers come in evenly within `ramp_s`."""
    lines = ["", "| readers | answers/s | failed | median s | p95 s | slowest s |", "|---|---|---|---|---|---|"]
    length_s = seconds / parts
    for part in range(parts):
        chosen = [sample for sample in samples if part * length_s <= sample.at_s < (part + 1) * length_s]
        there = min(readers, round(readers * (part + 0.5) * length_s / ramp_s))
        lines.append(f"| {there} | {_row(chosen, length_s)} |")
    return "\n".join(lines) + "\n"


def by_span(
    samples: Sequence[Sample], accidents: Sequence[tuple[str, tuple[float, float]]], after_s: float = 5.0
) -> str:
    """A table of what readers got who asked while each accident lasted, or in the seconds after it."""
    lines = ["", "| meanwhile | answers/s | failed | median s | p95 s | slowest s |", "|---|---|---|---|---|---|"]
    for name, (start_s, stop_s) in accidents:
        chosen = [sample for sample in samples if start_s <= sample.at_s <= stop_s + after_s]
        lines.append(f"| {name}, {stop_s - start_s:.1f} s | {_row(chosen, stop_s + after_s - start_s)} |")
    return "\n".join(lines) + "\n"


def _row(samples: Sequence[Sample], seconds: float) -> str:
    came = [sample.seconds for sample in answers(samples)]
    waits = [percentile(came, share) for share in (0.5, 0.95, 1)]
    failed = sum(sample.failed for sample in samples)
    return " | ".join([f"{len(came) / seconds:.1f}", f"{failed} of {len(samples)}", *(f"{wait:.3g}" for wait in waits)])


def table(verdicts: Sequence[Verdict]) -> str:
    """The verdicts in Markdown."""
    lines = ["| figure | value | goal | met |", "|---|---|---|---|"]
    for verdict in verdicts:
        met = "yes" if verdict.met else "no" if verdict.needed else "no (not judged here)"
        met += f" ({verdict.note})" if verdict.note else ""
        lines.append(f"| {verdict.figure} | {verdict.value:.3g} | {verdict.goal} | {met} |")
    return "\n".join(lines)


def as_data(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """The verdicts as JSON takes them."""
    return [{**asdict(verdict), "value": None if math.isnan(verdict.value) else verdict.value} for verdict in verdicts]
