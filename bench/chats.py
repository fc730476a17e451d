"""The cost of reading and storing a conversation: aiosqlite, beside SQLAlchemy's engine in threads.

    python bench/chats.py [--conversations 200] [--rounds 5]

The store and its statements are the same both times; only what runs them differs. A conversation is what a question
costs: its history is read, then it is stored with its answer. Rounds alternate, so a busy machine is busy for both.
Prints milliseconds of processor time a conversation, of the main thread and of the whole process; the last line is
JSON.
"""

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.pool import QueuePool
from sqlcipher3 import dbapi2

from lutrin import sqlite
from lutrin.chats.engine import Database, Execute, SqlCipher, Values, migrate
from lutrin.chats.key import Seal, new_key
from lutrin.chats.store import ChatTables, Room
from lutrin.records import ChatMessage, ChatOrigin, Citation

T = TypeVar("T")
THREADS = 4


class InThreads:
    """Each transaction as one call in a thread, by SQLAlchemy's engine."""

    def __init__(self, path: Path, key: str) -> None:
        def open_file() -> sqlite.Connection:
            connection = sqlite.connect(path, key=key)
            connection.execute("PRAGMA secure_delete = ON")
            return connection

        self._threads = ThreadPoolExecutor(THREADS)
        self._engine = create_engine(
            "sqlite://", creator=open_file, module=dbapi2, poolclass=QueuePool, pool_size=THREADS, max_overflow=0
        )
        event.listen(self._engine, "begin", self._begin)
        self._readers = self._engine.execution_options(lutrin_begin="BEGIN")

    @staticmethod
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(str(connection.get_execution_options().get("lutrin_begin", "BEGIN IMMEDIATE")))

    async def read(self, statement: str, values: Values) -> list[Any]:
        """As `Database.read`."""

        def transaction() -> list[Any]:
            with self._readers.begin() as connection:
                return list(connection.execute(text(statement), dict(values)).all())

        return await asyncio.get_running_loop().run_in_executor(self._threads, transaction)

    async def write(self, work: Callable[[Execute], Awaitable[T]]) -> T:
        """As `Database.write`; the work never waits, so that one step in the thread is all of it."""

        def transaction() -> T:
            with self._engine.begin() as connection:
                steps = work(partial(execute_at_once, connection)).__await__()
                try:
                    next(steps)
                except StopIteration as ended:
                    result: T = ended.value
                    return result
                raise AssertionError("the work waited for something")

        return await asyncio.get_running_loop().run_in_executor(self._threads, transaction)

    async def close(self) -> None:
        """Release the file."""
        self._threads.shutdown()
        self._engine.dispose()


async def execute_at_once(connection: Connection, statement: str, values: Values) -> list[Any]:
    """Run one statement in the thread that calls, as an `Execute`."""
    result = connection.execute(text(statement), dict(values))
    return list(result.all()) if result.returns_rows else []


def conversation(name: str) -> tuple[ChatMessage, ChatMessage]:
    """A question and an answer of usual size, with three citations."""
    created = "2026-11-21T10:00:00.000+00:00"
    cited = tuple(
        Citation(
            n=n,
            chunk_id=f"{name}-{n}",
            book="book",
            chapter="Sensors",
            section="3.2",
            section_title="What a rangefinder measures",
            filename="03-sensors.md",
            page=None,
            url="/read/book/03-sensors#what-a-rangefinder-measures",
            quote="A rangefinder measures the time that light takes. " * 4,
            relevance_score=0.8,
        )
        for n in (1, 2, 3)
    )
    asked = ChatMessage(id=f"{name}-q", session_id=name, role="user", text="What is it for? " * 4, created=created)
    said = ChatMessage(
        id=f"{name}-a", session_id=name, role="assistant", text="It measures. " * 40, created=created, citations=cited
    )
    return asked, said


async def measure(database: Database, count: int, name: str) -> dict[str, float]:
    """Milliseconds of one conversation: processor time of main thread and process, and the clock's median."""
    store = ChatTables(database, Seal(), room=Room(1 << 20, 1 << 24))
    keys = [f"{name}-{n}" for n in range(count)]
    origins = [ChatOrigin(session_id=key, owner=f"{n % 20:064d}", book="book") for n, key in enumerate(keys)]
    await store.record("warm", ChatOrigin(session_id="warm"), conversation(f"{name}-warm"))
    await store.history("warm")
    main, process, waited = time.thread_time(), time.process_time(), []
    for key, origin in zip(keys, origins, strict=True):
        begun = time.perf_counter()
        await store.history(key)
        await store.record(key, origin, conversation(key))
        waited.append(time.perf_counter() - begun)
    each = 1000 / count
    return {
        "main_ms": (time.thread_time() - main) * each,
        "process_ms": (time.process_time() - process) * each,
        "median_ms": statistics.median(waited) * 1000,
    }


async def crowd(database: Database, count: int, name: str) -> dict[str, float]:
    """The same, all at once: what each costs, and how long the slowest waits."""
    store = ChatTables(database, Seal(), room=Room(1 << 20, 1 << 24))

    async def one(key: str) -> float:
        begun = time.perf_counter()
        await store.history(key)
        await store.record(key, ChatOrigin(session_id=key, owner="", book="book"), conversation(key))
        return time.perf_counter() - begun

    process = time.process_time()
    waited = await asyncio.gather(*(one(f"{name}-{n}") for n in range(count)))
    return {"process_ms": (time.process_time() - process) * 1000 / count, "slowest_ms": max(waited) * 1000}


async def compare(conversations: int, rounds: int) -> dict[str, dict[str, float]]:
    """Both ways in turn; of each figure the median of the rounds."""
    figures: dict[str, list[dict[str, float]]] = {"aiosqlite": [], "threads": []}
    for number in range(rounds):
        for way in figures if number % 2 == 0 else reversed(figures):
            with tempfile.TemporaryDirectory() as folder:
                path, key = Path(folder) / "chats.db", new_key()
                migrate(path, key)
                database: Database = await SqlCipher.open(path, key) if way == "aiosqlite" else InThreads(path, key)
                alone = await measure(database, conversations, f"{way}{number}")
                together = await crowd(database, conversations, f"{way}{number}-crowd")
                await database.close()
                figures[way].append(alone | {f"crowd_{name}": value for name, value in together.items()})
    return {
        way: {name: round(statistics.median(run[name] for run in found), 2) for name in found[0]}
        for way, found in figures.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    found = asyncio.run(compare(arguments.conversations, arguments.rounds))
    for way, figures in found.items():
        print(f"{way:10}", "  ".join(f"{name} {value:7.2f}" for name, value in figures.items()))
    ratio = found["aiosqlite"]["process_ms"] / found["threads"]["process_ms"]
    print(json.dumps({"benchmark": "chats", **found, "process_ratio": round(ratio, 2)}))


if __name__ == "__main__":
    main()
