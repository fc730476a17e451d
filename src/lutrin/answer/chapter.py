"""A chapter in short, where nobody prepared that: of each section the sentence that says most on the chapter's title.

Without a model these are the answer. A model sums up the likeliest reading sections, one after the other: several at
once are too much for a small one.
"""

from collections.abc import Iterator

from lutrin import messages
from lutrin.answer import safety
from lutrin.answer.cite import citation, excerpt
from lutrin.answer.excerpt import MOST_EXCERPTS, UnitRun, asks
from lutrin.answer.hostile import gives_orders
from lutrin.answer.plan import Ground, Plan, guards_of, reading_of, texts_of
from lutrin.answer.render import block_text
from lutrin.answer.section import section_of
from lutrin.index.generation import OpenGeneration
from lutrin.query.followup import refers
from lutrin.query.understand import Query
from lutrin.records import Sentence, Unit
from lutrin.search.reader import ScoredPassage
from lutrin.search.search import SearchResult

MOST_QUOTED = 5
"""Sentences of the book's own answer."""
MOST_READ = 4
"""Reading sections of a model; each takes about as long as an answer."""


async def chapter_plan(query: Query, generation: OpenGeneration, found: SearchResult, *, is_read: bool) -> Plan | None:
    """The answer to "Summarise chapter 3".

    Args:
        query: Asks for nothing but a summary of a chapter.
        generation: The book that has it.
        found: What the chapter says on its title.
        is_read: Whether a model reads it.

    Returns:
        None if no sentence of the chapter can stand alone.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    best: dict[tuple[str, tuple[tuple[str, ...], str, str]], UnitRun] = {}
    for item in found.parts[0].passages:
        place = item.chunk.filename, section_of(item.chunk)
        for one in _sentences(item):
            if place not in best or best[place].score < one.score:
                best[place] = one
    likeliest = sorted(best.values(), key=lambda run: -run.score)[:MOST_QUOTED]
    files = [file.filename for file in await generation.files()]
    in_order = sorted(likeliest, key=lambda run: (files.index(run.chunk.filename), run.span))
    runs, told = await safety.made_safe(generation, in_order)
    if not runs:
        return None
    reading = await reading_of(generation, found.parts[:1], runs, sections=MOST_READ if is_read else 0)
    texts = await texts_of(generation, query, [run.chunk for run in runs] + [one.chunk for _, one in reading])
    numbered = list(enumerate(runs, 1))
    chances = {item.chunk.chunk_id: item.score for item in found.passages}
    lead = [Sentence(text=messages.NO_SUCH_FORM["summary"])]
    lead += [Sentence(text=block_text(run.units), citations=(number,)) for number, run in numbered]
    guards = guards_of(runs)
    return Plan(
        query=query,
        title=generation.book.title,
        generation=generation.name,
        text="",
        lead=tuple(lead),
        reading=tuple(sorted(reading, key=lambda one: (files.index(one[1].chunk.filename), one[1].key))),
        excerpts=tuple(excerpt(run, number, texts[run.chunk.chunk_id]) for number, run in numbered[:MOST_EXCERPTS]),
        sources=tuple(citation(run.chunk, run.span, n, texts[run.chunk.chunk_id], chances) for n, run in numbered),
        ground=Ground(tuple(runs), texts, chances, 1),
        warnings=(*query.warnings, *told),
        guarded=bool(guards or told),
        guards=guards,
    )


def _sentences(item: ScoredPassage) -> Iterator[UnitRun]:
    """The sentences of a passage that can stand alone."""
    units = item.chunk.units
    for place, (unit, score) in enumerate(zip(units, item.scores.tolist(), strict=True)):
        if item.chunk.role == "text" and _stands_alone(unit):
            yield UnitRun(item.chunk, (unit,), (score,), score, cut_before=place > 0, cut_after=place + 1 < len(units))


def _stands_alone(unit: Unit) -> bool:
    is_text = unit.kind == "sentence" and unit.role == "text" and not unit.warning and not asks(unit)
    return is_text and unit.text.rstrip().endswith((".", "!")) and not refers(unit.text) and not gives_orders(unit.text)
