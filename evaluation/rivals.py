"""Baselines beside Lutrin's answers: its passages without a choice, plain search, and the best possible excerpt.

Each turns the passages of a question into its scores. None of them refuses, so wrong refusals count against Lutrin
only.
"""

from collections.abc import Sequence

from evaluation.measures import SOON, WORDS, Measures, facts_in, measure_retrieval
from evaluation.questions import EvalQuestion
from evaluation.text import first_words, places, plain
from lutrin.records import Passage

WINDOW_WORDS = 150
"""Words of the oracle's excerpt: about as many as an answer has."""
WINDOW_PASSAGES = 12
"""Passages among which the oracle chooses: as many as Lutrin uses for an answer."""
FUSED, START, ORACLE = "RRF passages", "best passage's start", "oracle window"


def printed(question: EvalQuestion, text: str) -> Measures:
    """Score `facts` and `facts soon` of a text that is printed as the answer."""
    found: Measures = {}
    if question.key_facts:
        for name, count in (("facts", WORDS), ("facts soon", SOON)):
            held = facts_in(question.key_facts, [first_words(text, count)])
            found[name] = (len(held) / len(question.key_facts), 1)
    return found


def fused(question: EvalQuestion, passages: Sequence[Passage]) -> Measures:
    """Score plain search, with its passages printed one after the other."""
    text = "\n\n".join(passage.chunk.text for passage in passages)
    return measure_retrieval(question, passages) | printed(question, text)


def start(question: EvalQuestion, passages: Sequence[Passage]) -> Measures:
    """Score the first words of the best passage."""
    return printed(question, passages[0].chunk.text if passages else "")


def oracle(question: EvalQuestion, passages: Sequence[Passage]) -> Measures:
    """Score the consecutive words of one passage that contain most key facts; no excerpt can contain more."""
    if not question.key_facts:
        return {}
    best = max((_window(question.key_facts, item.chunk.text) for item in passages[:WINDOW_PASSAGES]), default=0)
    return {"facts": (best / len(question.key_facts), 1)}


def _window(facts: Sequence[str], text: str) -> int:
    """Number of facts in the best run of a text; a run with several may begin with any of them."""
    spans = [[(at, at + len(plain(fact).split())) for at in places(fact, text)] for fact in facts]
    starts = {at for found in spans for at, _ in found}
    return max(
        (
            sum(any(first <= at and end <= first + WINDOW_WORDS for at, end in found) for found in spans)
            for first in starts
        ),
        default=0,
    )
