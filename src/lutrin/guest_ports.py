"""Guest ports: what the core hands to guests, one Protocol each. Values are plain, errors those of `lutrin.errors`.

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
    """The running parts of Lutrin for a study of books: while the server is idle, or by a command."""

    settings: Settings
    tier: str
    """Of the model: `small`, `large` and such."""

    @property
    def generator(self) -> "Generator | None":
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


class Library(Protocol):
    """The books on the shelf as readers see them; slugs name them.

    Each call raises NotFound if there is no such book, IndexUnavailable if it cannot be read.
    """

    async def refresh(self) -> None:
        """Look at once for what has changed."""

    async def books(self) -> Sequence[ShelvedBook]:
        """All books, in the order of the shelf."""

    async def book(self, slug: str) -> ShelvedBook:
        """One book."""

    async def contents(self, slug: str) -> Sequence[PageEntry]:
        """The pages of a book, in its order."""

    async def chapters(self, slug: str) -> Sequence[str]:
        """The chapters of a book, in its order."""

    async def practice(self, slug: str) -> Practice:
        """What a book has to practise with."""

    async def trial_questions(self, most: int, slug: str) -> Sequence[str]:
        """Questions that a book answers."""


class Assignments(Protocol):
    """What classes were given to do, and how it went: counts alone.

    Each call raises ChatStoreError if they cannot be read or stored; what takes an id raises NotFound.
    """

    async def add(self, id_: str, body: str) -> None:
        """Keep a new assignment; `body` is JSON."""

    async def all(self) -> Sequence[StoredAssignment]:
        """Return all assignments, the newest first."""

    async def get(self, id_: str) -> StoredAssignment:
        """Return one assignment."""

    async def card_counts(self, id_: str) -> Mapping[str, CardCount]:
        """Return the counts of an assignment's cards that were answered, by card id."""

    async def count(
        self, id_: str, receipt: str, known: Mapping[str, bool], *, opened: bool = False, finished: bool = False
    ) -> bool:
        """Count results, by card id whether it was known; False: this receipt was counted before.

        Raises:
            ChatStoreFull: It has taken in too many results.
        """

    async def forget(self, id_: str) -> None:
        """Delete an assignment and everything that was counted."""


class Door(Protocol):
    """Lets a class reach a server that otherwise only this machine reaches."""

    @property
    def is_possible(self) -> bool:
        """Whether it can be opened."""

    @property
    def address(self) -> str:
        """What pupils type while it is open; empty: it is shut."""

    async def open(self) -> None:
        """Let the network in; raises InvalidInput if the machine is in no network, or its port there is taken."""

    async def close(self) -> None:
        """Shut it and cut the connections that came through it."""

    async def follow(self) -> None:
        """Move an open door to the addresses that the machine has now."""


@runtime_checkable
class Server(Protocol):
    """A running server: handlers of guests ask for it by the name `server`."""

    @property
    def settings(self) -> Settings:
        """What it was started with."""

    @property
    def library(self) -> Library:
        """The books on its shelf."""

    @property
    def assignments(self) -> Assignments:
        """What classes were given to do."""

    @property
    def companions(self) -> Companions | None:
        """What is prepared for the books; None: there are no books to work on."""

    @property
    def door(self) -> Door:
        """What lets a class in."""

    def now(self) -> datetime:
        """The time, in UTC."""

    def spawn(self, work: Coroutine[Any, Any, None]) -> object:
        """Start a task that no connection owns; it ends with the server."""

    async def compute(self, work: Callable[[], T]) -> T:
        """Do work in a thread, so that it does not hold others up."""

    async def page(self, key: tuple[Hashable, ...], same: object, make: Callable[[], str]) -> str:
        """A page whose files have names for ever, made in a thread, once for a key and the very object `same`."""

    async def answer(self, text: str, book: str) -> Answer:
        """The answer that a reader of a book would get now; nothing of it is stored.

        Raises:
            InvalidQuestion: It asks nothing, or is too long.
            LutrinError: There is no answer.
        """

    async def passages(self, question: Question) -> Sequence[Passage]:
        """The passages nearest to a question; none if nothing is relevant."""

    async def recent_questions(self, most: int) -> Sequence[AskedQuestion]:
        """The newest questions of readers, newest first, without their authors; raises ChatStoreError."""

    async def list_books(self) -> tuple[Sequence[BookRow], Sequence[LeftOut]]:
        """All books in the order of the shelf, removed ones last, and the files that belong to none of them.

        Raises:
            IndexUnavailable: The catalogue cannot be read.
        """

    async def find_book(self, slug: str) -> BookRow:
        """One of them; raises NotFound."""

    async def change_book(self, slug: str, act: BookAct, *, title: str, line: str, hints: str) -> None:
        """Do something with a book; raises LutrinError if it cannot be done."""

    def job(self) -> Job | None:
        """How the books are being read, or were read last; None: not since the start."""

    def job_text(self) -> str:
        """The same in a sentence or two."""

    def can_read(self) -> bool:
        """Whether the server reads books at all."""

    async def read_books(self) -> None:
        """Read the books; raises IngestInProgress if they are being read, NotPermitted if none are read here."""

    async def read_books_later(self) -> None:
        """Read the books now, or when they have been read; raises NotPermitted if none are read here."""

    async def receive(self, request: Any, check: Callable[[Mapping[str, str]], None]) -> Uploaded:  # noqa: ANN401 - the framework's
        """Put the files of a form into the corpus, unless `check` refuses its fields of text, and read them.

        Raises:
            NotPermitted: No books are read here.
            InvalidInput, AlreadyThere: Nothing can be made of the files, or there is such a book.
        """

    def counts(self) -> ServerCounts:
        """What it has done since it started."""

    def load(self) -> ServerLoad:
        """What it is doing now."""

    def models(self) -> Sequence[ModelRow]:
        """The models that are known; raises WeightsError if their manifest cannot be read."""

    def model(self) -> str:
        """Name of the language model that answers; empty: none."""

    async def model_ready(self) -> bool:
        """Whether it would answer now."""

    def stores(self) -> bool:
        """Whether conversations are stored at all."""

    def troubles(self) -> Sequence[str]:
        """What is in the way of storing, a sentence each."""


@runtime_checkable
class Visit(Protocol):
    """A request that may come from a signed-in teacher: handlers of guests ask for it by the name `visit`."""

    @property
    def signed_in(self) -> bool:
        """Whether its browser is signed in."""

    @property
    def form_key(self) -> str:
        """The key that this browser's forms carry."""

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of its address, by name."""

    @property
    def query_string(self) -> str:
        """The same as they stand there."""

    @property
    def address(self) -> str:
        """The address at which other devices in the room reach the server; empty: they do not."""

    @property
    def may_sign_in(self) -> bool:
        """Whether there is a token or a password."""

    @property
    def least_password(self) -> int:
        """Characters of the shortest password that may be set."""

    @property
    def has_password(self) -> bool:
        """Whether a password was set in a browser, and so can be changed there."""

    def require(self) -> None:
        """Raise NotPermitted unless its browser is signed in."""

    def check(self, form_key: str) -> None:
        """Raise NotPermitted unless it is a form of this browser, which is still signed in."""

    async def pairs(self) -> list[tuple[str, str]]:
        """The fields of its form in order; raises MalformedRequest if there are more than any page of ours sends."""

    async def fields(self) -> dict[str, str]:
        """The fields of its form by name; raises as `pairs`."""

    async def form(self) -> dict[str, str]:
        """The fields of a form that a signed-in browser has sent from our own page; raises as `check` and `pairs`."""

    async def enter(self, token: str) -> str:
        """Sign its browser in; return the value for the cookie.

        Raises:
            NotPermitted: It is another token or password, or none is set.
            RateLimited: Too many attempts.
        """

    async def set_up(self, code: str, password: str) -> str:
        """Set the first password, given the code of the terminal, and sign its browser in as `enter` does.

        Raises:
            NotPermitted: There is a password already, or it is another code.
            InvalidInput: The password is too short.
            RateLimited: Too many attempts.
        """

    async def change_password(self, old: str, new: str) -> None:
        """Set another password; raises NotPermitted, InvalidInput and RateLimited as `set_up`."""

    def leave(self) -> None:
        """Sign its browser out."""

    def cookie_for(self, value: str) -> dict[str, Any]:
        """All of the cookie that holds a value; an empty value takes the browser's away."""


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
