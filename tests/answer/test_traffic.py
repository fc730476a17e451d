"""Who is being answered, and who has nothing yet."""

import asyncio

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
