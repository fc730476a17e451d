"""Caches whole answers, so that a repeated question is answered at once and no delay reveals what others have asked."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import msgspec

from lutrin.records import AnswerEvent, BookAnswerEvent, DoneEvent, QueuedEvent, WorkingEvent

LIMIT = 512
"""Answers in the cache; the least recently used goes first."""
MOST_READERS = 64
"""Readers recorded for one answer: a class and its teacher, on more than one machine each."""
TimedEvent = tuple[AnswerEvent, float]


def for_reader(event: AnswerEvent, *, latency_ms: int) -> AnswerEvent:
    """Adapt a cached event for a reader who repeats the question and waited this long."""
    if not isinstance(event, DoneEvent | BookAnswerEvent):
        return event
    return msgspec.structs.replace(event, answer=msgspec.structs.replace(event.answer, latency_ms=latency_ms))


@dataclass(slots=True)
class _KeptAnswer:
    events: tuple[TimedEvent, ...]
    readers: OrderedDict[str, None]
    """Readers who had it, the latest last."""
    prepared: bool


class AnswerCache:
    """Whole answers, as events, keyed by everything that determines them: generation, question, mode and settings.

    A hit repeats the answer exactly: text, sources, warnings, and the events in their order. A reader who repeats a
    question gets it at once. Another reader gets it as slowly as the first did, so that no delay reveals what somebody
    else has asked; a prepared answer is no secret. Events of the queue are not repeated: there is no wait.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._answers: dict[Hashable, _KeptAnswer] = {}
        """The least recently used first."""

    def get(self, key: Hashable, reader: str) -> list[TimedEvent] | None:
        """The events of a cached answer, each with the seconds after which this reader gets it."""
        kept = self._answers.pop(key, None)
        if kept is None:
            return None
        self._answers[key] = kept
        at_once = kept.prepared or reader in kept.readers
        _note_reader(kept.readers, reader)
        if at_once:
            return [(event, 0.0) for event, _ in kept.events if not isinstance(event, WorkingEvent)]
        return list(kept.events)

    def put(self, key: Hashable, events: Sequence[TimedEvent], reader: str) -> None:
        """Keep an answer, unless the model was away, late or not started: the next reader may be luckier.

        Any other answer in the book's words alone is kept: there is no model, or none of its sentences held, and it
        would write the same again.

        Args:
            events: Each with its delay after the question, in seconds.
        """
        last = events[-1][0] if events else None
        if not isinstance(last, DoneEvent) or last.answer.explainable:
            return
        before = self._answers.pop(key, None)
        readers = before.readers if before is not None else OrderedDict()
        _note_reader(readers, reader)
        kept = tuple((event, after_s) for event, after_s in events if not isinstance(event, QueuedEvent))
        self._answers[key] = _KeptAnswer(kept, readers, prepared=bool(last.answer.prepared_by))
        while len(self._answers) > self._limit:
            del self._answers[next(iter(self._answers))]


def _note_reader(readers: OrderedDict[str, None], reader: str) -> None:
    readers[reader] = None
    readers.move_to_end(reader)
    while len(readers) > MOST_READERS:
        readers.popitem(last=False)
