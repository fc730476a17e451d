"""Prepared entries for a bare request: on a selection ("Explain"), or on the previous answer ("why?").

An entry serves a mark if its proof is inside it, or if it is about a term that the mark names or is; otherwise the
section's key points do, which are true of any part of it. Among entries that serve equally well, the nearest in meaning
comes first.

A follow-up refers to the previous answer: to the term in question, to the quoted words of the book, to their section.
An entry is never shown twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from lutrin.index.companion import Companion, defining
from lutrin.index.generation import OpenGeneration
from lutrin.language import lexicon
from lutrin.language.words import plain, stem, stem_set, topic_stems, words
from lutrin.prepared import BY_THE_BOOK, OF_A_TERM, Kind, PreparedEntry
from lutrin.query.frames import Frame, frame_of
from lutrin.query.understand import Query
from lutrin.records import Chunk, Unit
from lutrin.search.fits import Float
from lutrin.search.marked import SENTENCE_WORDS, homes

WISHES: Mapping[Frame, tuple[Kind, ...]] = {
    "definition": ("explanation", "question", "term", "keypoints"),
    "plain": ("explanation", "question", "term", "keypoints"),
    "simpler": ("simpler", "explanation", "question", "keypoints"),
    "example": ("example",),
    "analogy": ("analogy",),
}
"""Kinds of entries that serve a mark, by the requested form."""
FOLLOWING: Mapping[Frame, tuple[Kind, ...]] = {
    "more": ("explanation", "question", "keypoints"),
    "simpler": ("simpler", "explanation", "analogy", "keypoints"),
    "definition": ("simpler", "term", "explanation"),
    "other": ("term",),
    "example": ("example",),
    "analogy": ("analogy",),
    "why": ("explanation", "question"),
    "how": ("explanation", "question"),
    "summary": ("keypoints",),
}
"""Kinds of entries that serve a follow-up, best first; for other wishes the book is searched."""
MOST_ENTRIES = 3
"""Entries that explain one mark."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The place of a selection in the book."""

    home: Chunk
    """The passage that contains it, or its beginning."""
    text: str
    units: tuple[Unit, ...]
    """The sentences, list items, rows and code that it overlaps."""

    @property
    def is_name(self) -> bool:
        """Whether it is a few words, which name a thing without a statement."""
        return len(words(self.text)) <= SENTENCE_WORDS

    @property
    def stems(self) -> frozenset[str]:
        """Stems of all the words that it overlaps."""
        return stem_set(self.text) | stem_set(" ".join(unit.text for unit in self.units))


def is_all_meant(query: Query) -> bool:
    """Whether the question only asks for a form of a selection, including "an example of this formula"."""
    tokens = words(query.own.topic)
    rest = [word for before, word in zip(["", *tokens], tokens, strict=False) if before.lower() not in lexicon.POINTING]
    return bool(query.selected_text) and query.mode != "selection" and not topic_stems(" ".join(rest))


async def locate(generation: OpenGeneration, query: Query) -> Mark | None:
    """Find the place of a selection, first on the reader's page; None if it is not in this book.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    text = plain(query.selected_text)
    chunks = await homes(generation, query.selected_text)
    if query.page:
        on_page = [chunk for chunk in await generation.chunks_of(query.page) if f" {text} " in f" {plain(chunk.text)} "]
        chunks = [*on_page, *(chunk for chunk in chunks if chunk.filename == query.page), *chunks]
    for home in chunks:
        units = tuple(units_at(home.units, text))
        if units:
            return Mark(home, query.selected_text, units)
    return None


def units_at(units: Sequence[Unit], phrase: str) -> Iterator[Unit]:
    """The units of a passage that a plain text covers, from its first word to its last."""
    texts = [plain(unit.text) for unit in units]
    starts = list(accumulate((len(text) + bool(text) for text in texts), initial=1))
    place = f" {' '.join(filter(None, texts))} ".find(f" {phrase} ") + 1
    for unit, text, start in zip(units, texts, starts, strict=False):
        inside = start < place + len(phrase) and place < start + len(text) if place else " " in text and text in phrase
        if inside:
            yield unit


def entries_of(companion: Companion, mark: Mark, vector: Float, kinds: Sequence[Kind]) -> list[PreparedEntry]:
    """The entries that serve a mark, nearest (d,) vector first, in display order; none if no entry belongs to it.

    The first is the one that belongs most closely. Others join it if they prove a part of the mark that none before
    them does.
    """
    likeness = likeness_of(companion, vector)
    fitting = [
        (closeness, -likeness.get(item.entry.topic, -1.0), place, item)
        for place, item in enumerate(companion.visible(*kinds))
        if (closeness := _closeness(mark, item)) is not None and not stem_set(" ".join(item.entry.points)) <= mark.stems
    ]
    ranked = [item for *_, item in sorted(fitting, key=lambda row: row[:-1])]
    entries = ranked[:1]
    units = set(proved_units(mark, ranked[0])) if ranked else set()
    for item in ranked[1:]:
        proved = set(proved_units(mark, item))
        is_new = item.entry.kind != "keypoints" and item.entry.points not in {one.entry.points for one in entries}
        if proved - units and is_new and len(entries) < MOST_ENTRIES:
            entries.append(item)
            units |= proved
    return sorted(entries, key=lambda item: min(proved_units(mark, item), default=0))


def likeness_of(companion: Companion, vector: Float) -> dict[str, float]:
    """Cosine of each entry's topic, or the question for it, with a mark."""
    near = dict(companion.nearest(vector, len(companion.texts)))
    by_text = {companion.texts[place]: cosine for place, cosine in near.items()}
    return by_text | {
        item.entry.topic: by_text[text]
        for item in companion.entries
        if item.entry.kind in OF_A_TERM and (text := defining(item.entry.topic)) in by_text
    }


def _closeness(mark: Mark, item: PreparedEntry) -> int | None:
    """How closely an entry belongs to a mark, 0 being the closest; None if it does not."""
    entry, home = item.entry, mark.home
    in_section = is_of_section(item, home)
    if entry.kind == "keypoints":
        return 5 if in_section else None
    if entry.author == BY_THE_BOOK and not mark.is_name:
        return None  # no explanation: it says what the book says there
    of_term = entry.kind in OF_A_TERM
    named = of_term and any(is_named(mark.text, name) for name in entry.names)
    if named and mark.is_name:
        return 0 if entry.file == home.filename else 2
    proved = sum(_touches(home, mark.units, place) for place in item.places)
    if proved:
        return 0 if 2 * proved >= len(item.places) else 1
    if entry.kind in {"example", "analogy"}:
        return 3 if named and entry.file == home.filename else 4 if in_section else None
    return None


def is_of_section(item: PreparedEntry, home: Chunk) -> bool:
    """Whether an entry is about the section of a passage."""
    entry = item.entry
    return (entry.file, entry.anchor, entry.heading) == (home.filename, home.anchor, home.section_title)


def proved_units(mark: Mark, item: PreparedEntry) -> list[int]:
    """Indices of the units of a mark that an entry quotes."""
    return [
        place
        for place, unit in enumerate(mark.units)
        if any(_touches(mark.home, (unit,), quoted) for quoted in item.places)
    ]


def _touches(home: Chunk, units: Sequence[Unit], place: tuple[str, int, int]) -> bool:
    """Whether a quoted place overlaps some units of a passage."""
    name, start, end = place
    return name == home.chunk_id and any(start < unit.char_end and unit.char_start < end for unit in units)


def is_named(text: str, name: str) -> bool:
    """Whether a text contains the words of a name in sequence, in any inflection."""
    own, wanted = ([stem(word) for word in words(part)] for part in (text, name))
    return any(len(word) > 1 for word in wanted) and any(own[at : at + len(wanted)] == wanted for at in range(len(own)))


async def locate_answer(generation: OpenGeneration, query: Query) -> Mark | None:
    """Find the place of the previous answer in a book; None if it is not in this one.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    chunks = {chunk.chunk_id: chunk for chunk in await generation.chunks([name for name, _ in query.quotes])}
    for name, quote in query.quotes:
        home = chunks.get(name)
        if home is not None and (units := tuple(units_at(home.units, plain(quote)))):
            return Mark(home, query.subject, units)
    return None


def following(
    companion: Companion, mark: Mark, vector: Float, wish: Frame, *, reply: str, withheld: frozenset[Kind] = frozenset()
) -> PreparedEntry | None:
    """The entry for a follow-up, by its mark and vector (d,); None if no entry belongs to that answer."""
    kinds = [kind for kind in FOLLOWING.get(wish, ()) if kind not in withheld]
    likeness = likeness_of(companion, vector)
    fitting = [
        (
            (
                kinds.index(item.entry.kind) if item.entry.kind in OF_A_TERM else 0,
                closeness,
                -likeness.get(item.entry.topic, -1.0),
                place,
            ),
            item,
        )
        for place, item in enumerate(companion.visible(*kinds))
        if (closeness := _closeness_to_answer(mark, item, wish)) is not None
        and plain(" ".join(item.entry.points)) not in reply
        and (wish not in {"why", "how"} or frame_of(item.entry.topic)[0] == wish)
    ]
    return min(fitting, key=lambda pair: pair[0])[1] if fitting else None


def _closeness_to_answer(mark: Mark, item: PreparedEntry, wish: Frame) -> int | None:
    """How closely an entry belongs to the previous answer, 0 being the closest; None if it does not."""
    of_term = item.entry.kind in OF_A_TERM
    named = of_term and any(is_named(mark.text, name) for name in item.entry.names)
    if wish == "other":
        return None if named or item.entry.file != mark.home.filename else 0
    if named or proved_units(mark, item):
        return 0 if named else 1
    return 2 if not of_term and is_of_section(item, mark.home) else None
