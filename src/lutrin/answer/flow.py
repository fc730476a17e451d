"""Answers a question: the book's own words at once, then the model's sentences, each with its grade."""

import asyncio
import re
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Protocol, cast, get_args

import msgspec
import numpy as np

from lutrin import messages, stages
from lutrin.answer.explain import Explainer, Explanation, Judgement
from lutrin.answer.grade import Grader, fitted_weights, stands_in
from lutrin.answer.listing import listing_plan, wants_listing
from lutrin.answer.plan import (
    Plan,
    chapter_plan,
    from_contents,
    make_plan,
    next_questions,
    refusal_plan,
    settle_plan,
    with_proof,
    with_sources,
)
from lutrin.answer.pointing import of_kind, on_page
from lutrin.answer.prompt import MOST_TURNS, Ability, Prompt, prompt_of
from lutrin.answer.punctuality import Estimate, is_late
from lutrin.answer.render import explanation_of, with_plain_words
from lutrin.answer.runs import choose, sections_of_page
from lutrin.answer.traffic import Traffic
from lutrin.errors import ChatStoreError, IndexUnavailable, NotFound
from lutrin.fairness import FairTurns, Share
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.language import lexicon
from lutrin.language.gate import LanguageGate
from lutrin.language.words import plain, stem_set, subject_stems
from lutrin.log import get_logger
from lutrin.ports import ChatStore, Generator
from lutrin.query.frames import Frame
from lutrin.query.respell import with_spaces
from lutrin.query.sides import each_named, each_side, longer_first
from lutrin.query.understand import Query, alone, normalize, understand
from lutrin.records import (
    Answer,
    AnswerEvent,
    BookAnswerEvent,
    Certainty,
    ChatMessage,
    DoneEvent,
    ExcerptEvent,
    Question,
    QueuedEvent,
    Sentence,
    SentenceEvent,
    SourcesEvent,
    WorkingEvent,
)
from lutrin.search.joints import parted
from lutrin.search.reader import Verdict, load_decisions, marked_code, pooled_vector
from lutrin.search.search import Searcher, SearchResult, search_selection
from lutrin.search.shelf_search import apply_filters, in_chapter, lease_books, require_all_readable, search_books
from lutrin.settings import Settings

NOT_COVERED = frozenset({"out_of_scope", "not_in_book"})
FAST_S = 1.0
"""A model whose first sentence comes within so many seconds speaks first; a later one stands below the book's."""
TURN_S = 30.0
"""Seconds that one search may hold its turn, a hundred usual ones: a disk that does not answer must not stop all."""
WARM_CHAPTERS = 2
"""Chapters that are read whole while nobody asks."""
MAX_OPENED = 100
"""Opened pages that wait to be read ahead, some minutes of a class."""
MAX_OFFERED = 64
"""Explanations that were offered and may be asked for: more than a class, which asks within moments."""
MAX_SECTIONS_AHEAD = 8
"""Sections of an opened page that the model reads ahead: some 30 s of one core at 40 tokens a second."""


WANT_NEW: frozenset[Frame] = frozenset({"more", "simpler", "other", "why", "example", "analogy"})
"""What is wanted of the answer before by who does not want to hear it again."""


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
        self._opened: asyncio.Queue[tuple[str, str]] = asyncio.Queue(MAX_OPENED)
        self._chats = chats
        self._clock = clock
        self._cache = AnswerCache()
        self._offered: OrderedDict[Hashable, Plan] = OrderedDict()
        """What was found for readers to whom an explanation was offered: whoever takes it is not searched for again."""
        self._turns = FairTurns(searches_at_once)
        self._share = Share(time.process_time)
        self.charge: Callable[[float], None] = lambda _: None
        """Told of the seconds of processor time that a search took, in the context of its question."""
        if generator is not None:
            self.take_model(generator, ability or Ability())

    @property
    def ability(self) -> Ability:
        """How much the model reads and writes; of no tier while there is none."""
        return self._explainer.ability if self._explainer is not None else Ability(tier="none", sections=0)

    @property
    def is_paused(self) -> bool:
        """Whether the model explains nothing unasked, because this machine is too busy now."""
        return self._explainer is not None and self._explainer.is_paused

    def take_model(self, generator: Generator, ability: Ability) -> None:
        """Ask this model from now on."""
        weights = fitted_weights().strong if ability.tier == "large" else fitted_weights().small
        strict = self._settings.grades == "strict"
        grader = self._grader or Grader(self._searcher.embedder, weights, strict=strict)
        self._explainer = Explainer(generator, grader, self._settings, self.traffic, self._clock, ability=ability)
        self.traffic.hold = generator.hold

    def warm_page(self, book: str, filename: str) -> None:
        """Note that a reader has opened a page, for `read_ahead`; of very many pages the newest are kept."""
        self.traffic.opens(book, filename)
        if self._opened.full():
            self._opened.get_nowait()
        self._opened.put_nowait((book, filename))

    async def read_ahead(self) -> None:
        """Have the model read the sections of pages that readers open, while nobody waits; until cancelled."""
        while True:
            page = await self._opened.get()
            if self._explainer is not None:
                await self._warm_page(self._explainer, *page)

    async def _warm_page(self, explainer: Explainer, book: str, filename: str) -> None:
        with suppress(NotFound, IndexUnavailable):
            async with self._shelf.lease(book) as generation:
                sections = await sections_of_page(generation, filename, MAX_SECTIONS_AHEAD)
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
        """Hold the turn to search for one question; wait for it first.

        Raises:
            IndexUnavailable: The search does not end: others have their turn.
        """
        async with self._turns.turn(question.peer, question.session_id):
            began_s = self._share.change(1)
            try:
                async with asyncio.timeout(TURN_S):
                    with stages.stage("search"):
                        yield
            except TimeoutError:
                raise IndexUnavailable(messages.KNOWLEDGE_BASE_DOWN) from None
            finally:
                self.charge(self._share.change(-1) - began_s)

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Events of one answer; the last is a `DoneEvent`.

        Raises:
            InvalidQuestion: The question is empty, or names a chapter that the book does not have.
            NotFound: There is no such book.
            IndexUnavailable: No book can be opened.
        """
        started = self._clock()
        history = await self._history(question)
        embedder = self._searcher.embedder
        async with lease_books(self._shelf, question.book) as generations:
            spaced = msgspec.structs.replace(question, text=await with_spaces(generations, question.text, embedder))
            query = understand(spaced, history=history, language=self._language, embedder=embedder)
            query = await with_wish(self._searcher, query)
            if query.refusal is not None:
                first = generations[0]
                plan = refusal_plan(query, query.refusal, title=first.book.title, generation=first.name)
                for final in self._finished(plan, started, ModelWork()):
                    yield final
                return
            # What the model is shown of the conversation: nothing if the question stands alone.
            leans = query.text != query.typed and not query.question.selected_text
            earlier = history[-MOST_TURNS:] if leans else []
            model = self._explainer.name if self._explainer is not None else ""
            key = (tuple(generation.state for generation in generations), model, *decides(query, earlier))
            reader = question.session_id or f"\0{question.peer}"
            replay = self._cache.get(key, reader)
            stages.note("cache", "hit" if replay is not None else "miss")
            if replay is not None:
                for event, after_s in replay:
                    await asyncio.sleep(started + after_s - self._clock())
                    yield for_reader(event, latency_ms=self._elapsed_ms(started))
                return
            events: list[tuple[AnswerEvent, float]] = []
            with self.traffic.searching():
                books = self._from_books(query, generations, started, earlier, (key, reader))
                async with aclosing(books) as stream:
                    async for event in stream:
                        if isinstance(event, DoneEvent) and event.answer.refusal in NOT_COVERED and not question.book:
                            require_all_readable(self._shelf)
                        events.append((event, self._clock() - started))
                        yield event
            self._cache.put(key, events, reader)
            # Who asks next, asks about the same page, most likely.
            last, _ = events[-1]
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
        stored = [message for message in stored if message.id not in question.kept_as and message.text]
        questions = [place for place, message in enumerate(stored) if message.role == "user"]
        # Asked again for its explanation, a question does not follow itself.
        again = question.explain and questions and stored[questions[-1]].text == question.text
        return stored[: questions[-1]] if again else stored

    async def _from_books(
        self,
        query: Query,
        generations: Sequence[OpenGeneration],
        started: float,
        earlier: Sequence[ChatMessage],
        place: Hashable,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Search, decide, show the book's answer, have the model explain it.

        The book's answer is final. A model that is fast enough to speak first decides with the reader what is shown,
        and its sentences stand above the book's. It also has its say if nothing is shown before the answer is whole.

        Args:
            place: Names question and reader.
        """
        with ExitStack() as ending, ExitStack() as waiting:
            waiting.enter_context(self.traffic.without_excerpts())
            plan = self._offered.pop(place, None)
            if plan is not None:
                plan = replace(plan, query=replace(plan.query, question=query.question))
            else:
                async with self.search_turn(query.question):
                    plan = await self._plan(query, generations)
            work = self._begin(plan, earlier, started)
            ending.callback(work.close)
            if work.offers:
                self._offered[place] = plan
                while len(self._offered) > MAX_OFFERED:
                    self._offered.popitem(last=False)
            is_whole = bool(work.runs) and query.question.whole and not query.question.explain
            if is_whole or (work.is_fast and plan.verdict != "answers"):
                waiting.close()
                await work.wait_for_yes(None if is_whole else FAST_S)
            decides = work.is_fast or is_whole
            book = settle_plan(plan, self._verdict(plan, work) if decides else plan.verdict)
            for event in _proof_events(book):
                yield event
            waiting.close()
            if not work.runs or (is_whole and book.refusal is not None):
                for final in self._finished(book, started, work):
                    yield final
                return
            async with aclosing(self._explained(plan, book, work, started)) as events:
                async for event in events:
                    yield event

    def _begin(self, plan: Plan, earlier: Sequence[ChatMessage], started: float) -> "ModelWork":
        """Ask the model whether the passage answers, if it is to explain: unasked only what is likely to come soon."""
        prompts = self._prompts(plan, earlier)
        if self._explainer is None or not prompts:
            return ModelWork()
        if plan.verdict == "no" and not self._may_lift(plan) and not plan.query.question.explain:
            return ModelWork()  # whatever it said, the refusal would stand
        question, explainer = plan.query.question, self._explainer
        forecast = explainer.forecast(prompts[0])
        is_fast = forecast is not None and forecast.first_s <= FAST_S
        is_near = forecast is None or forecast.first_s <= self._settings.live_s
        if question.wait_s is not None:
            begins = question.wait_s > 0 or is_fast
        else:
            begins = question.explain or is_fast or (is_near and plan.verdict != "no" and not explainer.is_paused)
        work = ModelWork(prompts=prompts, forecast=forecast, is_fast=is_fast and begins, offers=not begins)
        if begins:
            work.yes = asyncio.create_task(explainer.yes(plan, prompts[0], started))
        return work

    async def _explained(
        self, plan: Plan, book: Plan, work: "ModelWork", started: float
    ) -> AsyncGenerator[AnswerEvent, None]:
        """The book's answer, the model's sentences below it, and the whole; a fast model's sentences stand above."""
        if self._explainer is None or work.yes is None:
            raise TypeError("a model explains")
        explanation = work.explanation
        feed = Feed(self._model_sentences(plan, work, started))
        try:
            if book.verdict == "answers" and work.is_fast and await feed.begins(FAST_S):
                async with aclosing(self._speaking_first(plan, feed, work)) as spoken:
                    async for event in spoken:
                        yield event
                if self._verdict(plan, work) != "answers":
                    book = settle_plan(plan, self._verdict(plan, work))
                    explanation.sentences.clear()
                for final in self._finished(book, started, work, is_above=True):
                    yield final
                return
            explanation.above = tuple([one.text for one in book.lead] + [one.text for one in book.excerpts])
            work.book = book
            yield BookAnswerEvent(answer=self._answer(book, started), made=self._certainty(book, work))
            yield WorkingEvent(what="reading", eta_s=self._eta_s(work))
            async with aclosing(self._below(plan, book, feed, work)) as below:
                async for event in below:
                    yield event
        finally:
            await feed.close()
        yield DoneEvent(answer=self._answer(work.book, started, work), made=self._certainty(work.book, work))

    async def _model_sentences(
        self, plan: Plan, work: "ModelWork", started: float
    ) -> AsyncGenerator[QueuedEvent | WorkingEvent | Sentence, None]:
        """The model's sentences on each of the prompts."""
        if self._explainer is None or work.yes is None:
            return
        for prompt in work.prompts:
            stream = self._explainer.sentences(plan, prompt, started, work.explanation, work.yes)
            async with aclosing(stream) as items:
                async for item in items:
                    yield item

    async def _speaking_first(self, plan: Plan, feed: "Feed", work: "ModelWork") -> AsyncGenerator[AnswerEvent, None]:
        """A fast model's sentences, the book's warnings before the first; they end where its yes proves to be a no."""
        before = [Sentence(text=text, citations=(number,)) for text, number in plan.guards]
        sentences = work.explanation.sentences
        async for item in feed:
            if not isinstance(item, Sentence):
                continue
            if self._verdict(plan, work) != "answers":
                return
            if work.explanation.is_reduced and len(sentences) == 1 and not plan.query.sums_chapter:
                # What follows a sentence that is not shown begins in the middle: the book begins instead.
                lead = [one for one in plan.lead if one.citations and not stands_in(item.text, [one.text])]
                sentences[:0] = lead
                before += lead
            for sentence in (*before, item):
                yield _sentence_event(sentence)
            before.clear()

    async def _below(
        self, plan: Plan, book: Plan, feed: "Feed", work: "ModelWork"
    ) -> AsyncGenerator[AnswerEvent, None]:
        """What the model adds below the book's answer; its yes also lifts a refusal, after which there is an answer.

        A late no takes nothing away: it only keeps the model from explaining what does not answer.
        """
        asked_s, spoke, has_ended = self._clock(), False, False
        try:
            async for item in feed:
                if not isinstance(item, Sentence):
                    yield item
                    continue
                verdict = self._verdict(plan, work)
                if not spoke:
                    spoke = True
                    self._note_wait(work, self._clock() - asked_s)
                    if book.refusal is not None and verdict != "no":
                        work.book = book = settle_plan(plan, verdict)
                        for event in _proof_events(book):
                            yield event
                if verdict != "answers":
                    break
                more = with_sources(book, plan, work.explanation.proofs)
                if more is not book:
                    work.book = book = more
                    yield SourcesEvent(citations=book.sources)
                yield _sentence_event(item)
            has_ended = not work.explanation.warnings
        finally:
            took_s = self._clock() - asked_s
            if not spoke and work.forecast is not None and (has_ended or is_late(work.forecast.first_s, took_s)):
                self._note_wait(work, took_s)
        if self._verdict(plan, work) != "answers":
            work.explanation.sentences.clear()

    def _note_wait(self, work: "ModelWork", took_s: float) -> None:
        if self._explainer is not None:
            self._explainer.note_wait(work.forecast, took_s)

    @staticmethod
    def _verdict(plan: Plan, work: "ModelWork") -> Verdict:
        """Whether the book answers, with what the model thinks if it is there; what leans on a text has it already."""
        judged = work.judged
        return plan.verdict if judged is None or _is_sure(plan) else load_decisions().verdict(plan.odds, *judged)

    @staticmethod
    def _may_lift(plan: Plan) -> bool:
        """Whether the model's yes could lift a refusal."""
        return not _is_sure(plan) and load_decisions().with_model.may_lift(plan.odds)

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
        if (listing := await self._listing(query, generations)) is not None:
            return listing
        query, pointing = await on_page(self._searcher, await self._as_meant(query, generations), generations)
        query = query if query.within else await in_chapter(query, generations)
        query = await parted(self._searcher, generations, query)
        ready = await self._prepared.plan(query, generations) if self._prepared is not None else None
        stages.note("prepared", "yes" if ready is not None else "no")
        if ready is not None:
            return ready
        if query.frame == "about":
            return await from_contents(query, generations[0])
        generation, result = await self._find_each(query, generations)
        if query.within and not query.whole_chapter:
            result = of_kind(result, pointing)
            if result.verdict != "answers":
                # The page does not answer it: the book may.
                query = replace(query, within="")
                generation, result = await self._find_each(query, generations)
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
        following = await next_questions(self._searcher, generation, query, plan.excerpts, meant)
        return replace(plan, suggestions=plan.suggestions or following, meant=meant)

    async def _listing(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan | None:
        """Marked code line by line, if that is asked for."""
        for generation in generations if query.selected_text else ():
            marked = await marked_code(generation, query.selected_text)
            if marked is not None and await wants_listing(self._searcher, query):
                return await listing_plan(self._searcher, generation, query, *marked, sections=self.ability.sections)
        return None

    async def _as_meant(self, query: Query, generations: Sequence[OpenGeneration]) -> Query:
        """The question, leaning on the conversation where the book answers it so more likely than alone."""
        if query.leaning is None:
            return query
        leaning = await with_wish(self._searcher, query.leaning)
        _, alone_result = await search_books(self._searcher, generations, query, k=1, again=False)
        _, result = await search_books(self._searcher, generations, leaning, k=1, again=False)
        return leaning if result.odds > alone_result.odds else query

    async def _find_each(
        self, query: Query, generations: Sequence[OpenGeneration]
    ) -> tuple[OpenGeneration, SearchResult]:
        """What answers a question; for each of two things that it names side by side, where nothing speaks of both."""
        generation, result = await self._find(query, generations)
        sides = each_side(query)
        if sides is None or query.mode == "selection":
            return generation, result
        each, names = sides
        said = [f"{unit.lead} {unit.text}" for run in choose(result.parts, query.frame) for unit in run.units]
        stems = stem_set(" ".join(said))
        if all(stem_set(name) <= stems for name in names):
            return generation, result
        home, both = await self._find(each, generations)
        if both.parts[0].verdict != "answers" and (first := longer_first(names)):
            home, both = await self._find(each_named(each, names, first), generations)
        answered = [part.verdict == "answers" for part in both.parts]
        # One side of a comparison is half of an answer; what holds for both may be said of them together.
        if all(answered) or (query.frame == "compare" and any(answered)):
            return home, both
        return generation, result

    async def _find(self, query: Query, generations: Sequence[OpenGeneration]) -> tuple[OpenGeneration, SearchResult]:
        if query.mode == "selection":
            return generations[0], await search_selection(self._searcher.embedder, generations[0], query)
        return await search_books(self._searcher, generations, query, k=query.question.top_k or self._settings.top_k)

    def _finished(
        self, plan: Plan, started: float, work: "ModelWork", *, is_above: bool = False
    ) -> tuple[BookAnswerEvent, DoneEvent]:
        """The last events of an answer to which nothing is added any more."""
        answer, made = self._answer(plan, started, work, is_above=is_above), self._certainty(plan, work)
        return BookAnswerEvent(answer=answer, made=made), DoneEvent(answer=answer, made=made)

    @staticmethod
    def _certainty(plan: Plan, work: "ModelWork") -> Certainty:
        odds = plan.odds if isfinite(plan.odds) else 0.0
        yes, head = work.judged or (None, None)
        return Certainty(searched=plan.query.text, odds=odds, yes=yes, head=head)

    def _answer(self, plan: Plan, started: float, work: "ModelWork | None" = None, *, is_above: bool = False) -> Answer:
        """The book's answer, with what the model added below it, or, if it spoke first, above it (`is_above`)."""
        model = work.explanation if work is not None else Explanation()
        # The book's warnings stand before the sentences of a model.
        guards = [Sentence(text=text, citations=(number,)) for text, number in plan.guards]
        reply = (*guards, *model.sentences) if is_above and model.sentences else ()
        below = () if is_above else tuple(model.sentences)
        if reply:
            cited = {number for one in reply for number in one.citations}
            plan = with_proof(plan, model.proofs, cited, [one.text for one in reply if one.support == "stated"])
        sentences = reply or (plan.lead if not plan.explanation else ())
        explained = plan.explanation or explanation_of(sentences)
        text = plan.rest if not reply and not plan.explanation and (plan.lead or plan.rest) else plan.text
        confirmed = plan.verdict == "closest" and bool(below)
        whole = "\n\n".join(part for part in (explained, text) if part)
        # A copy of the book is the book's, whoever chose it.
        by_model = plan.by_model or (bool(reply or below) and model.own_words)
        return Answer(
            answer=with_plain_words(whole, below, closest=confirmed) if below else whole,
            explanation=explained,
            sentences=sentences,
            plain_words=below,
            excerpts=plan.excerpts,
            closest=plan.verdict == "closest",
            confirmed=confirmed,
            meant=plan.meant,
            sources=plan.sources,
            mode=plan.query.mode,
            kind="refusal" if plan.refusal else "generated" if by_model else "extractive",
            refusal=plan.refusal,
            suggestions=plan.suggestions,
            warnings=(*plan.warnings, *model.warnings),
            model_used=self._explainer.name if self._explainer is not None and (reply or below) else "",
            prepared_by=plan.prepared_by,
            latency_ms=self._elapsed_ms(started),
            generation=plan.generation,
            is_cut=bool(reply or below) and model.is_cut,
            explainable=self._is_offered(plan, work),
            eta_s=self._eta_s(work) if self._is_offered(plan, work) else None,
        )

    def _is_offered(self, plan: Plan, work: "ModelWork | None") -> bool:
        """Whether asking the model may bring an explanation, or, after a refusal, another answer."""
        if self._explainer is None or work is None:
            return False
        if plan.refusal is not None and not self._explainer.ability.judges:
            return False
        return work.offers or PASSING.intersection(work.explanation.warnings) != set()

    @staticmethod
    def _eta_s(work: "ModelWork | None") -> float | None:
        return round(work.forecast.first_s, 1) if work is not None and work.forecast is not None else None

    def _elapsed_ms(self, started: float) -> int:
        return round((self._clock() - started) * 1000)


async def _open_title(query: Query, generations: Sequence[OpenGeneration]) -> str:
    """Title of the book whose page the reader has open; empty if no page is known."""
    for generation in generations if query.page else ():
        if any(file.filename == query.page for file in await generation.files()):
            return generation.book.title
    return ""


def _is_sure(plan: Plan) -> bool:
    """Whether the model is not heard on whether the book answers: what leans on a text has its answer there."""
    query = plan.query
    return query.mode == "selection" or bool(query.leans or query.follows or query.sums_chapter)


def _proof_events(plan: Plan) -> list[AnswerEvent]:
    """Sources and excerpts, which are there before the answer is put together."""
    sources = [SourcesEvent(citations=plan.sources)] if plan.sources else []
    return [*sources, *map(ExcerptEvent, plan.excerpts)]


def _sentence_event(sentence: Sentence) -> SentenceEvent:
    return SentenceEvent(text=sentence.text, citations=sentence.citations, support=sentence.support)


def _repeats(plan: Plan) -> bool:
    """Whether a question that wants something new, and names nothing, would be told what an answer before said.

    Whatever else is asked may well be answered by a sentence that was shown before.
    """
    if not plan.query.is_bare or plan.query.frame not in WANT_NEW:
        return False
    is_reason = plan.query.frame == "why"
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
    how = (question.surface, question.answer_tokens, question.whole and bool(question.wait_s))
    text = (normalize(query.text), normalize(query.added), *query.answers, *map(normalize, query.parts))
    rest = (query.mode, query.frame, query.selected_text, query.page, query.follows, query.warnings)
    turns = tuple((message.role, message.text) for message in earlier)
    leaning = decides(query.leaning) if query.leaning is not None else ()
    return (*text, *rest, *where, *how, turns, leaning)


@dataclass(slots=True)
class ModelWork:
    """What the model does for one answer."""

    prompts: Sequence[Prompt] = ()
    forecast: Estimate | None = None
    is_fast: bool = False
    """Whether it is likely to speak before the reader has read a word: then it begins."""
    offers: bool = False
    """Whether it only begins if it is asked."""
    yes: "asyncio.Task[Judgement | None] | None" = None
    explanation: Explanation = field(default_factory=Explanation)
    book: Plan = field(init=False)
    """Of the book's answer, below which the model's sentences stand."""

    @property
    def runs(self) -> bool:
        """Whether it has begun."""
        return self.yes is not None

    @property
    def judged(self) -> Judgement | None:
        """Whether it thinks that the sections answer, as far as that is known."""
        return self.yes.result() if self.yes is not None and self.yes.done() and not self.yes.cancelled() else None

    async def wait_for_yes(self, most_s: float | None) -> None:
        """Wait for its yes or no; None: as long as it may take for the question."""
        if self.yes is not None:
            await asyncio.wait({self.yes}, timeout=most_s)

    def close(self) -> None:
        """Stop asking."""
        if self.yes is not None:
            self.yes.cancel()


class Feed:
    """The items of a stream that a task of its own reads, so that one can see whether the first is there yet."""

    def __init__(self, source: AsyncGenerator[QueuedEvent | WorkingEvent | Sentence, None]) -> None:
        self._items: asyncio.Queue[QueuedEvent | WorkingEvent | Sentence | None] = asyncio.Queue()
        self._spoke = asyncio.Event()
        self._task = asyncio.create_task(self._read(source))

    async def _read(self, source: AsyncGenerator[QueuedEvent | WorkingEvent | Sentence, None]) -> None:
        try:
            async with aclosing(source) as items:
                async for item in items:
                    self._items.put_nowait(item)
                    if isinstance(item, Sentence):
                        self._spoke.set()
        finally:
            self._spoke.set()
            self._items.put_nowait(None)

    async def begins(self, within_s: float) -> bool:
        """Whether a sentence comes within so many seconds, or the stream ends."""
        with suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self._spoke.wait()
        return self._spoke.is_set()

    async def __aiter__(self) -> AsyncIterator[QueuedEvent | WorkingEvent | Sentence]:
        """Yield the items; raises what the stream raised."""
        while (item := await self._items.get()) is not None:
            yield item
        await self._task

    async def close(self) -> None:
        """Stop reading."""
        self._task.cancel()
        await asyncio.wait({self._task})


LIMIT = 512
"""Answers that are remembered; the one asked for longest ago goes first."""
MOST_READERS = 64
"""Of one answer who are known to have had it: a class and its teacher, on more than one machine each."""
TimedEvent = tuple[AnswerEvent, float]
PASSING = frozenset({messages.PAST_DEADLINE, messages.MODEL_AWAY})
"""Warnings of answers that would be better another time."""


def for_reader(event: AnswerEvent, *, latency_ms: int) -> AnswerEvent:
    """Adapt a cached event for a reader who repeats the question and waited so long."""
    if not isinstance(event, DoneEvent | BookAnswerEvent):
        return event
    return msgspec.structs.replace(event, answer=msgspec.structs.replace(event.answer, latency_ms=latency_ms))


@dataclass(slots=True)
class _KeptAnswer:
    events: tuple[TimedEvent, ...]
    readers: OrderedDict[str, None]
    """Who had it, the latest last."""
    prepared: bool


class AnswerCache:
    """Whole answers, as events, by everything that determines them: generation, question, mode and settings.

    What comes back is what was given: text, sources, warnings, and the events in their order. Who asks again has it at
    once. Another reader has it when it would have come to them as to the first, so that no time tells what somebody
    else has asked; what was prepared is no secret. Waiting in the model's queue is not repeated, since nobody waits.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._answers: dict[Hashable, _KeptAnswer] = {}
        """The one asked for longest ago first."""

    def get(self, key: Hashable, reader: str) -> list[TimedEvent] | None:
        """The events of an answer that was given before, each with the seconds after which this reader gets it."""
        kept = self._answers.pop(key, None)
        if kept is None:
            return None
        self._answers[key] = kept
        at_once = kept.prepared or reader in kept.readers
        _note_reader(kept.readers, reader)
        if at_once:
            return [(event, 0.0) for event, _ in kept.events if not isinstance(event, WorkingEvent)]
        return list(kept.events)

    def put(self, key: Hashable, events: Sequence[TimedEvent], reader: str) -> None:
        """Keep an answer, unless the model was away, late or not begun for it: the next reader may be luckier.

        Every other answer in the book's words alone is kept: there is no model, or it had its say and nothing of it
        held, and would say the same again.

        Args:
            events: Each with the seconds after the question at which it came.
        """
        last = events[-1][0] if events else None
        if not isinstance(last, DoneEvent) or last.answer.explainable:
            return
        before = self._answers.pop(key, None)
        readers = before.readers if before is not None else OrderedDict()
        _note_reader(readers, reader)
        kept = tuple((event, after_s) for event, after_s in events if not isinstance(event, QueuedEvent))
        self._answers[key] = _KeptAnswer(kept, readers, prepared=bool(last.answer.prepared_by))
        while len(self._answers) > self._limit:
            del self._answers[next(iter(self._answers))]


def _note_reader(readers: OrderedDict[str, None], reader: str) -> None:
    readers[reader] = None
    readers.move_to_end(reader)
    while len(readers) > MOST_READERS:
        readers.popitem(last=False)


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

    frame, topic, _ = query.own
    if frame not in {"plain", "definition"}:
        return query
    names = set(_ABBREVIATION.findall(topic))
    if len(names) == 1 and not query.subject and not query.selected_text:
        (name,) = names
        long_name, otherwise = lexicon.REQUESTS["long_name"], lexicon.REQUESTS["otherwise"]
        template = re.sub(rf"\b(?:(?i:an?|the) )?{name}\b", "it", topic)
        place, cosine = await nearest(template, [*long_name, *otherwise])
        if cosine >= ALIKE_LONG_NAME and place < len(long_name):
            meaning = messages.MEANING_QUESTION.format(name=name)
            return replace(query, topic=meaning, parts=(meaning,), frame="definition")
    if not query.subject or subject_stems(topic):
        return query
    place, cosine = await nearest(query.typed, list(_REQUESTS))
    wish = list(_REQUESTS.values())[place]
    is_wish = wish in WISHES and cosine >= ALIKE
    return replace(query, frame=wish, added="") if is_wish else replace(query, frame=frame)
