"""An explanation that the book itself gives: what the terms of a passage mean, in the places that define them.

Who asks to have a passage explained, or put more simply, knows the passage; what is missing is mostly a word. A small
model cannot explain it (docs/decisions/0020), the book can: its definitions of the terms are quoted with the answer.
"""

from collections.abc import Sequence

from lutrin.answer.draft import Draft
from lutrin.answer.quote import Quote, leans_back
from lutrin.index.generation import OpenGeneration
from lutrin.records import Chunk
from lutrin.retrieve.everyday import is_everyday
from lutrin.retrieve.words import plain, topic_stems, word_count

MOST_TERMS = 4
TERMS_WORDS = 90
"""Of all definitions together, at most."""


def is_explained(draft: Draft) -> bool:
    """Whether the reader wants words explained: of a selection of which nothing else is asked, or of the answer."""
    if draft.mode == "selection":
        return False
    return draft.form == "simpler" or bool(draft.selected_text and not topic_stems(draft.question.text))


async def explained(
    generation: OpenGeneration, draft: Draft, quotes: Sequence[Quote], *, budget_words: int
) -> list[Quote]:
    """Quotes with the definitions of the terms that the reader's selection, or the best quote, uses.

    Args:
        generation: The book that answers.
        draft: Tells what is wanted.
        quotes: Chosen from the book, the best first.
        budget_words: Words of the whole answer, code not counted.

    Returns:
        For a selection its terms first, then the other quotes as far as words are left; for an answer its best quote,
        then the terms. The quotes as they are where nothing is to be explained, or nothing explains it.

    Raises:
        IndexUnavailable: The index cannot be read.
    """
    if not is_explained(draft) or not quotes:
        return list(quotes)
    text = draft.selected_text or quotes[0].text
    found = await generation.definitions(text)
    # What defines the question's own subject has been chosen, or answers no better than what was.
    own = frozenset() if draft.selected_text else topic_stems(draft.text)
    chosen: list[Quote] = []
    for term, chunk, position in found:
        quote = _quote(chunk, position, quotes[0].score)
        shown = [*([] if draft.selected_text else quotes[:1]), *chosen]
        if quote is None or _is_known(term, own) or _is_within(quote, text) or not _others([quote], shown):
            continue
        if sum(word_count(item.text) for item in (*chosen, quote)) <= TERMS_WORDS:
            chosen.append(quote)
        if len(chosen) == MOST_TERMS:
            break
    if not chosen:
        return list(quotes)
    if not draft.selected_text:
        return [quotes[0], *chosen]
    # The reader has the selection before their eyes; of the rest, the best is enough for who wants it simple.
    others = [quote for quote in _others(quotes, chosen) if not _is_within(quote, text)]
    return _within([*chosen, *(others[:1] if draft.form == "simpler" else others)], budget_words)


def _quote(chunk: Chunk, position: int, score: float) -> Quote | None:
    """A definition as a quote of its own; None if it leans on what stands before it."""
    unit = chunk.units[position]
    return None if leans_back(unit.text) else Quote(chunk=chunk, units=(unit,), score=score)


def _is_known(term: str, own: frozenset[str]) -> bool:
    """Whether nobody needs the term explained: an everyday word, or what is asked about."""
    stems = term.split()
    return all(is_everyday(stem) for stem in stems) or (bool(own) and own >= topic_stems(term))


def _is_within(quote: Quote, text: str) -> bool:
    """Whether a text has all the words of a quote, one after the other."""
    return f" {plain(quote.text)} " in f" {plain(text)} "


def _others(quotes: Sequence[Quote], taken: Sequence[Quote]) -> list[Quote]:
    """Those quotes that say nothing of what is taken."""
    shown = {(quote.chunk.filename, unit.char_start) for quote in taken for unit in quote.units}
    return [
        quote for quote in quotes if not any((quote.chunk.filename, unit.char_start) in shown for unit in quote.units)
    ]


def _within(quotes: Sequence[Quote], most: int) -> list[Quote]:
    """The first quotes that have so many words together; code is free."""
    kept, left = [], most
    for quote in quotes:
        cost = word_count(quote.text)
        if cost <= left:
            kept.append(quote)
            left -= cost
    return kept
