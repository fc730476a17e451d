"""Questions with the places that answer them, as training examples over the passages of `training.passages`.

Two kinds of files are read. *Written* questions name a file and places in it, or none where the book does not answer.
Questions of our own books name files and key facts: the units of these files that hold a fact answer.
"""

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from training import sources
from training.sources import Missing, Source

ROOT = sources.HERE.parent
OWN = "own-"
"""Begins the name of a book of ours."""
SAMPLE = "physical-ai"
MINED = 12
"""Negatives of a question that are taken from what was mined, where training is slow."""
WORD = re.compile(r"[a-z0-9_]+")


@dataclass
class Passage:
    """One passage; `units` as `training.passages` writes them."""

    file: str
    head: str
    text: str
    units: list[tuple[int, int, str, int, int, int]]


@dataclass
class Example:
    """One question. `positives` maps a passage to those of its units that answer; empty: the book does not."""

    book: str
    question: str
    positives: dict[int, list[int]]
    negatives: list[int]
    idf: dict[str, float] = field(default_factory=dict)


class Book:
    """The passages of a book with a plain BM25 over them."""

    def __init__(self, passages: Iterable[Passage]) -> None:
        self.passages = list(passages)
        self.by_file: dict[str, list[int]] = {}
        self.postings: dict[str, list[tuple[int, int]]] = {}
        self.lengths = []
        for number, passage in enumerate(self.passages):
            self.by_file.setdefault(passage.file, []).append(number)
            counts = Counter(WORD.findall(passage.text.lower()))
            self.lengths.append(sum(counts.values()))
            for word, count in counts.items():
                self.postings.setdefault(word, []).append((number, count))
        self.mean = sum(self.lengths) / max(1, len(self.lengths))

    @classmethod
    def read(cls, path: Path) -> "Book":
        """A file that `training.passages` wrote."""
        return cls(Passage(**row) for row in sources.rows(path))

    def idf(self, word: str) -> float:
        """1 + log((N + 1) / (n + 1)): what `search` calls the rarity of a word."""
        return 1 + math.log((len(self.passages) + 1) / (len(self.postings.get(word, ())) + 1))

    def bm25(self, text: str, k: int) -> list[int]:
        """The passages that match best by words, best first (k1 = 1.2, b = 0.75)."""
        scores: dict[int, float] = {}
        for word in sorted(set(WORD.findall(text.lower()))):
            found = self.postings.get(word, ())
            weight = math.log(1 + (len(self.passages) - len(found) + 0.5) / (len(found) + 0.5))
            for number, count in found:
                norm = 1.2 * (0.25 + 0.75 * self.lengths[number] / self.mean)
                scores[number] = scores.get(number, 0.0) + weight * count * 2.2 / (count + norm)
        return sorted(scores, key=scores.__getitem__, reverse=True)[:k]


def normal(text: str) -> str:
    """Lower case, plain dashes and quotes, no code marks, single blanks: facts are compared in this form."""
    for old, new in (("\u2011", "-"), ("\u2013", "-"), ("\u2014", "-"), ("\u2019", "'"), ("`", ""), ("*", "")):
        text = text.replace(old, new)
    return re.sub(r"\s+", " ", text.lower())


def example(
    book: Book, name: str, question: str, positives: dict[int, list[int]], near_file: str, *, most: int = 16
) -> Example:
    """An example with hard negatives: the `most` that match by words, and neighbours in the files that answer."""
    near = [book.by_file[near_file]] if near_file in book.by_file else []
    around = [book.by_file[book.passages[number].file] for number in positives]
    found = book.bm25(question, most + 8)
    rng = random.Random(question)
    beside = [number for numbers in (*near, *around) for number in numbers]
    rng.shuffle(beside)
    negatives = [number for number in dict.fromkeys([*found[:most], *beside[:8]]) if number not in positives]
    words = set(WORD.findall(question.lower()))
    return Example(name, question, positives, negatives, {word: book.idf(word) for word in words})


def written(book: Book, source: Source, folder: Path) -> list[Example]:
    """The written questions on a book; those whose places are on no page that is read are left out.

    Args:
        book: Its passages.
        source: Where it is from.
        folder: Where it is checked out.

    Raises:
        Missing: A page is not there, or another than the questions were written on.
    """
    found = []
    for question in sources.written(source.name):
        positives: dict[int, list[int]] = {}
        for start, end in sources.places(question, folder):
            for number in book.by_file.get(question.file, ()):
                units = [
                    place
                    for place, unit in enumerate(book.passages[number].units)
                    if min(end, unit[5]) - max(start, unit[4]) > min(12, (unit[5] - unit[4]) // 2)
                ]
                if units:
                    positives.setdefault(number, []).extend(units)
        if positives or question.near:
            found.append(example(book, source.name, question.question, positives, question.file))
    return found


def own(path: Path, books: Mapping[str, Book]) -> list[Example]:
    """Questions of our own books, labelled by key facts in the expected files."""
    found = []
    for row in sources.rows(path):
        if row.get("selected_text") or row.get("previous_question"):
            continue
        if row["kind"] == "near" and not row.get("expected_files"):
            name = f"{OWN}{path.stem}" if path.parent.parent.name == "questions" else f"{OWN}{SAMPLE}"
            if name in books:
                found.append(example(books[name], name, row["question"], {}, ""))
        elif row.get("expected_files") and row.get("key_facts"):
            name = OWN + row["expected_files"][0].partition("/")[0]
            positives = holding(books[name], row) if name in books else {}
            if positives:
                found.append(example(books[name], name, row["question"], positives, ""))
    return found


def holding(book: Book, row: Mapping[str, Any]) -> dict[int, list[int]]:
    """The units, by passage, that hold a key fact of a question in one of its expected files."""
    facts = [normal(fact) for fact in row["key_facts"]]
    positives = {}
    for file in dict.fromkeys(name.partition("/")[2] for name in row["expected_files"]):
        for number in book.by_file.get(file, ()):
            passage = book.passages[number]
            units = [
                place
                for place, unit in enumerate(passage.units)
                if any(fact in normal(passage.text[unit[0] : unit[1]]) for fact in facts)
            ]
            if units:
                positives[number] = units
    return positives


def load(checkouts: Path, passages: Path, names: Sequence[str] = ()) -> tuple[dict[str, Book], list[Example]]:
    """All training books with their questions.

    Args:
        checkouts: Folder with a checkout of each book of `books.toml`.
        passages: What `prepare` wrote.
        names: Of the books of `books.toml` only these; none: all.

    Raises:
        Missing: A checkout or a file of passages is not there.
    """
    described = {source.name: source for source in sources.chosen(names, left_out=False)}
    paths = [passages / f"{name}.jsonl" for name in (*described, *own_books(names))]
    for path in paths:
        if not path.exists():
            raise Missing(f"There is no {path}: run `python -m training prepare` first.")
    books = {path.stem: Book.read(path) for path in paths}
    found = []
    for name, source in described.items():
        found += written(books[name], source, sources.checkout(checkouts, source))
    for path in own_questions():
        found += own(path, books)
    return books, found


def with_mined(examples: Sequence[Example], path: Path, most: int = MINED) -> list[Example]:
    """The examples with at most that many negatives of `training.mine`."""
    mined = {(row["book"], row["question"]): row["negatives"][:most] for row in sources.rows(path)}
    return [replace(item, negatives=mined.get((item.book, item.question)) or item.negatives) for item in examples]


def own_questions() -> list[Path]:
    """The question files of our own books."""
    shelves = sorted((ROOT / "bench" / "questions").glob("*/*.jsonl"))
    return [*shelves, *(ROOT / "corpus" / "questions" / f"{name}.jsonl" for name in ("in_book", "out_of_book"))]


def own_books(names: Sequence[str] = ()) -> dict[str, Path]:
    """The folders of our own books, by the names of their passages; only those named, if any of ours is."""
    described = [*ROOT.glob("bench/books/*/*/book.toml"), *ROOT.glob("corpus/*/book.toml")]
    wanted = {name for name in names if name.startswith(OWN)}
    books = {OWN + path.parent.name: path.parent for path in sorted(described)}
    return {name: folder for name, folder in books.items() if not wanted or name in wanted}
