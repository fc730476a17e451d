"""Which files a book consists of: found without following links, named relative to the book's folder."""

import fnmatch
import hashlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from io import BufferedReader
from pathlib import Path

from lutrin.errors import DocumentError
from lutrin.ingest.configuration import fault_of, read_plain
from lutrin.ingest.formats import FORMATS, max_bytes, suffix_of
from lutrin.records import MARKDOWN

IGNORE_FILE = ".lutrinignore"
"""Names, one a line, what a folder leaves out, with `*` for anything; an empty one leaves all of it out."""
MAX_IGNORE_BYTES = 16_384
"""Of such a file: each of its patterns is compared with every name of the folder."""
COMPANION = "companion.jsonl"
"""End of the name of what was prepared for a book's readers; `lutrin.ingest.companion_file` reads it."""
_IGNORED_FOLDERS = {
    "node_modules": "holds packages of a program",
    "__pycache__": "is made by a program",
    "_drafts": "holds drafts, which the built site does not show",
    "__MACOSX": "is made by a program",
    "venv": "holds packages of a program",
    "translations": "holds translations of the same pages",
}
_WITH_FRONT_MATTER = MARKDOWN | {".qmd", ".rmd"}
_FRONT_MATTER_BYTES = 4096
# Names at the top of YAML or TOML, or at any place of JSON.
_DRAFT = re.compile(
    rb"^(?:draft[ \t]*[:=][ \t]*[\"']?(?:true|yes)|published[ \t]*[:=][ \t]*[\"']?(?:false|no))\b"
    rb"|[{,]\s*\"draft\"\s*:\s*true\b",
    re.MULTILINE | re.IGNORECASE,
)
_END_OF_JSON = re.compile(rb"\n\}|\}[ \t]*\r?\n[ \t]*\r?\n")
_SHOWN_FROM_TO = re.compile(
    rb"(?:^|[{,]\s*\")(?P<name>publishdate|expirydate)\"?[ \t]*[:=][ \t]*[\"']?(?P<day>\d{4}-\d\d-\d\d)",
    re.MULTILINE | re.IGNORECASE,
)
# Pages about a project that lie beside its text in a repository.
_HOUSEKEEPING = re.compile(
    r"(?:licen[cs]e|copying|notice|authors?|contributors|contributing|code[-_]of[-_]conduct|security|changelog|changes"
    r"|maintainers|governance|citation|support|funding|pull_request_template|issue_template|third[-_]party[-_]notices)"
    r"(?:[-_.][\w-]+)?\.(?:md|markdown|txt|mdx|rst|html)",
    re.IGNORECASE,
)
PICTURES = frozenset(".png .jpg .jpeg .gif .svg .webp .avif .bmp .ico .tif .tiff".split())
_NOTEBOOKS = frozenset({".rst", ".adoc", ".org", ".tex"})
_OFFICE = frozenset({".doc", ".odt", ".rtf", ".pptx", ".ppt", ".xlsx", ".xls", ".ods", ".odp", ".pages", ".mobi"})
_SAVED = re.compile(
    r"(.+)[_. -](?:files|file|dateien|fichiers|archivos|ficheiros|arquivos|bestanden|filer|tiedostot|soubory|pliki)",
    re.IGNORECASE,
)
"""What browsers call such a folder, each in the language of its user."""
_PAGES = (".html", ".htm", ".xhtml", ".mht")
_NUMBERS = re.compile(r"(\d+)")
_MAX_DEPTH = 64

Skipped = Callable[[str, str], None]
"""Told of what is left out: name relative to the book's folder, and the reason."""


@dataclass(frozen=True)
class Rules:
    """Rules for files that are not pages of the book."""

    only: frozenset[str] | None = None
    """The book consists of these files alone; None: of whatever the folder holds."""
    aside: Mapping[str, str] = field(default_factory=dict)
    """Files and folders by relative path, with the reason."""
    home: str = ""
    """The folder that the book's site keeps its pages in; what lies beside it is about the project."""


@dataclass(frozen=True)
class SourceFile:
    """One file of a book."""

    name: str
    """Path relative to the book's folder, with forward slashes."""
    root: Path
    size: int
    """Bytes."""

    @property
    def suffix(self) -> str:
        """`.md`, `.mdx`, `.pdf` and so on."""
        return suffix_of(self.name)

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the content, hexadecimal; reads the file once.

        Raises:
            DocumentError: The file is too large, or cannot be read.
        """
        with self.opened() as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def read(self) -> bytes:
        """The content, from inside the book's folder only.

        Raises:
            DocumentError: As `opened` raises it.
        """
        with self.opened() as file:
            return file.read(max_bytes(self.name))

    @contextmanager
    def opened(self) -> Iterator[BufferedReader]:
        """The file, from inside the book's folder only, to be read.

        Raises:
            DocumentError: The file is too large, lies outside (a link was put in its way), or cannot be read.
        """
        path, limit = self.root / self.name, max_bytes(self.name)
        try:
            if not path.resolve().is_relative_to(self.root.resolve()):
                raise DocumentError(self.name, "lies outside the book's folder and was not read")
            # Without waiting, should a pipe have been put in the file's place.
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as file:
                status = os.fstat(descriptor)
                if status.st_size > limit:
                    raise DocumentError(self.name, f"is larger than {limit // 1024 // 1024} MB")
                if fault := fault_of(status, limit):
                    raise DocumentError(self.name, fault)
                yield file
        except OSError as error:
            raise DocumentError(self.name, f"cannot be read ({error.strerror or error})") from None


def scan(root: Path, skipped: Skipped | None = None, rules: Rules = Rules()) -> list[SourceFile]:
    """The files that Lutrin reads, numbers in names as numbers; `skipped` hears of the others, and why."""
    tell = skipped or (lambda _name, _reason: None)
    found: list[SourceFile] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
        except OSError as error:
            tell(_printable(folder), f"cannot be read ({error.strerror or error})")
            continue
        ignored = ignored_names(root / folder)
        for entry in entries:
            name = f"{folder}/{entry.name}" if folder else entry.name
            if rules.only is not None and name not in rules.only:
                continue
            reason = _reason(entry, name, rules, ignored)
            if reason:
                tell(_printable(name), reason)
            elif reason is None and entry.is_dir(follow_symlinks=False):
                folders.append(name)
            elif reason is None:
                found.append(SourceFile(name, root, entry.stat(follow_symlinks=False).st_size))
    return sorted(found, key=lambda file: natural(file.name))


def holds_pages(folder: Path) -> bool:
    """Whether there is any file in a folder that Lutrin reads as a page."""
    pending = [folder]
    while pending:
        place = pending.pop()
        ignored = ignored_names(place)
        try:
            entries = list(os.scandir(place))
        except OSError:
            continue
        for entry in entries:
            if _reason(entry, entry.name, Rules(), ignored) is not None:
                continue
            if not entry.is_dir(follow_symlinks=False):
                return True
            pending.append(Path(entry.path))
    return False


def is_housekeeping(name: str) -> bool:
    """Whether a file is about a project (licence, contributing), by its name."""
    return _HOUSEKEEPING.fullmatch(name) is not None


def ignored_names(folder: Path) -> tuple[str, ...]:
    """Patterns of a folder's `.lutrinignore`; `*` alone if it is empty."""
    try:
        lines = read_plain(folder / IGNORE_FILE, MAX_IGNORE_BYTES).decode("utf-8", errors="replace").splitlines()
    except OSError:
        return ()
    return tuple(line.strip().rstrip("/") for line in lines if line.strip() and line[0] != "#") or ("*",)


def _reason(entry: os.DirEntry[str], name: str, rules: Rules, ignored: tuple[str, ...]) -> str | None:
    """Why an entry of a folder is left out; empty: without a word; None: it belongs to the book."""
    if entry.name in {IGNORE_FILE, "book.toml", ".DS_Store"} or entry.name.endswith(COMPANION):
        return rules.aside.get(name, "")
    if entry.is_symlink():
        return "is a symbolic link and was not followed"
    if entry.name.startswith("."):
        return "is hidden: its name begins with a dot"
    if entry.name.startswith("~$"):
        return "is made by Office while it has the file open"
    if not name.isprintable():
        return "has a name with control characters or invalid UTF-8"
    if any(fnmatch.fnmatch(entry.name, pattern) for pattern in ignored):
        return f"is named in {IGNORE_FILE}"
    if name in rules.aside:
        return rules.aside[name]
    if entry.is_dir(follow_symlinks=False):
        if _is_saved_with_page(Path(entry.path)):
            return "holds what a browser saved beside a page"
        return "is nested too deeply" if name.count("/") >= _MAX_DEPTH else _IGNORED_FOLDERS.get(entry.name)
    if not entry.is_file(follow_symlinks=False):
        return "is not a regular file"
    reason = _file_reason(entry.name, name, rules)
    return _unpublished(entry) if reason is None else reason


def _unpublished(entry: os.DirEntry[str]) -> str | None:
    """Why a page's front matter keeps it out of the built site, as Docusaurus, Hugo, Quarto and Jekyll read it."""
    if suffix_of(entry.name) not in _WITH_FRONT_MATTER:
        return None
    try:
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            head = file.read(_FRONT_MATTER_BYTES).removeprefix(b"\xef\xbb\xbf")
    except OSError:
        return None
    mark = head[:3]
    front = head[3:].partition(b"\n" + mark)[0] if mark in {b"---", b"+++"} else b""
    if head.startswith(b"{"):
        front = _END_OF_JSON.split(head, maxsplit=1)[0]
    if _DRAFT.search(front):
        return "is a draft, which the built site does not show"
    today = datetime.now(UTC).date().isoformat().encode()
    days = {match["name"].lower(): match["day"] for match in _SHOWN_FROM_TO.finditer(front)}
    is_shown = days.get(b"publishdate", today) <= today < days.get(b"expirydate", b"9999")
    return None if is_shown else "is not published today, as its dates say"


def _is_saved_with_page(folder: Path) -> bool:
    """Whether a folder holds the parts of a page that a browser saved: `Kilns_files` beside `Kilns.html`."""
    match = _SAVED.fullmatch(folder.name)
    return match is not None and any((folder.parent / f"{match[1]}{suffix}").is_file() for suffix in _PAGES)


def _file_reason(bare: str, name: str, rules: Rules) -> str | None:
    suffix = suffix_of(bare)
    if suffix in FORMATS:
        # Further down `security.md` is a page on security, and only `SECURITY.md` is about the project.
        if rules.only is None and is_housekeeping(bare) and ("/" not in name or bare.rpartition(".")[0].isupper()):
            return "is about the project, not a page of the book"
        beside = rules.home and not name.startswith(f"{rules.home}/") and "/" not in name
        stem = bare.rpartition(".")[0].lower()
        return f"lies beside {rules.home}/, which holds the pages" if beside and stem != "index" else None
    if bare.startswith("_category_."):
        return ""  # read for the title and the order of the pages
    if suffix in PICTURES:
        return "is a picture: pages show it, its text is not read"
    if suffix in _NOTEBOOKS | _OFFICE:
        return f"is a {suffix} file, which Lutrin cannot read: save it as one of {', '.join(sorted(FORMATS))}"
    return f"is a {suffix} file, not text to read" if suffix else "is not text to read: its name has no ending"


def _printable(name: str) -> str:
    return name if name.isprintable() else ascii(name)


def natural(name: str) -> tuple[tuple[tuple[int, int, str], ...], ...]:
    """A key that sorts `2-x` before `10-x`, folder by folder, an index page before its siblings."""
    return tuple(
        tuple(
            (0, -1, "")
            if Path(part).stem.lower() in {"index", "readme", "_index"}
            else (1, int(piece), "")
            if piece.isascii() and piece.isdigit() and len(piece) < 19
            else (2, 0, piece)
            for piece in _NUMBERS.split(part)
            if piece
        )
        for part in name.split("/")
    )
