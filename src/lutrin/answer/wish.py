"""Tells what a follow-up wants that names no subject and no form: more, simpler words, the proof, the other one.

The reader compares it with one plain request of each kind, and with plain questions, which ask something of their own.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from lutrin.language.words import subject_stems
from lutrin.query.frames import Frame, frame_of
from lutrin.query.understand import Query
from lutrin.search.question_tokens import pooled
from lutrin.search.search import Searcher

REQUESTS: Mapping[str, Frame] = {
    "Tell me more about it.": "more",
    "Go on, what else is there?": "more",
    "I don't get it.": "simpler",
    "I do not understand it, explain it in simpler words.": "simpler",
    "Are you sure that this is true?": "proof",
    "Really? Where does the book say that?": "proof",
    "And what about the other one?": "other",
    "What is it?": "definition",
    "Why is that?": "why",
    "How does it work?": "how",
    "How much is it?": "number",
    "Which ones are there?": "list",
    "Is it good?": "plain",
}
WISHES: frozenset[Frame] = frozenset({"more", "simpler", "proof", "other"})
ALIKE = 0.34
"""Cosine from which a follow-up is taken for a plain request; one that is less alike asks something of its own."""


async def with_wish(searcher: Searcher, query: Query) -> Query:
    """A follow-up with what it wants as its frame, if that is one of `WISHES`, else in its own."""
    frame, topic, _ = frame_of(query.typed)
    if not query.subject or frame not in {"plain", "definition"} or subject_stems(topic):
        return query
    first, *others = (pooled(encoding) for encoding in await searcher.encode([query.typed, *REQUESTS]))
    cosines = np.array(others) @ first
    wish = list(REQUESTS.values())[int(cosines.argmax())]
    if wish in WISHES and cosines.max() >= ALIKE:
        return replace(query, frame=wish, added="")
    return replace(query, frame=frame)
