"""Joins neighbouring sections of a page into passages of a set length, for programs that retrieve them.

Search finds and reads sections, each under its own heading and address. A program that puts passages into its own
prompt wants them longer and of similar length.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from msgspec import structs

from lutrin import messages
from lutrin.errors import InvalidQuestion
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.ingest.chunk import content_type, render, repetition_start
from lutrin.language.words import topic_stems, words
from lutrin.query.respell import with_spaces
from lutrin.query.understand import alone
from lutrin.records import Chunk, Passage, Question, Unit
from lutrin.search.filters import in_chapter
from lutrin.search.search import Searcher
from lutrin.search.sought import SELECTION_CHARACTERS
from lutrin.threads import in_thread

CountTokens = Callable[[str], int]
Place = tuple[int, int, str]
"""Start and end of a unit in its file, and its text."""
SECTIONS_EACH = 3
"""Sections found for each joined passage: one passage may contain several."""
KEPT_PAGES = 64
"""Pages whose sizes stay in memory, some 100 kB each; the oldest are dropped first."""


@dataclass(frozen=True, slots=True)
class PageText:
    """The units of a page, each once: neighbouring chunks of a section overlap."""

    owners: tuple[Chunk, ...]
    """The first chunk that holds each unit."""
    units: tuple[Unit, ...]
    sizes: tuple[int, ...]
    """Tokens of each unit, including its heading and lead."""

    @classmethod
    def of(cls, chunks: Sequence[Chunk], count: CountTokens) -> "PageText":
        """Build the page from all chunks of a file, in order."""
        owned = {_place(unit): (chunk, unit) for chunk in reversed(chunks) for unit in chunk.units}
        first = {_place(unit): None for chunk in chunks for unit in chunk.units}
        stream = [owned[place] for place in first]
        sizes: list[int] = []
        path: tuple[str, ...] | None = None
        lead = ""
        for chunk, unit in stream:
            title = count(_heading(chunk.heading_path)) if chunk.heading_path != path else 0
            told = count(unit.lead) if unit.lead != lead else 0
            sizes.append(title + told + count(render([structs.replace(unit, lead="")])))
            path, lead = chunk.heading_path, unit.lead
        return cls(tuple(chunk for chunk, _ in stream), tuple(unit for _, unit in stream), tuple(sizes))


class Joiner:
    """Joins search hits with their neighbours and caches the pages that it reads.

    Args:
        target_tokens: Length to join up to, headings included; only a longer section exceeds it.
        overlap_tokens: Most tokens of whole sentences and items before the section that was found, as long as there is
            text after it.
        count: Counts tokens as the embedding model does.
    """

    def __init__(self, target_tokens: int, overlap_tokens: int, count: CountTokens) -> None:
        self._target, self._overlap, self._count = target_tokens, overlap_tokens, count
        self._pages: dict[tuple[str, str], PageText] = {}

    async def join(self, generation: OpenGeneration, found: Sequence[Passage], most: int) -> list[Passage]:
        """Join the hits with their neighbours: at most `most` passages, best first, none inside a better one.

        Text, size and extent describe the joined passage; id, heading and address those of the hit.

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        joined: list[Passage] = []
        for passage in found:
            places = {_place(unit) for unit in passage.chunk.units}
            if not any(places <= {_place(unit) for unit in one.chunk.units} for one in joined):
                page = await self._page(generation, passage.chunk.filename)
                joined.append(structs.replace(passage, chunk=self.around(passage.chunk, page)))
            if len(joined) == most:
                break
        return joined

    async def _page(self, generation: OpenGeneration, filename: str) -> PageText:
        key = (generation.name, filename)
        if key not in self._pages:
            chunks = await generation.chunks_of(filename)
            text = await in_thread(PageText.of, chunks, self._count)
            while len(self._pages) >= KEPT_PAGES:
                self._pages.pop(next(iter(self._pages)), None)
            self._pages[key] = text
        return self._pages[key]

    def around(self, chunk: Chunk, page: PageText) -> Chunk:
        """Extend a chunk by whole paragraphs, lists and tables before and after it, of the same chapter and variant."""
        own = {_place(unit) for unit in chunk.units}
        inside = [number for number, unit in enumerate(page.units) if _place(unit) in own]
        if not inside:
            return chunk
        alike = [(one.chapter, one.variant) == (chunk.chapter, chunk.variant) for one in page.owners]
        low = next((n + 1 for n in range(inside[0] - 1, -1, -1) if not alike[n]), 0)
        high = next((n for n in range(inside[-1] + 1, len(alike)) if not alike[n]), len(alike))
        start, end = inside[0], inside[-1] + 1
        room = self._target - self._count(" > ".join(chunk.heading_path)) - sum(page.sizes[start:end])
        units, sizes = page.units[low:high], page.sizes[low:high]
        start = low + repetition_start(units, sizes, start - low, min(self._overlap, max(0, room)))
        room -= sum(page.sizes[start : inside[0]])
        while end < high and (size := sum(page.sizes[end : (stop := _block_end(page, end, high))])) <= room:
            end, room = stop, room - size
        while start > low and (size := sum(page.sizes[(first := _block_start(page, start, low)) : start])) <= room:
            start, room = first, room - size
        return self._passage(chunk, page, start, end)

    def _passage(self, chunk: Chunk, page: PageText, start: int, end: int) -> Chunk:
        """Make a passage of some units of a page; its text includes the headings if it spans several sections."""
        owners, units = page.owners[start:end], page.units[start:end]
        paths = {one.heading_path for one in owners}
        parts: list[str] = []
        for path, section in groupby(zip(owners, units, strict=True), key=lambda pair: pair[0].heading_path):
            if len(paths) > 1 and path:
                parts.append(_heading(path))
            parts.append(render([unit for _, unit in section]))
        text = "\n\n".join(parts)
        worlds = {one.is_simulation for one in owners}
        joined = structs.replace(
            chunk,
            text=text,
            units=units,
            char_start=min(unit.char_start for unit in units),
            char_end=max(unit.char_end for unit in units),
            content_type=content_type(units),
            is_simulation=chunk.is_simulation if len(worlds) == 1 else None,
        )
        embedded = joined.embedded_text()
        digest = hashlib.sha256(embedded.encode("utf-8", "surrogatepass")).hexdigest()
        return structs.replace(joined, token_count=self._count(embedded), content_hash=digest)


async def retrieve_passages(
    shelf: Shelf, searcher: Searcher, joiner: Joiner, question: Question, *, default_k: int
) -> list[Passage]:
    """Return the joined passages nearest to a question, best first; none if the book does not cover it.

    With a selection (its first 4096 characters), those nearest to the selection. Without `question.book`,
    search the book that speaks of the subject most. No cross-encoder: five passages hold as many facts without it.

    Raises:
        InvalidQuestion: There is nothing to search for.
        IndexUnavailable: No book can be opened.
    """
    text = question.selected_text[:SELECTION_CHARACTERS].strip() or question.text
    if not words(text):
        raise InvalidQuestion(messages.EMPTY_QUESTION)
    async with shelf.lease_books(question.book) as generations:
        if not question.selected_text:
            text = await with_spaces(generations, text, searcher.embedder)
        query = alone(structs.replace(question, text=text, selected_text=""))
        # A selection may mention other chapters than its own.
        query = query if question.selected_text else in_chapter(query, generations)
        wanted = question.top_k or default_k
        result = await searcher.search(generations, query, k=SECTIONS_EACH * wanted, again=False)
        # "What is it?" names nothing that the book could lack: return the best there is; the scores show how weak it
        # is.
        if result.verdict != "no" or not topic_stems(text):
            return await joiner.join(result.generation, result.passages, wanted)
    if not question.book:
        shelf.require_all_readable()
    return []


def _heading(path: tuple[str, ...]) -> str:
    return f"{'#' * len(path)} {path[-1]}" if path else ""


def _place(unit: Unit) -> Place:
    return unit.char_start, unit.char_end, unit.text


def _block_end(page: PageText, start: int, high: int) -> int:
    """End of the block that begins at a unit; the unit's own end if the passage broke off within the block."""
    if start and _one_block(page, start - 1, start):
        return start + 1
    return next((n for n in range(start + 1, high) if not _one_block(page, n - 1, n)), high)


def _block_start(page: PageText, end: int, low: int) -> int:
    """Start of the block that ends before a unit; the last unit's start if the passage began within the block."""
    if end < len(page.units) and _one_block(page, end - 1, end):
        return end - 1
    return next((n for n in range(end - 1, low, -1) if not _one_block(page, n - 1, n)), low)


def _one_block(page: PageText, one: int, other: int) -> bool:
    same_section = page.owners[one].heading_path == page.owners[other].heading_path
    return same_section and page.units[one].block == page.units[other].block
