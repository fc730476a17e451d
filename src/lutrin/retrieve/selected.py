"""Whether a marked text answers a question: it itself, or only the rest of the book.

How well a text matches a question says little by itself: a reader asks in other words, and the paragraph beside the
right one has the same words. What tells most is whether the book says it better elsewhere. So the sentences of the text
are held against the best ones of the book. A text that does not stand in the book is judged by its own match alone. Two
logistic regressions, their weights fitted on the questions of half of the books in `bench/books`, each with the passage
that holds its facts and with others that don't; docs/decisions/0024 has the figures.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.ports import Embedder, Encoding
from lutrin.records import Chunk, Unit
from lutrin.retrieve.asked import Asked, Float, asked
from lutrin.retrieve.candidates import Pool, Scored, gather
from lutrin.retrieve.frames import asked_term
from lutrin.retrieve.rank import Ranked
from lutrin.retrieve.words import COUNTS, numbers, plain, words

PLACED = (
    "best sentence", "better sentences", "against the nearest", "near", "lacks a number", "defines nothing",
    "no number", "here",
)  # fmt: skip
"""Signals of a text of the book: its best sentence against the best of the others, how many of those are better, its
cosine against that of the nearest passage, its cosine, and what `_says` reads off the words."""
ELSEWHERE = ("whole", "near", "best sentence", "lacks a number", "defines nothing", "no number", "here")
"""Signals of any other text."""
PLACED_WEIGHTS, PLACED_BIAS = (8.8, -0.5, 5.2, 1.4, -0.8, -0.4, -1.9, 0.5), 2.5
ELSEWHERE_WEIGHTS, ELSEWHERE_BIAS = (2.8, 6.2, 5.0, -0.7, -0.3, -1.7, 1.0), -5.4
"""Fitted on eleven books' questions, then rounded."""
ANOTHER = 8.0
"""Taken from the odds where it is asked what a numbered thing is and the text has other numbers: category 1, not 0."""
UNRELATED_COSINE, UNRELATED_MATCH = 0.22, 0.4
"""A text whose cosine and whose MaxSim with the question are both below these is about something else, and so is the
book where it says nothing better: the signals above compare, and of what is nowhere one thing is as good as another."""
COMPARED = 12
"""Passages of the book whose sentences the text is held against; as many as may be quoted."""
HOMES = 3
"""Passages in which the text may stand."""
LEAST_WORDS = 3
"""A unit of fewer words stands in any text."""
_HERE = re.compile(
    r"\b(?:here|this|these|according to|in (?:the|this) (?:example|case|text|passage)|text|passage)\b", re.IGNORECASE
)
_KIND = r"(?:an?|any|every|how|one|the|what|whatever|when|where)\b"
"""How what a term is begins: "a grid"; not "heard"."""
_AMOUNT = re.compile(
    r"\bhow (?:much|many|fast|slow|long|far|heavy|big|large|tall|high|deep|wide|often|hot|old)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Marked:
    """A text that a reader has marked, and what is asked about it."""

    question: str
    """In plain form (`frames.plainly`)."""
    encoding: Encoding
    """Of the question."""
    text: str
    units: Sequence[Unit]
    """Its sentences."""
    scores: Sequence[float]
    """MaxSim of each."""
    whole: float
    """MaxSim of all of it."""
    cosine: float
    """Of question and text."""


async def odds_of(embedder: Embedder, generation: OpenGeneration, marked: Marked, near: Sequence[Chunk]) -> float:
    """Logarithm of the odds that a marked text answers the question.

    Args:
        embedder: As the book's.
        generation: Of the book.
        marked: The text; with one unit at least.
        near: Passages of the book that have its words, best first.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    if marked.cosine < UNRELATED_COSINE and marked.whole < UNRELATED_MATCH:
        return -np.inf
    placed, elsewhere = await signals_of(embedder, generation, marked, near)
    missed = ANOTHER * _asks_of_another(marked)
    alone = float(elsewhere @ np.array(ELSEWHERE_WEIGHTS, dtype=np.float32)) + ELSEWHERE_BIAS
    if placed is None:
        return alone - missed
    odds = float(placed @ np.array(PLACED_WEIGHTS, dtype=np.float32)) + PLACED_BIAS
    return (odds if _is_of(near, marked) else max(odds, alone)) - missed


async def signals_of(
    embedder: Embedder, generation: OpenGeneration, marked: Marked, near: Sequence[Chunk]
) -> tuple[Float | None, Float]:
    """The signals in the order of `PLACED`, None if the text is not the book's, and of `ELSEWHERE`."""
    question = marked.question
    says = _says(question, marked.text)
    alone = [marked.whole, marked.cosine, max(marked.scores, default=0.0), *says]
    wanted = await _asked(embedder, generation, question, marked.encoding)
    homes = [chunk.chunk_id for chunk in near[:HOMES]]
    pool, (scored,) = await gather(generation, [wanted], None, besides=homes)
    inside, outside = _compared(pool, scored, marked.text, homes)
    elsewhere = np.array(alone, dtype=np.float32)
    if not inside:
        return None, elsewhere
    best = max(inside)
    placed = [
        best - max(outside, default=0.0),
        float(np.log1p(sum(score > best for score in outside))),
        marked.cosine - float(scored.cosines.max()),
        marked.cosine,
        *says,
    ]
    return np.array(placed, dtype=np.float32), elsewhere


def _asks_of_another(marked: Marked) -> bool:
    """Whether it is asked what something is whose number the text lacks."""
    found = set(numbers(marked.text))
    return bool(found) and any(number not in found for number in numbers(asked_term(marked.question)))


def _is_of(near: Sequence[Chunk], marked: Marked) -> bool:
    """Whether that unit of a text which matches best stands in these passages; if not, they say nothing about it."""
    best = max(range(len(marked.units)), key=marked.scores.__getitem__)
    said = plain(marked.units[best].text)
    return any(said in plain(chunk.text) for chunk in near)


def _says(question: str, text: str) -> list[float]:
    """What is read off the words: a number or a definition that is asked for and missing; "in this case"."""
    found = set(numbers(text))
    counted = bool(found) or not COUNTS.isdisjoint(words(text.lower()))
    term = asked_term(question)
    return [
        float(any(number not in found for number in numbers(question))),
        float(bool(term) and not _defines(term, text)),
        float(bool(_AMOUNT.search(question)) and not counted),
        float(bool(_HERE.search(question))),
    ]


def _defines(term: str, text: str) -> bool:
    """Whether a text says what a term is, by form: "A costmap is ...", "... is called a policy", "Policy: ..."."""
    body = r"\W+".join(map(re.escape, words(re.sub(r"^(?:an?|the)\s+", "", term, flags=re.IGNORECASE))))
    forms = (
        rf"\b{body}s?\W+(?:\([^)]*\)\W*)?(?:,[^,]*,\W*)?(?:(?:is|are) {_KIND}|means?\b|refers to\b)",
        rf"\bcalled\W+(?:an?\W+|the\W+)?{body}",
        rf"^\W*{body}s?\W*[:–—]",
    )
    return any(re.search(form, text, re.IGNORECASE | re.MULTILINE) for form in forms)


async def _asked(embedder: Embedder, generation: OpenGeneration, question: str, encoding: Encoding) -> Asked:
    """The question in the terms of the book; how usual it is does not matter."""
    none = np.zeros((1, embedder.dimension), dtype=np.float32)
    return await asked(generation, question, encoding, None, question, background=none, ranks=embedder.token_ranks)


def _compared(pool: Pool, scored: Scored, text: str, homes: Sequence[str]) -> tuple[list[float], list[float]]:
    """Scores of the units of the best passages: of those that stand in the text, and of all others."""
    ranked = Ranked.of(pool, scored)
    order = np.argsort(pool.apart - scored.fused, kind="stable")[:COMPARED].tolist()
    places = dict.fromkeys([*order, *(n for n, chunk in enumerate(pool.chunks) if chunk.chunk_id in homes)])
    wanted = plain(text)
    inside: list[float] = []
    outside: list[float] = []
    for place in places:
        for item in ranked.evidence(place):
            said = plain(item.unit.text)
            if len(said.split()) >= LEAST_WORDS and not item.unit.text.rstrip().endswith("?"):
                (inside if said in wanted else outside).append(item.score)
    return inside, outside
