"""Which passages of a book nearly repeat another one, and which only list what other pages are called.

Two passages are alike if their sets of word shingles (runs of SHINGLE_WORDS words) have a Jaccard coefficient of at
least ALIKE (A. Broder, "On the resemblance and containment of documents", 1997). Candidates are found by the smallest
hashes of each set, as in bottom-k sketches of that paper; docs/decisions/0031 has the measurements.
"""

import re
import zlib
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from lutrin.records import Chunk

SHINGLE_WORDS = 3
ALIKE = 0.5
SKETCH = 24
"""Smallest hashes that are compared to find candidates. Two sets with a coefficient of ALIKE have none in common with
a probability of about 1e-7."""
LEAST_SIGNPOSTS = 3
LONGEST_TITLE = 16
"""Words; what is longer is a sentence."""
OUTLINE_SHARE = 0.6
"""Of the words of an outline, so many stand in lines that name a title."""
SIGNPOST_PERCENT = 60
"""Of the words of such a line, so many are the title."""
_WORD = re.compile(r"\w+")
_ORDINAL = re.compile(
    r"^(?:(?:chapter|part|module|unit|lesson|week|section|appendix)\s+)?[\d.]+\s*[:.)–—-]?\s+", re.IGNORECASE
)
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
Hashes = npt.NDArray[np.uint64]


def find_repeats(texts: Iterable[str]) -> list[int]:
    """The number of the first passage that each passage nearly repeats; its own if there is none.

    Args:
        texts: In reading order, without headings.
    """
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
    codes = np.array([zlib.crc32(word.encode("utf-8", "surrogatepass")) for word in _words(text)], dtype=np.uint64)
    count = max(1, len(codes) - SHINGLE_WORDS + 1)
    mixed = np.zeros(count, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for offset in range(min(SHINGLE_WORDS, len(codes))):
            mixed = (mixed ^ codes[offset : offset + count]) * _FACTOR
            mixed ^= mixed >> np.uint64(29)
    return np.unique(mixed)


def jaccard(one: Hashes, other: Hashes) -> float:
    """Size of the intersection of two ascending sets by that of their union."""
    common = len(np.intersect1d(one, other, assume_unique=True))
    return common / (len(one) + len(other) - common)


def find_outlines(chunks: Iterable[Chunk], titles: Iterable[str]) -> list[bool]:
    """Whether each passage does little more than list what other pages and sections are called.

    So do tables of contents, "In this chapter" and navigation lists: they hold the words of every question and the
    answer to none.

    Args:
        chunks: In the order of rows.
        titles: Of all pages, sections, chapters and modules of the book.
    """
    known = {words for title in titles if 0 < len(words := _title(title)) <= LONGEST_TITLE}
    return [_is_outline(chunk, known) for chunk in chunks]


def _is_outline(chunk: Chunk, known: set[tuple[str, ...]]) -> bool:
    own = {_title(title) for title in chunk.heading_path}
    signposts = listed = total = 0
    for unit in chunk.units:
        words = _words(unit.text)
        total += len(words)
        named = _words(_ORDINAL.sub("", unit.text))
        if unit.kind != "code" and len(named) <= 2 * LONGEST_TITLE and _names_a_title(named, known - own):
            signposts += 1
            listed += len(words)
    return signposts >= LEAST_SIGNPOSTS and listed >= OUTLINE_SHARE * total


def _names_a_title(words: list[str], known: set[tuple[str, ...]]) -> bool:
    """Whether a title makes up most of a text; what is beside it is a number, `Chapter 3`, `20 minutes`."""
    least = max(1, -(-len(words) * SIGNPOST_PERCENT // 100))
    return any(
        tuple(words[start : start + length]) in known
        for length in range(len(words), least - 1, -1)
        for start in range(len(words) - length + 1)
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _title(title: str) -> tuple[str, ...]:
    """The words of a title without the number or `Chapter 3:` before it."""
    return tuple(_words(_ORDINAL.sub("", title)))
