"""Where the time of an answer goes: stages report themselves, and the maker of the answer may listen.

A listener belongs to the task that set it and to what that task calls, so answers that are made at the same time do not
mix. Without a listener nothing is measured and nothing is kept.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, Protocol

Stage = Literal["embed", "search", "rank", "queue", "write", "store"]
"""Question to vectors; vectors to passages; the best of them read once more; waiting for the model's first word; its
words; conversation to the disk."""


class Listener(Protocol):
    """Hears what becomes of one answer."""

    def add_time(self, stage: Stage, seconds: float) -> None:
        """A stage has ended."""

    def add_fact(self, fact: str, value: str) -> None:
        """Something is so, such as `cache` being `hit`; never a reader's words."""


_listener: ContextVar[Listener | None] = ContextVar("stage_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Let a listener hear of what the present task does within."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(name: Stage) -> Iterator[None]:
    """Time a stage, also one that fails."""
    began_s = time.monotonic()
    try:
        yield
    finally:
        note_time(name, began_s)


def note_time(name: Stage, began_s: float, ended_s: float | None = None) -> None:
    """Tell of a stage that has ended (default: now)."""
    listener = _listener.get()
    if listener is not None:
        listener.add_time(name, (time.monotonic() if ended_s is None else ended_s) - began_s)


def note(fact: str, value: str) -> None:
    """Tell of a fact."""
    listener = _listener.get()
    if listener is not None:
        listener.add_fact(fact, value)
