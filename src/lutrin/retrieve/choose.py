"""Which of the found passages a reader gets, and in which order: together they shall say all that was asked.

The best passage comes first. Each further one is worth its own score and what it adds: how much better it matches the
question's tokens than those that are chosen already do (a greedy cover, as for submodular functions: Nemhauser, Wolsey
and Fisher 1978). A question of several parts takes them in turn. Figures are in `docs/decisions/0001-quotes-first.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float32]

NOVELTY = 2.0
"""Worth of a passage's better matches, as a share of the question's weight."""
NEW_FILE = 0.05
"""Worth of a page that is not among the chosen ones yet."""

LENGTH = 0.05
"""Worth of a passage that is e times as long as another: of two that match alike, it says more."""
SHORTEST = 50
"""Characters below which no passage is called shorter than another."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One part of a question over the pool of P passages."""

    scores: Float
    """(P,): how well each passage answers it."""
    matches: Float
    """(P, Q): best match of each question token in each passage."""
    share: Float
    """(Q,): weights of the tokens, 1 in all."""


def choose(wishes: Sequence[Wish], files: Sequence[str], lengths: Sequence[int], k: int) -> list[int]:
    """Indices of at most `k` passages in the order in which a reader gets them.

    Args:
        wishes: One for each part of the question, in order.
        files: (P,): the file of each passage.
        lengths: (P,): the characters of each.
        k: How many at most.
    """
    numbers = {name: number for number, name in enumerate(dict.fromkeys(files))}
    pages = np.array([numbers[name] for name in files])
    said = LENGTH * np.log(np.maximum(lengths, SHORTEST))
    chosen: list[int] = []
    held: list[Float | None] = [None] * len(wishes)
    is_new = np.ones(len(pages), dtype=bool)
    for turn in range(min(k, len(pages))):
        number = turn % len(wishes)
        wish, best = wishes[number], held[number]
        worth = wish.scores + said + NEW_FILE * is_new
        if best is not None:
            worth = worth + NOVELTY * (np.maximum(wish.matches - best, 0) @ wish.share)
        worth[chosen] = -np.inf
        index = int(worth.argmax())
        chosen.append(index)
        matches = wish.matches[index]
        held[number] = matches if best is None else np.maximum(best, matches)
        is_new &= pages != pages[index]
    return chosen
