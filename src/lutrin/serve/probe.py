"""Checks whether questions are answered by searching for one, through the same turns as any reader's."""

import asyncio
import contextvars
from collections.abc import Callable

from lutrin import stages
from lutrin.errors import LutrinError
from lutrin.records import Question
from lutrin.serve.services import Retrieval

PROBE = Question(text="What does the first chapter say?", peer="\0probe")
"""Text of the search, from a peer of its own."""
KEPT_S = 5.0
"""How long a result is valid: repeated requests cost one search in this time."""
WAIT_S = 2.0
"""How long the first caller waits for a result."""
STUCK_S = 20.0
"""A search that waits or runs for longer counts as stuck."""
SLOW_S = 10.0
"""A stage that runs for longer is named in the report."""


class Probe:
    """Searches now and then, for `/ready`; `trouble` is empty while searches succeed."""

    def __init__(self, retrieve: Retrieval, clock: Callable[[], float]) -> None:
        self._retrieve = retrieve
        self._clock = clock
        self._trouble = ""
        self._began_s = self._ended_s = float("-inf")
        self._running: asyncio.Task[None] | None = None
        self._closed = False

    async def trouble(self) -> str:
        """Why questions are not answered, for the operator; empty if they are."""
        now_s = self._clock()
        is_idle = self._running is None or self._running.done()
        if is_idle and not self._closed and now_s - self._ended_s >= KEPT_S:
            self._began_s = now_s
            # In a separate context: no reader pays for it, and no answer's timings include it.
            self._running = asyncio.create_task(self._search(), name="probe", context=contextvars.Context())
        if self._running is not None and not self._running.done():
            if self._clock() - self._began_s < STUCK_S:
                await asyncio.wait({self._running}, timeout=WAIT_S)
            waited_s = self._clock() - self._began_s
            if not self._running.done() and waited_s >= STUCK_S:
                return f"No search has ended for {waited_s:.0f} s{_running_stages()}."
        return self._trouble

    async def close(self) -> None:
        """Stop searching, for good."""
        self._closed = True
        if self._running is not None:
            self._running.cancel()
            await asyncio.wait({self._running})

    async def _search(self) -> None:
        try:
            await self._retrieve(PROBE)
        except LutrinError as error:
            self._trouble = error.detail
        except Exception as error:  # noqa: BLE001 - any failure would also fail a reader's question
            self._trouble = f"A search fails ({type(error).__name__})."
        else:
            self._trouble = ""
        finally:
            self._ended_s = self._clock()


def _running_stages() -> str:
    slow = stages.running_for(SLOW_S)
    return f" ({', '.join(f'{name} for {seconds:.0f} s' for name, seconds in slow)})" if slow else ""
