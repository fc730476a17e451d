"""Finds evidence in the selected text alone."""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

import msgspec
import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.ingest.sentences import sentence_ranges
from lutrin.language.words import stem_set, topic_stems, words
from lutrin.ports import Embedder
from lutrin.query.understand import Query
from lutrin.records import SELECTED, Chunk, Passage, Unit, UnitKind
from lutrin.search.reader import (
    Pool,
    ScoredPassage,
    chance_of,
    homes,
    log_odds,
    pooled_vector,
    score_passages,
    signals,
    tokenize_question,
)
from lutrin.search.search import AT_HOME, Part, SearchResult
from lutrin.stages import stage

_FENCE = re.compile(r"^(`{3,}|~{3,})(\S*)[^\n]*\n(.*?)(?:^\1[`~]*\s*?$|\Z)", re.DOTALL | re.MULTILINE)
_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?!\s*\n)[^\n]+)*")
_ITEM = re.compile(r"^[ \t]*(?:([-*+•])|\d+[.)])[ \t]+(?=\S)", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_ENDS = re.compile(r"[.!?…][\"'”’)\]]*$")
LEAST_ITEMS = 2
"""Fewer are no list."""
_CODE_SIGNS = re.compile(
    r"^\s*(?:import |from \w+ import|def |class |#include|sudo |\$ |<\w+[^>]*>|[\w.]+\(.*\)\s*$|\w+ ?= ?\S|[{}\[\]]$)"
)


async def search_selection(embedder: Embedder, generation: OpenGeneration, query: Query) -> SearchResult:
    """Score the sentences of a selection for a query, as if it were the only passage of its book.

    The one part's odds say whether the selection answers. A selection that stands in the book has the book's chapter
    and headings.

    Raises:
        IndexUnavailable: The generation cannot be read.
        ValueError: The embedder gives no token vectors.
    """
    chunk = await _chunk(generation, query.selected_text)
    # "Explain this passage" asks nothing that one sentence could answer better than another: all of it is wanted.
    if not topic_stems(query.topic) and chunk.units:
        whole = ScoredPassage(chunk, np.zeros(len(chunk.units), dtype=np.float32), 0.0, 1.0)
        return SearchResult(passages=(Passage(chunk=chunk, score=1.0),), parts=(Part(query.topic, (whole,), np.inf),))
    with stage("embed"):
        question, selected = await embedder.encode([query.topic, chunk.embedded_text()])
    if not chunk.units or selected.token_vectors is None:
        return SearchResult(passages=(), parts=(Part(query.topic, (), -np.inf),))
    reading = embedder.reading
    wanted = await tokenize_question(generation, query.topic, question, reading)
    alone = generation.tokens.alone(chunk, selected.token_vectors, selected.token_offsets)
    (late,) = alone.maxsim([(generation.tokens.project(wanted.tokens), wanted.share)], [0])
    pool = Pool(
        chunks=[chunk],
        asked=wanted,
        cosines=np.array([pooled_vector(selected) @ wanted.vector], dtype=np.float32),
        lexical={chunk.chunk_id: 1.0} if topic_stems(query.topic) & stem_set(chunk.embedded_text()) else {},
        late=late,
    )
    found = score_passages(pool, reading)
    evidence = signals(pool, found)
    passage = Passage(chunk=chunk, score=chance_of(found[0].score, reading))
    part = Part(query.topic, tuple(found), log_odds(evidence, reading) + AT_HOME, tuple(map(float, evidence)))
    return SearchResult(passages=(passage,), parts=(part,))


def units_of(selected_text: str) -> tuple[Unit, ...]:
    """The sentences and code blocks of a selection, with offsets into the selection."""
    if looks_like_code(selected_text):
        return (_unit("code", selected_text, 0, len(selected_text), 0),)
    units: list[Unit] = []
    cursor = 0
    for fence in _FENCE.finditer(selected_text):
        units += _prose(selected_text, cursor, fence.start(), len(units))
        units.append(_unit("code", fence.group(3), fence.start(3), fence.end(3), len(units)))
        cursor = fence.end()
    return (*units, *_prose(selected_text, cursor, len(selected_text), len(units)))


def looks_like_code(text: str) -> bool:
    """Whether most lines of a text look like a program or a terminal."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and sum(bool(_CODE_SIGNS.search(line)) for line in lines) * 2 >= len(lines)


def _prose(text: str, start: int, end: int, block: int) -> list[Unit]:
    units: list[Unit] = []
    for paragraph in _PARAGRAPH.finditer(text, start, end):
        for kind, spans in _blocks(paragraph.group()):
            placed = ((paragraph.start() + a, paragraph.start() + b) for a, b in spans)
            made = [_unit(kind, " ".join(text[a:b].split()), a, b, block) for a, b in placed if words(text[a:b])]
            units += made
            block += bool(made)
    return units


def _blocks(paragraph: str) -> Iterator[tuple[UnitKind, Iterable[tuple[int, int]]]]:
    """The sentences of a paragraph, and the items of a list that it holds.

    A list has marks, as its author typed them, or an item in each line, as a browser gives it.
    """
    starts = [mark.end() if mark[1] else mark.start() for mark in _ITEM.finditer(paragraph)]
    lines = [line.strip() for line in paragraph.splitlines()]
    if len(starts) < LEAST_ITEMS and len(lines) >= LEAST_ITEMS and all(_ENDS.search(line) for line in lines):
        starts = [line.end() for line in _LINE.finditer(paragraph)]
    if len(starts) < LEAST_ITEMS:
        yield "sentence", sentence_ranges(paragraph)
        return
    marks = [0, *(paragraph.rindex("\n", 0, start) for start in starts[1:]), len(paragraph)]
    yield "sentence", sentence_ranges(paragraph[: paragraph.rfind("\n", 0, starts[0]) + 1])
    yield (
        "list_item",
        [(start, start + len(paragraph[start:end].rstrip())) for start, end in zip(starts, marks[1:], strict=True)],
    )


def _unit(kind: UnitKind, text: str, start: int, end: int, block: int) -> Unit:
    return Unit(kind=kind, text=text, char_start=start, char_end=end, block=block)


async def _chunk(generation: OpenGeneration, selected_text: str) -> Chunk:
    """Make the selection a passage, under the headings of its place in the book.

    Offsets are those of the selection; the text has the sentences of a paragraph in one line, as passages have.
    """
    book = generation.book
    units = units_of(selected_text)
    blocks = (" ".join(unit.text for unit in block) for _, block in groupby(units, key=lambda unit: unit.block))
    own = Chunk(
        chunk_id=SELECTED, text="\n\n".join(blocks), book=book.slug, book_title=book.title, edition=book.edition,
        module="", chapter="", section="", section_title="Selected text", heading_path=(),
        filename="", page=None, page_label="", anchor="", chunk_index=0, char_start=0, char_end=len(selected_text),
        token_count=0, content_type="text", is_simulation=None, content_hash="", units=units,
    )  # fmt: skip
    for home in (await homes(generation, selected_text))[:1]:
        return msgspec.structs.replace(
            own, module=home.module, chapter=home.chapter, section=home.section, section_title=home.section_title,
            heading_path=home.heading_path, filename=home.filename, page=home.page, page_label=home.page_label,
            anchor=home.anchor, is_simulation=home.is_simulation,
        )  # fmt: skip
    return own
