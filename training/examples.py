"""Questions with the places that answer them, as training examples over the passages of `training.passages`.

Two kinds of files are read. *Written* questions name a file and exact words of it, or nothing where the book does not
answer. Questions of our own books name files and key facts: the units of these files that hold a fact answer.
"""

import json
import math
import random
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

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

    def __init__(self, path: Path) -> None:
        self.passages = [Passage(**json.loads(line)) for line in path.open(encoding="utf-8")]
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

    def idf(self, word: str) -> float:
        """1 + log((N + 1) / (n + 1)): what `search` calls the rarity of a word."""
        return 1 + math.log((len(self.passages) + 1) / (len(self.postings.get(word, ())) + 1))

    def bm25(self, text: str, k: int) -> list[int]:
        """The passages that match best by words, best first (k1 = 1.2, b = 0.75)."""
        scores: Counter[int] = Counter()
        for word in set(WORD.findall(text.lower())):
            found = self.postings.get(word, ())
            weight = math.log(1 + (len(self.passages) - len(found) + 0.5) / (len(found) + 0.5))
            for number, count in found:
                norm = 1.2 * (0.25 + 0.75 * self.lengths[number] / self.mean)
                scores[number] += weight * count * 2.2 / (count + norm)  # type: ignore[assignment]
        return [number for number, _ in scores.most_common(k)]


def normal(text: str) -> str:
    """Lower case, plain dashes and quotes, no code marks, single blanks: facts are compared in this form."""
    for old, new in (("\u2011", "-"), ("\u2013", "-"), ("\u2014", "-"), ("\u2019", "'"), ("`", ""), ("*", "")):
        text = text.replace(old, new)
    return re.sub(r"\s+", " ", text.lower())


def example(book: Book, name: str, question: str, positives: dict[int, list[int]], near_file: str) -> Example:
    """An example with hard negatives: what matches by words, and neighbours in the files that answer."""
    near = [book.by_file[near_file]] if near_file in book.by_file else []
    around = [book.by_file[book.passages[number].file] for number in positives]
    found = book.bm25(question, 24)
    rng = random.Random(question)
    beside = [number for numbers in (*near, *around) for number in numbers]
    rng.shuffle(beside)
    negatives = [number for number in dict.fromkeys([*found[:16], *beside[:8]]) if number not in positives]
    words = set(WORD.findall(question.lower()))
    return Example(name, question, positives, negatives, {word: book.idf(word) for word in words})


def written(path: Path, books: dict[str, Book], roots: Path) -> list[Example]:
    """Written questions; those whose words cannot be found among the passages are left out."""
    found, texts = [], {}
    for line in path.open(encoding="utf-8"):
        row = json.loads(line)
        book, positives = books[row["book"]], {}
        quotes = [] if row.get("near") else row["quote"] if isinstance(row["quote"], list) else [row["quote"]]
        for quote in quotes:
            key = roots / row["book"] / row["file"]
            if key not in texts:
                texts[key] = key.read_text(encoding="utf-8")
            start = texts[key].find(quote)
            end = start + len(quote)
            for number in book.by_file.get(row["file"], ()):
                units = [
                    place
                    for place, unit in enumerate(book.passages[number].units)
                    if min(end, unit[5]) - max(start, unit[4]) > min(12, (unit[5] - unit[4]) // 2)
                ]
                if units:
                    positives.setdefault(number, []).extend(units)
        if positives or row.get("near"):
            found.append(example(book, row["book"], row["q"], positives, row.get("file", "")))
    return found


def own(path: Path, books: dict[str, Book], near_kinds: frozenset[str] = frozenset({"near"})) -> list[Example]:
    """Questions of our own books, labelled by key facts in the expected files."""
    found = []
    for line in path.open(encoding="utf-8"):
        row = json.loads(line)
        if row.get("selected_text") or row.get("previous_question"):
            continue
        if row["kind"] in near_kinds and not row.get("expected_files"):
            name = path.stem if f"own-{path.stem}" in books else "physical-ai"
            found.append(example(books[f"own-{name}"], f"own-{name}", row["question"], {}, ""))
            continue
        if not row.get("expected_files") or not row.get("key_facts"):
            continue
        name, _, _ = row["expected_files"][0].partition("/")
        book, positives = books.get(f"own-{name}"), {}
        if book is None:
            continue
        facts = [normal(fact) for fact in row["key_facts"]]
        files = {file.partition("/")[2] for file in row["expected_files"]}
        for file in files:
            for number in book.by_file.get(file, ()):
                passage = book.passages[number]
                units = [
                    place
                    for place, unit in enumerate(passage.units)
                    if any(fact in normal(passage.text[unit[0] : unit[1]]) for fact in facts)
                ]
                if units:
                    positives[number] = units
        if positives:
            found.append(example(book, f"own-{name}", row["question"], positives, ""))
    return found
