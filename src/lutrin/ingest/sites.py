"""Read a site's configuration: the book's title, the order of its pages, and the folders with its text.

Read are the configurations of Docusaurus, mdBook, MkDocs, Jupyter Book and MyST, Sphinx, Jekyll, Hugo, The Carpentries,
Hugging Face's courses, Quarto, Mintlify and GitBook, and the links of the first of several pages in HTML. A file that
cannot be read says nothing; the names serve then.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from lutrin.ingest.configuration import is_small_file, read_json, read_small, read_toml, read_yaml
from lutrin.ingest.navigation import Entry, bare, from_summary, from_tree, summary_title
from lutrin.ingest.script import read_literal

HOMES = frozenset(
    "docs doc book src source website site content contents text manuscript chapters chapter lessons episodes "
    "_episodes sections pages notes notebooks tutorials en _chapters _docs _lessons english markdown md".split()
)
"""Folders that hold the text of the book around them: no book, part or chapter is called so."""
DOCUSAURUS = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs"))
_SIDEBARS = tuple(f"sidebars.{suffix}" for suffix in ("js", "ts", "json", "mjs", "cjs"))
_TITLE_IN_SCRIPT = re.compile(r"^\s*title\s*:\s*(['\"`])((?:(?!\1)[^\\\n]|\\.)+)\1", re.MULTILINE)
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


@dataclass(frozen=True)
class Site:
    """A site's title, order of pages and folders."""

    make: str = ""
    """The program that the files are written for: `mdBook`."""
    title: str = ""
    language: str = ""
    home: str = ""
    """Folder that holds the pages, relative; empty: not said."""
    entries: tuple[Entry, ...] = ()
    """The pages that a table of contents names, in its order."""
    aside: Mapping[str, str] = field(default_factory=dict)
    """Files and folders that are no pages, by relative path: why."""

    @property
    def marked(self) -> bool:
        """Whether the folder is a site of some known make."""
        return bool(self.make)


def read_site(root: Path) -> Site:
    """First title, order and language that configurations in a folder, or its folders of text, name; else no `make`."""
    found = [site for place in _places(root) for read in _READERS if (site := read(root, place)) is not None]
    aside: dict[str, str] = {}
    for site in found:
        aside.update(site.aside)
    return Site(
        make=next((site.make for site in found), ""),
        title=next((site.title for site in found if site.title), ""),
        language=next((site.language for site in found if site.language), ""),
        home=next((site.home for site in found if site.home), ""),
        entries=next((site.entries for site in found if site.entries), ()),
        aside=aside,
    )


def is_site(folder: Path) -> bool:
    """Whether a folder itself holds a description or the configuration of a site."""
    return any(is_small_file(folder / name) for name in MARKS) or read_carpentry(folder, "") is not None


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


def _join(*parts: str) -> str:
    return "/".join(part.strip("/") for part in parts if part.strip("/") not in {"", "."})


def _mapping(value: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever the file holds
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:  # noqa: ANN401 - whatever the file holds
    return " ".join(value.split())[:200] if isinstance(value, str) else ""


def _relative(value: Any, default: str = "") -> str:  # noqa: ANN401 - whatever the file holds
    """A folder that a configuration names, if it lies inside the book."""
    path = PurePosixPath(_text(value) or default)
    return "" if path.is_absolute() or ".." in path.parts else _join(path.as_posix())


def is_mdbook(values: Mapping[str, Any]) -> bool:
    """Whether a `book.toml` is mdBook's, whose file has the name of ours: it has tables where ours has lines."""
    return isinstance(values.get("book"), dict)


def _mdbook(root: Path, place: str) -> Site | None:
    values = read_toml(root / place / "book.toml")
    if not is_mdbook(values):
        return None
    book, build = _mapping(values["book"]), _mapping(values.get("build"))
    home = _join(place, _relative(book.get("src"), "src"))
    if not (root / home).is_dir():
        home = place
    built = _join(place, _relative(build.get("build-dir"), "book"))
    return Site(
        make="mdBook",
        title=_text(book.get("title")),
        language=_text(book.get("language")),
        home=home,
        entries=tuple(from_summary(read_small(root / home / "SUMMARY.md"), home, numbered=True)),
        aside={
            _join(place, "book.toml"): _ORDER,
            _join(home, "SUMMARY.md"): _ORDER,
            **({built: _BUILT} if built != home else {}),
        },
    )


def _docusaurus(root: Path, place: str) -> Site | None:
    name = next((name for name in DOCUSAURUS if is_small_file(root / place / name)), None)
    if name is None:
        return None
    config = read_small(root / place / name)
    title, docs = _TITLE_IN_SCRIPT.search(config), _DOCS_PATH.search(config)
    home = _join(place, _relative(docs[1] if docs else None, "docs"))
    sidebars = next((file for file in _SIDEBARS if is_small_file(root / place / file)), None)
    tree = read_literal(read_small(root / place / sidebars)) if sidebars else None
    aside = {_join(place, file): _ORDER for file in (name, sidebars) if file}
    aside |= {_join(place, "build"): _BUILT, _join(place, "i18n"): _TRANSLATED, _join(place, "README.md"): _ABOUT}
    aside |= {_join(place, "versioned_docs"): "holds earlier versions of the same pages"}
    return Site(
        make="Docusaurus",
        title=title[2].replace("\\", "") if title else "",
        home=home if (root / home).is_dir() else "",
        entries=tuple(from_tree(list(_mapping(tree).values()), home)),
        aside=aside,
    )


def _mkdocs(root: Path, place: str) -> Site | None:
    name = next((name for name in ("mkdocs.yml", "mkdocs.yaml") if is_small_file(root / place / name)), None)
    values = _mapping(read_yaml(root / place / name)) if name else {}
    if name is None or not values:
        return None
    home = _join(place, _relative(values.get("docs_dir"), "docs"))
    return Site(
        make="MkDocs",
        title=_text(values.get("site_name")),
        home=home if (root / home).is_dir() else "",
        entries=tuple(from_tree(values.get("nav"), home)),
        aside={_join(place, name): _ORDER, _join(place, _relative(values.get("site_dir"), "site")): _BUILT},
    )


def _jupyter_book(root: Path, place: str) -> Site | None:
    toc = read_yaml(root / place / "_toc.yml")
    if not toc:
        return None
    return Site(
        make="Jupyter Book",
        title=_text(_mapping(read_yaml(root / place / "_config.yml")).get("title")),
        entries=tuple(from_tree(toc, place)),
        aside={_join(place, "_toc.yml"): _ORDER, _join(place, "_config.yml"): _ORDER, _join(place, "_build"): _BUILT},
    )


def _myst(root: Path, place: str) -> Site | None:
    values = _mapping(read_yaml(root / place / "myst.yml"))
    if not values:
        return None
    project, site = _mapping(values.get("project")), _mapping(values.get("site"))
    return Site(
        make="MyST",
        title=_text(project.get("title")) or _text(site.get("title")),
        language=_text(project.get("language")),
        entries=tuple(from_tree(project.get("toc") or values.get("toc"), place)),
        aside={_join(place, "myst.yml"): _ORDER, _join(place, "_build"): _BUILT},
    )


def _quarto(root: Path, place: str) -> Site | None:
    values = _mapping(read_yaml(root / place / "_quarto.yml"))
    if not values:
        return None
    book, website = _mapping(values.get("book")), _mapping(values.get("website"))
    sidebar = website.get("sidebar")
    tree = [book.get("chapters"), book.get("appendices"), sidebar]
    return Site(
        make="Quarto",
        title=_text(book.get("title")) or _text(website.get("title")) or _text(values.get("title")),
        entries=tuple(from_tree([part for part in tree if part], place)),
        aside={_join(place, "_quarto.yml"): _ORDER, _join(place, "_book"): _BUILT, _join(place, "_site"): _BUILT},
    )


def _hugging_face(root: Path, place: str) -> Site | None:
    tree = read_yaml(root / place / "_toctree.yml")
    if not isinstance(tree, list):
        return None
    return Site(
        make="Hugging Face course", entries=tuple(from_tree(tree, place)), aside={_join(place, "_toctree.yml"): _ORDER}
    )


def read_carpentry(root: Path, place: str) -> Site | None:
    """A lesson of The Carpentries: `config.yaml` names its episodes; older ones are Jekyll sites with `_episodes`."""
    values = _mapping(read_yaml(root / place / "config.yaml"))
    if not ({"carpentry", "carpentry_description"} & values.keys() or (values.get("episodes") and values.get("title"))):
        return None
    entries = []
    for folder in ("episodes", "learners", "instructors", "profiles"):
        names = values.get(folder)
        pages = [_join(folder, name) for name in names if isinstance(name, str)] if isinstance(names, list) else []
        entries += list(from_tree(pages, place))
    aside = {_join(place, name): _ABOUT for name in ("README.md", "links.md")}
    aside |= {_join(place, "config.yaml"): _ORDER, _join(place, "site"): _BUILT}
    return Site(make="The Carpentries", title=_text(values.get("title")), entries=tuple(entries), aside=aside)


def _mintlify(root: Path, place: str) -> Site | None:
    name = next((name for name in ("docs.json", "mint.json") if is_small_file(root / place / name)), None)
    values = _mapping(read_json(root / place / name)) if name else {}
    if name is None or "navigation" not in values:
        return None
    tree = values["navigation"]
    return Site(
        make="Mintlify",
        title=_text(values.get("name")),
        entries=tuple(from_tree(list(tree.values()) if isinstance(tree, dict) else tree, place)),
        aside={_join(place, name): _ORDER},
    )


def _hugo(root: Path, place: str) -> Site | None:
    for name in ("hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json", "config.toml"):
        path = root / place / name
        if not is_small_file(path) or (name == "config.toml" and not (root / place / "content").is_dir()):
            continue
        values = read_toml(path) if name.endswith("toml") else _mapping(read_yaml(path))
        home = _join(place, _relative(values.get("contentDir"), "content"))
        aside = {_join(place, folder): _BUILT for folder in ("public", "resources")}
        aside |= {
            _join(place, folder): "holds the design of the site" for folder in ("layouts", "themes", "archetypes")
        }
        return Site(
            make="Hugo",
            title=_text(values.get("title")),
            language=_text(values.get("languageCode"))[:2],
            home=home if (root / home).is_dir() else "",
            aside={**aside, _join(place, name): _ORDER},
        )
    return None


def _jekyll(root: Path, place: str) -> Site | None:
    values = _mapping(read_yaml(root / place / "_config.yml"))
    if not values:
        return None
    folders = ("_layouts", "_includes", "_sass", "_data", "assets")
    aside = {_join(place, folder): "holds the design of the site" for folder in folders[:-1]}
    return Site(
        make="Jekyll",
        title=_text(values.get("title")),
        language=_text(values.get("lang"))[:2],
        aside={**aside, _join(place, "_site"): _BUILT, _join(place, "_config.yml"): _ORDER},
    )


def _summary(root: Path, place: str) -> Site | None:
    text = read_small(root / place / "SUMMARY.md")
    # mdBook numbers its chapters, and keeps them in `src`; GitBook does neither.
    entries = tuple(from_summary(text, place, numbered=place.rpartition("/")[2] == "src"))
    if not entries:
        return None
    return Site(
        make="mdBook or GitBook",
        title=summary_title(text),
        home=place,
        entries=entries,
        aside={_join(place, "SUMMARY.md"): _ORDER},
    )


def _sphinx(root: Path, place: str) -> Site | None:
    """A manual: `conf.py` names it, and the toctrees from `index.rst` on order its pages."""
    project = _PROJECT.search(read_small(root / place / "conf.py"))
    if project is None:
        return None
    seen: set[str] = set()
    tree = _toctrees(root / place, "index", seen, 0)
    folders = ("_build", "build", "_static", "_templates", "_ext")
    return Site(
        make="Sphinx",
        title=_text(project[2]),
        entries=tuple(from_tree([{"file": "index"}, *tree], place)) if tree else (),
        aside={**{_join(place, folder): _BUILT for folder in folders}, _join(place, "conf.py"): _ORDER},
    )


def _toctrees(root: Path, page: str, seen: set[str], depth: int) -> list[dict[str, Any]]:
    """What the toctrees of a page name, as `from_tree` takes it."""
    texts = (read_small(root / f"{page}{suffix}") for suffix in (".rst", ".md", ".txt"))
    text = next((text for text in texts if text), "").replace("\r\n", "\n")
    found: list[dict[str, Any]] = []
    for match in _TOCTREE.finditer(text) if depth < _DEEPEST_TOCTREE else ():
        pages = []
        for line in (match[1] or match[2] or "").split("\n"):
            name = _TOCTREE_PAGE.fullmatch(line.strip())
            named = (name[1] or name[2]) if name else ""
            path = _relative(named.lstrip("/"))
            path = path if named[:1] == "/" or not path else _join(page.rpartition("/")[0], path)
            if path and path not in seen and len(seen) < _MOST_PAGES:
                seen.add(path)
                pages.append({"file": path, "sections": _toctrees(root, bare(path), seen, depth + 1)})
        caption = re.search(r":caption:[ \t]*(\S[^\n]*)", match[0])
        found += [{"part": caption[1].strip(), "chapters": pages}] if caption else pages
    return found


def _html_manual(root: Path, place: str) -> Site | None:
    """Pages in HTML that their first page links, as DocBook, Texinfo and LaTeX2HTML write it."""
    text = next((text for name in HTML_INDEXES if (text := read_small(root / place / name))), "")
    names = dict.fromkeys(_join(place, unquote(match[1])) for match in _HTML_LINK.finditer(text))
    by_sphinx = _SPHINX_MADE if is_small_file(root / place / "objects.inv") else ()
    aside = {_join(place, name): _BUILT for name in by_sphinx}
    pages = [name for name in names if is_small_file(root / name) and name not in aside]
    return Site(entries=tuple(Entry(bare(name)) for name in pages), aside=aside) if len(pages) > 1 else None


_ORDER = "is read for the title and the order of the pages"
_BUILT = "is generated from the pages"
_TRANSLATED = "holds translations of the same pages"
_ABOUT = "is about the project, not a page of the book"
_READERS: tuple[Callable[[Path, str], Site | None], ...] = (
    _mdbook,
    _docusaurus,
    _mkdocs,
    _jupyter_book,
    _myst,
    _quarto,
    read_carpentry,
    _hugging_face,
    _mintlify,
    _hugo,
    _sphinx,
    _summary,
    _jekyll,
    _html_manual,
)
MARKS = (
    "book.toml",
    *DOCUSAURUS,
    "mkdocs.yml",
    "mkdocs.yaml",
    "_toc.yml",
    "conf.py",
    "myst.yml",
    "_quarto.yml",
    "_toctree.yml",
    "docs.json",
    "mint.json",
    "hugo.toml",
    "hugo.yaml",
    "hugo.yml",
    "SUMMARY.md",
    "_config.yml",
)
"""Files that say that their folder is a book."""
CONFIGURATIONS = (
    *MARKS,
    *_SIDEBARS,
    "config.yaml",
    "config.toml",
    "_category_.json",
    "_category_.yml",
    "_category_.yaml",
)
"""Files that may say a book's title or the order of its pages."""
