"""Reports of an ingest, while it runs and when it is done."""

from collections.abc import Callable, Sequence

import msgspec

from lutrin.records import LeftOut, Notice


class FolderReport(msgspec.Struct, frozen=True, kw_only=True):
    """All files of a folder, or one file of the book's own folder, have been read and cut."""

    name: str
    chunks: int
    """Files new to the index."""

    def line(self) -> str:
        """In the form of the contract: `Processing 03-chapter-3-architecture... 12 chunks created`."""
        return f"Processing {self.name}... {self.chunks} {'chunk' if self.chunks == 1 else 'chunks'} created"

    @staticmethod
    def name_in(line: str) -> str:
        """The name in such a line; empty for any other line."""
        first, _, rest = line.partition("... ")
        return first.removeprefix("Processing ") if rest and first.startswith("Processing ") else ""


class Advance(msgspec.Struct, frozen=True, kw_only=True):
    """Progress of one book's ingest; the numbers only grow, and totals may, too."""

    book: str
    files_done: int
    files_total: int
    chunks_embedded: int
    chunks_to_embed: int
    """Chunks of the files read so far."""


Progress = Callable[[FolderReport | Advance], None]


def silent(_: FolderReport | Advance) -> None:
    """Ignore progress."""


class BookReport(msgspec.Struct, frozen=True, kw_only=True):
    """A book that an ingest found."""

    slug: str
    title: str
    files: int
    make: str = ""
    """The program that its folder is laid out for: `mdBook`, `folder`, `one file`."""
    root: str = ""
    """Its folder, relative to the corpus."""


class IngestSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one ingest, over all its books."""

    processed: int = 0
    """Files read and cut in this run: new, changed, or all of them if the settings changed."""
    unchanged: int = 0
    updated: int = 0
    """Processed files that were in the index with other contents."""
    removed: int = 0
    """Indexed files that are gone from the folder."""
    failed: int = 0
    """Unreadable files; their indexed version stays."""
    chunks_created: int = 0
    chunks_reused: int = 0
    chunks_removed: int = 0
    texts_embedded: int = 0
    """Newly embedded passages, each text once."""
    prepared: int = 0
    """Entries of companions that fit their books."""
    set_aside: int = 0
    """Entries that do not fit; `notices` names each with its line."""
    seconds: float = 0.0
    published: tuple[str, ...] = ()
    """`slug generation` of each book that has a new index."""
    errors: tuple[str, ...] = ()
    """One line for each unreadable file."""
    notices: tuple[Notice, ...] = ()
    """Notices for the authors of files."""
    books: tuple[BookReport, ...] = ()
    """Every book, changed or not."""
    left_out: tuple[LeftOut, ...] = ()
    """Every file and folder that is in no book, with the reason, including unreadable ones."""

    def plus(self, other: "IngestSummary") -> "IngestSummary":
        """Add the figures of two books."""
        return IngestSummary(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    def found_lines(self) -> list[str]:
        """The books, then the files that belong to none, for an operator."""
        books = [
            f"  {book.slug}: {book.title} ({book.files} {'file' if book.files == 1 else 'files'}"
            f"{f', {book.make}' if book.make not in {'folder', 'one file'} else ''})"
            for book in self.books
        ]
        number = f"{len(books)} {'book' if len(books) == 1 else 'books'}"
        return ([f"Found {number}:", *books] if books else []) + left_out_lines(self.left_out)

    def trouble_lines(self) -> list[str]:
        """List notices for authors, then the unreadable files."""
        places: dict[str, list[str]] = {}
        for notice in self.notices:
            line = f":{notice.line}" if notice.line is not None else ""
            places.setdefault(notice.message, []).append(f"{notice.filename}{line}")
        notes = [f"Note: {_named(files)}: {message}" for message, files in places.items()]
        return notes + [f"Failed: {error}" for error in self.errors]


_NAMED = 8
"""Files with the same fault to name in a line."""


def _named(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[: _NAMED if more > 0 else None]) + (f" and {more} more" if more > 0 else "")


def left_out_lines(left_out: Sequence[LeftOut]) -> list[str]:
    """List the files left out: a line for each book and reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for item in left_out:
        groups.setdefault((item.book, item.reason), []).append(item.filename)
    lines = []
    for (book, reason), names in sorted(groups.items()):
        lines.append(f"  {f'{book}: ' if book else ''}{_named(names)}: {reason}")
    return [f"Left out {len(left_out)} (`--json` names each):", *lines] if lines else []
