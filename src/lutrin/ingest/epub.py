"""EPUB: a zip of XHTML pages, read in the order of its spine, with the titles of its navigation."""

import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote

from lutrin.errors import DocumentError
from lutrin.ingest.hypertext import document_of, main_of, soup_of, titled, to_markdown
from lutrin.records import Document

MAX_UNPACKED_BYTES = 300 * 1024 * 1024
MAX_PAGE_BYTES = 20 * 1024 * 1024
MAX_PAGES = 5_000
_HEADING = re.compile(r"^(#{1,6}) ", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_XHTML = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


def parse_epub(data: bytes, filename: str, _password: str = "") -> Document:
    """Read an EPUB of version 2 or 3.

    Args:
        data: The file.
        filename: Path relative to the book's folder.

    Returns:
        The document; its source is the text of all pages as Markdown, each page below a heading of the second level.

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
    container = soup_of(_bytes(archive, "META-INF/container.xml", filename))
    root = container.find("rootfile")
    if root is None:
        raise DocumentError(filename, "is not a complete EPUB (it names no package)")
    package_name = str(root.get("full-path") or "")
    package = soup_of(_bytes(archive, package_name, filename))
    folder = posixpath.dirname(package_name)
    items = {str(item.get("id")): item for item in package.find_all("item")}
    book = _Package(archive, filename, package, folder, items)
    labels = book.labels()
    title = package.find("dc:title")
    parts = list(book.pages(labels))
    return document_of(titled(title.get_text() if title else "", "\n\n".join(parts)), filename)


@dataclass(frozen=True)
class _Package:
    """An open EPUB: the items of its package file, by id."""

    archive: zipfile.ZipFile
    filename: str
    package: Any
    folder: str
    items: Mapping[str, Any]

    def pages(self, labels: Mapping[str, str]) -> Iterator[str]:
        """The pages of the spine as Markdown."""
        names = set(self.archive.namelist())
        for reference in self.package.find_all("itemref", limit=MAX_PAGES):
            item = self.items.get(str(reference.get("idref")))
            if item is None or "nav" in _properties(item) or str(item.get("media-type")) not in _XHTML:
                continue
            name = _join(self.folder, str(item.get("href") or ""))
            if name not in names:
                continue
            text = _lowered(to_markdown(main_of(soup_of(_bytes(self.archive, name, self.filename)))))
            label = labels.get(name, "")
            if text.strip():
                yield f"## {label}\n\n{text}" if label and not _HEADING.match(text.lstrip()) else text

    def labels(self) -> Mapping[str, str]:
        """Map each page's name in the archive to its first label in the navigation."""
        found: dict[str, str] = {}
        spine = self.package.find("spine")
        tables = [item for item in self.items.values() if "nav" in _properties(item)]
        tables += [self.items[name] for name in (str(spine.get("toc")) if spine else "",) if name in self.items]
        for item in tables:
            name = _join(self.folder, str(item.get("href") or ""))
            if name in self.archive.namelist():
                for address, label in _entries(soup_of(_bytes(self.archive, name, self.filename))):
                    page = _join(posixpath.dirname(name), address.partition("#")[0])
                    found.setdefault(page, " ".join(label.split()))
        return found


def _properties(item: Any) -> list[str]:  # noqa: ANN401 - as bs4 has it
    return str(item.get("properties") or "").split()


def _entries(table: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 - as bs4 has it
    """Address and label of each entry: links in a `nav` (version 3), or points of an NCX (version 2)."""
    for link in table.select("nav a[href]"):
        yield str(link.get("href")), link.get_text()
    for point in table.find_all("navpoint"):
        content, text = point.find("content"), point.find("text")
        if content is not None and text is not None:
            yield str(content.get("src") or ""), text.get_text()


def _lowered(text: str) -> str:
    """Move headings one level down, because the first level is the book's own title."""
    fences = [match.span() for match in _FENCE.finditer(text)]

    def lower(match: re.Match[str]) -> str:
        inside = any(start <= match.start() < end for start, end in fences)
        return match.group() if inside else f"{'#' * min(6, len(match[1]) + 1)} "

    return _HEADING.sub(lower, text)


def _join(folder: str, address: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(address)))


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
