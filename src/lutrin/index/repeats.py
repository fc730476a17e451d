"""Finds passages of a book that nearly repeat another one.

Two passages are alike if their sets of word shingles (runs of SHINGLE_WORDS words) have a Jaccard coefficient of at
least ALIKE (A. Broder, "On the resemblance and containment of documents", 1997). Candidates are found by the smallest
hashes of each set, as in bottom-k sketches of that paper; docs/decisions/0031 has the measurements.
"""

import re
import zlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

SHINGLE_WORDS = 3
ALIKE = 0.5
SKETCH = 24
"""Number of smallest hashes that are compared to find candidates. Two sets with a coefficient of ALIKE have
none in common with a probability of about 1e-7."""
_WORD = re.compile(r"\w+")
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
Hashes = npt.NDArray[np.uint64]


def find_repeats(texts: Iterable[str]) -> list[int]:
    """Return, for each passage in reading order, the number of the first one that it nearly repeats, or its own."""
    firsts: list[int] = []
    known: dict[int, list[int]] = {}
    sets: dict[int, Hashes] = {}
    for number, text in enumerate(texts):
        hashes = shingles(text)
        sketch = hashes[:SKETCH].tolist()
        candidates = sorted({first for item in sketch for first in known.get(item, ())})
        found = next((first for first in candidates if jaccard(hashes, sets[first]) >= ALIKE), number)
        firsts.append(found)
        if found == number:
            sets[number] = hashes
            for item in sketch:
                known.setdefault(item, []).append(number)
    return firsts


def shingles(text: str) -> Hashes:
    """Hashes of the runs of SHINGLE_WORDS words of a text, each once, ascending: (shingles,).

    A shorter text is one run.
    """
    spelt = (word.encode("utf-8", "surrogatepass") for word in _WORD.findall(text.lower()))
    codes = np.array([zlib.crc32(word) for word in spelt], dtype=np.uint64)
    count = max(1, len(codes) - SHINGLE_WORDS + 1)
    mixed = np.zeros(count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for offset in range(min(SHINGLE_WORDS, len(codes))):
            mixed = (mixed ^ codes[offset : offset + count]) * _FACTOR
            mixed ^= mixed >> np.uint64(29)
    return np.unique(mixed)


def jaccard(one: Hashes, other: Hashes) -> float:
    """Size of the intersection of two ascending sets, divided by that of their union."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)
