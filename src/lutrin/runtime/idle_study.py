"""Let the model study the books while nobody asks: start after a quiet time, stop as soon as a reader comes.

While the machine must save its battery, or no model is here that can, nothing starts either.
"""

import asyncio
from collections.abc import Awaitable, Callable

from lutrin.answer.traffic import Traffic
from lutrin.errors import LutrinError
from lutrin.log import get_logger

LOOK_S = 0.1
"""Seconds between looks for readers, and so the longest time until a reader gets the model."""
REST_S = 600.0
"""Seconds to pause after all books were studied, or when the model was not available."""


async def study_while_idle(
    study: Callable[[], Awaitable[None]], traffic: Traffic, quiet_s: float, *, waits: Callable[[], bool] = lambda: False
) -> None:
    """Study whenever no reader has come for a while, until cancelled.

    Args:
        study: May be cancelled at any time; continues at the next call.
        traffic: Counts what readers do.
        quiet_s: Seconds without a question, a search or an opened page before it begins.
        waits: Whether it cannot be done now: the machine must save its battery, or the model is on its way.
    """
    log = get_logger("study")
    while True:
        await _quiet(traffic, quiet_s, waits)
        before = traffic.doings
        work = asyncio.ensure_future(study())
        try:
            while not work.done() and traffic.doings == before and not waits():
                await asyncio.wait({work}, timeout=LOOK_S)
        finally:
            work.cancel()
            (outcome,) = await asyncio.gather(work, return_exceptions=True)
        if isinstance(outcome, asyncio.CancelledError):
            log.info("broken_off")
            continue
        if isinstance(outcome, LutrinError | OSError):
            log.warning("cannot_study", detail=str(outcome))
        elif isinstance(outcome, BaseException):
            raise outcome
        await asyncio.sleep(REST_S)


async def _quiet(traffic: Traffic, quiet_s: float, waits: Callable[[], bool]) -> None:
    """Wait until for `quiet_s` nobody asked or opened a page and nothing else was in the way."""
    loop = asyncio.get_running_loop()
    since, seen = loop.time(), traffic.doings
    while loop.time() - since < quiet_s:
        if traffic.readers or traffic.doings != seen or waits():
            since, seen = loop.time(), traffic.doings
        await asyncio.sleep(min(LOOK_S, quiet_s))
