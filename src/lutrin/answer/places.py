"""Every place that an answer may lead to: what a site that shows the book must have a heading for."""

from collections.abc import Iterable

import msgspec

from lutrin.answer.cite import reader_url
from lutrin.records import Chunk


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A page, or a heading on it."""

    book: str
    filename: str
    url: str
    """As a citation has it: path of the reader's page, the heading's anchor as its fragment."""


def places(chunks: Iterable[Chunk]) -> list[Place]:
    """The places of a book's passages, each once, in the order of the passages."""
    found = (Place(book=chunk.book, filename=chunk.filename, url=reader_url(chunk)) for chunk in chunks)
    return list(dict.fromkeys(found))
