"""Citations: numbered in the order of use, each with the exact words of the source file that prove it."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote as percent

from lutrin.answer.quote import Quote
from lutrin.records import Chunk, Citation, Excerpt

LEAST_SCORE = 0.0001
"""Relevance of what is cited though search did not score it: never nothing."""


def reader_url(chunk: Chunk) -> str:
    """Path of the reader's page that holds a chunk's heading, with its fragment.

    A page of Markdown loses its suffix; a PDF keeps it and is opened at the page. Selected words that do not stand in
    the book have no page, hence an empty path.
    """
    if not chunk.filename:
        return ""
    stem, dot, suffix = chunk.filename.rpartition(".")
    is_pdf = suffix.lower() == "pdf"
    path = percent(chunk.filename if is_pdf or not dot else stem)
    fragment = f"page={chunk.page}" if is_pdf and chunk.page is not None else chunk.anchor
    landing = f"#{percent(fragment, safe='=')}" if fragment else ""
    return f"/read/{percent(chunk.book)}/{path}{landing}"


class Citations:
    """Gives each quoted place of the book a number, once.

    Args:
        sources: Text of each source file that is quoted, by filename; offsets of quotes refer to it.
        scores: Relevance of each passage, by chunk id.
        quotes: Numbered at once, in this order.

    Attributes:
        numbers: Those that were given, by chunk id and span.
    """

    def __init__(self, sources: Mapping[str, str], scores: Mapping[str, float], quotes: Sequence[Quote] = ()) -> None:
        self._sources = sources
        self._scores = scores
        self._cited: list[Citation] = []
        self.numbers: dict[tuple[str, int, int], int] = {}
        for quote in quotes:
            self.number(quote)

    def number(self, quote: Quote) -> int:
        """The number of a quote; the first time it is cited it gets the next one."""
        start, end = quote.span
        key = (quote.chunk.chunk_id, start, end)
        if key not in self.numbers:
            self.numbers[key] = len(self._cited) + 1
            self._cited.append(self._citation(quote.chunk, self.numbers[key], start, end))
        return self.numbers[key]

    def get(self, n: int) -> Citation:
        """The citation of a number that was given."""
        return self._cited[n - 1]

    def all(self) -> tuple[Citation, ...]:
        """What was cited, in order of use."""
        return tuple(self._cited)

    def excerpt(self, quote: Quote) -> Excerpt:
        """A quote as an excerpt of its source, all of it marked."""
        cited = self.get(self.number(quote))
        (start, end), units = quote.span, quote.chunk.units
        first, last = quote.units[0].block, quote.units[-1].block
        return Excerpt(
            n=cited.n,
            text=cited.quote,
            marks=((0, len(cited.quote)),),
            cut_before=any(unit.block == first and unit.char_start < start for unit in units),
            cut_after=any(unit.block == last and unit.char_end > end for unit in units),
            heading_path=quote.chunk.heading_path,
            url=cited.url,
            chunk_id=cited.chunk_id,
        )

    def _citation(self, chunk: Chunk, n: int, start: int, end: int) -> Citation:
        return Citation(
            n=n,
            chunk_id=chunk.chunk_id,
            book=chunk.book,
            chapter=chunk.chapter,
            section=chunk.section,
            section_title=chunk.section_title,
            filename=chunk.filename,
            page=chunk.page,
            url=reader_url(chunk),
            quote=self._sources[chunk.filename][start:end],
            relevance_score=min(max(round(self._scores.get(chunk.chunk_id, 0.0), 4), LEAST_SCORE), 1.0),
        )
