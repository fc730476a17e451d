"""Plans for questions about a whole chapter or page: its subject, and all of its code.

The book's own sentences give its subject: the first of each section that can stand alone, upper sections before those
below them; with few sections, then the sentences that cover the rest best. Without a model they are the answer. A model
sums up the likeliest reading sections one by one: several at once are too much for a small one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from lutrin import messages
from lutrin.answer.contents import MOST_LISTED
from lutrin.answer.evidence import Evidence
from lutrin.answer.hostile import gives_orders
from lutrin.answer.plan import Plan, quote_runs
from lutrin.answer.render import block_text
from lutrin.answer.runs import MOST_EXCERPTS, Run, announced, choose, section_of
from lutrin.index.generation import OpenGeneration
from lutrin.ports import Encode
from lutrin.query.conversation import refers
from lutrin.query.understand import Query
from lutrin.records import Chunk, Sentence, Unit
from lutrin.search.fits import Float
from lutrin.search.result import ScoredPassage

MOST_QUOTED = 5
"""Sentences in the book's own summary of a chapter."""
MOST_READ = 4
"""Reading sections for a model that sums up a chapter; each takes about as long as an answer."""
MOST_BLOCKS = 20
"""Blocks of code to show of a page."""


async def overview_plan(found: Evidence, encode: Encode, *, is_read: bool) -> Plan | None:
    """Answer a question about a whole chapter or page; None for any other question, or if there is nothing to show.

    Args:
        found: The chapter's passages on its title.
        encode: Encodes the sentences of a page that has few sections.
        is_read: Whether a model reads the likeliest sections.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    if found.query.pointing == "commands":
        return await _all_code(found)
    return await _summary(found, encode, is_read=is_read) if found.query.sums_chapter else None


async def _summary(found: Evidence, encode: Encode, *, is_read: bool) -> Plan | None:
    query, generation, result = found.query, found.generation, found.result
    order = [file.filename for file in generation.files]
    files = {item.chunk.filename for item in result.parts[0].passages}
    first = {name: await _first_place(generation, name) for name in files}
    alone = (one for item in result.parts[0].passages for one in _sentences_alone(item, first[item.chunk.filename]))
    by_place = {(order.index(one.chunk.filename), one.span): one for one in alone}
    sentences = [by_place[place] for place in sorted(by_place)]
    chosen = await _cover_places(sentences, _lead_places(sentences), encode)
    if not chosen and not query.within:
        return None
    runs = [sentences[place] for place in sorted(chosen)] or choose(result.parts, query.frame)
    plan = await quote_runs(found, runs, result.parts[:1], MOST_READ if is_read else 0)
    if not plan.runs:
        return None
    in_pages = sorted(plan.reading, key=lambda one: (order.index(one[1].chunk.filename), one[1].key))
    lead = [Sentence(text=await _opening(query, generation))]
    if chosen:
        lead += [Sentence(text=block_text(run.units), citations=(number,)) for number, run in enumerate(plan.runs, 1)]
    excerpts = plan.excerpts[:MOST_EXCERPTS]
    rest = "" if chosen else plan.text
    return replace(plan, text="", lead=tuple(lead), rest=rest, excerpts=excerpts, reading=tuple(in_pages))


def _lead_places(sentences: Sequence[Run]) -> list[int]:
    """Indices of the first sentence of each section: upper sections first, then those closest to the title."""
    first: dict[tuple[str, tuple[str, ...], str, str], int] = {}
    for place, one in enumerate(sentences):
        first.setdefault(section_of(one.chunk), place)
    upper = sorted(
        first.values(), key=lambda place: (len(sentences[place].chunk.heading_path), -sentences[place].score)
    )
    return upper[:MOST_QUOTED]


async def _cover_places(sentences: Sequence[Run], chosen: Sequence[int], encode: Encode) -> list[int]:
    """Add as many sentences as are wanted: each time the one that covers best what is still uncovered.

    A sentence is covered by its largest cosine to a chosen one (facility location; Lin and Bilmes 2011,
    https://aclanthology.org/P11-1052).
    """
    places = list(chosen)
    wanted = min(MOST_QUOTED, len(sentences))
    if len(places) >= wanted:
        return places
    vectors = np.array([one.pooled for one in await encode([run.units[0].text for run in sentences])])
    cosines: Float = vectors @ vectors.T
    covered = cosines[places].max(axis=0)
    while len(places) < wanted:
        gains = np.maximum(cosines, covered).sum(axis=1)
        gains[places] = -np.inf
        places.append(int(gains.argmax()))
        covered = np.maximum(covered, cosines[places[-1]])
    return places


async def _opening(query: Query, generation: OpenGeneration) -> str:
    """The text above the summary of a chapter, or of a page with its sections."""
    if not query.within:
        return messages.NO_SUCH_FORM["summary"]
    titles = dict.fromkeys(chunk.section_title for chunk in await generation.chunks_of(query.within))
    own = [title for title in titles if title != query.topic][:MOST_LISTED]
    return messages.ON_PAGE.format(title=query.topic) + (
        f" {messages.PAGE_HAS.format(titles='; '.join(own))}" if own else ""
    )


async def _first_place(generation: OpenGeneration, filename: str) -> int:
    """Offset of the first sentence of a page."""
    units = (unit for chunk in await generation.chunks_of(filename) for unit in chunk.units)
    return min((unit.char_start for unit in units if unit.kind == "sentence"), default=-1)


def _sentences_alone(item: ScoredPassage, first: int) -> Iterator[Run]:
    """The sentences of a passage that can stand alone: the `first` one of a page refers to nothing before it."""
    if item.chunk.role == "text":
        passage = Run(item.chunk, item.chunk.units, tuple(item.scores.tolist()))
        for place, unit in enumerate(passage.units):
            if _is_statement(unit) and (unit.char_start == first or not refers(unit.text)):
                yield passage.part(place, place + 1)


def _is_statement(unit: Unit) -> bool:
    is_text = unit.kind == "sentence" and unit.role == "text" and not unit.warning and not unit.asks
    return is_text and unit.text.rstrip().endswith((".", "!")) and not gives_orders(unit.text)


async def _all_code(found: Evidence) -> Plan:
    """The blocks of code of a page, in order, each below its announcement."""
    page = await found.generation.chunks_of(found.query.within)
    blocks = list(_blocks(page))
    runs = [announced(page, home, code) for home, code in blocks[:MOST_BLOCKS]]
    plan = await quote_runs(found, runs, (), 0)
    if not blocks:
        return replace(plan, text=messages.NO_CODE_HERE)
    more = len(blocks) - MOST_BLOCKS
    text = [*plan.notices, plan.text, *([messages.MORE_OF_THEM.format(count=more)] if more > 0 else [])]
    return replace(plan, text="\n\n".join(text), excerpts=plan.excerpts[:MOST_EXCERPTS])


def _blocks(chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, Unit]]:
    """The blocks of code in a page's passages, with the passages; no figures, and no output right below a block."""
    owners = {unit.char_start: (chunk, unit) for chunk in reversed(chunks) for unit in chunk.units}
    before = ""
    for place in sorted(owners):
        chunk, unit = owners[place]
        if unit.kind == "code" != before and not unit.is_drawn:
            yield chunk, unit
        before = unit.kind
