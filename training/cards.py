"""Fit which terms and lists of a book's own words make cards (`lutrin.study.extract`), on those that were read.

Each line of `CARDS` is what a book of the shelf gave: the digest of its question and words, the log odds by the ranker
that sees these words alone, and whether a strict teacher would use the card: its question is understood without the
page, and its answer is right, whole and short. Of each kind the floor is the lowest odds from which the share `GOALS`
on is right; what the file says of it is counted book by book, with the floor of the other books.
"""

import json
from pathlib import Path

import msgspec

from lutrin.runtime.profile import open_reranker
from lutrin.settings import load_settings
from lutrin.study import extract
from lutrin.study.extract import CardsFit, CardSource

CARDS = Path(__file__).resolve().parents[1] / "evaluation" / "prepared" / "cards.jsonl"
GOALS = {"term": 0.88, "mention": 0.88, "list": 0.85}
"""What is asked of all cards of a book that nobody has read (.85); more for terms, as other books have worse ones."""


class ReadCard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A card that was read."""

    book: str
    kind: CardSource
    digest: str
    """SHA-256 of its question and its words, shortened: the books are not part of this repository."""
    odds: float
    right: bool


def read_cards(path: Path = CARDS) -> list[ReadCard]:
    """The cards that were read."""
    return [msgspec.json.decode(line, type=ReadCard) for line in path.read_bytes().splitlines()]


def floor_of(cards: list[ReadCard], goal: float) -> float:
    """The lowest odds from which on so large a share is right."""
    ordered = sorted(cards, key=lambda card: -card.odds)
    right, floor = 0, ordered[0].odds
    for place, card in enumerate(ordered, 1):
        right += card.right
        floor = card.odds if right >= goal * place else floor
    return floor


def unseen(cards: list[ReadCard], goal: float) -> tuple[int, int, int]:
    """How many are kept by the floor of the other books, how many of these are right, and how many there are."""
    books = sorted({card.book for card in cards})
    floors = {book: floor_of([card for card in cards if card.book != book], goal) for book in books}
    kept = [card for card in cards if card.odds >= floors[card.book]]
    return len(kept), sum(card.right for card in kept), len(cards)


def run() -> None:
    """Fit, write the file and print the figures."""
    cards = read_cards()
    kinds = {kind: [card for card in cards if card.kind == kind] for kind in GOALS}
    ranker = open_reranker(load_settings(model="none", log_level="error"))
    if ranker is None:
        raise SystemExit("The ranker is not here: run `lutrin models fetch default`.")
    ranker.close()
    made = CardsFit(
        ranker=ranker.name,
        terms=floor_of(kinds["term"], GOALS["term"]),
        mentions=floor_of(kinds["mention"], GOALS["mention"]),
        lists=floor_of(kinds["list"], GOALS["list"]),
        right={kind: unseen(own, GOALS[kind]) for kind, own in kinds.items()},
    )
    target = Path(extract.__file__).with_name(extract.FITTED)
    target.write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    print(json.dumps(msgspec.to_builtins(made)))
