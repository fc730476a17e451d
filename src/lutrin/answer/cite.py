"""Citations and excerpts: each with the exact words of the source file that prove it."""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote as percent

import msgspec

from lutrin.answer.excerpt import UnitRun
from lutrin.records import Chunk, Citation, Excerpt

LEAST_SCORE = 0.0001
"""Relevance of what is cited though search did not score it, such as a warning: never nothing."""
_OPENING = re.compile(r"[ \t]*(?:`{3,}|~{3,})[^\n]*\n[ \t]*\Z")
_CLOSING = re.compile(r"\r?\n?[ \t]*(?:`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_FENCE_CHARS = 300
"""As long as the line of a fence may be, with what it says of the code."""


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


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A page, or a heading on it, that an answer may lead to: what a site that shows the book must have."""

    book: str
    filename: str
    url: str
    """As a citation has it: path of the reader's page, the heading's anchor as its fragment."""


def places(chunks: Iterable[Chunk]) -> list[Place]:
    """The places of a book's passages, each once, in the order of the passages."""
    found = (Place(book=chunk.book, filename=chunk.filename, url=reader_url(chunk)) for chunk in chunks)
    return list(dict.fromkeys(found))


def citation(chunk: Chunk, span: tuple[int, int], n: int, source: str, chances: Mapping[str, float]) -> Citation:
    """Cite a place of the book under its number.

    Args:
        chunk: That holds the place.
        span: Offsets in its source file.
        n: The number.
        source: Text of the file.
        chances: Probability that a passage answers, by chunk id.
    """
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
        quote=source[slice(*span)],
        relevance_score=min(max(round(chances.get(chunk.chunk_id, 0.0), 4), LEAST_SCORE), 1.0),
    )


def span_with_fences(run: UnitRun, source: str) -> tuple[int, int]:
    """Offsets of a run, with the fence of the code that it begins or ends with: a page shows that as code."""
    start, end = run.span
    if run.units[0].kind == "code" and (opening := _OPENING.search(source[max(0, start - _FENCE_CHARS) : start])):
        start -= len(opening[0])
    if run.units[-1].kind == "code" and (closing := _CLOSING.match(source, end)):
        end = closing.end()
    return start, end


def excerpt(run: UnitRun, n: int, source: str) -> Excerpt:
    """Make an excerpt of a run, with the units that answer marked."""
    start, end = span_with_fences(run, source)
    marks: list[tuple[int, int]] = []
    for unit in sorted(run.marked, key=lambda unit: unit.char_start):
        first, last = unit.char_start - start, unit.char_end - start
        if marks and first <= marks[-1][1] + 1:
            marks[-1] = (marks[-1][0], max(last, marks[-1][1]))
        else:
            marks.append((first, last))
    return Excerpt(
        n=n,
        text=source[start:end],
        marks=tuple(marks),
        cut_before=run.cut_before,
        cut_after=run.cut_after,
        heading_path=run.chunk.heading_path,
        url=reader_url(run.chunk),
        chunk_id=run.chunk.chunk_id,
    )
