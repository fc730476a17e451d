"""Figures, tables and listings that a question asks for by their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.ingest.labels import labels_in
from lutrin.language.words import subject_stems
from lutrin.search.candidates import same_section
from lutrin.search.reader import ScoredPassage

CLOSE = 50.0
"""Characters from what is asked about over which what stands there counts 1/e as much."""
REFERS = 25.0
"""Characters that a text which refers to a figure is taken to be away from it, at most."""


@dataclass(frozen=True, slots=True)
class NamedLabels:
    """Figures, tables and listings that a question names."""

    labels: frozenset[str] = frozenset()
    chunks: tuple[str, ...] = ()
    """Ids of the chunks that hold them."""
    alone: bool = False
    """Whether the question names nothing else."""
    missing: bool = False
    """Whether nothing in the book has such a number, though others have: `Figure 9.9`."""


def find_labels(generation: OpenGeneration, text: str) -> NamedLabels:
    """Find the book's labels in a question."""
    kinds = {label.partition(" ")[0] for label in generation.labels}
    named = [(label, place) for label, place in labels_in(text) if label.partition(" ")[0] in kinds]
    if not named:
        return NamedLabels()
    known = {label: generation.labels[label] for label, _ in named if label in generation.labels}
    rest = text
    for start, end in sorted({place for _, place in named}, reverse=True):
        rest = f"{rest[:start]} {rest[end:]}"
    names = dict.fromkeys(name for chunks in known.values() for name in chunks)
    return NamedLabels(frozenset(known), tuple(names), not subject_stems(rest), not known)


def at_labels(ranked: Sequence[ScoredPassage], labels: frozenset[str]) -> list[ScoredPassage]:
    """The passages of the sections that hold what is asked for; units count the less the further they are from it."""
    homes = [item for item in ranked if any(unit.label in labels for unit in item.chunk.units)]
    if not homes:
        return list(ranked)
    spans = [
        (item.chunk.filename, unit.char_start, unit.char_end)
        for item in homes
        for unit in item.chunk.units
        if unit.label in labels
    ]
    return [
        near_spans(item, spans, homes[0].score, labels)
        for item in ranked
        if any(same_section(item.chunk, home.chunk) for home in homes)
    ]


def near_spans(
    item: ScoredPassage, spans: Sequence[tuple[str, int, int]], best: float, labels: frozenset[str] = frozenset()
) -> ScoredPassage:
    """A passage whose units are scored by their distance from places in the book.

    Args:
        item: The passage.
        spans: File, start and end of each place.
        best: The score of what stands at one of them.
        labels: A text that refers to one of them counts as near.
    """
    places = [(start, end) for filename, start, end in spans if filename == item.chunk.filename]
    scores = []
    for unit in item.chunk.units:
        away = min((max(start - unit.char_end, unit.char_start - end, 0) for start, end in places), default=np.inf)
        refers = away > REFERS and any(label in labels for label, _ in (labels_in(unit.text) if labels else ()))
        scores.append(best - (REFERS if refers else away) / CLOSE)
    return replace(item, score=best, scores=np.array(scores, dtype=np.float32))
