"""Who is being answered, or searches, at this moment: the model's work waits for readers who have nothing yet.

And of those who come together nobody waits much longer than the others: whose answer needs the model's time while the
rest are served from what it said before gives up its sentence rather than its place.
"""

import asyncio
import math
import statistics
import time
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter

CROWD = 16
"""So many who begin within TOGETHER_S of each other are a crowd; of fewer everybody has the whole deadline."""
TOGETHER_S = 0.5
FAIR = 1.75
"""Times the median wait of a crowd that one of it waits for the model; the rest of twice is for what comes after it."""
KNOWN_S = 60.0
"""For so long it is known who came; no answer takes longer."""


@dataclass(slots=True)
class _Visit:
    """One answer."""

    began_s: float
    ended_s: float | None = None


_BEGAN = attrgetter("began_s")


class Traffic:
    """Counts the answers and searches that are under way in a server.

    Args:
        clock: Seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.readers = 0
        """Answers and searches under way."""
        self.served = 0
        """Answers and searches so far, those under way among them."""
        self._clock = clock
        self._visits: list[_Visit] = []
        """By when they began."""
        self._unquoted = 0
        self._all_quoted = asyncio.Event()
        self._all_quoted.set()
        self._arrival = asyncio.Event()

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Counts a search, or the answer that it is for."""
        self.readers += 1
        self.served += 1
        self._arrival.set()
        self._arrival = asyncio.Event()
        try:
            yield
        finally:
            self.readers -= 1

    @contextmanager
    def answering(self, began_s: float) -> Iterator[None]:
        """Counts an answer, and notes how long it takes.

        Args:
            began_s: When the question came, by the same clock.
        """
        visit = _Visit(began_s)
        del self._visits[: bisect_left(self._visits, self._clock() - KNOWN_S, key=_BEGAN)]
        insort(self._visits, visit, key=_BEGAN)
        with self.searching():
            try:
                yield
            finally:
                visit.ended_s = self._clock()

    def fair_wait_s(self, began_s: float) -> float:
        """How long one whose question came then may wait for the model beside those who came together with it.

        Args:
            began_s: By the same clock.

        Returns:
            Seconds from `began_s`: FAIR times the median of their waits so far; infinite unless they are a crowd.
        """
        first = bisect_left(self._visits, began_s - TOGETHER_S, key=_BEGAN)
        crowd = self._visits[first : bisect_right(self._visits, began_s + TOGETHER_S, key=_BEGAN)]
        if len(crowd) < CROWD:
            return math.inf
        now_s = self._clock()
        waits_s = [(now_s if visit.ended_s is None else visit.ended_s) - visit.began_s for visit in crowd]
        return FAIR * statistics.median(waits_s)

    @contextmanager
    def unquoted(self) -> Iterator[None]:
        """Counts a reader who has nothing yet."""
        self._unquoted += 1
        self._all_quoted.clear()
        try:
            yield
        finally:
            self._unquoted -= 1
            if not self._unquoted:
                self._all_quoted.set()

    async def all_quoted(self) -> None:
        """Wait until nobody waits for quotes any more."""
        await self._all_quoted.wait()

    async def arrival(self) -> None:
        """Wait for the next reader."""
        await self._arrival.wait()
