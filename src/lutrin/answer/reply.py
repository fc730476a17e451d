"""The answer that a reader gets: the book's, with what the model added below it or says above it."""

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
"""Warnings of answers that would be better another time."""


def answer_of(plan: Plan, work: ModelWork, *, is_above: bool = False, latency_ms: int) -> Answer:
    """The book's answer, with what the model added below it, or, if it spoke first, above it (`is_above`)."""
    model = work.explanation
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
    # A copy of the book is the book's, even if the model chose it.
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
    """What was searched for, and how sure the reader and the model are that the book answers."""
    odds = plan.odds if isfinite(plan.odds) else 0.0
    yes, head = work.judged or (None, None)
    return Certainty(searched=plan.query.text, odds=odds, yes=yes, head=head)


def _is_offered(plan: Plan, work: ModelWork) -> bool:
    """Whether asking the model may bring an explanation, or, after a refusal, another answer."""
    if plan.refusal is not None and not work.judges:
        return False
    return work.offers or not PASSING.isdisjoint(work.explanation.warnings)


def with_proof(
    plan: Plan, proofs: Mapping[int, Collection[int]], cited: Collection[int] = (), statements: Collection[str] = ()
) -> Plan:
    """The plan with the excerpts that prove a model's sentences in the place of those that the reader found.

    Args:
        plan: Of the answer.
        proofs: Where the units begin on which the sentences rest, by the number of their section.
        cited: Numbers of excerpts that are cited besides: of the book's own sentences.
        statements: Sentences that the book states; what of it stands in them word for word is not said again.
    """
    if not plan.runs or not proofs:
        return plan
    standing = {number for _, number in plan.guards} | (set(cited) - proofs.keys())
    # Of several things that are asked, each keeps its excerpt, whether the model speaks of it or not.
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
    """The plan with a source for each section that a model's sentences cite and no excerpt stands for.

    Args:
        book: Of the book's answer, of which nothing changes.
        plan: What the model reads.
        proofs: Where the units begin on which its sentences rest, by the number of their section.
    """
    known = {source.n for source in book.sources}
    more = [
        citation(run, number, plan.texts[run.chunk.chunk_id], plan.chances)
        for number, section in plan.reading
        if number in proofs and number not in known
        for run in [proof_of(section, proofs[number], None)]
    ]
    return replace(book, sources=(*book.sources, *more)) if more else book
