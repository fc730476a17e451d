"""Cancels a coroutine at a chosen wait, and lets time pass only when a test says so."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any


class _Counted:
    """A coroutine whose task is cancelled at its wait number `at`, or soon after."""

    def __init__(self, work: Coroutine[Any, Any, object], at: int, turns: int) -> None:
        self.reached = False
        self.task: asyncio.Task[None] | None = None
        self._work, self._at, self._turns = work, at, turns

    def __await__(self) -> Generator[Any, Any, object]:
        steps = self._work.__await__()
        step: Callable[[Any], Any] = steps.send
        value: Any = None
        for number in count():
            try:
                awaited = step(value)
            except StopIteration as end:
                return end.value
            if number == self._at:
                self.reached = True
                self._cancel_in(self._turns)
            try:
                value = yield awaited
                step = steps.send
            except BaseException as error:  # noqa: BLE001 - a cancellation, too, belongs to the coroutine inside
                step, value = steps.throw, error
        raise AssertionError("a coroutine ends")

    def _cancel_in(self, turns: int) -> None:
        loop = asyncio.get_running_loop()
        if turns:
            loop.call_soon(self._cancel_in, turns - 1)
        elif self.task is not None:
            loop.call_soon(self.task.cancel)


async def cancel_at(wait: int, work: Coroutine[Any, Any, object], *, turns: int = 0) -> bool:
    """Run a coroutine that is cancelled at its wait of this number, `turns` turns of the loop later.

    What it raises is lost.

    Returns:
        Whether it came to that wait.
    """
    counted = _Counted(work, wait, turns)

    async def run() -> None:
        await counted

    counted.task = asyncio.create_task(run(), name="cancelled at a wait")
    await asyncio.gather(counted.task, return_exceptions=True)
    return counted.reached


class _NoWait(selectors.SelectSelector):
    """Never waits: the time for which it would is added to the loop's clock."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Look for what has happened."""
        if timeout is None:
            raise RuntimeError("everybody waits for somebody else")
        self.now_s += max(0.0, timeout)
        return super().select(0)


class QuickLoop(asyncio.SelectorEventLoop):
    """An event loop without threads and waiting: its clock jumps to the next scheduled event.

    Where nothing falls due and everybody waits, it raises RuntimeError.
    """

    def __init__(self) -> None:
        self._leaping = _NoWait()
        super().__init__(self._leaping)

    def time(self) -> float:
        """Seconds."""
        return self._leaping.now_s


@contextmanager
def quick_loop() -> Iterator[QuickLoop]:
    """A loop whose clock leaps; it is the current one while the block runs."""
    loop = QuickLoop()
    try:
        asyncio.set_event_loop(loop)
        yield loop
    finally:
        asyncio.set_event_loop(None)
        loop.close()
