"""The catalogue: which generation of which book is published, from which files, and every embedding ever computed.

It is the one database that ingest and servers share. Ingest writes it, and publishing is one transaction. A server
writes only its teacher's decisions about prepared entries, which outlive every generation, and the entries that its
model writes in between.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, Self

import msgspec

from lutrin import sqlite
from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index import statements
from lutrin.records import BookChoice, BookInfo, LeftOut

MIGRATIONS = (
    (
        "ALTER TABLE book ADD COLUMN root TEXT NOT NULL DEFAULT ''",
        """CREATE TABLE left_out (corpus TEXT NOT NULL, slug TEXT NOT NULL, filename TEXT NOT NULL,
            reason TEXT NOT NULL, PRIMARY KEY (corpus, slug, filename)) WITHOUT ROWID""",
    ),
    (
        """CREATE TABLE decision (slug TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, embedder TEXT NOT NULL,
            spoken BLOB NOT NULL, decided TEXT NOT NULL, PRIMARY KEY (slug, id))""",
        "CREATE TABLE decisions (revision INTEGER NOT NULL)",
        statements.FIRST_REVISION,
    ),
    (
        """CREATE TABLE studied (slug TEXT NOT NULL, id TEXT NOT NULL, record TEXT NOT NULL, embedder TEXT NOT NULL,
            spoken BLOB NOT NULL, written TEXT NOT NULL, PRIMARY KEY (slug, id))""",
    ),
    ("CREATE TABLE choice (slug TEXT NOT NULL PRIMARY KEY, record TEXT NOT NULL, place FLOAT) WITHOUT ROWID",),
)
"""Migration n leads from version n to n + 1; a new catalogue gets the tables of `definitions.py`."""
TABLES = frozenset("book choice decision decisions embedding file generation left_out studied".split())
PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
"""Slugs of books and names of generations: each names a folder, and deleting one must not lead elsewhere."""
SCHEMA_VERSION = 1 + len(MIGRATIONS)


class FileState(msgspec.Struct, frozen=True):
    """A source file at its last ingest."""

    filename: str
    size: int
    changed_ns: int
    """Time of the last change of its content or directory entry; 0 if so recent that another change might not show."""
    sha256: str


class PublishedBook(msgspec.Struct, frozen=True):
    """A book and its generations, in the order of `statements.BOOKS`."""

    info: BookInfo
    corpus: str
    """The folder that it was ingested from, absolute."""
    recipe: str
    """Fingerprint of the settings and book data that determined its chunks."""
    current: str
    previous: str | None
    manifest_sha256: str
    """Hash of the current generation's manifest, which holds the hashes of all its files."""
    root: str = ""
    """The book's own folder within the corpus, absolute; empty if unknown."""
    choice: BookChoice = BookChoice()

    @property
    def title(self) -> str:
        """The title that readers see."""
        return self.choice.title or self.info.title


def published_book(row: Sequence[Any]) -> PublishedBook:
    """The book of a row of `statements.BOOKS`."""
    info, corpus, recipe, current, previous, digest, root, choice = row
    chosen = msgspec.json.decode(choice, type=BookChoice)
    decoded = msgspec.json.decode(info, type=BookInfo)
    book = PublishedBook(decoded, corpus, recipe, current, previous, digest, root, chosen)
    check_names(book.info.slug, book.current, *([book.previous] if book.previous is not None else []))
    return book


def check_names(*names: str) -> None:
    """Refuse slugs and names of generations that are not plain names.

    Raises:
        IndexUnavailable: One of them has another form, such as a path.
    """
    for name in names:
        if not PLAIN_NAME.fullmatch(name):
            raise IndexUnavailable(
                f"The catalogue names {name[:200]!r}, which is not a valid name of a book or an index.",
                remedy="It has been tampered with. Restore your own backup, or move catalog.db away and ingest again.",
            )


class Catalog:
    """Access to `catalog.db`, created with its tables if missing; only one thread may use an object at a time.

    Raises:
        IndexUnavailable: The file is not a catalogue of this program.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self.connection = sqlite.connect(path)
            try:
                self._migrate()
            except BaseException:
                self.connection.close()
                raise
        except sqlite.DatabaseError as error:
            raise IndexUnavailable(f"The catalogue {path} cannot be opened: {error}") from error

    def _migrate(self) -> None:
        (version,) = self.connection.execute("PRAGMA user_version").fetchone()
        if version == SCHEMA_VERSION:
            return
        if version > SCHEMA_VERSION:
            raise IndexUnavailable(f"The catalogue has version {version}, this program knows {SCHEMA_VERSION}.")
        with self.transaction():
            # Another process may have made the tables while this one waited for the write lock.
            (version,) = self.connection.execute("PRAGMA user_version").fetchone()
            for statement in chain.from_iterable(MIGRATIONS[version - 1 :]) if version else _new_tables():
                self.connection.execute(statement)
            self.connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit all of the block or none of it; takes the write lock at once."""
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:  # SQLite itself rolls back when the disk is full
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")

    def books(self) -> list[PublishedBook]:
        """All published books in the order of the shelf, hidden and removed ones too."""
        return [published_book(row) for row in self.connection.execute(statements.BOOKS)]

    def book(self, slug: str) -> PublishedBook | None:
        """One published book, or None."""
        return next((book for book in self.books() if book.info.slug == slug), None)

    def files(self, slug: str) -> dict[str, FileState]:
        """The files of a book's current generation, by name."""
        rows = self.connection.execute(statements.FILES, {"slug": slug})
        return {row[0]: FileState(*row) for row in rows}

    def touch(self, slug: str, states: Iterable[FileState]) -> None:
        """Store new times of files whose content is unchanged."""
        rows = [{"slug": slug} | msgspec.structs.asdict(state) for state in states]
        with self.transaction():
            self.connection.executemany(statements.TOUCH_FILE, rows)

    def next_number(self) -> int:
        """The next generation's number; numbers are never reused."""
        row = self.connection.execute(statements.LAST_NUMBER).fetchone()
        return int(row[0]) + 1 if row else 1

    def publish(self, book: PublishedBook, *, published: str, files: Sequence[FileState]) -> None:
        """Make a generation its book's current one; the current one becomes the previous one.

        Args:
            book: `current` is the new generation; `previous` is ignored.
            published: When reading of its files began, ISO 8601, UTC. It contains what a study had written by then.
            files: The files that it was made from.
        """
        slug = book.info.slug
        with self.transaction():
            old = self.book(slug)
            info = msgspec.json.encode(book.info).decode()
            values = msgspec.structs.asdict(book) | {"slug": slug, "info": info, "previous": old and old.current}
            values |= {"name": book.current, "published": published}
            self.connection.execute(statements.ADD_GENERATION, values)
            self.connection.execute(statements.PUT_BOOK, values)
            # In SQL nothing equals NULL.
            stays = old.current if old else book.current
            self.connection.execute(statements.RETIRE_OTHERS, values | {"previous": stays})
            self.connection.execute(statements.FORGET_FILES, values)
            rows = [{"slug": slug} | msgspec.structs.asdict(state) for state in files]
            self.connection.executemany(statements.ADD_FILE, rows)
            self.connection.execute(statements.FORGET_STUDIED, values)

    def keep_left_out(self, corpus: str, left_out: Iterable[LeftOut]) -> None:
        """Store the files left out by the newest ingest of a folder, replacing an earlier list."""
        rows = [{"corpus": corpus, "slug": item.book, **msgspec.structs.asdict(item)} for item in left_out]
        with self.transaction():
            self.connection.execute(statements.FORGET_LEFT_OUT, {"corpus": corpus})
            self.connection.executemany(statements.PUT_LEFT_OUT, rows)

    def left_out(self) -> list[LeftOut]:
        """List the files left out of all ingested folders, by book and name."""
        return [LeftOut(*row) for row in self.connection.execute(statements.LEFT_OUT)]

    def choices(self) -> dict[str, BookChoice]:
        """The teacher's choices for books, by their slugs, in the order of the shelf."""
        rows = self.connection.execute(statements.CHOICES)
        return {slug: msgspec.json.decode(record, type=BookChoice) for slug, record in rows}

    def choose(self, slug: str, choice: BookChoice) -> None:
        """Store the choices for a book, replacing earlier ones; its place stays."""
        with self.transaction():
            places = dict(self.connection.execute(statements.PLACES))
            self._put_choice(slug, choice, places.get(slug))

    def arrange(self, slugs: Sequence[str]) -> None:
        """Put books on the shelf in this order; the others follow."""
        with self.transaction():
            choices = self.choices()
            for slug in {**choices, **dict.fromkeys(slugs)}:
                place = float(slugs.index(slug)) if slug in slugs else None
                self._put_choice(slug, choices.get(slug, BookChoice()), place)

    def _put_choice(self, slug: str, choice: BookChoice, place: float | None) -> None:
        record = msgspec.json.encode(choice).decode()
        self.connection.execute(statements.PUT_CHOICE, {"slug": slug, "record": record, "place": place})
        self.connection.execute(statements.NEXT_REVISION)

    def forget_choice(self, slug: str) -> None:
        """Discard the choices for a book: it looks as its authors made it."""
        with self.transaction():
            self.connection.execute(statements.FORGET_CHOICE, {"slug": slug})
            self.connection.execute(statements.NEXT_REVISION)

    def withdraw(self, slug: str) -> None:
        """Remove a book; its generations are deleted once no server reads them."""
        with self.transaction():
            self.connection.execute(statements.WITHDRAW, {"slug": slug})
            self.connection.execute(statements.RETIRE_BOOK, {"of": slug})
            self.connection.execute(statements.FORGET_STUDIED_BOOK, {"slug": slug})

    def roll_back(self, slug: str) -> str:
        """Make the previous generation of a book the current one again, and return its name.

        The catalogue forgets its files, so that the next ingest checks all of them.

        Raises:
            NotFound: There is no such book, or nothing to go back to.
        """
        with self.transaction():
            book = self.book(slug)
            if book is None or book.previous is None:
                raise NotFound(f"There is no earlier index of {slug}.")
            self.connection.execute(statements.ROLL_BACK, {"of": slug})
            self.connection.execute(statements.RETIRE, {"of": book.current})
            self.connection.execute(statements.FORGET_FILES, {"slug": slug})
            return book.previous

    def retired_generations(self) -> list[tuple[str, str]]:
        """Slug and name of the generations whose folders may be deleted."""
        rows = [(slug, name) for slug, name in self.connection.execute(statements.RETIRED)]
        for names in rows:
            check_names(*names)
        return rows

    def forget(self, names: Iterable[str]) -> None:
        """Drop retired generations whose folders are gone."""
        with self.transaction():
            self.connection.executemany(statements.FORGET_GENERATION, [{"name": name} for name in names])

    def live(self) -> Mapping[str, str]:
        """Slug by name of the generations that are current or previous."""
        generations = dict(self.connection.execute(statements.LIVE))
        check_names(*generations, *generations.values())
        return generations

    def close(self) -> None:
        """Release the file."""
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _new_tables() -> list[str]:
    from lutrin.index.definitions import make_tables  # noqa: PLC0415 - loads SQLModel, which takes most of a second

    return [*make_tables(), statements.FIRST_REVISION]


def read_left_out(path: Path) -> list[LeftOut]:
    """Read which files the latest ingests left out; empty before the first ingest.

    Raises:
        IndexUnavailable: The file is not a catalogue of this program.
    """
    if not path.exists():
        return []
    with Catalog(path) as catalog:
        return catalog.left_out()
