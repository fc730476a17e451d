"""Books: a folder with `book.toml`, its chapters' folders and their labels."""

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import yaml

from lutrin.errors import DocumentError
from lutrin.ingest.anchors import slug
from lutrin.ingest.contents import bare, pages_in_order
from lutrin.ingest.frontmatter import read_front_matter
from lutrin.ingest.markdown import Page, title_from_name
from lutrin.records import BookInfo

_MAX_CHARS = 65_536
_INDEXES = ("index.mdx", "index.md", "README.md", "README.mdx", "readme.md")
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62})")
_CHAPTER = re.compile(r"\bchapter[-_ .]*(\d+)", re.IGNORECASE)
_CHAPTER_NAME = re.compile(r"\b(?:chapter|lesson|week)\b|\bch[-_ .]?\d", re.IGNORECASE)
_MODULE_NAME = re.compile(r"\b(?:part|module|unit|volume|section)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Folder:
    """A folder of a book, as its author labels it."""

    label: str
    position: float | None = None


@dataclass(frozen=True)
class Book:
    """A book on the disk."""

    info: BookInfo
    root: Path
    folders: Mapping[str, Folder]
    """By path relative to the book's folder."""
    contents: Mapping[str, int] = field(default_factory=dict)
    """Place of each page in the site's own table of contents, by path without suffix."""

    def place(self, filename: str, title: str) -> tuple[str, str]:
        """Module (part) and chapter that a file belongs to.

        The folder that is named a part or module, else the first of several, is the module; the one below it, or the
        one that is named a chapter, is the chapter. A file without such a folder is a chapter of its own.
        """
        parts = filename.split("/")[:-1]
        paths = ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
        labels = [self.folders[path].label if path in self.folders else title_from_name(path) for path in paths]
        chapter = next((i for i, name in enumerate(parts) if _names_chapter(name, labels[i])), None)
        module = next((i for i, name in enumerate(parts) if i != chapter and _names_module(name, labels[i])), None)
        if module is None and chapter is None and len(parts) > 1:
            module = 0
        elif module is None and chapter:
            module = chapter - 1
        if chapter is None and len(parts) > (0 if module is None else module + 1):
            chapter = 0 if module is None else module + 1
        return "" if module is None else labels[module], title if chapter is None else labels[chapter]

    def reading_key(self, filename: str, position: float | None) -> tuple[tuple[float, str], ...]:
        """A key that sorts files as a reader leafs through them: by contents or positions where given, else by name."""
        parts = filename.split("/")
        keys = [(float(self.contents.get(bare(filename), len(self.contents))), "")]
        for depth, part in enumerate(parts):
            folder = self.folders.get("/".join(parts[: depth + 1]))
            given = position if depth == len(parts) - 1 else folder.position if folder else None
            if given is None:
                given = -1.0 if depth == len(parts) - 1 and part in _INDEXES else _leading_number(part)
            keys.append((given, part))
        return tuple(keys)


def _names_chapter(name: str, label: str) -> bool:
    return bool(_CHAPTER_NAME.search(name.replace("_", "-")) or _CHAPTER_NAME.match(label))


def _names_module(name: str, label: str) -> bool:
    return bool(_MODULE_NAME.search(name.replace("_", "-")) or _MODULE_NAME.match(label))


def _leading_number(name: str) -> float:
    match = re.match(r"\d{1,9}", name)
    return float(match.group()) if match else 1e9


def find_books(path: Path, *, slug_: str = "", title: str = "", edition: str = "") -> list[Book]:
    """The books in a folder: itself if it has a `book.toml`, else its children that have one, else itself.

    Args:
        path: A folder, or one file, which is then a book of one page.
        slug_: Overrides the slug of a single book.
        title: Overrides its title.
        edition: Overrides its edition.

    Raises:
        DocumentError: A `book.toml` cannot be read.
    """
    roots = [path]
    if path.is_dir() and not (path / "book.toml").is_file():
        children = sorted(
            child for child in path.iterdir() if (child / "book.toml").is_file() and not child.is_symlink()
        )
        roots = children or [path]
    books = [open_book(root) for root in roots]
    if len(books) == 1:
        given = {"slug": slug_, "title": title, "edition": edition}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value}
        books = [replace(books[0], info=msgspec.structs.replace(books[0].info, **changes))]
    return books


def open_book(root: Path) -> Book:
    """Read a book's description and the labels of its folders.

    Raises:
        DocumentError: `book.toml` cannot be read.
    """
    values: dict[str, Any] = {}
    file = root / "book.toml"
    if file.is_file():
        try:
            values = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise DocumentError("book.toml", f"cannot be read ({error})") from None
        values = values.get("book", values) if isinstance(values.get("book", values), dict) else values
    name = root.resolve().name
    title = str(values.get("title") or title_from_name(name))
    given = str(values.get("slug") or "")
    if given and not _SLUG.fullmatch(given):
        raise DocumentError("book.toml", f"slug {given!r} may hold small letters, digits and hyphens only")
    info = BookInfo(
        slug=given or _slug_of(name),
        title=title,
        edition=str(values.get("edition") or ""),
        version=str(values.get("version") or "1"),
        language=str(values.get("language") or "en"),
    )
    folder = root if root.is_dir() else root.parent
    if not root.is_dir():
        return Book(info, folder, {})
    return Book(info, folder, _folders(folder), pages_in_order(folder))


def _slug_of(name: str) -> str:
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in slug(name))
    return re.sub(r"-+", "-", kept).strip("-")[:63] or "book"


def _folders(root: Path) -> dict[str, Folder]:
    found = {}
    pending = [root]
    while pending:
        folder = pending.pop()
        try:
            children = [
                child
                for child in folder.iterdir()
                if child.is_dir() and not child.is_symlink() and child.name[0] != "."
            ]
        except OSError:
            continue  # the scan names it
        pending += children
        for child in children:
            found[child.relative_to(root).as_posix()] = _folder(child)
    return found


def _folder(path: Path) -> Folder:
    category = _category(path)
    label = category.get("label")
    position = category.get("position")
    text = " ".join(label.split()) if isinstance(label, str) else ""
    text = text or _index_title(path) or title_from_name(path.name)
    number = _CHAPTER.search(path.name)
    if number is not None and not _CHAPTER_NAME.search(text):
        text = f"Chapter {int(number[1])}: {text}"
    number_given = isinstance(position, int | float) and not isinstance(position, bool)
    return Folder(text, float(str(position)) if number_given else None)


def _category(path: Path) -> dict[str, Any]:
    for name in ("_category_.json", "_category_.yml", "_category_.yaml"):
        text = _small_text(path / name)
        if text is None:
            continue
        try:
            values = json.loads(text) if name.endswith("json") else yaml.safe_load(text)
        except (ValueError, yaml.YAMLError, RecursionError):
            continue  # a label is a convenience: the folder's name serves
        if isinstance(values, dict):
            return values
    return {}


def _index_title(path: Path) -> str:
    for name in _INDEXES:
        text = _small_text(path / name)
        if text is not None:
            front = read_front_matter(text, lambda _offset, _message: None)
            return front.text("title") or (Page(text, name).title if "# " in text else "")
    return ""


def _small_text(path: Path) -> str | None:
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > 4 * _MAX_CHARS:
            return None
        return path.read_text(encoding="utf-8", errors="replace")[:_MAX_CHARS]
    except OSError:
        return None
