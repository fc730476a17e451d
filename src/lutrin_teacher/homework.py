"""An assignment: pages to read, cards to learn and questions to answer, chosen by a teacher from one book."""

import secrets
from collections.abc import Collection, Sequence

import msgspec

from lutrin import messages
from lutrin.errors import InvalidInput
from lutrin.language.words import plain
from lutrin.prepared import ON_PAPER, Card, Practice

MOST_PAGES, MOST_CARDS, MOST_QUESTIONS = 60, 60, 60
"""Entries of one assignment: more would not fit some lessons."""
MOST_TITLE, MOST_NOTE = 120, 1_000
"""Characters of its title, and of the teacher's note."""
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Letters of an assignment's name; none looks like another on a blackboard."""
NAME_LETTERS = 7


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of an assignment."""

    book: str
    """Slug."""
    title: str
    note: str = ""
    """The teacher's note."""
    pages: tuple[str, ...] = ()
    """Files of the pages to read."""
    cards: tuple[str, ...] = ()
    """Ids of the cards to learn."""
    questions: tuple[str, ...] = ()
    """Ids of the cards used as worksheet questions."""
    shuffled: bool = True
    """Whether each pupil gets cards and questions in a different order."""
    answers: bool = True
    """Whether the worksheet includes its answers."""
    hints: str = ""
    """`lutrin.records.Hints` while pupils work on it; empty: as the book has them."""


class ItemResult(msgspec.Struct, frozen=True, kw_only=True):
    """A pupil's result on a card: his own judgement, or his choice or text."""

    card: str
    known: bool | None = None
    picked: int | None = None
    """The choice, from 0."""
    typed: str | None = None
    """His guess at the word that was left out."""


def new_name() -> str:
    """A name for an assignment, short enough to be typed from a blackboard."""
    return "".join(secrets.choice(LETTERS) for _ in range(NAME_LETTERS))


def check(assignment: Assignment) -> None:
    """Raise InvalidInput if there is nothing to do, or too much."""
    if not (assignment.pages or assignment.cards or assignment.questions):
        raise InvalidInput(messages.NOTHING_TO_DO)
    if not assignment.title:
        raise InvalidInput(messages.NO_TITLE)
    if len(assignment.title) > MOST_TITLE or len(assignment.note) > MOST_NOTE:
        raise InvalidInput(messages.ASSIGNMENT_TITLE_TOO_LONG.format(title=MOST_TITLE, note=MOST_NOTE))
    for things, most, name in (
        (assignment.pages, MOST_PAGES, "pages"),
        (assignment.cards, MOST_CARDS, "cards"),
        (assignment.questions, MOST_QUESTIONS, "questions"),
    ):
        if len(things) > most:
            raise InvalidInput(messages.ASSIGNMENT_TOO_LARGE[name].format(most=most))


def propose(
    cards: Sequence[Card], most_cards: int, most_questions: int, kinds: Collection[str]
) -> tuple[list[Card], list[Card]]:
    """Choose cards to learn, and questions of some kinds that are not among them, each spread over `cards`."""
    fit = [card for card in cards if card.kind in kinds and card.kind in ON_PAPER]
    questions = _spread(fit, most_questions)
    taken = {card.id for card in questions}
    return _spread([card for card in cards if card.id not in taken], most_cards), questions


def _spread(cards: Sequence[Card], most: int) -> list[Card]:
    count = min(len(cards), most)
    return [cards[place * len(cards) // count] for place in range(count)]


def cards_of(practice: Practice, ids: Sequence[str]) -> list[Card]:
    """The cards with these ids in their order, skipping those that the book no longer has, or its teacher hid."""
    known = {card.id: card for card in practice.cards}
    return [known[id_] for id_ in ids if id_ in known]


def was_known(card: Card, result: ItemResult) -> bool:
    """Whether a pupil knew a card: by his own judgement, else by his choice or text."""
    if result.known is not None:
        return result.known
    if result.picked is not None:
        return result.picked == card.answer
    return bool(result.typed) and plain(result.typed or "") == plain(card.back)
