"""The pages of assignments: for the class, and for the teacher, who composes them and sees results."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import msgspec

from lutrin.messages import CARD_KINDS
from lutrin.prepared import CHOICE_LETTERS, ON_PAPER, Card, Practice
from lutrin.records import AskedQuestion, CardCount, PageEntry, ShelvedBook, StoredAssignment
from lutrin.serve.templating import page_path, render
from lutrin_teacher.homework import Assignment, cards_of, propose
from lutrin_teacher.teacher_page import inbox, qr_uri

LEAST_SHOWN = 3
"""Pupils who must have answered a card before its counts are shown: with fewer, a number would identify them."""
MOST_HARD = 12
MOST_ASKED = 30
USUAL_CARDS, USUAL_QUESTIONS = 8, 8


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """A teacher's wishes for an assignment."""

    pages: tuple[str, ...] = ()
    chapters: tuple[int, ...] = ()
    """Numbers of whole chapters, from 0, in the order of the contents."""
    cards: int = USUAL_CARDS
    questions: int = USUAL_QUESTIONS
    kinds: tuple[str, ...] = ON_PAPER


def chapters_of(pages: Sequence[PageEntry]) -> list[tuple[int, str, list[PageEntry]]]:
    """Number, title and pages of each chapter; a page outside of chapters forms its own."""
    chapters: list[tuple[int, str, list[PageEntry]]] = []
    for page in pages:
        title = page.chapter or page.module
        if chapters and title and chapters[-1][1] == title:
            chapters[-1][2].append(page)
        else:
            chapters.append((len(chapters), title, [page]))
    return chapters


def choosing_page(
    books: Sequence[ShelvedBook],
    book: ShelvedBook,
    pages: Sequence[PageEntry],
    practice: Practice,
    *,
    wish: Wish,
    form_key: str,
) -> str:
    """The page on which a teacher chooses the content of an assignment."""
    chapters = chapters_of(pages)
    wanted = {page.filename for number, _, inside in chapters if number in wish.chapters for page in inside}
    chosen = [page for page in pages if page.filename in wanted or page.filename in wish.pages]
    candidates = [card for page in chosen for card in practice.of_page(page_path(book.slug, page.filename))]
    cards, questions = propose(candidates, wish.cards, wish.questions, wish.kinds)
    return render(
        "teacher_assignment_new.html",
        books=books,
        book=book,
        chapters=chapters,
        wish=wish,
        chosen=chosen,
        candidates=candidates,
        cards=cards,
        questions=questions,
        title=chosen[0].title if len(chosen) == 1 else chosen[0].chapter if chosen else "",
        kinds=CARD_KINDS,
        on_paper=ON_PAPER,
        form_key=form_key,
    )


def pupils_page(
    name: str, assignment: Assignment, book: ShelvedBook, pages: Sequence[PageEntry], practice: Practice
) -> str:
    """The page that the class opens."""
    return render(
        "assignment.html",
        name=name,
        assignment=assignment,
        title=book.title,
        edition=book.edition,
        book=book.slug,
        hints=assignment.hints or book.hints,
        pages=[page for page in pages if page.filename in assignment.pages],
        cards=cards_of(practice, assignment.cards),
        questions=cards_of(practice, assignment.questions),
        kinds=CARD_KINDS,
        letters=CHOICE_LETTERS,
    )


def results_page(
    stored: StoredAssignment,
    assignment: Assignment,
    book: ShelvedBook,
    pages: Sequence[PageEntry],
    practice: Practice,
    *,
    counts: Mapping[str, CardCount],
    asked: Sequence[AskedQuestion],
    address: str,
    can_open: bool,
    form_key: str,
) -> str:
    """The page on which a teacher sees the progress of a class.

    Args:
        asked: The newest questions of all readers.
        address: Address of the page for the class; empty: they cannot reach it.
        can_open: Whether a button lets the class in.
    """
    shown = {card: count for card, count in counts.items() if count.tries >= LEAST_SHOWN}
    return render(
        "teacher_assignment.html",
        stored=stored,
        assignment=assignment,
        book=book,
        created=datetime.fromisoformat(stored.created),
        pages=[page for page in pages if page.filename in assignment.pages],
        cards=cards_of(practice, assignment.cards),
        questions=cards_of(practice, assignment.questions),
        hardest=hardest(practice, assignment, shown),
        answered=bool(shown),
        least=LEAST_SHOWN,
        inbox=inbox(asked_meanwhile(asked, assignment, stored.created), ())[:MOST_ASKED],
        address=address,
        code=qr_uri(address) if address else "",
        can_open=can_open,
        kinds=CARD_KINDS,
        letters=CHOICE_LETTERS,
        form_key=form_key,
    )


def hardest(
    practice: Practice, assignment: Assignment, counts: Mapping[str, CardCount]
) -> list[tuple[Card, CardCount]]:
    """The cards that most pupils did not know, with their counts."""
    cards = cards_of(practice, (*assignment.cards, *assignment.questions))
    missed = [(card, counts[card.id]) for card in cards if card.id in counts and counts[card.id].missed]
    return sorted(missed, key=lambda pair: -pair[1].missed / pair[1].tries)[:MOST_HARD]


def asked_meanwhile(asked: Sequence[AskedQuestion], assignment: Assignment, since: str) -> list[AskedQuestion]:
    """The questions since then that led to a page of an assignment, or to no page."""
    pages = set(assignment.pages)
    return [
        one
        for one in asked
        if one.created >= since and (not one.book or (one.book == assignment.book and one.filename in pages))
    ]
