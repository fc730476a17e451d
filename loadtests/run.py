"""A load test from beginning to end: `python -m loadtests.run ten|class|hundred|reingest|cluster [--seconds N]`.

It reads the books into a data folder of its own, tunes the model as set-up does, starts a server on a free port, lets
Locust play the readers for a bounded time, ends what it started, and prints a table of figures beside their goals; the
last line is JSON. A picture and the table land in loadtests/out/. Exit 0: every goal is met; 1: one is missed.
`--gently` judges errors and fairness only, by the same bars, and does not tune: on a busy machine the seconds say more
about the machine.

`cluster` asks four servers behind a proxy (cluster.py). Readers come in one by one, so that the table shows how many
the machine carries; then a server and the database are killed, the proxy is restarted, and a new index is published.
"""

import argparse
import json
import math
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from loadtests import targets
from loadtests.cluster import running
from loadtests.plot import svg
from loadtests.server import ROOT, copy_of, ingest, serving, settings, tune
from loadtests.targets import Sample, Target, Verdict

OUT = ROOT / "loadtests" / "out"
QUESTIONS = ROOT / "corpus" / "questions" / "in_book.jsonl"
CORPUS = ROOT / "corpus"
QUIET_S = 10.0
"""Before, between and after two ingests of `reingest`."""
LATEST_S = 120.0
"""Extra time for Locust to start, to receive the last answers, and to end."""
SWITCHED_S = 2.0
"""Maximum time from the end of an ingest until a server has opened the new index; counts as time of the ingest."""
Span = tuple[float, float]
"""Seconds since the beginning of the run, from and to."""


@dataclass(frozen=True)
class Scenario:
    """Readers, duration and targets of a load test."""

    reader: str
    """Class in readers.py."""
    readers: int
    seconds: float
    limit_s: float
    """Drawn in the picture."""
    goals: tuple[Target, ...]
    one_chapter: bool = False
    model: str = ""
    """Empty: the one of LUTRIN_MODEL."""
    ramp_s: float = 1.0
    """Within this time of the start all readers have come in."""
    servers: int = 1


FAIRNESS = (targets.fair(2), targets.fair_queue(2))
EXPLAINED = (targets.explained(0.8, 60), targets.ended(0.8, 60), targets.estimates(0.8))

SCENARIOS = {
    "ten": Scenario(
        "Ten", 10, 60, 3.0,
        (targets.errors(0), targets.slowest(1, 3.0), *EXPLAINED, *FAIRNESS),
    ),
    "class": Scenario(
        "Pupil", 30, 60, 6.0,
        (targets.errors(0), targets.slowest(0.95, 1.0), *EXPLAINED, *FAIRNESS),
        one_chapter=True,
    ),
    "hundred": Scenario(
        "Hundred", 100, 180, 6.0,
        (
            targets.errors(0.01), targets.slowest(0.95, 6.0), targets.slowest(0.95, 0.5, what="retrieve"), *FAIRNESS,
        ),
    ),
    # Quotes only: twenty questions a second are more than a model answers on two cores.
    "reingest": Scenario("Steady", 20, 90, 1.0, (targets.errors(0),), model="none"),
    "cluster": Scenario(
        "Library", 300, 150, 3.0, (targets.errors(0.02), targets.fair(2)), model="none", ramp_s=45, servers=4
    ),
}  # fmt: skip


def questions_for(corpus: Path, *, one_chapter: bool) -> list[list[str]]:
    """Questions that these books answer, by kind; of one chapter (the one that most are about) without kinds."""
    rows = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    known = [
        row for row in rows
        if not row.get("previous_question") and not row.get("selected_text") and row["expected_files"]
        and all((CORPUS / name).is_relative_to(corpus) for name in row["expected_files"])
    ]  # fmt: skip
    if one_chapter:
        chapters = [str(Path(row["expected_files"][0]).parent) for row in known]
        largest = max(sorted(set(chapters)), key=chapters.count)
        return [[row["question"] for row, chapter in zip(known, chapters, strict=True) if chapter == largest]]
    kinds = sorted({row["kind"] for row in known})
    return [[row["question"] for row in known if row["kind"] == kind] for kind in kinds]


def start_readers(scenario: Scenario, address: str, place: Path) -> "subprocess.Popen[bytes]":
    """Locust, headless, in a process of its own: it changes the interpreter that it runs in."""
    command = [sys.executable, "-m", "locust", "-f", str(ROOT / "loadtests" / "readers.py"), "--headless"]
    command += [
        "--users",
        str(scenario.readers),
        "--spawn-rate",
        f"{scenario.readers / scenario.ramp_s:.3g}",
        "--host",
        address,
    ]
    command += ["--run-time", f"{math.ceil(scenario.seconds)}s", "--stop-timeout", "65", "--exit-code-on-error", "0"]
    command += ["--questions", str(place / "questions.json"), "--samples", str(place / "samples.jsonl")]
    command += ["--readers", str(scenario.readers)]
    command += ["--only-summary", "--loglevel", "WARNING", scenario.reader]
    with (place / "locust.log").open("wb") as log:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(command, cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def play(scenario: Scenario, address: str, place: Path, beside: Callable[[], list[Span]]) -> list[Span]:
    """Let the readers ask, and do something beside them."""
    readers = start_readers(scenario, address, place)
    try:
        spans = beside()
        readers.wait(scenario.seconds + LATEST_S)
    finally:
        if readers.poll() is None:
            readers.kill()
            readers.wait()
    return spans


def ingest_again(scenario: Scenario, corpus: Path, environment: dict[str, str], began_s: float) -> list[Span]:
    """Change a page and ingest, with quiet times between, for as long as the readers ask; when the ingests ran."""
    spans: list[Span] = []
    page = max(corpus.rglob("*.md*"), key=lambda path: path.stat().st_size)
    end_s = time.time() + scenario.seconds
    while time.time() + 2 * QUIET_S < end_s:
        time.sleep(QUIET_S)
        with page.open("a", encoding="utf-8") as file:
            file.write(f"\n\nThis page was changed {len(spans) + 1} times while readers asked.\n")
        start_s = time.time() - began_s
        ingest(corpus, environment, "--rebuild")
        spans.append((start_s, time.time() - began_s + SWITCHED_S))
        time.sleep(SWITCHED_S)
    return spans


def judge(scenario: Scenario, samples: Sequence[Sample], spans: Sequence[Span], *, gently: bool) -> list[Verdict]:
    """Each figure beside its goal."""
    if gently:
        return [target(samples) for target in (targets.errors(0), *FAIRNESS)]
    verdicts = [target(samples) for target in scenario.goals]
    if spans:
        busy = [sample for sample in samples if any(start <= sample.at_s <= stop for start, stop in spans)]
        quiet = [sample for sample in targets.answers(samples) if sample not in busy]
        verdicts.append(targets.beside(quiet, 1.2)(busy))
    return verdicts


def main() -> int:
    """Run one scenario."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("--seconds", type=float, help="how long readers ask")
    parser.add_argument("--readers", type=int, help="how many")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="the books, a folder in corpus/ or corpus/ itself")
    parser.add_argument("--data", type=Path, help="a data folder that knows these books already; a copy of it is used")
    parser.add_argument("--pooler", action="store_true", help="`cluster`: PgBouncer before the database")
    parser.add_argument("--gently", action="store_true", help="judge errors and fairness only")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the table and the picture")
    options = parser.parse_args()
    scenario = SCENARIOS[options.scenario]
    scenario = replace(
        scenario, seconds=options.seconds or scenario.seconds, readers=options.readers or scenario.readers
    )
    corpus = options.corpus.resolve()
    model = scenario.model or os.environ.get("LUTRIN_MODEL", "small")
    with tempfile.TemporaryDirectory(prefix="lutrin-load-") as folder:
        place = Path(folder)
        if options.data is not None:
            shutil.copytree(options.data, place / "data")
        if scenario.servers > 1:
            samples, spans, verdicts, figures = run_cluster(scenario, corpus, place, with_pooler=options.pooler)
        else:
            samples, spans = run(scenario, corpus, model, place, tuned=not options.gently)
            verdicts, figures = judge(scenario, samples, spans, gently=options.gently), ""
    failed = [verdict for verdict in verdicts if verdict.needed and not verdict.met]
    title = f"{options.scenario}: {scenario.readers} readers, {scenario.seconds:g} s, model {model}"
    about = {
        "date": datetime.now(UTC).date().isoformat(), "cores": os.cpu_count(), "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }  # fmt: skip
    report = {
        "loadtest": options.scenario,
        "model": model,
        "machine": about,
        **targets.summary(samples),
    }
    options.out.mkdir(parents=True, exist_ok=True)
    text = f"## {title}\n\n{targets.table(verdicts)}\n{figures}"
    (options.out / f"{options.scenario}.md").write_text(text, encoding="utf-8")
    (options.out / f"{options.scenario}.svg").write_text(svg(title, samples, scenario.limit_s, spans), encoding="utf-8")
    print(text)
    print(json.dumps({**report, "targets": targets.as_data(verdicts), "met": not failed}))
    return 1 if failed else 0


def run(scenario: Scenario, corpus: Path, model: str, place: Path, *, tuned: bool) -> tuple[list[Sample], list[Span]]:
    """Everything that needs processes: the samples, and the spans of time in which an ingest ran."""
    environment = settings(place / "data", model)
    changing = scenario.reader == "Steady"
    books = copy_of(corpus, place / "books") if changing else corpus
    asked = questions_for(corpus, one_chapter=scenario.one_chapter)
    (place / "questions.json").write_text(json.dumps(asked), encoding="utf-8")
    if not (place / "data").exists():
        ingest(books, environment)
    if tuned:
        tune(environment)
    with serving(environment, place / "server.log") as address:
        began_s = time.time()
        spans = play(
            scenario, address, place, lambda: ingest_again(scenario, books, environment, began_s) if changing else []
        )
    return targets.read_samples(place / "samples.jsonl", place / "server.log"), spans


def run_cluster(
    scenario: Scenario, corpus: Path, place: Path, *, with_pooler: bool
) -> tuple[list[Sample], list[Span], list[Verdict], str]:
    """Run a scenario on servers behind a proxy, with accidents; return samples, spans, verdicts and readers' outcomes.

    First more and more readers come in, so that the table by time says what the machine carries, and what a question
    costs of its processors; then each accident has its own row.
    """
    (place / "questions.json").write_text(json.dumps(questions_for(corpus, one_chapter=False)), encoding="utf-8")
    books = copy_of(corpus, place / "books")
    accidents: list[tuple[str, Span]] = []
    costs: list[float] = []
    with running(books, servers=scenario.servers, place=place, with_pooler=with_pooler) as made:
        began_s = time.time()
        before = made.cpu_s()

        def beside() -> list[Span]:
            for share, name, accident in made.accidents(books):
                time.sleep(max(0.0, began_s + share * scenario.seconds - time.time()))
                start_s = time.time() - began_s
                if not costs:  # a process that is started again begins to count anew
                    costs.extend(now - then for now, then in zip(made.cpu_s(), before, strict=True))
                accident()
                accidents.append((name, (start_s, time.time() - began_s)))
            return [span for _, span in accidents]

        spans = play(scenario, made.address, place, beside)
        stored = made.stored()
        log = place / "servers.log"
        log.write_text("".join(one.log.read_text("utf-8") for one in made.servers), encoding="utf-8")
    samples = targets.read_samples(place / "samples.jsonl", log)
    verdicts = [target(samples) for target in scenario.goals]
    told = [sample for sample in targets.answers(samples) if sample.message]
    kept = [sample for sample in told if not sample.unsaved]
    lost = sum(sample.message not in stored for sample in kept)
    note = f"{len(kept)} were answered, {len(told) - len(kept)} more with word that they are not saved"
    verdicts.append(Verdict("messages lost", lost, "0", lost == 0, note=note))
    undisturbed = [sample for sample in samples if sample.at_s < spans[0][0]]
    verdicts.append(targets.slowest(0.95, scenario.limit_s)(undisturbed))
    servers_ms, database_ms = (1000 * cost / max(1, len(targets.answers(undisturbed))) for cost in costs)
    figures = targets.by_time(samples, scenario.readers, scenario.ramp_s, scenario.seconds)
    figures += targets.by_span(samples, accidents)
    figures += f"\nProcessor time a question: servers {servers_ms:.1f} ms, PostgreSQL {database_ms:.1f} ms.\n"
    return samples, spans, verdicts, figures


if __name__ == "__main__":
    sys.exit(main())
