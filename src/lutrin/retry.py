"""Retries calls to remote services after a pause, within the caller's time, if the trouble may pass.

By hand: with tenacity both rules, the pause that a service asks for and the deadline that counts the next pause, would
be callbacks of our own, as long as this function.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 10.0


async def call_again(
    call: Callable[[], Awaitable[T]], *, patience_s: float, pause_s: Callable[[Exception], float | None]
) -> T:
    """Return the result of a call that may need several attempts.

    Pauses double from `FIRST_PAUSE_S`, each shortened at random by up to one half, so that many callers who failed
    together do not come back together (AWS Architecture Blog, "Exponential Backoff And Jitter", 2015). A pause
    requested by a service is observed in full.

    Args:
        call: Made anew for each try.
        patience_s: Seconds from now in which the last attempt must begin.
        pause_s: Least pause that the service requests for an error (0: none); None: a retry is useless.
    """
    end_s = time.monotonic() + patience_s
    step_s = FIRST_PAUSE_S
    while True:
        try:
            return await call()
        except Exception as error:
            asked_s = pause_s(error)
            if asked_s is None:
                raise
            wait_s = max(asked_s, step_s * random.uniform(0.5, 1.0))  # noqa: S311 - spreads load, guards nothing
            if time.monotonic() + wait_s > end_s:
                raise
        await asyncio.sleep(wait_s)
        step_s = min(2 * step_s, LONGEST_PAUSE_S)
