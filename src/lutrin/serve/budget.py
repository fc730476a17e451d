"""A computing budget for each network address, and for all together, independent of what they request.

A request costs the processor time of its steps on the event loop, and of the threads and child processes that worked
for it (`charge`). Costs decay with time. An address whose costs exceed its limit is refused, and the refusal waits a
second, so that a loop over many connections asks once a second on each. While all together use more than the machine
can spare, addresses above the mean are refused.

Longer work runs in separate threads, once, and is cached by its inputs (`Workshop`). One address has at most one
thread, so that its work does not wait behind a pile of another's.
"""

import asyncio
import contextvars
import math
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Generator, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import lru_cache
from http import HTTPStatus
from typing import Any, TypeVar

import msgspec
from litestar.types import ASGIApp, Receive, Scope, Send

from lutrin.errors import RateLimited
from lutrin.messages import TOO_MUCH_WORK
from lutrin.serve import html
from lutrin.serve.limits import peer_of_scope, remember
from lutrin.serve.problems import MEDIA_TYPE, Problem, prefers_html
from lutrin.threads import to_the_end

T = TypeVar("T")

QUESTION_S = 0.05
"""Processor time allowed for each question a minute of LUTRIN_RATE_PEER_PER_MIN: with 300, a quarter of a core."""
SEARCH_S = 0.3
"""Processor time of a usual search on a slow machine."""
ALL_SHARE = 0.7
"""Share of one core for all addresses together: the event loop is one thread, and must not be its own bottleneck."""
ALL_BURST_S = 5.0
REFUSAL_S = 1.0
"""How long a refusal waits. It costs nothing, and its client sends nothing on that connection in the meantime."""
MOST_PEERS = 10_000
MEAN_S = 1.0
"""How long the mean of all addresses is cached: recomputing it for every request would cost too much."""
UNMETERED = frozenset({"/health"})


class Meter:
    """The cost of one request."""

    def __init__(self, peer: str, budget: "Budget | None" = None) -> None:
        self.peer = peer
        self.spent_s = 0.0
        self.longest_s = 0.0
        """Longest step on the event loop, for which everybody else waited."""
        self._budget = budget
        self._paid_s = 0.0

    def pay(self) -> float:
        """Pay the costs so far, on the event loop only; return seconds until the address may spend more."""
        if self._budget is None:
            return 0.0
        owed_s, self._paid_s = self.spent_s - self._paid_s, self.spent_s
        self._budget.spend(self.peer, owed_s)
        return self._budget.wait_s(self.peer)


_meter: ContextVar[Meter | None] = ContextVar("lutrin_meter", default=None)


def charge(seconds: float) -> None:
    """Add processor time to the request that is being answered in this context, if there is one."""
    if (meter := _meter.get()) is not None:
        meter.spent_s += seconds


def run_for_request(work: Callable[[], T]) -> T:
    """Do work in a thread other than the event loop's; this context's request pays for its processor time."""
    start_s = time.thread_time()
    try:
        return work()
    finally:
        charge(time.thread_time() - start_s)


async def beside_loop(work: Callable[[], T]) -> T:
    """Do work in a thread, so that it does not block the event loop; see `run_for_request`."""
    return await asyncio.to_thread(run_for_request, work)


def charge_search(seconds: float) -> None:
    """Charge the part of a search above a usual one, which the rate limits allow for."""
    charge(max(0.0, seconds - SEARCH_S))
    settle()


def payer() -> str:
    """The address behind the request of this context; empty without one."""
    meter = _meter.get()
    return meter.peer if meter is not None else ""


def settle() -> None:
    """Pay what this context's request has spent so far."""
    if (meter := _meter.get()) is not None:
        meter.pay()


def pay() -> None:
    """Like `settle`, before spending more; raises RateLimited if its address has no budget left."""
    meter = _meter.get()
    wait_s = meter.pay() if meter is not None else 0.0
    if wait_s > 0:
        raise RateLimited(TOO_MUCH_WORK, retry_after_s=max(1, math.ceil(wait_s)))


class Budget:
    """Costs of each address and of all, which decay with time; a rate of 0 means no limit and no budget."""

    def __init__(self, peer_per_min: int, clock: Callable[[], float]) -> None:
        self.limited = peer_per_min > 0
        self._burst_s = peer_per_min * QUESTION_S
        self._share = self._burst_s / 60.0
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Address -> undecayed seconds, and the time of the last update."""
        self._all: tuple[float, float] = (0.0, 0.0)
        self._mean: tuple[float, float] = (0.0, -MEAN_S)

    def spend(self, peer: str, seconds: float) -> None:
        """Add to the costs of an address."""
        now_s = self._clock()
        remember(self._levels, peer, (self._level_s(peer, now_s) + seconds, now_s), MOST_PEERS)
        self._all = (self._all_s(now_s) + seconds, now_s)

    def wait_s(self, peer: str) -> float:
        """Seconds until this address may ask again; 0 if it may now."""
        now_s = self._clock()
        level_s = self._level_s(peer, now_s)
        if level_s > self._burst_s:
            return (level_s - self._burst_s) / self._share
        over_s = self._all_s(now_s) - ALL_BURST_S
        if over_s > 0 and level_s > self._mean_s(now_s):
            return over_s / ALL_SHARE
        return 0.0

    def _level_s(self, peer: str, now_s: float) -> float:
        level_s, then_s = self._levels.get(peer, (0.0, now_s))
        return max(0.0, level_s - (now_s - then_s) * self._share)

    def _all_s(self, now_s: float) -> float:
        return max(0.0, self._all[0] - (now_s - self._all[1]) * ALL_SHARE)

    def _mean_s(self, now_s: float) -> float:
        """Mean cost of the addresses that have any, at most a second old; drops those without."""
        if now_s - self._mean[1] < MEAN_S:
            return self._mean[0]
        levels = [(peer, self._level_s(peer, now_s)) for peer in self._levels]
        for peer in [peer for peer, level_s in levels if level_s <= 0]:
            del self._levels[peer]
        self._mean = (sum(level_s for _, level_s in levels) / max(1, len(self._levels)), now_s)
        return self._mean[0]


def budgeting(app: ASGIApp, budget: Budget, trusted: Sequence[str]) -> ASGIApp:
    """Wrap an application so that each request is charged to its address."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        # Only HTTP requests have a method.
        if not budget.limited or "method" not in scope or scope["path"] in UNMETERED:
            await app(scope, receive, send)
            return
        peer = peer_of_scope(scope, trusted)
        wait_s = budget.wait_s(peer)
        if wait_s > 0:
            await _refuse(scope, send, max(1, math.ceil(wait_s)))
            return
        meter = Meter(peer, budget)
        try:
            await with_meter(app(scope, receive, send), meter)
        finally:
            meter.pay()

    return answer


async def with_meter(work: Awaitable[None], meter: Meter) -> None:
    """Await something, and count its cost and its charges."""
    token = _meter.set(meter)
    try:
        await _MeteredCoroutine(work, meter)
    finally:
        _meter.reset(token)


class _MeteredCoroutine:
    """A coroutine whose steps on the event loop are timed."""

    def __init__(self, work: Awaitable[None], meter: Meter) -> None:
        self._work = work
        self._meter = meter

    def __await__(self) -> Generator[Any, Any, None]:
        meter, work = self._meter, self._work.__await__()
        step: Callable[[Any], Any] = work.send
        value: Any = None
        while True:
            start_s = time.thread_time()
            try:
                awaited = step(value)
            except StopIteration:
                return
            finally:
                spent_s = time.thread_time() - start_s
                meter.spent_s += spent_s
                meter.longest_s = max(meter.longest_s, spent_s)
            try:
                value = yield awaited
                step = work.send
            except BaseException as error:  # noqa: BLE001 - a cancellation, too, belongs to the coroutine inside
                step, value = work.throw, error


async def _refuse(scope: Scope, send: Send, retry_after_s: int) -> None:
    await asyncio.sleep(REFUSAL_S)
    accept = next((value for name, value in scope["headers"] if name == b"accept"), b"").decode("latin-1")
    wants_page = prefers_html(accept)
    status = HTTPStatus.TOO_MANY_REQUESTS
    body = _page() if wants_page else msgspec.json.encode(
        Problem(title=status.phrase, status=status, detail=TOO_MUCH_WORK, retry_after_s=retry_after_s)
    )  # fmt: skip
    headers = [
        (b"content-type", b"text/html; charset=utf-8" if wants_page else MEDIA_TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", str(retry_after_s).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


@lru_cache(maxsize=1)
def _page() -> bytes:
    return html.trouble(HTTPStatus.TOO_MANY_REQUESTS, TOO_MUCH_WORK).encode()


THREADS = 2
"""Python computes in one thread at a time; the second one is for work that waits for a child process."""
MOST_WAITING = 64
"""Pieces of work that may wait for one address: more than a class opens at once."""
MOST_KEPT_BYTES = 32 * 1024 * 1024


class Same:
    """A value as part of a key, kept alive and equal only to itself: nothing large is hashed or compared."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self._value is other._value

    def __hash__(self) -> int:
        return id(self._value)


class Workshop:
    """Does work in threads, and caches results. Raises RateLimited for an address with too much work, or no budget."""

    def __init__(self, most_kept_bytes: int = MOST_KEPT_BYTES) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="lutrin-work")
        self._free = asyncio.Semaphore(THREADS)
        self._turns: dict[str, tuple[asyncio.Lock, int]] = {}
        self._most_kept_bytes = most_kept_bytes
        self._kept_bytes = 0
        self._results: OrderedDict[Hashable, tuple[object, int]] = OrderedDict()
        self._running: dict[Hashable, asyncio.Task[Any]] = {}

    async def once(self, key: Hashable, work: Callable[[], T], size_of: Callable[[T], int] = len) -> T:  # type: ignore[assignment]  # len fits what has a length, which is most
        """Return the result of some work, from the cache if possible."""
        if key in self._results:
            self._results.move_to_end(key)
            return self._results[key][0]  # type: ignore[return-value]  # the key names the work, and with it the type
        # Skip a finished task: its failure would be raised at once, again and again.
        while (running := self._running.get(key)) is not None and not running.done():
            try:
                return await asyncio.shield(running)
            except RateLimited:
                continue  # the first to ask has used up a budget; this reader has another
        running = self._running[key] = asyncio.create_task(self._keep(key, self.do(work), size_of))
        running.add_done_callback(lambda task: self._on_end(key, task))
        return await asyncio.shield(running)

    def _on_end(self, key: Hashable, task: asyncio.Task[Any]) -> None:
        if self._running.get(key) is task:
            del self._running[key]
        if not task.cancelled():
            task.exception()  # those who wait for it get it, if any are left

    async def do(self, work: Callable[[], T]) -> T:
        """Run a function in a thread, and charge its processor time to its reader."""
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
                try:
                    # A reader who leaves keeps the turn while the thread runs, and pays for it.
                    return await to_the_end(loop.run_in_executor(self._threads, context.run, run_for_request, work))
                finally:
                    settle()
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
            self._results[key] = (result, size)
            self._kept_bytes += size
            while self._kept_bytes > self._most_kept_bytes:
                _, (_, dropped) = self._results.popitem(last=False)
                self._kept_bytes -= dropped
        return result

    def close(self) -> None:
        """Let the threads finish."""
        self._threads.shutdown(wait=False, cancel_futures=True)
