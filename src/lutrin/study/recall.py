"""Chooses one question to ask a pupil back on the passage that has just answered, and a hint at that answer.

A prepared card of the same section serves if it asks something else; otherwise the sentence that answered does, with
its rarest word left out, or the requested number. The book itself decides which word is rare: the one in the fewest of
its passages.
"""

import re
from collections.abc import Mapping, Sequence

import msgspec

from lutrin.language.lexicon import STOP_WORDS
from lutrin.language.words import numbers, plain, stem, stem_set, word_count, words
from lutrin.prepared import Card
from lutrin.query.frames import frame_of
from lutrin.records import Chunk, Unit
from lutrin.study.deck import GAP, LEAST_WORDS, gap_card

ASKED = frozenset({"question", "term", "gap"})
"""Kinds of cards to ask beside an answer; the others need more room."""
QUOTED = frozenset({"sentence", "list_item", "table_row", "caption"})
"""Kinds of units whose words can be left out; code must stay byte for byte."""


class Recall(msgspec.Struct, frozen=True, kw_only=True):
    """Aids to learn from an answer."""

    hint: str = ""
    """The answering sentence with its key word left out; empty for code, or if it is too short."""
    card: Card | None = None
    """A question on the same passage; None if the passage gives none."""


def key_words(unit: Unit, question: str) -> list[str]:
    """Meaningful words of a unit that are not in the question, lower case; none for code or a short text.

    If the question asks for a number, they are the unit's numbers.
    """
    if unit.kind not in QUOTED or word_count(unit.text) < LEAST_WORDS:
        return []
    told = [number for number in numbers(unit.text) if number in unit.text and number not in numbers(question)]
    if told and frame_of(question).frame == "number":
        return list(dict.fromkeys(told))
    asked = stem_set(question)
    found = (word.lower() for word in words(unit.text) if word.lower() not in STOP_WORDS and stem(word) not in asked)
    return list(dict.fromkeys(found))


def answering_unit(chunk: Chunk, marked: str) -> Unit | None:
    """The first unit of a passage that contains an excerpt's marked words, or that they contain."""
    sought = plain(marked)
    return next((unit for unit in chunk.units if sought and _overlap(plain(unit.text), sought)), None)


def recall(
    question: str, chunk: Chunk, unit: Unit | None, *, url: str, cards: Sequence[Card], frequency: Mapping[str, int]
) -> Recall:
    """Choose the hint and the question to ask back.

    Args:
        unit: The unit that answered, from `answering_unit`.
        url: Address of the passage's section, as on cards.
        cards: The book's cards.
        frequency: Number of passages that contain each of the unit's `key_words`.
    """
    word, hint = "", ""
    if unit is not None and (keys := key_words(unit, question)):
        word = min(keys, key=lambda key: (frequency.get(key, 0), -len(key)))
        told = unit.with_heads if unit.kind == "table_row" else unit.text
        hint = _without(word, " ".join(told.split()))
    asked = stem_set(question)
    passage = plain(chunk.text)
    fit = [
        card
        for card in cards
        if card.url == url and card.kind in ASKED and card.proof and stem_set(card.front) != asked
        and _overlap(plain(card.proof), passage)
    ]  # fmt: skip
    if fit:
        return Recall(hint=hint, card=fit[0])
    if unit is None or not hint:
        return Recall(hint=hint)
    return Recall(hint=hint, card=gap_card(chunk, url, hint, word, unit.text))


def _without(word: str, text: str) -> str:
    """A text with a word left out in all its forms."""
    same = {other for other in words(text) if stem(other) == stem(word)} | {word}
    pattern = "|".join(sorted(map(re.escape, same), key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", GAP, text, flags=re.IGNORECASE)


def _overlap(one: str, other: str) -> bool:
    return bool(one) and bool(other) and (one in other or other in one)
