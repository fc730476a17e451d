"""A teacher's actions on whole books: add, rename, hide, order, remove, restore, delete.

The catalogue stores all of them (`lutrin.records.BookChoice`), and every server on it follows within two seconds. Files
change only when a book is added, or deleted for good.
"""

import shutil
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, get_args

import msgspec

from lutrin.errors import IndexUnavailable, InvalidInput, NotFound
from lutrin.index.catalog import Catalog, PublishedBook
from lutrin.index.manifest import read_manifest
from lutrin.ingest.lock import ingest_lock
from lutrin.ingest.upload import StoredUpload, store
from lutrin.messages import BOOK_NOT_HERE, BOOK_TITLE_TOO_LONG, CHOOSE_HINTS, NOTHING_HERE
from lutrin.records import BookAct, BookChoice, BookRow, Hints, LeftOut
from lutrin.settings import Settings

MOST_TITLE, MOST_LINE = 120, 200
"""Characters of a title, and of the line on a book's card."""


def list_books(settings: Settings) -> tuple[list[BookRow], list[LeftOut]]:
    """All books in the order of the shelf, removed ones last, and the files that belong to no book.

    Raises:
        IndexUnavailable: The catalogue cannot be read.
    """
    if not settings.catalog_path.exists():
        return [], []
    with Catalog(settings.catalog_path) as catalog:
        published, choices, left_out = catalog.books(), catalog.choices(), catalog.left_out()
        missing = {book.info.slug for book in published if _is_missing(settings, book, catalog.files(book.info.slug))}
    rows = [
        msgspec.structs.replace(_row(settings, book, left_out), is_missing=book.info.slug in missing)
        for book in published
    ]
    known = {row.slug for row in rows}
    rows += [
        BookRow(slug=slug, title=choice.called or slug, own_title=choice.called or slug, choice=choice)
        for slug, choice in choices.items()
        if choice.removed and slug not in known
    ]
    removed = {row.slug for row in rows if row.choice.removed}
    rest = [item for item in left_out if item.book not in known | removed]
    return sorted(rows, key=lambda row: bool(row.choice.removed)), rest


def _is_missing(settings: Settings, book: PublishedBook, files: Collection[str]) -> bool:
    """Whether all of a book's files are gone from this machine's corpus, though they were read there."""
    corpus, root = settings.corpus_dir.resolve(), Path(book.root or ".")
    if not book.root or Path(book.corpus) != corpus or not files:
        return False
    return not any((root / name).exists() for name in files)


def find_book(settings: Settings, slug: str) -> BookRow:
    """One book; raises NotFound."""
    row = next((row for row in list_books(settings)[0] if row.slug == slug), None)
    if row is None:
        raise NotFound(NOTHING_HERE)
    return row


def _row(settings: Settings, book: PublishedBook, left_out: Sequence[LeftOut]) -> BookRow:
    slug = book.info.slug
    read, files = None, 0
    try:
        manifest = read_manifest(settings.books_dir / slug / book.current)
    except IndexUnavailable:  # the page is where its teacher learns of it
        pass
    else:
        read, files = datetime.fromisoformat(manifest.created), manifest.files
    return BookRow(
        slug=slug,
        title=book.title,
        own_title=book.info.title,
        choice=book.choice,
        generation=book.current,
        previous=book.previous or "",
        read=read,
        files=files,
        edition=book.info.edition,
        left_out=tuple(item for item in left_out if item.book == slug),
    )


def change_book(
    settings: Settings, slug: str, act: BookAct, now: datetime, *, title: str = "", line: str = "", hints: str = ""
) -> None:
    """Perform an action on a book.

    Args:
        title: For `rename`; empty: the book's own title.
        line: For `rename`, a line on its subject; empty: the book's own.
        hints: For `hints`, one of `Hints`.

    Raises:
        NotFound: There is no such book, or no earlier index of it.
        InvalidInput: The title or line is too long, `hints` is unknown, or the book's files are elsewhere.
        IngestInProgress: The books are being read, and this action has to wait.
        IndexUnavailable: The catalogue cannot be read, or the earlier index is gone.
    """
    match act:
        case "delete":
            _delete(settings, slug)
        case "previous":
            _roll_back(settings, slug)
        case "up" | "down":
            _move(settings, slug, -1 if act == "up" else 1)
        case _:
            row = find_book(settings, slug)
            with Catalog(settings.catalog_path) as catalog:
                catalog.choose(slug, _chosen(row, act, now, title=title, line=line, hints=hints))


def _chosen(row: BookRow, act: BookAct, now: datetime, *, title: str, line: str, hints: str) -> BookChoice:
    match act:
        case "hints":
            if hints not in get_args(Hints):
                raise InvalidInput(CHOOSE_HINTS)
            return msgspec.structs.replace(row.choice, hints=msgspec.convert(hints, Hints))
        case "rename":
            title, line = (" ".join(text.split()) for text in (title, line))
            if len(title) > MOST_TITLE or len(line) > MOST_LINE:
                raise InvalidInput(BOOK_TITLE_TOO_LONG.format(title=MOST_TITLE, line=MOST_LINE))
            return msgspec.structs.replace(row.choice, title="" if title == row.own_title else title, line=line)
        case "hide" | "show":
            return msgspec.structs.replace(row.choice, hidden=act == "hide")
        case "remove":
            return msgspec.structs.replace(row.choice, removed=now.isoformat(timespec="seconds"), called=row.title)
        case _:
            return msgspec.structs.replace(row.choice, removed="", called="")


def _move(settings: Settings, slug: str, by: int) -> None:
    with Catalog(settings.catalog_path) as catalog:
        slugs = [book.info.slug for book in catalog.books() if not book.choice.removed]
        if slug not in slugs:
            raise NotFound(NOTHING_HERE)
        place = min(max(slugs.index(slug) + by, 0), len(slugs) - 1)
        slugs.remove(slug)
        slugs.insert(place, slug)
        catalog.arrange(slugs)


def _roll_back(settings: Settings, slug: str) -> None:
    """Make a book's previous index the current one."""
    with ingest_lock(settings.data_dir), Catalog(settings.catalog_path) as catalog:
        book = catalog.book(slug)
        if book is not None and book.previous is not None:
            read_manifest(settings.books_dir / slug / book.previous)
        catalog.roll_back(slug)


def _delete(settings: Settings, slug: str) -> None:
    """Delete a removed book with its files, which must be in this machine's corpus."""
    with ingest_lock(settings.data_dir), Catalog(settings.catalog_path) as catalog:
        book, choice = catalog.book(slug), catalog.choices().get(slug)
        if choice is None or not choice.removed:
            raise NotFound(NOTHING_HERE)
        if book is not None:
            _delete_files(settings.corpus_dir, book, list(catalog.files(slug)))
            catalog.withdraw(slug)
        catalog.forget_choice(slug)


def _delete_files(corpus: Path, book: PublishedBook, files: Sequence[str]) -> None:
    """Delete a book's folder, or its loose files; a book made elsewhere has none here."""
    corpus, root = corpus.resolve(), Path(book.root) if book.root else None
    if root is None or not root.is_relative_to(corpus) or not root.is_dir():
        return
    try:
        if root == corpus:
            for name in files:
                (root / name).unlink(missing_ok=True)
        else:
            shutil.rmtree(root)
    except OSError as error:
        raise InvalidInput(BOOK_NOT_HERE.format(reason=error.strerror or error)) from error


def store_books(
    settings: Settings, files: Sequence[tuple[str, BinaryIO]], *, book: str, each: bool, replace: bool
) -> list[StoredUpload]:
    """Put uploaded files into the corpus; they take the place of a removed book of the same name.

    Args:
        files: Names and contents, as for `lutrin.ingest.upload.store`; raises what that raises.
        each: Make each file a book named after it, instead of one book named `book`.
    """
    parts = [[one] for one in files] if each else [files]
    removed = _removed_folders(settings)
    uploads = []
    for part in parts:
        upload = store(
            settings.corpus_dir, part, book="" if each else book, replace=replace, replaceable=frozenset(removed)
        )
        uploads.append(upload)
        if upload.book in removed:
            with Catalog(settings.catalog_path) as catalog:
                catalog.forget_choice(removed[upload.book])
    return uploads


def _removed_folders(settings: Settings) -> dict[str, str]:
    """Slugs of removed books, by the names of their folders in the corpus."""
    if not settings.catalog_path.exists():
        return {}
    corpus = settings.corpus_dir.resolve()
    with Catalog(settings.catalog_path) as catalog:
        books = [book for book in catalog.books() if book.choice.removed and book.root]
    return {Path(book.root).name: book.info.slug for book in books if Path(book.root).parent == corpus}
