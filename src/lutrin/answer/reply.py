"""The complete answer: the book's, with the model's sentences below or above it."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from math import isfinite

from lutrin import messages
from lutrin.answer.explain import ModelWork
from lutrin.answer.grade import stands_in
from lutrin.answer.plan import Plan
from lutrin.answer.render import citation, excerpt, explanation_of, markdown, with_plain_words
from lutrin.answer.runs import MOST_EXCERPTS, proof_of
from lutrin.records import Answer, Certainty, Sentence

PASSING = frozenset({messages.PAST_DEADLINE, messages.MODEL_AWAY})
"""Warnings of answers that might be better another time."""


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
