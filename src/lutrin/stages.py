"""Measures the stages of an answer: they report themselves, and the maker of the answer may listen.

A listener belongs to the task that set it and to that task's calls, so simultaneous answers do not mix. Without a
listener nothing is measured or stored.
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
    """Receives the events of one answer."""

    def add_time(self, stage: Stage, seconds: float) -> None:
        """A stage has ended."""

    def add_fact(self, fact: str, value: str) -> None:
        """Take a fact, such as `cache` being `hit`; never a reader's words."""


_running: dict[object, tuple[Stage, float]] = {}
"""Running stages of all tasks, with their start times."""
_listener: ContextVar[Listener | None] = ContextVar("stage_listener", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report the present task's stages and facts to a listener within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def stage(name: Stage) -> Iterator[None]:
    """Time a stage, even if it fails."""
    began_s = time.monotonic()
    here = object()
    _running[here] = name, began_s
    try:
        yield
    finally:
        del _running[here]
        note_time(name, began_s)


def running_for(seconds: float) -> list[tuple[Stage, float]]:
    """Return the stages that have been running for at least this long, with their seconds, longest first."""
    now_s = time.monotonic()
    running = [(name, now_s - began_s) for name, began_s in list(_running.values())]
    return sorted((one for one in running if one[1] >= seconds), key=lambda one: -one[1])


def note_time(name: Stage, began_s: float, ended_s: float | None = None) -> None:
    """Report a stage that has ended (default: now)."""
    listener = _listener.get()
    if listener is not None:
        listener.add_time(name, (time.monotonic() if ended_s is None else ended_s) - began_s)


def note(fact: str, value: str) -> None:
    """Report a fact."""
    listener = _listener.get()
    if listener is not None:
        listener.add_fact(fact, value)
