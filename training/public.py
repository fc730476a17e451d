"""Public sets: questions with the passages that answer them, and pairs of sentences.

`public.toml` names repository, commit, path, licence and hash of each. Their text is never kept here: what is learned
from is made of the files on the machine that packs it.
"""

import csv
import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from training import sources
from training.examples import Book, Example, Passage, example
from training.sources import Missing

PUBLIC = sources.HERE / "public.toml"
PAIRS = "pairs"
"""Format of a set that holds no questions, but premises and hypotheses."""
LONGEST = 160
"""Words of a passage that a text is cut into, at sentence ends."""
_SENTENCE = re.compile(r"\S(?:.*?[.!?][\"')\]]*(?=\s)|.*$)", re.MULTILINE)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Page:
    """A text with its questions, each with the spans of characters that answer it, or none."""

    title: str
    text: str
    asked: list[tuple[str, list[Span]]]


def described() -> dict[str, dict[str, str]]:
    """The sets by name."""
    return tomllib.loads(PUBLIC.read_text(encoding="utf-8"))


def files(name: str, folder: Path) -> list[Path]:
    """The files of a set, in order.

    Args:
        name: Of the set.
        folder: Holds a folder of that name, with the files as in the repository.

    Raises:
        Missing: They are not there, or are others.
    """
    source = described()[name]
    path = folder / name / source["path"]
    found = sorted(item for item in path.rglob("*") if item.is_file()) if path.is_dir() else [path]
    remedy = (
        f"mkdir -p {folder / name} && git archive {source['commit']} {source['path']} | tar -x -C {folder / name}, "
        f"in a clone of https://github.com/{source['repository']}"
    )
    if not path.exists():
        raise Missing(f"There is no {path}: {remedy}.")
    hashes = "".join(hashlib.sha256(item.read_bytes()).hexdigest() for item in found)
    if hashlib.sha256(hashes.encode()).hexdigest() != source["sha256"]:
        raise Missing(f"{path} is another one than what was trained on: {remedy}.")
    return found


def pairs(folder: Path) -> Iterator[dict[str, Any]]:
    """Premise, hypothesis and label of all sets that hold such pairs; see `files`."""
    for name, source in described().items():
        if source["format"] == PAIRS:
            for path in files(name, folder):
                yield from sources.rows(path)


def questions(folder: Path, negatives: int) -> tuple[dict[str, Book], list[Example]]:
    """All other sets, as books and questions with that many lexical negatives; see `files`."""
    books: dict[str, Book] = {}
    asked: list[Example] = []
    for name, source in described().items():
        if source["format"] != PAIRS:
            book, found = shelved(name, READ[source["format"]](files(name, folder)), negatives)
            books[name] = book
            asked += found
    return books, asked


def shelved(name: str, pages: Iterator[Page], negatives: int) -> tuple[Book, list[Example]]:
    """A set as a book."""
    passages: list[Passage] = []
    posed: list[tuple[str, dict[int, list[int]], str]] = []
    for number, page in enumerate(pages):
        file = f"{number}"
        first = len(passages)
        passages += cut(file, page)
        for question, spans in page.asked:
            right: dict[int, list[int]] = {}
            for place in range(first, len(passages)):
                for unit, (*_, start, end) in enumerate(passages[place].units):
                    if any(start < last and end > begin for begin, last in spans):
                        right.setdefault(place, []).append(unit)
            if right or not spans:
                posed.append((question, right, file))
    book = Book(passages)
    return book, [example(book, name, question, right, file, most=negatives) for question, right, file in posed]


def cut(file: str, page: Page) -> Iterator[Passage]:
    """A text as passages of sentences; units count as those of `training.passages`."""
    held: list[Span] = []
    for span in [*sentences(page.text), (len(page.text), len(page.text))]:
        words = len(page.text[held[0][0] : span[1]].split()) if held else 0
        if held and (words > LONGEST or span[0] == span[1]):
            start, shift = held[0][0], len(page.title) + 1 - held[0][0]
            units = [(begin + shift, end + shift, "sentence", 0, begin, end) for begin, end in held]
            yield Passage(file, page.title, f"{page.title}\n{page.text[start : held[-1][1]]}", units)
            held = []
        held.append(span)


def sentences(text: str) -> Iterator[Span]:
    """Where the sentences of a text begin and end."""
    for found in _SENTENCE.finditer(text):
        yield found.span()


def squad(paths: Sequence[Path]) -> Iterator[Page]:
    """Files of the form of SQuAD."""
    for path in paths:
        for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in article["paragraphs"]:
                asked = []
                for row in paragraph["qas"]:
                    ends = [(a["answer_start"], a["answer_start"] + len(a["text"])) for a in row["answers"][:1]]
                    asked.append((row["question"].strip(), [] if row.get("is_impossible") else ends))
                yield Page(article.get("title", "").replace("_", " "), paragraph["context"], asked)


def clapnq(paths: Sequence[Path]) -> Iterator[Page]:
    """Files of CLAPNQ: one question on each passage, with the sentences that answer."""
    for path in paths:
        for row in sources.rows(path):
            passage = row["passages"][0]
            text = passage["text"]
            chosen = row["output"][0].get("selected_sentences") or []
            starts = [(text.find(sentence), len(sentence)) for sentence in chosen]
            spans = [(at, at + size) for at, size in starts if at >= 0]
            yield Page(passage["title"], text, [(row["input"], spans)] if spans or not chosen else [])


def fairytale(paths: Sequence[Path]) -> Iterator[Page]:
    """Files of FairytaleQA: stories by sections, and questions that name theirs.

    What is not answered in the section's own words is answered by all of it.
    """
    stories = {path.name.removesuffix("-story.csv"): path for path in paths if "section-stories" in path.parts}
    for path in (path for path in paths if path.name.endswith("-questions.csv")):
        title = path.name.removesuffix("-questions.csv")
        rows = _table(stories[title]) if title in stories else []
        sections = {row["section"]: " ".join(row["text"].split()) for row in rows}
        asked: dict[str, list[tuple[str, list[Span]]]] = {}
        for row in _table(path):
            text = sections.get(row["cor_section"], "")
            answer = row["answer1"].strip().rstrip(".")
            at = text.lower().find(answer.lower()) if answer else -1
            spans = [(at, at + len(answer))] if at >= 0 else [(0, len(text))]
            asked.setdefault(row["cor_section"], []).append((row["question"].strip(), spans))
        for section, text in sections.items():
            yield Page(title.replace("-", " "), text, asked.get(section, []))


def pubmed(paths: Sequence[Path]) -> Iterator[Page]:
    """Files of PubMedQA: the last part of each abstract that is given, its results, answers."""
    for path in paths:
        for row in json.loads(path.read_text(encoding="utf-8")).values():
            text = "\n".join(row["CONTEXTS"])
            yield Page("", text, [(row["QUESTION"], [(len(text) - len(row["CONTEXTS"][-1]), len(text))])])


def _table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


READ: dict[str, Callable[[Sequence[Path]], Iterator[Page]]] = {
    reader.__name__: reader for reader in (squad, clapnq, fairytale, pubmed)
}
