"""Who is being answered, or searches, at this moment: the model's work waits for readers who have nothing yet.

And of those who come together nobody waits much longer than the others: whose answer needs the model's time while the
rest are served from what it said before gives up its sentence rather than its place.
"""

import asyncio
import math
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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
        self._visits: deque[_Visit] = deque()
        self._unquoted = 0
        self._all_quoted = asyncio.Event()
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
    def answering(self) -> Iterator[None]:
        """Counts an answer, and notes how long it takes."""
        visit = _Visit(self._clock())
        while self._visits and self._visits[0].began_s < visit.began_s - KNOWN_S:
            self._visits.popleft()
        self._visits.append(visit)
        with self.searching():
            try:
                yield
            finally:
                visit.ended_s = self._clock()

    def fair_wait_s(self, began_s: float) -> float:
        """How long one who began then may wait for the model beside those who came together with it.

        Args:
            began_s: Of the same clock.

        Returns:
            Seconds from `began_s`: FAIR times the median of their waits so far; infinite unless they are a crowd.
        """
        now_s = self._clock()
        waits_s = [
            (now_s if visit.ended_s is None else visit.ended_s) - visit.began_s
            for visit in self._visits
            if abs(visit.began_s - began_s) <= TOGETHER_S
        ]
        return FAIR * statistics.median(waits_s) if len(waits_s) >= CROWD else math.inf

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
