"""Background tasks of a server: each is restarted when it fails, and the server can report which ones fail."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager

from lutrin.errors import LutrinError
from lutrin.log import get_logger, places_of

FIRST_PAUSE_S = 1.0
"""Seconds before a failed task is restarted; each further failure in a row doubles them."""
LONGEST_PAUSE_S = 60.0
STEADY_S = 120.0
"""Seconds after which a running task counts as recovered: more than its pause can have grown to."""

Work = Callable[[], Coroutine[None, None, None]]


class Background:
    """Supervises tasks.

    Args:
        first_pause_s: Seconds before a task is restarted after its first failure.
        steady_s: Seconds that it must run to count as recovered.
        longest_pause_s: Most seconds before a task is restarted.
    """

    def __init__(
        self,
        first_pause_s: float = FIRST_PAUSE_S,
        steady_s: float = STEADY_S,
        longest_pause_s: float = LONGEST_PAUSE_S,
    ) -> None:
        self._first_pause_s = first_pause_s
        self._steady_s = steady_s
        self._longest_pause_s = longest_pause_s
        self._troubles: dict[str, str] = {}

    @property
    def troubles(self) -> Mapping[str, str]:
        """Why the latest run of a task failed, by the task's name, unless it has recovered."""
        return dict(self._troubles)

    @asynccontextmanager
    async def running(self, work: Work, *, name: str) -> AsyncIterator[None]:
        """Run a task while the block runs. Its errors are logged, and the task is restarted after a pause."""
        task = self.start(work, name=name)
        try:
            yield
        finally:
            await self.stop(task)

    def start(self, work: Work, *, name: str) -> "asyncio.Task[None]":
        """Start a task like `running`; `stop` ends it."""
        return asyncio.create_task(self._supervise(work, name), name=name)

    async def stop(self, task: "asyncio.Task[None]") -> None:
        """End a task that `start` returned, and wait until it has ended."""
        task.cancel()
        await asyncio.wait({task})
        self._troubles.pop(task.get_name(), None)

    async def _supervise(self, work: Work, name: str) -> None:
        log, pause_s = get_logger("background"), self._first_pause_s
        loop = asyncio.get_running_loop()
        while True:
            began_s = loop.time()
            healed = loop.call_later(self._steady_s, self._troubles.pop, name, None)
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - no failure may end what others rely on, nor be silent
                # For an unforeseen error, log its type and places, not its text, which may quote a reader.
                detail = error.detail if isinstance(error, LutrinError) else type(error).__name__
                self._troubles[name] = detail
                if loop.time() - began_s > self._steady_s:
                    pause_s = self._first_pause_s
                places = places_of(error.__traceback__)
                log.error("task_failed", task=name, error=detail, places=places, again_in_s=pause_s)  # noqa: TRY400 - see above
            else:
                self._troubles.pop(name, None)
                return
            finally:
                healed.cancel()
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, self._longest_pause_s)
