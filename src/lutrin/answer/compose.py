"""Puts an answer together: verified sentences of the model, then what they left out of the book's own words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lutrin.answer.ground import coverage
from lutrin.answer.quote import Quote, leans_back, name_words, render
from lutrin.answer.safety import runs
from lutrin.ingest.sentences import sentence_ranges
from lutrin.records import Unit
from lutrin.retrieve.words import content_stems, identifiers, numbers, plain, word_count

SAID = 0.75
"""A quote is not repeated if the sentences before it hold this share of its content words and all its literals."""


_ENDS = (".", "!", "?", ":", '"', "\u201d", ")", "*", "`")


@dataclass(frozen=True, slots=True)
class Verified:
    """A generated sentence with the quote that supports it."""

    text: str
    quote: Quote


class SentenceStream:
    """Cuts a stream of text into whole sentences; markers and list signs of the model are dropped."""

    def __init__(self) -> None:
        self._pending = ""

    def feed(self, piece: str) -> list[str]:
        """Sentences that are complete now; a sentence is complete when the next one has begun."""
        self._pending += piece
        ranges = sentence_ranges(self._pending)
        whole = [self._pending[start:end] for start, end in ranges[:-1]]
        if whole:
            self._pending = self._pending[ranges[-1][0] :]
        return whole

    def finish(self) -> list[str]:
        """What is left when the model has ended by itself; a full stop that it forgot is added."""
        rest = [self._pending[start:end] for start, end in sentence_ranges(self._pending)]
        self._pending = ""
        return [text if text.endswith(_ENDS) else f"{text}." for text in rest if any(map(str.isalnum, text))]


def compose(
    verified: Sequence[Verified],
    quotes: Sequence[Quote],
    numbers_of: Mapping[tuple[str, int, int], int],
    *,
    budget_words: int,
) -> str:
    """The answer in Markdown.

    Args:
        verified: Generated sentences in order; may be empty.
        quotes: The book's own words, the best first.
        numbers_of: Citation number of each quote, by chunk id and span.
        budget_words: Quotes but the first stop when the answer has this many words. Code is shown whatever its length,
            and so is the warning that belongs to it: whole, whatever the model has said of it. What stands before them
            stands too, for the numbers are given and have no gaps.
    """
    paragraphs = []
    if verified:
        paragraphs.append(said_first(verified, numbers_of))
    said = " ".join(item.text for item in verified)
    spent = word_count(said)
    # The best quote stands whatever the model has said: what it left out may be the steps that matter.
    last_free = max((place for place, quote in enumerate(quotes) if quote.units[0].kind == "code"), default=0)
    for place, quote in enumerate(quotes):
        kept = warns_of(quote, quotes[place + 1 :])
        left = left_of(quotes, place, said) if verified else quote.units
        with_lead = not left or left[0].lead not in "\n".join(paragraphs)
        text = marked(left, _number(quote, numbers_of), with_lead=with_lead) if left else ""
        # The name of what a quote stands under comes for nothing: the quotes were chosen without it.
        cost = 0 if kept or not left else word_count(text) - with_lead * name_words(left[0])
        if not left:
            continue
        if paragraphs and place > last_free and spent + cost > budget_words:
            break
        spent += cost
        paragraphs.append(text)
    return "\n\n".join(paragraphs)


def said_first(verified: Sequence[Verified], numbers_of: Mapping[tuple[str, int, int], int]) -> str:
    """The model's part of an answer: its sentences with their markers; empty if there are none."""
    return " ".join(f"{item.text} [{_number(item.quote, numbers_of)}]" for item in verified)


def stands_twice(text: str, before: str, quotes: Sequence[Quote]) -> bool:
    """Whether a sentence of the model would stand once more, word for word, among the quotes below it.

    Args:
        text: The sentence.
        before: What the model has said before it.
        quotes: Of the answer.
    """
    said = f"{before} {text}"
    below = (unit.text for place in range(len(quotes)) for unit in left_of(quotes, place, said))
    return any(f" {plain(text)} " in f" {plain(unit)} " for unit in below)


def left_of(quotes: Sequence[Quote], place: int, said: str) -> tuple[Unit, ...]:
    """What an answer shows of a quote after generated sentences: what they left, a warning for later code whole."""
    quote = quotes[place]
    return quote.units if warns_of(quote, quotes[place + 1 :]) else unsaid(quote, said, follows=place == 0)


def warns_of(quote: Quote, later: Sequence[Quote]) -> bool:
    """Whether a quote is a warning and code of its file that a reader may run comes later."""
    if not all(unit.warning for unit in quote.units):
        return False
    same_file = [code for code in later if code.chunk.filename == quote.chunk.filename]
    return any(runs(code.chunk, unit) for code in same_file for unit in code.units)


def marked(units: Sequence[Unit], n: int, *, with_lead: bool = True) -> str:
    """Units with their marker: behind running text, on a line of its own after lists, tables and code."""
    separator = " " if units[0].kind in {"sentence", "caption"} else "\n\n"
    return f"{render(units, with_lead=with_lead)}{separator}[{n}]"


def unsaid(quote: Quote, said: str, *, follows: bool = False) -> tuple[Unit, ...]:
    """What generated sentences left out of a quote: sentences one by one, tables, lists and code as a whole.

    Args:
        quote: The book's words.
        said: The generated sentences.
        follows: Whether the quote stands right below them.

    Returns:
        Its units; all of them if a sentence would lean on one that is gone.
    """
    if quote.units[0].kind != "sentence":
        return () if quote.units[0].kind != "code" and is_said(quote.text, said) else quote.units
    left = [unit for unit in quote.units if not is_said(unit.text, said)]
    for before, unit in pairwise(quote.units):
        # It may lean on what was said right above it: on the last sentence, which is all that is gone.
        told = follows and left[:1] == [unit] and plain(said).endswith(plain(before.text))
        if unit in left and before not in left and leans_back(unit.text) and not told:
            return quote.units
    return tuple(left)


def is_said(text: str, said: str) -> bool:
    """Whether sentences hold what a text says: nearly all its content words, every number and identifier."""
    literals = {*numbers(text), *identifiers(text)}
    held = {*numbers(said), *identifiers(said)}
    return bool(content_stems(text)) and literals <= held and coverage(text, said) >= SAID


def _number(quote: Quote, numbers_of: Mapping[tuple[str, int, int], int]) -> int:
    start, end = quote.span
    return numbers_of[quote.chunk.chunk_id, start, end]
