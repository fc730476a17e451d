"""The cost of sharing: the calls of several servers to PostgreSQL for each question.

`python -m bench.shared` starts a cluster of its own on the loopback interface; DATABASE_URL names another one.
"""

import asyncio
import os
import statistics
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import ExitStack

from tests.remote.postgres import cluster, database

from evaluation.memory_chat import MemoryChatStore
from lutrin.chats.key import KeySeal, new_key
from lutrin.records import ChatMessage
from lutrin_remote.postgres_chats import PostgresChatStore, SharedDatabase

CALLS = 2000
AT_ONCE = (1, 16)
TEXT = "The ballast cycle is the sequence in which the robot floods its tank, sinks, and pumps it empty to rise. " * 6


def turn(session: str) -> list[ChatMessage]:
    """A question and its answer."""
    created = "2026-11-21T10:00:00.000+00:00"
    return [
        ChatMessage(id=uuid.uuid4().hex, session_id=session, role=role, text=TEXT, created=created)
        for role in ("user", "assistant")
    ]


async def measure(name: str, at_once: int, call: Callable[[int], Awaitable[object]]) -> None:
    """Print calls a second and waits of many calls by a number of callers."""
    waits: list[float] = []
    numbers = iter(range(CALLS))

    async def caller() -> None:
        for number in numbers:
            began_s = time.perf_counter()
            await call(number)
            waits.append(1000 * (time.perf_counter() - began_s))

    began_s = time.perf_counter()
    await asyncio.gather(*(caller() for _ in range(at_once)))
    rate = CALLS / (time.perf_counter() - began_s)
    p95 = statistics.quantiles(waits, n=20)[-1]
    print(f"| {name} | {at_once} | {statistics.median(waits):.1f} | {p95:.1f} | {rate:.0f} |")


async def run(url: str) -> None:
    """All calls, alone and in company; the last row is the same turn kept in memory."""
    key = new_key()
    shared = await SharedDatabase.open(url, KeySeal(key), bytes.fromhex(key))
    chats, memory = await PostgresChatStore.open(url, key), MemoryChatStore()
    event = TEXT.encode()
    print("| call | at once | median ms | p95 ms | calls/s |\n|---|---|---|---|---|")
    for at_once in AT_ONCE:
        await measure("count a question", at_once, lambda n: shared.admit([(f"s{n % 500}", 1000), ("peer", 10**6)]))
        await measure("keep an event", at_once, lambda n: shared.keep(f"t{n // 8}", "a", n % 8 + 1, [event]))
        await measure("recall a stream", at_once, lambda n: shared.recall(f"t{n // 8}", "a"))
        await measure("store a turn", at_once, lambda n: chats.append(f"s{n % 500}", turn(f"s{n % 500}")))
        await measure("read a conversation", at_once, lambda n: chats.history(f"s{n % 500}"))
    await measure("store a turn in memory", 1, lambda n: memory.append(f"s{n % 500}", turn(f"s{n % 500}")))
    await shared.close()
    await chats.close()


async def main() -> None:
    """Measure on the database that is named, or on a new one."""
    given = os.environ.get("DATABASE_URL", "")
    if given:
        await run(given)
        return
    with ExitStack() as stack:
        server = await asyncio.to_thread(stack.enter_context, cluster())
        async with database(server) as url:
            await run(url)


if __name__ == "__main__":
    asyncio.run(main())
