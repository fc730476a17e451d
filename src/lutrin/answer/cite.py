"""Citations: numbered in the order of use, each with the exact words of the source file that prove it."""

from collections.abc import Mapping, Sequence
from urllib.parse import quote as percent

from lutrin.answer.quote import Quote
from lutrin.records import Chunk, Citation, Passage


def reader_url(chunk: Chunk) -> str:
    """Path of the reader's page that holds a chunk's heading, with its fragment.

    A page of Markdown loses its suffix; others keep it, and a PDF is opened at the page. Selected words that do not
    stand in the book have no page, hence an empty path.
    """
    if not chunk.filename:
        return ""
    stem, dot, suffix = chunk.filename.rpartition(".")
    is_pdf = suffix.lower() == "pdf"
    is_markdown = bool(dot) and suffix.lower() in {"md", "mdx", "markdown"}
    path = percent(stem if is_markdown else chunk.filename)
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

    def all(self, further: Sequence[Passage] = ()) -> tuple[Citation, ...]:
        """What was cited, in order of use, then the book's other passages that were found, each by its first unit."""
        rest = list(self._cited)
        cited = {item.chunk_id for item in rest}
        for passage in further:
            chunk = passage.chunk
            if chunk.chunk_id not in cited and chunk.units and chunk.filename:
                cited.add(chunk.chunk_id)
                first = chunk.units[0]
                rest.append(self._citation(chunk, len(rest) + 1, first.char_start, first.char_end))
        return tuple(rest)

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
            relevance_score=round(self._scores.get(chunk.chunk_id, 0.0), 4),
        )
