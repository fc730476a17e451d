"""Ask a pipeline the questions one after the other, so that answers do not slow each other down."""

import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import msgspec

from evaluation.measures import (
    TOP,
    Material,
    Measures,
    changes_behaviour,
    facts_in,
    measure_inside,
    measure_outside,
    measure_proof,
    measure_retrieval,
)
from evaluation.questions import EvalQuestion
from evaluation.text import first_words
from lutrin.errors import LutrinError, NotFound
from lutrin.records import Answer, Chunk, Passage, Question


def after(question: str, previous: str) -> str:
    """Default search text for a question of a conversation: both questions."""
    return f"{previous} {question}" if previous else question


@dataclass(frozen=True)
class Subject:
    """A pipeline under judgement; with `retrieve` alone, only the figures of retrieval are measured."""

    name: str
    retrieve: Callable[[Question], Awaitable[Sequence[Passage]]]
    """Passages, best first; at least `question.top_k` of them are looked at."""
    answer: Callable[[Question], Awaitable[Answer]] | None = None
    again: Callable[[Question], Awaitable[Answer]] | None = None
    """The same without a cache of answers; None: answers are not asked for twice."""
    chunks: Callable[[str, Sequence[str]], Awaitable[Sequence[Chunk]]] | None = None
    """Chunks of a book by their ids; None: only retrieved passages can be looked up."""
    source: Callable[[str, str], Awaitable[str]] | None = None
    """Text of a source file by book and filename; raises NotFound."""
    resolves: Callable[[str], Awaitable[bool]] | None = None
    """Whether a citation's url leads to a page that holds its fragment."""
    complete: Callable[[str, str], str] = after
    """Search text for a question and the one before it in its conversation."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its answer and scores."""

    id: str
    kind: str
    question: str
    measures: dict[str, tuple[float, float]]
    files: tuple[str, ...] = ()
    """Files of the passages, best first."""
    answer: Answer | None = None
    missing_facts: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    """Sentences of the answer without a proof."""
    error: str = ""


async def run(
    questions: Sequence[EvalQuestion],
    subject: Subject,
    *,
    clock: Callable[[], float] = time.perf_counter,
    progress: Callable[[int, int], None] | None = None,
    session: str | None = None,
) -> list[Outcome]:
    """Ask every question.

    Args:
        questions: In the order in which they are asked.
        subject: The pipeline.
        clock: Seconds that only grow.
        progress: Told after each question how many are done, and of how many.
        session: Prefix of the conversations that follow-ups need; None: a fresh one.

    Returns:
        One outcome a question, in order; an error of Lutrin is an outcome, any other is raised.
    """
    prefix = session if session is not None else f"eval-{uuid.uuid4().hex}"
    outcomes = []
    for done, question in enumerate(questions, start=1):
        outcomes.append(await _one(question, subject, clock, f"{prefix}-{question.id}"))
        if progress:
            progress(done, len(questions))
    return outcomes


async def _one(question: EvalQuestion, subject: Subject, clock: Callable[[], float], session: str) -> Outcome:
    passages: Sequence[Passage] = ()
    measures: Measures = {}
    answer: Answer | None = None
    missing: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    error = ""
    try:
        if question.in_book:
            passages = await subject.retrieve(_searched(question, subject))
            measures |= measure_retrieval(question, passages)
        if subject.answer is not None:
            answer, seconds = await _timed(subject.answer, question, session, clock)
            found, wrong = await _judged(question, answer, passages, subject)
            measures |= found | {"latency": (seconds, 1), "errors": (0, 1)}
            missing = _missing(question, answer)
        if answer is not None and subject.again is not None:
            second, _ = await _timed(subject.again, question, f"{session}-again", clock)
            measures["same answer twice"] = (float(_bytes(answer) == _bytes(second)), 1)
    except LutrinError as failure:
        error = f"{type(failure).__name__}: {failure}"
        names = ("facts", "facts soon", "cited") if question.in_book and subject.answer else ()
        lost: Measures = dict.fromkeys(names, (0, 1))
        measures |= lost | {"errors": (1, 1)}
    return Outcome(
        id=question.id,
        kind=question.kind,
        question=question.question,
        measures=measures,
        files=tuple(passage.chunk.filename for passage in passages),
        answer=answer,
        missing_facts=missing,
        unproven=wrong,
        error=error,
    )


def _searched(question: EvalQuestion, subject: Subject) -> Question:
    text = subject.complete(question.question, question.previous_question)
    return Question(text=text, selected_text=question.selected_text, top_k=TOP)


async def _timed(
    ask: Callable[[Question], Awaitable[Answer]], question: EvalQuestion, session: str, clock: Callable[[], float]
) -> tuple[Answer, float]:
    """The answer and the seconds it took, after the question before it in its conversation."""
    conversation = session if question.previous_question else ""
    if question.previous_question:
        await ask(Question(text=question.previous_question, session_id=conversation))
    start = clock()
    answer = await ask(Question(text=question.question, selected_text=question.selected_text, session_id=conversation))
    return answer, clock() - start


async def _judged(
    question: EvalQuestion, answer: Answer, passages: Sequence[Passage], subject: Subject
) -> tuple[Measures, tuple[str, ...]]:
    material = await _material(answer, passages, subject)
    measures, wrong = measure_proof(answer, material)
    if subject.source is None or subject.resolves is None:
        measures.pop("quotes", None)
    if question.in_book:
        return measures | measure_inside(question, answer), wrong
    changed = changes_behaviour(answer, material, wrong)
    return measures | measure_outside(question, answer, changed=changed), wrong


async def _material(answer: Answer, passages: Sequence[Passage], subject: Subject) -> Material:
    """Everything that the answer's sources name, fetched."""
    chunks = {passage.chunk.chunk_id: passage.chunk for passage in passages}
    if subject.chunks is not None:
        for book in dict.fromkeys(source.book for source in answer.sources):
            ids = [item.chunk_id for item in answer.sources if item.book == book and item.chunk_id not in chunks]
            if ids:
                chunks |= {chunk.chunk_id: chunk for chunk in await subject.chunks(book, ids)}
    files = {}
    if subject.source is not None:
        for place in dict.fromkeys((source.book, source.filename) for source in answer.sources):
            try:
                files[place] = await subject.source(*place)
            except NotFound:
                continue
    urls = dict.fromkeys(source.url for source in answer.sources)
    resolving = frozenset([url for url in urls if await subject.resolves(url)] if subject.resolves else ())
    return Material(chunks=chunks, files=files, resolving=resolving)


def _missing(question: EvalQuestion, answer: Answer) -> tuple[str, ...]:
    """The key facts that an answer leaves out."""
    if not question.in_book:
        return ()
    held = facts_in(question.key_facts, [first_words(answer.answer)]) if answer.kind != "refusal" else ()
    return tuple(fact for fact in question.key_facts if fact not in held)


def _bytes(answer: Answer) -> bytes:
    """An answer without the time that it took."""
    return msgspec.json.encode(msgspec.structs.replace(answer, latency_ms=0))
