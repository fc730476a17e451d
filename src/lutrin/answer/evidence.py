"""Finds evidence for a question in the books on a shelf, once they have settled what it means.

The books decide what "this page", "chapter 3", a reference to the previous answer, or a joint of two questions means. A
question that points at its page, "What is the purpose?", is answered from there (`answer.pointing`); any other is
searched for in the whole book. If no passage covers two things that are named side by side, "annealing and quenching",
each is searched for alone, so that each gets its answer.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lutrin.answer.pointing import points_at
from lutrin.answer.runs import PASSAGES, choose
from lutrin.index.generation import FileEntry, OpenGeneration
from lutrin.language.words import name_phrase, stem_set, subject_stems, topic_stems, words
from lutrin.query.frames import Frame
from lutrin.query.understand import Pointing, Query, sides_of
from lutrin.records import Unit, UnitKind
from lutrin.search.filters import in_chapter
from lutrin.search.joints import parted
from lutrin.search.result import Part, ScoredPassage, SearchResult
from lutrin.search.search import Searcher

KINDS: dict[Pointing, UnitKind] = {"table": "table_row", "code": "code", "figure": "caption"}
"""Kind of unit that a question points at."""
WHOLE: dict[Pointing, Frame] = {"page": "summary", "terms": "summary", "commands": "code"}
"""The search text for all of a page, and the form of the answer."""
OWN_FORMS: frozenset[Frame] = frozenset({"quiz", "simpler"})
"""Other forms in which a page may be requested."""
_ALONE = "What is {name}?"


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence for a question."""

    query: Query
    """The question as searched."""
    result: SearchResult
    open_title: str = ""
    """Title of the book whose page the reader has open; empty if no page is known."""

    @property
    def generation(self) -> OpenGeneration:
        """The book that answers best."""
        return self.result.generation


async def as_meant(searcher: Searcher, generations: Sequence[OpenGeneration], query: Query) -> Query:
    """Resolve a question on this shelf: its page, its chapter, its link to the previous answer, and its parts.

    Raises:
        InvalidQuestion: No book has the named chapter or module.
        IndexUnavailable: A book cannot be read.
    """
    query = await _on_page(searcher, await _on_conversation(searcher, query, generations), generations)
    query = query if query.within else in_chapter(query, generations)
    return await parted(searcher, generations, query)


async def find_evidence(searcher: Searcher, generations: Sequence[OpenGeneration], query: Query, *, k: int) -> Evidence:
    """Find the evidence for a resolved question: first in its page, if it means one.

    Args:
        searcher: Searches a book.
        generations: The books.
        query: From `as_meant`.
        k: Most passages.

    Raises:
        InvalidQuestion: No book has the named chapter or module.
        IndexUnavailable: A book cannot be read.
    """
    result = await _find_each(searcher, query, generations, k)
    if query.within and not query.whole_chapter:
        result = of_kind(result, query.pointing)
        # If the page is mentioned beside another subject, its nearest passage still comes before one of another page.
        if query.name_stems and result.verdict != "answers":
            result = replace(result, parts=tuple(part.shown() for part in result.parts))
        elif result.verdict != "answers":
            # The page does not answer the question, but the book may.
            query = replace(query, within="")
            result = await _find_each(searcher, query, generations, k)
    elif query.pointing == "perhaps":
        on_page = replace(query, within=query.page)
        nearest = await _find_each(searcher, on_page, generations, k)
        if nearest.passages and (nearest.verdict == "answers" or result.verdict != "answers"):
            query, result = on_page, replace(nearest, parts=tuple(part.shown() for part in nearest.parts))
    page = _open_page(query, generations)
    return Evidence(query, result, page[0].book.title if page is not None else "")


async def find_more(searcher: Searcher, generations: Sequence[OpenGeneration], found: Evidence, *, k: int) -> Evidence:
    """Find more evidence, for a question whose answer would repeat what the reader has read.

    Raises:
        IndexUnavailable: A book cannot be read.
    """
    more = replace(found.query, frame="more", added="")
    return replace(found, result=await searcher.search(generations, more, k=k))


async def _on_conversation(searcher: Searcher, query: Query, generations: Sequence[OpenGeneration]) -> Query:
    """The question as a follow-up, if the book is likelier to answer it so than alone."""
    if query.leaning is None:
        return query
    alone_result = await searcher.search(generations, query, k=1, again=False)
    result = await searcher.search(generations, query.leaning, k=1, again=False)
    return query.leaning if result.odds > alone_result.odds else query


async def _on_page(searcher: Searcher, query: Query, generations: Sequence[OpenGeneration]) -> Query:
    """Limit a question to the open page; return it unchanged if it does not mean the page.

    Raises:
        IndexUnavailable: A book cannot be read.
    """
    kind = await points_at(searcher, query) if query.page else "none"
    page = _open_page(query, generations)
    if page is None or kind == "none":
        return query
    query = replace(query, within=query.page if kind != "perhaps" else "", pointing=kind)
    if kind not in WHOLE:
        return query
    frame: Frame = query.frame if query.frame in OWN_FORMS else WHOLE[kind]
    title = page[1].title
    return replace(query, frame=frame, about=None, topic=title, parts=(title,), whole_chapter=True, refusal=None)


def _open_page(query: Query, generations: Sequence[OpenGeneration]) -> tuple[OpenGeneration, FileEntry] | None:
    """The page that the reader has open, and its book; None if no book has it."""
    for generation in generations if query.page else ():
        for file in generation.files:
            if file.filename == query.page:
                return generation, file
    return None


def of_kind(result: SearchResult, kind: Pointing) -> SearchResult:
    """Keep only the kind of unit that a question points at; keep everything if the page has none.

    The question means the page, so the page answers it.
    """
    wanted = KINDS.get(kind)
    parts = []
    for part in result.parts:
        own = [one for one in part.passages if any(unit.kind == wanted for unit in one.chunk.units)]
        only = tuple(_with_only(one, lambda unit: unit.kind == wanted) for one in own)
        passages = only if wanted is not None and own else part.passages
        is_meant = bool(passages) and (bool(own) or (kind == "here" and not subject_stems(part.text)))
        parts.append(replace(part, passages=passages, odds=np.inf if is_meant else part.odds))
    return replace(result, parts=tuple(parts))


def _with_only(item: ScoredPassage, is_wanted: Callable[[Unit], bool]) -> ScoredPassage:
    mask = np.array([is_wanted(unit) for unit in item.chunk.units], dtype=np.bool_)
    return replace(item, scores=np.where(mask, item.scores, np.float32(-np.inf)))


async def _find_each(searcher: Searcher, query: Query, generations: Sequence[OpenGeneration], k: int) -> SearchResult:
    """Search for a question, or for each of two things that it names side by side if no passage covers both."""
    result = await searcher.search(generations, query, k=k)
    sides = _each_side(query)
    if sides is None:
        return result
    each, names = sides
    asks_more = query.name_stems - stem_set(" ".join(names))
    if query.frame == "compare" and not asks_more and (table := _table_of(result, names)) is not None:
        return replace(result, parts=(table, *result.parts))
    said = [f"{unit.lead} {unit.text}" for run in choose(result.parts, query.frame) for unit in run.units]
    if tells_apart(names, said) if query.frame == "compare" else _are_named(names, " ".join(said)):
        return result
    both = await searcher.search(generations, each, k=k)
    if both.parts[-2].verdict != "answers" and (first := longer_first(names)):
        both = await searcher.search(generations, _each_named(each, names, first), k=k)
    answered = [part.verdict == "answers" for part in both.parts[-2:]]
    # One side of a comparison is half an answer; a sentence about both may cover them together.
    if all(answered) or (query.frame == "compare" and any(answered)):
        return both
    return result


def _each_side(query: Query) -> tuple[Query, tuple[str, str]] | None:
    """The question for each of two names, and the names; None if it does not name two, or is of another form.

    A comparison also asks what each is; otherwise each name replaces the pair. These questions are the last two parts.
    """
    if len(query.parts) > 1 or query.selected_text or query.is_bare or query.frame in {"about", "compute", "quiz"}:
        return None
    if query.sides is None:
        return None
    (first, first_end), (second, second_end) = query.sides
    topic = query.topic
    names = topic[first:first_end], topic[second:second_end]
    if query.frame == "compare":
        return replace(query, parts=(query.topic, *(_ALONE.format(name=name) for name in names))), names
    before, after = topic[:first], topic[second_end:]
    parts = tuple(" ".join(re.sub(r"\s+", " ", f"{before}{name}{after}").split()) for name in names)
    return replace(query, parts=parts), names


def _table_of(result: SearchResult, names: tuple[str, str]) -> Part | None:
    """The rows of tables that have a column for each of two things, all alike; None: there are none.

    Where nothing else is asked, no row answers better than the others.
    """
    part = result.parts[0]
    own = []
    for item in part.passages[:PASSAGES]:
        rows = _with_only(item, lambda unit: _has_columns(unit, names))
        if np.isfinite(rows.scores).any():
            own.append(replace(rows, scores=np.where(np.isfinite(rows.scores), rows.scores.max(), rows.scores)))
    return replace(part, passages=tuple(own), around=True) if own else None


def _has_columns(unit: Unit, names: tuple[str, str]) -> bool:
    """Whether a row stands in a table with a column for each of two things."""
    columns = {place for name in names for place, head in enumerate(unit.header) if _are_named((name, name), head)}
    return unit.kind == "table_row" and len(columns) > 1


def _are_named(names: tuple[str, str], text: str) -> bool:
    """Whether a text has all words of both names."""
    stems = stem_set(text)
    return all(stem_set(name) <= stems for name in names)


def tells_apart(names: tuple[str, str], said: Sequence[str]) -> bool:
    """Whether sentences or rows say something about each of two things: one about both, or one about each alone.

    A sentence that only names both side by side ("a binary crate or a library crate") says nothing about either.
    """
    alone = set()
    for text in said:
        if not _are_named(names, text):
            alone |= {name for name in names if _are_named((name, name), text)}
        elif not _names_only(names, text):
            return True
    return len(alone) == len(names)


def _names_only(names: tuple[str, str], text: str) -> bool:
    """Whether a text names two things side by side: nothing but function words stands between them."""
    spans = sides_of(text)
    if spans is None or not _are_named(names, text[spans[0][0] : spans[1][1]]):
        return False
    return not topic_stems(text[spans[0][1] : spans[1][0]])


def _each_named(query: Query, names: tuple[str, str], first: str) -> Query:
    """The questions of `_each_side` with another name for the first thing."""
    *whole, one, other = query.parts
    return replace(query, parts=(*whole, one.replace(names[0], first), other))


def longer_first(names: tuple[str, str]) -> str:
    """The first name plus the last word of the second, which may belong to both: "global and local planner".

    Empty if the second has no more words.
    """
    first, second = (words(name) for name in names)
    shared = second[-1] if len(second) > len(first) and second[-1] not in first else ""
    return f"{name_phrase(names[0]) or names[0]} {shared}" if shared else ""
