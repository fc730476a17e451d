"""Tracks what readers do, so that background work yields to them and the model to readers without excerpts."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Traffic:
    """Counts the answers and searches that are under way in a server."""

    def __init__(self) -> None:
        self.hold: Callable[[int], None] = lambda _: None
        """Told how many readers have no excerpt, when there is a first one and when there are none."""
        self.readers = 0
        """Answers and searches under way."""
        self.doings = 0
        """Answers, searches and opened pages since the start."""
        self.opened: Counter[tuple[str, str]] = Counter()
        """How often each page was opened since the start, by book and file name."""
        self._unquoted = 0
        self._all_quoted = asyncio.Event()
        self._all_quoted.set()

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Counts a search, or the answer that it is for."""
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
        self._unquoted += 1
        if self._all_quoted.is_set():
            self._all_quoted.clear()
            self.hold(self._unquoted)
        try:
            yield
        finally:
            self._unquoted -= 1
            if not self._unquoted:
                self._all_quoted.set()
                self.hold(0)

    async def wait_for_excerpts(self) -> None:
        """Wait until every reader has excerpts."""
        await self._all_quoted.wait()
