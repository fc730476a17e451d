"""Looks ahead: when each answer will have its first sentence, at the present pace.

It simulates the scheduler's steps with numbers alone: a passage is read once for all requests about it, and requests
with a read passage go first; a step reads a bounded number of prompt tokens and gives each answer in progress one
token.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol


class Costs(Protocol):
    """Costs of steps; `lutrin.generate.scheduler.Pace` provides them."""

    def mixed_s(self, prefill: float, answers: int) -> float:
        """Seconds for a step that reads prompt tokens and writes one token of each of `answers`."""

    def token_s(self, answers: int, most: int) -> float:
        """Seconds for one token of each of `answers`, with up to `most` guesses, as many as pay."""


@dataclass(slots=True)
class Ahead:
    """The remaining work for one answer."""

    passage: str
    """Key of its passage; empty if no other request can share it."""
    tail: float
    """Prompt tokens after the passage."""
    sentence: float
    """Tokens to write until its first sentence; 0 if the request only asks for odds."""
    whole: float
    """Tokens to write until its end."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many answers are served at once, and how."""

    slots: int
    step_tokens: int
    """Prompt tokens that one step reads."""
    guesses: int


def first_sentences(
    running: Sequence[Ahead], waiting: Sequence[Ahead], unread: Mapping[str, float], room: Room, costs: Costs
) -> list[float]:
    """Seconds until each answer's first sentence: running ones, then waiting ones in their order.

    Args:
        unread: Unread tokens of each passage; 0 for those not listed.
    """
    everyone = [replace(one) for one in (*running, *waiting)]
    active, queue = everyone[: len(running)], everyone[len(running) :]
    left, now_s = dict(unread), 0.0
    came: dict[int, float] = {}
    while active or queue:
        while queue and len(active) < room.slots:
            following = next((one for one in queue if not left.get(one.passage)), queue[0])
            queue.remove(following)
            active.append(following)
        writing = [one for one in active if not left.get(one.passage) and one.tail <= 0]
        tokens = _read(active, left, room.step_tokens)
        if tokens:
            steps, seconds = 1.0, costs.mixed_s(tokens, len(writing))
        else:
            steps = max(1.0, min(one.sentence if one.sentence > 0 else one.whole for one in writing))
            seconds = steps * costs.token_s(len(writing), room.guesses)
        now_s += seconds
        for one in writing:
            one.sentence -= steps
            one.whole -= steps
        for one in active:
            if one.sentence <= 0 and one.tail <= 0 and not left.get(one.passage):
                came.setdefault(id(one), now_s)
        active = [one for one in active if one.whole > 0 or id(one) not in came]
    return [came[id(one)] for one in everyone]


def _read(active: Sequence[Ahead], left: dict[str, float], budget: float) -> float:
    """Read a step's prompt tokens, those after read passages first; return how many."""
    before = budget
    for one in active:
        if not left.get(one.passage):
            read = min(budget, max(0.0, one.tail))
            one.tail -= read
            budget -= read
    for one in active:
        if left.get(one.passage):
            read = min(budget, left[one.passage])
            left[one.passage] -= read
            budget -= read
    return before - budget
