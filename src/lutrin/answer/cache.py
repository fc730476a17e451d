"""The same question to the same book gets the same answer, at once.

"The same" leaves capitals, blanks and the marks at the end of a question aside (`normalize`).

What comes back is what was given: text, sources, warnings, and the events of the stream in their order. Only what is
true of one reader alone is that reader's: `latency_ms`, how long this one waited (`for_reader`). Waiting in the model's
queue is not repeated, since nobody waits.
"""

import re
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from functools import lru_cache

import msgspec

from lutrin import messages
from lutrin.language.lexicon import STOP_WORDS
from lutrin.language.words import REMEMBERED
from lutrin.records import AnswerEvent, DoneEvent, QueuedEvent

LIMIT = 512
"""Answers that are remembered; the one asked for longest ago goes first."""
PASSING = frozenset({messages.PAST_DEADLINE, messages.MODEL_AWAY})
"""Warnings of answers that would be better another time."""
_WORD = re.compile(
    r"(?<![^\s(\"'\u201c\u2018])(?:[AI]|[^\W\d_]{2,}(?:['\u2019-][^\W\d_]+)*)(?=[.,;:!?)\"'\u201d\u2019]*(?:\s|$))"
)
"""A word of letters alone between blanks and marks: no part of a name from code, a path or a formula; no initial."""
_WITHIN = re.compile(r"[^\W\d_]*[a-z][A-Z]")
"""Capitals within a word make it a name from code: goToPose."""
_END = re.compile(r"[\s.?!\u2026]+$")
_PART = re.compile(r"[.?!]\s+")
_ASKS = re.compile(
    r"(?:what|which|who|whose|whom|when|where|why|how|is|are|was|were|do|does|did|can|could|should|must|may|might|will"
    r"|would|has|have|had|am)\b"
)


@lru_cache(maxsize=REMEMBERED)
def normalize(text: str) -> str:
    """Normalise a question for the cache: lower case, single spaces, no final punctuation.

    IT and US are no pronouns, unless all is in capitals. A question ends in its mark, typed or not; what is no
    question, in none. Names from code stay as they are, for `Node` is not `node`; and so does what stands inside a
    question, for marks part two questions. The mark is never taken from what does not begin as a question: "My arm
    shakes. Now what?"

    >>> normalize("  what does a WATCHDOG do"), normalize("What does a watchdog do ?!")
    ('what does a watchdog do?', 'what does a watchdog do?')
    >>> normalize("How do I call nav.goToPose and rclcpp::Node in ROS 2?")
    'how do I call nav.goToPose and rclcpp::Node in ros 2?'
    """
    shouted = text.isupper()

    def lower(word: re.Match[str]) -> str:
        stays = _WITHIN.match(word[0]) or (not shouted and word[0].isupper() and word[0].lower() in STOP_WORDS)
        return word[0] if stays else word[0].lower()

    plain = _WORD.sub(lower, " ".join(text.split()))
    end = _END.search(plain)
    body = plain[: end.start()] if end else plain
    last = _PART.split(body)[-1]
    return (f"{body}?" if (end and "?" in end[0]) or _ASKS.match(last) else body) if body else plain


def for_reader(event: AnswerEvent, *, latency_ms: int) -> AnswerEvent:
    """Adapt a cached event for a reader who repeats the question and waited so long."""
    if not isinstance(event, DoneEvent):
        return event
    return DoneEvent(answer=msgspec.structs.replace(event.answer, latency_ms=latency_ms), made=event.made)


class AnswerCache:
    """Whole answers, as events, by everything that determines them: generation, question, mode and settings."""

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
        """Keep an answer, if nothing went wrong with it.

        One of which the model was away or late for is not kept: the next reader may be luckier. Every other answer in
        the book's words alone is: there is no model, or it had its say and nothing of it held, and would say the same
        again.
        """
        last = events[-1] if events else None
        if not isinstance(last, DoneEvent) or PASSING.intersection(last.answer.warnings):
            return
        self._kept[key] = tuple(event for event in events if not isinstance(event, QueuedEvent))
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)
