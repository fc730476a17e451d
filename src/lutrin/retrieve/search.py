"""Search: two ways to find candidates, late interaction to rank them and to score their sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from lutrin.index.generation import OpenGeneration
from lutrin.index.tokens import MaxSim
from lutrin.ports import Embedder, Encoding
from lutrin.records import Chunk, Passage
from lutrin.retrieve.evidence import Evidence
from lutrin.retrieve.parts import parts_of
from lutrin.retrieve.rank import Ranked
from lutrin.retrieve.words import STOP_WORDS, content_stems, topic_stems, words

Float = npt.NDArray[np.float32]

POOL = 24
"""Candidates that each of the two searches contributes."""
LEXICAL_WEIGHT = 0.35
LATE_WEIGHT = 1.2
"""Fusion of a passage: cosine + LEXICAL_WEIGHT x BM25 (best of the pool = 1) + LATE_WEIGHT x MaxSim."""
SELECTION_WEIGHT = 0.6
"""Share of the selected text in the vector that is searched for; the question has the rest."""
SELECTION_CHARACTERS = 4096
"""Of a selection, embedded at most."""
CONTAINS_BONUS = 0.2
"""Added to the passage that the selection was taken from."""
COVERAGE_PASSAGES = 5
EVIDENCE_PASSAGES = 12
"""Passages whose units may be quoted; more than a reader is shown, for a good sentence may stand in a poor passage."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    passages: tuple[Passage, ...]
    """Best first, at most as many as asked for."""
    parts: tuple["Part", ...]
    """What was asked, each with its own evidence; one for most questions."""
    best_cosine: float
    """Of the question and any candidate, -1 to 1; 0 if there is none."""
    best_passage: float
    """Highest late-interaction score of any passage, -1 to 1; 0 if there is none."""
    coverage: float
    """Share of the question's topic words that stand in the best passages, 0 to 1."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that a question asks."""

    text: str
    evidence: tuple[Evidence, ...]
    """Units of the best passages with their scores, in no particular order."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question as the searches need it."""

    vector: Float
    tokens: Float
    """(Q, d): token vectors that carry meaning."""
    weights: Float
    """(Q,): 1 + log inverse document frequency of the word that each token is part of."""


class Searcher:
    """Finds passages in an open generation.

    Args:
        embedder: The one that the index was built with.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    async def search(
        self,
        generation: OpenGeneration,
        text: str,
        *,
        k: int,
        where: Mapping[str, str] | None = None,
        selected_text: str = "",
    ) -> Found:
        """Find the passages and units that answer a text.

        Args:
            generation: Open for reading.
            text: The question, completed from its conversation.
            k: Passages at most.
            where: Only chunks of this chapter, module or content type.
            selected_text: A passage that the reader marked; it weighs more than the question.

        Raises:
            IndexUnavailable: The generation cannot be read.
        """
        texts = [text] if selected_text else parts_of(text)
        found = [await self._search(generation, part, k=k, where=where, selected_text=selected_text) for part in texts]
        return found[0] if len(found) == 1 else _joined(found, k)

    async def _search(
        self, generation: OpenGeneration, text: str, *, k: int, where: Mapping[str, str] | None, selected_text: str
    ) -> Found:
        """One search for one thing."""
        selection = selected_text[:SELECTION_CHARACTERS]
        # "Explain this" says nothing about the subject; the selected text does.
        text = text if topic_stems(text) or not selection else selection
        asked = await self._ask(generation, text, selection)
        dense = dict(await generation.nearest(asked.vector, POOL, where))
        lexical = dict(await generation.matching(f"{text} {selection}".strip(), POOL, where))
        chunks = await generation.chunks(list(dict.fromkeys((*dense, *lexical))))
        chunks = _distinct(chunks)
        if not chunks:
            return Found(passages=(), parts=(Part(text, ()),), best_cosine=0.0, best_passage=0.0, coverage=0.0)
        rows = await generation.rows([chunk.chunk_id for chunk in chunks])
        cosines = np.array([float((generation.windows_of(row) @ asked.vector).max()) for row in rows], dtype=np.float32)
        late = generation.tokens.maxsim(generation.tokens.project(asked.tokens), asked.weights, rows)
        scores = self._fuse(chunks, cosines, lexical, late, selection)
        order = sorted(range(len(chunks)), key=lambda index: (-scores[index], chunks[index].chunk_id))
        passages = tuple(
            Passage(
                chunk=chunks[index],
                score=round(float(np.clip(scores[index] / (1 + LEXICAL_WEIGHT + LATE_WEIGHT), 0, 1)), 6),
                cosine=float(cosines[index]),
                lexical=lexical.get(chunks[index].chunk_id),
            )
            for index in order[:k]
        )
        ranked = Ranked(text=text, chunks=chunks, late=late, fused=scores, lexical=lexical, weights=asked.weights)
        evidence = [item for index in order[: max(k, EVIDENCE_PASSAGES)] for item in ranked.evidence(index)]
        return Found(
            passages=passages,
            parts=(Part(text, tuple(evidence)),),
            best_cosine=float(cosines.max()),
            best_passage=float(late.passages.max()),
            coverage=_coverage(text, [chunks[index] for index in order[:COVERAGE_PASSAGES]]),
        )

    async def _ask(self, generation: OpenGeneration, text: str, selection: str) -> _Asked:
        encodings = await self.embedder.encode([text, selection] if selection else [text])
        question = pooled(encodings[0])
        vector = question
        if selection:
            vector = (1 - SELECTION_WEIGHT) * question + SELECTION_WEIGHT * pooled(encodings[1])
            vector = (vector / np.linalg.norm(vector)).astype(np.float32)
        tokens, weights = await weighted_tokens(generation, text, encodings[0])
        return _Asked(vector=vector, tokens=tokens, weights=weights)

    @staticmethod
    def _fuse(
        chunks: Sequence[Chunk], cosines: Float, lexical: Mapping[str, float], late: MaxSim, selection: str
    ) -> Float:
        best = max(lexical.values(), default=0.0) or 1.0
        matched = np.array([lexical.get(chunk.chunk_id, 0.0) / best for chunk in chunks], dtype=np.float32)
        scores: Float = cosines + LEXICAL_WEIGHT * matched + LATE_WEIGHT * late.passages
        if selection:
            wanted = _plain(selection)
            scores += np.array([CONTAINS_BONUS * (wanted in _plain(chunk.text)) for chunk in chunks], dtype=np.float32)
        return scores


def _joined(found: Sequence[Found], k: int) -> Found:
    """The results of several searches as one: passages in turn, the clearest of their signals."""
    turns = [passage for rank in zip_longest(*(item.passages for item in found)) for passage in rank if passage]
    distinct = {passage.chunk.chunk_id: passage for passage in reversed(turns)}
    return Found(
        passages=tuple(reversed(distinct.values()))[:k],
        parts=tuple(part for item in found for part in item.parts),
        best_cosine=max(item.best_cosine for item in found),
        best_passage=max(item.best_passage for item in found),
        coverage=max(item.coverage for item in found),
    )


async def weighted_tokens(generation: OpenGeneration, text: str, encoding: Encoding) -> tuple[Float, Float]:
    """The token vectors of a question that carry meaning, with their weights.

    Returns:
        (Q, d) vectors and (Q,) weights, 1 + log((N + 1) / (n + 1)) of the word that a token belongs to, which stands
        in n of N chunks; stop words are left out unless there is nothing else.
    """
    if encoding.token_vectors is None:
        raise ValueError("the embedder gives no token vectors")
    offsets = encoding.token_offsets
    spans = _word_spans(text)
    owners = [next((word for start, end, word in spans if start <= first < end), "") for first, _ in offsets]
    keep = [index for index, word in enumerate(owners) if word and word not in STOP_WORDS]
    keep = keep or [index for index, word in enumerate(owners) if word] or list(range(len(owners)))
    frequency = await generation.document_frequency({owners[index] for index in keep if owners[index]})
    total = generation.manifest.chunks + 1
    weights = [1 + np.log(total / (frequency.get(owners[index], 0) + 1)) for index in keep]
    return encoding.token_vectors[keep], np.array(weights, dtype=np.float32)


def pooled(encoding: Encoding) -> Float:
    """One vector of length 1 for a text of any number of windows: (dimension,)."""
    mean = encoding.windows.mean(axis=0)
    vector: Float = (mean / np.linalg.norm(mean)).astype(np.float32)
    return vector


def _word_spans(text: str) -> list[tuple[int, int, str]]:
    """Start, end and lower-case form of each word of a text."""
    spans = []
    cursor = 0
    for word in words(text):
        start = text.index(word, cursor)
        cursor = start + len(word)
        spans.append((start, cursor, word.lower()))
    return spans


def _distinct(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Chunks without those whose text another one has: the same page in two files is found once."""
    return list({_plain(chunk.text): chunk for chunk in reversed(chunks)}.values())[::-1]


def _plain(text: str) -> str:
    return " ".join(words(text.lower()))


def _coverage(text: str, chunks: Sequence[Chunk]) -> float:
    """Share of a question's topic words that some passages hold; 0 for a question without any."""
    wanted = topic_stems(text)
    held = {stem for chunk in chunks for stem in content_stems(chunk.embedded_text())}
    return len(wanted & held) / len(wanted) if wanted else 0.0
