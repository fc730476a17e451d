"""EPUB: a zip of XHTML pages, read in the order of its spine, with the titles of its navigation."""

import posixpath
import unicodedata
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote

import bs4

from lutrin.errors import DocumentError
from lutrin.ingest.decoding import true_name
from lutrin.ingest.formulas import local
from lutrin.ingest.html_view import HEADINGS
from lutrin.ingest.hypertext import (
    document_of,
    left_out_notices,
    lower_headings,
    main_of,
    soup_of,
    to_markdown,
    words_beside,
)
from lutrin.ingest.markdown import title_from_name
from lutrin.ingest.roles import role_of_title
from lutrin.ingest.wording import true_title
from lutrin.records import Document

MAX_UNPACKED_BYTES = 300 * 1024 * 1024
MAX_PAGE_BYTES = 20 * 1024 * 1024
MAX_PAGES = 5_000
_BLOCKS = [
    *HEADINGS,
    "p",
    "div",
    "section",
    "article",
    "aside",
    "blockquote",
    "li",
    "td",
    "figure",
    "ul",
    "ol",
    "table",
]
_XHTML = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})


def parse_epub(data: bytes, filename: str, _password: str = "") -> Document:
    """Read an EPUB of version 2 or 3 as Markdown, each page below a heading of the second level.

    Raises:
        DocumentError: It is encrypted, broken, too large when unpacked, or contains no text.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            book = _Package(archive, filename)
            left_out: list[str] = []
            text = "\n\n".join(book.pages(left_out))
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        raise DocumentError(filename, "is damaged, or no EPUB; get the file anew") from error
    title = true_title(book.title)
    if role_of_title(title):
        # GitBook calls each book "Table of Contents", which would give every page that title's role.
        title = ""
    notices = left_out_notices(filename, left_out)
    return document_of(text, filename, title=title or title_from_name(filename), notices=notices)


@dataclass(frozen=True, slots=True)
class _Label:
    text: str
    fragment: str
    depth: int


class _Package:
    """An open EPUB: the items of its package file, by id."""

    def __init__(self, archive: zipfile.ZipFile, filename: str) -> None:
        self._archive, self._filename = archive, filename
        if sum(item.file_size for item in archive.infolist()) > MAX_UNPACKED_BYTES:
            raise DocumentError(filename, f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB")
        self._names = {true_name(member).casefold(): member.filename for member in reversed(archive.infolist())}
        """Names in the archive by lower case: some addresses come from programs that ignore case."""
        if "META-INF/encryption.xml" in archive.namelist():
            # A free book may have obfuscated fonts; its text is still readable.
            encrypted = _all(soup_of(self._read("META-INF/encryption.xml")), "cipherreference")
            uris = [str(item.get("uri", "")).lower() for item in encrypted]
            if any(uri.endswith((".xhtml", ".html", ".htm", ".xml")) for uri in uris):
                raise DocumentError(filename, "is encrypted (DRM) and cannot be read")
        root = _first(soup_of(self._read("META-INF/container.xml")), "rootfile")
        if root is None:
            raise DocumentError(filename, "is not a complete EPUB (it names no package)")
        name = _join("", str(root.get("full-path") or ""))
        self._package = soup_of(self._read(name))
        self._folder = posixpath.dirname(name)
        self._items = {str(item.get("id")): item for item in _all(self._package, "item")}
        title = _first(self._package, "title")
        self.title = str(title.get_text()) if title else ""

    def pages(self, left_out: list[str]) -> Iterator[str]:
        """The pages of the spine as Markdown; words outside of the text are added to `left_out`."""
        labels = self._labels()
        sheets = [self._address(item) for item in self._items.values() if item.get("media-type") == "text/css"]
        styles = "\n".join(self._read(name).decode("utf-8", "replace") for name in sheets if name)
        for reference in _all(self._package, "itemref")[:MAX_PAGES]:
            item = self._items.get(str(reference.get("idref")))
            if item is None or "nav" in _properties(item):
                continue
            if str(item.get("media-type")) not in _XHTML:
                left_out.append(f"{item.get('href')} ({item.get('media-type')})")
                continue
            if name := self._address(item):
                soup = main_of(soup_of(self._read(name)))
                left_out += words_beside(soup)
                first = _mark(soup, labels.get(name, []))
                text = to_markdown(soup, styles, left_out)
                if text.strip():
                    text = lower_headings(text)
                    yield f"## {first}\n\n{text}" if first and not text.lstrip().startswith("#") else text

    def _labels(self) -> Mapping[str, list[_Label]]:
        """The labels that the navigation gives each page, by its name in the archive."""
        labels: defaultdict[str, list[_Label]] = defaultdict(list)
        spine = _first(self._package, "spine")
        tables = [item for item in self._items.values() if "nav" in _properties(item)]
        tables += [self._items[name] for name in (str(spine.get("toc")) if spine else "",) if name in self._items]
        for item in tables:
            name = self._address(item)
            if name and not labels:
                for address, text, depth in _entries(soup_of(self._read(name))):
                    path, _, fragment = address.partition("#")
                    page = self._names.get(_join(posixpath.dirname(name), path).casefold(), "")
                    if page and text.strip():
                        labels[page].append(_Label(" ".join(text.split()), fragment, depth))
        return labels

    def _address(self, item: Any) -> str:  # noqa: ANN401 - as bs4 has it
        """The name of an item in the archive; empty if it is missing."""
        return self._names.get(_join(self._folder, str(item.get("href") or "")).casefold(), "")

    def _read(self, name: str) -> bytes:
        try:
            with self._archive.open(self._names.get(name.casefold(), name)) as member:
                data = member.read(MAX_PAGE_BYTES + 1)
        except KeyError:
            raise DocumentError(self._filename, f"is not a complete EPUB ({name} is missing)") from None
        except RuntimeError:
            raise DocumentError(self._filename, "is encrypted and cannot be read") from None
        if len(data) > MAX_PAGE_BYTES:
            raise DocumentError(self._filename, f"holds a page larger than {MAX_PAGE_BYTES >> 20} MB ({name})")
        return data


def _mark(soup: Any, labels: Sequence[_Label]) -> str:  # noqa: ANN401 - as bs4 has it
    """Insert headings at the targets of navigation labels within a page; return the label of the page itself."""
    top = min((label.depth for label in labels), default=0)
    first = next((label.text for label in labels if not label.fragment), "")
    for label in labels:
        target = soup.find(id=label.fragment) if label.fragment else None
        if target is None:
            first = first or label.text
            continue
        level = min(6, 1 + label.depth - top)
        block = target if target.name in _BLOCKS else target.find_parent(_BLOCKS) or target
        opening = block if block.name in HEADINGS else block.find(HEADINGS)
        if opening is not None and _same(opening.get_text(), label.text):
            continue
        if block.name in {"p", "div"} and block.find(["p", "div"]) is None and _same(block.get_text(), label.text):
            block.name = f"h{level}"
        elif opening is None and block.name not in {"li", "td"} and block is not soup:
            heading = bs4.Tag(name=f"h{level}")
            heading.append(label.text)
            block.insert_before(heading)
    return first


def _same(text: str, label: str) -> bool:
    return "".join(text.split()).casefold() == "".join(label.split()).casefold()


def _all(soup: Any, name: str) -> list[Any]:  # noqa: ANN401 - as bs4 has it
    return list(soup.find_all(lambda tag: local(tag) == name))


def _first(soup: Any, name: str) -> Any:  # noqa: ANN401 - as bs4 has it
    return next(iter(_all(soup, name)), None)


def _properties(item: Any) -> list[str]:  # noqa: ANN401 - as bs4 has it
    return str(item.get("properties") or "").split()


def _entries(table: Any) -> Iterator[tuple[str, str, int]]:  # noqa: ANN401 - as bs4 has it
    """Address, label and depth of each entry: links in the `nav` of contents (version 3), or points of an NCX."""
    navs = _all(table, "nav")
    contents = [nav for nav in navs if "toc" in f"{nav.get('epub:type') or ''} {nav.get('role') or ''}"]
    for nav in contents or [nav for nav in navs if not nav.get("epub:type")]:
        for link in nav.select("a[href]"):
            yield str(link.get("href")), link.get_text(), len(link.find_parents("ol"))
    for point in _all(table, "navpoint"):
        content, text = _first(point, "content"), _first(point, "text")
        if content is not None and text is not None:
            depth = len(point.find_parents(lambda tag: local(tag) == "navpoint"))
            yield str(content.get("src") or ""), text.get_text(), depth


def _join(folder: str, address: str) -> str:
    return unicodedata.normalize("NFC", posixpath.normpath(posixpath.join(folder, unquote(address))))
