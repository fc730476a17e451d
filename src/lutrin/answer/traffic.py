"""Tracks running answers, so that background work yields to them and the model to readers without excerpts."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Traffic:
    """Counts the answers and searches that are under way in a server."""

    def __init__(self) -> None:
        self.readers = 0
        """Answers and searches under way."""
        self._unquoted = 0
        self._all_quoted = asyncio.Event()
        self._all_quoted.set()

    @contextmanager
    def searching(self) -> Iterator[None]:
        """Counts a search, or the answer that it is for."""
        self.readers += 1
        try:
            yield
        finally:
            self.readers -= 1

    @contextmanager
    def unquoted(self) -> Iterator[None]:
        """Count a reader who has no excerpt yet."""
        self._unquoted += 1
        self._all_quoted.clear()
        try:
            yield
        finally:
            self._unquoted -= 1
            if not self._unquoted:
                self._all_quoted.set()

    async def all_quoted(self) -> None:
        """Wait until every reader has excerpts."""
        await self._all_quoted.wait()
