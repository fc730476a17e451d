"""Who came together, and how long one of them waits beside the others."""

import math
from contextlib import ExitStack

import pytest
from tests.generate.room import Clock

from lutrin.answer.traffic import CROWD, FAIR, KNOWN_S, TOGETHER_S, Traffic


@pytest.fixture
def clock() -> Clock:
    """A hundred seconds after it began."""
    return Clock(100.0)


def come(traffic: Traffic, count: int, now_s: float) -> list[ExitStack]:
    """So many readers who come now, each to be closed when it has its answer."""
    readers = [ExitStack() for _ in range(count)]
    for reader in readers:
        reader.enter_context(traffic.answering(now_s))
    return readers


def test_few_have_the_whole_deadline(clock: Clock) -> None:
    """Whoever came before or after does not make them a crowd."""
    traffic = Traffic(clock)
    for _ in range(3):
        come(traffic, CROWD - 1, clock.now)
        assert traffic.fair_wait_s(clock.now) == math.inf
        clock.now += 2 * TOGETHER_S


def test_who_still_waits_counts_with_what_it_has_waited(clock: Clock) -> None:
    """Where all wait alike nobody gives up, however long it takes; once most are served the rest has a limit."""
    traffic = Traffic(clock)
    began_s = clock.now
    readers = come(traffic, CROWD, clock.now)
    clock.now += 4.0
    assert traffic.fair_wait_s(began_s) == FAIR * 4.0
    for reader in readers[1:]:
        reader.close()
    for _ in range(3):
        clock.now += 1.0
        assert traffic.fair_wait_s(began_s) == FAIR * 4.0


def test_the_limit_is_what_the_median_will_be(clock: Clock) -> None:
    """Nobody is sent away for how quickly the first ones were served."""
    traffic = Traffic(clock)
    began_s = clock.now
    waits_s = [0.1 * number for number in range(1, 2 * CROWD)]
    kept = []
    for wait_s, reader in zip(waits_s, come(traffic, len(waits_s), clock.now), strict=True):
        clock.now = began_s + wait_s
        kept.append(wait_s < traffic.fair_wait_s(began_s))
        reader.close()
    assert kept == [wait_s < FAIR * waits_s[CROWD - 1] for wait_s in waits_s]
    assert not all(kept)


def test_a_search_makes_no_crowd(clock: Clock) -> None:
    """Machines that search wait for no answer."""
    traffic = Traffic(clock)
    for _ in range(2 * CROWD):
        with traffic.searching():
            assert traffic.readers == 1
    assert traffic.served == 2 * CROWD
    assert traffic.fair_wait_s(clock.now) == math.inf


def test_who_came_long_ago_is_forgotten(clock: Clock) -> None:
    """A server that runs for years keeps no list of them."""
    traffic = Traffic(clock)
    for reader in come(traffic, CROWD, clock.now):
        reader.close()
    assert traffic.fair_wait_s(100.0) == 0.0
    clock.now += KNOWN_S + 1
    come(traffic, 1, clock.now)
    assert traffic.fair_wait_s(100.0) == math.inf
