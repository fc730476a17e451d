"""Turns tokens into text: whole characters, stop strings, and the loops of small models."""

import codecs
from collections.abc import Sequence

LOOP_TOKENS = 24
LONGEST_PERIOD = 48
REPEATS = 3


class TextStream:
    """Text of one answer as it grows; holds back what may become a stop string.

    Args:
        stop: The text ends before the first of these to be complete, wherever the pieces are cut. If two end together,
            it ends before the longer one.
    """

    def __init__(self, stop: Sequence[str] = ()) -> None:
        self.stopped = False
        self._stop = tuple(text for text in stop if text)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, piece: bytes) -> str:
        """Add a token's bytes; return the text that is certain now (possibly none)."""
        return self._release(self._decoder.decode(piece))

    def finish(self) -> str:
        """The text that was held back; a character cut in the middle becomes U+FFFD."""
        if self.stopped:
            return ""
        text = self._release(self._decoder.decode(b"", final=True))
        text, self._held = text + self._held, ""
        return text

    def _release(self, text: str) -> str:
        if self.stopped:
            return ""
        text = self._held + text
        ends = [(at + len(stop), at) for stop in self._stop if (at := text.find(stop)) >= 0]
        if ends:
            self.stopped, self._held = True, ""
            return text[: min(ends)[1]]
        keep = max((overlap(text, stop) for stop in self._stop), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]


def overlap(text: str, stop: str) -> int:
    """Length of the longest end of `text` that is a beginning of `stop`, but not all of it."""
    return next((n for n in range(min(len(text), len(stop) - 1), 0, -1) if text.endswith(stop[:n])), 0)


def loops(tokens: Sequence[int]) -> bool:
    """Whether the answer has begun to repeat itself word for word.

    True if it ends in the same stretch of at most 48 tokens three times in a row, 24 tokens or more in all. That is
    longer than any list or table row that a book's answer repeats.
    """
    for period in range(1, LONGEST_PERIOD + 1):
        repeats = max(REPEATS, -(-LOOP_TOKENS // period))
        length = period * repeats
        if len(tokens) < length:
            continue
        tail = tokens[-length:]
        if tail[period:] == tail[:-period]:
            return True
    return False
