"""Work in threads whose caller may be cancelled."""

import asyncio
import threading

import pytest

from lutrin.threads import in_thread


async def test_what_it_returns_and_raises() -> None:
    """Both come back as if the function were called in place."""
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 7, 0)


@pytest.mark.parametrize("fails", [False, True])
async def test_who_is_cancelled_goes_on_when_the_thread_has_ended(fails: bool) -> None:
    """After any number of cancellations, and any outcome of the work."""
    begun, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def work() -> None:
        begun.set()
        go_on.wait(10)
        order.append("work ends")
        if fails:
            raise ValueError("nobody hears of it")

    async def caller() -> None:
        try:
            await in_thread(work)
        finally:
            order.append("caller closes")

    task = asyncio.create_task(caller())
    await asyncio.to_thread(begun.wait, 10)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.01)
    assert order == []
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert order == ["work ends", "caller closes"]
