"""Whether the book supports a generated sentence. Precision first: a doubt drops the sentence.

A sentence is supported by a passage if (1) every number, identifier and name in it stands literally in the passage or
the question, (2) enough of its content words stand in one sentence of the passage and its neighbours, (3) it denies
where the passage denies, and (4) a comparison names its sides in the passage's order.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lutrin.retrieve.words import STOP_WORDS, content_stems, identifiers, is_negated, names, numbers, stem, words

MIN_COVERAGE = 0.66
"""Share of a sentence's content words that its evidence must hold."""
_COMPARISON = re.compile(
    r"\b(more|less|fewer|greater|higher|lower|faster|slower|better|worse|larger|smaller|cheaper|heavier|lighter|longer"
    r"|shorter|stronger|weaker|before|after|than|unlike|whereas)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Support:
    """The best evidence for a sentence."""

    index: int
    """Of the evidence in the sequence that was given."""
    coverage: float
    """Share of the sentence's content words found there, 0 to 1."""


def support(sentence: str, evidence: Sequence[str], *, question: str = "") -> Support | None:
    """The evidence that supports a sentence.

    Args:
        sentence: One generated sentence, without citation markers.
        evidence: Texts from the book, each with its headings.
        question: Names that stand in the question may stand in the answer.

    Returns:
        The best support, or None if no evidence supports the sentence.
    """
    best: Support | None = None
    for index, text in enumerate(evidence):
        if not _literals_stand(sentence, text, question) or not _agrees(sentence, text):
            continue
        covered = coverage(sentence, text)
        if covered >= MIN_COVERAGE and (best is None or covered > best.coverage):
            best = Support(index=index, coverage=covered)
    return best


def coverage(sentence: str, text: str) -> float:
    """Share of a sentence's content words that a text holds; 0 for a sentence without any."""
    stems = set(content_stems(sentence))
    return len(stems & set(content_stems(text))) / len(stems) if stems else 0.0


def _literals_stand(sentence: str, text: str, question: str) -> bool:
    """Whether numbers, identifiers and names stand in the text as they stand in the sentence.

    The first word may be a name, too: unless it is a function word it must stand there as well.
    """
    if not set(numbers(sentence)) <= set(numbers(text)):
        return False
    lowered = text.lower()
    if not all(item.lower() in lowered for item in identifiers(sentence)):
        return False
    known = {stem(word) for word in words(f"{text} {question}")}
    named = [part for name in names(sentence) for part in words(name)]
    first = [word for word in words(sentence)[:1] if word.lower() not in STOP_WORDS]
    return all(stem(part) in known for part in (*named, *first))


def _agrees(sentence: str, text: str) -> bool:
    """Whether denial and comparison are those of the text's closest sentence: same words, sides in its order."""
    closest = max(re.split(r"(?<=[.!?])\s+|\n", text), key=lambda part: coverage(sentence, part), default="")
    if is_negated(sentence) != is_negated(closest):
        return False
    compared = _comparisons(sentence)
    if not compared:
        return True
    if not compared <= _comparisons(closest):
        return False
    shared = set(content_stems(closest))
    order = [item for item in dict.fromkeys(content_stems(sentence)) if item in shared]
    return order == [item for item in dict.fromkeys(content_stems(closest)) if item in set(order)]


def _comparisons(text: str) -> set[str]:
    """The words of a text that say which side is more."""
    return {match.lower() for match in _COMPARISON.findall(text)}
