"""Guest ports: the core's interfaces for guests, one Protocol each. Values are plain, errors those of `lutrin.errors`.

| a guest gets | and implements it |
|---|---|
| `Study` and its `StudyBook`s | `lutrin.runtime.study_room`, `lutrin.study.workbook` |
| `Companions` | `lutrin.study.desk` |
| `Server` with `Library`, `Assignments` and `Door` | `lutrin.serve.guest_server` |
| `Visit` | `lutrin.serve.teacher_sign_in` |
| `Workplace` | `lutrin.cli.workplace` |
"""

from collections.abc import Callable, Collection, Coroutine, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from lutrin.prepared import Decision, Entry, Kind, Practice, PreparedEntry
from lutrin.records import (
    Answer,
    AskedQuestion,
    BookAct,
    BookRow,
    CardCount,
    Chunk,
    Job,
    LeftOut,
    MergeSummary,
    ModelRow,
    Notice,
    PageEntry,
    Passage,
    Question,
    ServerCounts,
    ServerLoad,
    ShelvedBook,
    StoredAssignment,
    Unit,
    Uploaded,
)
from lutrin.settings import Settings

if TYPE_CHECKING:
    from lutrin.ports import Generator  # loads NumPy, which no command waits for

T = TypeVar("T")


class StudyBook(Protocol):
    """A book opened for a study: its passages, and the checks of a draft.

    Each `async` method raises IndexUnavailable if the book cannot be read.
    """

    slug: str
    title: str
    path: Path
    """File of the entries that a study on this machine wrote; see `Settings.studied_path`."""

    @property
    def entries(self) -> Sequence[PreparedEntry]:
        """Its prepared entries."""

    @property
    def asked(self) -> Sequence[str]:
        """The questions that lead to these entries."""

    async def chunks(self) -> Sequence[Chunk]:
        """All passages, in the order of the book."""

    def key(self, question: str) -> str:
        """A key that is equal for questions with the same words."""

    def is_hostile(self, text: str) -> bool:
        """Whether a text gives orders to a model."""

    def evidence(self, chunk: Chunk) -> str:
        """A passage with its headings, in the form for a model."""

    async def nearest(self, question: str) -> Passage | None:
        """The first passage in a search for a question; None if the book does not answer it."""

    async def states(self, chunk: Chunk, text: str, topic: str) -> bool:
        """Whether a passage states every sentence of a text on a topic."""

    def may_be_own(self, chunk: Chunk, text: str, topic: str) -> bool:
        """Whether a text can be a model's own words: its numbers, names and commands are all in the passage."""

    async def draft(
        self, chunk: Chunk, proof: Unit, *, kind: Kind, topic: str, text: str | tuple[str, ...], author: str
    ) -> Entry:
        """An entry on the present section of a passage, proved by one of its units."""

    async def fit(self, chunk: Chunk, entries: Sequence[Entry]) -> Sequence[PreparedEntry]:
        """The entries on a passage's section that the next ingest will accept, with their places."""

    async def publication(self, entries: Sequence[PreparedEntry]) -> Callable[[], None]:
        """Encode the questions of entries; return a function that publishes them, which may block on a disk."""


class Study(Protocol):
    """The running parts of Lutrin for a study of books: while the server is idle, or by a command."""

    settings: Settings
    tier: str
    """Tier of the model: `small`, `large` and so on."""

    @property
    def generator(self) -> "Generator | None":
        """The model; None if there is none."""

    @property
    def kinds(self) -> Collection[str]:
        """The kinds of entries that it writes well enough to keep; none without a model."""

    async def start(self) -> None:
        """Load the model now; raises as `Generator.stream`."""

    def slugs(self) -> Sequence[str]:
        """The books on the shelf."""

    def open(self, slug: str) -> AbstractAsyncContextManager[StudyBook]:
        """Open a book, by its slug or the first one (empty); raises NotFound or IndexUnavailable."""

    async def interest(self, slug: str) -> Mapping[str, float]:
        """Counts of a book's cited passages and opened pages, by chunk id and file name."""

    async def practice(self, slug: str) -> Practice:
        """A book's practice material; raises as `open`."""


class Companions(Protocol):
    """The companions of the books on a shelf, for a teacher's decisions; slugs name the books.

    Each call raises NotFound if there is no such book, IndexUnavailable if it cannot be read.
    """

    def key(self, question: str) -> str:
        """A key that is equal for questions with the same words."""

    async def companion(self, slug: str) -> tuple[str, Sequence[PreparedEntry]]:
        """A book's title, and its prepared entries, in its order."""

    async def decisions(self, slug: str) -> Mapping[str, Decision]:
        """The decisions about a book's entries, by their ids."""

    async def quote(self, slug: str, proofs: Sequence[tuple[str, str]]) -> Entry:
        """An entry on the section of the first of some passages, with the words that prove it; without a topic.

        Args:
            proofs: Id of each passage, and its words that prove the entry; empty words: all of it.

        Raises:
            InvalidInput: None of the passages is in the book.
        """

    async def fit(self, slug: str, entry: Entry) -> PreparedEntry:
        """An entry with its places in the book; raises InvalidInput if nothing in the book proves it."""

    async def decide(self, slug: str, item: PreparedEntry, entry: Entry, *, is_own: bool, asked_anew: bool) -> None:
        """Replace a prepared entry in every later answer and page, on every server.

        Args:
            is_own: Whether more than its state is the teacher's.
            asked_anew: Whether its questions have changed.
        """

    async def withdraw(self, slug: str, name: str) -> None:
        """Restore an entry's version in the companion, by its id; remove an entry that is in no companion."""


class Library(Protocol):
    """The books on the shelf as readers see them; slugs name them.

    Each call raises NotFound if there is no such book, IndexUnavailable if it cannot be read.
    """

    async def refresh(self) -> None:
        """Apply changes at once."""

    async def books(self) -> Sequence[ShelvedBook]:
        """All books, in the order of the shelf."""

    async def book(self, slug: str) -> ShelvedBook:
        """One book."""

    async def contents(self, slug: str) -> Sequence[PageEntry]:
        """The pages of a book, in its order."""

    async def chapters(self, slug: str) -> Sequence[str]:
        """The chapters of a book, in its order."""

    async def practice(self, slug: str) -> Practice:
        """A book's practice material."""

    async def trial_questions(self, most: int, slug: str) -> Sequence[str]:
        """Questions that a book answers."""


class Assignments(Protocol):
    """The assignments of classes, and their results as counts alone.

    Each call raises ChatStoreError if they cannot be read or stored; methods that take an id raise NotFound.
    """

    async def add(self, id_: str, body: str) -> None:
        """Store a new assignment; `body` is JSON."""

    async def all(self) -> Sequence[StoredAssignment]:
        """Return all assignments, the newest first."""

    async def get(self, id_: str) -> StoredAssignment:
        """Return one assignment."""

    async def card_counts(self, id_: str) -> Mapping[str, CardCount]:
        """Return the counts of an assignment's answered cards, by card id."""

    async def count(
        self, id_: str, receipt: str, known: Mapping[str, bool], *, opened: bool = False, finished: bool = False
    ) -> bool:
        """Count results, with whether each card was known, by card id; False if this receipt was counted before.

        Raises:
            ChatStoreFull: It has too many results already.
        """

    async def forget(self, id_: str) -> None:
        """Delete an assignment and all its counts."""


class Door(Protocol):
    """Lets a class reach a server that otherwise only serves this machine."""

    @property
    def is_possible(self) -> bool:
        """Whether it can be opened."""

    @property
    def address(self) -> str:
        """The address for pupils while it is open; empty if it is shut."""

    async def open(self) -> None:
        """Open it to the network; raises InvalidInput if the machine has no network, or its port there is taken."""

    async def close(self) -> None:
        """Shut it and cut the connections that came through it."""

    async def follow(self) -> None:
        """Move an open door to the machine's present addresses."""


@runtime_checkable
class Server(Protocol):
    """A running server: handlers of guests ask for it by the name `server`."""

    @property
    def settings(self) -> Settings:
        """Its settings."""

    @property
    def library(self) -> Library:
        """The books on its shelf."""

    @property
    def assignments(self) -> Assignments:
        """The assignments of classes."""

    @property
    def companions(self) -> Companions | None:
        """The prepared entries of the books; None: there are no books to work on."""

    @property
    def door(self) -> Door:
        """The door for a class."""

    def now(self) -> datetime:
        """The time, in UTC."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> object:
        """Start a task that no connection owns; it ends with the server."""

    async def compute(self, work: Callable[[], T]) -> T:
        """Do work in a thread, so that it does not block others."""

    async def page(self, key: tuple[Hashable, ...], same: object, make: Callable[[], str]) -> str:
        """A page whose files have permanent names, built in a thread, once for a key and the object `same`."""

    async def answer(self, text: str, book: str) -> Answer:
        """The answer that a reader of a book would get now; it is not stored.

        Raises:
            InvalidQuestion: It is empty, or too long.
            LutrinError: There is no answer.
        """

    async def passages(self, question: Question) -> Sequence[Passage]:
        """The passages nearest to a question; none if nothing is relevant."""

    async def recent_questions(self, most: int) -> Sequence[AskedQuestion]:
        """The newest questions of readers, newest first, without their authors; raises ChatStoreError."""

    async def list_books(self) -> tuple[Sequence[BookRow], Sequence[LeftOut]]:
        """All books in the order of the shelf, removed ones last, and the files that belong to no book.

        Raises:
            IndexUnavailable: The catalogue cannot be read.
        """

    async def find_book(self, slug: str) -> BookRow:
        """One of them; raises NotFound."""

    async def change_book(self, slug: str, act: BookAct, *, title: str, line: str, hints: str) -> None:
        """Perform an action on a book; raises LutrinError if it is impossible."""

    def job(self) -> Job | None:
        """The present or last ingestion; None: there was none since the start."""

    def job_text(self) -> str:
        """The same in a sentence or two."""

    def can_read(self) -> bool:
        """Whether the server reads books at all."""

    async def read_books(self) -> None:
        """Read the books; raises IngestInProgress if they are being read, NotPermitted if none are read here."""

    async def read_books_later(self) -> None:
        """Read the books now, or after the present ingestion; raises NotPermitted if none are read here."""

    async def receive(self, request: Any, check: Callable[[Mapping[str, str]], None]) -> Uploaded:  # noqa: ANN401 - the framework's
        """Put a form's files into the corpus and read them, unless `check` refuses its text fields.

        Raises:
            NotPermitted: No books are read here.
            InvalidInput, AlreadyThere: The files are unusable, or there is such a book.
        """

    def counts(self) -> ServerCounts:
        """Its counts since the start."""

    def load(self) -> ServerLoad:
        """Its present load."""

    def models(self) -> Sequence[ModelRow]:
        """The known models; raises WeightsError if their manifest cannot be read."""

    def model(self) -> str:
        """Name of the language model that answers; empty: none."""

    async def model_ready(self) -> bool:
        """Whether it would answer now."""

    def stores(self) -> bool:
        """Whether conversations are stored at all."""

    def troubles(self) -> Sequence[str]:
        """Obstacles to storing, one sentence each."""


@runtime_checkable
class Visit(Protocol):
    """A request that may come from a signed-in teacher: handlers of guests ask for it by the name `visit`."""

    @property
    def signed_in(self) -> bool:
        """Whether its browser is signed in."""

    @property
    def form_key(self) -> str:
        """The key in this browser's forms."""

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of its address, by name."""

    @property
    def query_string(self) -> str:
        """The parameters of its address, unparsed."""

    @property
    def address(self) -> str:
        """The address at which other devices in the room reach the server; empty if they cannot."""

    @property
    def may_sign_in(self) -> bool:
        """Whether there is a token or a password."""

    @property
    def least_password(self) -> int:
        """Characters of the shortest allowed password."""

    @property
    def has_password(self) -> bool:
        """Whether a password was set in a browser, and so can be changed there."""

    def require(self) -> None:
        """Raise NotPermitted unless its browser is signed in."""

    def check(self, form_key: str) -> None:
        """Raise NotPermitted unless it is a form of this browser, which is still signed in."""

    async def pairs(self) -> list[tuple[str, str]]:
        """The fields of its form in order; raises MalformedRequest if there are more than on any page of ours."""

    async def fields(self) -> dict[str, str]:
        """The fields of its form by name; raises as `pairs`."""

    async def form(self) -> dict[str, str]:
        """The fields of a form from a signed-in browser's own page; raises as `check` and `pairs`."""

    async def enter(self, token: str) -> str:
        """Sign its browser in; return the value for the cookie.

        Raises:
            NotPermitted: The token or password differs, or none is set.
            RateLimited: Too many attempts.
        """

    async def set_up(self, code: str, password: str) -> str:
        """Set the first password, given the code of the terminal, and sign its browser in as `enter` does.

        Raises:
            NotPermitted: There is a password already, or the code differs.
            InvalidInput: The password is too short.
            RateLimited: Too many attempts.
        """

    async def change_password(self, old: str, new: str) -> None:
        """Set another password; raises NotPermitted, InvalidInput and RateLimited as `set_up`."""

    def leave(self) -> None:
        """Sign its browser out."""

    def cookie_for(self, value: str) -> dict[str, Any]:
        """The complete cookie for a value; an empty value deletes the browser's."""


class Workplace(Protocol):
    """The context object of guests' commands (`click.pass_obj`)."""

    def study(self, settings: Settings) -> AbstractAsyncContextManager[Study]:
        """Open all parts that a study needs, and close them at the end."""

    async def companion_entries(self, settings: Settings, book: str) -> Sequence[Entry]:
        """List the published companion of a book, by its slug; an empty slug means the first book."""

    def write_companion(self, path: Path, entries: Sequence[Entry]) -> None:
        """Write a companion atomically, one entry on each line."""

    def companions(self, corpus: Path, *, shelf: bool) -> Sequence[Path]:
        """The companions beside the books of a corpus; raises LutrinError if it cannot be read."""

    def check_companions(self, corpus: Path, *, shelf: bool) -> tuple[int, Sequence[Notice]]:
        """Count the entries beside the books of a corpus that fit, with a line for each that does not."""

    def merge_companions(self, corpus: Path, drafts: Sequence[Path], *, author: str, shelf: bool) -> MergeSummary:
        """Put the entries of drafts into the companions of the books that have their files."""

    def approve_companions(self, paths: Collection[Path], settings: Settings) -> None:
        """Vouch on this machine for companions in their present state."""
