"""Whole sentences from a stream of text."""

from lutrin.ingest.sentences import sentence_ranges

_ENDS = (".", "!", "?", ":", '"', "\u201d", ")", "*", "`", "]")
THINKS, THOUGHT = "<think>", "</think>"
"""Between them some models think aloud before they answer."""


class SentenceStream:
    """Cuts a stream of text into whole sentences and leaves out what the model thinks aloud."""

    def __init__(self) -> None:
        self._pending = ""
        self._aloud = Aloud()

    def feed(self, piece: str) -> list[str]:
        """Return the sentences that are now complete. A sentence is complete once the next one has begun."""
        self._pending += self._aloud.feed(piece)
        ranges = sentence_ranges(self._pending)
        whole = [self._pending[start:end] for start, end in ranges[:-1]]
        if whole:
            self._pending = self._pending[ranges[-1][0] :]
        return whole

    def finish(self) -> list[str]:
        """Return the rest once the model has stopped by itself, with its missing full stop added."""
        self._pending += self._aloud.finish()
        rest = [self._pending[start:end] for start, end in sentence_ranges(self._pending)]
        self._pending = ""
        return [text if text.endswith(_ENDS) else f"{text}." for text in rest if any(map(str.isalnum, text))]


class Aloud:
    """Leaves out what a model thinks aloud, however the stream is cut."""

    def __init__(self) -> None:
        self._held = ""
        self._thinks = False

    def feed(self, piece: str) -> str:
        """Return the part of the text that can no longer change."""
        self._held += piece
        said = ""
        while True:
            before, found, rest = self._held.partition(THOUGHT if self._thinks else THINKS)
            if not found:
                break
            said += "" if self._thinks else before
            self._held, self._thinks = rest, not self._thinks
        keep = _begun(self._held, THOUGHT if self._thinks else THINKS)
        passed, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return said if self._thinks else said + passed

    def finish(self) -> str:
        """Return the text held back, unless it belongs to a thought."""
        rest, self._held = "" if self._thinks else self._held, ""
        return rest


def _begun(text: str, mark: str) -> int:
    """How many characters at the end of a text may be the beginning of a mark."""
    return next((n for n in range(min(len(text), len(mark) - 1), 0, -1) if text.endswith(mark[:n])), 0)
