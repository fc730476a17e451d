"""The page in front of the reader: what "this page", "here", "this table" and "the code above" mean.

What a question points at is told by its likeness to examples, which are data (`pointing.json`). A question that names
nothing of its own is asked of the page, too. Whatever names its subject is searched for in the whole book.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Literal, get_args

import msgspec
import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.language.words import subject_stems
from lutrin.query.frames import Frame
from lutrin.query.understand import Query
from lutrin.records import UnitKind
from lutrin.search.reader import ScoredPassage, pooled_vector
from lutrin.search.search import Searcher, SearchResult

Pointing = Literal["page", "terms", "table", "code", "figure", "here", "none"]
KINDS: dict[Pointing, UnitKind] = {"table": "table_row", "code": "code", "figure": "caption"}
"""The kind of unit that a question points at."""
OWN_FORMS: frozenset[Frame] = frozenset({"quiz", "simpler"})
"""Forms that a page is asked for in; whatever else is asked of all of it is a summary."""


class Examples(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file of examples."""

    least: float
    """Cosine from which a question points as its nearest example does."""
    examples: dict[Pointing, tuple[str, ...]]


@cache
def load_examples() -> Examples:
    """The examples that come with Lutrin."""
    data = resources.files("lutrin.answer").joinpath("pointing.json").read_bytes()
    return msgspec.json.decode(data, type=Examples)


async def points_at(searcher: Searcher, query: Query) -> Pointing:
    """What a question that a reader asks on a page points at; "none": it is asked of the book."""
    if not query.page or query.selected_text or query.subject or (query.frame == "about" and query.about is None):
        return "none"
    labelled = [(kind, text) for kind in get_args(Pointing) for text in load_examples().examples[kind]]
    first, *others = (
        pooled_vector(one) for one in await searcher.encode([query.typed, *(text for _, text in labelled)])
    )
    cosines = np.array(others) @ first
    kind: Pointing = labelled[int(cosines.argmax())][0]
    if cosines.max() >= load_examples().least and kind not in {"here", "none"}:
        return kind
    return "none" if subject_stems(query.topic) else "here"


async def on_page(searcher: Searcher, query: Query, generations: Sequence[OpenGeneration]) -> tuple[Query, Pointing]:
    """The question of the page that is open, and what of it is meant; as it is where it does not mean the page.

    Raises:
        IndexUnavailable: A book cannot be read.
    """
    kind = await points_at(searcher, query) if query.page else "none"
    if kind == "none":
        return query, kind
    for generation in generations:
        for file in await generation.files():
            if file.filename == query.page:
                query = replace(query, within=query.page)
                if kind in {"page", "terms"}:
                    frame: Frame = query.frame if query.frame in OWN_FORMS else "summary"
                    title = file.title
                    query = replace(
                        query, frame=frame, about=None, topic=title, parts=(title,), whole_chapter=True, refusal=None
                    )
                return query, kind
    return query, "none"


def of_kind(result: SearchResult, kind: Pointing) -> SearchResult:
    """What was found, of the kind of unit alone that is pointed at; as it is if the page has none.

    The page is what was meant, so it answers.
    """
    wanted = KINDS.get(kind)
    parts = []
    for part in result.parts:
        own = [one for one in part.passages if any(unit.kind == wanted for unit in one.chunk.units)]
        passages = tuple(_with_only(one, wanted) for one in own) if wanted is not None and own else part.passages
        is_meant = bool(passages) and (bool(own) or (kind == "here" and not subject_stems(part.text)))
        parts.append(replace(part, passages=passages, odds=np.inf if is_meant else part.odds))
    return replace(result, parts=tuple(parts))


def _with_only(item: ScoredPassage, wanted: UnitKind) -> ScoredPassage:
    mask = np.array([unit.kind == wanted for unit in item.chunk.units], dtype=np.bool_)
    return replace(item, scores=np.where(mask, item.scores, np.float32(-np.inf)))
