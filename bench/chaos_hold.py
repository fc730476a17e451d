"""Keep the streams of a hundred readers open for ten minutes: memory and handles must not grow.

    LUTRIN_MODEL=tiny python bench/chaos_hold.py [--readers 100] [--seconds 600]

The real server has one slot for its model and a deadline of ten minutes, so at any time nearly all readers wait in the
queue, each on an open stream with heartbeats; readers who get their answer ask again. Every ten seconds the resident
memory, handles and threads of the server and the model's process are read. The last line is JSON.
"""

import argparse
import asyncio
import itertools
import json
import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
from common import CORPUS, machine

from loadtests import server

BOOK = CORPUS / "physical-ai" / "01-part-1-foundations"
HELD = {"LUTRIN_MODEL_SLOTS": "1", "LUTRIN_EXPLAIN_S": "600", "LUTRIN_QUEUE_LIMIT": "1000"}
EVERY_S = 10.0
WARM_SHARE = 0.2
"""Share of the run that is ignored because pools and caches still fill."""
MOST_MEMORY = 1.05
MOST_HANDLES = 2
TOPICS = (
    "a costmap",
    "the sensorimotor loop",
    "a robot",
    "an actuator",
    "a sensor",
    "embodied intelligence",
    "a gripper",
)


@dataclass(frozen=True)
class State:
    """Memory, handles and threads of processes at one moment."""

    open_streams: int
    resident_mb: float
    handles: int
    threads: int


class Readers:
    """Ask, hold the stream until the answer is there, ask again."""

    def __init__(self, address: str, count: int) -> None:
        self._address = address
        self._count = count
        self._open = 0
        self.outcomes: Counter[str] = Counter()
        self.heartbeats = 0

    @property
    def open_streams(self) -> int:
        """Streams that are open now."""
        return self._open

    async def read(self, seconds: float) -> None:
        """Let all of them read for some time, then cut the open streams."""
        try:
            async with asyncio.timeout(seconds):
                await asyncio.gather(*(self._reader(number) for number in range(self._count)))
        except TimeoutError:
            return

    async def _reader(self, number: int) -> None:
        async with httpx.AsyncClient(base_url=self._address, timeout=60, trust_env=False) as client:
            for turn in itertools.count():
                topic = TOPICS[(number + turn) % len(TOPICS)]
                body = {"message": f"What is {topic}, asks {number} for the {turn}th time?", "session_id": f"r{number}"}
                try:
                    await self._hold(client, body)
                except httpx.HTTPError as error:
                    self.outcomes[type(error).__name__] += 1

    async def _hold(self, client: httpx.AsyncClient, body: dict[str, str]) -> None:
        async with client.stream("POST", "/chat", json=body, headers={"Accept": "text/event-stream"}) as reply:
            self._open += 1
            try:
                last = ""
                async for line in reply.aiter_lines():
                    self.heartbeats += line.startswith(": ")
                    last = line.removeprefix("event: ") if line.startswith("event: ") else last
                self.outcomes[last if reply.is_success else str(reply.status_code)] += 1
            finally:
                self._open -= 1


def family(pid: int) -> list[int]:
    """A process and its children (proc(5): `task/TID/children`)."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    return [pid, *(item for child in children for item in family(int(child)))]


def look(pid: int, open_streams: int) -> State:
    """Measure the server and its model's process."""
    resident, handles, threads = 0.0, 0, 0
    for member in family(pid):
        lines = Path(f"/proc/{member}/status").read_text(encoding="utf-8").splitlines()
        fields = {name: value for name, _, value in (line.partition(":") for line in lines)}
        resident += int(fields["VmRSS"].split()[0]) / 1024
        threads += int(fields["Threads"])
        handles += sum(1 for _ in Path(f"/proc/{member}/fd").iterdir())
    return State(open_streams, resident, handles, threads)


async def hold(address: str, pid: int, readers: int, seconds: float) -> tuple[Readers, list[State], State]:
    """Let readers read; return the states meanwhile, and one after all have left."""
    crowd = Readers(address, readers)
    reading = asyncio.create_task(crowd.read(seconds))
    states = []
    end_s = time.monotonic() + seconds
    while (left_s := end_s - time.monotonic()) > EVERY_S:
        await asyncio.sleep(min(EVERY_S, left_s))
        states.append(look(pid, crowd.open_streams))
        print(f"{seconds - left_s + EVERY_S:6.0f} s  {states[-1]}", flush=True)
    await reading
    await asyncio.sleep(3)
    return crowd, states, look(pid, 0)


def grown(states: Sequence[State]) -> tuple[float, float, float]:
    """From the first third after warming up to the last third: ratio of memory, handles more, threads more."""
    warm = states[int(len(states) * WARM_SHARE) :]
    third = max(1, len(warm) // 3)
    early, late = warm[:third], warm[-third:]
    resident = [statistics.median(item.resident_mb for item in part) for part in (early, late)]
    handles = [statistics.median(item.handles - item.open_streams for item in part) for part in (early, late)]
    threads = [statistics.median(item.threads for item in part) for part in (early, late)]
    return resident[1] / resident[0], handles[1] - handles[0], threads[1] - threads[0]


def main() -> int:
    """Hold, and say whether anything grew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=600)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lutrin-hold-") as folder:
        place = Path(folder)
        model = os.environ.get("LUTRIN_MODEL", "tiny")
        environment = server.settings(place / "data", model) | HELD | {"LUTRIN_LOG_LEVEL": "warning"}
        server.ingest(BOOK, environment)
        with server.running(environment, place / "server.log") as (address, pid):
            before = look(pid, 0)
            crowd, states, after = asyncio.run(hold(address, pid, arguments.readers, arguments.seconds))
    memory, handles, threads = grown(states)
    fewest = min(item.open_streams for item in states[1:] or states)
    answered = crowd.outcomes["done"]
    met = (
        memory <= MOST_MEMORY and handles <= MOST_HANDLES and threads <= MOST_HANDLES
        and set(crowd.outcomes) <= {"done"} and fewest >= 0.9 * arguments.readers
    )  # fmt: skip
    half = states[len(states) // 2]
    shown = " / ".join(f"{item.resident_mb:.0f}" for item in (before, half, states[-1]))
    rows = [
        ("streams open at once, fewest seen", fewest, f">= {0.9 * arguments.readers:g}"),
        ("answers", answered, ""),
        ("heartbeats", crowd.heartbeats, ""),
        ("failed", crowd.outcomes.total() - answered, "0"),
        ("resident MB, before / at half time / at the end", shown, ""),
        ("memory late / early", f"{memory:.3f}", f"<= {MOST_MEMORY}"),
        ("handles beside the streams, more", f"{handles:g}", f"<= {MOST_HANDLES}"),
        ("threads, more", f"{threads:g}", f"<= {MOST_HANDLES}"),
        ("handles before / after all have left", f"{before.handles} / {after.handles}", ""),
    ]  # fmt: skip
    print("\n| figure | value | goal |\n|---|---|---|")
    print("".join(f"| {name} | {value} | {goal} |\n" for name, value, goal in rows))
    about = machine("litestar", "uvicorn")
    report = {"benchmark": "chaos_hold", "machine": about, "model": model, "seconds": arguments.seconds}
    figures = {"memory": round(memory, 4), "handles": handles, "threads": threads, "outcomes": dict(crowd.outcomes)}
    print(json.dumps({**report, **figures, "fewest_open": fewest, "met": met}))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
