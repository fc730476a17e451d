"""Decides where the words of a page are the terms that the book defines, so that only those show a meaning.

"Result" is a term in the chapter on actions, and an everyday word on other pages. The signals are: how similar the
passage is to the one that defines the term, by the vectors of the index; whether both are in one chapter; and the
number of pieces of the reader's vocabulary in the name, since everyday words are one piece each. The weights are fitted
on reviewed links (`python -m training senses`). Nothing is encoded for a page: all vectors are in the index.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lutrin.index.companion import defining
from lutrin.index.generation import OpenGeneration
from lutrin.ports import Vectors
from lutrin.prepared import Entry
from lutrin.records import Chunk
from lutrin.search.fits import Fit, Float, read_fit

SIGNALS = ("likeness of passages", "same chapter", "pieces of the name")
FITTED = "senses.json"
MOST_PIECES = 3
"""Most pieces counted: a name with as many is no everyday word."""
MOST_PLACES = 3
"""Uses of one term on a page; its meaning is shown at the first one that the page's script finds."""
PROSE = frozenset({"sentence", "list_item"})


class SensesFit(Fit, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fit of `python -m training senses`."""

    links: int
    right: int
    """Links whose word has the sense of the term."""
    shown: int
    """Links shown, each judged by a fit without its term."""
    shown_right: int


@dataclass(frozen=True, slots=True)
class Use:
    """A term used in its sense on a page."""

    entry: Entry
    name: str
    places: tuple[tuple[str, str], ...]
    """The word as spelt there, and the sentence or list item around it."""


@dataclass(frozen=True, slots=True)
class _Name:
    entry: Entry
    name: str
    home: Chunk
    windows: Vectors
    """(windows, dimension) of the passage that defines it."""
    pieces: int
    spelling: re.Pattern[str]
    longer: tuple[re.Pattern[str], ...]
    """Names of terms that contain this one: "visual odometry" is not the same as odometry."""


class Senses:
    """The terms of a book with the passages that define them; built by `senses_of`.

    Args:
        generation: The book.
        names: Names of its terms.
    """

    def __init__(self, generation: OpenGeneration, names: Sequence[_Name]) -> None:
        self._generation = generation
        self._names = names

    def on_page(self, passages: Sequence[tuple[int, Chunk]]) -> list[Use]:
        """The terms that a page uses in their sense, but does not define.

        Args:
            passages: Passages of the page, in order, with their rows.
        """
        fit = weights()
        text = "\n".join(chunk.text for _, chunk in passages).lower()
        own = {chunk.filename for _, chunk in passages}
        here = [one for one in self._names if one.name.lower() in text and one.home.filename not in own]
        result = []
        for one in here:
            places: list[tuple[str, str]] = []
            for row, chunk in passages:
                if len(places) < MOST_PLACES and (uses := _uses(one, chunk)) and self._fits(fit, one, row, chunk):
                    places += uses
            if places:
                result.append(Use(one.entry, one.name, tuple(places[:MOST_PLACES])))
        return result

    def _fits(self, fit: SensesFit | None, one: _Name, row: int, chunk: Chunk) -> bool:
        if fit is None or fit.embedder != self._generation.manifest.embedder or fit.signals != SIGNALS:
            return " " in one.name  # a single word may mean anything
        signals = measure(one.windows, self._generation.windows_of(row), one.home, chunk, one.pieces)
        return float(signals @ np.array(fit.weights[:-1], np.float32)) + fit.weights[-1] > 0


async def senses_of(generation: OpenGeneration) -> Senses:
    """The terms of a book.

    Raises:
        IndexUnavailable: The index cannot be read.
    """
    companion = generation.companion
    items = list(companion.visible("term"))
    homes = {chunk.chunk_id: (row, chunk) for row, chunk in await generation.places([one.chunk_id for one in items])}
    texts = {text: place for place, text in enumerate(companion.texts)}
    every = {name.lower(): _spelling(name) for item in items for name in item.entry.names}
    names = []
    for item in items:
        for name in visible_names(item.entry) if item.chunk_id in homes else ():
            row, home = homes[item.chunk_id]
            pieces = len(companion.wording(texts[defining(name)]).tokens)
            own = _spelling(name)
            longer = tuple(one for text, one in every.items() if text != name.lower() and own.search(text))
            names.append(_Name(item.entry, name, home, generation.windows_of(row), pieces, own, longer))
    return Senses(generation, names)


def visible_names(entry: Entry) -> list[str]:
    """The names by which a page may mean a term.

    Of its other names, only those of several words: a single common word would often mean something else.
    """
    return [name for name in entry.names if name == entry.topic or " " in name]


def measure(home_windows: Vectors, windows: Vectors, home: Chunk, chunk: Chunk, pieces: int) -> Float:
    """(3,): the signals of a term in a passage, in the order of `SIGNALS`.

    Args:
        home_windows: (windows, d) of the passage that defines the term.
        windows: (windows, d) of the passage that uses it.
        home: The passage that defines it.
        chunk: The passage that uses it.
        pieces: Pieces of the question for the term, as the reader's tokenizer cuts it.
    """
    likeness = float((windows @ home_windows.T).max())
    is_same = bool(home.chapter) and home.chapter == chunk.chapter
    return np.array((likeness, is_same, min(pieces - _AROUND, MOST_PIECES)), dtype=np.float32)


_AROUND = 3
"""Pieces of the question besides the name: "what", "is" and the question mark."""


def weights() -> SensesFit | None:
    """Return the fit; None before fitting."""
    return read_fit("lutrin.study", FITTED, SensesFit)


def _spelling(name: str) -> re.Pattern[str]:
    """Match a name as written; its capitals are required, so that a map is not `mAP`."""
    flags = re.NOFLAG if any(letter.isupper() for letter in name[1:]) else re.IGNORECASE
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", flags)


def _uses(one: _Name, chunk: Chunk) -> list[tuple[str, str]]:
    """Uses of a name in the prose of a passage that are not part of a longer name."""
    texts = [unit.text for unit in chunk.units if unit.kind in PROSE and unit.role == "text"]
    return [(spelling, text) for text in texts if (spelling := _spelling_in(one, text))]


def _spelling_in(one: _Name, text: str) -> str:
    """A name as spelt in a text; empty if it is missing."""
    spans = [other.span() for name in one.longer for other in name.finditer(text)]
    free = (match for match in one.spelling.finditer(text) if not any(a <= match.start() < b for a, b in spans))
    first = next(free, None)
    return first[0] if first is not None else ""
