"""Answers a question: the book's own words at once, then the model's sentences, each with its grade."""

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import replace
from math import isfinite
from typing import Protocol, cast, get_args

import msgspec
import numpy as np

from lutrin import messages, stages
from lutrin.answer.explain import Explainer, Explanation
from lutrin.answer.grade import Grader, fitted_weights, stands_in
from lutrin.answer.plan import (
    Plan,
    chapter_plan,
    from_contents,
    make_plan,
    next_questions,
    refusal_plan,
    settle_plan,
    with_proof,
)
from lutrin.answer.prompt import MOST_TURNS, Ability, Prompt, prompt_of
from lutrin.answer.render import explanation_of
from lutrin.answer.runs import sections_of_page
from lutrin.answer.traffic import Traffic
from lutrin.errors import ChatStoreError, IndexUnavailable, NotFound
from lutrin.fairness import FairTurns
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.language import lexicon
from lutrin.language.gate import LanguageGate
from lutrin.language.words import plain, subject_stems
from lutrin.log import get_logger
from lutrin.ports import ChatStore, Generator
from lutrin.query.frames import Frame, frame_of
from lutrin.query.understand import Query, alone, normalize, understand
from lutrin.records import (
    Answer,
    AnswerEvent,
    Certainty,
    ChatMessage,
    DoneEvent,
    ExcerptEvent,
    Question,
    QueuedEvent,
    Sentence,
    SentenceEvent,
    SourcesEvent,
)
from lutrin.search.reader import Verdict, load_decisions, pooled_vector
from lutrin.search.search import Searcher, SearchResult, search_selection
from lutrin.search.shelf_search import apply_filters, in_chapter, lease_books, require_all_readable, search_books
from lutrin.settings import Settings

NOT_COVERED = frozenset({"out_of_scope", "not_in_book"})
WARM_CHAPTERS = 2
"""Chapters that are read whole while nobody asks."""
WARM_SECTIONS = 8
"""Sections of an opened page that the model reads ahead: some 30 s of one core at 40 tokens a second."""


class PreparedPlans(Protocol):
    """Finds prepared answers: `lutrin.study.prepared_answers`. Both calls raise what `AnswerFlow.answer` does."""

    async def plan(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan | None:
        """The plan of an answer that was prepared; None: nothing that was prepared is what is asked."""

    async def beside(
        self, query: Query, generations: Sequence[OpenGeneration], result: SearchResult
    ) -> tuple[SearchResult, str]:
        """What was found in the first book, led by what it says to a prepared question, and one that may be meant."""


class AnswerFlow:
    """Answers questions from the books on the shelf.

    Args:
        generator: The language model; None: answers are excerpts only.
        ability: How much the model reads and writes.
        prepared: Knows what was prepared; None: nothing was.
        searches_at_once: Questions that are searched for at the same time; the others wait for their turn. One where
            this machine's processor does the work: if all shared it, each would be as late as the last.
        chats: Conversations, from which follow-ups are completed; None: every question stands alone.
        grader: Grades what the model writes; None: as the settings say.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        *,
        shelf: Shelf,
        searcher: Searcher,
        language: LanguageGate,
        settings: Settings,
        generator: Generator | None = None,
        ability: Ability | None = None,
        prepared: PreparedPlans | None = None,
        searches_at_once: int = 1,
        chats: ChatStore | None = None,
        grader: Grader | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shelf = shelf
        self._searcher = searcher
        self._prepared = prepared
        self._language = language
        self._settings = settings
        self.traffic = Traffic()
        self._grader = grader
        self._explainer: Explainer | None = None
        self._warming: set[asyncio.Task[None]] = set()
        self._chats = chats
        self._clock = clock
        self._cache = AnswerCache()
        self._turns = FairTurns(searches_at_once)
        if generator is not None:
            self.take_model(generator, ability or Ability())

    @property
    def ability(self) -> Ability:
        """How much the model reads and writes; of no tier while there is none."""
        return self._explainer.ability if self._explainer is not None else Ability(tier="none", sections=0)

    def take_model(self, generator: Generator, ability: Ability) -> None:
        """Ask this model from now on."""
        weights = fitted_weights().strong if ability.tier == "large" else fitted_weights().small
        strict = self._settings.grades == "strict"
        grader = self._grader or Grader(self._searcher.embedder, weights, strict=strict)
        self._explainer = Explainer(generator, grader, self._settings, self.traffic, self._clock, ability=ability)

    def warm_page(self, book: str, filename: str) -> None:
        """Have the model read the sections of a page that a reader has opened, while nobody waits."""
        self.traffic.opens(book, filename)
        if self._explainer is not None:
            task = asyncio.create_task(self._warm_page(self._explainer, book, filename), name="lutrin-warm-page")
            self._warming.add(task)
            task.add_done_callback(self._warming.discard)

    async def _warm_page(self, explainer: Explainer, book: str, filename: str) -> None:
        with suppress(NotFound, IndexUnavailable):
            async with self._shelf.lease(book) as generation:
                sections = await sections_of_page(generation, filename, WARM_SECTIONS)
                query = alone(Question(text=generation.book.title))
                prompts = [prompt_of(query, generation.book.title, [(1, section)]) for section in sections]
            explainer.warm([prompt for prompt in prompts if prompt is not None])

    async def warm_chapters(self) -> None:
        """Have the model read all of the chapters that readers open most, while nobody waits."""
        if self._explainer is None:
            return
        opened: Counter[tuple[str, str]] = Counter()
        pages: dict[tuple[str, str], list[str]] = {}
        for book in dict.fromkeys(slug for slug, _ in self.traffic.opened):
            with suppress(NotFound, IndexUnavailable):
                async with self._shelf.lease(book) as generation:
                    for file in await generation.files():
                        opened[book, file.chapter] += self.traffic.opened[book, file.filename]
                        pages.setdefault((book, file.chapter), []).append(file.filename)
        for chapter, times in opened.most_common(WARM_CHAPTERS):
            for filename in pages[chapter] if times else ():
                await self._warm_page(self._explainer, chapter[0], filename)

    async def require_askable(self, question: Question) -> None:
        """Check question and books, before a model is loaded for it.

        Raises:
            InvalidQuestion: The question is empty, or names a chapter that the book does not have.
            NotFound: There is no such book.
            IndexUnavailable: No book can be opened.
        """
        understand(question, history=(), language=self._language, embedder=self._searcher.embedder)
        async with lease_books(self._shelf, question.book) as generations:
            await apply_filters(generations, question)

    async def explains(self, question: Question) -> bool:
        """Whether a model or a prepared entry would answer, and not the book's own words alone.

        Raises:
            As `answer`.
        """
        if self._explainer is not None or self._prepared is None:
            return self._explainer is not None
        query = understand(question, history=(), language=self._language, embedder=self._searcher.embedder)
        async with lease_books(self._shelf, question.book) as generations, self.search_turn(question):
            query = await in_chapter(await with_wish(self._searcher, query), generations)
            return query.refusal is None and await self._prepared.plan(query, generations) is not None

    @asynccontextmanager
    async def search_turn(self, question: Question) -> AsyncIterator[None]:
        """Hold the turn to search for one question; wait for it first."""
        async with self._turns.turn(question.peer, question.session_id):
            with stages.stage("search"):
                yield

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Events of one answer; the last is a `DoneEvent`.

        Raises:
            InvalidQuestion: The question is empty, or names a chapter that the book does not have.
            NotFound: There is no such book.
            IndexUnavailable: No book can be opened.
        """
        started = self._clock()
        history = await self._history(question)
        query = understand(question, history=history, language=self._language, embedder=self._searcher.embedder)
        query = await with_wish(self._searcher, query)
        async with lease_books(self._shelf, question.book) as generations:
            if query.refusal is not None:
                first = generations[0]
                plan = refusal_plan(query, query.refusal, title=first.book.title, generation=first.name)
                yield self._done_event(plan, started)
                return
            # What the model is shown of the conversation: nothing if the question stands alone.
            earlier = history[-MOST_TURNS:] if query.text != query.typed else []
            model = self._explainer.name if self._explainer is not None else ""
            key = (tuple(generation.state for generation in generations), model, *decides(query, earlier))
            replay = self._cache.get(key)
            stages.note("cache", "hit" if replay is not None else "miss")
            if replay is not None:
                for event in replay:
                    yield for_reader(event, latency_ms=self._elapsed_ms(started))
                return
            events: list[AnswerEvent] = []
            with self.traffic.searching():
                async with aclosing(self._from_books(query, generations, started, earlier)) as stream:
                    async for event in stream:
                        if isinstance(event, DoneEvent) and event.answer.refusal in NOT_COVERED and not question.book:
                            require_all_readable(self._shelf)
                        events.append(event)
                        yield event
            self._cache.put(key, events)
            # Who asks next, asks about the same page, most likely.
            last = events[-1]
            cited = [one for one in last.answer.sources if one.filename] if isinstance(last, DoneEvent) else []
            for source in cited[:1]:
                self.warm_page(source.book, source.filename)

    async def _history(self, question: Question) -> list[ChatMessage]:
        """The conversation: as the reader's program tells it, else as it is stored; none if that cannot be read."""
        if question.earlier:
            return [
                ChatMessage(id="", session_id="", role=turn.role, text=turn.content, created="")
                for turn in question.earlier
                if turn.role != "system"
            ]
        if self._chats is None or not question.session_id:
            return []
        try:
            stored = await self._chats.history(question.session_id)
        except ChatStoreError as error:
            get_logger("chats").warning("not_remembered", detail=error.detail, remedy=error.remedy)
            return []
        stored = [message for message in stored if message.id not in question.kept_as]
        questions = [place for place, message in enumerate(stored) if message.role == "user"]
        # Asked again for its explanation, a question does not follow itself.
        again = question.explain and questions and stored[questions[-1]].text == question.text
        return stored[: questions[-1]] if again else stored

    async def _from_books(
        self, query: Query, generations: Sequence[OpenGeneration], started: float, earlier: Sequence[ChatMessage]
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Search, decide, show, have the model answer.

        Excerpts come at once where the reader is sure, else with the model's yes or no.
        """
        with ExitStack() as ending, ExitStack() as waiting:
            waiting.enter_context(self.traffic.without_excerpts())
            async with self.search_turn(query.question):
                plan = await self._plan(query, generations)
            prompts = self._prompts(plan, earlier)
            explanation = yes = None
            if self._explainer is not None and prompts:
                explanation = Explanation()
                yes = asyncio.create_task(self._explainer.yes(plan, prompts[0], started))
                ending.callback(yes.cancel)
                if plan.verdict != "answers":
                    waiting.close()
                    await asyncio.wait({yes}, timeout=max(self._settings.deadline_s - (self._clock() - started), 0.0))
            plan = settle_plan(plan, self._verdict(plan, yes))
            if plan.sources:
                yield SourcesEvent(citations=plan.sources)
            for excerpt in plan.excerpts:
                yield ExcerptEvent(excerpt)
            waiting.close()
            if explanation is not None and yes is not None:
                if plan.verdict == "answers" and plan.refusal is None:
                    stream = self._model_sentences(plan, prompts, yes, started, explanation)
                    async with aclosing(stream) as events:
                        async for event in events:
                            yield event
                    plan = settle_plan(plan, self._verdict(plan, yes))
                explanation.yes = yes.result() if yes.done() and not yes.cancelled() else None
                if plan.verdict != "answers":
                    explanation.sentences.clear()
            for sentence in _book_sentences(plan) if explanation is None or not explanation.sentences else ():
                yield sentence
            yield self._done_event(plan, started, explanation)

    async def _model_sentences(
        self,
        plan: Plan,
        prompts: Sequence[Prompt],
        yes: "asyncio.Task[float | None]",
        started: float,
        explanation: Explanation,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """The model's sentences, the book's warnings before the first; they end where its yes turns out to be a no."""
        if self._explainer is None:
            return
        before = [Sentence(text=text, citations=(number,)) for text, number in plan.guards]
        for prompt in prompts:
            async with aclosing(self._explainer.sentences(plan, prompt, started, explanation, yes)) as stream:
                async for item in stream:
                    if isinstance(item, QueuedEvent):
                        yield item
                        continue
                    if self._verdict(plan, yes) != "answers":
                        return
                    if explanation.is_reduced and len(explanation.sentences) == 1 and not plan.query.sums_chapter:
                        # What follows a sentence that is not shown begins in the middle: the book begins instead.
                        lead = [one for one in plan.lead if one.citations and not stands_in(item.text, [one.text])]
                        explanation.sentences[:0] = lead
                        before += lead
                    for sentence in (*before, item):
                        yield _sentence_event(sentence)
                    before.clear()

    def _verdict(self, plan: Plan, yes: "asyncio.Task[float | None] | None") -> Verdict:
        """Whether the book answers, with the model's yes if it is there; what leans on a text has it already."""
        is_sure = plan.query.mode == "selection" or plan.query.leans or plan.query.follows or plan.query.sums_chapter
        if yes is None or is_sure or not yes.done() or yes.cancelled():
            return plan.verdict
        odds = yes.result()
        return plan.verdict if odds is None else load_decisions().with_model.verdict(plan.odds, odds)

    def _prompts(self, plan: Plan, earlier: Sequence[ChatMessage]) -> list[Prompt]:
        """Build the model's prompts, one for each step; none if the model is not asked."""
        if self._explainer is None or not plan.explainable:
            return []
        own_words = self._explainer.ability.own_words and self._settings.own_words
        steps = [[one] for one in plan.reading] if plan.query.sums_chapter else [plan.reading]
        prompts = [prompt_of(plan.query, plan.title, step, earlier, own_words=own_words) for step in steps]
        return [prompt for prompt in prompts if prompt is not None]

    async def _plan(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan:
        """As prepared, from the contents, from the selection alone, or from the book that answers best."""
        query = await in_chapter(await self._as_meant(query, generations), generations)
        ready = await self._prepared.plan(query, generations) if self._prepared is not None else None
        stages.note("prepared", "yes" if ready is not None else "no")
        if ready is not None:
            return ready
        if query.frame == "about":
            return await from_contents(query, generations[0])
        generation, result = await self._find(query, generations)
        if query.sums_chapter:
            short = await chapter_plan(query, generation, result, is_read=self._explainer is not None)
            if short is not None:
                return short
        meant = ""
        if self._prepared is not None:
            others = [one for one in generations if one is not generation]
            result, meant = await self._prepared.beside(query, [generation, *others], result)
        opened = await _open_title(query, generations)
        plan = await make_plan(query, generation, result, sections=self.ability.sections, open_title=opened)
        if _repeats(plan):
            # Nobody asks on to hear the same again.
            generation, result = await self._find(replace(query, frame="more", added=""), generations)
            plan = await make_plan(query, generation, result, sections=self.ability.sections, open_title=opened)
            if _repeats(plan):
                plan = Plan(query, plan.title, plan.generation, messages.NOTHING_MORE, warnings=query.warnings)
        following = await next_questions(self._searcher, generation, query, plan.excerpts)
        return replace(plan, suggestions=plan.suggestions or following, meant=meant)

    async def _as_meant(self, query: Query, generations: Sequence[OpenGeneration]) -> Query:
        """The question, leaning on the conversation where the book answers it so more likely than alone."""
        if query.leaning is None:
            return query
        leaning = await with_wish(self._searcher, query.leaning)
        _, alone_result = await search_books(self._searcher, generations, query, k=1, again=False)
        _, result = await search_books(self._searcher, generations, leaning, k=1, again=False)
        return leaning if result.odds > alone_result.odds else query

    async def _find(self, query: Query, generations: Sequence[OpenGeneration]) -> tuple[OpenGeneration, SearchResult]:
        if query.mode == "selection":
            return generations[0], await search_selection(self._searcher.embedder, generations[0], query)
        return await search_books(self._searcher, generations, query, k=query.question.top_k or self._settings.top_k)

    def _done_event(self, plan: Plan, started: float, explanation: Explanation | None = None) -> DoneEvent:
        model = explanation or Explanation()
        # The book's warnings stand before the sentences of a model.
        guards = [Sentence(text=text, citations=(number,)) for text, number in plan.guards]
        reply = (*guards, *model.sentences) if model.sentences else ()
        if reply:
            cited = {number for one in reply for number in one.citations}
            plan = with_proof(plan, model.proofs, cited, [one.text for one in reply if one.support == "stated"])
        sentences = reply or (plan.lead if not plan.explanation else ())
        explained = plan.explanation or explanation_of(sentences)
        # Whether to ask the model (again), and to wait for it, may bring an explanation.
        had_its_say = bool(reply) or (explanation is not None and not model.warnings)
        text = plan.rest if not reply and not plan.explanation and (plan.lead or plan.rest) else plan.text
        # A copy of the book is the book's, whoever chose it.
        by_model = plan.by_model or (bool(reply) and model.own_words)
        answer = Answer(
            answer="\n\n".join(part for part in (explained, text) if part),
            explanation=explained,
            sentences=sentences,
            excerpts=plan.excerpts,
            closest=plan.verdict == "closest",
            meant=plan.meant,
            sources=plan.sources,
            mode=plan.query.mode,
            kind="refusal" if plan.refusal else "generated" if by_model else "extractive",
            refusal=plan.refusal,
            suggestions=plan.suggestions,
            warnings=(*plan.warnings, *model.warnings),
            model_used=self._explainer.name if self._explainer is not None and reply else "",
            prepared_by=plan.prepared_by,
            latency_ms=self._elapsed_ms(started),
            generation=plan.generation,
            is_cut=bool(reply) and model.is_cut,
            explainable=self._explainer is not None and plan.explainable and not had_its_say,
        )
        odds = plan.odds if isfinite(plan.odds) else 0.0
        return DoneEvent(answer=answer, made=Certainty(searched=plan.query.text, odds=odds, yes=model.yes))

    def _elapsed_ms(self, started: float) -> int:
        return round((self._clock() - started) * 1000)


async def _open_title(query: Query, generations: Sequence[OpenGeneration]) -> str:
    """Title of the book whose page the reader has open; empty if no page is known."""
    for generation in generations if query.page else ():
        if any(file.filename == query.page for file in await generation.files()):
            return generation.book.title
    return ""


def _book_sentences(plan: Plan) -> list[SentenceEvent]:
    """The events of what was prepared, or of the book's own answer."""
    if plan.explanation:
        return [SentenceEvent(text=plan.explanation, citations=tuple(item.n for item in plan.excerpts))]
    return list(map(_sentence_event, plan.lead))


def _sentence_event(sentence: Sentence) -> SentenceEvent:
    return SentenceEvent(text=sentence.text, citations=sentence.citations, support=sentence.support)


def _repeats(plan: Plan) -> bool:
    """Whether a question that wants more, or a reason, would be told what an answer before said.

    Whatever else is asked may well be answered by a sentence that was shown before.
    """
    is_reason = plan.query.is_bare and plan.query.frame == "why"
    if not (plan.query.is_more or is_reason):
        return False
    lead = [plain(sentence.text) for sentence in plan.lead if sentence.citations]
    quoted = [plain(unit.text) for run in plan.runs for unit in run.units]
    # A reason may have been told already, as something else: it is new where it comes first.
    statements = lead if is_reason else [text for text in quoted if text and any(text in one for one in lead)]
    return bool(statements) and all(any(text in answer for answer in plan.query.answers) for text in statements)


def decides(query: Query, earlier: Sequence[ChatMessage] = ()) -> tuple[Hashable, ...]:
    """Return the parts of a query that determine its answer, besides books and settings.

    Who asks, and in which conversation, does not: what the conversation adds stands in the text, and in the messages
    that the model is shown.
    """
    question = query.question
    where = (question.book, question.chapter, question.module, question.top_k)
    how = (question.surface, question.explain, question.answer_tokens)
    text = (normalize(query.text), normalize(query.added), *query.answers, *map(normalize, query.parts))
    rest = (query.mode, query.frame, query.selected_text, query.page, query.follows, query.warnings)
    turns = tuple((message.role, message.text) for message in earlier)
    leaning = decides(query.leaning) if query.leaning is not None else ()
    return (*text, *rest, *where, *how, turns, leaning)


LIMIT = 512
"""Answers that are remembered; the one asked for longest ago goes first."""
PASSING = frozenset({messages.PAST_DEADLINE, messages.MODEL_AWAY})
"""Warnings of answers that would be better another time."""


def for_reader(event: AnswerEvent, *, latency_ms: int) -> AnswerEvent:
    """Adapt a cached event for a reader who repeats the question and waited so long."""
    if not isinstance(event, DoneEvent):
        return event
    return DoneEvent(answer=msgspec.structs.replace(event.answer, latency_ms=latency_ms), made=event.made)


class AnswerCache:
    """Whole answers, as events, by everything that determines them: generation, question, mode and settings.

    What comes back is what was given: text, sources, warnings, and the events in their order. Waiting in the model's
    queue is not repeated, since nobody waits.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._answers: dict[Hashable, tuple[AnswerEvent, ...]] = {}
        """The one asked for longest ago first."""

    def get(self, key: Hashable) -> tuple[AnswerEvent, ...] | None:
        """The events of an answer that was given before."""
        events = self._answers.pop(key, None)
        if events is not None:
            self._answers[key] = events
        return events

    def put(self, key: Hashable, events: Sequence[AnswerEvent]) -> None:
        """Keep an answer, unless the model was away or late for it: the next reader may be luckier.

        Every other answer in the book's words alone is kept: there is no model, or it had its say and nothing of it
        held, and would say the same again.
        """
        last = events[-1] if events else None
        if not isinstance(last, DoneEvent) or PASSING.intersection(last.answer.warnings):
            return
        self._answers[key] = tuple(event for event in events if not isinstance(event, QueuedEvent))
        while len(self._answers) > self._limit:
            del self._answers[next(iter(self._answers))]


_REQUESTS = {text: cast("Frame", wish) for wish in get_args(Frame) for text in lexicon.REQUESTS.get(wish, ())}
WISHES: frozenset[Frame] = frozenset({"more", "simpler", "proof", "other"})
ALIKE = 0.34
"""Cosine from which a follow-up is taken for a plain request; one that is less alike asks something of its own."""
ALIKE_LONG_NAME = 0.5
"""Cosine from which a question on an abbreviation asks for the words behind it, and not what is asked `otherwise`: on
31 such questions and 52 others 27 and 2 are taken for it."""
_ABBREVIATION = re.compile(r"\b[A-Z][a-z]?[A-Z0-9]{1,5}\b")


async def with_wish(searcher: Searcher, query: Query) -> Query:
    """What a question wants, told by its likeness to plain ones.

    A follow-up without a subject or form of its own is compared with one plain request of each kind, and has its wish
    as its frame if that is one of `WISHES`. A question for the words behind an abbreviation is asked as the reader
    knows it best: "What is the full form of ABS?" becomes "What does ABS mean?".
    """

    async def nearest(text: str, others: Sequence[str]) -> tuple[int, float]:
        first, *rest = (pooled_vector(encoding) for encoding in await searcher.encode([text, *others]))
        cosines = np.array(rest) @ first
        return int(cosines.argmax()), float(cosines.max())

    frame, topic, _ = frame_of(query.typed)
    if frame not in {"plain", "definition"}:
        return query
    names = set(_ABBREVIATION.findall(topic))
    if len(names) == 1 and not query.subject and not query.selected_text:
        (name,) = names
        long_name, otherwise = lexicon.REQUESTS["long_name"], lexicon.REQUESTS["otherwise"]
        template = re.sub(rf"\b(?:(?i:an?|the) )?{name}\b", "it", topic)
        place, cosine = await nearest(template, [*long_name, *otherwise])
        if cosine >= ALIKE_LONG_NAME and place < len(long_name):
            meaning = f"What does {name} mean?"
            return replace(query, topic=meaning, parts=(meaning,), frame="definition")
    if not query.subject or subject_stems(topic):
        return query
    place, cosine = await nearest(query.typed, list(_REQUESTS))
    wish = list(_REQUESTS.values())[place]
    is_wish = wish in WISHES and cosine >= ALIKE
    return replace(query, frame=wish, added="") if is_wish else replace(query, frame=frame)
