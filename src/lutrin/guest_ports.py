"""Guest ports: what the core hands to guests, one Protocol each. Values are plain, errors those of `lutrin.errors`.

| a guest gets | and implements it |
|---|---|
| `Study` and its `StudyBook`s | `lutrin.runtime.study_room`, `lutrin.study.workbook` |
| `Companions` | `lutrin.study.desk` |
| `Workplace` | `lutrin.cli.workplace` |
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from lutrin.ports import Generator
from lutrin.prepared import Decision, Entry, Kind, Practice, PreparedEntry
from lutrin.records import Chunk, MergeSummary, Notice, Passage, Unit
from lutrin.settings import Settings


class StudyBook(Protocol):
    """A book that is open for a study: what it says, and how a draft is checked against it.

    Each `async` method raises IndexUnavailable if the book cannot be read.
    """

    slug: str
    title: str
    path: Path
    """Where this machine keeps the entries that a study wrote; see `Settings.studied_path`."""

    @property
    def entries(self) -> Sequence[PreparedEntry]:
        """What is prepared for it."""

    @property
    def asked(self) -> Sequence[str]:
        """The questions that lead to these entries."""

    async def chunks(self) -> Sequence[Chunk]:
        """All passages, in the order of the book."""

    def key(self, question: str) -> str:
        """What is equal for questions of the same words."""

    def is_hostile(self, text: str) -> bool:
        """Whether a text gives orders to a model."""

    def evidence(self, chunk: Chunk) -> str:
        """A passage with its headings, as a model may be shown it."""

    async def nearest(self, question: str) -> Passage | None:
        """The passage that a search for a question finds first; None: the book does not answer it."""

    async def states(self, chunk: Chunk, text: str, topic: str) -> bool:
        """Whether a passage states every sentence of a text on a topic."""

    def may_be_own(self, chunk: Chunk, text: str, topic: str) -> bool:
        """Whether a text can be a model's own words: no number, name or command that the passage does not have."""

    async def draft(
        self, chunk: Chunk, proof: Unit, *, kind: Kind, topic: str, text: str | tuple[str, ...], author: str
    ) -> Entry:
        """An entry on the section of a passage as it is now, proved by one of its units."""

    async def fit(self, chunk: Chunk, entries: Sequence[Entry]) -> Sequence[PreparedEntry]:
        """Those of the entries on a passage's section that the next ingest will find to hold, with their places."""

    async def publication(self, entries: Sequence[PreparedEntry]) -> Callable[[], None]:
        """Encode the questions of entries; what is returned gives them to readers, and may block on a disk."""


class Study(Protocol):
    """The running parts of Lutrin for a study of books: while nobody asks, or by a command."""

    settings: Settings
    tier: str
    """Of the model: `small`, `large` and such."""

    @property
    def generator(self) -> Generator | None:
        """The model; None: there is none."""

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of entries that it writes well enough to be kept; none without a model."""

    async def start(self) -> None:
        """Load the model now; raises as `Generator.stream`."""

    def slugs(self) -> Sequence[str]:
        """The books on the shelf."""

    def open(self, slug: str) -> AbstractAsyncContextManager[StudyBook]:
        """Open a book, by its slug or the first one (empty); raises NotFound or IndexUnavailable."""

    async def interest(self, slug: str) -> Mapping[str, float]:
        """How often a book's passages were cited and its pages opened, by chunk id and file name."""

    async def practice(self, slug: str) -> Practice:
        """What a book has to practise with; raises as `open`."""


class Companions(Protocol):
    """The companions of the books on a shelf, as a teacher decides about them; slugs name the books.

    Each call raises NotFound if there is no such book, IndexUnavailable if it cannot be read.
    """

    def key(self, question: str) -> str:
        """What is equal for questions of the same words."""

    async def companion(self, slug: str) -> tuple[str, Sequence[PreparedEntry]]:
        """A book's title, and what is prepared for it, in its order."""

    async def decisions(self, slug: str) -> Mapping[str, Decision]:
        """What was decided about the entries of a book, by their ids."""

    async def quote(self, slug: str, proofs: Sequence[tuple[str, str]]) -> Entry:
        """An entry on the section of the first of some passages, with the words that prove it; its topic is missing.

        Args:
            proofs: Id of each passage, and its words that prove the entry; empty words: all of it.

        Raises:
            InvalidInput: None of the passages is in the book.
        """

    async def fit(self, slug: str, entry: Entry) -> PreparedEntry:
        """An entry with its places in the book; raises InvalidInput if nothing of the book proves it."""

    async def decide(self, slug: str, item: PreparedEntry, entry: Entry, *, is_own: bool, asked_anew: bool) -> None:
        """Let an entry take the place of a prepared one, for every later answer and page, on every server.

        Args:
            is_own: Whether more of it than its state is the teacher's.
            asked_anew: Whether other questions lead to it now.
        """

    async def withdraw(self, slug: str, name: str) -> None:
        """Return an entry to its companion's version, by its id; one that no companion has is removed."""


class Workplace(Protocol):
    """What commands of guests are given: the object of their context (`click.pass_obj`)."""

    def study(self, settings: Settings) -> AbstractAsyncContextManager[Study]:
        """Open all parts that a study needs, and close them at the end."""

    async def companion_entries(self, settings: Settings, book: str) -> Sequence[Entry]:
        """List the published companion of a book, by its slug; an empty slug means the first book."""

    def write_companion(self, path: Path, entries: Sequence[Entry]) -> None:
        """Write a companion atomically, one entry on each line."""

    def companions(self, corpus: Path, *, shelf: bool) -> Sequence[Path]:
        """The companions that lie beside the books of a corpus; raises LutrinError if it cannot be read."""

    def check_companions(self, corpus: Path, *, shelf: bool) -> tuple[int, Sequence[Notice]]:
        """Count the entries beside the books of a corpus that fit them, with a line for each that does not."""

    def merge_companions(self, corpus: Path, drafts: Sequence[Path], *, author: str, shelf: bool) -> MergeSummary:
        """Put the entries of drafts into the companions beside the books that have their files."""

    def approve_companions(self, paths: Collection[Path], settings: Settings) -> None:
        """Stand for companions as they are now, on this machine."""
