"""Work for readers that takes longer than the event loop can spare: in threads of its own, kept, and done once.

What was computed is kept by what it was computed from. Whoever asks for it while it is computed gets the same result.
One address has one thread at most, so that the work of one does not wait for the work that another has piled up.
"""

import asyncio
import contextvars
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from lutrin.errors import RateLimited
from lutrin.messages import TOO_MUCH_WORK
from lutrin.serve.budget import pay, payer, run_charged, settle

T = TypeVar("T")

THREADS = 2
"""Python computes in one thread at a time; the second is for those who wait for a child process."""
MOST_WAITING = 64
"""Pieces of work that one address may have waiting: more than a class opens at once."""
MOST_KEPT_BYTES = 32 * 1024 * 1024


class Same:
    """A value as part of a key, kept alive by it and equal to itself alone: nothing large is hashed or compared."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


class Workshop:
    """Does work in threads, and keeps results. Raises RateLimited for an address with too much work, or no budget."""

    def __init__(self, most_kept_bytes: int = MOST_KEPT_BYTES) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="lutrin-work")
        self._free = asyncio.Semaphore(THREADS)
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}
        self._most_kept_bytes = most_kept_bytes
        self._kept_bytes = 0
        self._kept: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._running: dict[Hashable, asyncio.Task[Any]] = {}

    async def once(self, key: Hashable, work: Callable[[], T], size_of: Callable[[T], int] = len) -> T:  # type: ignore[assignment]  # len fits what has a length, which is most
        """Return what the work gives, from before if it was done before."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key][0]  # type: ignore[return-value]  # the key names the work, and with it the type
        while (running := self._running.get(key)) is not None:
            try:
                return await asyncio.shield(running)
            except RateLimited:
                continue  # whoever asked first has used their budget; this reader's is another one
        running = self._running[key] = asyncio.create_task(self._keep(key, self.do(work), size_of))
        running.add_done_callback(lambda task: self._ended(key, task))
        return await asyncio.shield(running)

    def _ended(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        del self._running[key]
        if not task.cancelled():
            task.exception()  # those who wait for it get it; there may be nobody left

    async def do(self, work: Callable[[], T]) -> T:
        """Run a function in a thread, and charge its processor time to the reader it is for."""
        peer = payer()
        turn, waiting = self._turns.get(peer, (None, 0))
        if waiting >= MOST_WAITING:
            raise RateLimited(TOO_MUCH_WORK, retry_after_s=1)
        turn = turn or asyncio.Lock()
        self._turns[peer] = (turn, waiting + 1)
        try:
            async with turn, self._free:
                pay()
                context = contextvars.copy_context()
                loop = asyncio.get_running_loop()
                result = await loop.run_in_executor(self._threads, context.run, run_charged, work)
                settle()
                return result
        finally:
            turn, waiting = self._turns[peer]
            if waiting > 1:
                self._turns[peer] = (turn, waiting - 1)
            else:
                del self._turns[peer]

    async def _keep(self, key: Hashable, work: Awaitable[T], size_of: Callable[[T], int]) -> T:
        result = await work
        size = size_of(result)
        if size <= self._most_kept_bytes:
            self._kept[key] = (result, size)
            self._kept_bytes += size
            while self._kept_bytes > self._most_kept_bytes:
                _, (_, dropped) = self._kept.popitem(last=False)
                self._kept_bytes -= dropped
        return result

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)
