"""Renders the practice pages of a book: deck, glossary, guide and worksheet."""

from collections.abc import Sequence
from itertools import groupby

from lutrin.serve.html import ShelvedBook
from lutrin.serve.templating import render
from lutrin.study.deck import Card, GlossaryTerm, Practice

WORKSHEET_CARDS = 40
"""On one worksheet, spread over its chapter; more is no work for a lesson."""
SITTING_CARDS = 10
"""Cards of one sitting: some minutes of work."""
ON_PAPER = frozenset({"question", "choice", "gap", "exercise", "term"})
"""Kinds of cards that can be asked on paper."""
KINDS = {
    "question": "Question",
    "choice": "Choose",
    "term": "Term",
    "gap": "Fill the gap",
    "list": "Name them",
    "table": "Look up",
    "exercise": "Exercise of the book",
}
VIEWS = ("study", "deck", "worksheet", "glossary", "guide")


def render_practice(book: ShelvedBook, practice: Practice, view: str, chapter: int, sitting: int = 1) -> str:
    """One of the practice pages; chapters and sittings count from 1, and chapter 0 is the whole book."""
    if view not in VIEWS:
        raise ValueError(f"there is no page {view}")
    cards = practice.of_chapter(chapter)
    shown = {
        "worksheet": lambda: spread([card for card in cards if card.kind in ON_PAPER]),
        "deck": lambda: seated(cards, sitting),
    }.get(view, lambda: cards)()
    return render(
        f"study-{view}.html",
        book=book.slug,
        title=book.title,
        edition=book.edition,
        chapters=[(title, len(practice.of_chapter(number))) for number, title in enumerate(practice.chapters, 1)],
        chapter=chapter,
        heading=practice.chapters[chapter - 1] if 0 < chapter <= len(practice.chapters) else book.title,
        cards=shown,
        sitting=sitting,
        sittings=sittings_of(cards),
        again=sections_of(shown),
        kinds=KINDS,
        letters="ABCDEF",
        glossary=by_letter(practice.glossary),
        guide=practice.guide,
        total=len(practice.cards),
        terms=len(practice.glossary),
    )


def spread(cards: Sequence[Card], most: int = WORKSHEET_CARDS) -> list[Card]:
    """Pick at most `most` cards, spread evenly over all of them, in their order."""
    if len(cards) <= most:
        return list(cards)
    return [cards[place * len(cards) // most] for place in range(most)]


def seated(cards: Sequence[Card], sitting: int) -> list[Card]:
    """The cards of one sitting: each goes through the whole of its chapter, so that none is of one page.

    >>> "".join(seated("abcdefghijklmnopqrstuvwxy", 1)), "".join(seated("abcdefghijklmnopqrstuvwxy", 3))
    ('adgjmpsvy', 'cfilorux')
    """
    return list(cards[sitting - 1 :: sittings_of(cards)])


def sittings_of(cards: Sequence[Card]) -> int:
    """Into how many sittings cards are divided."""
    return max(1, -(-len(cards) // SITTING_CARDS))


def sections_of(cards: Sequence[Card]) -> list[tuple[str, str]]:
    """Title and address of each section that cards are of, in order."""
    return list(dict.fromkeys((card.section, card.url) for card in cards))


def by_letter(glossary: Sequence[GlossaryTerm]) -> list[tuple[str, list[GlossaryTerm]]]:
    """Terms under their first letters; those that begin with none stand under `#`."""

    def letter(term: GlossaryTerm) -> str:
        first = term.term[:1].upper()
        return first if first.isalpha() else "#"

    ordered = sorted(glossary, key=lambda term: (letter(term) == "#", letter(term), term.term.casefold()))
    return [(name, list(group)) for name, group in groupby(ordered, key=letter)]
