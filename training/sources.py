"""The books of training, and the questions that were written on them, kept as places and never as text.

`books.toml` names repository and commit of each book; `questions/NAME.jsonl` holds one question a line. A span is the
offset, length and hash of a run of characters of the file, decoded as UTF-8 with its line ends as they are. In a PDF or
EPUB it counts letters and digits alone of the extracted text, so that it outlives better extraction. Questions without
spans are *near*: natural to ask of that page, in its own words, and not answered by the book.
"""

import hashlib
import json
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
DIGITS = 16
"""Hexadecimal digits of a SHA-256 that are kept of each span."""
EXTRACTED = frozenset({".pdf", ".epub"})
"""Suffixes of files whose text is extracted; `training.passages` writes it beside them, in `TEXTS`."""
TEXTS = ".texts"
SHIFT = 4000
"""How many letters and digits a span of extracted text may have moved since it was written down."""


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
    make: str
    """What books that are written and read alike have in common: `openstax`, `mkdocs`, `pdf`."""
    package: str = ""
    """The one file of the book in the Debian package that `repository` and `commit` name; empty: a git repository."""
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


def chosen(names: Sequence[str], *, left_out: bool) -> list[Source]:
    """The books that are left out of training, or the others; of these only the named ones, if any name is given."""
    return [book for book in sources().values() if book.left_out == left_out and (not names or book.name in names)]


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
    if source.package:
        file = folder / Path(source.package).name
        if not file.exists():
            package = source.repository.rpartition("/")[2]
            raise Missing(
                f"There is no {file}: apt-get download {package}={source.commit} && mkdir -p {folder} && "
                f"dpkg --fsys-tarfile {package}_*.deb | tar -xO ./{source.package} > {file}"
            )
    elif not (folder / source.folder).is_dir():
        raise Missing(
            f"There is no {folder / source.folder}. Check {source.title} out: git clone "
            f"https://github.com/{source.repository} {folder} && git -C {folder} checkout {source.commit}"
        )
    return folder


def digest(text: str) -> str:
    """What is kept of the words of a span."""
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


@lru_cache(maxsize=1)
def letters(text: str) -> tuple[str, list[int]]:
    """Letters and digits of a text in lower case, ligatures resolved, with the place of each."""
    found = [
        (letter, place)
        for place, character in enumerate(text)
        for letter in unicodedata.normalize("NFKC", character).lower()
        if letter.isalnum()
    ]
    return "".join(letter for letter, _ in found), [place for _, place in found]


def text_path(folder: Path, name: str) -> Path:
    """Where the extracted text of a book's file lies."""
    return folder / TEXTS / f"{name}.txt"


def text_of(question: Written, folder: Path) -> str:
    """The text that the places of a question count in.

    Raises:
        Missing: The file is not there.
    """
    path = folder / question.file
    path = text_path(folder, question.file) if path.suffix in EXTRACTED else path
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        remedy = f"Check {question.repository} out at {question.commit} in {folder}, line ends as they are."
        remedy = "`python -m training prepare` writes it." if path.suffix == ".txt" else remedy
        raise Missing(f"There is no {path}, which {question.id} was written on. {remedy}") from None


def places(question: Written, folder: Path) -> list[tuple[int, int]]:
    """Start and end, in characters of its file, of each span that answers a question.

    Args:
        question: Of a book.
        folder: Where that book is checked out.

    Returns:
        None of what another extraction of a PDF or EPUB no longer reads.

    Raises:
        Missing: The file is not there, or is not the one that the question was written on.
    """
    if question.near:
        return []
    text = text_of(question, folder)
    if Path(question.file).suffix in EXTRACTED:
        plain, where = letters(text)
        spans = [(position(plain, span), span[1]) for span in question.spans]
        return [(where[start], where[start + length - 1] + 1) for start, length in spans if start >= 0]
    for start, length, sha in question.spans:
        if digest(text[start : start + length]) != sha:
            raise Missing(
                f"{folder / question.file} is not the text that {question.id} was written on. "
                f"Check {question.repository} out at {question.commit} in {folder}, line ends as they are."
            )
    return [(start, start + length) for start, length, _ in question.spans]


def position(plain: str, span: tuple[int, int, str]) -> int:
    """Where a span now begins, nearest to where it did; -1: it is gone."""
    start, length, sha = span
    around = (start + side * distance for distance in range(SHIFT + 1) for side in (1, -1))
    inside = (place for place in around if 0 <= place <= len(plain) - length)
    return next((place for place in inside if digest(plain[place : place + length]) == sha), -1)
