"""Runs work in a thread on resources that its caller closes afterwards."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a function in a thread; a cancelled caller resumes only after it has ended.

    `asyncio.to_thread` leaves the thread running when its caller is cancelled. If the caller then closes a resource,
    such as a database, it does so in the middle of its use: SQLite's driver crashes with a segmentation fault.

    Raises:
        CancelledError: The caller was cancelled; the function's result or error is lost.
    """
    return await to_the_end(asyncio.ensure_future(asyncio.to_thread(work, *args, **kwargs)))


async def to_the_end(running: "asyncio.Future[T]") -> T:
    """Wait for something that cannot be stopped; a cancelled caller resumes only after it has ended.

    Raises:
        CancelledError: The caller was cancelled; the result is lost.
    """
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            try:
                await asyncio.wait([running])
            except asyncio.CancelledError:  # once more; the thread cannot be hurried
                continue
        if not running.cancelled():
            running.exception()
        raise
