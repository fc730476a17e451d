"""Lutrin in little memory: reads the sample books and serves ten readers at once, under a limit of the kernel.

    python bench/small_memory.py [--gb 0.5 1 2 4] [--models none tiny]

Each ingest and each server is put into a memory control group of its own (version 2 or 1; needs the right to make one),
which ends what takes more. *Peak* is the memory that is no file's, of all processes together, looked at five times a
second. Swap is off limits. The last line is JSON.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from common import QUESTIONS, ROOT, finish, machine
from fresh import free_port

from evaluation.questions import read_questions

LUTRIN = Path(sys.executable).with_name("lutrin")
GROUPS = Path("/sys/fs/cgroup")
READERS = 10
LONGEST_S = 900
LOOK_S = 0.2
JOIN = 'echo $$ > "$0" && exec "$@"'
"""The shell puts itself into the group, then becomes the command."""


class Group:
    """A memory control group.

    Source: the kernel's documentation, admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._second = (GROUPS / "cgroup.controllers").exists()
        self._folder = GROUPS / ("" if self._second else "memory") / f"lutrin-{os.getpid()}-{time.monotonic_ns()}"
        self._folder.mkdir()
        bounds = ("memory.max", "memory.swap.max") if self._second else ("memory.limit_in_bytes",)
        for name in bounds:
            value = 0 if "swap" in name else limit_bytes
            (self._folder / name).write_text(str(value), "ascii")
        self.peak_bytes = 0
        self._ended = threading.Event()
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()

    def start(self, *command: str | Path, environment: dict[str, str], log: Path) -> "subprocess.Popen[bytes]":
        """A process in the group; what it says goes into a file."""
        with log.open("ab") as out:
            words = ["sh", "-c", JOIN, str(self._folder / "cgroup.procs"), *map(str, command)]
            return subprocess.Popen(words, env=environment, stdout=out, stderr=out, cwd=ROOT, start_new_session=True)

    def killed(self) -> int:
        """Processes that the kernel ended since they took too much."""
        name = "memory.events" if self._second else "memory.oom_control"
        return self._fields(name).get("oom_kill", 0)

    def close(self) -> None:
        """Remove the group, whose processes have ended."""
        self._ended.set()
        self._watch.join()
        for _ in range(50):
            with suppress(OSError):
                self._folder.rmdir()
                return
            time.sleep(0.1)

    def _look(self) -> None:
        name = "anon" if self._second else "total_rss"
        while not self._ended.wait(LOOK_S):
            self.peak_bytes = max(self.peak_bytes, self._fields("memory.stat").get(name, 0))

    def _fields(self, name: str) -> dict[str, int]:
        lines = (self._folder / name).read_text("ascii").splitlines()
        return {key: int(value) for key, value in (line.split() for line in lines)}


@contextmanager
def group(limit_bytes: int) -> Iterator[Group]:
    """A group that is removed at the end."""
    made = Group(limit_bytes)
    try:
        yield made
    finally:
        made.close()


def environment(data: Path, model: str) -> dict[str, str]:
    """Of a process of Lutrin: nothing of the caller's settings."""
    kept = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME", "LANG"}}
    own = {"LUTRIN_DATA_DIR": str(data), "LUTRIN_MODELS_DIR": str(ROOT / "models"), "LUTRIN_MODEL": model}
    return kept | own | {"LUTRIN_TUNE": "false", "LUTRIN_RATE_PEER_PER_MIN": "600"}


def ingest(limit_bytes: int, data: Path) -> dict[str, Any]:
    """Read the sample books under a bound."""
    began = time.monotonic()
    with group(limit_bytes) as bounds:
        process = bounds.start(LUTRIN, "ingest", "corpus", environment=environment(data, "none"), log=data / "log")
        code = process.wait(LONGEST_S)
        return row("ingest", "-", bounds, works=code == 0, seconds=time.monotonic() - began)


def serve(limit_bytes: int, data: Path, model: str, questions: list[str]) -> dict[str, Any]:
    """Start a server under a bound and ask all questions at once; works if each gets an answer."""
    port = free_port()
    with group(limit_bytes) as bounds:
        variables = environment(data, model)
        process = bounds.start(LUTRIN, "serve", "--port", str(port), environment=variables, log=data / "log")
        try:
            began = time.monotonic()
            ready = wait_ready(port, process, loaded=model != "none")
            started_s = time.monotonic() - began
            kinds = []
            if ready:
                with ThreadPoolExecutor(READERS) as pool:
                    kinds = list(pool.map(lambda question: ask(port, question), questions))
            asked_s = time.monotonic() - began - started_s
            works = ready and process.poll() is None and all(kinds)
            found = row("ten readers at once", model, bounds, works=works, seconds=asked_s)
            return found | {"start_s": round(started_s, 1), "kinds": sorted(filter(None, kinds))}
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


def wait_ready(port: int, process: "subprocess.Popen[bytes]", *, loaded: bool) -> bool:
    """Whether the server is ready in time, its model loaded if there is to be one."""
    began = time.monotonic()
    while time.monotonic() - began < LONGEST_S and process.poll() is None:
        with suppress(urllib.error.URLError, ConnectionError, TimeoutError):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as reply:
                state = json.load(reply)
            if not loaded or state.get("model_ready"):
                return True
        time.sleep(0.2)
    return False


def ask(port: int, question: str) -> str:
    """Kind of the answer; empty if there is none."""
    body = json.dumps({"query": question}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/query", body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return str(json.load(reply)["kind"])
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return ""


def row(what: str, model: str, bounds: Group, *, works: bool, seconds: float) -> dict[str, Any]:
    """The figures of a trial."""
    return {
        "what": what,
        "model": model,
        "works": works,
        "peak_mb": round(bounds.peak_bytes / 1e6),
        "killed": bounds.killed(),
        "seconds": round(seconds, 1),
    }


def main() -> None:
    """Try each bound."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gb", type=float, nargs="+", default=[0.5, 1, 2, 4])
    parser.add_argument("--models", nargs="+", default=["none", "tiny"])
    options = parser.parse_args()
    questions = [item.question for item in read_questions([QUESTIONS[0]])[:READERS]]
    rows = []
    for size in options.gb:
        limit = int(size * (1 << 30))
        with tempfile.TemporaryDirectory(prefix="lutrin-memory-") as name:
            data = Path(name)
            trials = [ingest(limit, data)]
            if trials[0]["works"]:
                trials += [serve(limit, data, model, questions) for model in options.models]
            elif (data / "log").exists():
                print((data / "log").read_text("utf-8", "replace")[-600:], file=sys.stderr)
            for found in trials:
                print(found, file=sys.stderr, flush=True)
                rows.append({"gb": size, **found})
    lines = ["| memory | what | model | works | peak, MB | seconds |", "|--:|---|---|---|--:|--:|"]
    for one in rows:
        works = "yes" if one["works"] else f"no ({one['killed']} ended by the kernel)"
        lines.append(
            f"| {one['gb']:g} GB | {one['what']} | {one['model']} | {works} | {one['peak_mb']} | {one['seconds']} |"
        )
    finish("Small memory", ["\n".join(lines)], {"rows": rows}, machine())


if __name__ == "__main__":
    main()
