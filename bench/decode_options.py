"""Gain or cost of each option of the decoder: one table, each row a fresh process, idle and beside a busy core.

    python bench/decode_options.py [--model FILE] [--rounds 2] [--only NAME ...]

Every row changes one thing of what Lutrin uses. *Busy* means that another process computes on one core all the time, as
a search, an ingest or a browser does. Rows take turns, round by round; the best of the rounds counts.
"""

import argparse
import contextlib
import functools
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from common import ROOT, finish, machine

from lutrin.adapters.generate_llamacpp import open_decoder
from lutrin.generate.tune import MAIN, Outcome, Speed
from lutrin.generate.worker import THREADS_SLEEP
from lutrin.platform import physical_cores

MODEL = ROOT / "bench" / "out" / "qwen2.5-coder-0.5b-instruct-q4_k_m-q4_0-all.gguf"
SPIN = "while True: pass"


class Variant(NamedTuple):
    """One change."""

    name: str
    environment: Mapping[str, str] = THREADS_SLEEP
    options: Mapping[str, Any] = {}


VARIANTS = (
    Variant("as Lutrin runs it"),
    Variant("OpenMP threads sleep (OMP_WAIT_POLICY=passive)", {"OMP_WAIT_POLICY": "passive"}),
    Variant("OpenMP threads spin (its default)", {}),
    Variant("spin 1,000 times", {"GOMP_SPINCOUNT": "1000"}),
    Variant("spin 20,000 times", {"GOMP_SPINCOUNT": "20000"}),
    Variant("spin 200,000 times", {"GOMP_SPINCOUNT": "200000"}),
    Variant("a thread pinned to each core", {**THREADS_SLEEP, "OMP_PROC_BIND": "true", "OMP_PLACES": "cores"}),
    Variant("one thread", options={"threads": 1}),
    Variant("no flash attention", options={"flash_attention": False}),
    Variant("8-bit cache", options={"kv_type": "q8_0"}),
    Variant("steps of 64 tokens", options={"step_tokens": 64}),
    Variant("steps of 512 tokens", options={"step_tokens": 512}),
)


@contextlib.contextmanager
def busy_core(*, wanted: bool) -> Iterator[None]:
    """A process that computes all the time on the last core, or none."""
    if not wanted:
        yield
        return
    last = max(os.sched_getaffinity(0))
    process = subprocess.Popen([sys.executable, "-c", f"import os; os.sched_setaffinity(0, {{{last}}})\n{SPIN}"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def speed(model: Path, variant: Variant) -> Speed:
    """Measure in a process of its own."""
    factory: Callable[[], Any] = functools.partial(open_decoder, model, **variant.options)
    done = subprocess.run(
        [sys.executable, "-P", "-c", MAIN],
        input=pickle.dumps(factory),
        stdout=subprocess.PIPE,
        env={**os.environ, **variant.environment},
        check=True,
    )
    outcome = msgspec.json.decode(done.stdout, type=Outcome)
    if outcome.speed is None:
        raise SystemExit(f"{variant.name}: {outcome.problem}")
    return outcome.speed


def best(found: list[Speed]) -> Speed:
    """The best figure of each kind: noise only ever adds time."""
    return Speed(
        prefill=max(one.prefill for one in found),
        single=max(one.single for one in found),
        ten=max(one.ten for one in found),
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=MODEL)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[], help="rows whose names hold one of these words")
    arguments = parser.parse_args()
    chosen = [one for one in VARIANTS if not arguments.only or any(word in one.name for word in arguments.only)]
    found: dict[tuple[str, bool], list[Speed]] = {}
    for _ in range(arguments.rounds):
        for variant in chosen:
            for busy in (False, True):
                with busy_core(wanted=busy):
                    found.setdefault((variant.name, busy), []).append(speed(arguments.model, variant))
            print(f"  {variant.name}: {found[variant.name, False][-1]}", file=sys.stderr)
    lines = [
        "| | prefill, tokens/s | one reader | ten readers | busy: prefill | one | ten |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for variant in chosen:
        figures = [
            value for busy in (False, True) for value in msgspec.structs.astuple(best(found[variant.name, busy]))
        ]
        lines.append(f"| {variant.name} | {' | '.join(f'{value:.0f}' for value in figures)} |")
    about = machine("llama-cpp-python") | {"model": arguments.model.name, "threads": str(physical_cores())}
    data = {
        variant.name: {"idle": best(found[variant.name, False]), "busy": best(found[variant.name, True])}
        for variant in chosen
    }
    finish("Options of the decoder", ["\n".join(lines)], {"tokens_per_s": msgspec.to_builtins(data)}, about)


if __name__ == "__main__":
    main()
