"""Questions and passages as the encoder's tokens: what training reads, in memory or from files that travel.

A file holds no text: numbers of tokens, to which unit each belongs, and which units answer; or claims and evidence.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from training.examples import WORD, Book, Example, Passage

FIRST, LAST = 101, 102
"""Tokens [CLS] and [SEP] of BERT's vocabulary, around every text."""
KINDS = ("sentence", "list_item", "table_row", "code", "caption")
HEADING, BETWEEN = 0, 1
"""Segments of tokens that belong to no unit; unit u has segment u + 2."""
LONGEST = 192
"""Default length of a passage in training, in tokens: the headings and a window that contains the answer."""
LONGEST_QUESTION = 62
"""Maximum number of tokens; the rest is cut off."""
FIELDS = ("ids", "segments", "kinds", "words")
"""Fields of a `Text`."""
MOST_BYTES = 16 * 1024 * 1024
"""Maximum size of a file for the device."""


@dataclass(frozen=True, slots=True)
class Text:
    """A passage."""

    ids: list[int]
    """Without special tokens."""
    segments: list[int]
    kinds: list[int]
    """Of each unit: index into `KINDS`."""
    words: list[int]
    """In each unit."""

    def window(self, wanted: Sequence[int], rng: random.Random, longest: int) -> tuple[list[int], list[int]]:
        """Ids and segments, cut to a window that holds one of the wanted units."""
        head = next((place for place, segment in enumerate(self.segments) if segment != HEADING), len(self.segments))
        head = min(head, longest // 3)
        room = longest - 2 - head
        at = [place for place, segment in enumerate(self.segments) if segment - 2 in wanted] if wanted else []
        first = rng.choice(at) if at else rng.randrange(head, max(head + 1, len(self.ids)))
        fits = len(self.ids) <= head + room
        start = head if fits else max(head, min(first - rng.randrange(room), len(self.ids) - room))
        start = min(max(start, head), max(head, len(self.ids) - 1))
        taken = slice(start, start + room)
        return self.ids[:head] + self.ids[taken], self.segments[:head] + self.segments[taken]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question; see `examples.Example` for the last two."""

    book: str
    ids: list[int]
    idf: list[float]
    """Rarity of the word that each token belongs to."""
    positives: dict[int, list[int]]
    negatives: list[int]


Library = dict[str, list[Text]]
"""The passages of each book."""


class Tokens:
    """Reads texts as the encoder does."""

    def __init__(self, folder: Path) -> None:
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()

    def of(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Ids and offsets without special tokens."""
        encoded = self.tokenizer.encode(text, add_special_tokens=False)
        return encoded.ids, encoded.offsets

    def ids(self, text: str) -> list[int]:
        """Ids alone."""
        return self.of(text)[0]

    def text(self, passage: Passage) -> Text:
        """A passage."""
        ids, offsets = self.of(passage.text)
        segments = [HEADING if start < len(passage.head) else BETWEEN for start, _ in offsets]
        for number, (first, last, *_) in enumerate(passage.units):
            for place, (start, _) in enumerate(offsets):
                if first <= start < last:
                    segments[place] = number + 2
        kinds = [KINDS.index(kind) for _, _, kind, *_ in passage.units]
        words = [len(passage.text[start:end].split()) for start, end, *_ in passage.units]
        return Text(ids, segments, kinds, words)

    def question(self, item: Example) -> Asked:
        """A question."""
        ids, offsets = self.of(item.question)
        words = [(m.start(), m.end(), m.group()) for m in WORD.finditer(item.question.lower())]
        belongs = [
            next((text for a, b, text in words if a <= start < b), "") for start, _ in offsets[:LONGEST_QUESTION]
        ]
        idf = [item.idf.get(word, 1.0) for word in belongs]
        return Asked(item.book, ids[:LONGEST_QUESTION], idf, item.positives, item.negatives)

    def library(self, books: Mapping[str, Book], asked: Sequence[Example]) -> Library:
        """All passages that a question names; the others stay empty."""
        named: dict[str, set[int]] = {name: set() for name in books}
        for item in asked:
            named[item.book].update(item.positives, item.negatives)
        empty = Text([], [], [], [])
        return {
            name: [
                self.text(passage) if number in named[name] else empty for number, passage in enumerate(book.passages)
            ]
            for name, book in books.items()
        }


@dataclass(frozen=True, slots=True)
class Pair:
    """A claim and its evidence, without special tokens."""

    claim: list[int]
    evidence: list[int]
    label: int
    """See `training.cross`."""


Groups = dict[str, list[list[Pair]]]
"""Pairs by kind: single ones, or a true claim and its near variant."""


def save(path: Path, library: Library, asked: Sequence[Asked]) -> None:
    """Write questions and their passages in one compressed file: 16 bits a token."""
    names = sorted(library)
    texts = [text for name in names for text in library[name]]
    columns: dict[str, Any] = {"names": np.array(names), "passages": np.array([len(library[name]) for name in names])}
    for field in FIELDS:
        columns |= _column(f"text.{field}", [getattr(text, field) for text in texts], np.uint16)
    columns["book"] = np.array([names.index(item.book) for item in asked], dtype=np.uint8)
    columns |= _column("ids", [item.ids for item in asked], np.uint16)
    columns |= _column("idf", [item.idf for item in asked], np.float16)
    columns |= _column("negatives", [item.negatives for item in asked], np.uint16)
    pairs = [[(number, unit) for number, units in item.positives.items() for unit in units] for item in asked]
    columns |= _column("right", [[number for number, _ in some] for some in pairs], np.uint16)
    columns |= _column("units", [[unit for _, unit in some] for some in pairs], np.uint16)
    _write(path, columns)


def load(path: Path) -> tuple[Library, list[Asked]]:
    """Read what `save` wrote."""
    columns = _read(path)
    names = columns["names"].tolist()
    texts = [Text(*fields) for fields in zip(*(_lists(columns, f"text.{field}") for field in FIELDS), strict=True)]
    library, at = {}, 0
    for name, count in zip(names, columns["passages"].tolist(), strict=True):
        library[name] = texts[at : at + count]
        at += count
    fields = [_lists(columns, field) for field in ("ids", "idf", "negatives", "right", "units")]
    asked = []
    for book, ids, idf, negatives, right, units in zip(columns["book"].tolist(), *fields, strict=True):
        positives: dict[int, list[int]] = {}
        for number, unit in zip(right, units, strict=True):
            positives.setdefault(number, []).append(unit)
        asked.append(Asked(names[book], ids, idf, positives, negatives))
    return library, asked


def save_pairs(path: Path, groups: Groups) -> None:
    """Write claims and their evidence in the same format."""
    kinds = sorted(groups)
    flat = [group for kind in kinds for group in groups[kind]]
    columns: dict[str, Any] = {"kinds": np.array(kinds), "groups": np.array([len(groups[kind]) for kind in kinds])}
    columns |= _column("labels", [[pair.label for pair in group] for group in flat], np.uint8)
    columns |= _column("claims", [pair.claim for group in flat for pair in group], np.uint16)
    columns |= _column("evidence", [pair.evidence for group in flat for pair in group], np.uint16)
    _write(path, columns)


def load_pairs(path: Path) -> Groups:
    """Read what `save_pairs` wrote."""
    columns = _read(path)
    texts = zip(_lists(columns, "claims"), _lists(columns, "evidence"), strict=True)
    flat = iter([[Pair(*next(texts), label) for label in labels] for labels in _lists(columns, "labels")])
    counts = columns["groups"].tolist()
    return {kind: [next(flat) for _ in range(n)] for kind, n in zip(columns["kinds"].tolist(), counts, strict=True)}


def _write(path: Path, columns: Mapping[str, Any]) -> None:
    """Write a file that is whole or not there.

    Raises:
        ValueError: It is too large to travel.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        np.savez_compressed(file, **columns)
    size = partial.stat().st_size
    if size > MOST_BYTES:
        raise ValueError(f"{path} has {size:,} bytes; {MOST_BYTES:,} travel.")
    partial.rename(path)
    print(f"{path}: {size / 2**20:.1f} MiB", flush=True)


def _read(path: Path) -> dict[str, Any]:
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def _column(name: str, rows: Sequence[Sequence[float]], kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a NumPy type
    """Lists of different lengths, one after another, and where each ends."""
    ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
    return {name: np.array([value for row in rows for value in row], dtype=kind), f"{name}.ends": ends}


def _lists(columns: Mapping[str, Any], name: str) -> list[list[Any]]:
    ends = columns[f"{name}.ends"].tolist()
    return [columns[name][start:end].tolist() for start, end in zip([0, *ends], ends, strict=False)]
