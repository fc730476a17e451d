"""What serves a follow-up that names nothing of its own ("why?", "I don't get it", "and the other one?").

It holds on to the answer before: to the term that was asked about, to the words of the book that were quoted, to their
section. An entry that was told already is never told again.
"""

from collections.abc import Mapping

from lutrin.index.companion import OF_A_TERM, Companion, Kind, Prepared
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import plain
from lutrin.query.frames import Frame, frame_of
from lutrin.query.understand import Query
from lutrin.search.reader import Float
from lutrin.study.marked import Mark, is_named, is_of_section, likeness_of, proved_units, touched

KINDS: Mapping[Frame, tuple[Kind, ...]] = {
    "more": ("explanation", "question", "keypoints"),
    "simpler": ("simpler", "explanation", "analogy", "keypoints"),
    "definition": ("simpler", "term", "explanation"),
    "other": ("term",),
    "example": ("example",),
    "analogy": ("analogy",),
    "why": ("explanation", "question"),
    "how": ("explanation", "question"),
    "summary": ("keypoints",),
}
"""Kinds of entries that serve, the best first; for other wishes the book is searched."""


async def answered(generation: OpenGeneration, query: Query) -> Mark | None:
    """Where in a book the answer stands on which a question leans; None: not in this one.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    chunks = {chunk.chunk_id: chunk for chunk in await generation.chunks([name for name, _ in query.quotes])}
    for name, quote in query.quotes:
        home = chunks.get(name)
        if home is not None and (units := tuple(touched(home.units, plain(quote)))):
            return Mark(home, query.subject, units)
    return None


def following(
    companion: Companion, mark: Mark, vector: Float, wish: Frame, *, said: str, withheld: frozenset[Kind] = frozenset()
) -> Prepared | None:
    """The entry that a follow-up gets, by its mark and vector (d,); None: nothing belongs to that answer."""
    kinds = [kind for kind in KINDS.get(wish, ()) if kind not in withheld]
    likeness = likeness_of(companion, vector)
    fitting = [
        (
            (
                kinds.index(item.entry.kind) if item.entry.kind in OF_A_TERM else 0,
                closeness,
                -likeness.get(item.entry.topic, -1.0),
                place,
            ),
            item,
        )
        for place, item in enumerate(companion.shown(*kinds))
        if (closeness := _closeness(mark, item, wish)) is not None
        and plain(" ".join(item.entry.points)) not in said
        and (wish not in {"why", "how"} or frame_of(item.entry.topic)[0] == wish)
    ]
    return min(fitting, key=lambda pair: pair[0])[1] if fitting else None


def _closeness(mark: Mark, item: Prepared, wish: Frame) -> int | None:
    """How closely an entry belongs to the answer before, 0 the closest; None: it does not."""
    of_term = item.entry.kind in OF_A_TERM
    named = of_term and any(is_named(mark.text, name) for name in item.entry.names)
    if wish == "other":
        return None if named or item.entry.file != mark.home.filename else 0
    if named or proved_units(mark, item):
        return 0 if named else 1
    return 2 if not of_term and is_of_section(item, mark.home) else None
