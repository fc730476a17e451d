"""Reading sections: the fixed runs of the book, of at most 160 words each, that a language model reads.

A section of the book is cut in the same way whatever is asked, so that its keys and values in the model's memory can
be computed once and used for every reader. Consecutive runs overlap by one unit, so that a sentence at a cut keeps
what leads to it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lutrin.answer.excerpt import atoms_of
from lutrin.index.generation import OpenGeneration
from lutrin.language.words import word_count
from lutrin.records import NEVER_AN_ANSWER, SELECTED, Chunk, Unit
from lutrin.search.reader import ScoredPassage, log_sum

MOST_WORDS = 160
"""Of one reading section; a small model reads so much at 40 tokens a second within the wait of a reader."""
CODE_CHARS_PER_WORD = 5
"""Code counts by its characters, because it has more tokens for each blank."""


@dataclass(frozen=True, slots=True)
class ReadingSection:
    """A run of the book's units that a model reads."""

    chunk: Chunk
    """The passage that holds the best unit; the one that is cited."""
    units: tuple[Unit, ...]
    scores: tuple[float, ...]
    """The reader's score of each unit; -inf for units that were not found."""

    @property
    def score(self) -> float:
        """Logarithm of how likely the section answers, up to a constant."""
        return log_sum(self.scores)

    @property
    def key(self) -> tuple[str, int, int]:
        """File and offsets: equal for the same run of one generation."""
        return self.chunk.filename, self.units[0].char_start, self.units[-1].char_end


def whole(chunk: Chunk) -> ReadingSection:
    """A passage as it is, read from its first unit to its last."""
    return ReadingSection(chunk, chunk.units, (0.0,) * len(chunk.units))


async def reading_sections(
    generation: OpenGeneration, passages: Sequence[ScoredPassage], most: int = 1
) -> list[ReadingSection]:
    """The likeliest reading sections among the passages that were found, best first.

    Args:
        generation: The book.
        passages: With the reader's scores; a selection is read as it is.
        most: How many at most; they share no unit.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    scores: dict[tuple[str, int], float] = {}
    wanted: dict[str, set[tuple[tuple[str, ...], str, str]]] = {}
    found: list[ReadingSection] = []
    for item in passages:
        chunk = item.chunk
        if chunk.chunk_id == SELECTED:
            found.append(ReadingSection(chunk, chunk.units, tuple(item.scores.tolist())))
            continue
        wanted.setdefault(chunk.filename, set()).add(section_of(chunk))
        for unit, score in zip(chunk.units, item.scores.tolist(), strict=True):
            place = (chunk.filename, unit.char_start)
            scores[place] = max(score, scores.get(place, score))
    for filename, sections in wanted.items():
        chunks = await generation.chunks_of(filename)
        for section in sections:
            found += _score([chunk for chunk in chunks if section_of(chunk) == section], scores)
    found = [one for one in found if one.units]
    found.sort(key=lambda one: (-one.score, one.key))
    chosen: list[ReadingSection] = []
    for one in found:
        if len(chosen) < most and not any(_overlaps(one, other) for other in chosen):
            chosen.append(one)
    return chosen


async def sections_of_page(generation: OpenGeneration, filename: str, most: int) -> list[ReadingSection]:
    """The first reading sections of a page, in its order, as questions about them will cut them.

    Raises:
        IndexUnavailable: The book cannot be read.
    """
    chunks = [chunk for chunk in await generation.chunks_of(filename) if chunk.role not in NEVER_AN_ANSWER]
    found: list[ReadingSection] = []
    for section in dict.fromkeys(map(section_of, chunks)):
        own = [chunk for chunk in chunks if section_of(chunk) == section]
        scores = {(filename, unit.char_start): 0.0 for chunk in own for unit in chunk.units}
        found += _score(own, scores)
        if len(found) >= most:
            break
    return found[:most]


def cut(units: Sequence[Unit]) -> Iterator[tuple[Unit, ...]]:
    """Cut the units of a section into runs of at most `MOST_WORDS`; a longer atom is a run by itself."""
    atoms = [tuple(units[start:stop]) for start, stop in atoms_of(units)]
    start = 0
    while start < len(atoms):
        words, stop = _cost(atoms[start]), start + 1
        while stop < len(atoms) and words + _cost(atoms[stop]) <= MOST_WORDS:
            words += _cost(atoms[stop])
            stop += 1
        yield tuple(unit for atom in atoms[start:stop] for unit in atom)
        if stop == len(atoms):
            return
        # The last atom leads on to the next run if both fit together.
        start = stop - 1 if stop - start > 1 and _cost(atoms[stop - 1]) + _cost(atoms[stop]) <= MOST_WORDS else stop


def _score(chunks: Sequence[Chunk], scores: Mapping[tuple[str, int], float]) -> Iterator[ReadingSection]:
    """The runs of one section that hold a unit which was found."""
    owners: dict[int, tuple[Unit, Chunk]] = {}
    for chunk in chunks:
        for unit in chunk.units:
            owners.setdefault(unit.char_start, (unit, chunk))
    for run in cut([owners[place][0] for place in sorted(owners)]):
        own = tuple(scores.get((chunks[0].filename, unit.char_start), float("-inf")) for unit in run)
        best = max(range(len(run)), key=own.__getitem__)
        if own[best] > float("-inf"):
            yield ReadingSection(owners[run[best].char_start][1], run, own)


def section_of(chunk: Chunk) -> tuple[tuple[str, ...], str, str]:
    """What tells a section apart from the others of its page: its headings, its address, and its tab."""
    return chunk.heading_path, chunk.anchor, chunk.variant


def _overlaps(one: ReadingSection, other: ReadingSection) -> bool:
    places = {unit.char_start for unit in one.units}
    return one.chunk.filename == other.chunk.filename and any(unit.char_start in places for unit in other.units)


def _cost(units: Sequence[Unit]) -> int:
    """Words, as a model counts them."""
    return sum(
        max(word_count(unit.text), len(unit.text) // CODE_CHARS_PER_WORD)
        if unit.kind == "code"
        else word_count(unit.text)
        for unit in units
    )
