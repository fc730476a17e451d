"""What an ingest tells while it runs and when it is done."""

from collections.abc import Callable

import msgspec

from lutrin.records import Notice


class FolderDone(msgspec.Struct, frozen=True, kw_only=True):
    """All files of a folder, or one file of the book's own folder, have been read and cut."""

    name: str
    chunks: int

    def line(self) -> str:
        """As the contract prints it: `Processing 03-chapter-3-architecture... 12 chunks created`."""
        return f"Processing {self.name}... {self.chunks} chunks created"


class Advance(msgspec.Struct, frozen=True, kw_only=True):
    """How far the ingest of one book is; the numbers only grow, totals may too."""

    book: str
    files_done: int
    files_total: int
    chunks_embedded: int
    chunks_to_embed: int
    """Of the files that have been read so far."""


Progress = Callable[[FolderDone | Advance], None]


def silent(_: FolderDone | Advance) -> None:
    """Progress that nobody watches."""


class IngestSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one ingest, over all its books."""

    processed: int = 0
    """Files read and cut in this run: new, changed, or all of them if the settings changed."""
    unchanged: int = 0
    updated: int = 0
    """Of the processed ones, those that the index had in an earlier state."""
    removed: int = 0
    """Files that the index had and the folder has no more."""
    failed: int = 0
    """Files that could not be read; what the index had of them stays."""
    chunks_created: int = 0
    chunks_reused: int = 0
    chunks_removed: int = 0
    texts_embedded: int = 0
    """Passages that no earlier run had embedded, each text once."""
    seconds: float = 0.0
    published: tuple[str, ...] = ()
    """`slug generation` of each book that has a new index."""
    errors: tuple[str, ...] = ()
    """One line for each file that could not be read."""
    notices: tuple[Notice, ...] = ()
    """What the authors of files should know."""

    def plus(self, other: "IngestSummary") -> "IngestSummary":
        """The figures of two books together."""
        return IngestSummary(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})
