"""Tracks readers' activity, so that background work yields to readers, and the model to readers without excerpts."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Traffic:
    """Counts answers and searches in progress on a server; `clock` gives monotonic seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.hold: Callable[[int], None] = lambda _: None
        """Called with the number of readers without an excerpt, when the first appears and when none is left."""
        self.readers = 0
        """Answers and searches in progress."""
        self.doings = 0
        """Answers, searches and opened pages since the start."""
        self.opened: Counter[tuple[str, str]] = Counter()
        """Visits of each page since the start, by book and file name."""
        self._clock = clock
        self._unquoted = 0
        self._began_s = self._each_s = 0.0
        self._quoted = 0

    @property
    def others(self) -> int:
        """Other readers, besides one, without an excerpt."""
        return max(0, self._unquoted - 1)

    @property
    def held_s(self) -> float:
        """Expected seconds until all of them have excerpts, judging by those who asked beside them."""
        return self.others * self._each_s

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Count a search, or the answer that it is for."""
        self.readers += 1
        self.doings += 1
        try:
            yield
        finally:
            self.readers -= 1

    def opens(self, book: str, filename: str) -> None:
        """Count a page that a reader opens."""
        self.doings += 1
        self.opened[book, filename] += 1

    @contextmanager
    def without_excerpts(self) -> Iterator[None]:
        """Count a reader who has no excerpt yet."""
        if not self._unquoted:
            self._began_s, self._quoted = self._clock(), 0
            self.hold(1)
        self._unquoted += 1
        try:
            yield
        finally:
            self._unquoted -= 1
            self._quoted += 1
            self._each_s = (self._clock() - self._began_s) / self._quoted
            if not self._unquoted:
                self.hold(0)
