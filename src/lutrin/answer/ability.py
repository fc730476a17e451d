"""Decides what a language model may be asked, from its entry in the manifest and measurements on this machine."""

from dataclasses import dataclass

from lutrin.query.understand import Query

ALL = "all"
SELECTION = "selection"
"""Whatever is asked about a text that the reader has marked."""


@dataclass(frozen=True, slots=True)
class Ability:
    """What the configured model may be asked."""

    tier: str = "large"
    frames: frozenset[str] = frozenset({ALL})
    """What it may answer at once: frames of `query.frames`, `selection`, or `all`."""
    prompt_tokens: int = 3000
    """A prompt may be about so long."""
    answer_tokens: int = 400
    own_words: bool = True
    """Whether it may add words that are not the book's: an analogy."""
    study: frozenset[str] = frozenset()
    """Kinds of companion entries that it may write beforehand."""

    def may(self, query: Query) -> bool:
        """Whether the model may answer this question while the reader waits.

        One who asks for an explanation of what was found has marked it, so to say.
        """
        is_marked = bool(query.selected_text) or query.question.explain
        return bool(self.frames & {ALL, query.frame}) or (is_marked and SELECTION in self.frames)

    def may_if_asked(self, query: Query) -> bool:
        """Whether the model may answer this question if the reader asks for an explanation."""
        return self.may(query) or SELECTION in self.frames
