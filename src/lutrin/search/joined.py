"""Joins neighbouring sections of a page to passages of the length that was set: what other programs retrieve.

Search finds and reads sections, each under its own heading and at its own address. A program that puts passages into a
prompt of its own wants them longer and of about one length, as its author counted on.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby

from msgspec import structs

from lutrin.index.generation import OpenGeneration
from lutrin.ingest.chunk import content_type, render, repetition_start
from lutrin.records import Chunk, Passage, Unit
from lutrin.threads import in_thread

CountTokens = Callable[[str], int]
_Placed = tuple[Chunk, Unit]
"""A unit with the chunk that holds it."""
_LOWEST_HEADING = 6
_HEADING_TOKENS = 3
"""Of the signs that mark a title as one."""
KEPT_PAGES = 64
"""Pages whose passages stay in memory; the oldest leave first; some 100 kB each."""


class Joiner:
    """Finds the joined passage around what a search found; remembers the pages that it joined.

    Args:
        target_tokens: Length to aim at, headings included.
        overlap_tokens: Most tokens of whole sentences and items that a passage repeats from the end of the one before;
            its own text may exceed the target by as many, or by more if a single block is longer.
        count: Counts tokens as the embedding model does.
    """

    def __init__(self, target_tokens: int, overlap_tokens: int, count: Callable[[str], int]) -> None:
        self._target, self._overlap, self._count = target_tokens, overlap_tokens, count
        self._pages: dict[tuple[str, str], list[Chunk]] = {}

    async def join(self, generation: OpenGeneration, found: Sequence[Passage], most: int) -> list[Passage]:
        """The joined passages that hold the best unit of each found one, each once, at most `most`.

        Text, size and extent are the joined passage's; id, heading and address stay those of the part that was found.

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        joined: dict[tuple[str, int, int], Passage] = {}
        for passage in found:
            chunk = passage.chunk
            around = [one for one in await self._page(generation, chunk.filename) if _holds(one, passage)]
            if around:
                chunk = self._at_address(around[0], chunk)
            joined.setdefault((chunk.filename, chunk.char_start, chunk.char_end), structs.replace(passage, chunk=chunk))
            if len(joined) == most:
                break
        return list(joined.values())

    async def _page(self, generation: OpenGeneration, filename: str) -> list[Chunk]:
        key = (generation.name, filename)
        if key not in self._pages:
            chunks = await generation.chunks_of(filename)
            joined = await in_thread(join_page, chunks, self._target, self._overlap, self._count)
            while len(self._pages) >= KEPT_PAGES:
                self._pages.pop(next(iter(self._pages)), None)
            self._pages[key] = joined
        return self._pages[key]

    def _at_address(self, joined: Chunk, found: Chunk) -> Chunk:
        place = structs.replace(
            joined,
            chunk_id=found.chunk_id,
            section=found.section,
            section_title=found.section_title,
            heading_path=found.heading_path,
            anchor=found.anchor,
            page=found.page,
            page_label=found.page_label,
            chunk_index=found.chunk_index,
            role=found.role,
            recognized=found.recognized,
        )
        text = place.embedded_text()
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return structs.replace(place, token_count=self._count(text), content_hash=digest)


def join_page(page: Sequence[Chunk], target_tokens: int, overlap_tokens: int, count: CountTokens) -> list[Chunk]:
    """Cut a page anew into passages of joined sections, in order; see `Joiner`.

    A passage keeps to one chapter and one variant. Its place is that of its first section.

    Args:
        page: All chunks of a file, in order.
    """
    count = cache(count)
    joined: list[Chunk] = []
    for _, alike in groupby(page, key=lambda chunk: (chunk.chapter, chunk.variant)):
        chunks = list(alike)
        stream = list(_units(chunks))
        units = [unit for _, unit in stream]
        sizes = _sizes(stream, count)
        headings = max(count(" > ".join(one.heading_path)) for one in chunks)
        for start, end in _cuts(stream, sizes, max(target_tokens - headings, target_tokens // 4), overlap_tokens):
            begin = repetition_start(units, sizes, start, overlap_tokens)
            joined.append(_passage(stream[begin:end], stream[start][0], count))
    return joined


def _units(chunks: Sequence[Chunk]) -> Iterator[_Placed]:
    """The units of neighbouring chunks, each once: chunks of one section repeat each other's ends."""
    seen: set[tuple[int, int, str]] = set()
    for one in chunks:
        for unit in one.units:
            key = (unit.char_start, unit.char_end, unit.text)
            if key not in seen:
                seen.add(key)
                yield one, unit


def _sizes(stream: Sequence[_Placed], count: CountTokens) -> list[int]:
    """(units,): tokens of each unit as it is written, with the heading and the lead before it."""
    sizes: list[int] = []
    path: tuple[str, ...] | None = None
    lead = ""
    for one, unit in stream:
        title = count(one.section_title) + _HEADING_TOKENS if one.heading_path != path else 0
        told = count(unit.lead) if unit.lead != lead else 0
        sizes.append(title + told + count(render([structs.replace(unit, lead="")])))
        path, lead = one.heading_path, unit.lead
    return sizes


def _cuts(stream: Sequence[_Placed], sizes: Sequence[int], target: int, overlap: int) -> list[tuple[int, int]]:
    """Divide units into runs that end with their blocks, of lengths as near to the target as there are.

    The partition with the least sum of squared distances from the target, as paragraphs are broken into lines (Knuth
    and Plass, 1981). An end within a section counts as that much text as is repeated for it. A paragraph, list or
    table that no passage holds is cut between its sentences, items or rows.
    """
    marks = [0]
    for _, block in groupby(range(len(stream)), key=lambda n: (stream[n][0].heading_path, stream[n][1].block)):
        places = list(block)
        whole = sum(sizes[place] for place in places) <= target
        marks += [places[-1] + 1] if whole else [place + 1 for place in places]
    least: list[tuple[float, int]] = [(0.0, 0)]
    for place in range(1, len(marks)):
        last = stream[marks[place] - 1][0].heading_path
        inside = place < len(marks) - 1 and last == stream[marks[place]][0].heading_path
        options, size = [], 0
        for before in range(place - 1, -1, -1):
            size += sum(sizes[marks[before] : marks[before + 1]])
            if size > target + overlap and before < place - 1:
                break
            options.append((least[before][0] + (target - size) ** 2 + inside * overlap**2, before))
        least.append(min(options))
    runs, place = [], len(marks) - 1
    while place:
        before = least[place][1]
        runs.append((marks[before], marks[place]))
        place = before
    return runs[::-1]


def _passage(placed: Sequence[_Placed], home: Chunk, count: CountTokens) -> Chunk:
    """The passage of some units, at the place of a chunk; the headings of several sections stand in its text."""
    parts: list[str] = []
    paths = {one.heading_path for one, _ in placed}
    for path, section in groupby(placed, key=lambda pair: pair[0].heading_path):
        if len(paths) > 1:
            parts.append(f"{'#' * min(max(len(path), 1), _LOWEST_HEADING)} {path[-1] if path else ''}".rstrip())
        parts.append(render([unit for _, unit in section]))
    units = tuple(unit for _, unit in placed)
    text = "\n\n".join(parts)
    worlds = {one.is_simulation for one, _ in placed}
    return structs.replace(
        home,
        text=text,
        units=units,
        char_start=min(unit.char_start for unit in units),
        char_end=max(unit.char_end for unit in units),
        content_type=content_type(units),
        token_count=count(structs.replace(home, text=text).embedded_text()),
        is_simulation=home.is_simulation if len(worlds) == 1 else None,
    )


def _holds(joined: Chunk, found: Passage) -> bool:
    same = (joined.chapter, joined.variant) == (found.chunk.chapter, found.chunk.variant)
    return same and any(unit.char_start == found.place for unit in joined.units)
