"""Prepared answers: a question that means the same as a prepared one gets its explanation and proof at once.

The reader judges equality of meaning (`lutrin.study.same`), on the question as completed from its conversation. The
form of the question selects the entry of a term: its definition, an example, an analogy. If the meaning depends on a
selection or a page that the question only points at, no prepared answer is used. An answer pinned by the teacher is
given whenever the question comes in these words, for every form of answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from lutrin import messages
from lutrin.answer.evidence import Evidence
from lutrin.answer.plan import MOST_NEXT, Plan, make_plan, next_questions, respellings
from lutrin.index.companion import Companion, defining
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import plain, stem_set, topic_stems, words
from lutrin.prepared import BY_THE_BOOK, OF_A_TERM, THE_TEACHER, Entry, Kind, PreparedEntry
from lutrin.query.conversation import refers
from lutrin.query.frames import Frame, asks, frame_of
from lutrin.query.understand import PHRASE_WORDS, Query, normalize, with_spelling
from lutrin.records import Chunk, Passage
from lutrin.search.filters import filters_of
from lutrin.search.result import Part, ScoredPassage, SearchResult, log_sum
from lutrin.search.search import Searcher
from lutrin.search.sought import SELECTION_CHARACTERS
from lutrin.study.same import (
    EncodedQuestion,
    Terms,
    agree,
    compare,
    encode_question,
    may_be_meant,
    most_odds,
    odds,
    prepare,
)
from lutrin.study.selections import (
    WISHES,
    Mark,
    entries_of,
    following,
    is_all_meant,
    is_named,
    locate,
    locate_answer,
    proved_units,
)

T = TypeVar("T")
CONSIDERED = 12
"""Nearest prepared questions, which are compared with the reader's word by word."""
COMPARED = 3
"""Likeliest ones among these, whose answers are compared as well: each must be encoded."""
MOST_PROOFS = 3
"""Passages to show for a prepared answer, at most."""
BESIDE = -8.0
"""Log likelihood of a unit that no quote touches: it is shown as context of the quotes."""
FORMS: frozenset[Frame] = frozenset({"analogy", "example", "simpler", "summary", "quiz", "code", "compute", "about"})
"""Forms of a question; an answer pinned to one of them answers no other."""
KEPT_TERMS = 64
"""Books whose terms are cached."""
MOST_OF_CHAPTER = 8
"""Key points or questions of a chapter to show at once: as many as a screen holds."""
OF_CHAPTER: Mapping[Frame, Kind] = {"summary": "keypoints", "simpler": "keypoints", "quiz": "question"}
"""Kind of entries for a whole chapter, by form."""
NO_CHANGES: Mapping[str, str] = {}
ANY: tuple[Kind, ...] = ("term", "question", "explanation")
WANTED: Mapping[Frame, tuple[Kind, ...]] = {
    "analogy": ("analogy",),
    "example": ("example",),
    "simpler": ("simpler", "term", "explanation", "question"),
    "definition": ("term", "explanation", "question"),
    "compare": ("question", "explanation"),
    "why": ("question", "explanation"),
    "how": ("question", "explanation"),
    "steps": ("question", "explanation"),
    "code": (),
    "summary": (),
    "quiz": (),
    "compute": (),
    "about": (),
}
"""Kinds of entries that answer, best first, by form; for other frames `ANY`."""


@dataclass(frozen=True, slots=True)
class Match:
    """A prepared entry that answers the question."""

    generation: OpenGeneration
    item: PreparedEntry
    odds: float
    """Log odds that the questions mean the same; infinite for the same words."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Words of the question that were searched in the book's spelling."""
    question: str = ""
    """The prepared question."""
    agrees: bool = True
    """Whether the two agree in everything that must agree literally; otherwise it can only be offered."""

    @property
    def is_sure(self) -> bool:
        """Whether it counts as the reader's question."""
        return self.agrees and self.odds > 0

    @property
    def is_by_book(self) -> bool:
        """Whether it is a copy of the book's own words."""
        return self.item.entry.author == BY_THE_BOOK

    @property
    def order(self) -> tuple[bool, float]:
        """Sort key: accepted matches before offered ones, the likeliest first."""
        return self.is_sure, self.odds


def has_other_words(prepared: str, *asked: str) -> bool:
    """Whether a prepared question contains any word that was not asked; with the very same words it was meant.

    >>> has_other_words("What are sensors?", "what is a sensor"), has_other_words("Why sensors?", "Why motors?")
    (False, True)
    """
    return all(stem_set(prepared) != stem_set(text) for text in asked)


class PreparedAnswers:
    """Finds the prepared answer to a question."""

    def __init__(self, searcher: Searcher, *, own_words: bool = True) -> None:
        self._searcher = searcher
        self._withheld: frozenset[Kind] = frozenset() if own_words else frozenset({"analogy"})
        self._terms: dict[str, Terms] = {}

    async def plan(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan | None:
        """See `lutrin.answer.flow.PreparedPlans`."""
        pinned = await self._pinned_answer(query, generations)
        if pinned is not None and (plan := await self._answer(pinned, query)) is not None:
            return plan
        if is_all_meant(query) and (plan := await self._of_mark(query, generations)) is not None:
            return plan
        if query.whole_chapter and (plan := await self._of_chapter(query, generations)) is not None:
            return plan
        if query.is_bare and query.quotes:
            return await self._following(query, generations)
        best = await self._best(query, generations)
        # The book's own words lead the search results: a model has more to say, and so has the book.
        if best is None or best.is_by_book or not (best.is_sure or _is_asked_on(best, query)):
            return None
        return await self._answer(best, query)

    async def beside(
        self, query: Query, generations: Sequence[OpenGeneration], result: SearchResult
    ) -> tuple[SearchResult, str]:
        """See `lutrin.answer.flow.PreparedPlans`."""
        best = await self._best(query, generations)
        if best is None or not may_be_meant(best.odds):
            return result, ""
        is_repeat = plain(" ".join(best.item.entry.points)) in " ".join(query.answers)
        if best.is_by_book and best.is_sure and not is_repeat and len(result.parts) == 1 and result.passages:
            return _with_lead(result, await best.generation.chunks([best.item.chunk_id]), best.item), ""
        is_offered = not best.item.entry.unlisted and has_other_words(best.question, query.typed, query.text)
        return result, best.question if is_offered else ""

    async def _best(self, query: Query, generations: Sequence[OpenGeneration]) -> Match | None:
        """The entry whose question is the likeliest to mean the reader's."""
        wanted = WANTED.get(query.frame, ANY)
        kinds = [kind for kind in wanted or ANY if kind not in self._withheld]
        if not kinds or not _stands_alone(query) or not any(generation.companion for generation in generations):
            return None
        # In a form without prepared entries, only a question with the same words matches.
        matches = [
            match
            for generation, where in filters_of(generations, query)
            if (match := await self._match(generation, query, kinds)) is not None
            and (wanted or np.isinf(match.odds))
            and await _is_there(generation, match.item, where)
        ]
        return max(matches, key=lambda match: match.order, default=None)

    async def _of_mark(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan | None:
        """The entry for a selection if the question only asks for a form of it: an explanation, an example."""
        kinds = [kind for kind in WISHES.get(query.frame, ()) if kind not in self._withheld]
        for generation in generations if kinds else ():
            if not generation.companion or (mark := await locate(generation, query)) is None:
                continue
            (encoding,) = await self._searcher.encode([mark.text[:SELECTION_CHARACTERS]])
            items = entries_of(generation.companion, mark, encoding.pooled, kinds)
            plan = await _plan(generation, items, query) if items else None
            if plan is not None:
                following = await next_questions(self._searcher, generation, query, plan.excerpts)
                topics = {item.entry.topic for item in items}
                return replace(plan, suggestions=tuple(text for text in following if text not in topics))
        return None

    async def _following(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan | None:
        """The entry on the previous answer, or its proof, if the question asks nothing else."""
        for generation in generations:
            mark = await locate_answer(generation, query)
            if mark is None:
                continue
            if query.frame == "proof":
                return await _proof(generation, mark, query)
            (encoding,) = await self._searcher.encode([query.text])
            vector = encoding.pooled
            item = following(
                generation.companion, mark, vector, query.frame, reply=" ".join(query.answers), withheld=self._withheld
            )
            if item is not None and (plan := await self._answer(Match(generation, item, np.inf), query)) is not None:
                return plan
        return None

    async def _of_chapter(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan | None:
        """A short version of a chapter, from the key points of its sections, or questions on it."""
        kind = OF_CHAPTER.get(query.frame)
        if kind is None:
            return None
        for generation, where in filters_of(generations, query):
            entries = generation.companion.visible(kind)
            items = [item for item in entries if await _is_there(generation, item, where)]
            if items:
                return await _chapter_plan(generation, items, query)
        return None

    async def _answer(self, match: Match, query: Query) -> Plan | None:
        """The explanation of an entry, with questions that may follow."""
        plan = await _plan(match.generation, [match.item], query, match.changes)
        if plan is None:
            return None
        topic = match.item.entry.topic
        following = await next_questions(self._searcher, match.generation, query, plan.excerpts, topic)
        return replace(plan, suggestions=following)

    async def _pinned_answer(self, query: Query, generations: Sequence[OpenGeneration]) -> Match | None:
        """The answer that the teacher pinned to a question of these words, or to one with the same meaning."""
        if query.mode == "selection" or query.selected_text:
            return None
        questions = {normalize(query.text), normalize(query.typed)}
        matches: list[Match] = []
        for generation, where in filters_of(generations, query):
            pinned = [
                item
                for item in generation.companion.pinned_entries
                if item.entry.kind not in self._withheld
                and questions.isdisjoint(map(normalize, item.entry.unlike))
                and await _is_there(generation, item, where)
            ]
            for item in pinned:
                if not questions.isdisjoint(map(normalize, item.asked)):
                    return Match(generation, item, np.inf)
            matches += await self._reworded(generation, query, pinned)
        return max(matches, key=lambda match: match.odds, default=None)

    async def _reworded(self, generation: OpenGeneration, query: Query, pinned: Sequence[PreparedEntry]) -> list[Match]:
        """The pinned answers whose question means the reader's, in the requested form.

        Forms are compared by name, and their subjects by the reader (`lutrin.study.same`).
        """
        form = query.frame if query.frame in FORMS else "plain"
        questions = [
            item
            for item in pinned
            if item.entry.kind == "question" and any(_core(text)[0] == form for text in item.asked)
        ]
        if not questions or not _stands_alone(query):
            return []
        asked = _as_prepared_question(query)
        questions = list(await self._nearest_pinned(generation, asked, questions))
        wordings = {text: _core(text) for item in questions for text in (*item.asked, *item.entry.unlike)}
        cores = {core for wished, core in wordings.values() if wished == form}
        encoded = await self._encoded(list(dict.fromkeys([asked, *cores])))
        terms, name = self._terms_of(generation), self._searcher.embedder.name
        answers = await self._searcher.encode([" ".join(item.entry.points) for item in questions])

        def chance(text: str, answer: np.ndarray | None) -> float:
            wished, core = wordings[text]
            if wished != form:
                return -np.inf
            if normalize(core) == normalize(asked):
                return np.inf
            other = encoded[core]
            return (
                odds(compare(encoded[asked], other, answer), name) if agree(encoded[asked], other, terms) else -np.inf
            )

        matches = []
        for item, answer in zip(questions, (one.pooled for one in answers), strict=True):
            best = max((chance(text, answer) for text in item.asked), default=-np.inf)
            if best > max((0.0, *(chance(text, answer) for text in item.entry.unlike))):
                matches.append(Match(generation, item, best))
        return matches

    async def _nearest_pinned(
        self, generation: OpenGeneration, asked: str, pinned: Sequence[PreparedEntry]
    ) -> Sequence[PreparedEntry]:
        """The few pinned entries whose wordings are nearest to a question."""
        if len(pinned) <= COMPARED:
            return pinned
        (encoding,) = await self._searcher.encode([asked])
        near = {
            generation.companion.texts[place]: cosine
            for place, cosine in generation.companion.nearest(encoding.pooled, len(generation.companion.texts))
        }
        return sorted(pinned, key=lambda item: -max(near.get(text, 0.0) for text in item.asked))[:COMPARED]

    async def _encoded(self, texts: Sequence[str]) -> dict[str, EncodedQuestion]:
        """Questions, encoded for comparison."""
        reading = self._searcher.embedder.reading
        encodings = await self._searcher.encode(texts)
        return {text: encode_question(text, one, reading) for text, one in zip(texts, encodings, strict=True)}

    async def _match(self, generation: OpenGeneration, query: Query, kinds: Sequence[Kind]) -> Match | None:
        """The entry of one book whose question means the reader's."""
        companion = generation.companion
        if not companion:
            return None
        changes = await self._searcher.changes(generation, query)
        text = _as_prepared_question(with_spelling(query, changes))
        (encoding,) = await self._searcher.encode([text])
        question = encode_question(text, encoding, self._searcher.embedder.reading)
        terms = self._terms_of(generation)
        candidates = [prepare(companion.wording(place)) for place, _ in companion.nearest(question.vector, CONSIDERED)]
        pairs = [(other, item) for other in candidates for item in _entry(companion, other.text, kinds)]
        matches = [
            Match(generation, item, chance, changes, other.text, np.isinf(chance) or agree(question, other, terms))
            for (other, item), chance in await self._chances(question, pairs)
        ]
        return max(matches, key=lambda match: (*match.order, -kinds.index(match.item.entry.kind)), default=None)

    async def _chances(
        self, question: EncodedQuestion, pairs: Sequence[tuple[EncodedQuestion, PreparedEntry]]
    ) -> list[tuple[tuple[EncodedQuestion, PreparedEntry], float]]:
        """Log odds that a question means prepared ones: those with the same words, else the likeliest few."""
        same = [pair for pair in pairs if normalize(pair[0].text) == normalize(question.text)]
        if same:
            return [(pair, np.inf) for pair in same]
        name = self._searcher.embedder.name
        rough = [(most_odds(question, other, name), -place) for place, (other, _) in enumerate(pairs)]
        likeliest = [pairs[-place] for most, place in sorted(rough, reverse=True)[:COMPARED] if may_be_meant(most)]
        texts = [" ".join(item.entry.points) for _, item in likeliest]
        answers = [one.pooled for one in await self._searcher.encode(texts)]
        return [
            (pair, odds(compare(question, pair[0], answer), name))
            for pair, answer in zip(likeliest, answers, strict=True)
        ]

    def _terms_of(self, generation: OpenGeneration) -> Terms:
        if generation.state not in self._terms:
            self._terms[generation.state] = Terms(item.entry for item in generation.companion.entries)
            while len(self._terms) > KEPT_TERMS:
                del self._terms[next(iter(self._terms))]
        return self._terms[generation.state]


def _core(text: str) -> tuple[str, str]:
    """The form that a prepared question asks for, `plain` if it names none, and its subject."""
    frame, topic, _ = frame_of(text)
    core = topic if asks(topic) or frame == "compare" else defining(topic.strip(" ?.!"))
    return (frame if frame in FORMS else "plain"), core


def _is_asked_on(match: Match, query: Query) -> bool:
    """Whether a follow-up may mean a question not yet answered; what a thing is was asked before."""
    entry = match.item.entry
    if not query.subject or not match.agrees or not may_be_meant(match.odds):
        return False
    defines = entry.kind in OF_A_TERM or frame_of(entry.topic)[0] == "definition"
    return plain(" ".join(entry.points)) not in " ".join(query.answers) and (not defines or query.frame == "definition")


def _as_prepared_question(query: Query) -> str:
    """The question in the wording of prepared ones: itself, or the question for the term that it is about."""
    topic = query.topic
    if query.selected_text and not topic_stems(topic):
        topic = " ".join(query.selected_text.split())
    return topic if asks(topic) or query.frame == "compare" else defining(topic.strip(" ?.!"))


def _stands_alone(query: Query) -> bool:
    """Whether the question means the same on every page, as do a few selected words without a question."""
    if query.mode == "selection" or len(query.parts) > 1:
        return False
    if query.selected_text and not query.stems:
        return len(words(query.selected_text)) <= PHRASE_WORDS
    return not query.leans and (bool(query.follows) or not refers(query.topic))


def _entry(companion: Companion, text: str, kinds: Sequence[Kind]) -> Sequence[PreparedEntry]:
    """The entry of the preferred kind among those that a text asks for, if there is one."""
    owned = [companion.entries[place] for place in companion.owners[text]]
    fitting = [item for item in owned if item.entry.kind in kinds]
    # Written entries come before copies of the book's own words.
    return sorted(
        fitting,
        key=lambda item: (not item.entry.pinned, item.entry.author == BY_THE_BOOK, kinds.index(item.entry.kind)),
    )[:1]


async def _is_there(generation: OpenGeneration, item: PreparedEntry, where: Mapping[str, str] | None) -> bool:
    """Whether an entry belongs to the chapter and module of the question."""
    chunks = await generation.chunks([item.chunk_id]) if where else []
    return not where or all(getattr(chunk, name) == value for chunk in chunks for name, value in where.items())


async def _plan(
    generation: OpenGeneration, items: Sequence[PreparedEntry], query: Query, changes: Mapping[str, str] = NO_CHANGES
) -> Plan | None:
    """The explanation of entries above the passages with their quotes.

    None if the book's own warning must come before these: there the book speaks first. The teacher's pinned answers may
    come with a plain caution.
    """
    result = await _evidence(generation, items)
    plan = await make_plan(Evidence(_as_plain(query), result))
    proofs = {name for item in items for name, _, _ in item.places} | {item.chunk_id for item in items}
    allowed = {*query.warnings, *([messages.CAUTION] if all(item.entry.pinned for item in items) else [])}
    if not plan.excerpts or not allowed.issuperset(plan.warnings) or not {e.chunk_id for e in plan.excerpts} <= proofs:
        return None
    author = items[0].entry.author
    numbers = " ".join(f"[{one.n}]" for one in plan.excerpts)
    head = [messages.PREPARED_IN_OTHER_WORDS.format(author=author)] if items[0].entry.kind == "analogy" else []
    by_teacher = author == THE_TEACHER
    explanation = "\n\n".join([*head, *(_text_for(item.entry, query) for item in items)])
    return replace(
        plan,
        query=query,
        # Her words are her own: no number claims that a sentence of the book says them.
        explanation=explanation if by_teacher else f"{explanation} {numbers}",
        prepared_by=messages.YOUR_TEACHER if by_teacher else author,
        by_model=any(item.entry.by_model for item in items),
        warnings=(*plan.warnings, *respellings(changes)),
    )


def _text_for(entry: Entry, query: Query) -> str:
    """The text of an entry, below the question that it answers if that differs, or below a term's other name."""
    if entry.kind == "keypoints":
        points = "\n".join(f"- {point}" for point in entry.points)
        return f"{messages.SECTION_IN_SHORT.format(title=entry.heading)}\n\n{points}\n\n"
    text = "\n\n".join(entry.points)
    renamed = entry.kind == "term" and not is_named(query.typed, entry.topic)
    renamed = renamed and any(is_named(query.typed, name) for name in entry.aka)
    return (
        f"**{entry.topic}**{'' if entry.topic.endswith('?') else ':'} {text}"
        if is_all_meant(query) or query.subject or renamed
        else text
    )


def _as_plain(query: Query) -> Query:
    """A question without its form, which the entry already has."""
    return replace(query, frame="plain", parts=(query.topic,))


async def _proof(generation: OpenGeneration, mark: Mark, query: Query) -> Plan | None:
    """The book's words behind the previous answer, with their context."""
    places = [(mark.home.chunk_id, unit.char_start, unit.char_end) for unit in mark.units]
    result = _as_search_result(generation, [mark.home], places, query.topic)
    plan = await make_plan(Evidence(_as_plain(query), result))
    if not plan.excerpts:
        return None
    sentence = messages.STANDS_IN_BOOK.format(section=mark.home.section_title)
    return replace(plan, query=query, explanation=f"{sentence} [{plan.excerpts[0].n}]")


async def _chapter_plan(generation: OpenGeneration, items: Sequence[PreparedEntry], query: Query) -> Plan | None:
    """Key points of a chapter, above the passage of the first one that needs no warning, or questions on it."""
    plan, first = None, 0
    while plan is None and first < min(len(items), MOST_OF_CHAPTER):
        plan = await _plan(generation, [items[first]], query)
        first += plan is None
    if plan is None:
        return None
    name = query.question.chapter or query.topic
    if query.frame == "quiz":
        questions = [item.entry.topic for item in _spread(items)]
        lines = [f"{number}. {question}" for number, question in enumerate(questions, 1)]
        text = "\n".join([messages.QUESTIONS_ON.format(title=name), "", *lines])
        # The passages below an answer would reveal the answers.
        bare = replace(plan, text="", rest="", lead=(), excerpts=(), sources=(), warnings=query.warnings)
        return replace(bare, explanation=text, suggestions=tuple(questions[:MOST_NEXT]))
    points = [f"- {point}" for point in _spread([point for item in items[first:] for point in item.entry.points])]
    return replace(plan, explanation="\n".join([messages.SECTION_IN_SHORT.format(title=name), "", *points, "", "[1]"]))


def _spread(items: Sequence[T]) -> list[T]:
    """At most `MOST_OF_CHAPTER` of them, spread evenly over the chapter."""
    most = min(len(items), MOST_OF_CHAPTER)
    return [items[place * len(items) // most] for place in range(most)]


async def _evidence(generation: OpenGeneration, items: Sequence[PreparedEntry]) -> SearchResult:
    """The passages of the entries' quotes."""
    places = [place for item in items for place in item.places]
    names = list(dict.fromkeys(name for name, _, _ in places))[:MOST_PROOFS] or [items[0].chunk_id]
    return _as_search_result(generation, await generation.chunks(names), places, items[0].entry.topic)


def _as_search_result(
    generation: OpenGeneration, chunks: Sequence[Chunk], places: Sequence[tuple[str, int, int]], topic: str
) -> SearchResult:
    """Passages in the form of a search result, with the quoted units the likeliest."""
    reads = [ScoredPassage(chunk, _scores(chunk, places), 0.0, 1.0) for chunk in chunks]
    passages = tuple(Passage(chunk=chunk, score=1.0) for chunk in chunks)
    return SearchResult(generation, passages, tuple(Part(topic, (one,), np.inf) for one in reads))


def _scores(chunk: Chunk, places: Sequence[tuple[str, int, int]]) -> np.ndarray:
    """(units,): 0 for units that a quote touches; without quotes all units are equal."""
    spans = [(start, end) for name, start, end in places if name == chunk.chunk_id]
    quoted = [
        not spans or any(start < unit.char_end and unit.char_start < end for start, end in spans)
        for unit in chunk.units
    ]
    return np.where(quoted, np.float32(0.0), np.float32(BESIDE)).astype(np.float32)


def _with_lead(result: SearchResult, homes: Sequence[Chunk], item: PreparedEntry) -> SearchResult:
    """Raise an entry's quotes to the likelihood of the whole best passage, so that they come first.

    The verdict on whether the book answers stays unchanged.
    """
    (part,) = result.parts
    best = max(part.passages, key=lambda one: one.scores.max(initial=-np.inf))
    lead = Mark(best.chunk, "", (best.chunk.units[int(best.scores.argmax())],))
    if proved_units(lead, item):
        return result  # it is said first already, with what answers as well beside it
    most = max(log_sum(one.scores) for one in part.passages)
    first = [ScoredPassage(chunk, _scores(chunk, item.places) + np.float32(most), most, 1.0) for chunk in homes]
    others = [one for one in part.passages if one.chunk.chunk_id != item.chunk_id]
    return replace(result, parts=(replace(part, passages=(*first, *others)),))
