"""Counts the answers in progress, and those without any text yet."""

from contextlib import suppress

import pytest

from lutrin.answer.traffic import Traffic


def test_the_time_that_others_still_need_is_that_of_the_last_ones() -> None:
    """Half a second for each other reader; a single reader does not wait."""
    now = [0.0]
    traffic = Traffic(clock=lambda: now[0])
    with traffic.without_excerpts():
        assert traffic.held_s == 0.0
        now[0] += 0.5
    with traffic.without_excerpts(), traffic.without_excerpts():
        assert (traffic.others, traffic.held_s) == (1, 0.5)
        with traffic.without_excerpts():
            assert traffic.held_s == 1.0
            now[0] += 0.2
        assert traffic.held_s == pytest.approx(0.2)


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
