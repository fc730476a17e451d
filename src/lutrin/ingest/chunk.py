"""Cuts a document into the passages that search finds: by structure first, then by size.

A chunk never crosses a heading of level 1 to 3. It is a run of whole units, of the length that suits the embedder. Its
text repeats the context of its units: a table's header, a list's introduction, the sentence before code.
"""

import hashlib
import uuid
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby

from msgspec import structs

from lutrin.ingest.labels import with_labels
from lutrin.ingest.roles import with_roles
from lutrin.records import BookInfo, Chunk, ContentType, Document, Notice, Section, Unit, embedded_text

TokenOffsets = Callable[[str], Sequence[tuple[int, int]]]

# The namespace of all chunk ids; any fixed UUID would do.
_NAMESPACE = uuid.UUID("5b0c6a0e-6d0d-5c1a-9a53-7d1f6d2b9c11")
_LOWEST_SPLIT_LEVEL = 3
# A chunk that is this full ends with a paragraph, list or table rather than in the middle of the next one.
_FULL_ENOUGH = 0.6
# Tokens of the fences of a code block, besides their content.
_FENCE_TOKENS = 4


@dataclass(slots=True)
class _Group:
    """A section of level 1 to 3, with the text under its smaller headings."""

    section: Section
    units: list[Unit] = field(default_factory=list)
    pages: list[int | None] = field(default_factory=list)


def chunk_document(
    document: Document, book: BookInfo, embedder_token_offsets: TokenOffsets, target_tokens: int, overlap_tokens: int
) -> list[Chunk]:
    """Cut a document into chunks, in text order.

    Args:
        embedder_token_offsets: Counts tokens as the embedding model does, without special tokens.
        target_tokens: Length to aim at, headings included; only a single longer unit exceeds it.
        overlap_tokens: Most tokens of whole units that the next chunk of a section repeats at its start.
    """
    document = with_labels(with_roles(document))
    count = cache(lambda text: len(embedder_token_offsets(text)))
    chunks: list[Chunk] = []
    seen: Counter[tuple[tuple[str, ...], str]] = Counter()
    for group in _groups(document):
        path = group.section.heading_path
        room = max(target_tokens - count(" > ".join(path)), target_tokens // 4)
        alike = groupby(group.units, key=lambda unit: (unit.role, unit.variant))
        packed = [run for _, part in alike for run in _pack(list(part), count, room, overlap_tokens)]
        for units in packed:
            text = render(units)
            content_hash = hashlib.sha256(embedded_text(path, text).encode("utf-8", "surrogatepass")).hexdigest()
            name = "\n".join((book.slug, document.filename, *path, content_hash, str(seen[path, content_hash])))
            seen[path, content_hash] += 1
            start = min(unit.char_start for unit in units)
            page = max(1, bisect_right(document.page_starts, start)) if document.page_starts else group.section.page
            chunks.append(
                Chunk(
                    chunk_id=str(uuid.uuid5(_NAMESPACE, name)),
                    text=text,
                    book=book.slug,
                    book_title=book.title,
                    edition=book.edition,
                    module=document.module,
                    chapter=document.chapter,
                    section=document.section,
                    section_title=group.section.title,
                    heading_path=path,
                    filename=document.filename,
                    page=page,
                    page_label=document.page_labels[page - 1] if page and page <= len(document.page_labels) else "",
                    anchor=group.section.anchor,
                    chunk_index=len(chunks),
                    char_start=start,
                    char_end=max(unit.char_end for unit in units),
                    token_count=len(embedder_token_offsets(embedded_text(path, text))),
                    content_type=content_type(units),
                    is_simulation=document.is_simulation,
                    content_hash=content_hash,
                    units=tuple(units),
                    role=units[0].role,
                    variant=units[0].variant,
                    recognized=page in document.recognized_pages,
                )
            )
    return chunks


def chunk_notices(document: Document, chunks: Sequence[Chunk], target_tokens: int) -> tuple[Notice, ...]:
    """Notices for the author: no chunks at all, or code blocks over the target that were kept whole."""
    if not chunks:
        return (Notice(filename=document.filename, message="has no text besides its title", line=None),)
    return tuple(
        Notice(
            filename=document.filename,
            message=f"a code block of {chunk.token_count} tokens exceeds the target of {target_tokens} and stays whole",
            line=document.source.count("\n", 0, chunk.char_start) + 1,
        )
        for chunk in chunks
        if chunk.token_count > target_tokens and any(unit.kind == "code" for unit in chunk.units)
    )


# Sections to groups ------------------------------------------------------------------------------------------------


def _groups(document: Document) -> list[_Group]:
    """Sections of level 1 to 3; smaller ones are inside them, with their titles as sentences."""
    groups: list[_Group] = []
    for index, section in enumerate(document.sections):
        following = document.sections[index + 1 : index + 2]
        childless = not following or following[0].heading_path[: len(section.heading_path)] != section.heading_path
        small = section.level > _LOWEST_SPLIT_LEVEL and groups
        if small:
            group = groups[-1]
            offset = max((unit.block for unit in group.units), default=-1) + 1
            units = [_title_unit(document, section), *section.units]
            group.units += [
                structs.replace(unit, block=offset + 1 + unit.block if i else offset) for i, unit in enumerate(units)
            ]
        else:
            group = _Group(section, list(section.units))
            groups.append(group)
            # A heading without text under it can only be found by itself.
            if not section.units and childless and section.char_start > 0:
                group.units = [_title_unit(document, section)]
        group.pages += [section.page] * (len(group.units) - len(group.pages))
    return [group for group in groups if group.units]


def _title_unit(document: Document, section: Section) -> Unit:
    start, source = section.char_start, document.source
    end = min((at for ending in "\r\n" if (at := source.find(ending, start)) >= 0), default=len(source))
    return Unit(kind="sentence", text=section.title, char_start=start, char_end=end, role=section.role)


# Units to chunks ---------------------------------------------------------------------------------------------------


def _pack(units: Sequence[Unit], count: Callable[[str], int], room: int, overlap: int) -> list[list[Unit]]:
    """Runs of units of at most `room` tokens each, filled evenly; `overlap` tokens of whole units are repeated."""
    costs = [count(_line(unit)) + (_FENCE_TOKENS if unit.kind == "code" else 0) for unit in units]
    packed: list[list[Unit]] = []
    start, remaining = 0, sum(costs)
    while start < len(units):
        begin = repetition_start(units, costs, start, overlap) if packed else start
        # Divide the rest of the section evenly, so that no chunk is a leftover line.
        rest = remaining + sum(costs[begin:start])
        aim = min(room, -(-rest // max(1, -(-rest // room))) + room // 10)
        used, end = 0, begin
        seen: set[str] = set()
        while end < len(units):
            lead = count(units[end].lead) if units[end].lead not in seen | {""} else 0
            if end > start and used + lead + costs[end] > aim:
                if any(unit.kind != "caption" for unit in units[start:end]):
                    break
                begin = start  # a caption belongs to what it names, not to the text repeated before it
            used += lead + costs[end]
            seen |= {units[end].lead, units[end].text}
            end += 1
        if end < len(units):
            end = _better_end(units, costs, start, end, aim)
        packed.append(list(units[begin:end]))
        remaining -= sum(costs[start:end])
        start = end
    return packed


def _better_end(units: Sequence[Unit], costs: Sequence[int], start: int, end: int, aim: int) -> int:
    """The end of a block, if the chunk is full enough there; a list's or table's caption goes with it."""
    best = end
    if units[end].block == units[end - 1].block:
        cut = end
        while cut > start + 1 and units[cut].block == units[cut - 1].block:
            cut -= 1
        if units[cut].block != units[cut - 1].block and sum(costs[start:cut]) >= _FULL_ENOUGH * aim:
            best = cut
    while best > start + 1 and units[best - 1].kind == "caption" and units[best].block != units[best - 1].block:
        best -= 1
    return best


def repetition_start(units: Sequence[Unit], costs: Sequence[int], start: int, overlap: int) -> int:
    """Start of the repetition before unit `start`: whole sentences, items and captions, no code, no rows."""
    begin, used = start, 0
    while begin > 0 and units[begin - 1].kind in {"sentence", "list_item", "caption"}:
        used += costs[begin - 1]
        if used > overlap:
            break
        begin -= 1
    return begin


_CONTENT: Mapping[str, ContentType] = {"code": "code", "table_row": "table", "caption": "figure_caption"}


def content_type(units: Sequence[Unit]) -> ContentType:
    """The type of most of a passage's letters."""
    sizes: Counter[ContentType] = Counter()
    for unit in units:
        sizes[_CONTENT.get(unit.kind, "text")] += len(unit.text)
    return max(sizes, key=lambda kind: (sizes[kind], kind))


# Text of a chunk ---------------------------------------------------------------------------------------------------


def render(units: Sequence[Unit]) -> str:
    """The text of a run of units: sentences of a paragraph on one line, a blank line between blocks.

    Leads from outside the run are inserted before the units that need them.
    """
    parts: list[str] = []
    seen: set[str] = set()
    previous: Unit | None = None
    for unit in units:
        joined = previous is not None and previous.block == unit.block
        # A table's header or a list's introduction: once, unless the run contains it already.
        lead = unit.lead if unit.lead not in seen else ""
        if parts:
            parts.append(" " if joined and unit.kind == "sentence" else "\n" if joined else "\n\n")
        if lead:
            parts.append(lead + ("\n" if unit.kind == "table_row" else "\n\n"))
            seen.add(lead)
        parts.append(_line(unit))
        seen.add(unit.text)
        previous = unit
    return "".join(parts)


def _line(unit: Unit) -> str:
    if unit.kind == "code":
        fence = "```"
        while fence in unit.text:
            fence += "`"
        return f"{fence}{unit.language}\n{unit.text}\n{fence}"
    if unit.kind == "list_item":
        head = unit.text.split(" ", 1)[0]
        has_number = head[-1:] in {".", ")"} and head[:-1].isdigit()
        return unit.text if has_number else f"- {unit.text}"
    return unit.text
