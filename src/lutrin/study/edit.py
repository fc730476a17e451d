"""Checks a companion against the book's files, and merges drafts into it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from lutrin.errors import EmptyCorpus, InvalidInput
from lutrin.ingest import companion_file
from lutrin.ingest.books import Book
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.configuration import is_small_file
from lutrin.ingest.discover import discover
from lutrin.ingest.documents import read_document
from lutrin.ingest.scan import SourceFile
from lutrin.prepared import THE_AUTHORS, Entry, PreparedEntry, key_of
from lutrin.records import Chunk, MergeSummary, Notice
from lutrin.study.literal import literal_problem

TARGET_TOKENS = 400
"""Sections and hashes do not depend on the length of passages."""
_WORD = re.compile(r"\S+")


@dataclass(slots=True)
class OpenedBook:
    """A book of a corpus with its files; only files that entries name are read."""

    book: Book
    files: Mapping[str, SourceFile]
    fitting: companion_file.Fitting = field(init=False)

    def __post_init__(self) -> None:
        self.fitting = companion_file.Fitting(self._read, list(self.files), literal_problem)

    def _read(self, name: str) -> tuple[str, Sequence[Chunk]] | None:
        document = read_document(self.files[name], self.book, lenient=True)
        return document.source, chunk_document(document, self.book.info, _words, TARGET_TOKENS, 0)


def _words(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _WORD.finditer(text)]


def open_books(corpus: Path, *, shelf: bool = False) -> list[OpenedBook]:
    """The books of a corpus.

    Raises:
        EmptyCorpus: There are none.
        InvalidInput, DocumentError: A `book.toml` cannot be read, or two books have one name.
    """
    if not corpus.exists():
        raise EmptyCorpus(f"There is no folder {corpus}.", remedy="Name the folder of the books with --corpus.")
    discovery = discover(corpus, shelf=shelf)
    if discovery.broken:
        raise InvalidInput("; ".join(discovery.broken.values()))
    return [OpenedBook(book, {file.name: file for file in files}) for book, files in discovery.books if files]


def check(corpus: Path, *, shelf: bool = False) -> tuple[int, list[Notice]]:
    """Count the entries beside the books of a corpus that fit, with a line for each that does not.

    Raises:
        LutrinError: As `open_books` and `read_document` raise it.
    """
    fitting, wrong = 0, []
    for opened in open_books(corpus, shelf=shelf):
        path = companion_file.companion_path(opened.book)
        for line in companion_file.read_lines(path) if path.is_file() else ():
            try:
                companion_file.fitted_line(line, opened.fitting)
            except companion_file.MisfitError as misfit:
                wrong.append(Notice(filename=_name(path), line=line.number, message=str(misfit)))
            else:
                fitting += 1
    return fitting, wrong


def companions(corpus: Path, *, shelf: bool = False) -> list[Path]:
    """The companions beside the books of a corpus; arguments and errors as for `open_books`."""
    paths = (companion_file.companion_path(opened.book) for opened in open_books(corpus, shelf=shelf))
    return [path for path in paths if is_small_file(path, companion_file.MAX_BYTES)]


def merge(corpus: Path, drafts: Sequence[Path], *, author: str = "", shelf: bool = False) -> MergeSummary:
    """Put entries into the companions of the books that have their files.

    Section, hash and exact quotes are filled in from the present book: the person who merges vouches for it. An entry
    of the same kind and topic replaces the existing one.

    Args:
        drafts: JSON lines; one may be a companion itself whose sections have changed.
        author: Author of entries without one, who thereby approves them; empty: the authors.

    Raises:
        InvalidInput: A draft cannot be read.
        LutrinError: As `check` raises it.
    """
    books = open_books(corpus, shelf=shelf)
    refused: list[Notice] = []
    entries: dict[Path, dict[tuple[str, ...], PreparedEntry]] = {}
    for draft in drafts:
        try:
            lines = companion_file.read_lines(draft)
        except OSError as error:
            raise InvalidInput(f"{draft} cannot be read: {error.strerror or error}.") from None
        for line in lines:
            try:
                # An entry without a file of any book goes to the first one, which then reports it.
                file = line.entry.file if line.entry is not None else ""
                opened = next((book for book in books if file in book.files), books[0])
                prepared = companion_file.fitted_line(line, opened.fitting, draft=True)
            except companion_file.MisfitError as misfit:
                refused.append(Notice(filename=draft.name, line=line.number, message=str(misfit)))
                continue
            if not prepared.entry.author:
                entry = msgspec.structs.replace(prepared.entry, author=author or THE_AUTHORS, state="approved")
                prepared = msgspec.structs.replace(prepared, entry=entry)
            entries.setdefault(companion_file.companion_path(opened.book), {})[key_of(prepared.entry)] = prepared
    written, added, replaced = {}, 0, 0
    for opened in books:
        path = companion_file.companion_path(opened.book)
        if path in entries:
            before = _standing(path, opened)
            replaced += len(entries[path].keys() & before.keys())
            added += len(entries[path].keys() - before.keys())
            together = {**before, **entries[path]}
            write_entries(
                path, (item.entry for item in companion_file.in_order(together.values(), opened.fitting.names))
            )
            written[path] = len(together)
    return MergeSummary(written=written, added=added, replaced=replaced, refused=tuple(refused))


def _standing(path: Path, opened: OpenedBook) -> dict[tuple[str, ...], PreparedEntry]:
    """The entries of a companion; those that no longer fit stay in it unchanged."""
    entries = {}
    for line in companion_file.read_lines(path) if path.is_file() else ():
        if line.entry is None:
            raise InvalidInput(
                f"{_name(path)}:{line.number}: {line.problem}.", remedy="Correct or remove the line first."
            )
        try:
            prepared = companion_file.fitted_line(line, opened.fitting)
        except companion_file.MisfitError:
            prepared = PreparedEntry(entry=line.entry, chunk_id="")
        entries[key_of(prepared.entry)] = prepared
    return entries


def write_entries(path: Path, entries: Iterable[Entry]) -> None:
    """Write a companion atomically, one entry on each line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = b"".join(entry.line() for entry in entries)
    unfinished = path.with_name(f".{path.name}.new")
    unfinished.write_bytes(text)
    unfinished.replace(path)


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"
