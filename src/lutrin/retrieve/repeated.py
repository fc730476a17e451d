"""Passages that nearly repeat a better one make room for others, unless they have something better to say."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lutrin.index.tokens import MaxSim
from lutrin.records import Chunk
from lutrin.retrieve.words import plain

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
    said: dict[int, set[str]] = {}
    several = {first for first, count in Counter(firsts).items() if count > 1}
    alike = [index for index, first in enumerate(firsts) if first in several]
    for index in sorted(alike, key=lambda number: (-float(fused[number]), chunks[number].chunk_id)):
        units = [plain(unit.text) for unit in chunks[index].units]
        start, stop = int(late.unit_starts[index]), int(late.unit_starts[index + 1])
        before = said.setdefault(firsts[index], set())
        if before and stop > start:
            best = int(late.unit_numbers[start + int(late.units[start:stop].argmax())])
            found[index] = units[best] in before
        before.update(units)
    return found
