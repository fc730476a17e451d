"""From a question to an answer: the book's own words at once, the model's only when the book supports them."""

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import ExitStack, aclosing

from lutrin import messages, stages
from lutrin.answer import followup, safety
from lutrin.answer.cache import AnswerCache, for_reader
from lutrin.answer.checks import check_question
from lutrin.answer.cite import Citations
from lutrin.answer.compose import Verified, compose, said_first
from lutrin.answer.draft import (
    Draft,
    decides,
    early_refusal,
    heard,
    in_order_of_use,
    made_of,
    made_safe,
    make_draft,
    sources_of,
)
from lutrin.answer.extract import choose_parts
from lutrin.answer.refuse import refusal_text, suggestions
from lutrin.answer.sayings import Sayings
from lutrin.answer.speak import Speaker
from lutrin.answer.terms import explained
from lutrin.answer.traffic import Traffic
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.ports import ChatStore, Generator
from lutrin.records import (
    Answer,
    AnswerEvent,
    DoneEvent,
    ExcerptEvent,
    Question,
    Refusal,
    SentenceEvent,
    SourcesEvent,
)
from lutrin.retrieve.filters import filtered
from lutrin.retrieve.language import LanguageCheck
from lutrin.retrieve.passages import leased
from lutrin.retrieve.respell import respell, slips_of
from lutrin.retrieve.scope import judge, signal
from lutrin.retrieve.search import Found, Searcher
from lutrin.retrieve.selection import search_selection
from lutrin.settings import Settings

BUDGET_WORDS = 150
"""Words of the quotes of an answer."""


class AnswerFlow:
    """Answers questions from the books on the shelf.

    Args:
        shelf: Open books.
        searcher: Finds passages and scores their units.
        language: Knows the accepted languages.
        settings: Deadline, number of passages, length of answers.
        generator: The language model; None: answers are quotes only.
        chats: Conversations, from which follow-ups are completed; None: every question stands alone.
        sayings: What the model has said of the books before; None: nothing is kept.
        clock: Seconds that only grow.
    """

    def __init__(
        self,
        *,
        shelf: Shelf,
        searcher: Searcher,
        language: LanguageCheck,
        settings: Settings,
        generator: Generator | None = None,
        chats: ChatStore | None = None,
        sayings: Sayings | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._shelf = shelf
        self._searcher = searcher
        self._language = language
        self._settings = settings
        self.traffic = Traffic(clock)
        self._speaker = Speaker(generator, settings, self.traffic, clock, sayings) if generator is not None else None
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
        checked = check_question(question.text, self._language)
        history = await self._chats.history(question.session_id) if self._chats and question.session_id else []
        completed = followup.complete(checked.text, history)
        draft = make_draft(question, checked, completed, self._searcher.embedder, started=started)
        async with leased(self._shelf, question.book) as generations:
            draft.title, draft.generation = generations[0].book.title, generations[0].name
            refusal = early_refusal(checked, completed, draft.mode)
            if refusal is not None:
                yield self._refused(draft, refusal)
                return
            names = tuple(generation.name for generation in generations)
            key = (names, *decides(draft))
            known = self._cache.get(key)
            stages.note("cache", "hit" if known is not None else "miss")
            if known is not None:
                for event in known:
                    yield for_reader(event, question, latency_ms=self._elapsed_ms(draft))
                return
            events: list[AnswerEvent] = []
            with self.traffic.answering(draft.started):
                async with aclosing(self._from_books(draft, generations)) as made:
                    async for event in made:
                        events.append(event)
                        yield event
            self._cache.put(key, events)

    async def _from_books(
        self, draft: Draft, generations: Sequence[OpenGeneration]
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Search, decide, quote, generate."""
        with ExitStack() as waiting:
            waiting.enter_context(self.traffic.unquoted())
            with stages.stage("search"):
                generation, found = await self._find(draft, generations)
            draft.title, draft.generation = generation.book.title, generation.name
            draft.text = respell(draft.text, found.changes)
            slips = slips_of(found.changes).items()
            draft.warnings += [messages.RESPELLED.format(word=word, other=other) for word, other in slips]
            refusal = _verdict(draft, found)
            if refusal is not None:
                yield self._refused(draft, refusal, found)
                return
            chosen = choose_parts(
                found.parts,
                budget_words=BUDGET_WORDS,
                asked=draft.text,
                typed=draft.typed,
                selected_text=draft.selected_text if draft.mode == "selection_boosted" else "",
                form=draft.form,
            )
            chosen = await explained(generation, draft, chosen, budget_words=BUDGET_WORDS)
            quotes = await made_safe(draft, generation, chosen)
            named = [*(passage.chunk for passage in found.passages), *(quote.chunk for quote in quotes)]
            sources = await sources_of(generation, draft, named)
            scores = {passage.chunk.chunk_id: passage.score for passage in found.passages}
            used = in_order_of_use(quotes, found) if self._speaker is not None else quotes
            citations = Citations(sources, scores, used)
            if note := safety.simulation_note([quote.chunk for quote in quotes]):
                draft.warnings.append(note)
            yield SourcesEvent(citations=citations.all())
            for quote in quotes:
                yield ExcerptEvent(citations.excerpt(quote))
            waiting.close()
            verified: list[Verified] = []
            if self._speaker is not None:
                async with aclosing(self._speaker.sentences(draft, heard(used), found)) as spoken:
                    async for event in spoken:
                        if not isinstance(event, Verified):
                            yield event
                        elif citations.number(event.quote) <= 1 + len({item.quote.span for item in verified}):
                            verified.append(event)
                            yield SentenceEvent(text=event.text, citations=(citations.number(event.quote),))
            if not verified and used != quotes:
                # Nothing was said of the first source, so the book's words begin with another one.
                citations = Citations(sources, scores, quotes)
                yield SourcesEvent(citations=citations.all())
            answer = Answer(
                answer=compose(verified, quotes, citations.numbers, budget_words=BUDGET_WORDS),
                sources=citations.all(),
                mode=draft.mode,
                kind="generated" if verified else "extractive",
                refusal=None,
                suggestions=(),
                warnings=tuple(draft.warnings),
                model_used=self._speaker.name if self._speaker is not None and verified else "",
                latency_ms=self._elapsed_ms(draft),
                generation=draft.generation,
                explanation=said_first(verified, citations.numbers),
                excerpts=tuple(citations.excerpt(quote) for quote in quotes),
            )
            yield DoneEvent(answer=answer, made=made_of(draft, self._settings))

    async def _find(self, draft: Draft, generations: Sequence[OpenGeneration]) -> tuple[OpenGeneration, Found]:
        """The evidence for an answer, from the selection alone or from the book that speaks of it most."""
        if draft.mode == "selection":
            found = await search_selection(self._searcher.embedder, generations[0], draft.text, draft.selected_text)
            return generations[0], found
        results = [
            (generation, await self._search(draft, generation, where))
            for generation, where in await filtered(generations, draft.question)
        ]
        return max(results, key=lambda result: signal(result[1]))

    async def _search(self, draft: Draft, generation: OpenGeneration, where: dict[str, str] | None) -> Found:
        return await self._searcher.search(
            generation,
            draft.text,
            k=draft.question.top_k or self._settings.top_k,
            where=where,
            selected_text=draft.selected_text,
        )

    def _refused(self, draft: Draft, refusal: Refusal, found: Found | None = None) -> DoneEvent:
        """A refusal in the words of the surface that asked, with topics that the book does cover."""
        return DoneEvent(
            answer=Answer(
                answer=refusal_text(refusal, draft.question, draft.title),
                sources=(),
                mode=draft.mode,
                kind="refusal",
                refusal=refusal,
                suggestions=suggestions(found.passages) if found and refusal in {"out_of_scope", "not_in_book"} else (),
                warnings=tuple(draft.warnings),
                model_used="",
                latency_ms=self._elapsed_ms(draft),
                generation=draft.generation,
            ),
            made=made_of(draft, self._settings),
        )

    def _elapsed_ms(self, draft: Draft) -> int:
        return round((self._clock() - draft.started) * 1000)


def _verdict(draft: Draft, found: Found) -> Refusal | None:
    """Why a question is refused after the search."""
    if draft.mode == "selection":
        return None if found.parts else "not_in_selection"
    return judge(found)
