"""An answer in the making: what is asked, where it is looked for, and what the pieces still need."""

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest

import msgspec

from lutrin import __version__, messages
from lutrin.answer import safety
from lutrin.answer.cache import as_asked
from lutrin.answer.checks import CheckedQuestion
from lutrin.answer.compose import Verified, warns_of
from lutrin.answer.ground import support
from lutrin.answer.hostile import headings
from lutrin.answer.kinds import Form, form_of
from lutrin.answer.prompt import sayable, spoken, worth_of
from lutrin.answer.quote import Quote, cells_of, leans_back
from lutrin.index.generation import OpenGeneration
from lutrin.ports import Embedder
from lutrin.records import Chunk, Made, Message, Mode, Question, Refusal
from lutrin.retrieve import selection
from lutrin.retrieve.search import Found
from lutrin.retrieve.words import content_stems
from lutrin.settings import Settings

DECIDING = ("model", "deadline_s", "answer_tokens", "top_k", "model_slots")
"""Settings that decide about an answer."""
_MARKER = re.compile(r"\s*\[\d+\]")
_LIST_SIGN = re.compile(r"^(?:[-*+]|\d{1,2}[.)])\s+")
_HEADINGS = re.compile(r"^[^.!?]* > [^:.!?]*:\s*")
"""Headings that the model copied together with a sentence."""
_NEXT_SIGN = re.compile(r"(?<=[.!?:])\s+(?:[-*+]|\d{1,2}[.)])$")
"""The sign of the next item, which stands behind the last one's full stop, or behind what announces the first."""
_FRAGMENT = re.compile(r"[a-z]+[ ,]")
"""How a sentence begins that is none; one may begin with a name of code."""
_PREFACE = re.compile(r"^(?:the )?(?:correct |right |short )?answer(?: to [^:]*)?(?: is)?:\s*", re.IGNORECASE)
"""Words before the answer that say that it comes."""


@dataclass(slots=True)
class Draft:
    """What is known of an answer before it is given."""

    question: Question
    text: str
    """What is searched for: the question, completed from the conversation, `as_asked`."""
    typed: str
    """The question alone, in the same form."""
    selected_text: str
    """At most 2000 tokens; empty where the whole book is searched."""
    mode: Mode
    started: float
    form: Form = ""
    """In which form the reader wants the answer."""
    warnings: list[str] = field(default_factory=list)
    title: str = ""
    """Of the book that answers."""
    generation: str = ""
    """Name of its index generation."""
    prompt: tuple[Message, ...] = ()
    """What the model is asked."""


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
        text=as_asked(completed or checked.text),
        typed=as_asked(checked.text),
        selected_text=selected if mode != "book" else "",
        mode=mode,
        started=started,
        form=form_of(checked.text),
        warnings=warnings,
    )


def decides(draft: Draft) -> tuple[Hashable, ...]:
    """What of a question decides about its answer, besides the books and the settings.

    Who asks, and in which conversation, does not: what the conversation adds stands in the text.
    """
    asked = draft.question
    where = (asked.book, asked.chapter, asked.module, asked.top_k, asked.surface)
    return draft.mode, draft.text, draft.typed, draft.selected_text, tuple(draft.warnings), *where


def made_of(draft: Draft, settings: Settings) -> Made:
    """How an answer was made, for the record of its conversation."""
    return Made(
        question=msgspec.structs.replace(draft.question, session_id=""),
        searched=draft.text,
        generation=draft.generation,
        prompt=draft.prompt,
        settings={"version": __version__, **{name: str(getattr(settings, name)) for name in DECIDING}},
    )


def early_refusal(checked: CheckedQuestion, completed: str | None, mode: Mode) -> Refusal | None:
    """Why a question is refused before the book is searched; with a selection, "Explain this" is clear enough."""
    if checked.refusal == "not_english":
        return "not_english"
    return "vague" if completed is None and mode == "book" else None


def supported(texts: Sequence[str], quotes: Sequence[Quote], question: str, said: list[str]) -> list[Verified]:
    """The sentences that a quote supports, each once, without the markers that the model made up.

    Args:
        texts: Generated sentences.
        quotes: What may prove them. The first that does is cited: the numbers follow the order of use, so the passage
            that the model was asked to say comes before one that happens to say the same.
        question: Names that stand in it may stand in the answer.
        said: Sentences that were supported before; those found here are added.
    """
    verified = []
    for text in texts:
        sentence = _cleaned(text)
        if sentence.endswith(":") or _FRAGMENT.match(sentence) or (not said and leans_back(sentence)):
            # It announces what may never come, has no beginning, or leans on what was never said.
            continue
        proves = (quote for quote in quotes if _proves(quote, sentence, question))
        if sentence.casefold() not in said and (quote := next(proves, None)) is not None:
            said.append(sentence.casefold())
            verified.append(Verified(text=sentence, quote=quote))
    return verified


def _proves(quote: Quote, sentence: str, question: str) -> bool:
    """Whether a quote supports a generated sentence."""
    return support(sentence, windows_of(quote, f"{question} {sentence}"), question=question) is not None


def _cleaned(text: str) -> str:
    """A generated sentence without what belongs to lists, to the prompt's format, or to nothing."""
    sentence = _MARKER.sub("", text).strip().replace("**", "")
    for sign in (_LIST_SIGN, _HEADINGS, _LIST_SIGN, _NEXT_SIGN, _PREFACE):
        sentence = sign.sub("", sentence)
    return sentence


def windows_of(quote: Quote, named: str) -> list[str]:
    """What may prove a sentence: one unit of a quote, or two that stand side by side, or a list, below its headings.

    A whole paragraph proves too much: in it every word finds some number to stand with. A row of a table speaks of
    what its first cell names, and proves nothing about anything else.

    Args:
        quote: The book's words.
        named: Question and sentence: what is spoken of.
    """
    heading, lead = " > ".join(headings(quote.chunk.heading_path)), quote.units[0].lead
    texts = [unit.text for unit in quote.units]
    if quote.units[0].kind == "table_row":
        spoken = set(content_stems(named))
        rows = [text for text in texts if set(content_stems(cells_of(text)[0])) <= spoken]
        return [f"{heading}\n{_told(lead, text)}" for text in rows]
    pairs = [f"{one}\n{two}" for one, two in pairwise(texts)]
    whole = ["\n".join(texts)] if quote.units[0].kind == "list_item" else []
    return [f"{heading}\n{lead}\n{text}" for text in (*texts, *pairs, *whole)]


def _told(header: str, row: str) -> str:
    """A row of a table with the name of each column before its cell, so that a number stays with what it measures."""
    named = zip_longest(cells_of(header), cells_of(row), fillvalue="")
    return "; ".join(f"{name} | {cell}".strip(" |") for name, cell in named)


async def made_safe(draft: Draft, generation: OpenGeneration, quotes: Sequence[Quote]) -> list[Quote]:
    """Quotes in which the book's warnings stand before the first code; code without a warning that needs one goes.

    A warning stands before all code, not only before that which needs it: nobody runs one half of an answer before
    reading the other. What is quoted of a warning already is replaced by all of it.
    """
    safe: list[Quote] = []
    warnings: list[Quote] = []
    files: dict[str, list[Chunk]] = {}
    for quote in quotes:
        if any(safety.runs(quote.chunk, unit) for unit in quote.units):
            name = quote.chunk.filename
            same_file = files[name] = files.get(name) or await generation.chunks_of(name)
            if safety.needs_warning(quote, same_file):
                warning = safety.warning_for(quote, same_file)
                if warning is None:
                    draft.warnings.append(messages.CODE_WITHHELD)
                    continue
                warnings += safety.box_of(warning)
        safe.append(quote)
    for warning in {(item.chunk.filename, item.span): item for item in warnings}.values():
        at = next(
            place for place, quote in enumerate(safe) if quote.units[0].kind == "code" or _is_part(quote, warning)
        )
        safe = [*safe[:at], warning, *(quote for quote in safe[at:] if not _is_part(quote, warning))]
    return safe


def heard(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes that the model may say; a warning that belongs to code stands in the book's words alone."""
    return [quote for place, quote in enumerate(quotes) if not warns_of(quote, quotes[place + 1 :])]


def in_order_of_use(quotes: Sequence[Quote], found: Found) -> list[Quote]:
    """Quotes in the order in which an answer with sentences of the model uses them.

    Its sentences stand first and cite the quote that it is asked to say, which is known before it has said anything.
    So the numbers can be sent with the quotes and hold.

    Args:
        quotes: Of the answer, in their order.
        found: Tells how well each unit answers.
    """
    first = spoken(sayable(heard(quotes)), worth_of(found))
    return list(quotes) if first is None else [first, *(quote for quote in quotes if quote is not first)]


def _is_part(quote: Quote, whole: Quote) -> bool:
    """Whether all that a quote says stands in another one of the same file."""
    starts = {unit.char_start for unit in whole.units}
    return quote.chunk.filename == whole.chunk.filename and all(unit.char_start in starts for unit in quote.units)


async def sources_of(generation: OpenGeneration, draft: Draft, chunks: Sequence[Chunk]) -> dict[str, str]:
    """The text of every file that may be quoted; a selection that stands nowhere in the book is its own source."""
    names = dict.fromkeys(chunk.filename for chunk in chunks)
    return {name: await generation.source(name) if name else draft.selected_text for name in names}
