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


_running: dict[object, tuple[Stage, float]] = {}
"""Stages that have begun and not ended, in all tasks, and when each began."""
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
    here = object()
    _running[here] = name, began_s
    try:
        yield
    finally:
        del _running[here]
        note_time(name, began_s)


def running_for(seconds: float) -> list[tuple[Stage, float]]:
    """Return the stages that have been running for so long, and for how many seconds, the longest first."""
    now_s = time.monotonic()
    running = [(name, now_s - began_s) for name, began_s in list(_running.values())]
    return sorted((one for one in running if one[1] >= seconds), key=lambda one: -one[1])


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
