"""Reasons: sentences that share few words with the question, for they stand behind the one that has them.

"Long wagons have bogies. A rigid frame cannot follow a tight curve." The second sentence says why; what tells it from
any other is where it stands: behind a sentence that has the question's words, in a paragraph and a passage that have.
"""

from collections.abc import Mapping, Sequence

from lutrin.retrieve.evidence import Evidence

BEFORE, PARAGRAPH, PASSAGE = 0.15, 0.15, 0.15
"""What a unit loses by how much worse than those of the best placed one these match the question: the unit before it,
the best unit of its paragraph, its passage as a whole (docs/decisions/0020)."""


def out_of_place(found: Sequence[Evidence]) -> Mapping[tuple[str, int], float]:
    """What units lose by where they stand, where a reason is asked for: 0 for the best place there is, never less.

    Args:
        found: Units of the found passages.
    """
    own = {item.place: item.own for item in found}
    paragraphs: dict[tuple[str, int], float] = {}
    for item in found:
        key = (item.chunk.chunk_id, item.unit.block)
        paragraphs[key] = max(item.own, paragraphs.get(key, 0.0))
    places = {
        item.place: BEFORE * own.get((item.chunk.chunk_id, item.position - 1), 0.0)
        + PARAGRAPH * paragraphs[item.chunk.chunk_id, item.unit.block]
        + PASSAGE * item.passage
        for item in found
    }
    best = max(places.values(), default=0.0)
    return {place: best - value for place, value in places.items()}
