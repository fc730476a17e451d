"""How well each unit of a found passage answers: its own words, its place, and the passage that it stands in.

The weights are fitted on structure, not on words: on the half `tune` of the sample questions, by random search over the
share of key facts in the chosen units, then rounded (bench/RESULTS.md has the figures of both halves).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from lutrin.index.tokens import MaxSim
from lutrin.records import Chunk, Unit, UnitKind
from lutrin.retrieve.candidates import Pool, Scored
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.words import REMEMBERED, stem_set, topic_stems

Float = npt.NDArray[np.float32]

OWN, WITH_HEADING, PASSAGE, FUSED, LEXICAL, OVERLAP = 1.2, 1.8, 0.8, 0.8, 0.3, 0.5
"""MaxSim of the unit alone, with its headings, of its passage; the passage's fused score and BM25; shared topics."""
CAPTION, CODE, ROW, LENGTH = -0.8, -0.5, 0.5, -0.3
"""A caption names what another unit says; code rarely answers; a row that matches is exact; LENGTH is for 40 words."""
APART = -1.5
"""For what is no statement of the book: its own questions and exercises, lists of sources."""
FRAGMENT = -0.4
"""For a sentence of fewer than FRAGMENT_WORDS words: it says little without its neighbours."""
FRAGMENT_WORDS = 8
POINTER = -0.5
"""For a sentence that only says where something stands: "For that, see the next chapter."."""
TOTAL = OWN + WITH_HEADING + PASSAGE + FUSED + LEXICAL + OVERLAP
LONG_WORDS = 40
_APART = re.compile(
    r"^(?:exercises?|questions?|review|problems?|quiz|self[- ]check|further reading|references|sources|bibliography)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"\b(?:see|described|explained|covered|treated|discussed"
    r"|(?:comes?|follows?|returns?|turns?|back)(?: to (?:it|this|them))?)"
    r"(?: also)?(?: again)?(?: in| on| at)? (?:the |an? )?"
    r"(?:next|previous|last|following|later|chapters?|sections?|pages?|parts?|appendix|below|above)\b"
    r"|^more (?:about|on|of) (?:this|that|these|those|it|them)\b",
    re.IGNORECASE,
)
POINTER_WORDS = 16
"""A longer sentence says something besides."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A pool of passages with all that is known of them."""

    text: str
    """The question."""
    chunks: Sequence[Chunk]
    late: MaxSim
    fused: Float
    """(passages,): see `search`."""
    cosines: Float
    """(passages,): cosine of the question and each passage."""
    lexical: Mapping[str, float]
    """BM25 by chunk id."""
    weights: Float
    """(question tokens,): as `MaxSim` was made with."""

    @classmethod
    def of(cls, pool: Pool, item: Scored) -> "Ranked":
        """A pool as one question sees it."""
        return cls(
            text=item.asked.text,
            chunks=pool.chunks,
            late=item.late,
            fused=item.fused,
            cosines=item.cosines,
            lexical=item.lexical,
            weights=item.asked.weights,
        )

    def evidence(self, index: int) -> list[Evidence]:
        """The units of one passage with their scores, 1 for a perfect match."""
        chunk, late = self.chunks[index], self.late
        share = self.weights / self.weights.sum()
        best = max(self.lexical.values(), default=0.0) or 1.0
        passage = (
            PASSAGE * float(late.passages[index])
            + FUSED * float(self.fused[index])
            + LEXICAL * self.lexical.get(chunk.chunk_id, 0.0) / best
        )
        topics = topic_stems(self.text)
        first, end = int(late.unit_starts[index]), int(late.unit_starts[index + 1])
        places = late.unit_numbers[first:end].tolist()
        own = late.unit_own[first:end] @ share
        headed = late.units[first:end].copy()
        # A reply has the words of the question before it.
        if replies := _replies(chunk.units, places):
            asked = [row - 1 for row in replies]
            for scores, matches in ((own, late.unit_own[first:end]), (headed, late.unit_best[first:end])):
                scores[replies] = np.maximum(matches[replies], matches[asked]) @ share
        forms = [form(chunk, chunk.units[position], topics) for position in places]
        wholes = [0.0] * len(places)
        for rows in _lists(chunk.units, places):
            alone, with_heading = (
                best[first:end][rows].max(axis=0) @ share for best in (late.unit_own, late.unit_best)
            )
            added = max(forms[row] for row in rows)
            for row in rows:
                wholes[row] = float(passage + OWN * alone + WITH_HEADING * with_heading + added) / TOTAL
        cosine = float(self.cosines[index])
        return [
            Evidence(
                chunk,
                position,
                score=(passage + OWN * alone + WITH_HEADING * with_heading + added) / TOTAL,
                own=alone,
                passage=cosine,
                whole=whole,
            )
            for alone, with_heading, added, position, whole in zip(
                own.tolist(), headed.tolist(), forms, places, wholes, strict=True
            )
        ]


def _lists(units: Sequence[Unit], places: Sequence[int]) -> list[list[int]]:
    """Indices in `places` of the items of each list."""
    lists: dict[int, list[int]] = {}
    for row, place in enumerate(places):
        if units[place].kind == "list_item":
            lists.setdefault(units[place].block, []).append(row)
    return list(lists.values())


def _replies(units: Sequence[Unit], places: Sequence[int]) -> list[int]:
    """Indices in `places` of the sentences before which the book itself asks: "Why so deep? To hold snow."."""
    return [
        row
        for row, place in enumerate(places)
        if row and places[row - 1] == place - 1 and asks(units[place - 1]) and continues(units[place], units[place - 1])
    ]


def asks(unit: Unit) -> bool:
    """Whether a sentence is a question."""
    return unit.kind == "sentence" and unit.text.rstrip().endswith("?")


def continues(unit: Unit, before: Unit) -> bool:
    """Whether a sentence stands in the same paragraph as the one before it."""
    return unit.kind == before.kind == "sentence" and unit.block == before.block


def form(chunk: Chunk, unit: Unit, topics: frozenset[str]) -> float:
    """What the form and place of a unit add to its score."""
    shared = len(topics & stem_set(unit.text)) / len(topics) if topics else 0.0
    return OVERLAP * shared + _plain_form(unit.text, unit.kind, chunk.heading_path)


@lru_cache(maxsize=REMEMBERED)
def _plain_form(text: str, kind: UnitKind, headings: tuple[str, ...]) -> float:
    """What form and place add, whatever is asked."""
    length = len(text.split())
    score = LENGTH * min(length, LONG_WORDS) / LONG_WORDS
    score += FRAGMENT if kind == "sentence" and length < FRAGMENT_WORDS else 0.0
    score += POINTER if kind == "sentence" and length <= POINTER_WORDS and _POINTS.search(text) else 0.0
    score += {"caption": CAPTION, "code": CODE, "table_row": ROW}.get(kind, 0.0)
    is_apart = any(_APART.match(title) for title in headings) or text.rstrip().endswith("?")
    return score + (APART if is_apart else 0.0)
