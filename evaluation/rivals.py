"""What stands beside Lutrin's answer: the same passages without any choice, plain search, and the best that could be.

Each turns the passages of one question into its measures. None of them refuses, so that what Lutrin refuses wrongly
counts against Lutrin alone.
"""

from collections.abc import Sequence

from evaluation.measures import SOON, WORDS, Measures, facts_in, measure_retrieval
from evaluation.questions import EvalQuestion
from evaluation.text import first_words, places, plain
from lutrin.records import Passage

WINDOW_WORDS = 150
"""Of the run of words that the oracle chooses: about as long as an answer."""
WINDOW_PASSAGES = 12
"""Passages among which it chooses: as many as Lutrin's answers are made of."""
FUSED, START, ORACLE = "RRF passages", "best passage's start", "oracle window"


def printed(question: EvalQuestion, text: str) -> Measures:
    """`facts` and `facts soon` of a text that is printed as the answer."""
    found: Measures = {}
    if question.key_facts:
        for name, count in (("facts", WORDS), ("facts soon", SOON)):
            held = facts_in(question.key_facts, [first_words(text, count)])
            found[name] = (len(held) / len(question.key_facts), 1)
    return found


def fused(question: EvalQuestion, passages: Sequence[Passage]) -> Measures:
    """Plain search: where it finds the facts, and what its passages say if they are printed one after the other."""
    text = "\n\n".join(passage.chunk.text for passage in passages)
    return measure_retrieval(question, passages) | printed(question, text)


def start(question: EvalQuestion, passages: Sequence[Passage]) -> Measures:
    """The first words of the best passage."""
    return printed(question, passages[0].chunk.text if passages else "")


def oracle(question: EvalQuestion, passages: Sequence[Passage]) -> Measures:
    """The run of consecutive words in one of the passages that holds most key facts: no excerpt can hold more."""
    if not question.key_facts:
        return {}
    best = max((_window(question.key_facts, item.chunk.text) for item in passages[:WINDOW_PASSAGES]), default=0)
    return {"facts": (best / len(question.key_facts), 1)}


def _window(facts: Sequence[str], text: str) -> int:
    """How many facts the best run of a text holds; a run that holds several may begin with any of them."""
    spans = [[(at, at + len(plain(fact).split())) for at in places(fact, text)] for fact in facts]
    starts = {at for found in spans for at, _ in found}
    return max(
        (
            sum(any(first <= at and end <= first + WINDOW_WORDS for at, end in found) for found in spans)
            for first in starts
        ),
        default=0,
    )
