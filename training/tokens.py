"""Questions and passages as the encoder's tokens: what training reads, in memory or from one file that travels.

The file holds no text: numbers of tokens, to which unit each belongs, and which units answer.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from training.examples import WORD, Book, Example, Passage

KINDS = ("sentence", "list_item", "table_row", "code", "caption")
HEADING, BETWEEN = 0, 1
"""Segments of tokens that belong to no unit; unit u has segment u + 2."""
LONGEST = 192
"""Tokens of a passage in training: the headings and a window of the text that holds what answers."""
LONGEST_QUESTION = 62
"""Tokens; the rest is cut off."""
FIELDS = ("ids", "segments", "kinds", "words")
"""Of a `Text`."""


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

    def window(self, wanted: Sequence[int], rng: random.Random) -> tuple[list[int], list[int]]:
        """Ids and segments, cut to a window that holds one of the wanted units."""
        head = next((place for place, segment in enumerate(self.segments) if segment != HEADING), len(self.segments))
        head = min(head, LONGEST // 3)
        room = LONGEST - 2 - head
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


def save(path: Path, library: Library, trained: Sequence[Asked], judged: Sequence[Asked]) -> None:
    """Write all in one compressed file: 16 bits a token."""
    names = sorted(library)
    texts = [text for name in names for text in library[name]]
    columns: dict[str, Any] = {"names": np.array(names), "passages": np.array([len(library[name]) for name in names])}
    for field in FIELDS:
        columns |= _column(f"text.{field}", [getattr(text, field) for text in texts], np.uint16)
    for part, questions in (("trained", trained), ("judged", judged)):
        columns[f"{part}.book"] = np.array([names.index(item.book) for item in questions], dtype=np.uint8)
        columns |= _column(f"{part}.ids", [item.ids for item in questions], np.uint16)
        columns |= _column(f"{part}.idf", [item.idf for item in questions], np.float16)
        columns |= _column(f"{part}.negatives", [item.negatives for item in questions], np.uint16)
        pairs = [[(number, unit) for number, units in item.positives.items() for unit in units] for item in questions]
        columns |= _column(f"{part}.right", [[number for number, _ in some] for some in pairs], np.uint16)
        columns |= _column(f"{part}.units", [[unit for _, unit in some] for some in pairs], np.uint16)
    with path.open("wb") as file:
        np.savez_compressed(file, **columns)


def load(path: Path) -> tuple[Library, list[Asked], list[Asked]]:
    """Read what `save` wrote."""
    with np.load(path) as stored:
        columns = {name: stored[name] for name in stored.files}
    names = columns["names"].tolist()
    texts = [Text(*fields) for fields in zip(*(_lists(columns, f"text.{field}") for field in FIELDS), strict=True)]
    library, at = {}, 0
    for name, count in zip(names, columns["passages"].tolist(), strict=True):
        library[name] = texts[at : at + count]
        at += count
    parts = []
    for part in ("trained", "judged"):
        fields = [_lists(columns, f"{part}.{field}") for field in ("ids", "idf", "negatives", "right", "units")]
        asked = []
        for book, ids, idf, negatives, right, units in zip(columns[f"{part}.book"].tolist(), *fields, strict=True):
            positives: dict[int, list[int]] = {}
            for number, unit in zip(right, units, strict=True):
                positives.setdefault(number, []).append(unit)
            asked.append(Asked(names[book], ids, idf, positives, negatives))
        parts.append(asked)
    return library, parts[0], parts[1]


def _column(name: str, rows: Sequence[Sequence[float]], kind: Any) -> dict[str, Any]:  # noqa: ANN401 - a NumPy type
    """Lists of different lengths, one after another, and where each ends."""
    ends = np.cumsum([len(row) for row in rows], dtype=np.int64)
    return {name: np.array([value for row in rows for value in row], dtype=kind), f"{name}.ends": ends}


def _lists(columns: Mapping[str, Any], name: str) -> list[list[Any]]:
    ends = columns[f"{name}.ends"].tolist()
    return [columns[name][start:end].tolist() for start, end in zip([0, *ends], ends, strict=False)]
