"""What of several quotes an answer has room for, and which of them say the same."""

from collections.abc import Sequence
from dataclasses import replace

from lutrin.answer.quote import Quote
from lutrin.retrieve.words import word_count


def fitting(quotes: Sequence[Quote], firsts: Sequence[Quote], *, budget_words: int) -> list[Quote]:
    """Of quotes that are too long together, those that answer best, in their order.

    Completed lists and the headers of tables may take more words than were counted when units were chosen.

    Args:
        quotes: Of the whole answer.
        firsts: The best of each part; they come before all others, if need be without what completes a list.
        budget_words: Words of the whole answer, code not counted.
    """
    kept: dict[int, Quote] = {}
    left = budget_words
    is_first = [any(is_within(first, [quote]) for first in firsts) for quote in quotes]
    for number in sorted(range(len(quotes)), key=lambda number: (not is_first[number], -quotes[number].score)):
        quote = quotes[number]
        if kept and _cost(quote) > left and is_first[number]:
            quote = replace(quote, units=tuple(unit for unit in quote.units if unit.char_start not in quote.added))
        if not kept or _cost(quote) <= left:
            kept[number] = quote
            left -= _cost(quote)
    return [kept[number] for number in sorted(kept)]


def _cost(quote: Quote) -> int:
    """Words that a quote adds to an answer, the number of its source among them; code is free."""
    return 0 if quote.units[0].kind == "code" else word_count(quote.text) + 1


def is_within(quote: Quote, others: Sequence[Quote], *, strictly: bool = False) -> bool:
    """Whether another quote says all of this one; strictly: and more."""
    places = {unit.char_start for unit in quote.units}
    same_file = [other for other in others if other.chunk.filename == quote.chunk.filename]
    held = [{unit.char_start for unit in other.units} for other in same_file]
    return any(places < other or (places == other and not strictly) for other in held)
