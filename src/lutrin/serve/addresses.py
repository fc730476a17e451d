"""Addresses of the pages for people."""

from pathlib import PurePosixPath
from urllib.parse import quote

MARKDOWN = frozenset({".md", ".mdx", ".markdown"})


def book_path(slug: str) -> str:
    """Path of the page that leads to all pages of a book."""
    return f"/read/{quote(slug)}"


def page_path(slug: str, filename: str) -> str:
    """Path of a page in the reader: Markdown loses its suffix, other files keep it, as citations lead to them."""
    path = PurePosixPath(filename)
    name = str(path.with_suffix("")) if path.suffix.lower() in MARKDOWN else filename
    return f"/read/{quote(slug)}/{quote(name)}"
