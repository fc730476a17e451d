"""Who is being answered, or searches, at this moment: the model's work waits for readers who have nothing yet."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Traffic:
    """Counts the answers and searches that are under way in a server."""

    def __init__(self) -> None:
        self.readers = 0
        """Answers and searches under way."""
        self.served = 0
        """Answers and searches so far, those under way among them."""
        self._unquoted = 0
        self._all_quoted = asyncio.Event()
        self._arrival = asyncio.Event()

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Counts an answer or a search."""
        self.readers += 1
        self.served += 1
        self._arrival.set()
        self._arrival = asyncio.Event()
        try:
            yield
        finally:
            self.readers -= 1

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
