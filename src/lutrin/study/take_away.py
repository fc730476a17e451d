"""Exports a deck as a package for Anki, or as a table for other programs."""

import hashlib
import tempfile
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import genanki

from lutrin import messages
from lutrin.prepared import CHOICE_LETTERS, Card
from lutrin.spreadsheet import to_csv

MODEL_ID = 1_745_208_331
"""Any fixed number, by which Anki recognises that notes of two exports are of one kind."""
CSV_COLUMNS = ("kind", "front", "back", "choices", "proof", "section", "chapter", "author", "address")
_FIELDS = ("Id", "Front", "Back", "Proof", "Source")
_ANSWER = (
    '{{FrontSide}}<hr id="answer">{{Back}}'
    '{{#Proof}}<blockquote>{{Proof}}</blockquote>{{/Proof}}<p class="source">{{Source}}</p>'
)
_STYLE = (
    ".card{font:18px/1.5 serif;max-width:40em;margin:auto}"
    "blockquote{font-size:85%;border-left:3px solid #b8a58c;padding-left:.8em}.source{font-size:75%;opacity:.7}"
)


def anki(title: str, slug: str, cards: Sequence[Card]) -> bytes:
    """Make a package for Anki: one deck with a subdeck for each chapter.

    A card exported again replaces the earlier one, and keeps Anki's record of the learner.
    """
    model = genanki.Model(
        MODEL_ID,
        "Lutrin",
        fields=[{"name": name} for name in _FIELDS],
        templates=[{"name": "Card", "qfmt": "{{Front}}", "afmt": _ANSWER}],
        css=_STYLE,
    )
    decks: dict[str, genanki.Deck] = {}
    for card in cards:
        name = f"{title}::{card.chapter}" if card.chapter else title
        deck = decks.setdefault(name, genanki.Deck(_number(f"{slug}\n{card.chapter}"), name))
        fields = [card.id, front_of(card), back_of(card), _html(card.proof), _html(_source(card))]
        deck.add_note(genanki.Note(model=model, fields=fields, guid=card.id, sort_field=card.id))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "deck.apkg"
        # A fixed time: the same cards give the same package.
        genanki.Package(list(decks.values())).write_to_file(str(path), timestamp=0.0)
        return path.read_bytes()


def front_of(card: Card) -> str:
    """Render a card's front as HTML, with its choices below."""
    choices = "".join(f"<li>{_html(choice)}</li>" for choice in card.choices)
    return _html(card.front) + (f'<ol type="A">{choices}</ol>' if choices else "")


def back_of(card: Card) -> str:
    """Render a card's back as HTML."""
    right = ""
    if card.answer is not None:
        right = f"<p><b>{CHOICE_LETTERS[card.answer]}: {_html(card.choices[card.answer])}</b></p>"
    return right + _html(card.back or ("" if right else messages.SEE_THE_BOOK))


def table(cards: Iterable[Card]) -> str:
    """The cards as comma-separated values with a header; see `spreadsheet`."""
    return to_csv(CSV_COLUMNS, map(_row, cards))


def _row(card: Card) -> tuple[str, ...]:
    back = card.choices[card.answer] if card.answer is not None else card.back
    row = (card.kind, card.front, back, " | ".join(card.choices), card.proof, card.section, card.chapter)
    return (*row, card.author, card.url)


def _html(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def _source(card: Card) -> str:
    return " › ".join(part for part in (card.chapter, card.section, card.author) if part)


def _number(name: str) -> int:
    """A stable number for a deck; Anki requires one below 2^31."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big") >> 1
