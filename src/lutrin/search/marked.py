"""A selection: its place in the book, the code block around it, and whether it answers a question by itself."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby

import msgspec
import numpy as np

from lutrin import messages
from lutrin.index.generation import OpenGeneration
from lutrin.ingest.sentences import sentence_ranges
from lutrin.language.words import plain, stem_set, words
from lutrin.ports import Embedder
from lutrin.query.understand import Query
from lutrin.records import SELECTED, Chunk, Passage, Unit, UnitKind
from lutrin.search.fits import Float, Logistic, load_fit
from lutrin.search.reader import Pool, score_passages, signals, tokenize_question
from lutrin.search.result import Part, ScoredPassage, SearchResult, chance_of
from lutrin.stages import stage

MOST = 2
"""Passages from which a selection may have been taken."""
NEAR = 8
"""Passages to search for the selection."""
SENTENCE_WORDS = 4
"""A sentence with no more words than this could come from anywhere."""
_FENCE = re.compile(r"^(`{3,}+|~{3,}+)(\S*+)[^\n]*+\n(.*?)(?:^\1[`~]*+\s*?$|\Z)", re.DOTALL | re.MULTILINE)
_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?![^\S\n]*\n)[^\n]+)*")
_ITEM = re.compile(r"^[ \t]*(?:([-*+•])|\d+[.)])[ \t]+(?=\S)", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_ENDS = re.compile(r"[.!?…][\"'”’)\]]*$")
LEAST_ITEMS = 2
"""Fewer items are not a list."""
_CODE_SIGNS = re.compile(
    r"^\s*(?:import |from \w+ import|def |class |#include|sudo |\$ |<\w++[^>]*+>|[\w.]+\(.*\)\s*$|\w+ ?= ?\S|[{}\[\]]$)"
)


async def homes(generation: OpenGeneration, selection: str) -> list[Chunk]:
    """Find the passages that a selection came from: those that contain it first, then those that share a sentence.

    Returns none for a few words: they name a thing and may occur anywhere.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    content = plain(selection)
    if len(content.split()) <= SENTENCE_WORDS:
        return []
    near = await generation.matching_chunks(selection, NEAR)
    holding = [chunk for chunk in near if content in plain(chunk.text)]
    overlapping = [chunk for chunk in near if chunk not in holding and _shares_sentence(chunk, content)]
    return [*holding, *overlapping][:MOST]


async def marked_code(generation: OpenGeneration, text: str) -> tuple[Chunk, Unit] | None:
    """The code block inside or around a text, with its passage; None for less than a line of code.

    A few words of a line do not count: a name has as many.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    content = " ".join(text.split())
    lines = {line for one in text.splitlines() if (line := one.strip())}
    for chunk in await generation.matching_chunks(text, NEAR):
        for unit in chunk.units:
            code = " ".join(unit.text.split())
            if unit.kind != "code" or not (content in code or code in content):
                continue
            is_line = not lines.isdisjoint(line.strip() for line in unit.text.splitlines())
            if is_line or len(plain(text).split()) > SENTENCE_WORDS:
                return chunk, unit
    return None


def _shares_sentence(chunk: Chunk, content: str) -> bool:
    own = (plain(unit.text) for unit in chunk.units)
    return any(len(text.split()) > SENTENCE_WORDS and text in content for text in own)


def units_of(selected_text: str) -> tuple[Unit, ...]:
    """The sentences and code blocks of a selection, with offsets into the selection."""
    if looks_like_code(selected_text):
        return (Unit(kind="code", text=selected_text, char_start=0, char_end=len(selected_text), block=0),)
    units: list[Unit] = []
    cursor = 0
    for fence in _FENCE.finditer(selected_text):
        units += _prose(selected_text, cursor, fence.start(), len(units))
        start, end = fence.span(3)
        units.append(Unit(kind="code", text=fence[3], char_start=start, char_end=end, block=len(units)))
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
            own = [
                Unit(kind=kind, text=" ".join(text[a:b].split()), char_start=a, char_end=b, block=block)
                for a, b in placed
                if words(text[a:b])
            ]
            units += own
            block += bool(own)
    return units


def _blocks(paragraph: str) -> Iterator[tuple[UnitKind, Iterable[tuple[int, int]]]]:
    """Split a paragraph into its sentences and list items.

    A list has marks, as its author typed them, or one item a line, as a browser copies it.
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


async def selection_chunk(generation: OpenGeneration, selected_text: str) -> Chunk:
    """Turn a selection into a passage, under the headings of its place in the book.

    Offsets refer to the selection. The sentences of a paragraph stand in one line, as in every passage.

    Raises:
        IndexUnavailable: The generation cannot be read.
    """
    book = generation.book
    units = units_of(selected_text)
    blocks = (" ".join(unit.text for unit in block) for _, block in groupby(units, key=lambda unit: unit.block))
    own = Chunk(
        chunk_id=SELECTED, text="\n\n".join(blocks), book=book.slug, book_title=book.title, edition=book.edition,
        module="", chapter="", section="", section_title=messages.SELECTED_TEXT, heading_path=(),
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


async def search_selection(embedder: Embedder, generation: OpenGeneration, query: Query) -> SearchResult:
    """Score the sentences of a selection for a query, as if it were the only passage of its book.

    The odds of its one part say whether the selection answers. A selection found in the book has the book's chapter and
    headings.

    Raises:
        IndexUnavailable: The generation cannot be read.
        ValueError: The embedder gives no token vectors.
    """
    chunk = await selection_chunk(generation, query.selected_text)
    # "Explain this passage" is about all of it: no sentence answers better than another.
    if not query.stems and chunk.units:
        whole = ScoredPassage(chunk, np.zeros(len(chunk.units), dtype=np.float32), 0.0, 1.0)
        return SearchResult(generation, (Passage(chunk=chunk, score=1.0),), (Part(query.topic, (whole,), np.inf),))
    with stage("embed"):
        question, selected = await embedder.encode([query.topic, chunk.embedded_text()])
    if not chunk.units or selected.token_vectors is None:
        return SearchResult(generation, (), (Part(query.topic, (), -np.inf),))
    reading = embedder.reading
    query_tokens = await tokenize_question(generation, query.topic, question, reading)
    alone = generation.tokens.alone(chunk, selected.token_vectors, selected.token_offsets)
    (late,) = alone.maxsim([(generation.tokens.project(query_tokens.tokens), query_tokens.share)], [0])
    pool = Pool(
        chunks=[chunk],
        question=query_tokens,
        cosines=np.array([selected.pooled @ query_tokens.vector], dtype=np.float32),
        lexical={chunk.chunk_id: 1.0} if query.stems & stem_set(chunk.embedded_text()) else {},
        late=late,
    )
    passages = score_passages(pool, reading)
    passage = Passage(chunk=chunk, score=chance_of(passages[0].score, reading))
    evidence = selection_signals(pool, passages[0])
    share, odds = tuple(query_tokens.share.tolist()), selection_floor().odds(evidence)
    part = Part(query.topic, tuple(passages), odds, evidence=tuple(evidence.tolist()), share=share)
    return SearchResult(generation, (passage,), (part,))


def selection_signals(pool: Pool, passage: ScoredPassage) -> Float:
    """The signals that tell whether a selection answers: those of a book, its best unit over 10, and its length."""
    own = [float(passage.scores.max()) / 10, float(np.log1p(len(words(passage.chunk.text)))) / 10]
    return np.append(signals(pool, [passage]), np.array(own, dtype=np.float32))


@cache
def selection_floor() -> Logistic:
    """The fit of `python -m evaluation.marked --write`, on `selection_signals`: a no means no answer."""
    return load_fit("lutrin.search", "selection.json", Logistic)
