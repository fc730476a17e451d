"""Finds the books in a folder: every folder with readable files is a book, and so is every loose file beside them."""

import os
import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from lutrin.errors import DocumentError, InvalidInput
from lutrin.ingest.books import Book, open_book
from lutrin.ingest.formats import all_formats, suffix_of
from lutrin.ingest.scan import IGNORE_FILE, Rules, SourceFile, holds_pages, ignored_names, is_housekeeping, scan
from lutrin.ingest.sites import HOMES, is_site
from lutrin.ingest.upload import STAGING
from lutrin.records import LeftOut

_SHELVES = frozenset({"corpus", "books", "library", "shelf", "bookshelf"})
_NUMBERED = re.compile(r"\d|(?:chapter|lesson|part|module|unit|week|section|day|ch)[-_ ]?\d", re.IGNORECASE)
_INDEX = re.compile(r"(?:index(?:\.[a-z]{2})?|readme|_index)\.\w+", re.IGNORECASE)
_MAX_DEPTH = 8
NO_PAGES = "holds no file that Lutrin reads"


@dataclass(frozen=True)
class Discovery:
    """The books and left-out files of a folder."""

    books: Sequence[tuple[Book, Sequence[SourceFile]]]
    left_out: Sequence[LeftOut]
    broken: Mapping[Path, str] = field(default_factory=dict)
    """Folders of books with an unreadable description, each with the reason."""


def discover(path: Path, *, shelf: bool = False, slug: str = "", title: str = "", edition: str = "") -> Discovery:
    """Find the books in a folder with their files, and the files that are in no book.

    Args:
        path: A shelf, a book, or one file, which then forms a book of one page.
        shelf: Whether the folder is known to contain books; it is then not a book itself unless it says so.

    Raises:
        DocumentError: `book.toml` of the only book cannot be read.
        InvalidInput: One book is named, and there are several.
    """
    left_out: list[LeftOut] = []
    broken: dict[Path, str] = {}
    options = {"slug": slug, "title": title, "edition": edition}
    books = list(_books(path, shelf=shelf, base=path, left_out=left_out, broken=broken, depth=0))
    books = _with_own_slugs(books, broken)
    if len(books) > 1 and any(options.values()):
        if shelf or any(book.slug_given for book in books):
            raise InvalidInput(
                f"{path} holds {len(books)} books, and --book, --title or --edition name one. Give its folder."
            )
        books, left_out = [open_book(path)], []
    if len(books) == 1:
        changes: dict[str, Any] = {name: value for name, value in options.items() if value}
        books = [replace(books[0], info=msgspec.structs.replace(books[0].info, **changes))]
    entries = []
    for book in books:
        skipped: list[tuple[str, str]] = []
        files = scan(book.root, lambda *one, skipped=skipped: skipped.append(one), book.rules)
        left_out += [LeftOut(name, reason, book.info.slug) for name, reason in skipped]
        if not files:
            left_out.append(LeftOut(filename=f"{book.root.name}/", reason=NO_PAGES))
        entries.append((replace(book, shared=_shared_folder(files)), files))
    return Discovery(entries, left_out, broken)


def find_books(path: Path, *, shelf: bool = False, slug_: str = "", title: str = "", edition: str = "") -> list[Book]:
    """The books in a folder; see `discover`."""
    return [book for book, _ in discover(path, shelf=shelf, slug=slug_, title=title, edition=edition).books]


def _shared_folder(files: Sequence[SourceFile]) -> str:
    """The folder that contains all pages of a book without being a chapter; empty if there is none."""
    if len(files) < 2:
        return ""
    folder = os.path.commonpath([posixpath.dirname(file.name) for file in files])
    return "" if any(_NUMBERED.match(part) for part in folder.split("/")) else folder


def _with_own_slugs(books: Sequence[Book], broken: dict[Path, str]) -> list[Book]:
    """Number the slugs of books whose folders share a name. Of books that choose the same slug, read none."""
    counts = Counter(book.info.slug for book in books if book.slug_given)
    slugs, own = set(counts), []
    for book in books:
        if book.slug_given and counts[book.info.slug] > 1:
            broken[book.root] = f"{book.root.name}/book.toml: another book has the slug {book.info.slug!r}, too"
            continue
        slug, number = book.info.slug, 2
        while not book.slug_given and slug in slugs:
            slug, number = f"{book.info.slug[:60]}-{number}", number + 1
        slugs.add(slug)
        own.append(replace(book, info=msgspec.structs.replace(book.info, slug=slug)))
    return own


def _books(
    path: Path, *, shelf: bool, base: Path, left_out: list[LeftOut], broken: dict[Path, str], depth: int
) -> Iterator[Book]:
    if not path.is_dir():
        yield open_book(path)
        return
    children = _Children(path)
    if is_site(path) or not (shelf or children.look_like_books(depth)):
        yield open_book(path)
        return
    for name, reason in children.others:
        left_out.append(LeftOut(filename=(path / name).relative_to(base).as_posix(), reason=reason))
    for folder in children.folders:
        if is_site(folder):
            yield from _open_with_description(folder, broken)
        elif not holds_pages(folder):
            left_out.append(LeftOut(filename=f"{folder.relative_to(base).as_posix()}/", reason=NO_PAGES))
        elif depth < _MAX_DEPTH and _Children(folder).look_like_books(depth + 1):
            yield from _books(folder, shelf=True, base=base, left_out=left_out, broken=broken, depth=depth + 1)
        else:
            yield from _open_with_description(folder, broken)
    yield from _loose(path, children.files)


def _open_with_description(folder: Path, broken: dict[Path, str]) -> Iterator[Book]:
    """One of several books; faults of its `book.toml` do not affect the others."""
    try:
        yield open_book(folder)
    except DocumentError as error:
        broken[folder] = f"{folder.name}/{error.detail}"


def _loose(path: Path, files: Sequence[str]) -> Iterator[Book]:
    """Books from loose files: numbered files are the chapters of one book, and each other file is a book."""
    chapters = [name for name in files if _NUMBERED.match(name)]
    if len(chapters) > 1:
        yield open_book(path, frozenset(chapters))
    for name in files:
        if name not in chapters or len(chapters) < 2:
            yield open_book(path / name)


class _Children:
    """The entries of a folder, sorted by whether they can be books."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.folders: list[Path] = []
        self.files: list[str] = []
        self.others: list[tuple[str, str]] = []
        skipped: list[tuple[str, str]] = []
        ignored = ignored_names(path)
        try:
            entries = sorted(path.iterdir(), key=lambda child: child.name)
        except OSError as error:
            raise DocumentError(path.name, f"cannot be read ({error.strerror or error})") from None
        loose = frozenset(child.name for child in entries if not child.is_dir() or child.is_symlink())
        scan(path, lambda name, reason: skipped.append((name, reason)), Rules(only=loose))
        reasons = dict(skipped)
        for child in entries:
            if child.name not in reasons and child.is_dir():
                if child.name.startswith(STAGING):
                    continue  # an upload that is still coming
                if child.name.startswith("."):
                    self.others.append((child.name, "is hidden: its name begins with a dot"))
                elif "*" in ignored or child.name in ignored:
                    self.others.append((child.name, f"is named in {IGNORE_FILE}"))
                else:
                    self.folders.append(child)
            elif child.name not in reasons and suffix_of(child.name) in all_formats():
                if is_housekeeping(child.name) or _INDEX.fullmatch(child.name):
                    self.others.append((child.name, "is about the folder, not a book"))
                else:
                    self.files.append(child.name)
        self.others += skipped

    def look_like_books(self, depth: int) -> bool:
        """Whether its folders are books rather than chapters of one.

        If no file says so, they are books if one of them describes itself, or if there are several with proper names
        (neither numbers nor `docs`) and no page beside them.
        """
        if depth == 0 and self.path.resolve().name.lower() in _SHELVES:
            return True
        own = [child for child in self.folders if child.name.lower() not in HOMES and not _NUMBERED.match(child.name)]
        if any(_INDEX.fullmatch(name) for name, _ in self.others) or not own:
            return False
        if any(is_site(child) for child in own):
            return True
        if depth or self.files or len(own) < len(self.folders):
            return False
        return sum(holds_pages(child) for child in own) > 1
