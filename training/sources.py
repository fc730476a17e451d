"""The books of training, and the questions that were written on them, kept as places and never as text.

`books.toml` names repository and commit of each book; `questions/NAME.jsonl` holds one question a line. A span is the
offset, length and hash of a run of characters of the file, decoded as UTF-8 with its line ends as they are. Questions
without spans are *near*: natural to ask of that page, in its own words, and not answered by the book.
"""

import hashlib
import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DIGITS = 16
"""Hexadecimal digits of a SHA-256 that are kept of each span."""


class Missing(Exception):
    """Something that a step needs is not here; the message says how to get it."""


@dataclass(frozen=True, slots=True)
class Source:
    """A book as `books.toml` describes it."""

    name: str
    title: str
    repository: str
    commit: str
    folder: str
    """The part of the repository that is read; empty: all of it."""
    licence: str
    left_out: bool = False
    """Kept out of training, so that it can be judged by."""


@dataclass(frozen=True, slots=True)
class Written:
    """A written question."""

    id: str
    repository: str
    commit: str
    file: str
    question: str
    kind: str
    spans: tuple[tuple[int, int, str], ...]
    """Offset, length and hash of each run of characters that answers; none if `near`."""
    near: bool


def sources() -> dict[str, Source]:
    """The books by name."""
    described = tomllib.loads((HERE / "books.toml").read_text(encoding="utf-8"))
    return {name: Source(name, **values) for name, values in described.items()}


def rows(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def written(name: str) -> list[Written]:
    """The questions on a book."""
    return [
        Written(**{**row, "spans": tuple((start, length, sha) for start, length, sha in row["spans"])})
        for row in rows(HERE / "questions" / f"{name}.jsonl")
    ]


def checkout(books: Path, source: Source) -> Path:
    """The folder of a book.

    Raises:
        Missing: It is not there.
    """
    folder = books / source.name
    if not (folder / source.folder).is_dir():
        raise Missing(
            f"There is no {folder / source.folder}. Check {source.title} out: git clone "
            f"https://github.com/{source.repository} {folder} && git -C {folder} checkout {source.commit}"
        )
    return folder


def digest(text: str) -> str:
    """What is kept of the words of a span."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def places(question: Written, folder: Path) -> list[tuple[int, int]]:
    """Start and end, in characters of its file, of each span that answers a question.

    Args:
        question: Of a book.
        folder: Where that book is checked out.

    Raises:
        Missing: The file is not there, or is not the one that the question was written on.
    """
    if question.near:
        return []
    path = folder / question.file
    remedy = f"Check {question.repository} out at {question.commit} in {folder}, line ends as they are."
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise Missing(f"There is no {path}, which {question.id} was written on. {remedy}") from None
    found = [(start, start + length) for start, length, _ in question.spans]
    for (start, end), (_, _, sha) in zip(found, question.spans, strict=True):
        if digest(text[start:end]) != sha:
            raise Missing(f"{path} is not the text that {question.id} was written on. {remedy}")
    return found
