"""Background tasks restart when they fail, and the failing ones are listed."""

import asyncio
from itertools import pairwise

import pytest

from lutrin.background import Background
from lutrin.errors import IndexUnavailable


async def test_a_failed_task_is_started_again() -> None:
    """After any exception; while it fails, its name and the reason are listed, without words of a reader."""
    background, runs = Background(first_pause_s=0.05, steady_s=0.2), list[int]()

    async def work() -> None:
        runs.append(len(runs))
        if len(runs) == 1:
            raise IndexUnavailable("The catalogue cannot be read.")
        if len(runs) == 2:
            raise ValueError("a reader's words")
        await asyncio.sleep(60)

    async with asyncio.timeout(5), background.running(work, name="shelf"):
        await asyncio.sleep(0.01)
        assert background.troubles == {"shelf": "The catalogue cannot be read."}
        while len(runs) < 3:  # noqa: ASYNC110 - a supervisor sends no event
            await asyncio.sleep(0.001)
        assert background.troubles == {"shelf": "ValueError"}
        while background.troubles:  # noqa: ASYNC110 - a supervisor sends no event
            await asyncio.sleep(0.001)
    assert len(runs) == 3


async def test_it_ends_with_its_block() -> None:
    """Running, failed or done; nothing of it is left."""
    background, ended = Background(), list[str]()

    async def run_on() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("run_on")

    async def fail() -> None:
        raise OSError

    async def be_done() -> None:
        ended.append("be_done")

    before = asyncio.all_tasks()
    async with (
        background.running(run_on, name="1"),
        background.running(fail, name="2"),
        background.running(be_done, name="3"),
    ):
        await asyncio.sleep(0.01)
        assert set(background.troubles) == {"2"}
    assert (ended, background.troubles, asyncio.all_tasks()) == (["be_done", "run_on"], {}, before)


async def test_the_pause_grows() -> None:
    """A task that keeps failing at once costs little."""
    background, runs = Background(first_pause_s=0.02), list[float]()

    async def fail() -> None:
        runs.append(asyncio.get_running_loop().time())
        raise OSError

    async with background.running(fail, name="failing"):
        await asyncio.sleep(0.5)
    pauses = [after - before for before, after in pairwise(runs)]
    assert len(runs) <= 6
    assert pauses == pytest.approx([0.02, 0.04, 0.08, 0.16][: len(pauses)], abs=0.02)
