"""Accidents of the language model on a real server: killed, hung, flooded, left by its readers.

    python bench/chaos_model.py [--kills 200] [--hangs 200] [--floods 200] [--disconnects 50] [--data-dir DIR]

In each trial readers ask over HTTP while the model's process is killed (`SIGKILL`), stopped (`SIGSTOP`; every
twentieth stays so until the watchdog replaces it), or given sixty questions or a selection of 58,000 characters at
once. Each reader must get an answer, the book's own words if need be, at most two seconds after the deadline; and the
model must come back. A reader who leaves must have freed the model within a second: its process is then idle. The last
line is JSON; exit 1 if anything failed.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
from common import CORPUS
from serving import Server, ingested, served

DEADLINE_S = 1.5
GRACE_S = 2.0
FREE_WITHIN_S = 1.0
READERS = 3
FLOOD = 60
STAYS_DOWN = 20
BACK_WITHIN_S = 60.0
BUSY_SHARE = 0.5
"""Share of a core from which a process counts as busy; an idle one only sends heartbeats."""
TICK_S = 0.05
KINDS = {"generated", "extractive", "refusal"}


class Trials:
    """Asks, judges, counts.

    Args:
        server: A real one.
        seed: Of the moments at which accidents happen.
    """

    def __init__(self, server: Server, seed: int) -> None:
        self.server = server
        self.random = random.Random(seed)  # noqa: S311 - moments, no secrets
        self.slowest_s = 0.0
        self.answers = 0
        self.failures: list[str] = []
        self.kinds: dict[str, int] = {}
        self._questions: Iterator[str] = (
            f"{opening} {topic}? ({n})"
            for n in itertools.count()
            for opening in ("What is", "How does one use", "Why do we need")
            for topic in ("an emergency stop", "a battery", "a risk assessment", "a fuse", "a robot arm")
        )

    async def ask(self, *, selected: str = "") -> None:
        """One reader; what is not a friendly answer in time is noted as a failure."""
        body = {"query": next(self._questions), "session_id": uuid.uuid4().hex}
        if selected:
            body["selected_text"] = selected
        began = time.perf_counter()
        try:
            response = await self.server.client.post("/api/query", json=body)
            answer: dict[str, Any] = response.json()
        except (httpx.HTTPError, ValueError) as error:
            self.failures.append(repr(error))
            return
        seconds = time.perf_counter() - began
        self.slowest_s = max(self.slowest_s, seconds)
        self.answers += 1
        kind = str(answer.get("kind", response.status_code))
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if kind not in KINDS or not answer["answer"]:
            self.failures.append(f"{response.status_code}: {response.text[:200]}")
        elif seconds > DEADLINE_S + GRACE_S:
            self.failures.append(f"an answer after {seconds:.1f} s")

    async def crowd(self, readers: int = READERS) -> None:
        """Several readers at once."""
        await asyncio.gather(*(self.ask() for _ in range(readers)))

    async def strike(self, blow: int) -> int | None:
        """Ask, and send the model's process a signal at some moment of it; its number, None if it was away."""
        asking = asyncio.create_task(self.crowd())
        await asyncio.sleep(self.random.random() * DEADLINE_S / 2)
        pid = self.server.model_pid()
        if pid is not None:
            os.kill(pid, blow)
        await asking
        return pid

    async def kill(self, _: int) -> None:
        """Killed in the middle of answers; the next trial may find it still away."""
        await self.strike(signal.SIGKILL)

    async def hang(self, turn: int) -> None:
        """Stop the process; it continues later, or the watchdog replaces it."""
        pid = await self.strike(signal.SIGSTOP)
        if pid is None:
            return
        if turn % STAYS_DOWN:
            os.kill(pid, signal.SIGCONT)
            return
        while self.server.model_pid() == pid:  # noqa: ASYNC110 - another process sends no event when it ends
            await asyncio.sleep(TICK_S)

    async def flood(self, turn: int) -> None:
        """Sixty readers at once, or a selection far beyond what fits, or words without end."""
        if turn % 3 == 0:
            await self.crowd(FLOOD)
        elif turn % 3 == 1:
            await self.ask(selected="The arm lifts the box and the gripper holds it. " * 1200)
        else:
            await self.ask(selected="pneumatic" * 6_500)

    async def leave(self, _: int) -> None:
        """A reader hangs up after the first excerpt; the model's process must be idle soon after."""
        body = {"query": next(self._questions), "session_id": uuid.uuid4().hex}
        headers = {"Accept": "text/event-stream"}
        async with self.server.client.stream("POST", "/api/query", json=body, headers=headers) as response:
            async for line in response.aiter_lines():
                if line.startswith("event: excerpt"):
                    break
            await asyncio.sleep(self.random.random() * 0.3)
        await self.freed()

    async def freed(self) -> None:
        """Measure how long the model's process keeps computing."""
        began = busy_until = time.perf_counter()
        pid = self.server.model_pid()
        used = _cpu_s(pid)
        while time.perf_counter() - began < 2 * FREE_WITHIN_S:
            await asyncio.sleep(TICK_S)
            now, used_before = time.perf_counter(), used
            used = _cpu_s(pid)
            if used - used_before > BUSY_SHARE * TICK_S:
                busy_until = now
        seconds = busy_until - began
        self.slowest_s = max(self.slowest_s, seconds)
        self.answers += 1
        if seconds > FREE_WITHIN_S:
            self.failures.append(f"the model was free after {seconds:.2f} s")

    async def back(self) -> None:
        """Wait until the model answers again."""
        began = time.perf_counter()
        while not (await self.server.client.get("/ready")).json().get("model_ready"):
            if time.perf_counter() - began > BACK_WITHIN_S:
                self.failures.append("the model did not come back")
                return
            await asyncio.sleep(TICK_S)


def _cpu_s(pid: int | None) -> float:
    """Seconds of processor time of a process (proc(5), `stat`: fields 14 and 15)."""
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """All trials, each kind on a server of its own."""
    results: dict[str, Any] = {"benchmark": "chaos_model", "deadline_s": DEADLINE_S}
    accidents: dict[str, tuple[int, Callable[[Trials], Callable[[int], Awaitable[None]]]]] = {
        "kills": (arguments.kills, lambda trials: trials.kill),
        "hangs": (arguments.hangs, lambda trials: trials.hang),
        "floods": (arguments.floods, lambda trials: trials.flood),
        "disconnects": (arguments.disconnects, lambda trials: trials.leave),
    }
    for name, (count, accident) in accidents.items():
        if not count:
            continue
        # Who leaves leaves a long answer.
        deadline_s = "30" if name == "disconnects" else str(DEADLINE_S)
        tokens = "512" if name == "disconnects" else "96"
        began = time.monotonic()
        async with served(
            arguments.data_dir, MODEL=arguments.model, EXPLAIN_S=deadline_s, ANSWER_TOKENS=tokens
        ) as server:
            trials = Trials(server, arguments.seed)
            happens = accident(trials)
            for turn in range(1, count + 1):
                await happens(turn)
                if turn % 10 == 0:
                    await trials.back()
            await trials.back()
        results[name] = {
            "times": count,
            "answers": trials.answers,
            "kinds": trials.kinds,
            "slowest_s": round(trials.slowest_s, 2),
            "failures": len(trials.failures),
            "first_failures": trials.failures[:5],
        }
        print(f"{name:12} {time.monotonic() - began:7.1f} s  {results[name]}", flush=True)
    return results


def main() -> int:
    """Run the chosen trials; return 1 if any failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--hangs", type=int, default=200)
    parser.add_argument("--floods", type=int, default=200)
    parser.add_argument("--disconnects", type=int, default=50)
    parser.add_argument("--model", default="tiny", help="as LUTRIN_MODEL")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data-dir", type=Path, help="holds an index; without it one book is read first")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.data_dir is None:
            arguments.data_dir = Path(folder) / "data"
            ingested(arguments.data_dir, CORPUS / "robot-lab-safety-handbook")
        results = asyncio.run(run(arguments))
    print(json.dumps(results))
    return int(any(found["failures"] for found in results.values() if isinstance(found, dict)))


if __name__ == "__main__":
    sys.exit(main())
