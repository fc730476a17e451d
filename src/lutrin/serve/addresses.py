"""Addresses of the pages that people read in a browser."""

from pathlib import PurePosixPath
from urllib.parse import quote

from lutrin.records import MARKDOWN


def book_path(slug: str) -> str:
    """Path of a book's table of contents."""
    return f"/read/{quote(slug)}"


def page_path(slug: str, filename: str) -> str:
    """Path of a page in the reader, as citations link to it: Markdown files lose their suffix, other files keep it."""
    path = PurePosixPath(filename)
    name = str(path.with_suffix("")) if path.suffix.lower() in MARKDOWN else filename
    return f"/read/{quote(slug)}/{quote(name)}"
