"""A plan: everything about an answer that is decided before a word is generated. It never changes afterwards."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lutrin import messages
from lutrin.answer import safety
from lutrin.answer.about import about_book
from lutrin.answer.cite import citation, excerpt, span_with_fences
from lutrin.answer.excerpt import MOST_EXCERPTS, PASSAGES, UnitRun, choose, is_procedure, lead_of, proof_of
from lutrin.answer.grade import stands_in
from lutrin.answer.refuse import refusal_text, suggestions
from lutrin.answer.render import block_text, markdown
from lutrin.answer.section import ReadingSection, reading_sections
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import subject_stems, topic_stems
from lutrin.query.respell import slips_of
from lutrin.query.understand import Query
from lutrin.records import SELECTED, Chunk, Citation, Excerpt, Refusal, Sentence, SupportGrade
from lutrin.search.fitted import Verdict
from lutrin.search.scope import UNLIKE, is_far
from lutrin.search.search import Part, SearchResult


@dataclass(frozen=True, slots=True)
class Ground:
    """Where excerpts are taken from."""

    runs: tuple[UnitRun, ...]
    """The reader's excerpts."""
    texts: Mapping[str, str]
    """The text from which each passage is quoted, by chunk id."""
    chances: Mapping[str, float]
    """Probability that a passage answers, by chunk id."""
    things: int
    """That are asked and answered."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an answer will rest on."""

    query: Query
    title: str
    """Of the book that answers."""
    generation: str
    """Name of the index generation."""
    text: str
    """In Markdown: the excerpts with their markers, or the refusal, or what the book's contents tell."""
    lead: tuple[Sentence, ...] = ()
    """The book's own answer, alone and first: the unit that scores best, and warnings that stand before it."""
    rest: str = ""
    """`text` without the lead."""
    open_title: str = ""
    """Of the book that a refusal names."""
    odds: float = 0.0
    """The reader's log odds that the book answers."""
    verdict: Verdict = "answers"
    """Whether it does, as far as it is decided."""
    is_unlike: bool = False
    """Whether the question has nothing to do with the book, if it is refused."""
    reading: tuple[tuple[int, ReadingSection], ...] = ()
    """What a model reads, with the numbers by which it is cited."""
    excerpts: tuple[Excerpt, ...] = ()
    sources: tuple[Citation, ...] = ()
    """Of the excerpts, by number from 1."""
    ground: "Ground | None" = None
    """From what the excerpts that prove a model's sentences are made; None: nothing is read."""
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

    meant: str = ""
    """A prepared question that may be meant, to be offered first."""

    @property
    def explainable(self) -> bool:
        """Whether a model may add an explanation. Hazardous procedures are given in the book's words only."""
        is_open = self.refusal is None and not self.explanation and bool(self.reading)
        return is_open and not (self.guarded and self.procedural)


def refusal_plan(
    query: Query, refusal: Refusal, *, title: str, generation: str, found: SearchResult | None = None
) -> Plan:
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


async def make_plan(
    query: Query, generation: OpenGeneration, found: SearchResult, *, sections: int = 0, open_title: str = ""
) -> Plan:
    """Decide what answers a query, as far as the reader alone can tell; `settle_plan` makes it final.

    Args:
        query: What is asked.
        generation: The book that answers.
        found: The evidence.
        sections: Reading sections that a model is shown for one thing that is asked; 0: no model is asked.
        open_title: Of the book that the reader has open, which refusals name; empty: the one that answers.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    title, name = generation.book.title, generation.name
    in_selection = query.mode == "selection"
    if in_selection and found.odds < 0:
        return refusal_plan(query, "not_in_selection", title=open_title or title, generation=name, found=found)
    if not in_selection and is_far(found.odds, found=bool(found.passages)):
        return refusal_plan(query, "out_of_scope", title=open_title or title, generation=name, found=found)
    verdict: Verdict = "answers" if in_selection else found.verdict
    if verdict == "no" and _names_section(query, found):
        verdict = "closest"
    answered = [part for part in found.parts if in_selection or part.verdict == "answers"]
    answered = answered or [max(found.parts, key=lambda part: part.odds)]
    safe = [safety.without_other_machines(part, safety.hazards_of(generation)) for part in answered]
    runs, told = await safety.made_safe(generation, choose(safe, query.frame))
    if not runs:
        return Plan(query, title, name, "\n\n".join(told), warnings=(*query.warnings, *told))
    reading = await reading_of(generation, safe, runs, sections=sections)
    texts = await texts_of(generation, query, [run.chunk for run in runs] + [one.chunk for _, one in reading])
    numbered = list(enumerate(runs, 1))
    text = [markdown(run.units, number) for number, run in numbered]
    chances = {item.chunk.chunk_id: item.score for item in found.passages}
    guards = guards_of(runs)
    procedural = any(is_procedure(run.units) for run in runs)
    guarded = bool(guards or told)
    lead, rest = ((), "\n\n".join(text)) if guarded else _lead(query, runs, len(answered))
    return Plan(
        query=query,
        title=title,
        generation=name,
        text="\n\n".join(text),
        lead=lead,
        rest=rest,
        open_title=open_title or title,
        odds=found.odds,
        verdict=verdict,
        is_unlike=max((one.cosine or 0.0 for one in found.passages), default=0.0) < UNLIKE,
        reading=reading,
        excerpts=tuple(excerpt(run, number, texts[run.chunk.chunk_id]) for number, run in numbered),
        sources=tuple(_cite(run, number, texts[run.chunk.chunk_id], chances) for number, run in numbered),
        ground=Ground(tuple(runs), texts, chances, len(answered)),
        warnings=(*query.warnings, *_warnings(query, found, answered, runs), *told),
        suggestions=suggestions(found.passages) if verdict != "answers" else (),
        guarded=guarded,
        guards=guards,
        procedural=procedural,
    )


def _names_section(query: Query, found: SearchResult) -> bool:
    """Whether at least half of what a question names is the title of a section that was found.

    What has a heading in the book is never "not covered"; a title of one word, *Soldering*, stands in many a question.
    """
    asked, named = topic_stems(query.topic), subject_stems(query.topic)
    titles = (subject_stems(passage.chunk.section_title) for passage in found.passages)
    return any(title and title <= asked and 2 * len(title) >= len(named) for title in titles)


def _lead(query: Query, runs: Sequence[UnitRun], things: int) -> tuple[tuple[Sentence, ...], str]:
    """The book's own answer, one unit for each thing that is asked, and the rest of the excerpts in Markdown."""
    # That the book does not have the requested form is said first.
    lead = [Sentence(text=messages.NO_SUCH_FORM[query.frame])] if query.frame in messages.NO_SUCH_FORM else []
    rest = []
    for number, run in enumerate(runs, 1):
        left = run
        if number <= things:
            units, left = lead_of(run, query.frame)
            support: SupportGrade = "likely" if run.chunk.recognized else "stated"
            lead += [Sentence(text=block_text(units), citations=(number,), support=support)] if units else []
        if left.units:
            rest.append(markdown(left.units, number))
    return tuple(lead), "\n\n".join(rest)


def settle_plan(plan: Plan, verdict: Verdict) -> Plan:
    """A plan as it is shown once it is decided whether the book answers."""
    if plan.refusal is not None or not plan.excerpts:
        return plan
    if verdict == "no":
        refusal: Refusal = "out_of_scope" if plan.is_unlike else "not_in_book"
        text = refusal_text(refusal, plan.query.question, plan.open_title)
        return Plan(
            plan.query,
            plan.title,
            plan.generation,
            text,
            warnings=plan.query.warnings,
            suggestions=plan.suggestions,
            refusal=refusal,
            odds=plan.odds,
            verdict="no",
            meant=plan.meant,
        )
    if verdict == "closest":
        return replace(plan, verdict=verdict, lead=(), rest=f"{messages.CLOSEST_PASSAGE}\n\n{plan.text}")
    return replace(plan, verdict=verdict, suggestions=() if plan.verdict != "answers" else plan.suggestions)


def with_proof(
    plan: Plan, proofs: Mapping[int, Collection[int]], cited: Collection[int] = (), said: Collection[str] = ()
) -> Plan:
    """The plan with the excerpts that prove a model's sentences in the place of those that the reader found.

    Args:
        plan: Of the answer.
        proofs: Where the units begin on which the sentences rest, by the number of their section.
        cited: Numbers of excerpts that are cited besides: of the book's own sentences.
        said: Sentences that the book states; what of it stands in them word for word is not said again.
    """
    if plan.ground is None or not proofs:
        return plan
    ground = plan.ground
    standing = {number for _, number in plan.guards} | (set(cited) - proofs.keys())
    # Of several things that are asked, each keeps its excerpt, whether the model speaks of it or not.
    runs = {number: run for number, run in enumerate(ground.runs, 1) if ground.things > 1 or number in standing}
    for number, section in plan.reading:
        if number in proofs and number not in standing:
            near = ground.runs[number - 1] if number <= len(ground.runs) else None
            runs[number] = proof_of(section.chunk, section.units, proofs[number], near)
    most_proving = sorted(runs, key=lambda number: (number not in standing, -len(proofs.get(number, ()))))
    quoted = sorted(most_proving[: max(MOST_EXCERPTS, len(standing))])
    texts = {number: ground.texts[run.chunk.chunk_id] for number, run in runs.items()}
    rest = {number: [unit for unit in runs[number].units if not stands_in(unit.text, said)] for number in quoted}
    return replace(
        plan,
        text="\n\n".join(markdown(rest[number], number) for number in quoted if rest[number]),
        excerpts=tuple(excerpt(runs[number], number, texts[number]) for number in quoted),
        sources=tuple(_cite(runs[number], number, texts[number], ground.chances) for number in sorted(runs)),
    )


def _cite(run: UnitRun, n: int, source: str, chances: Mapping[str, float]) -> Citation:
    return citation(run.chunk, span_with_fences(run, source), n, source, chances)


def guards_of(runs: Sequence[UnitRun]) -> tuple[tuple[str, int], ...]:
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


def _warnings(query: Query, found: SearchResult, answered: Sequence[Part], runs: Sequence[UnitRun]) -> list[str]:
    """Collect the warnings that go with the answer."""
    told = respellings(found.changes)
    if len(query.parts) == len(found.parts):
        told += [messages.PART_NOT_COVERED.format(part=part.text) for part in found.parts if part not in answered]
    if any(run.chunk.recognized for run in runs):
        told.append(messages.RECOGNIZED_TEXT)
    note = safety.simulation_note(run.chunk for run in runs)
    return [*told, note] if note else told


async def texts_of(generation: OpenGeneration, query: Query, chunks: Iterable[Chunk]) -> dict[str, str]:
    """The text from which each passage is quoted, by chunk id; a selection is its own source."""
    return {
        chunk.chunk_id: query.selected_text if chunk.chunk_id == SELECTED else await generation.source(chunk.filename)
        for chunk in chunks
    }


async def reading_of(
    generation: OpenGeneration, answered: Sequence[Part], runs: Sequence[UnitRun], *, sections: int
) -> tuple[tuple[int, ReadingSection], ...]:
    """What a model reads: the sections of each thing that is asked, under the numbers of the excerpts in them."""
    numbers = {unit.char_start: number for number, run in reversed(list(enumerate(runs, 1))) for unit in run.units}
    places = {(run.chunk.filename, unit.char_start) for run in runs for unit in run.units}
    reading: dict[tuple[str, int, int], tuple[int, ReadingSection]] = {}
    following = len(runs) + 1
    for part in answered if sections else ():
        for one in await reading_sections(generation, part.passages[:PASSAGES], sections):
            if one.key in reading:
                continue
            own = [numbers[unit.char_start] for unit in one.units if (one.chunk.filename, unit.char_start) in places]
            reading[one.key] = min(own, default=following), one
            following += not own
    return tuple(reading.values())
