"""Answers a question: the book's own words at once, then the model's sentences that the book supports."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Hashable, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import replace
from typing import Protocol

import msgspec

from lutrin import __version__, stages
from lutrin.answer.ability import Ability
from lutrin.answer.cache import AnswerCache, as_asked, for_reader
from lutrin.answer.explain import Explained, Explainer, Explanation
from lutrin.answer.plan import Plan, from_contents, make_plan, refused
from lutrin.answer.prompt import MOST_TURNS, Prompt, prompt_of
from lutrin.answer.refuse import next_questions
from lutrin.answer.render import explanation_of
from lutrin.answer.traffic import Traffic
from lutrin.answer.verify import Verifier
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.language.gate import LanguageGate
from lutrin.ports import ChatStore, Generator, Support
from lutrin.query.understand import Query, understand
from lutrin.records import (
    Answer,
    AnswerEvent,
    ChatMessage,
    Citation,
    DoneEvent,
    ExcerptEvent,
    Made,
    Question,
    QueuedEvent,
    Sentence,
    SentenceEvent,
    SourcesEvent,
)
from lutrin.search.passages import leased, search_books
from lutrin.search.search import Found, Searcher
from lutrin.search.selection import search_selection
from lutrin.settings import Settings

DECIDING = ("model", "explain_s", "answer_tokens", "own_words", "top_k", "model_slots")
"""Settings that decide about an answer."""


class PreparedPlans(Protocol):
    """Finds prepared answers; `lutrin.study.prepared` implements it."""

    async def plan(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan | None:
        """The plan of an answer that was prepared; None: nothing that was prepared is what is asked.

        Args:
            query: What is asked.
            generations: The books that may answer.

        Raises:
            InvalidQuestion: No book has the named chapter or module.
            IndexUnavailable: A book cannot be read.
        """
        ...


class AnswerFlow:
    """Answers questions from the books on the shelf.

    Args:
        shelf: Open books.
        searcher: Finds passages and scores their units.
        language: Knows the accepted languages.
        settings: Deadline, number of passages, length of answers.
        generator: The language model; None: answers are excerpts only.
        ability: What the model may be asked; None: everything.
        prepared: Knows what was prepared; None: nothing was.
        support: Judges whether passages state a sentence; None: their words do.
        searches_at_once: Questions that are searched for at the same time; the others wait in the order in which they
            came. One where this machine's processor does the work: if all shared it, each would be as late as the last.
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
        ability: Ability | None = None,
        prepared: PreparedPlans | None = None,
        support: Support | None = None,
        searches_at_once: int = 1,
        chats: ChatStore | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shelf = shelf
        self._searcher = searcher
        self._prepared = prepared
        self._language = language
        self._settings = settings
        self.traffic = Traffic()
        self._explainer = (
            Explainer(generator, settings, self.traffic, clock, verifier=Verifier(support), ability=ability)
            if generator is not None
            else None
        )
        self._chats = chats
        self._clock = clock
        self._cache = AnswerCache()
        self._turns = asyncio.Semaphore(searches_at_once)

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
        async with leased(self._shelf, question.book) as generations:
            if query.refusal is not None:
                first = generations[0]
                plan = refused(query, query.refusal, title=first.book.title, generation=first.name)
                yield self._done(plan, started)
                return
            # What the model is shown of the conversation: nothing if the question stands alone.
            earlier = history[-MOST_TURNS:] if query.text != query.typed else []
            key = (tuple(generation.state for generation in generations), *decides(query, earlier))
            known = self._cache.get(key)
            stages.note("cache", "hit" if known is not None else "miss")
            if known is not None:
                for event in known:
                    yield for_reader(event, question, latency_ms=self._elapsed_ms(started))
                return
            events: list[AnswerEvent] = []
            with self.traffic.searching():
                async with aclosing(self._from_books(query, generations, started, earlier)) as made:
                    async for event in made:
                        events.append(event)
                        yield event
            self._cache.put(key, events)

    async def _history(self, question: Question) -> list[ChatMessage]:
        """The conversation: as the reader's program tells it, else as it is stored."""
        if question.earlier:
            return [
                ChatMessage(id="", session_id="", role=told.role, text=told.content, created="")
                for told in question.earlier
                if told.role != "system"
            ]
        if self._chats is None or not question.session_id:
            return []
        stored = await self._chats.history(question.session_id)
        return _before(question, [message for message in stored if message.id not in question.kept_as])

    async def _from_books(
        self, query: Query, generations: Sequence[OpenGeneration], started: float, earlier: Sequence[ChatMessage]
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
            explanation = Explanation()
            prompt = self._prompt(plan, earlier)
            if self._explainer is not None and prompt is not None:
                spoken = self._explainer.sentences(plan, prompt, started, explanation)
                async with aclosing(_guarded(plan, spoken)) as events:
                    async for event in events:
                        yield event
            yield self._done(plan, started, explanation, prompt)

    def _prompt(self, plan: Plan, earlier: Sequence[ChatMessage]) -> Prompt | None:
        """Build the model's prompt; None if the model is not asked."""
        if self._explainer is None or not plan.explainable or not self._explainer.ability.may(plan.query):
            return None
        return prompt_of(plan, self._explainer.ability, earlier)

    async def _plan(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan:
        """As prepared, from the contents, from the selection alone, or from the book that answers best."""
        async with self._turns:
            with stages.stage("search"):
                return await self._searched(query, generations)

    async def _searched(self, query: Query, generations: Sequence[OpenGeneration]) -> Plan:
        ready = await self._prepared.plan(query, generations) if self._prepared is not None else None
        stages.note("prepared", "yes" if ready is not None else "no")
        if ready is not None:
            return ready
        if query.frame == "about":
            return await from_contents(query, generations[0])
        generation, found = await self._find(query, generations)
        plan = await make_plan(query, generation, found)
        following = await next_questions(self._searcher, generation, query, plan.excerpts)
        return replace(plan, suggestions=plan.suggestions or following)

    async def _find(self, query: Query, generations: Sequence[OpenGeneration]) -> tuple[OpenGeneration, Found]:
        if query.mode == "selection":
            return generations[0], await search_selection(self._searcher.embedder, generations[0], query)
        return await search_books(self._searcher, generations, query, k=query.question.top_k or self._settings.top_k)

    def _done(
        self, plan: Plan, started: float, explanation: Explanation | None = None, prompt: Prompt | None = None
    ) -> DoneEvent:
        said = explanation.sentences if explanation is not None and explanation.holds else []
        warnings = explanation.warnings if explanation is not None else []
        explained = plan.explanation or _explanation(plan, said)
        # Whether to ask the model (again), and to wait for it, may bring an explanation.
        had_its_say = bool(said) or (prompt is not None and not warnings)
        able = self._explainer is not None and self._explainer.ability.may_if_asked(plan.query)
        answer = Answer(
            answer="\n\n".join(text for text in (explained, plan.text) if text),
            explanation=explained,
            sentences=_sentences(plan, said),
            excerpts=plan.excerpts,
            sources=_sources(plan, said),
            mode=plan.query.mode,
            kind="refusal" if plan.refusal else "generated" if said or plan.by_model else "extractive",
            refusal=plan.refusal,
            suggestions=plan.suggestions,
            warnings=(*plan.warnings, *warnings),
            model_used=self._explainer.name if self._explainer is not None and said else "",
            prepared_by=plan.prepared_by,
            latency_ms=self._elapsed_ms(started),
            generation=plan.generation,
            is_cut=bool(said) and explanation is not None and explanation.is_cut,
            explainable=able and plan.explainable and not had_its_say,
        )
        made = Made(
            question=msgspec.structs.replace(plan.query.question, session_id="", kept_as=()),
            searched=plan.query.text,
            generation=plan.generation,
            prompt=prompt.messages if prompt is not None else (),
            settings={"version": __version__, **{name: str(getattr(self._settings, name)) for name in DECIDING}},
        )
        return DoneEvent(answer=answer, made=made)

    def _elapsed_ms(self, started: float) -> int:
        return round((self._clock() - started) * 1000)


def _before(question: Question, stored: list[ChatMessage]) -> list[ChatMessage]:
    """The turns that a question follows: asked again for its explanation, it does not follow itself."""
    asked = [place for place, message in enumerate(stored) if message.role == "user"]
    again = question.explain and asked and stored[asked[-1]].text == question.text
    return stored[: asked[-1]] if again else stored


def _sources(plan: Plan, said: Sequence[Explained]) -> tuple[Citation, ...]:
    """List the sources: the excerpts first, then other passages that the model's sentences cite."""
    numbers = {number for item in said for number in item.citations}
    further = plan.further or {}
    return (*plan.sources, *(further[number] for number in sorted(numbers & further.keys())))


async def _guarded(
    plan: Plan, spoken: AsyncGenerator[QueuedEvent | Explained, None]
) -> AsyncGenerator[AnswerEvent, None]:
    """The model's sentences as events, the book's warnings before the first of them."""
    guards = [SentenceEvent(text=text, citations=(number,)) for text, number in plan.guards]
    async with aclosing(spoken):
        async for item in spoken:
            if isinstance(item, QueuedEvent):
                yield item
                continue
            for guard in guards:
                yield guard
            guards.clear()
            yield SentenceEvent(text=item.text, citations=item.citations, support="own" if item.own else "stated")


def _explanation(plan: Plan, said: Sequence[Explained]) -> str:
    """The explanation as text, the book's warnings before it."""
    return explanation_of(_sentences(plan, said))


def _sentences(plan: Plan, said: Sequence[Explained]) -> tuple[Sentence, ...]:
    """The sentences of an explanation, the book's warnings before them."""
    guards = [Sentence(text=text, citations=(number,)) for text, number in plan.guards] if said else []
    own = [Sentence(text=one.text, citations=one.citations, support="own" if one.own else "stated") for one in said]
    return (*guards, *own)


def decides(query: Query, earlier: Sequence[ChatMessage] = ()) -> tuple[Hashable, ...]:
    """Return the parts of a query that determine its answer, besides books and settings.

    Who asks, and in which conversation, does not: what the conversation adds stands in the text, and in the messages
    that the model is shown.
    """
    asked = query.question
    where = (asked.book, asked.chapter, asked.module, asked.top_k, asked.surface, asked.explain, asked.answer_tokens)
    text = (as_asked(query.text), as_asked(query.added), query.said, *map(as_asked, query.parts))
    rest = (query.mode, query.frame, query.selected_text, query.page, query.follows, query.warnings)
    told = tuple((message.role, message.text) for message in earlier)
    return (*text, *rest, *where, told)
