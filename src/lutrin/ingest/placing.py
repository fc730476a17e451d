"""Where a passage of a book in one file stands: its own headings say chapter and section, as folders do elsewhere."""

from collections.abc import Sequence

import msgspec

from lutrin.ingest.formats import format_of
from lutrin.records import Chunk, Document

_CHAPTER = 1
"""The title of the whole comes before it in a heading path."""


def placed(document: Document, chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks of a file, each with the chapter and section that its headings name.

    Args:
        document: The file. Only formats that hold whole books are concerned, and of these files with two chapters.
        chunks: As they were cut, with the file's own chapter and section.
    """
    kind = format_of(document.filename)
    chapters = {chunk.heading_path[_CHAPTER] for chunk in chunks if len(chunk.heading_path) > _CHAPTER}
    if kind is None or not kind.holds_chapters or len(chapters) < 2:
        return list(chunks)
    return [
        msgspec.structs.replace(chunk, chapter=chunk.heading_path[_CHAPTER], section=chunk.anchor or chunk.section)
        if len(chunk.heading_path) > _CHAPTER
        else chunk
        for chunk in chunks
    ]
