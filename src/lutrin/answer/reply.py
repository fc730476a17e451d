"""The answer as a reader gets it: the book's, with the model's sentences below or above it."""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import replace
from math import isfinite

from lutrin import messages
from lutrin.answer.explain import FAST_S, Feed, ModelWork
from lutrin.answer.grade import stands_in
from lutrin.answer.plan import Plan, settle_plan
from lutrin.answer.punctuality import is_late
from lutrin.answer.render import citation, excerpt, explanation_of, markdown, with_plain_words
from lutrin.answer.runs import MOST_EXCERPTS, proof_of
from lutrin.records import (
    Answer,
    AnswerEvent,
    BookAnswerEvent,
    Certainty,
    DoneEvent,
    ExcerptEvent,
    Sentence,
    SentenceEvent,
    SourcesEvent,
    WorkingEvent,
)
from lutrin.search.result import Verdict

PASSING = frozenset({messages.PAST_DEADLINE, messages.MODEL_AWAY})
"""Warnings of answers that might be better another time."""


class Reply:
    """One answer as events: the book's, then the model's sentences below it, or above it if a fast model speaks first.

    Args:
        work: The model's share, and the plan of the answer.
        started: When the question came.
        clock: Monotonic seconds.
    """

    def __init__(self, work: ModelWork, started: float, clock: Callable[[], float]) -> None:
        self._work, self._started, self._clock = work, started, clock
        self.book = work.plan
        """The book's answer, as decided so far."""

    def settle(self, verdict: Verdict) -> list[AnswerEvent]:
        """Decide whether the book answers; return its sources and excerpts."""
        self.book = settle_plan(self._work.plan, verdict)
        sources = [SourcesEvent(citations=self.book.sources)] if self.book.sources else []
        return [*sources, *map(ExcerptEvent, self.book.excerpts)]

    def final_events(self, *, is_above: bool = False) -> tuple[BookAnswerEvent, DoneEvent]:
        """The last events of an answer that is complete; `is_above`: the model spoke first."""
        done = self._done_event(is_above=is_above)
        return BookAnswerEvent(answer=done.answer, made=done.made), done

    def _done_event(self, *, is_above: bool = False) -> DoneEvent:
        answer = answer_of(self.book, self._work, is_above=is_above, latency_ms=self._elapsed_ms())
        return DoneEvent(answer=answer, made=certainty_of(self.book, self._work))

    def _elapsed_ms(self) -> int:
        return milliseconds(self._clock() - self._started)

    async def explanation_events(self) -> AsyncGenerator[AnswerEvent, None]:
        """The book's answer, the model's sentences below it (above, for a fast model), and the complete answer."""
        work = self._work
        feed = Feed(work.sentences(self._started))
        try:
            if self.book.verdict == "answers" and work.is_fast and await feed.begins(FAST_S):
                async with aclosing(self._speaking_first(feed)) as spoken:
                    async for event in spoken:
                        yield event
                if work.verdict != "answers":
                    self.settle(work.verdict)
                    work.explanation.sentences.clear()
                for final in self.final_events(is_above=True):
                    yield final
                return
            book = self.book
            work.explanation.above = tuple([one.text for one in book.lead] + [one.text for one in book.excerpts])
            unexplained = answer_of(book, ModelWork(work.plan), latency_ms=self._elapsed_ms())
            yield BookAnswerEvent(answer=unexplained, made=certainty_of(book, work))
            yield WorkingEvent(what="reading", eta_s=work.eta_s)
            async with aclosing(self._below(feed)) as below:
                async for event in below:
                    yield event
        finally:
            await feed.close()
        yield self._done_event()

    async def _speaking_first(self, feed: Feed) -> AsyncGenerator[AnswerEvent, None]:
        """A fast model's sentences, after the book's warnings; they stop if its yes turns out to be a no."""
        plan, work = self._work.plan, self._work
        before = [Sentence(text=text, citations=(number,)) for text, number in plan.guards]
        sentences = work.explanation.sentences
        async for item in feed:
            if not isinstance(item, Sentence):
                continue
            if work.verdict != "answers":
                return
            if work.explanation.is_reduced and len(sentences) == 1 and not plan.query.sums_chapter:
                # A sentence after a dropped one begins in the middle, so the book's sentences come first.
                lead = [one for one in plan.lead if one.citations and not stands_in(item.text, [one.text])]
                sentences[:0] = lead
                before += lead
            for sentence in (*before, item):
                yield _sentence_event(sentence)
            before.clear()

    async def _below(self, feed: Feed) -> AsyncGenerator[AnswerEvent, None]:
        """The model's sentences below the book's answer; its yes also lifts a refusal into an answer.

        A late no removes nothing: it only keeps the model from explaining a passage that does not answer.
        """
        work = self._work
        asked_s, spoke, has_ended = self._clock(), False, False
        try:
            async for item in feed:
                if not isinstance(item, Sentence):
                    yield item
                    continue
                verdict = work.verdict
                if not spoke:
                    spoke = True
                    work.note_wait(self._clock() - asked_s)
                    if self.book.refusal is not None and verdict != "no":
                        for event in self.settle(verdict):
                            yield event
                if verdict != "answers":
                    break
                more = with_sources(self.book, work.plan, work.explanation.proofs)
                if more is not self.book:
                    self.book = more
                    yield SourcesEvent(citations=more.sources)
                yield _sentence_event(item)
            has_ended = not work.explanation.warnings
        finally:
            took_s = self._clock() - asked_s
            if not spoke and work.forecast is not None and (has_ended or is_late(work.forecast.first_s, took_s)):
                work.note_wait(took_s)
        if work.verdict != "answers":
            work.explanation.sentences.clear()


def milliseconds(seconds: float) -> int:
    """A time in milliseconds, as answers report it."""
    return round(seconds * 1000)


def _sentence_event(sentence: Sentence) -> SentenceEvent:
    return SentenceEvent(text=sentence.text, citations=sentence.citations, support=sentence.support)


def answer_of(plan: Plan, work: ModelWork, *, is_above: bool = False, latency_ms: int) -> Answer:
    """The book's answer, with the model's sentences below it, or above if it spoke first (`is_above`)."""
    model = work.explanation
    # The book's warnings come before the model's sentences.
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
    # A copy of the book counts as the book's, even if the model selected it.
    by_model = plan.by_model or (bool(reply or below) and model.own_words)
    is_offered = _is_offered(plan, work)
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
        model_used=work.model if reply or below else "",
        prepared_by=plan.prepared_by,
        latency_ms=latency_ms,
        generation=plan.generation,
        is_cut=bool(reply or below) and model.is_cut,
        explainable=is_offered,
        eta_s=work.eta_s if is_offered else None,
    )


def certainty_of(plan: Plan, work: ModelWork) -> Certainty:
    """The search text, and how sure the reader and the model are that the book answers."""
    odds = plan.odds if isfinite(plan.odds) else 0.0
    yes, head = work.judged or (None, None)
    return Certainty(searched=plan.query.text, odds=odds, yes=yes, head=head)


def _is_offered(plan: Plan, work: ModelWork) -> bool:
    """Whether the model may add an explanation, or replace a refusal by an answer."""
    if plan.refusal is not None and not work.judges:
        return False
    return work.offers or not PASSING.isdisjoint(work.explanation.warnings)


def with_proof(
    plan: Plan, proofs: Mapping[int, Collection[int]], cited: Collection[int] = (), statements: Collection[str] = ()
) -> Plan:
    """Replace the reader's excerpts by those that support a model's sentences.

    Args:
        plan: Plan of the answer.
        proofs: Starts of the units that support the sentences, by section number.
        cited: Numbers of further cited excerpts: those of the book's own sentences.
        statements: Sentences that the book states; the plan's text does not repeat them word for word.
    """
    if not plan.runs or not proofs:
        return plan
    standing = {number for _, number in plan.guards} | (set(cited) - proofs.keys())
    # If the question asks several things, each keeps its excerpt, even if the model does not mention it.
    runs = {number: run for number, run in enumerate(plan.runs, 1) if plan.things > 1 or number in standing}
    for number, section in plan.reading:
        if number in proofs and number not in standing:
            near = plan.runs[number - 1] if number <= len(plan.runs) else None
            runs[number] = proof_of(section, proofs[number], near)
    most_proving = sorted(runs, key=lambda number: (number not in standing, -len(proofs.get(number, ()))))
    quoted = sorted(most_proving[: max(MOST_EXCERPTS, len(standing))])
    texts = {number: plan.texts[run.chunk.chunk_id] for number, run in runs.items()}
    rest = {number: [unit for unit in runs[number].units if not stands_in(unit.text, statements)] for number in quoted}
    return replace(
        plan,
        text="\n\n".join(markdown(rest[number], number) for number in quoted if rest[number]),
        excerpts=tuple(excerpt(runs[number], number, texts[number]) for number in quoted),
        sources=tuple(citation(runs[number], number, texts[number], plan.chances) for number in sorted(runs)),
    )


def with_sources(book: Plan, plan: Plan, proofs: Mapping[int, Collection[int]]) -> Plan:
    """Add a source for each section that a model's sentences cite and no excerpt covers.

    Args:
        book: Plan of the book's answer, otherwise unchanged.
        plan: Plan that the model reads.
        proofs: Starts of the units that support its sentences, by section number.
    """
    known = {source.n for source in book.sources}
    more = [
        citation(run, number, plan.texts[run.chunk.chunk_id], plan.chances)
        for number, section in plan.reading
        if number in proofs and number not in known
        for run in [proof_of(section, proofs[number], None)]
    ]
    return replace(book, sources=(*book.sources, *more)) if more else book
