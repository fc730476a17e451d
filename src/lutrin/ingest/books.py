"""A book on the disk: its title, its folders and their labels, and the place of each page in it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import unescape
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from lutrin.errors import DocumentError
from lutrin.ingest.anchors import slug
from lutrin.ingest.configuration import MAX_BYTES, parse, read_plain, read_values
from lutrin.ingest.frontmatter import read_front_matter
from lutrin.ingest.markdown import Page, title_from_name
from lutrin.ingest.navigation import Entry, bare
from lutrin.ingest.scan import Rules
from lutrin.ingest.sites import HOMES, HTML_INDEXES, Site, is_mdbook, read_site
from lutrin.records import MARKDOWN, BookHazards, BookInfo

_MAX_CHARS = 65_536
_INDEXES = ("index.mdx", "index.md", "_index.md", "README.md", "README.mdx", "readme.md", "Readme.md", *HTML_INDEXES)
_SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62})")
_CHAPTER = re.compile(r"\bchapter[-_ .]*(\d+)", re.IGNORECASE)
_CHAPTER_NAME = re.compile(r"\b(?:chapter|lesson|week)\b|\bch[-_ .]?\d", re.IGNORECASE)
_ORDER = re.compile(r"(?:(?:chapter|lesson|part|module|unit|week|section|day|ch)[-_ .]?)?(\d{1,9})", re.IGNORECASE)
_MODULE_NAME = re.compile(r"\b(?:part|module|unit|volume|section)\b", re.IGNORECASE)
# Titles of first pages that do not name the book.
_NAMELESS = frozenset(
    "introduction,intro,home,welcome,readme,index,overview,summary,contents,table of contents,preface,about,start,"
    "getting started,documentation,docs,setup".split(",")
)
_LONGEST_TITLE = 120
_MOST_HAZARDS = 100
"""Limits the entries, because each is searched for in every line of code of an answer."""
# Shorter pieces would match in nearly every line; words are compared whole.
_HAZARD = {"code": re.compile(r"\S[^\n]{1,78}\S"), "words": re.compile(r"[^\W_]{3,80}")}


@dataclass(frozen=True)
class Folder:
    """A folder of a book, as its author labels it."""

    label: str
    position: float | None = None
    is_simulation: bool | None = None
    """Whether its pages are about a simulated world, if its author says so."""


@dataclass(frozen=True)
class Book:
    """A book on the disk."""

    info: BookInfo
    root: Path
    folders: Mapping[str, Folder]
    """Keyed by path relative to the book's folder."""
    site: Site = field(default_factory=Site)
    """The site's configuration."""
    rules: Rules = field(default_factory=Rules)
    """Parts of the folder that are not pages."""
    shared: str = ""
    """A folder that contains every page, and so is neither a part nor a chapter."""
    simulation: bool | None = None
    """Whether the whole book is about a simulated world."""
    slug_given: bool = False
    """Whether the book's author or operator, rather than Lutrin, chose the slug."""

    @property
    def make(self) -> str:
        """Name of the program that the folder's layout belongs to."""
        return self.site.make or ("one file" if self.rules.only and len(self.rules.only) == 1 else "folder")

    @cached_property
    def _contents(self) -> Mapping[str, tuple[int, Entry]]:
        """The site's own table of contents, by path without suffix."""
        return {entry.path: (number, entry) for number, entry in enumerate(self.site.entries)}

    def _listed(self, filename: str) -> tuple[int, Entry] | None:
        """Number and entry of a file in the site's table of contents, by itself or by the nearest folder above it."""
        own = self._contents.get(bare(filename))
        above = (self._contents.get(folder.as_posix()) for folder in PurePosixPath(filename).parents)
        return own or next((listed for listed in above if listed is not None and listed[1].is_folder), None)

    def place(self, filename: str, title: str) -> tuple[str, str]:
        """Module (part) and chapter that a file belongs to.

        The site's own table of contents decides, otherwise the folders. The module is the folder named as a part or
        module, else the first of several. The chapter is the folder below it, or the one named as a chapter. A file
        without such a folder forms its own chapter. Folders that only hold the text (`docs`, `lessons`) are neither.
        """
        listed = self._listed_place(filename, title)
        if listed is not None:
            return listed
        folders = filename.split("/")[:-1]
        skipped = self.shared.count("/") + 1 if self.shared else 0
        deep = ["/".join(folders[: depth + 1]) for depth in range(skipped, len(folders))]
        paths = [path for path in deep if path.rpartition("/")[2].lower() not in HOMES]
        parts = [path.rpartition("/")[2] for path in paths]
        labels = [self._label(path) for path in paths]
        chapter = next((i for i, name in enumerate(parts) if _is_named(_CHAPTER_NAME, name, labels[i])), None)
        module = next(
            (i for i, name in enumerate(parts) if i != chapter and _is_named(_MODULE_NAME, name, labels[i])), None
        )
        if module is None and chapter is None and len(parts) > 1:
            module = 0
        elif module is None and chapter:
            module = chapter - 1
        if chapter is None and len(parts) > (0 if module is None else module + 1):
            chapter = 0 if module is None else module + 1
        return "" if module is None else labels[module], title if chapter is None else labels[chapter]

    def _listed_place(self, filename: str, title: str) -> tuple[str, str] | None:
        """Module and chapter from the site's table of contents; None if it does not name them."""
        _, entry = self._listed(filename) or (0, None)
        if entry is None or not (entry.module or entry.chapter or entry.under):
            return None
        if entry.is_folder:
            folders = filename.split("/")[:-1]
            below = ["/".join(folders[: depth + 1]) for depth in range(entry.path.count("/") + 1, len(folders))]
            module, chapter = entry.below([self._label(path) for path in below])
            return module, chapter or title
        titles = (page_title(self.root / f"{entry.under}{suffix}") for suffix in (".md", ".mdx"))
        return entry.module, entry.chapter or next(filter(None, titles), title)

    def _label(self, path: str) -> str:
        return self.folders[path].label if path in self.folders else title_from_name(path)

    def is_simulation(self, filename: str) -> bool | None:
        """Whether a page is about a simulated world, according to the nearest folder above it, else to the book."""
        folders = filename.split("/")[:-1]
        above = ("/".join(folders[: depth + 1]) for depth in reversed(range(len(folders))))
        values = (self.folders[path].is_simulation for path in above if path in self.folders)
        return next((value for value in values if value is not None), self.simulation)

    def reading_key(self, filename: str, position: float | None) -> tuple[tuple[float, str], ...]:
        """A key that sorts files in reading order: by contents or positions if given, else by name."""
        parts = filename.split("/")
        unnamed = -1 if filename in _INDEXES else len(self._contents)
        listed = self._listed(filename)
        keys = [(float(unnamed if listed is None else listed[0]), "")]
        for depth, part in enumerate(parts):
            folder = self.folders.get("/".join(parts[: depth + 1]))
            number = position if depth == len(parts) - 1 else folder.position if folder else None
            if number is None:
                number = -1.0 if depth == len(parts) - 1 and part in _INDEXES else _leading_number(part)
            keys.append((number, part))
        return tuple(keys)


def _is_named(pattern: re.Pattern[str], name: str, label: str) -> bool:
    return bool(pattern.search(name.replace("_", "-")) or pattern.match(label))


def _leading_number(name: str) -> float:
    match = _ORDER.match(name)
    return float(match[1]) if match else 1e9


def open_book(root: Path, only: frozenset[str] | None = None) -> Book:
    """Read a book's description, its site's configuration and the labels of its folders; `only`: all its files.

    Raises:
        DocumentError: `book.toml` cannot be read.
    """
    if not root.is_dir():
        folder, only = root.parent, frozenset({root.name})
        title = page_title(root) or title_from_name(root.stem)
        return Book(BookInfo(slug=slug_of(root.stem), title=title), folder, {}, Site(), Rules(only))
    values = _description(root)
    site = read_site(root) if only is None else Site()
    own_slug = str(values.get("slug") or "")
    if own_slug and not _SLUG.fullmatch(own_slug):
        raise DocumentError("book.toml", f"slug {own_slug!r} may contain only lower-case letters, digits and hyphens")
    name = root.resolve().name
    info = BookInfo(
        slug=own_slug or slug_of(name),
        title=str(values.get("title") or site.title or _first_title(root, site.home) or title_from_name(name)),
        edition=str(values.get("edition") or ""),
        version=str(values.get("version") or "1"),
        language=str(values.get("language") or site.language or "en"),
        hazards=_hazards(values.get("hazards", {})),
    )
    # Files beside it are about the project.
    apart = site.home if site.make in _APART and (root / site.home).is_dir() else ""
    rules = Rules(only, site.aside, apart, frozenset(entry.path for entry in site.entries))
    folders = {} if only else _folders(root)
    if not values.get("title") and info.title == title_from_name(name):
        info = msgspec.structs.replace(info, title=_spell(info.title, folders))
    return Book(
        info,
        root,
        folders,
        _in_docusaurus(root, site),
        rules,
        simulation=_truth(values.get("is_simulation")),
        slug_given=bool(own_slug),
    )


def _hazards(table: object) -> BookHazards:
    """Read `[hazards]`, and refuse unknown fields: a guess could leave a reader without a warning."""
    if not isinstance(table, dict) or not table.keys() <= set(BookHazards.__struct_fields__):
        raise DocumentError("book.toml", "[hazards] may contain only `code` and `words`")
    for name, values in table.items():
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise DocumentError("book.toml", f"{name} of [hazards] must be a list of strings")
        if len(values) > _MOST_HAZARDS:
            raise DocumentError("book.toml", f"{name} of [hazards] may hold {_MOST_HAZARDS} strings at most")
        wrong = next((value for value in values if not _HAZARD[name].fullmatch(value)), None)
        if wrong is not None:
            kind = "one word" if name == "words" else "a piece of one line"
            raise DocumentError("book.toml", f"{name} of [hazards]: {wrong[:80]!r} is not {kind} of 3 to 80 characters")
    return BookHazards(**{name: tuple(value.lower() for value in values) for name, values in table.items()})


def _spell(title: str, folders: Mapping[str, Folder]) -> str:
    """A title from a folder's name, capitalised like the book's own headings: `IoT`."""
    words = {word.casefold(): word for folder in folders.values() for word in re.findall(r"\w+", folder.label)}
    spellings = {folded: word for folded, word in words.items() if word[1:] != word[1:].lower()}
    return re.sub(r"\w+", lambda match: spellings.get(match.group().casefold(), match.group()), title)


def _description(root: Path) -> dict[str, Any]:
    """Lutrin's own `book.toml`; of mdBook's, only the fields that also apply to Lutrin (a slug, an edition)."""
    file = root / "book.toml"
    try:
        values = parse(read_plain(file, MAX_BYTES).decode("utf-8"), "toml") or {}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise DocumentError("book.toml", f"cannot be read ({getattr(error, 'strerror', None) or error})") from None
    return {**values, **values["book"]} if is_mdbook(values) else values


def _first_title(root: Path, home: str) -> str:
    """Return the first page's heading if it names the book."""
    title = _index_title(root) or (_index_title(root / home) if home else "")
    return title if 0 < len(title) <= _LONGEST_TITLE and title.casefold().strip(" !.") not in _NAMELESS else ""


_APART = frozenset({"mdBook", "MkDocs", "Hugo", "mdBook or GitBook"})
_ORDINAL = re.compile(r"^\d+[-_. ]+(?=.)")


def _in_docusaurus(root: Path, site: Site) -> Site:
    """Restore file names: Docusaurus' sidebars name pages by `id`, or without the numbers that names begin with."""
    if site.make != "Docusaurus" or not site.entries:
        return site
    names: dict[str, str] = {}
    for path in sorted((root / site.home).rglob("*.md*")):
        name = bare(path.relative_to(root).as_posix())
        *folders, own = (_ORDINAL.sub("", part) for part in name.split("/"))
        text = _small_text(path) or ""
        names.setdefault("/".join([*folders, own]), name)
        names["/".join([*folders, read_front_matter(text, lambda _offset, _message: None).text("id") or own])] = name
    entries = (replace(entry, path=names.get(entry.path, entry.path)) for entry in site.entries)
    return replace(site, entries=tuple(entries))


def slug_of(name: str) -> str:
    """A slug from a name."""
    text = "".join(c if c.isascii() and c.isalnum() else "-" for c in slug(name))
    return re.sub(r"-+", "-", text).strip("-")[:63] or "book"


def _folders(root: Path) -> dict[str, Folder]:
    folders = {}
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
            continue  # the scan reports it
        pending += children
        for child in children:
            folders[child.relative_to(root).as_posix()] = _folder(child)
    return folders


def _folder(path: Path) -> Folder:
    category = _category(path)
    label, position = category.get("label"), category.get("position")
    text = " ".join(label.split()) if isinstance(label, str) else ""
    text = text or _index_title(path) or title_from_name(path.name)
    number = _CHAPTER.search(path.name)
    if number is not None and text.casefold() == number.group().casefold():
        text = f"Chapter {int(number[1])}"
    elif number is not None and not _CHAPTER_NAME.search(text):
        text = f"Chapter {int(number[1])}: {text}"
    has_number = isinstance(position, int | float) and not isinstance(position, bool)
    return Folder(text, float(str(position)) if has_number else None, _truth(category.get("is_simulation")))


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _category(path: Path) -> dict[str, Any]:
    # A label is a convenience; without a readable one, the folder's name will do.
    candidates = (read_values(path / f"_category_.{suffix}") for suffix in ("json", "yml", "yaml"))
    return next((values for values in candidates if isinstance(values, dict)), {})


def _index_title(path: Path) -> str:
    return next((title for name in _INDEXES if (title := page_title(path / name))), "")


def page_title(path: Path) -> str:
    """Return the title of a page in Markdown or HTML, or an empty string."""
    text = _small_text(path) if path.suffix.lower() in {*MARKDOWN, *_HTML} else None
    if text is None:
        return ""
    if path.suffix.lower() in _HTML:
        match = _HTML_HEADING.search(text) or _HTML_TITLE.search(text)
        return " ".join(unescape(_HTML_TAG.sub("", match[1])).rstrip("\u00b6\uf0c1 \n").split()) if match else ""
    front = read_front_matter(text, lambda _offset, _message: None)
    return front.text("title") or (Page(text, path.name).title if _HEADING.search(text) else "")


_HTML = frozenset({".html", ".htm", ".xhtml"})
_HTML_HEADING = re.compile(r"<h1\b[^<>]{0,500}>((?:(?!</?h1)[\s\S]){1,1000})</h1>", re.IGNORECASE)
_HTML_TAG = re.compile(r"<[^<>]{0,1000}>")
_HTML_TITLE = re.compile(r"<title>([^<]{1,500})</title>", re.IGNORECASE)
_HEADING = re.compile(r"^(?:\# |=+[ \t]*$|<h1)", re.MULTILINE)


def _small_text(path: Path) -> str | None:
    try:
        return read_plain(path, 4 * _MAX_CHARS).decode("utf-8", errors="replace")[:_MAX_CHARS]
    except OSError:
        return None
