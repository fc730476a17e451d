"""What a language model is asked for, from its entry in the manifest and measurements on this machine."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ability:
    """How much the configured model reads and writes. Every question goes to it, whatever its form."""

    tier: str = "large"
    sections: int = 1
    """Reading sections that it is shown for one thing that is asked; a small model is not helped by more."""
    judges: bool = True
    """Whether its yes or no to "does the passage answer?" counts."""
    answer_tokens: int = 200
    own_words: bool = True
    """Whether it may add words that are not the book's: an analogy."""
    study: frozenset[str] = frozenset()
    """Kinds of companion entries that it may write beforehand."""
