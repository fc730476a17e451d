"""Finds out what an ingest has to do, by comparing the files on the disk with the catalogue."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

import lutrin
from lutrin.errors import DocumentError
from lutrin.index.catalog import FileState
from lutrin.index.manifest import FORMAT_VERSION
from lutrin.ingest.books import Book
from lutrin.ingest.scan import SourceFile
from lutrin.settings import Settings

YOUNG_NS = 2_000_000_000
"""A file that changed within the last two seconds may change again without a new time (coarse file-system clocks)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The files of one book, sorted by what happens to them."""

    changed: tuple[SourceFile, ...]
    """Files that are new, have new content, or must be read again because the recipe changed."""
    unchanged: tuple[SourceFile, ...]
    removed: tuple[str, ...]
    """Names that the index has and the folder no longer has."""
    touched: tuple[FileState, ...]
    """States of unchanged files whose times are new."""
    states: Mapping[str, FileState]
    """States of all readable files, by name."""
    known: Mapping[str, FileState]
    """States of all files in the current generation, by name."""


def make_plan(files: Sequence[SourceFile], known: Mapping[str, FileState], *, everything: bool, now_ns: int) -> Plan:
    """Find out what changed: by size and time (nanoseconds since the epoch), and if these differ, by SHA-256."""
    changed, unchanged, touched, states = [], [], [], {}
    for file in files:
        before = known.get(file.name)
        try:
            state = look(file, before, now_ns)
        except DocumentError:
            changed.append(file)  # reading it will report the fault
            continue
        states[file.name] = state
        if everything or before is None or before.sha256 != state.sha256:
            changed.append(file)
        else:
            unchanged.append(file)
            if state != before:
                touched.append(state)
    removed = tuple(name for name in known if name not in {file.name for file in files})
    return Plan(tuple(changed), tuple(unchanged), removed, tuple(touched), states, known)


def look(file: SourceFile, before: FileState | None, now_ns: int) -> FileState:
    """The state of a file; reads its content only if size or time show that it may have changed.

    Raises:
        DocumentError: It cannot be read.
    """
    try:
        status = (file.root / file.name).stat(follow_symlinks=False)
    except OSError as error:
        raise DocumentError(file.name, f"cannot be read ({error.strerror or error})") from None
    # Programs can set st_mtime back, but not st_ctime.
    changed_ns = max(status.st_mtime_ns, status.st_ctime_ns)
    if before is not None and before.changed_ns and (before.size, before.changed_ns) == (status.st_size, changed_ns):
        return before
    return FileState(
        filename=file.name,
        size=status.st_size,
        changed_ns=changed_ns if now_ns - changed_ns > YOUNG_NS else 0,
        sha256=file.sha256,
    )


def recipe(book: Book, settings: Settings, embedder: str) -> str:
    """A fingerprint of everything besides a file's content that determines its chunks.

    The program's version is part of it, because a new release may read files better. Embeddings of unchanged texts
    are still kept.
    """
    folders = {name: (folder.label, folder.position, folder.is_simulation) for name, folder in book.folders.items()}
    facts = (
        lutrin.__version__,
        FORMAT_VERSION,
        book.info,
        sorted(folders.items()),
        book.site.entries,
        book.shared,
        book.simulation,
        settings.chunk_tokens,
        settings.chunk_overlap_tokens,
        settings.ocr,
        embedder,
    )
    return hashlib.sha256(msgspec.json.encode(facts)).hexdigest()


def folder_of(filename: str) -> str:
    """The name of a step for an operator: the file's folder, or the file itself at the top level."""
    path = Path(filename)
    return path.parent.name or path.name
