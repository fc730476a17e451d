"""The same question to the same book gets the same bytes, at once."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence

from lutrin.records import AnswerEvent, DoneEvent

LIMIT = 512
"""Answers that are remembered; the one asked for longest ago goes first."""


class AnswerCache:
    """Events of whole answers by everything that decides about them: generation, question, mode, settings."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._kept: OrderedDict[Hashable, tuple[AnswerEvent, ...]] = OrderedDict()

    def get(self, key: Hashable) -> tuple[AnswerEvent, ...] | None:
        """The events of an answer that was given before."""
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def put(self, key: Hashable, events: Sequence[AnswerEvent]) -> None:
        """Remember an answer that is as good as it gets.

        One that fell back to quotes because the model was away or late is not kept: the next reader may be luckier.
        """
        last = events[-1] if events else None
        if not isinstance(last, DoneEvent) or (last.answer.kind == "extractive" and last.answer.warnings):
            return
        self._kept[key] = tuple(events)
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)
