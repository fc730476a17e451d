"""From a question to an answer: the book's own words at once, then the model's as far as the book supports them."""

import time
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import replace

import msgspec

from lutrin import __version__, stages
from lutrin.answer.cache import AnswerCache, as_asked, for_reader
from lutrin.answer.explain import Explained, Explainer, prompt_of
from lutrin.answer.plan import Plan, from_contents, make_plan, refused
from lutrin.answer.prepared import PreparedAnswers, next_questions
from lutrin.answer.traffic import Traffic
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.ports import ChatStore, Generator
from lutrin.query.language import LanguageGate
from lutrin.query.understand import Query, understand
from lutrin.records import (
    Answer,
    AnswerEvent,
    Citation,
    DoneEvent,
    ExcerptEvent,
    Made,
    Message,
    Question,
    SentenceEvent,
    SourcesEvent,
)
from lutrin.search.passages import leased, search_books
from lutrin.search.search import Found, Searcher
from lutrin.search.selection import search_selection
from lutrin.settings import Settings

DECIDING = ("model", "deadline_s", "answer_tokens", "top_k", "model_slots")
"""Settings that decide about an answer."""


class AnswerFlow:
    """Answers questions from the books on the shelf.

    Args:
        shelf: Open books.
        searcher: Finds passages and scores their units.
        language: Knows the accepted languages.
        settings: Deadline, number of passages, length of answers.
        generator: The language model; None: answers are excerpts only.
        chats: Conversations, from which follow-ups are completed; None: every question stands alone.
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
        chats: ChatStore | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shelf = shelf
        self._searcher = searcher
        self._prepared = PreparedAnswers(searcher)
        self._language = language
        self._settings = settings
        self.traffic = Traffic(clock)
        self._explainer = Explainer(generator, settings, self.traffic, clock) if generator is not None else None
        self._chats = chats
        self._clock = clock
        self._cache = AnswerCache()

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Events of one answer; the last is a `DoneEvent`.

        Raises:
            InvalidQuestion: The question is empty, or names a chapter that the book does not have.
            NotFound: There is no such book.
            IndexUnavailable: No book can be opened.
        """
        started = self._clock()
        history = await self._chats.history(question.session_id) if self._chats and question.session_id else []
        query = understand(question, history=history, language=self._language, embedder=self._searcher.embedder)
        async with leased(self._shelf, question.book) as generations:
            if query.refusal is not None:
                first = generations[0]
                plan = refused(query, query.refusal, title=first.book.title, generation=first.name)
                yield self._done(plan, started)
                return
            key = (tuple(generation.name for generation in generations), *decides(query))
            known = self._cache.get(key)
            stages.note("cache", "hit" if known is not None else "miss")
            if known is not None:
                for event in known:
                    yield for_reader(event, question, latency_ms=self._elapsed_ms(started))
                return
            events: list[AnswerEvent] = []
            with self.traffic.answering(started):
                async with aclosing(self._from_books(query, generations, started)) as made:
                    async for event in made:
                        events.append(event)
                        yield event
            self._cache.put(key, events)

    async def _from_books(
        self, query: Query, generations: Sequence[OpenGeneration], started: float
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Search, plan, show, explain."""
        with ExitStack() as waiting:
            waiting.enter_context(self.traffic.unquoted())
            plan = await self._plan(query, generations)
            if plan.sources:
                yield SourcesEvent(citations=plan.sources)
            for item in plan.excerpts:
                yield ExcerptEvent(item)
            waiting.close()
            if plan.explanation:
                yield SentenceEvent(text=plan.explanation, citations=tuple(item.n for item in plan.excerpts))
            said: list[Explained] = []
            warnings: list[str] = []
            prompt = prompt_of(plan) if self._explainer is not None and plan.explainable else ()
            if self._explainer is not None and prompt:
                async with aclosing(self._explainer.sentences(plan, prompt, started, warnings)) as spoken:
                    async for event in spoken:
                        if isinstance(event, Explained):
                            said.append(event)
                            yield SentenceEvent(text=event.text, citations=event.citations)
                        else:
                            yield event
            yield self._done(plan, started, said, warnings, prompt)

    async def _plan(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan:
        """The plan of an answer: from the contents, from the selection alone, or from the book that answers best."""
        if query.frame == "about":
            return await from_contents(query, generations[0])
        with stages.stage("search"):
            ready = await self._prepared.plan(query, generations)
            stages.note("prepared", "yes" if ready is not None else "no")
            if ready is not None:
                return ready
            generation, found = await self._find(query, generations)
        plan = await make_plan(query, generation, found)
        following = next_questions(generation.companion, plan.excerpts, query.text)
        return replace(plan, suggestions=plan.suggestions or following)

    async def _find(self, query: Query, generations: Sequence[OpenGeneration]) -> tuple[OpenGeneration, Found]:
        if query.mode == "selection":
            return generations[0], await search_selection(self._searcher.embedder, generations[0], query)
        return await search_books(self._searcher, generations, query, k=query.question.top_k or self._settings.top_k)

    def _done(
        self,
        plan: Plan,
        started: float,
        said: Sequence[Explained] = (),
        warnings: Sequence[str] = (),
        prompt: tuple[Message, ...] = (),
    ) -> DoneEvent:
        spoken = " ".join(f"{item.text} {' '.join(f'[{n}]' for n in item.citations)}" for item in said)
        explanation = plan.explanation or spoken
        name = self._explainer.name if self._explainer is not None and said else ""
        answer = Answer(
            answer="\n\n".join(text for text in (explanation, plan.text) if text),
            explanation=explanation,
            excerpts=plan.excerpts,
            sources=_sources(plan, said),
            mode=plan.query.mode,
            kind="refusal" if plan.refusal else "generated" if explanation else "extractive",
            refusal=plan.refusal,
            suggestions=plan.suggestions,
            warnings=(*plan.warnings, *warnings),
            model_used=name,
            prepared_by=plan.prepared_by,
            latency_ms=self._elapsed_ms(started),
            generation=plan.generation,
        )
        made = Made(
            question=msgspec.structs.replace(plan.query.question, session_id=""),
            searched=plan.query.text,
            generation=plan.generation,
            prompt=prompt,
            settings={"version": __version__, **{name: str(getattr(self._settings, name)) for name in DECIDING}},
        )
        return DoneEvent(answer=answer, made=made)

    def _elapsed_ms(self, started: float) -> int:
        return round((self._clock() - started) * 1000)


def _sources(plan: Plan, said: Sequence[Explained]) -> tuple[Citation, ...]:
    """What is cited: the excerpts, then what else the model's sentences rest on."""
    numbers = {number for item in said for number in item.citations}
    further = plan.further or {}
    return (*plan.sources, *(further[number] for number in sorted(numbers & further.keys())))


def decides(query: Query) -> tuple[Hashable, ...]:
    """What of a query decides about its answer, besides the books and the settings.

    Who asks, and in which conversation, does not: what the conversation adds stands in the text.
    """
    asked = query.question
    where = (asked.book, asked.chapter, asked.module, asked.top_k, asked.surface)
    text = (as_asked(query.text), as_asked(query.added), query.said, *map(as_asked, query.parts))
    rest = (query.mode, query.frame, query.selected_text, query.page, query.follows, query.warnings)
    return (*text, *rest, *where)
