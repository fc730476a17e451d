"""An answer in the making: what is asked, where it is looked for, and what the pieces still need."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from lutrin import messages
from lutrin.answer import safety
from lutrin.answer.checks import CheckedQuestion
from lutrin.answer.compose import Verified
from lutrin.answer.extract import Quote
from lutrin.answer.ground import support
from lutrin.index.generation import OpenGeneration
from lutrin.ports import Embedder
from lutrin.records import Chunk, Mode, Question, Refusal
from lutrin.retrieve import selection
from lutrin.retrieve.search import Found

MAX_SUGGESTIONS = 5
_MARKER = re.compile(r"\s*\[\d+\]")


@dataclass(slots=True)
class Draft:
    """What is known of an answer before it is given."""

    question: Question
    text: str
    """What is searched for: the question, completed from the conversation."""
    selected_text: str
    """At most 2000 tokens; empty where the whole book is searched."""
    mode: Mode
    started: float
    warnings: list[str] = field(default_factory=list)
    title: str = ""
    """Of the book that answers."""
    generation: str = ""
    """Name of its index generation."""


def make_draft(
    question: Question, checked: CheckedQuestion, completed: str | None, embedder: Embedder, *, started: float
) -> Draft:
    """Settle what is searched for, in which mode, and with which warnings.

    An empty selection in the mode that allows nothing else means the whole book, and the reader is told so.
    """
    mode = question.mode or ("selection_boosted" if question.selected_text else "book")
    warnings = list(checked.warnings)
    selected, was_cut = selection.cut(question.selected_text, embedder)
    if was_cut:
        warnings.append(messages.SELECTION_TRUNCATED)
    if mode != "book" and not selection.is_usable(selected):
        warnings += [messages.EMPTY_SELECTION] if mode == "selection" else []
        mode = "book"
    return Draft(
        question=question,
        text=completed or checked.text,
        selected_text=selected if mode != "book" else "",
        mode=mode,
        started=started,
        warnings=warnings,
    )


def early_refusal(checked: CheckedQuestion, completed: str | None, mode: Mode) -> Refusal | None:
    """Why a question is refused before the book is searched; with a selection, "Explain this" is clear enough."""
    if checked.refusal == "not_english":
        return "not_english"
    return "vague" if completed is None and mode == "book" else None


def suggestions(found: Found) -> tuple[str, ...]:
    """Headings of the book that are nearest to the question."""
    titles = dict.fromkeys(passage.chunk.section_title for passage in found.passages if passage.chunk.section_title)
    return tuple(titles)[:MAX_SUGGESTIONS]


def supported(texts: Sequence[str], quotes: Sequence[Quote], question: str, said: list[str]) -> list[Verified]:
    """The sentences that a quote supports, each once, without the markers that the model made up.

    Args:
        texts: Generated sentences.
        quotes: What the model was given.
        question: Names that stand in it may stand in the answer.
        said: Sentences that were supported before; those found here are added.
    """
    evidence = [f"{' > '.join(quote.chunk.heading_path)}\n{quote.text}" for quote in quotes]
    verified = []
    for text in texts:
        sentence = _MARKER.sub("", text).strip().removeprefix("- ")
        found = support(sentence, evidence, question=question)
        if found is not None and sentence.casefold() not in said:
            said.append(sentence.casefold())
            verified.append(Verified(text=sentence, quote=quotes[found.index]))
    return verified


async def made_safe(draft: Draft, generation: OpenGeneration, quotes: Sequence[Quote]) -> list[Quote]:
    """Quotes in which the book's warning stands before code that moves hardware; without a warning the code goes."""
    safe: list[Quote] = []
    for quote in quotes:
        if safety.needs_warning([quote]):
            warning = safety.warning_for(quote, await generation.chunks_of(quote.chunk.filename))
            if warning is None:
                draft.warnings.append(messages.CODE_WITHHELD)
                continue
            if (warning.chunk.filename, warning.span) not in {(item.chunk.filename, item.span) for item in safe}:
                safe.append(warning)
        safe.append(quote)
    return safe


async def sources_of(generation: OpenGeneration, draft: Draft, chunks: Sequence[Chunk]) -> dict[str, str]:
    """The text of every file that may be quoted; a selection that stands nowhere in the book is its own source."""
    names = dict.fromkeys(chunk.filename for chunk in chunks)
    return {name: await generation.source(name) if name else draft.selected_text for name in names}
