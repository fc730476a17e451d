"""Retired generations: deletes their folders, and lists the texts that are still in use."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path

from lutrin import sqlite
from lutrin.index import statements
from lutrin.index.disk import remove_unless_read
from lutrin.index.generation import PASSAGES
from lutrin.index.manifest import MANIFEST


def remove_retired(books_dir: Path, retired: Iterable[tuple[str, str]]) -> list[str]:
    """Delete generations that are neither current nor previous, unless somebody reads them; return their names."""
    here = books_dir.resolve()
    return [
        name
        for slug, name in retired
        if (books_dir / slug / name).resolve().is_relative_to(here)  # a link may have been put in its way
        and remove_unless_read(books_dir / slug / name, MANIFEST)
    ]


def live_hashes(books_dir: Path, live: Mapping[str, str]) -> set[str]:
    """Content hashes of all chunks of the generations that are current or previous."""
    hashes: set[str] = set()
    for name, slug in live.items():
        path = books_dir / slug / name / PASSAGES
        if path.is_file():
            with closing(sqlite.connect(path, readonly=True)) as passages:
                hashes.update(row[1] for row in passages.execute(statements.CHUNK_HASHES))
    return hashes
