"""Who is being answered, and who has nothing yet."""

import asyncio
from contextlib import suppress

import pytest

from lutrin.answer.traffic import Traffic


async def test_the_model_waits_until_the_last_reader_has_excerpts() -> None:
    """And not at all where nobody waits."""
    traffic = Traffic()
    await asyncio.wait_for(traffic.wait_for_excerpts(), 1.0)
    with traffic.without_excerpts():
        with traffic.without_excerpts():
            pass
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(traffic.wait_for_excerpts(), 0.01)
    await asyncio.wait_for(traffic.wait_for_excerpts(), 1.0)


def test_the_model_is_told_of_the_first_who_waits_and_when_nobody_does() -> None:
    """Not of each one between, also if a search fails."""
    traffic, told = Traffic(), list[int]()
    traffic.hold = told.append
    with suppress(ValueError), traffic.without_excerpts(), traffic.without_excerpts():
        assert told == [1]
        raise ValueError("lost")
    assert told == [1, 0]


def test_who_leaves_is_counted_no_longer() -> None:
    """However the search ends."""
    traffic = Traffic()

    def lost() -> None:
        with traffic.searching():
            assert traffic.readers == 1
            raise ValueError("lost")

    with pytest.raises(ValueError, match="lost"):
        lost()
    assert traffic.readers == 0
