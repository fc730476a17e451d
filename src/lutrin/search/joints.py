"""Finds where a question joins two questions: "explain drift, and how many volts does the pack need".

At every punctuation mark and conjunction, the reader searches for each half alone. A regression on the results and on
the similarity of the halves decides whether there are two questions (`python -m evaluation.joints` fits it).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.language import lexicon
from lutrin.language.words import topic_words, words
from lutrin.query.frames import asks
from lutrin.query.understand import MAX_PARTS, Query, completed_half
from lutrin.search.fits import Float, VectorFit, load_fit
from lutrin.search.result import Part
from lutrin.search.search import Searcher

SIGNALS = (
    "lesser odds of a half", "greater odds of a half", "lesser odds less those of the whole", "same unit",
    "the left in the passage of the whole", "the right in it", "likeness of the halves", "of the left to the whole",
    "of the right to the whole", "words of the left", "words of the right", "the left opens as a question",
    "the right does", "sentence ends", "comma",
)  # fmt: skip
MOST_JOINTS = 4
"""Each joint costs two searches without the cross-encoder."""
MOST_WORDS = 200
"""Budget of words to search for again: every joint of a question of fifty words, one joint of two hundred."""
_WORDS = "|".join(lexicon.JOINING)
_JOINT = re.compile(rf"(?:(?P<mark>[,;?.!])\s+(?:(?:{_WORDS})\s+)?|\b(?:{_WORDS})\s+)", re.IGNORECASE)
_EDGES = " ,;?.!"
MOST_ODDS = 20.0
"""Cap: the log odds of a certainty, such as a figure named by number, would be infinite."""


@cache
def fit() -> VectorFit:
    """The fit of `python -m evaluation.joints`, on `SIGNALS`: a yes means two questions."""
    return load_fit("lutrin.search", "joints.json", VectorFit)


def model_of(embedder: str) -> str:
    """The model in an embedder's name, without the windows in which it reads.

    >>> model_of("lutrin-reader-87df674b/w256o32/i8")
    'lutrin-reader-87df674b'
    """
    return embedder.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Joint:
    """A place where a second question may begin."""

    left: str
    right: str
    mark: str
    """The punctuation mark at the joint; empty if a conjunction stands alone."""
    span: tuple[int, int]
    """Position in the topic."""

    @property
    def halves(self) -> tuple[str, str]:
        """Both halves, each understandable alone."""
        return self.left, completed_half(self.left, self.right)


def joints_of(topic: str) -> Iterator[Joint]:
    """The places at which a topic can be split so that both halves name something.

    >>> [(one.left, one.right) for one in joints_of("define drift, and how hot may the pack get?")]
    [('define drift', 'how hot may the pack get')]
    """
    for match in _JOINT.finditer(topic):
        left, right = topic[: match.start()].strip(_EDGES), topic[match.end() :].strip(_EDGES)
        if topic_words(left) and topic_words(right) and len(words(left)) > 1:
            yield Joint(left, right, match["mark"] or "", match.span())


def first_joints(topic: str) -> list[Joint]:
    """The first places at which a topic can be split; fewer for a longer topic, since each needs new searches."""
    return list(islice(joints_of(topic), min(MOST_JOINTS, MOST_WORDS // max(1, len(words(topic))))))


async def signals_of(
    searcher: Searcher, generations: Sequence[OpenGeneration], query: Query, joints: Sequence[Joint]
) -> list[Float]:
    """The signals of each joint, in the order of `SIGNALS`; zeros where a half finds nothing.

    Raises:
        IndexUnavailable: No book can be read.
    """
    texts = [query.topic, *(half for one in joints for half in one.halves)]
    asked = replace(query, parts=tuple(texts), frame="plain")
    result = await searcher.search(generations, asked, k=1, again=False)
    halves = [text for one in joints for text in (one.left, one.right)]
    vectors = [one.pooled for one in await searcher.encode([query.topic, *halves])]
    whole, *found = result.parts
    rows = []
    for place, joint in enumerate(joints):
        left, right = found[2 * place : 2 * place + 2]
        if not (whole.passages and left.passages and right.passages):
            rows.append(np.zeros(len(SIGNALS), dtype=np.float32))
            continue
        (home, _), first, second = map(_best, (whole, left, right))
        lesser, greater = sorted(np.clip((left.odds, right.odds), -MOST_ODDS, MOST_ODDS).tolist())
        a, b, c = vectors[0], vectors[2 * place + 1], vectors[2 * place + 2]
        row = (
            lesser, greater, lesser - whole.odds, first == second, first[0] == home, second[0] == home, b @ c, a @ b,
            a @ c, len(words(joint.left)), len(words(joint.right)), asks(joint.left), asks(joint.right),
            joint.mark in {"?", ".", "!"}, joint.mark in {",", ";"},
        )  # fmt: skip
        rows.append(np.clip(np.array(row, dtype=np.float32), -MOST_ODDS, MOST_ODDS))
    return rows


def _best(part: Part) -> tuple[str, int]:
    item = part.passages[0]
    return item.chunk.chunk_id, int(item.scores.argmax())


async def parted(searcher: Searcher, generations: Sequence[OpenGeneration], query: Query) -> Query:
    """Split a query into the questions that it joins; return it unchanged if it asks one thing or leans on anything.

    Raises:
        IndexUnavailable: No book can be read.
    """
    if model_of(searcher.embedder.name) != fit().embedder:
        return query
    is_one = len(query.parts) == 1 and query.frame not in {"about", "compare", "compute", "quiz"}
    if not is_one or query.selected_text or query.subject or query.whole_chapter:
        return query
    joints = first_joints(query.topic)
    if not joints:
        return query
    odds = [fit().odds(row) for row in await signals_of(searcher, generations, query, joints)]
    cuts = [joint for joint, one in zip(joints, odds, strict=True) if one > 0][: MAX_PARTS - 1]
    if not cuts:
        return query
    starts, ends = [0, *(cut.span[1] for cut in cuts)], [*(cut.span[0] for cut in cuts), len(query.topic)]
    first, *others = (query.topic[start:end].strip(_EDGES) for start, end in zip(starts, ends, strict=True))
    parts = (first, *(completed_half(first, other) for other in others))
    return replace(query, parts=parts)
