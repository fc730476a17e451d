"""Thirty readers for hours, with accidents: errors stay rare and memory does not grow.

    python bench/soak.py [--hours 2] [--readers 30] [--every-s 60]

A real server with its model on the sample book; readers ask every ten to twenty seconds and look passages up (Locust,
as in `just loadtest hundred`). Every minute something happens: the model's process is killed, or it is stopped so that
it hangs, or a page is changed and the book is ingested again. Less than 0.1% of the requests may fail, and the server's
memory (without the model's process, which is a new one after each accident) may grow by 5% from the first quarter of
the run to the last. The last line is JSON.
"""

import argparse
import itertools
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from common import CORPUS, machine

from loadtests import run, server, targets

MOST_ERRORS = 0.001
MOST_MEMORY = 1.05
LOOK_EVERY_S = 5.0
ACCIDENTS = ("killed", "hung", "ingested")


def resident_mb(pid: int) -> float:
    """Memory of one process."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def model_process(pid: int) -> int | None:
    """The child of the server that owns the language model."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    for child in map(int, children):
        with suppress(OSError):
            if "lutrin.generate.child" in Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8"):
                return child
    return None


def accident(kind: str, pid: int, corpus: Path, environment: dict[str, str]) -> None:
    """Let something happen."""
    model = model_process(pid)
    if kind == "ingested":
        page = max(corpus.rglob("*.md*"), key=lambda path: path.stat().st_size)
        with page.open("a", encoding="utf-8") as file:
            file.write(f"\n\nThis page was changed at {time.time():.0f}, while readers asked.\n")
        server.ingest(corpus, environment)
    elif model is not None:
        with suppress(ProcessLookupError):
            os.kill(model, signal.SIGKILL if kind == "killed" else signal.SIGSTOP)


def endure(
    readers: "subprocess.Popen[bytes]", pid: int, every_s: float, corpus: Path, environment: dict[str, str]
) -> tuple[list[float], Counter[str]]:
    """Let accidents happen until the readers have left; the server's memory, and what happened."""
    memory: list[float] = []
    happened: Counter[str] = Counter()
    kinds = itertools.cycle(ACCIDENTS)
    next_s = time.monotonic() + every_s
    while readers.poll() is None:
        time.sleep(LOOK_EVERY_S)
        memory.append(resident_mb(pid))
        if time.monotonic() >= next_s:
            kind = next(kinds)
            accident(kind, pid, corpus, environment)
            happened[kind] += 1
            next_s = time.monotonic() + every_s
    return memory, happened


def grown(memory: Sequence[float]) -> float:
    """Ratio of the median of the last quarter to that of the first, the very beginning left out."""
    settled = memory[len(memory) // 10 :]
    quarter = max(1, len(settled) // 4)
    return statistics.median(settled[-quarter:]) / statistics.median(settled[:quarter])


def main() -> int:
    """Run, and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=float, default=2)
    parser.add_argument("--readers", type=int, default=30)
    parser.add_argument("--every-s", type=float, default=60)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    arguments = parser.parse_args()
    scenario = replace(run.SCENARIOS["hundred"], readers=arguments.readers, seconds=arguments.hours * 3600)
    model = os.environ.get("LUTRIN_MODEL", "small")
    with tempfile.TemporaryDirectory(prefix="lutrin-soak-") as folder:
        place = Path(folder)
        environment = server.settings(place / "data", model)
        asked = run.questions_for(arguments.corpus.resolve(), one_chapter=False)
        (place / "questions.json").write_text(json.dumps(asked), encoding="utf-8")
        corpus = server.copy_of(arguments.corpus, place / "books")
        server.ingest(corpus, environment)
        with server.running(environment, place / "server.log") as (address, pid):
            readers = run.start_readers(scenario, address, place)
            try:
                memory, happened = endure(readers, pid, arguments.every_s, corpus, environment)
            finally:
                if readers.poll() is None:
                    readers.kill()
                    readers.wait()
        samples = targets.read_samples(place / "samples.jsonl", place / "server.log")
    verdicts = [targets.errors(MOST_ERRORS)(samples), *(target(samples) for target in run.FAIRNESS)]
    growth = grown(memory)
    verdicts.append(targets.Verdict("memory, last quarter / first", growth, f"<= {MOST_MEMORY}", growth <= MOST_MEMORY))
    failed = [verdict for verdict in verdicts if not verdict.met]
    print(f"## soak: {arguments.readers} readers, {arguments.hours:g} h, model {model}, {dict(happened)}\n")
    print(targets.table(verdicts))
    report = {"benchmark": "soak", "machine": machine("litestar", "uvicorn"), **targets.summary(samples)}
    print(json.dumps({**report, "targets": targets.as_data(verdicts), "accidents": happened, "met": not failed}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
