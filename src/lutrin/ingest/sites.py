"""Reads a site's configuration: the book's title, the order of its pages, and the folders with its text.

Supported are the configurations of Docusaurus, mdBook, MkDocs, Jupyter Book and MyST, Sphinx, Jekyll, Hugo, The
Carpentries, Hugging Face's courses, Quarto, Mintlify and GitBook, and the links of the first of several HTML pages.
Those that only differ in names are data: `sites.toml`. An unreadable file is ignored; then the names decide.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

import msgspec

from lutrin.ingest.configuration import is_small_file, read_small, read_values
from lutrin.ingest.makers import own_data
from lutrin.ingest.navigation import Entry, bare, from_summary, from_tree, summary_title
from lutrin.ingest.script import read_literal

_TITLE_IN_SCRIPT = re.compile(r"^[^\S\n]*+title\s*+:\s*+(['\"`])((?:(?!\1)[^\\\n]|\\.)++)\1", re.MULTILINE)
_DOCS_PATH = re.compile(r"\bdocs\s*:\s*\{[^{}]{0,2000}?\bpath\s*:\s*['\"`]([^'\"`\n]{1,200})['\"`]")
_LARGEST_DEPTH = 2
_PROJECT = re.compile(r"^project\s*=\s*u?(['\"])((?:(?!\1)[^\\\n])+)\1", re.MULTILINE)
_TOCTREE = re.compile(
    r"^[ \t]*\.\.[ \t]+toctree::[^\n]*\n((?:[ \t]+\S[^\n]*(?:\n|\Z)|[ \t]*\n)*)|^`{3,}\{toctree\}([^`]{0,20000})^`{3,}",
    re.MULTILINE,
)
_TOCTREE_PAGE = re.compile(r"[^<>\n]*<([^<>:]+)>|([^\s:`#*<>]+)")
_DEEPEST_TOCTREE, _MOST_PAGES = 4, 2000
HTML_INDEXES = ("index.html", "index.htm", "index.xhtml", "index.en.html")
_SPHINX_MADE = ("_sources", "_static", "genindex.html", "py-modindex.html", "search.html")
_HTML_LINK = re.compile(
    r"""<a\b[^<>]{0,500}?\bhref\s*=\s*["']([^"'#?:<>/\\]{1,200}\.(?:x?html?))["'#]""", re.IGNORECASE
)


class _Maker(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An entry of `sites.toml`, which explains each field."""

    reader: str = ""
    make: str = ""
    files: tuple[str, ...] = ()
    optional: bool = False
    beside: str = ""
    needs: str = ""
    title_file: str = ""
    title: tuple[str, ...] = ()
    language: str = ""
    language_letters: int | None = None
    home: str = ""
    tree: tuple[str, ...] = ()
    aside: dict[str, str] = {}


class _Sites(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    marks: tuple[str, ...]
    configurations: tuple[str, ...]
    homes: frozenset[str]
    reasons: dict[str, str]
    makers: tuple[_Maker, ...]


_DATA = msgspec.convert(own_data("sites.toml"), _Sites)
HOMES = _DATA.homes
"""Folders with the text of the book around them: no book, part or chapter has these names."""
CONFIGURATIONS = (*_DATA.marks, *_DATA.configurations)
"""Files that may give a book's title or the order of its pages."""


@dataclass(frozen=True)
class Site:
    """A site's title, order of pages and folders."""

    make: str = ""
    """The program that the files are written for: `mdBook`."""
    title: str = ""
    language: str = ""
    home: str = ""
    """Folder of the pages, relative; empty if not given."""
    entries: tuple[Entry, ...] = ()
    """The pages in a table of contents, in its order."""
    aside: Mapping[str, str] = field(default_factory=dict)
    """Files and folders that are not pages, by relative path, with the reason."""


def read_site(root: Path) -> Site:
    """First title, order and language from configurations in a folder, or its folders of text; else an empty `make`."""
    places = list(_places(root))
    sites = [site for place in places for one in _DATA.makers if (site := _read(root, place, one)) is not None]
    return Site(
        make=next((site.make for site in sites), ""),
        title=next((site.title for site in sites if site.title), ""),
        language=next((site.language for site in sites if site.language), ""),
        home=next((site.home for site in sites if site.home), ""),
        entries=next((site.entries for site in sites if site.entries), ()),
        aside={name: reason for site in sites for name, reason in site.aside.items()},
    )


def is_site(folder: Path) -> bool:
    """Whether a folder itself contains a description or the configuration of a site."""
    return any(is_small_file(folder / name) for name in _DATA.marks) or _carpentry(folder, "") is not None


def _places(root: Path) -> Iterator[str]:
    """The folder itself, then the folders of text in it, relative, two levels deep."""
    pending = [("", 0)]
    while pending:
        place, depth = pending.pop(0)
        yield place
        if depth == _LARGEST_DEPTH:
            continue
        try:
            names = sorted(
                child.name
                for child in (root / place).iterdir()
                if child.name.lower() in HOMES and child.is_dir() and not child.is_symlink()
            )
        except OSError:
            continue
        pending += [(_join(place, name), depth + 1) for name in names]


def _read(root: Path, place: str, maker: _Maker) -> Site | None:
    if maker.reader:
        return _READERS[maker.reader](root, place)
    folder = root / place
    name = _first(folder, maker.files)
    if not name or (maker.beside and not (folder / maker.beside).is_dir()):
        return None
    values = read_values(folder / name)
    if (not values and not maker.optional) or (maker.needs and not _at(values, maker.needs)):
        return None
    titles = read_values(folder / maker.title_file) if maker.title_file else values
    home = _folder(place, values, maker.home) if maker.home else place
    trees = [tree for key in maker.tree if (tree := _at(values, key))]
    return Site(
        make=maker.make,
        title=next((title for key in maker.title if (title := _text(_at(titles, key)))), ""),
        language=_text(_at(values, maker.language))[: maker.language_letters] if maker.language else "",
        home=home if maker.home and (root / home).is_dir() else "",
        entries=tuple(from_tree(trees, home)),
        aside=_aside(place, {name if key == "file" else key: why for key, why in maker.aside.items()}, values),
    )


def _first(folder: Path, names: tuple[str, ...]) -> str:
    return next((name for name in names if is_small_file(folder / name)), "")


def _at(value: Any, key: str) -> Any:  # noqa: ANN401 - any value of a data file
    """The value under a dotted key; `*` matches everything in a table."""
    for part in key.split(".") if key else ():
        if part == "*":
            value = list(value.values()) if isinstance(value, dict) else value
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def _folder(place: str, values: Any, key: str) -> str:  # noqa: ANN401 - any value of a data file
    """A folder named by a configuration, if it is inside the book: `key|default`, or simply its path."""
    path, _, default = key.rpartition("|")
    return _join(place, _relative(_at(values, path) if path else None, default))


def _aside(place: str, reasons: Mapping[str, str], values: Any = None) -> dict[str, str]:  # noqa: ANN401 - parsed YAML or TOML
    return {_folder(place, values, key): _DATA.reasons[why] for key, why in reasons.items()}


def _join(*parts: str) -> str:
    return "/".join(part.strip("/") for part in parts if part.strip("/") not in {"", "."})


def _text(value: Any) -> str:  # noqa: ANN401 - any value of a data file
    return " ".join(value.split())[:200] if isinstance(value, str) else ""


def _relative(value: Any, default: str = "") -> str:  # noqa: ANN401 - any value of a data file
    path = PurePosixPath(_text(value) or default)
    return "" if path.is_absolute() or ".." in path.parts else _join(path.as_posix())


def is_mdbook(values: Mapping[str, Any]) -> bool:
    """Whether a `book.toml` is mdBook's, which shares its name with ours: it has tables where ours has lines."""
    return isinstance(values.get("book"), dict)


def _mdbook(root: Path, place: str) -> Site | None:
    values = read_values(root / place / "book.toml") or {}
    if not is_mdbook(values):
        return None
    home = _folder(place, values, "book.src|src")
    home = home if (root / home).is_dir() else place
    built = _folder(place, values, "build.build-dir|book")
    return Site(
        make="mdBook",
        title=_text(_at(values, "book.title")),
        language=_text(_at(values, "book.language")),
        home=home,
        entries=tuple(from_summary(read_small(root / home / "SUMMARY.md"), home, numbered=True)),
        aside=_aside(place, {"book.toml": "order"})
        | _aside(home, {"SUMMARY.md": "order"})
        | (_aside("", {built: "built"}) if built != home else {}),
    )


def _docusaurus(root: Path, place: str) -> Site | None:
    folder = root / place
    name = _first(folder, tuple(name for name in CONFIGURATIONS if name.startswith("docusaurus.config.")))
    if not name:
        return None
    config = read_small(folder / name)
    title, docs = _TITLE_IN_SCRIPT.search(config), _DOCS_PATH.search(config)
    home = _join(place, _relative(docs[1] if docs else None, "docs"))
    sidebars = _first(folder, tuple(name for name in CONFIGURATIONS if name.startswith("sidebars.")))
    tree = read_literal(read_small(folder / sidebars)) if sidebars else None
    aside = {file: "order" for file in (name, sidebars) if file}
    aside |= {"build": "built", "i18n": "translated", "README.md": "about", "versioned_docs": "earlier"}
    return Site(
        make="Docusaurus",
        title=title[2].replace("\\", "") if title else "",
        home=home if (root / home).is_dir() else "",
        entries=tuple(from_tree(_at(tree, "*") if isinstance(tree, dict) else [], home)),
        aside=_aside(place, aside),
    )


def _carpentry(root: Path, place: str) -> Site | None:
    """A lesson of The Carpentries: `config.yaml` names its episodes; older ones are Jekyll sites with `_episodes`."""
    values = read_values(root / place / "config.yaml")
    values = values if isinstance(values, dict) else {}
    if not ({"carpentry", "carpentry_description"} & values.keys() or (values.get("episodes") and values.get("title"))):
        return None
    entries: list[Entry] = []
    for folder in ("episodes", "learners", "instructors", "profiles"):
        names = values.get(folder)
        pages = [_join(folder, name) for name in names if isinstance(name, str)] if isinstance(names, list) else []
        entries += from_tree(pages, place)
    aside = _aside(place, {"README.md": "about", "links.md": "about", "config.yaml": "order", "site": "built"})
    return Site(make="The Carpentries", title=_text(values.get("title")), entries=tuple(entries), aside=aside)


def _summary(root: Path, place: str) -> Site | None:
    text = read_small(root / place / "SUMMARY.md")
    # mdBook numbers its chapters, and keeps them in `src`; GitBook does neither.
    entries = tuple(from_summary(text, place, numbered=place.rpartition("/")[2] == "src"))
    if not entries:
        return None
    aside = _aside(place, {"SUMMARY.md": "order"})
    return Site(make="mdBook or GitBook", title=summary_title(text), home=place, entries=entries, aside=aside)


def _sphinx(root: Path, place: str) -> Site | None:
    """A manual: `conf.py` names it, and the toctrees, starting at `index.rst`, order its pages."""
    project = _PROJECT.search(read_small(root / place / "conf.py"))
    if project is None:
        return None
    tree = _toctrees(root / place, "index", set(), 0)
    folders = ("_build", "build", "_static", "_templates", "_ext")
    return Site(
        make="Sphinx",
        title=_text(project[2]),
        entries=tuple(from_tree([{"file": "index"}, *tree], place)) if tree else (),
        aside=_aside(place, {**dict.fromkeys(folders, "built"), "conf.py": "order"}),
    )


def _toctrees(root: Path, page: str, seen: set[str], depth: int) -> list[dict[str, Any]]:
    """The entries of a page's toctrees, in the form for `from_tree`."""
    texts = (read_small(root / f"{page}{suffix}") for suffix in (".rst", ".md", ".txt"))
    text = next((text for text in texts if text), "").replace("\r\n", "\n")
    entries: list[dict[str, Any]] = []
    for match in _TOCTREE.finditer(text) if depth < _DEEPEST_TOCTREE else ():
        pages = []
        for line in (match[1] or match[2] or "").split("\n"):
            name = _TOCTREE_PAGE.fullmatch(line.strip())
            target = (name[1] or name[2]) if name else ""
            path = _relative(target.lstrip("/"))
            path = path if target[:1] == "/" or not path else _join(page.rpartition("/")[0], path)
            if path and path not in seen and len(seen) < _MOST_PAGES:
                seen.add(path)
                pages.append({"file": path, "sections": _toctrees(root, bare(path), seen, depth + 1)})
        caption = re.search(r":caption:[ \t]*(\S[^\n]*)", match[0])
        entries += [{"part": caption[1].strip(), "chapters": pages}] if caption else pages
    return entries


def _html_manual(root: Path, place: str) -> Site | None:
    """HTML pages linked from their first page, in the form of DocBook, Texinfo and LaTeX2HTML."""
    text = next((text for name in HTML_INDEXES if (text := read_small(root / place / name))), "")
    names = dict.fromkeys(_join(place, unquote(match[1])) for match in _HTML_LINK.finditer(text))
    by_sphinx = _SPHINX_MADE if is_small_file(root / place / "objects.inv") else ()
    aside = _aside(place, dict.fromkeys(by_sphinx, "built"))
    pages = [name for name in names if is_small_file(root / name) and name not in aside]
    return Site(entries=tuple(Entry(bare(name)) for name in pages), aside=aside) if len(pages) > 1 else None


_READERS: Mapping[str, Callable[[Path, str], Site | None]] = {
    "mdbook": _mdbook,
    "docusaurus": _docusaurus,
    "carpentry": _carpentry,
    "sphinx": _sphinx,
    "summary": _summary,
    "html_manual": _html_manual,
}
