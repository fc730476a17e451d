"""EPUB: a zip of XHTML pages, read in the order of its spine, with the titles of its navigation."""

import posixpath
import re
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
from lutrin.ingest.hypertext import document_of, main_of, soup_of, titled, to_markdown, unread_notices
from lutrin.ingest.markdown import title_from_name
from lutrin.ingest.roles import role_of_title
from lutrin.ingest.titles import true_title
from lutrin.records import Document

MAX_UNPACKED_BYTES = 300 * 1024 * 1024
MAX_PAGE_BYTES = 20 * 1024 * 1024
MAX_PAGES = 5_000
_HEADING = re.compile(r"^(#{1,6}) ", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_HEADS = ["h1", "h2", "h3", "h4", "h5", "h6"]
_BLOCKS = [*_HEADS, "p", "div", "section", "article", "aside", "blockquote", "li", "td", "figure", "ul", "ol", "table"]
_XHTML = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


def parse_epub(data: bytes, filename: str, _password: str = "") -> Document:
    """Read an EPUB of version 2 or 3 as Markdown, each page below a heading of the second level.

    Raises:
        DocumentError: It is encrypted, broken, larger than the limits when unpacked, or holds no text.
    """
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return _read(archive, filename)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        raise DocumentError(filename, f"is not a complete EPUB ({error})") from None


def _read(archive: zipfile.ZipFile, filename: str) -> Document:
    size = sum(item.file_size for item in archive.infolist())
    if size > MAX_UNPACKED_BYTES:
        raise DocumentError(filename, f"unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB")
    names = set(archive.namelist())
    if "META-INF/encryption.xml" in names and b"EncryptedData" in _bytes(archive, "META-INF/encryption.xml", filename):
        # A free book may have obfuscated fonts; its text is still readable.
        encrypted = soup_of(_bytes(archive, "META-INF/encryption.xml", filename)).find_all(
            re.compile("cipherreference$")
        )
        if any(str(item.get("uri", "")).lower().endswith((".xhtml", ".html", ".htm", ".xml")) for item in encrypted):
            raise DocumentError(filename, "is encrypted (DRM) and cannot be read")
    package_name = _package_name(archive, filename)
    book = _Package(archive, filename, package_name)
    title = _first(book.package, "title")
    parts = list(book.pages())
    name = true_title(title.get_text() if title else "")
    if role_of_title(name):
        # GitBook calls each book "Table of Contents", and every page would have that title's role.
        name = ""
    source = titled(name or title_from_name(filename), "\n\n".join(parts))
    return document_of(source, filename, unread_notices(filename, book.unread))


def _package_name(archive: zipfile.ZipFile, filename: str) -> str:
    root = _first(soup_of(_bytes(archive, "META-INF/container.xml", filename)), "rootfile")
    if root is None:
        raise DocumentError(filename, "is not a complete EPUB (it names no package)")
    return _join("", str(root.get("full-path") or ""))


@dataclass(frozen=True, slots=True)
class _Label:
    text: str
    fragment: str
    depth: int


class _Package:
    """An open EPUB: the items of its package file, by id."""

    def __init__(self, archive: zipfile.ZipFile, filename: str, name: str) -> None:
        self.archive, self.filename = archive, filename
        self.names = {true_name(known).casefold(): known.filename for known in reversed(archive.infolist())}
        """Names in the archive: programs that do not tell capitals from small letters wrote some of the addresses."""
        self.package = soup_of(self.read(name))
        self.folder = posixpath.dirname(name)
        self.items = {str(item.get("id")): item for item in _all(self.package, "item")}
        self.unread = 0

    def read(self, name: str) -> bytes:
        return _bytes(self.archive, self.names.get(name.casefold(), name), self.filename)

    def address(self, item: Any) -> str:  # noqa: ANN401 - as bs4 has it
        """The name of an item in the archive; empty if it is not there."""
        name = _join(self.folder, str(item.get("href") or ""))
        return self.names.get(name.casefold(), "")

    def pages(self) -> Iterator[str]:
        """The pages of the spine as Markdown."""
        labels, styles = self.labels(), self.styles()
        for reference in _all(self.package, "itemref")[:MAX_PAGES]:
            item = self.items.get(str(reference.get("idref")))
            if item is None or "nav" in _properties(item) or str(item.get("media-type")) not in _XHTML:
                continue
            name = self.address(item)
            if not name:
                continue
            soup = main_of(soup_of(self.read(name)))
            first = _mark(soup, labels.get(name, []))
            text, unread = to_markdown(soup, styles)
            self.unread += unread
            if text.strip():
                text = _lower_headings(text)
                yield f"## {first}\n\n{text}" if first and not _HEADING.match(text.lstrip()) else text

    def labels(self) -> Mapping[str, list[_Label]]:
        """The labels that the navigation gives to each page, by its name in the archive."""
        found: defaultdict[str, list[_Label]] = defaultdict(list)
        spine = _first(self.package, "spine")
        tables = [item for item in self.items.values() if "nav" in _properties(item)]
        tables += [self.items[name] for name in (str(spine.get("toc")) if spine else "",) if name in self.items]
        for item in tables:
            name = self.address(item)
            if name and not found:
                for address, text, depth in _entries(soup_of(self.read(name))):
                    path, _, fragment = address.partition("#")
                    page = self.names.get(_join(posixpath.dirname(name), path).casefold(), "")
                    if page and text.strip():
                        found[page].append(_Label(" ".join(text.split()), fragment, depth))
        return found

    def styles(self) -> str:
        """The book's style sheets, which say what is hidden."""
        sheets = [self.address(item) for item in self.items.values() if item.get("media-type") == "text/css"]
        return "\n".join(self.read(name).decode("utf-8", "replace") for name in sheets if name)


def _mark(soup: Any, labels: Sequence[_Label]) -> str:  # noqa: ANN401 - as bs4 has it
    """Make headings where labels of the navigation lead into a page; return the label of the page itself."""
    top = min((label.depth for label in labels), default=0)
    first = next((label.text for label in labels if not label.fragment), "")
    for label in labels:
        target = soup.find(id=label.fragment) if label.fragment else None
        if target is None:
            first = first or label.text
            continue
        level = min(6, 1 + label.depth - top)
        block = target if target.name in _BLOCKS else target.find_parent(_BLOCKS) or target
        opening = block if block.name in _HEADS else block.find(_HEADS)
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
    return list(soup.find_all(lambda tag: tag.name.rpartition(":")[2] == name))


def _first(soup: Any, name: str) -> Any:  # noqa: ANN401 - as bs4 has it
    return next(iter(_all(soup, name)), None)


def _properties(item: Any) -> list[str]:  # noqa: ANN401 - as bs4 has it
    return str(item.get("properties") or "").split()


def _entries(table: Any) -> Iterator[tuple[str, str, int]]:  # noqa: ANN401 - as bs4 has it
    """Address, label and depth of each entry: links in the `nav` of contents (version 3), or points of an NCX."""
    navs = _all(table, "nav")
    contents = [nav for nav in navs if "toc" in f"{nav.get('epub:type') or ''} {nav.get('role') or ''}"]
    unnamed = [nav for nav in navs if not nav.get("epub:type")]
    for nav in contents or unnamed:
        for link in nav.select("a[href]"):
            yield str(link.get("href")), link.get_text(), len(link.find_parents("ol"))
    for point in _all(table, "navpoint"):
        content, text = _first(point, "content"), _first(point, "text")
        if content is not None and text is not None:
            depth = len(point.find_parents(lambda tag: tag.name.rpartition(":")[2] == "navpoint"))
            yield str(content.get("src") or ""), text.get_text(), depth


def _lower_headings(text: str) -> str:
    """Move headings one level down, because the first level is the book's own title."""
    fences = [match.span() for match in _FENCE.finditer(text)]

    def lower(match: re.Match[str]) -> str:
        inside = any(start <= match.start() < end for start, end in fences)
        return match.group() if inside else f"{'#' * min(6, len(match[1]) + 1)} "

    return _HEADING.sub(lower, text)


def _join(folder: str, address: str) -> str:
    return unicodedata.normalize("NFC", posixpath.normpath(posixpath.join(folder, unquote(address))))


def _bytes(archive: zipfile.ZipFile, name: str, filename: str) -> bytes:
    try:
        with archive.open(name) as member:
            data = member.read(MAX_PAGE_BYTES + 1)
    except KeyError:
        raise DocumentError(filename, f"is not a complete EPUB ({name} is missing)") from None
    except RuntimeError:
        raise DocumentError(filename, "is encrypted and cannot be read") from None
    if len(data) > MAX_PAGE_BYTES:
        raise DocumentError(filename, f"holds a page larger than {MAX_PAGE_BYTES >> 20} MB ({name})")
    return data
