"""What headings say of a passage: in a book of one file chapter and section, as folders do elsewhere; and its world."""

import re
from collections.abc import Sequence

from msgspec import structs

from lutrin.ingest.formats import format_of
from lutrin.records import Chunk, Document

_CHAPTER = 1
"""The title of the whole comes before it in a heading path."""

_SIMULATED = re.compile(r"^(?:in )?(?:the )?simulat(?:ed|ion|or)\b|\bin (?:a |the )?simulat(?:ion|or)$", re.IGNORECASE)
_REAL = re.compile(
    r"\b(?:real|physical|actual) (?:\w+ )?(?:robot|hardware|device|machine|arm|motor|joint|vehicle|drone|board)s?\b",
    re.IGNORECASE,
)


def with_places(document: Document, chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks of a file with the chapter and section that its headings name, if its format holds whole books."""
    kind = format_of(document.filename)
    chapters = {chunk.heading_path[_CHAPTER] for chunk in chunks if len(chunk.heading_path) > _CHAPTER}
    if kind is None or not kind.holds_chapters or len(chapters) < 2:
        return list(chunks)
    return [
        structs.replace(chunk, chapter=chunk.heading_path[_CHAPTER], section=chunk.anchor or chunk.section)
        if len(chunk.heading_path) > _CHAPTER
        else chunk
        for chunk in chunks
    ]


def with_world(chunks: Sequence[Chunk]) -> list[Chunk]:
    """The chunks of a file, each with the world that its section names, where the file's author named none.

    The nearest heading that speaks of one decides. It makes nothing simulated that a reader may run or follow, nor what
    mentions the real thing: only its author may free code and procedures from the book's warnings.
    """
    return [
        chunk if chunk.is_simulation is not None else structs.replace(chunk, is_simulation=_world(chunk))
        for chunk in chunks
    ]


def _world(chunk: Chunk) -> bool | None:
    for heading in reversed(chunk.heading_path):
        simulated, real = _SIMULATED.search(heading), _REAL.search(heading)
        if simulated and not real:
            told = all(unit.kind not in {"code", "list_item"} for unit in chunk.units) and not _REAL.search(chunk.text)
            return True if told else None
        if real:
            return None if simulated else False
    return None
