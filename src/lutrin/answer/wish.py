"""Tells what a question wants by its likeness to plain ones: a follow-up that names nothing, a question for a name.

A follow-up without a subject or form of its own is compared with one plain request of each kind: more, simpler words,
the proof, the other one. A question for the words behind an abbreviation is asked as the reader knows it best.
"""

import re
from dataclasses import replace
from typing import cast, get_args

import numpy as np

from lutrin.language import lexicon
from lutrin.language.words import subject_stems
from lutrin.query.frames import Frame, frame_of
from lutrin.query.understand import Query
from lutrin.search.question_tokens import pooled_vector
from lutrin.search.search import Searcher

_PLAIN = {text: cast("Frame", wish) for wish in get_args(Frame) for text in lexicon.REQUESTS.get(wish, ())}
WISHES: frozenset[Frame] = frozenset({"more", "simpler", "proof", "other"})
ALIKE = 0.34
"""Cosine from which a follow-up is taken for a plain request; one that is less alike asks something of its own."""
ALIKE_LONG_NAME = 0.5
"""Cosine from which a question on an abbreviation asks for the words behind it, and not what is asked `otherwise`: on
31 such questions and 52 others 27 and 2 are taken for it."""
_ABBREVIATION = re.compile(r"\b[A-Z][a-z]?[A-Z0-9]{1,5}\b")


async def with_wish(searcher: Searcher, query: Query) -> Query:
    """A follow-up with what it wants as its frame, if that is one of `WISHES`, else in its own.

    "What is the full form of ABS?" becomes "What does ABS mean?".
    """
    frame, topic, _ = frame_of(query.typed)
    names = set(_ABBREVIATION.findall(topic))
    if len(names) == 1 and not query.subject and not query.selected_text and frame in {"plain", "definition"}:
        (name,) = names
        long_name, otherwise = lexicon.REQUESTS["long_name"], lexicon.REQUESTS["otherwise"]
        texts = [re.sub(rf"\b(?:(?i:an?|the) )?{name}\b", "it", topic), *long_name, *otherwise]
        first, *others = (pooled_vector(encoding) for encoding in await searcher.encode(texts))
        cosines = np.array(others) @ first
        if cosines.max() >= ALIKE_LONG_NAME and cosines.argmax() < len(long_name):
            asked = f"What does {name} mean?"
            return replace(query, topic=asked, parts=(asked,), frame="definition")
    if not query.subject or frame not in {"plain", "definition"} or subject_stems(topic):
        return query
    first, *others = (pooled_vector(encoding) for encoding in await searcher.encode([query.typed, *_PLAIN]))
    cosines = np.array(others) @ first
    wish = list(_PLAIN.values())[int(cosines.argmax())]
    if wish in WISHES and cosines.max() >= ALIKE:
        return replace(query, frame=wish, added="")
    return replace(query, frame=frame)
