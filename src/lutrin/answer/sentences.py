"""Whole sentences from a stream of text."""

from lutrin.ingest.sentences import sentence_ranges

_ENDS = (".", "!", "?", ":", '"', "\u201d", ")", "*", "`", "]")


class SentenceStream:
    """Cuts a stream of text into whole sentences."""

    def __init__(self) -> None:
        self._pending = ""

    def feed(self, piece: str) -> list[str]:
        """Sentences that are complete now; a sentence is complete when the next one has begun."""
        self._pending += piece
        ranges = sentence_ranges(self._pending)
        whole = [self._pending[start:end] for start, end in ranges[:-1]]
        if whole:
            self._pending = self._pending[ranges[-1][0] :]
        return whole

    def finish(self) -> list[str]:
        """What is left when the model has ended by itself; a full stop that it forgot is added."""
        rest = [self._pending[start:end] for start, end in sentence_ranges(self._pending)]
        self._pending = ""
        return [text if text.endswith(_ENDS) else f"{text}." for text in rest if any(map(str.isalnum, text))]
