"""Look ahead: when each answer will have its first sentence, if everything goes on at the pace of now.

The look ahead takes the scheduler's steps with numbers alone: a passage is read once for all who ask about it, and read
passages go first; a step reads a bounded number of prompt tokens and gives each answer in progress one token.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol


class Costs(Protocol):
    """What steps cost; `lutrin.generate.scheduler.Pace` knows it."""

    def mixed_s(self, prefill: float, answers: int) -> float:
        """Seconds for a step that reads prompt tokens and writes one token of each of `answers`."""

    def token_s(self, answers: int, most: int) -> float:
        """Seconds for one token of each of `answers`, with as many guesses as pay, `most` of them."""


@dataclass(slots=True)
class Ahead:
    """What is left to do for one answer."""

    passage: str
    """Which one it is about; empty: none that others share."""
    tail: float
    """Prompt tokens behind the passage."""
    sentence: float
    """Tokens to write until its first sentence; 0 where only odds are asked for."""
    whole: float
    """Tokens to write until its end."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many are served at once, and how."""

    slots: int
    step_tokens: int
    """Prompt tokens that one step reads."""
    guesses: int


def first_sentences(
    running: Sequence[Ahead], waiting: Sequence[Ahead], unread: Mapping[str, float], room: Room, costs: Costs
) -> list[float]:
    """Seconds until each answer's first sentence, of those that run, then of those that wait, by turn.

    Args:
        unread: Tokens that are left to read of each passage; none of those that are missing.
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
    """Read prompt tokens of a step, those behind read passages first; return how many."""
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
