"""Passages that nearly repeat a better one make room for others, unless they have something better to say."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lutrin.index.tokens import MaxSim
from lutrin.records import Chunk, Unit
from lutrin.retrieve.words import REMEMBERED, plain

Float = npt.NDArray[np.float32]


def repeated(firsts: Sequence[int], chunks: Sequence[Chunk], fused: Float, late: MaxSim) -> npt.NDArray[np.bool_]:
    """Which passages of a pool repeat a better one, as far as one question is concerned.

    A passage that is alike with a better one is no repetition if the unit of it that answers best does not stand in
    the better one: what stands in one of two versions alone is found.

    Args:
        firsts: (P,): passages with the same number are alike; see `lutrin.index.repeats`.
        chunks: (P,): the passages.
        fused: (P,): how well each answers.
        late: How well their units answer.

    Returns:
        (P,): true for those that can stand back.
    """
    found = np.zeros(len(chunks), dtype=np.bool_)
    better: dict[int, set[str]] = {}
    waiting = Counter(firsts)
    alike = [index for index, first in enumerate(firsts) if waiting[first] > 1]
    starts, worth = late.unit_starts.tolist(), (-fused).tolist()
    for _, _, index in sorted((worth[index], chunks[index].chunk_id, index) for index in alike):
        units, first = chunks[index].units, firsts[index]
        start, stop = starts[index], starts[index + 1]
        before = better.setdefault(first, set())
        if before and stop > start:
            best = plain(units[int(late.unit_numbers[start + int(late.units[start:stop].argmax())])].text)
            found[index] = best in before
        waiting[first] -= 1
        if waiting[first]:
            before |= _said(units)
    return found


_known: dict[int, tuple[tuple[Unit, ...], frozenset[str]]] = {}
"""By the identity of the units, which live as long as they are here; comparing their texts would take as long as
reading them anew. Generations keep the passages of late, so the same ones come again."""


def _said(units: tuple[Unit, ...]) -> frozenset[str]:
    """What the units of a passage say, as words alone."""
    held = _known.get(id(units))
    if held is None:
        held = _known[id(units)] = units, frozenset(plain(unit.text) for unit in units)
        if len(_known) > REMEMBERED:
            del _known[next(iter(_known))]
    return held[1]
