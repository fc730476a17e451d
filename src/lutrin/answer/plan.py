"""A plan: everything about an answer that is decided before a word is generated. It never changes afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lutrin import messages
from lutrin.answer import safety
from lutrin.answer.about import about_book
from lutrin.answer.cite import citation, excerpt
from lutrin.answer.excerpt import Run, choose, is_procedure
from lutrin.answer.refuse import refusal_text, suggestions
from lutrin.answer.render import markdown
from lutrin.index.generation import OpenGeneration
from lutrin.query.respell import slips_of
from lutrin.query.understand import Query
from lutrin.records import SELECTED, Chunk, Citation, Excerpt, Refusal
from lutrin.search.scope import judge
from lutrin.search.search import Found, Part

SHOWN = 5
"""Passages that the model is shown besides the excerpts, at most; how many fit is the generator's matter."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an answer will rest on."""

    query: Query
    title: str
    generation: str
    """Name of the index generation."""
    text: str
    """In Markdown: the excerpts with their markers, or the refusal, or what the book's contents tell."""
    excerpts: tuple[Excerpt, ...] = ()
    sources: tuple[Citation, ...] = ()
    """Of the excerpts, by number from 1."""
    shown: tuple[tuple[int, Chunk], ...] = ()
    """What the model may be shown, with the number by which it is cited."""
    further: Mapping[int, Citation] | None = None
    """Citations of what is shown besides the excerpts, by number; they are sources once they are cited."""
    warnings: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    refusal: Refusal | None = None
    explanation: str = ""
    """What was prepared on the question, in Markdown with markers; empty: nothing was."""
    prepared_by: str = ""
    """Who prepared it."""
    by_model: bool = False
    """Whether a model wrote it."""
    guarded: bool = False
    """Whether it is about something hazardous: the book's warning, or a caution, comes before everything else."""
    guards: tuple[tuple[str, int], ...] = ()
    """The book's warnings among the excerpts, word for word, with their numbers."""
    procedural: bool = False
    """Whether the excerpts hold a procedure."""

    @property
    def explainable(self) -> bool:
        """Whether a model may add an explanation. Hazardous procedures are given in the book's words only."""
        is_open = self.refusal is None and not self.explanation and bool(self.shown)
        return is_open and not (self.guarded and self.procedural)


def refused(query: Query, refusal: Refusal, *, title: str, generation: str, found: Found | None = None) -> Plan:
    """A refusal in the words of the surface that asked, with topics that the book does cover."""
    near = suggestions(found.passages) if found and refusal in {"out_of_scope", "not_in_book"} else ()
    text = refusal_text(refusal, query.question, title)
    return Plan(query, title, generation, text, warnings=query.warnings, suggestions=near, refusal=refusal)


async def from_contents(query: Query, generation: OpenGeneration) -> Plan:
    """An answer to a question about the book itself, from its table of contents."""
    if query.about is None:
        raise ValueError("the question is not about the book itself")
    told = about_book(query.about, generation.book, await generation.files(), page=query.page)
    return Plan(query, generation.book.title, generation.name, told, warnings=query.warnings)


async def make_plan(query: Query, generation: OpenGeneration, found: Found) -> Plan:
    """Decide what answers a query.

    Args:
        query: What is asked.
        generation: The book that answers.
        found: The evidence.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    title, name = generation.book.title, generation.name
    refusal = judge(found.odds, found=bool(found.passages))
    if query.mode == "selection":
        refusal = None if found.odds >= 0 else "not_in_selection"
    if refusal is not None:
        return refused(query, refusal, title=title, generation=name, found=found)
    answered = [part for part in found.parts if part.odds >= 0]
    runs, told = await safety.made_safe(generation, choose(answered, wants_code=query.frame == "code"))
    if not runs:
        return Plan(query, title, name, "\n\n".join(told), warnings=(*query.warnings, *told))
    sources = await _sources(generation, query, runs)
    numbered = list(enumerate(runs, 1))
    chances = {item.chunk.chunk_id: item.score for item in found.passages}
    shown, further = await _shown(generation, query, runs, found)
    guards = _guards(runs)
    # That the book does not have the requested form is said before the excerpts.
    preface = [messages.NO_SUCH_FORM[query.frame]] if query.frame in messages.NO_SUCH_FORM else []
    return Plan(
        query=query,
        title=title,
        generation=name,
        text="\n\n".join([*preface, *(markdown(run.units, number) for number, run in numbered)]),
        excerpts=tuple(excerpt(run, number, sources[run.chunk.chunk_id]) for number, run in numbered),
        sources=tuple(
            citation(run.chunk, run.span, number, sources[run.chunk.chunk_id], chances) for number, run in numbered
        ),
        shown=shown,
        further=further,
        warnings=(*query.warnings, *_warnings(query, found, answered, runs), *told),
        guarded=bool(guards or told),
        guards=guards,
        procedural=any(is_procedure(run.units) for run in runs),
    )


def _guards(runs: Sequence[Run]) -> tuple[tuple[str, int], ...]:
    """List the book's warnings among the excerpts, each once with its excerpt's number, without titles."""
    told: set[tuple[str, int]] = set()
    texts: dict[int, list[str]] = {}
    for number, run in enumerate(runs, 1):
        for unit in run.units:
            place = (run.chunk.filename, unit.char_start)
            if unit.warning and unit.kind != "code" and unit.text.rstrip().endswith(safety.ENDS) and place not in told:
                told.add(place)
                texts.setdefault(number, []).append(unit.text)
    return tuple((" ".join(found), number) for number, found in texts.items())


def respellings(changes: Mapping[str, str]) -> list[str]:
    """What is told of words that counted as slips."""
    return [messages.RESPELLED.format(word=word, other=other) for word, other in slips_of(changes).items()]


def _warnings(query: Query, found: Found, answered: Sequence[Part], runs: Sequence[Run]) -> list[str]:
    """Collect the warnings that go with the answer."""
    told = respellings(found.changes)
    if len(query.parts) == len(found.parts):
        told += [messages.PART_NOT_COVERED.format(part=part.text) for part in found.parts if part not in answered]
    note = safety.simulation_note(run.chunk for run in runs)
    return [*told, note] if note else told


async def _sources(generation: OpenGeneration, query: Query, runs: Sequence[Run]) -> dict[str, str]:
    """The text from which each passage is quoted, by chunk id; a selection is its own source."""
    return {
        run.chunk.chunk_id: query.selected_text
        if run.chunk.chunk_id == SELECTED
        else await generation.source(run.chunk.filename)
        for run in runs
    }


async def _shown(
    generation: OpenGeneration, query: Query, runs: Sequence[Run], found: Found
) -> tuple[tuple[tuple[int, Chunk], ...], dict[int, Citation]]:
    """The passages for the model: those of the excerpts under their numbers, then others that were found."""
    shown = {run.chunk.chunk_id: (number, run.chunk) for number, run in reversed(list(enumerate(runs, 1)))}
    chances = {item.chunk.chunk_id: item.score for item in found.passages}
    further: dict[int, Citation] = {}
    for passage in found.passages if query.mode != "selection" else ():
        chunk = passage.chunk
        if chunk.chunk_id not in shown and len(further) < SHOWN and chunk.units:
            number = len(runs) + len(further) + 1
            shown[chunk.chunk_id] = (number, chunk)
            span = (chunk.units[0].char_start, chunk.units[0].char_end)
            further[number] = citation(chunk, span, number, await generation.source(chunk.filename), chances)
    return tuple(sorted(shown.values(), key=lambda pair: pair[0])), further
