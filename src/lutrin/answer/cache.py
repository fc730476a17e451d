"""Remembers whole answers, so that who asks again has them at once, and no time tells what somebody else has asked."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import msgspec

from lutrin.records import AnswerEvent, BookAnswerEvent, DoneEvent, QueuedEvent, WorkingEvent

LIMIT = 512
"""Answers that are remembered; the one asked for longest ago goes first."""
MOST_READERS = 64
"""Of one answer who are known to have had it: a class and its teacher, on more than one machine each."""
TimedEvent = tuple[AnswerEvent, float]


def for_reader(event: AnswerEvent, *, latency_ms: int) -> AnswerEvent:
    """Adapt a cached event for a reader who repeats the question and waited so long."""
    if not isinstance(event, DoneEvent | BookAnswerEvent):
        return event
    return msgspec.structs.replace(event, answer=msgspec.structs.replace(event.answer, latency_ms=latency_ms))


@dataclass(slots=True)
class _KeptAnswer:
    events: tuple[TimedEvent, ...]
    readers: OrderedDict[str, None]
    """Who had it, the latest last."""
    prepared: bool


class AnswerCache:
    """Whole answers, as events, by everything that determines them: generation, question, mode and settings.

    What comes back is what was given: text, sources, warnings, and the events in their order. Who asks again has it at
    once. Another reader has it when it would have come to them as to the first, so that no time tells what somebody
    else has asked; what was prepared is no secret. Events of the queue are not repeated: there is no wait.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._answers: dict[Hashable, _KeptAnswer] = {}
        """The one asked for longest ago first."""

    def get(self, key: Hashable, reader: str) -> list[TimedEvent] | None:
        """The events of an answer that was given before, each with the seconds after which this reader gets it."""
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
        """Keep an answer, unless the model was away, late or not begun for it: the next reader may be luckier.

        Every other answer in the book's words alone is kept: there is no model, or it had its say and nothing of it
        held, and would say the same again.

        Args:
            events: Each with the seconds after the question at which it came.
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
