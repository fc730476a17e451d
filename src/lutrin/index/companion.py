"""A generation's copy of its book's companion: prepared entries, and the questions that lead to them.

A companion is a file of JSON lines beside a book; `lutrin.ingest.companion_file` reads it and checks each entry against
the book. Entries that fit are published with the generation::

    companion.jsonl           one `PreparedEntry` a line, in the order of the book
    companion.vectors.npy     (texts, dimension) float32: pooled vectors of the questions that lead to an entry
    companion.tokens.npy      (tokens, k) int8: their token vectors, projected as those of the book's passages are
    companion.starts.npy      (texts + 1,) int64: the tokens of text t are rows starts[t] up to starts[t + 1]

A generation without these files has no companion. The teacher's decisions about entries, and entries studied since
publication, are in the catalogue. They are applied to an open companion, so that they take effect at once, and the next
ingest publishes them with the book.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec
import numpy as np
import numpy.typing as npt

from lutrin.index.tokens import project, quantise
from lutrin.messages import TERM_QUESTION
from lutrin.ports import Embedder, Vectors
from lutrin.prepared import BY_THE_BOOK, OF_A_TERM, Decision, Entry, Kind, PreparedEntry, key_of

FILE = "companion.jsonl"
VECTORS, TOKENS, STARTS = (f"companion.{name}.npy" for name in ("vectors", "tokens", "starts"))
ENCODED_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Wording:
    """One wording of an entry's question, as the embedder sees it."""

    text: str
    vector: npt.NDArray[np.float32]
    """(d,), of length 1."""
    tokens: npt.NDArray[np.int8]
    """(Q, k)."""


def wordings(entry: Entry) -> tuple[str, ...]:
    """The questions that an entry answers: its own, or two for each name of a term; none for key points and lists.

    >>> wordings(Entry(kind="term", file="a.md", heading="A", topic="torque", aka=("moment",)))
    ('What is torque?', 'What does torque mean?', 'What is moment?', 'What does moment mean?')
    """
    if entry.kind in {"keypoints", "list"}:
        return ()
    if entry.kind not in OF_A_TERM:
        return entry.names
    return tuple(text for name in entry.names for text in (defining(name), meaning(name)))


def _is_asked(entry: Entry) -> bool:
    return entry.kind == "question" or entry.author == BY_THE_BOOK


def question_of(entry: Entry) -> str:
    """The question that asks for an entry, as offered to pupils: about one thing or several."""
    return meaning(entry.topic) if entry.kind in OF_A_TERM else entry.topic


def defining(name: str) -> str:
    """The question under which a term is looked up and stored."""
    return TERM_QUESTION.format(name=name)


def meaning(name: str) -> str:
    """The same for a name that may be plural."""
    return f"What does {name} mean?"


class Companion:
    """The entries of one generation, in the order of the book.

    Args:
        vectors: (texts, d) of the questions that lead to the entries, each text once, in order.
        tokens: (tokens, k).
        starts: (texts + 1,): first token of each text, then the number of tokens.
    """

    def __init__(
        self,
        entries: Sequence[PreparedEntry] = (),
        vectors: Vectors | None = None,
        tokens: npt.NDArray[np.int8] | None = None,
        starts: npt.NDArray[np.int64] | None = None,
    ) -> None:
        self.entries = tuple(entries)
        self.texts = texts_of(self.entries)
        """The questions that lead to entries, each text once."""
        self.vectors: Vectors = np.zeros((0, 1), np.float32) if vectors is None else vectors
        self._tokens = np.zeros((0, 1), np.int8) if tokens is None else tokens
        self._starts = np.zeros(1, np.int64) if starts is None else starts

    @classmethod
    def open(cls, directory: Path) -> "Companion":
        """Open the companion in a generation's folder, or an empty one.

        Raises:
            OSError, ValueError: Its files are missing or invalid.
        """
        if not (directory / FILE).exists() or not (directory / STARTS).exists():
            return cls()
        lines = (directory / FILE).read_bytes().splitlines()
        entries = [msgspec.json.decode(line, type=PreparedEntry) for line in lines]
        arrays = [np.load(directory / name, allow_pickle=False) for name in (VECTORS, TOKENS, STARTS)]
        companion = cls(entries, *arrays)
        counts = (len(companion.vectors), len(companion._starts) - 1, int(companion._starts[-1]))
        if counts != (len(companion.texts), len(companion.texts), len(companion._tokens)):
            raise ValueError(f"the companion holds {counts} vectors, not those of {len(companion.texts)} questions")
        return companion

    def __bool__(self) -> bool:
        return bool(self.entries)

    def with_decisions(
        self, decisions: Iterable[Decision], encoded: Sequence[Wording] = (), studied: Iterable[PreparedEntry] = ()
    ) -> "Companion":
        """The companion plus newly studied entries, after the teacher's decisions.

        Args:
            encoded: The added questions, as the generation's embedder sees them. A question missing here only matches
                the same words.
            studied: Entries to add, unless the companion has one of the same kind and topic.
        """
        entries = {key_of(item.entry): item for item in self.entries}
        for item in studied:
            entries.setdefault(key_of(item.entry), item)
        for decision in decisions:
            key = key_of(decision.item.entry)
            if key in entries:
                entries[key] = decision.on(entries[key])
            elif decision.is_own:
                entries[key] = decision.item
        companion = Companion(tuple(entries.values()))
        wordings = {text: self.wording(place) for place, text in enumerate(self.texts)}
        wordings |= {one.text: one for one in encoded}
        width, depth = _widths(wordings.values())
        nothing = (np.zeros(width, np.float32), np.zeros((0, depth), np.int8))
        rows = [wordings.get(text) or Wording(text, *nothing) for text in companion.texts]
        return Companion(companion.entries, *_arrays(rows))

    def visible(self, *kinds: Kind) -> Iterator[PreparedEntry]:
        """The visible entries of some kinds, in the order of the book; pinned ones first."""
        return (item for item in self._visible_entries if item.entry.kind in kinds)

    @cached_property
    def _visible_entries(self) -> tuple[PreparedEntry, ...]:
        seen = (item for item in self.entries if item.entry.state != "hidden" and not item.entry.unlisted)
        return tuple(sorted(seen, key=lambda item: not item.entry.pinned))

    def questions(self, near: npt.NDArray[np.float32], files: Collection[str]) -> Iterator[tuple[str, PreparedEntry]]:
        """Visible questions on some files, with their entries, nearest first to (d,) of length 1.

        A term counts as a question if the book itself gives its meaning.
        """
        own = [one for one in self._questions if one[1].entry.file in files]
        places = [place for place, _ in own]
        order: Iterable[int] = range(len(own))
        if self.vectors.shape[1] == len(near):
            order = np.argsort(-(self.vectors[places] @ near), kind="stable")
        return ((self.texts[own[one][0]], own[one][1]) for one in order)

    @cached_property
    def _questions(self) -> tuple[tuple[int, PreparedEntry], ...]:
        """Index among the texts, and entry, of each visible question, in the order of `shown`."""
        indexes = {text: place for place, text in enumerate(self.texts)}
        asking = (item for item in self.visible("question", "term") if _is_asked(item.entry))
        return tuple((indexes[question_of(item.entry)], item) for item in asking)

    @cached_property
    def pinned_entries(self) -> tuple[PreparedEntry, ...]:
        """The pinned entries that readers may see."""
        return tuple(item for item in self.entries if item.entry.pinned and item.entry.state != "hidden")

    @cached_property
    def owners(self) -> dict[str, tuple[int, ...]]:
        """Indexes of the entries that each text asks for, excluding hidden ones."""
        owners: dict[str, list[int]] = {text: [] for text in self.texts}
        for place, item in enumerate(self.entries):
            for text in item.asked if item.entry.state != "hidden" else ():
                owners[text].append(place)
        return {text: tuple(places) for text, places in owners.items()}

    def nearest(self, vector: npt.NDArray[np.float32], k: int) -> list[tuple[int, float]]:
        """Indexes of the `k` texts nearest to a vector of length 1, with their cosines, best first."""
        if not len(self.vectors) or self.vectors.shape[1] != len(vector):
            return []
        cosines = np.vecdot(self.vectors, vector)
        best = np.argsort(-cosines, kind="stable")[:k]
        return [(int(place), float(cosines[place])) for place in best]

    def wording(self, place: int) -> Wording:
        """A text as the embedder sees it."""
        own = slice(int(self._starts[place]), int(self._starts[place + 1]))
        return Wording(self.texts[place], self.vectors[place], self._tokens[own])


def texts_of(entries: Iterable[PreparedEntry]) -> tuple[str, ...]:
    """All questions that lead to the entries, each text once, in order."""
    return tuple(dict.fromkeys(text for item in entries for text in item.asked))


async def write_companion(
    directory: Path, entries: Sequence[PreparedEntry], embedder: Embedder, before: Companion | None = None
) -> None:
    """Write a companion, if it has entries, into a generation in progress; `before` avoids encoding texts again.

    Raises:
        IndexUnavailable: The embedder is away.
        OSError: The files cannot be written.
        ValueError: The embedder gives no token vectors.
    """
    if not entries:
        return
    wordings = await encoded_texts(texts_of(entries), embedder, before)
    lines = b"".join(msgspec.json.encode(item) + b"\n" for item in entries)
    (directory / FILE).write_bytes(lines)
    vectors, tokens, starts = _arrays(wordings)
    np.save(directory / VECTORS, vectors)
    np.save(directory / TOKENS, tokens)
    np.save(directory / STARTS, starts)


def _arrays(rows: Sequence[Wording]) -> tuple[Vectors, npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """Vectors, tokens and starts of texts, as a `Companion` has them."""
    width, depth = _widths(rows)
    return (
        np.concatenate([np.zeros((0, width), np.float32), *(item.vector[None] for item in rows)]),
        np.concatenate([np.zeros((0, depth), np.int8), *(item.tokens for item in rows)]),
        np.cumsum([0, *(len(item.tokens) for item in rows)], dtype=np.int64),
    )


def _widths(rows: Iterable[Wording]) -> tuple[int, int]:
    first = next(iter(rows), None)
    return (len(first.vector), first.tokens.shape[1]) if first is not None else (1, 1)


async def encoded_texts(texts: Sequence[str], embedder: Embedder, before: Companion | None = None) -> list[Wording]:
    """Each text as the embedder sees it, taken from an earlier companion if that has it.

    Raises:
        IndexUnavailable: The embedder is away.
        ValueError: The embedder gives no token vectors.
    """
    wordings = {text: before.wording(place) for place, text in enumerate(before.texts)} if before is not None else {}
    missing = [text for text in texts if text not in wordings]
    for first in range(0, len(missing), ENCODED_AT_ONCE):
        part = missing[first : first + ENCODED_AT_ONCE]
        for text, encoding in zip(part, await embedder.encode(part), strict=True):
            if encoding.token_vectors is None:
                raise ValueError("the embedder gives no token vectors")
            vectors, learned = encoding.token_vectors, embedder.reading.projection
            mean = encoding.windows.mean(axis=0)
            narrow = quantise(project(vectors, learned) if learned is not None else vectors)
            wordings[text] = Wording(text, (mean / np.linalg.norm(mean)).astype(np.float32), narrow)
    return [wordings[text] for text in texts]
