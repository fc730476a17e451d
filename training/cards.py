"""Fit which terms and lists of a book's own words make cards (`lutrin.study.extract`), on those that were read.

Each line of `CARDS` is what a book of the shelf gave: the digest of its question and words, the log odds by the ranker
that sees these words alone, and whether a strict teacher would use the card: its question is understood without the
page, and its answer is right, whole and short. Of each kind the floor is the lowest odds from which on a share of
`GOALS` is right; what the file says of it is counted book by book, with what the other books give. Lists have more
signals than these odds (`extract.list_signals`), and a logistic regression on them.
"""

import json
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np

from lutrin.runtime.profile import open_reranker
from lutrin.settings import load_settings
from lutrin.study import extract
from lutrin.study.extract import CardsFit
from training.same import Array, logistic

CARDS = Path(__file__).resolve().parents[1] / "evaluation" / "prepared" / "cards.jsonl"
GOALS = {"term": 0.88, "mention": 0.88, "list": 0.85}
"""Precision required of the cards of an unseen book (.85); more for terms, as those of other books are worse."""


ROUNDING = 1e-6


class ReadCard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A card that was read."""

    book: str
    kind: Literal["term", "mention", "list"]
    digest: str
    """SHA-256 of its question and its words, shortened: the books are not part of this repository."""
    odds: float
    right: bool
    named: float = 0.0
    simple: float = 0.0
    """Of a list, the other signals."""


def read_cards(path: Path = CARDS) -> list[ReadCard]:
    """The cards that were read."""
    return [msgspec.json.decode(line, type=ReadCard) for line in path.read_bytes().splitlines()]


def floor_of(odds: Array, cards: list[ReadCard], goal: float) -> float:
    """The lowest odds from which on so large a share is right."""
    order = np.argsort(-odds, kind="stable")
    shares = np.cumsum([cards[place].right for place in order]) / np.arange(1, len(cards) + 1)
    enough = np.flatnonzero(shares >= goal)
    return float(odds[order[enough[-1] if len(enough) else 0]])


def fit_weights(cards: list[ReadCard], goal: float) -> Array:
    """Weights of the signals, then the bias: what reaches 0 is kept. Only lists have more signals than the odds."""
    values = np.array([(card.odds, card.named, card.simple) for card in cards])
    fitted = np.array((1.0, 0.0, 0.0, 0.0))
    if cards[0].kind == "list":
        fitted = logistic(values, np.array([card.right for card in cards]))
    fitted[-1] -= floor_of(np.c_[values, np.ones(len(cards))] @ fitted, cards, goal)
    return fitted


def is_kept(card: ReadCard, fitted: Array) -> bool:
    """Whether a card reaches the floor."""
    return float(np.dot((card.odds, card.named, card.simple, 1.0), fitted)) >= -ROUNDING


def unseen(cards: list[ReadCard], goal: float) -> tuple[int, int, int]:
    """How many are kept by the fit of the other books, how many of these are right, and how many there are."""
    kept: list[ReadCard] = []
    for book in sorted({card.book for card in cards}):
        fitted = fit_weights([card for card in cards if card.book != book], goal)
        kept += [card for card in cards if card.book == book and is_kept(card, fitted)]
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
        terms=-float(fit_weights(kinds["term"], GOALS["term"])[-1]),
        mentions=-float(fit_weights(kinds["mention"], GOALS["mention"])[-1]),
        lists=tuple(round(float(weight), 4) for weight in fit_weights(kinds["list"], GOALS["list"])),
        right={kind: unseen(own, GOALS[kind]) for kind, own in kinds.items()},
    )
    target = Path(extract.__file__).with_name(extract.FITTED)
    target.write_bytes(msgspec.json.format(msgspec.json.encode(made)) + b"\n")
    print(json.dumps(msgspec.to_builtins(made)))
