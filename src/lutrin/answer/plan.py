"""A plan: everything about an answer that is decided before a word is generated. It never changes afterwards.

A question is answered by excerpts, or refused. `answer.overview` plans answers about a whole chapter or page,
`answer.contents` about the book itself, `answer.listing` about selected code.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from lutrin import messages
from lutrin.answer import safety
from lutrin.answer.evidence import Evidence
from lutrin.answer.render import block_text, citation, excerpt, markdown
from lutrin.answer.runs import PASSAGES, Run, choose_whole, lead_of, reading_sections
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import plain, subject_stems, subject_words
from lutrin.prepared import BY_THE_BOOK, PreparedEntry
from lutrin.query.frames import Frame
from lutrin.query.respell import slips_of
from lutrin.query.understand import Query, normalize
from lutrin.records import SELECTED, Chunk, Citation, Excerpt, Passage, Question, Refusal, Sentence, SupportGrade
from lutrin.search.result import UNLIKE, Part, SearchResult, Verdict, is_far
from lutrin.search.search import Searcher

MAX_SUGGESTIONS = 5
MOST_NEXT = 3
MOST_CONSIDERED = 100
"""Questions whose place in a file is looked up: one file may hold a whole book."""

WANT_NEW: frozenset[Frame] = frozenset({"more", "simpler", "other", "why", "example", "analogy"})
"""Forms in which a reader wants something new about the previous answer."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The basis of an answer."""

    query: Query
    title: str
    """Title of the book that answers; in a refusal, of the one that the reader has open."""
    generation: str
    """Name of the index generation."""
    text: str
    """Markdown: the excerpts with their markers, the refusal, or text from the book's contents."""
    lead: tuple[Sentence, ...] = ()
    """The book's own answer in short, shown first: the best unit, and warnings before it."""
    rest: str = ""
    """`text` without the lead."""
    open_title: str = ""
    """Title of the book that a refusal names."""
    odds: float = 0.0
    """The reader's log odds that the book answers."""
    verdict: Verdict = "answers"
    """Whether it does, as decided so far."""
    is_unlike: bool = False
    """Whether a refused question is far from the book's subject."""
    reading: tuple[tuple[int, Run], ...] = ()
    """Sections that a model reads, with the numbers that cite them."""
    excerpts: tuple[Excerpt, ...] = ()
    sources: tuple[Citation, ...] = ()
    """Citations of the excerpts, by number from 1."""
    runs: tuple[Run, ...] = ()
    """The reader's excerpts as runs."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The source text of each quoted passage, by chunk id."""
    chances: Mapping[str, float] = field(default_factory=dict)
    """Probability that a passage answers, by chunk id."""
    things: int = 1
    """Number of things in the question that the plan answers."""
    warnings: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    """Warnings that name a danger, or a part left out because of one."""
    suggestions: tuple[str, ...] = ()
    refusal: Refusal | None = None
    explanation: str = ""
    """The prepared answer, in Markdown with markers; empty if there is none."""
    prepared_by: str = ""
    """Author of the prepared answer."""
    by_model: bool = False
    """Whether a model wrote it."""
    guarded: bool = False
    """Whether it is about something hazardous: the book's warning, or a caution, comes first."""
    guards: tuple[tuple[str, int], ...] = ()
    """The book's warnings among the excerpts, word for word, with their numbers."""
    procedural: bool = False
    """Whether the excerpts contain a procedure."""
    meant: str = ""
    """A prepared question that may be meant, to offer first."""

    @property
    def explainable(self) -> bool:
        """Whether a model may add an explanation. Hazardous procedures are given in the book's words only."""
        is_open = self.refusal is None and not self.explanation and bool(self.reading)
        return is_open and not (self.guarded and self.procedural)

    @property
    def is_sure(self) -> bool:
        """Whether the model's judgement is ignored: a question about a given text has its answer there."""
        query = self.query
        return query.mode == "selection" or bool(
            query.leans or query.follows or query.sums_chapter or query.pointing == "commands"
        )

    @property
    def repeats(self) -> bool:
        """Whether a question that wants something new, and names nothing, would get the text of an earlier answer.

        Any other question may well be answered by a sentence that was shown before.
        """
        if not self.query.is_bare or self.query.frame not in WANT_NEW:
            return False
        is_reason = self.query.frame == "why"
        lead = [plain(sentence.text) for sentence in self.lead if sentence.citations]
        quoted = [plain(unit.text) for run in self.runs for unit in run.units]
        # A sentence may have been shown already in another role: as a reason it is new if it comes first.
        statements = lead if is_reason else [text for text in quoted if text and any(text in one for one in lead)]
        return bool(statements) and all(any(text in answer for answer in self.query.answers) for text in statements)


async def make_plan(found: Evidence, *, sections: int = 0) -> Plan:
    """Plan an answer as far as the reader alone can decide; `settle_plan` makes it final.

    Args:
        found: The evidence; refusals name the book that the reader has open, or else the one that answers.
        sections: Reading sections that a model is shown for each thing in the question; 0 without a model.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    query, generation, result = found.query, found.generation, found.result
    open_title = found.open_title or generation.book.title
    in_selection = query.mode == "selection"
    if in_selection and result.odds < 0:
        return refusal_plan(query, "not_in_selection", title=open_title, generation=generation.name)
    if not in_selection and is_far(result.odds, found=bool(result.passages)):
        refused = refusal_plan(query, "out_of_scope", title=open_title, generation=generation.name)
        return replace(refused, suggestions=suggestions(result.passages))
    verdict: Verdict = "answers" if in_selection else result.verdict
    if verdict == "no" and _names_section(query, result):
        verdict = "closest"
    answered = [part for part in result.parts if in_selection or part.verdict == "answers"]
    answered = answered or [max(result.parts, key=lambda part: part.odds)]
    safe = safety.without_other_machines(generation, answered)
    chosen = await choose_whole(generation, safe, query.frame)
    plan = await quote_runs(found, chosen, safe, sections)
    if not plan.runs:
        return plan
    lead, rest = ((), plan.text) if plan.guarded else _lead(query, plan.runs, len(answered))
    return replace(
        plan,
        lead=lead,
        rest=rest,
        open_title=open_title,
        odds=result.odds,
        verdict=verdict,
        is_unlike=max((one.cosine or 0.0 for one in result.passages), default=0.0) < UNLIKE,
        things=len(answered),
        warnings=(*query.warnings, *_warnings(query, result, answered, plan.runs), *plan.notices),
        suggestions=suggestions(result.passages) if verdict != "answers" else (),
        procedural=any(run.steps for run in plan.runs),
    )


async def quote_runs(found: Evidence, chosen: Sequence[Run], parts: Sequence[Part], sections: int) -> Plan:
    """Plan with the runs that are safe to show as excerpts, and reading sections of some parts for a model.

    If no run is safe, the plan only has the text shown instead.

    Args:
        found: The evidence.
        chosen: Runs to show, in order.
        parts: Parts for the model to read.
        sections: Reading sections of each part; 0 without a model.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    query, generation = found.query, found.generation
    runs, notices = await safety.secure_runs(generation, chosen)
    warnings = (*query.warnings, *notices)
    if not runs:
        return Plan(query, generation.book.title, generation.name, "\n\n".join(notices), warnings=warnings)
    reading = await _reading_of(generation, parts, runs, sections)
    texts = {
        run.chunk.chunk_id: query.selected_text
        if run.chunk.chunk_id == SELECTED
        else await generation.source(run.chunk.filename)
        for run in (*runs, *(section for _, section in reading))
    }
    chances = {item.chunk.chunk_id: item.score for item in found.result.passages}
    numbered = [(run, number, texts[run.chunk.chunk_id]) for number, run in enumerate(runs, 1)]
    guards = _guards_of(runs)
    return Plan(
        query,
        generation.book.title,
        generation.name,
        text="\n\n".join(markdown(run.units, number) for number, run in enumerate(runs, 1)),
        reading=reading,
        excerpts=tuple(excerpt(*one) for one in numbered),
        sources=tuple(citation(*one, chances) for one in numbered),
        runs=tuple(runs),
        texts=texts,
        chances=chances,
        warnings=warnings,
        notices=tuple(notices),
        guarded=bool(guards or notices),
        guards=guards,
    )


def _guards_of(runs: Sequence[Run]) -> tuple[tuple[str, int], ...]:
    """The book's warnings among the excerpts, each once with its excerpt's number, without titles."""
    seen: set[tuple[str, int]] = set()
    texts: dict[int, list[str]] = {}
    for number, run in enumerate(runs, 1):
        for unit in run.units:
            place = (run.chunk.filename, unit.char_start)
            if unit.warning and unit.kind != "code" and unit.text.rstrip().endswith(safety.ENDS) and place not in seen:
                seen.add(place)
                texts.setdefault(number, []).append(unit.text)
    return tuple((" ".join(sentences), number) for number, sentences in texts.items())


async def _reading_of(
    generation: OpenGeneration, answered: Sequence[Part], runs: Sequence[Run], sections: int
) -> tuple[tuple[int, Run], ...]:
    """The sections for a model: those of each thing in the question, under the numbers of the excerpts in them."""
    reading: dict[tuple[str, int, int], tuple[int, Run]] = {}
    following = len(runs) + 1
    for part in answered if sections else ():
        for one in await reading_sections(generation, part.passages[:PASSAGES], sections):
            if one.key not in reading:
                own = (number for number, run in enumerate(runs, 1) if not one.places.isdisjoint(run.places))
                number = next(own, following)
                reading[one.key] = number, one
                following += number == following
    return tuple(reading.values())


def _names_section(query: Query, result: SearchResult) -> bool:
    """Whether at least half of a question's names are the title of a section in the results.

    A subject with a heading in the book is never "not covered"; a title of one word, *Soldering*, occurs in many
    questions.
    """
    titles = (subject_stems(passage.chunk.section_title) for passage in result.passages)
    return any(title and title <= query.stems and 2 * len(title) >= len(query.name_stems) for title in titles)


def _lead(query: Query, runs: Sequence[Run], things: int) -> tuple[tuple[Sentence, ...], str]:
    """The book's own answer, one unit for each thing in the question, and the remaining excerpts in Markdown."""
    # First say that the book does not have the requested form.
    lead = [Sentence(text=messages.NO_SUCH_FORM[query.frame])] if query.frame in messages.NO_SUCH_FORM else []
    rest = []
    for number, run in enumerate(runs, 1):
        units, left = lead_of(run, query.frame) if number <= things else ((), run.units)
        support: SupportGrade = "likely" if run.chunk.recognized else "stated"
        lead += [Sentence(text=block_text(units), citations=(number,), support=support)] if units else []
        rest += [markdown(left, number)] if left else []
    return tuple(lead), "\n\n".join(rest)


def respellings(changes: Mapping[str, str]) -> list[str]:
    """Notices about words that counted as typing slips."""
    return [messages.RESPELLED.format(word=word, other=other) for word, other in slips_of(changes).items()]


def _warnings(query: Query, result: SearchResult, answered: Sequence[Part], runs: Sequence[Run]) -> list[str]:
    warnings = respellings(result.changes)
    if len(query.parts) == len(result.parts):
        warnings += [messages.PART_NOT_COVERED.format(part=part.text) for part in result.parts if part not in answered]
    if any(run.chunk.recognized for run in runs):
        warnings.append(messages.RECOGNIZED_TEXT)
    note = safety.simulation_note(run.chunk for run in runs)
    return [*warnings, note] if note else warnings


def nothing_more(plan: Plan) -> Plan:
    """The answer to a reader who wants more than the book says."""
    query = plan.query
    return Plan(query, plan.title, plan.generation, messages.NOTHING_MORE, warnings=query.warnings)


def settle_plan(plan: Plan, verdict: Verdict) -> Plan:
    """Make a plan final with the verdict on whether the book answers."""
    if plan.refusal is not None or not plan.excerpts:
        return plan
    if verdict == "no":
        refusal: Refusal = "out_of_scope" if plan.is_unlike else "not_in_book"
        refused = refusal_plan(plan.query, refusal, title=plan.open_title, generation=plan.generation)
        return replace(refused, suggestions=plan.suggestions, odds=plan.odds, verdict="no", meant=plan.meant)
    if verdict == "closest":
        return replace(plan, verdict=verdict, lead=(), rest=f"{messages.CLOSEST_PASSAGE}\n\n{plan.text}")
    return replace(plan, verdict=verdict, suggestions=() if plan.verdict != "answers" else plan.suggestions)


def refusal_plan(query: Query, refusal: Refusal, *, title: str, generation: str) -> Plan:
    """A refusal in the wording of the client's surface."""
    text = refusal_text(refusal, query.question, title)
    return Plan(query, title, generation, text, warnings=query.warnings, refusal=refusal)


def refusal_text(refusal: Refusal, question: Question, title: str) -> str:
    """The refusal's text for the client's endpoint, which selects among the contract's wordings."""
    match refusal, question.surface:
        case "not_english", _:
            return messages.NOT_ENGLISH
        case "vague", _:
            return messages.NEEDS_CONTEXT
        case "not_in_selection", _:
            return messages.NOT_IN_SELECTION
        case _, "chat":
            return messages.NOT_FOUND_CHAT
        case _, "query":
            return messages.NOT_COVERED.format(title=title.removeprefix("The "))
        case "out_of_scope", _:
            return messages.OUT_OF_SCOPE_TUTOR.format(title=title)
        case _:
            return messages.NOT_IN_BOOK


def suggestions(passages: Iterable[Passage]) -> tuple[str, ...]:
    """The book's topics nearest to a question, nearest first, named so that they make sense alone."""
    topics: dict[str, str] = {}
    for passage in passages:
        if topic := _topic(passage.chunk):
            topics.setdefault(topic.casefold(), topic)
    return tuple(topics.values())[:MAX_SUGGESTIONS]


def _topic(chunk: Chunk) -> str:
    """Title of a passage's section, after its parent's if it names only one thing or nothing: "Gears: 1.2 Overview"."""
    *above, title = chunk.heading_path or (chunk.section_title,)
    if len(subject_words(title)) > 1 or not above:
        return title
    return f"{above[-1]}{'' if above[-1].endswith(('?', '!', ':', '.')) else ':'} {title}"


async def next_questions(
    searcher: Searcher, generation: OpenGeneration, query: Query, excerpts: Sequence[Excerpt], done: str = ""
) -> tuple[str, ...]:
    """Up to three prepared questions on the cited pages, or on the section of a selection; nearest first.

    Skip a question that leads elsewhere, asks for words that the answer shows, or is there already (`done`).
    """
    if not excerpts or not generation.companion:
        return ()
    cited = await generation.chunks([one.chunk_id for one in excerpts])
    places = {_place_of(chunk, query) for chunk in cited}
    (encoding,) = await searcher.encode([query.topic])
    answered = {normalize(query.text), normalize(done)}
    near = generation.companion.questions(encoding.pooled, {chunk.filename for chunk in cited})
    further = ((text, item) for text, item in near if not _is_answered(text, item, answered, excerpts))
    open_ones = dict(islice(further, MOST_CONSIDERED))
    homes = await generation.chunks([item.chunk_id for item in open_ones.values()])
    own = {chunk.chunk_id for chunk in homes if _place_of(chunk, query) in places}
    return tuple(islice((text for text, item in open_ones.items() if item.chunk_id in own), MOST_NEXT))


def _place_of(chunk: Chunk, query: Query) -> tuple[str, ...]:
    """The page of a passage, one for each chapter of a file with several; with a selection, its section."""
    return (chunk.filename, *(chunk.heading_path if query.selected_text else (chunk.chapter,)))


def _is_answered(text: str, item: PreparedEntry, answered: Collection[str], excerpts: Sequence[Excerpt]) -> bool:
    """Whether a question has been answered, or its answer only repeats visible words of the book."""
    quotes = item.entry.quotes if item.entry.author == BY_THE_BOOK else ()
    in_sight = bool(quotes) and all(any(quote in one.text for one in excerpts) for quote in quotes)
    return in_sight or normalize(text) in answered
