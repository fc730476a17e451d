"""Answers a question: the book's own words at once, then the model's sentences, each with its grade.

Each stage takes a record and hands on another:

- `query.understand`: the question, completed from its conversation: a `Query`.
- `answer.evidence`: its meaning on this shelf, and the best book's passages on it (`search.search`): `Evidence`.
- `answer.plan`: the basis of the answer, decided before a word is generated: a `Plan`.
- `answer.explain`: the model's sentences, each graded (`answer.grade`): `ModelWork`.
- `answer.reply`: the book's answer and the model's sentences, as events; the last has the complete `Answer`.
"""

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Hashable, Sequence
from contextlib import ExitStack, aclosing, asynccontextmanager, suppress
from dataclasses import replace
from typing import Protocol

from lutrin import messages, stages
from lutrin.answer.cache import AnswerCache, for_reader
from lutrin.answer.contents import from_contents
from lutrin.answer.evidence import Evidence, as_meant, find_evidence, find_more
from lutrin.answer.explain import FAST_S, Explainer, ModelWork
from lutrin.answer.grade import Grader, fitted_weights
from lutrin.answer.listing import listing_plan
from lutrin.answer.overview import overview_plan
from lutrin.answer.plan import Plan, make_plan, next_questions, nothing_more, refusal_plan
from lutrin.answer.prompt import MOST_TURNS, Ability, prompt_of
from lutrin.answer.reply import Reply, milliseconds
from lutrin.answer.runs import sections_of_page
from lutrin.answer.traffic import Traffic
from lutrin.errors import ChatStoreError, IndexUnavailable, NotFound
from lutrin.fairness import FairTurns, Share
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.language.gate import LanguageGate
from lutrin.log import get_logger
from lutrin.ports import ChatStore, Generator
from lutrin.query.understand import Query, alone, understand, understand_for
from lutrin.records import AnswerEvent, ChatMessage, DoneEvent, Question
from lutrin.search.filters import apply_filters, in_chapter
from lutrin.search.result import SearchResult
from lutrin.search.search import Searcher
from lutrin.settings import Settings

NOT_COVERED = frozenset({"out_of_scope", "not_in_book"})
TURN_S = 30.0
"""Seconds that one search may hold its turn, a hundred usual ones: a disk that hangs must not stop everybody."""
WARM_CHAPTERS = 2
"""Chapters that the model reads in full while idle."""
MAX_OPENED = 100
"""Opened pages waiting to be read ahead, some minutes of a class."""
MAX_OFFERED = 64
"""Offered explanations that readers may still request: more than a class, which asks within moments."""
MAX_SECTIONS_AHEAD = 8
"""Sections of an opened page that the model reads ahead: some 30 s of one core at 40 tokens a second."""


class PreparedPlans(Protocol):
    """Finds prepared answers: `lutrin.study.prepared_answers`. Both calls raise what `AnswerFlow.answer` does."""

    async def plan(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan | None:
        """The plan of a prepared answer; None if no prepared question matches."""

    async def beside(
        self, query: Query, generations: Sequence[OpenGeneration], result: SearchResult
    ) -> tuple[SearchResult, str]:
        """The first book's evidence, led by its text on a prepared question, and a question that may be meant."""


class AnswerFlow:
    """Answers questions from the books on the shelf.

    Args:
        generator: The language model; None: answers are excerpts only.
        ability: How much the model reads and writes.
        prepared: Finds prepared answers; None: there are none.
        searches_at_once: Questions searched for at the same time; the others wait their turn. Use one where this
            machine's processor does the work: if all shared it, each would be as late as the last.
        chats: Stored conversations, for completing follow-ups; None: every question stands alone.
        grader: Grades the model's sentences; None: chosen by the settings.
        clock: Monotonic seconds.
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
        """Plans of answers whose explanation was offered, so that requesting it needs no second search."""
        self._turns = FairTurns(searches_at_once)
        self._share = Share(time.process_time)
        self.charge: Callable[[float], None] = lambda _: None
        """Called with the seconds of processor time that a search took, in the context of its question."""
        if generator is not None:
            self.take_model(generator, ability or Ability())

    def take_model(self, generator: Generator, ability: Ability) -> None:
        """Use this model from now on."""
        weights = fitted_weights().strong if ability.tier == "large" else fitted_weights().small
        strict = self._settings.grades == "strict"
        grader = self._grader or Grader(self._searcher.embedder, weights, strict=strict)
        self._explainer = Explainer(generator, grader, self._settings, self.traffic, self._clock, ability=ability)
        self.traffic.hold = generator.hold

    @property
    def ability(self) -> Ability:
        """How much the model reads and writes; tier `none` without a model."""
        return self._explainer.ability if self._explainer is not None else Ability(tier="none", sections=0)

    @property
    def is_paused(self) -> bool:
        """Whether unasked explanations are paused, because this machine is too busy now."""
        return self._explainer is not None and self._explainer.is_paused

    async def require_askable(self, question: Question) -> None:
        """Check question and books before a model is loaded for it.

        Raises:
            InvalidQuestion: The question is empty, or names a chapter that the book does not have.
            NotFound: There is no such book.
            IndexUnavailable: No book can be opened.
        """
        understand(question, history=(), language=self._language, embedder=self._searcher.embedder)
        async with self._shelf.lease_books(question.book) as generations:
            apply_filters(generations, question)

    async def explains(self, question: Question) -> bool:
        """Whether a model or a prepared entry would answer, rather than the book's own words alone.

        Raises:
            As `answer`.
        """
        if self._explainer is not None or self._prepared is None:
            return self._explainer is not None
        async with self._shelf.lease_books(question.book) as generations:
            query = await self._understood(question, (), generations)
            async with self.search_turn(question):
                query = in_chapter(query, generations)
                return query.refusal is None and await self._prepared.plan(query, generations) is not None

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Events of one answer; the last is a `DoneEvent`.

        Raises:
            InvalidQuestion: The question is empty, or names a chapter that the book does not have.
            NotFound: There is no such book.
            IndexUnavailable: No book can be opened.
        """
        started = self._clock()
        history = await self._history(question)
        async with self._shelf.lease_books(question.book) as generations:
            query = await self._understood(question, history, generations)
            if query.refusal is not None:
                first = generations[0]
                plan = refusal_plan(query, query.refusal, title=first.book.title, generation=first.name)
                for final in Reply(ModelWork(plan), started, self._clock).final_events():
                    yield final
                return
            # Conversation to show the model; empty if the question stands alone.
            leans = query.text != query.typed and not query.question.selected_text
            earlier = history[-MOST_TURNS:] if leans else []
            model = self._explainer.name if self._explainer is not None else ""
            turns = tuple((message.role, message.text) for message in earlier)
            key = (tuple(generation.state for generation in generations), model, query.key, turns)
            reader = question.session_id or f"\0{question.peer}"
            replay = self._cache.get(key, reader)
            stages.note("cache", "hit" if replay is not None else "miss")
            if replay is not None:
                for event, after_s in replay:
                    await asyncio.sleep(started + after_s - self._clock())
                    yield for_reader(event, latency_ms=milliseconds(self._clock() - started))
                return
            events: list[tuple[AnswerEvent, float]] = []
            with self.traffic.searching():
                books = self._from_books(query, generations, started, earlier, (key, reader))
                async with aclosing(books) as stream:
                    async for event in stream:
                        if isinstance(event, DoneEvent) and event.answer.refusal in NOT_COVERED and not question.book:
                            self._shelf.require_all_readable()
                        events.append((event, self._clock() - started))
                        yield event
            self._cache.put(key, events, reader)
            # The next reader most likely asks about the same page.
            last, _ = events[-1]
            cited = [one for one in last.answer.sources if one.filename] if isinstance(last, DoneEvent) else []
            for source in cited[:1]:
                self.warm_page(source.book, source.filename)

    async def _understood(
        self, question: Question, history: Sequence[ChatMessage], generations: Sequence[OpenGeneration]
    ) -> Query:
        return await understand_for(
            generations,
            question,
            history=history,
            language=self._language,
            embedder=self._searcher.embedder,
            encode=self._searcher.encode,
        )

    async def _history(self, question: Question) -> list[ChatMessage]:
        """The conversation: from the client's request, else from the store; empty if the store cannot be read."""
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
        # A question repeated for its explanation is not its own follow-up.
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
        """Search, decide, send the book's answer, have the model explain it.

        The book's answer is final. A model that is fast enough to speak first has a part in the decision, and its
        sentences stand above the book's. It also takes part if nothing is shown before the whole answer is complete.

        Args:
            place: Identifies question and reader.
        """
        with ExitStack() as ending, ExitStack() as waiting:
            waiting.enter_context(self.traffic.without_excerpts())
            plan = self._offered.pop(place, None)
            if plan is not None:
                plan = replace(plan, query=replace(plan.query, question=query.question))
            else:
                async with self.search_turn(query.question):
                    plan = await self._plan(query, generations)
            explainer = self._explainer
            work = explainer.begin(plan, earlier, started) if explainer is not None else ModelWork(plan)
            ending.callback(work.close)
            if work.offers:
                self._offered[place] = plan
                while len(self._offered) > MAX_OFFERED:
                    self._offered.popitem(last=False)
            is_whole = bool(work.runs) and query.question.whole and not query.question.explain
            if is_whole or (work.is_fast and plan.verdict != "answers"):
                waiting.close()
                await work.wait_for_yes(None if is_whole else FAST_S)
            reply = Reply(work, started, self._clock)
            for event in reply.settle(work.verdict if work.is_fast or is_whole else plan.verdict):
                yield event
            waiting.close()
            if not work.runs or (is_whole and reply.book.refusal is not None):
                for final in reply.final_events():
                    yield final
                return
            async with aclosing(reply.explanation_events()) as events:
                async for event in events:
                    yield event

    async def _plan(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan:
        """Plan from a prepared answer, the table of contents, the selection alone, or the book that answers best."""
        query = await as_meant(self._searcher, generations, query)
        listing = await listing_plan(self._searcher, generations, query, sections=self.ability.sections)
        if listing is not None:
            return listing
        # The title of a page whose commands are wanted is no question that was prepared.
        prepared = self._prepared if query.pointing != "commands" else None
        ready = await prepared.plan(query, generations) if prepared is not None else None
        stages.note("prepared", "yes" if ready is not None else "no")
        if ready is not None:
            return ready
        if query.frame == "about":
            return from_contents(query, generations[0])
        k = query.question.top_k or self._settings.top_k
        found = await find_evidence(self._searcher, generations, query, k=k)
        if found.query.whole_chapter:
            overview = await overview_plan(found, self._searcher.encode, is_read=self._explainer is not None)
            if overview is not None:
                return overview
        found, meant = await self._with_prepared(found, generations)
        plan = await make_plan(found, sections=self.ability.sections)
        if plan.repeats:
            # A follow-up must not repeat the answer.
            found = await find_more(self._searcher, generations, found, k=k)
            plan = await make_plan(found, sections=self.ability.sections)
            if plan.repeats:
                plan = nothing_more(plan)
        following = await next_questions(self._searcher, found.generation, found.query, plan.excerpts, meant)
        return replace(plan, suggestions=plan.suggestions or following, meant=meant)

    async def _with_prepared(self, found: Evidence, generations: Sequence[OpenGeneration]) -> tuple[Evidence, str]:
        """The evidence, led by its text on a prepared question, and a question that may be meant."""
        if self._prepared is None:
            return found, ""
        others = [one for one in generations if one is not found.generation]
        result, meant = await self._prepared.beside(found.query, [found.generation, *others], found.result)
        return replace(found, result=result), meant

    @asynccontextmanager
    async def search_turn(self, question: Question) -> AsyncIterator[None]:
        """Wait for a turn to search for one question, and hold it.

        Raises:
            IndexUnavailable: The search hangs; the turn goes to others.
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

    def warm_page(self, book: str, filename: str) -> None:
        """Record that a reader has opened a page, for `read_ahead`; keep only the newest pages."""
        self.traffic.opens(book, filename)
        if self._opened.full():
            self._opened.get_nowait()
        self._opened.put_nowait((book, filename))

    async def read_ahead(self) -> None:
        """Have the model read the sections of pages that readers open, while idle; until cancelled."""
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
        """Have the model read the chapters that readers open most in full, while idle."""
        if self._explainer is None:
            return
        opened: Counter[tuple[str, str]] = Counter()
        pages: dict[tuple[str, str], list[str]] = {}
        for book in dict.fromkeys(slug for slug, _ in self.traffic.opened):
            with suppress(NotFound, IndexUnavailable):
                async with self._shelf.lease(book) as generation:
                    for file in generation.files:
                        opened[book, file.chapter] += self.traffic.opened[book, file.filename]
                        pages.setdefault((book, file.chapter), []).append(file.filename)
        for chapter, times in opened.most_common(WARM_CHAPTERS):
            for filename in pages[chapter] if times else ():
                await self._warm_page(self._explainer, chapter[0], filename)
