"""Evidence from selected text alone: its sentences are the only ones there are."""

import re
from collections.abc import Sequence

import msgspec
import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.ingest.sentences import sentence_ranges
from lutrin.language.words import plain, topic_stems, words
from lutrin.ports import Embedder, Encoding, Reading
from lutrin.query.understand import Query
from lutrin.records import Chunk, Passage, Unit, UnitKind
from lutrin.search.asked import Asked, Float, asked, pooled
from lutrin.search.reader import Read, log_sum
from lutrin.search.search import Found, Part

CHOSEN = 2.5
"""Added to the log odds of a selection, which somebody chose to ask about: it answers more often than what a search
finds, and a wrong refusal is worse here than a sentence beside the point."""
NEAR = 8
"""Passages of the book in which a selected sentence is looked for."""
_FENCE = re.compile(r"^(`{3,}|~{3,})(\S*)[^\n]*\n(.*?)(?:^\1[`~]*\s*?$|\Z)", re.DOTALL | re.MULTILINE)
_CODE_SIGNS = re.compile(
    r"^\s*(?:import |from \w+ import|def |class |#include|sudo |\$ |<\w+[^>]*>|[\w.]+\(.*\)\s*$|\w+ ?= ?\S|[{}\[\]]$)"
)


async def search_selection(embedder: Embedder, generation: OpenGeneration, query: Query) -> Found:
    """Score the sentences of a selection for a query.

    Args:
        embedder: As the book's.
        generation: Tells how rare words are, and where in the book the selection stands.
        query: With its selection.

    Returns:
        One part; its odds say whether the selection answers. A selection that stands in the book has the book's
        chapter and headings.
    """
    question, selected = await embedder.encode([query.topic, query.selected_text])
    reading = embedder.reading
    wanted = await asked(generation, query.topic, question, reading)
    units = units_of(query.selected_text)
    near = await generation.chunks([name for name, _ in await generation.matching(query.selected_text, NEAR)])
    chunk = _chunk(generation, query.selected_text, units, near)
    if not units or selected.token_vectors is None:
        return Found(passages=(), parts=(Part(query.topic, (), -np.inf),))
    # "Explain this passage" asks nothing that one sentence could answer better than another: all of it is wanted.
    if not topic_stems(query.topic):
        read = Read(chunk, np.zeros(len(units), dtype=np.float32), 0.0, 1.0)
        return Found(passages=(Passage(chunk=chunk, score=1.0),), parts=(Part(query.topic, (read,), np.inf),))
    scores = _scores(wanted, selected, units, reading)
    score = log_sum(scores)
    slope, bias = reading.answers
    odds = slope * score + bias + CHOSEN
    chance = float(1 / (1 + np.exp(-np.clip(odds, -13, 13))))
    read = Read(chunk, scores, score, float(pooled(selected) @ wanted.vector))
    return Found(passages=(Passage(chunk=chunk, score=chance),), parts=(Part(query.topic, (read,), odds),))


def _scores(wanted: Asked, selected: Encoding, units: Sequence[Unit], reading: Reading) -> Float:
    """(units,): what `lutrin.search.reader` says of each; a selection has no headings."""
    tokens = selected.token_vectors
    if tokens is None:
        raise ValueError("the embedder gives no token vectors")
    similar = tokens @ wanted.tokens.T
    whole = reading.passage * float(similar.max(axis=0) @ wanted.share)
    whole += reading.dense * float(pooled(selected) @ wanted.vector)
    starts = selected.token_offsets[:, 0]
    scores = np.full(len(units), -np.inf, dtype=np.float32)
    for place, unit in enumerate(units):
        inside = (starts >= unit.char_start) & (starts < unit.char_end)
        if inside.any():
            own = float(similar[inside].max(axis=0) @ wanted.share)
            scores[place] = reading.scale * ((reading.own + reading.headed) * own + whole) + reading.form(unit)
    return scores


def units_of(selected_text: str) -> tuple[Unit, ...]:
    """The sentences and code blocks of a selection; offsets are those of the selection itself."""
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
    units = []
    for number, paragraph in enumerate(re.finditer(r"[^\n]+(?:\n(?!\s*\n)[^\n]+)*", text[start:end])):
        offset = start + paragraph.start()
        units += [
            _unit("sentence", " ".join(paragraph.group()[a:b].split()), offset + a, offset + b, block + number)
            for a, b in sentence_ranges(paragraph.group())
            if words(paragraph.group()[a:b])
        ]
    return units


def _unit(kind: UnitKind, text: str, start: int, end: int, block: int) -> Unit:
    return Unit(kind=kind, text=text, char_start=start, char_end=end, block=block)


def _chunk(generation: OpenGeneration, text: str, units: tuple[Unit, ...], near: Sequence[Chunk]) -> Chunk:
    """The selection as a passage of its own: without a file, under the headings of where it stands in the book."""
    book = generation.book
    own = Chunk(
        chunk_id="selection", text=text, book=book.slug, book_title=book.title, edition=book.edition,
        module="", chapter="", section="", section_title="Selected text", heading_path=("Selected text",), filename="",
        page=None, page_label="", anchor="", chunk_index=0, char_start=0, char_end=len(text), token_count=0,
        content_type="text", is_simulation=None, content_hash="", units=units,
    )  # fmt: skip
    said = plain(text)
    home = next((chunk for chunk in near if said and said in plain(chunk.text)), None)
    return own if home is None else _placed(own, home)


def _placed(own: Chunk, home: Chunk) -> Chunk:
    """The selection with the place in the book of the passage that holds it."""
    return msgspec.structs.replace(
        own, module=home.module, chapter=home.chapter, section=home.section, section_title=home.section_title,
        heading_path=home.heading_path, page=home.page, anchor=home.anchor, is_simulation=home.is_simulation,
    )  # fmt: skip
