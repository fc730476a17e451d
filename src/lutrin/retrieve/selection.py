"""Answers from the selected text alone: its sentences are the only evidence there is."""

import re

import numpy as np

from lutrin.index.generation import OpenGeneration
from lutrin.ingest.sentences import sentence_ranges
from lutrin.ports import Embedder, Encoding
from lutrin.records import Chunk, Passage, Unit, UnitKind
from lutrin.retrieve.asked import Float, pooled, weighted_tokens
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.frames import plainly
from lutrin.retrieve.search import Found, Part
from lutrin.retrieve.selected import Marked, odds_of
from lutrin.retrieve.words import topic_stems, words

MAX_TOKENS = 2000
ANSWERS = 0.0
"""Log odds from which a selection is taken to hold an answer."""
NEAR = 8
"""Passages of the book in which a selected sentence is looked for."""
NOTHING = Found(passages=(), parts=(), odds=-np.inf)
"""The selection does not hold the answer."""
_FENCE = re.compile(r"^(`{3,}|~{3,})(\S*)[^\n]*\n(.*?)(?:^\1[`~]*\s*?$|\Z)", re.DOTALL | re.MULTILINE)
_CODE_SIGNS = re.compile(
    r"^\s*(?:import |from \w+ import|def |class |#include|ros2 |sudo |\$ |<\w+[^>]*>|[\w.]+\(.*\)\s*$|\w+ ?= ?\S"
    r"|[{}\[\]]$)"
)


def is_usable(selected_text: str) -> bool:
    """Whether there is anything to read in a selection."""
    return bool(words(selected_text))


def cut(selected_text: str, embedder: Embedder) -> tuple[str, bool]:
    """At most 2000 tokens of a selection, cut at the end of a sentence; and whether anything was cut."""
    offsets = embedder.token_offsets(selected_text)
    if len(offsets) <= MAX_TOKENS:
        return selected_text, False
    limit = offsets[MAX_TOKENS - 1][1]
    whole = [end for _, end in sentence_ranges(selected_text) if end <= limit]
    return selected_text[: whole[-1] if whole else limit], True


def looks_like_code(text: str) -> bool:
    """Whether most lines of a text look like a program or a terminal."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and sum(bool(_CODE_SIGNS.search(line)) for line in lines) * 2 >= len(lines)


def units_of(selected_text: str) -> tuple[Unit, ...]:
    """The sentences, lines and code blocks of a selection; offsets are those of the selection itself."""
    if looks_like_code(selected_text):
        return (_unit("code", selected_text, 0, len(selected_text), 0),)
    units: list[Unit] = []
    cursor = 0
    for fence in _FENCE.finditer(selected_text):
        units += _prose(selected_text, cursor, fence.start(), len(units))
        code = _unit("code", fence.group(3), fence.start(3), fence.end(3), len(units))
        units.append(code)
        cursor = fence.end()
    return (*units, *_prose(selected_text, cursor, len(selected_text), len(units)))


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


async def search_selection(embedder: Embedder, generation: OpenGeneration, question: str, selected_text: str) -> Found:
    """Score the sentences of a selection for a question.

    Args:
        embedder: As the book's.
        generation: Tells how rare words are, and where in the book the selection stands.
        question: What is asked.
        selected_text: At most 2000 tokens (`cut`).

    Returns:
        Evidence of the selection alone; none if it does not hold the answer. A sentence that stands in the book is the
        book's, with its chapter and heading; another has no place.
    """
    question = plainly(question)
    asked, read = await embedder.encode([question, selected_text])
    tokens, weights, _ = await weighted_tokens(generation, question, asked)
    units = units_of(selected_text)
    # "Explain this passage" asks nothing that a sentence could answer better than another: all of it is wanted.
    wants_all = not topic_stems(question)
    scores = [1.0 for _ in units] if wants_all else _scores(units, read, tokens, weights)
    near = await generation.chunks([name for name, _ in await generation.matching(selected_text, NEAR)])
    if not units:
        return NOTHING
    if not wants_all:
        marked = Marked(
            question=question,
            encoding=asked,
            text=selected_text,
            units=units,
            scores=scores,
            whole=_whole(read, tokens, weights),
            cosine=float(pooled(read) @ pooled(asked)),
        )
        if await odds_of(embedder, generation, marked, near) < ANSWERS:
            return NOTHING
    best = max(scores)
    own = _own_chunk(generation, selected_text, units)
    evidence = tuple(_placed(own, position, near, score) for position, score in enumerate(scores))
    chunks = {item.chunk.chunk_id: item.chunk for item in evidence}
    passages = tuple(Passage(chunk=chunk, score=best) for chunk in chunks.values())
    return Found(passages=passages, parts=(Part(question, evidence),), odds=np.inf)


def _scores(units: tuple[Unit, ...], read: Encoding, tokens: Float, weights: Float) -> list[float]:
    """MaxSim of each unit: the weighted mean over the question's tokens of the best match among the unit's own."""
    if read.token_vectors is None:
        return [0.0 for _ in units]
    similar = read.token_vectors @ tokens.T
    share = weights / weights.sum()
    starts = read.token_offsets[:, 0]
    scores = []
    for unit in units:
        inside = (starts >= unit.char_start) & (starts < unit.char_end)
        scores.append(float(similar[inside].max(axis=0) @ share) if inside.any() else 0.0)
    return scores


def _whole(read: Encoding, tokens: Float, weights: Float) -> float:
    """MaxSim of all of the selection."""
    if read.token_vectors is None or not len(read.token_vectors):
        return 0.0
    return float((read.token_vectors @ tokens.T).max(axis=0) @ weights / weights.sum())


def _placed(own: Chunk, position: int, near: list[Chunk], score: float) -> Evidence:
    """A unit of the selection as evidence: the book's unit of the same words if there is one."""
    wanted = _plain(own.units[position].text)
    for chunk in near:
        for number, unit in enumerate(chunk.units):
            if _plain(unit.text) == wanted:
                return Evidence(chunk=chunk, position=number, score=score)
    return Evidence(chunk=own, position=position, score=score)


def _own_chunk(generation: OpenGeneration, selected_text: str, units: tuple[Unit, ...]) -> Chunk:
    """The selection as a passage without a place in the book."""
    book = generation.book
    return Chunk(
        chunk_id="selection", text=selected_text, book=book.slug, book_title=book.title, edition=book.edition,
        module="", chapter="", section="", section_title="Selected text", heading_path=("Selected text",), filename="",
        page=None, page_label="", anchor="", chunk_index=0, char_start=0, char_end=len(selected_text), token_count=0,
        content_type="text", is_simulation=None, content_hash="", units=units,
    )  # fmt: skip


def _plain(text: str) -> str:
    return " ".join(words(text.lower()))
