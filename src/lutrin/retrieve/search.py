"""Search: two ways to find candidates, late interaction to rank them and to score their sentences."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np

from lutrin.index.definitions import term_of
from lutrin.index.generation import OpenGeneration
from lutrin.ports import Embedder, Encoding, Reranker, Vectors
from lutrin.records import Passage
from lutrin.retrieve.asked import Asked, Float, asked
from lutrin.retrieve.background import background_vectors
from lutrin.retrieve.candidates import LATE_WEIGHT, LEXICAL_WEIGHT, Pool, Scored, gather
from lutrin.retrieve.choose import Wish, choose
from lutrin.retrieve.everyday import is_everyday
from lutrin.retrieve.evidence import Evidence, Late
from lutrin.retrieve.frames import asked_term, plainly
from lutrin.retrieve.leaning import leans, names_of
from lutrin.retrieve.parts import parts_of
from lutrin.retrieve.rank import Ranked
from lutrin.retrieve.respell import Speller, respell
from lutrin.retrieve.signals import log_odds, signals_of, strength
from lutrin.retrieve.subjects import without
from lutrin.retrieve.words import REMEMBERED, numbers, plain, stem_set, topic_stems, words

SELECTION_CHARACTERS = 4096
"""Of a selection, embedded at most."""
CONTAINS_BONUS = 0.2
"""Added to the passage that the selection was taken from."""
LEANS_ON_SELECTION = 8.0
"""Added to the log odds of a question that leans on a marked passage of the book, which has the words that it lacks."""
NAMES_SELECTION = 4.0
"""The same for one that names what the passage names."""
CONTEXT_WEIGHT = 0.4
"""What the whole question says of a passage, beside 1 for what its part says."""
DEFINES = 3.0
"""Added to the passage that defines the term of which nothing else is asked: more than any passage is above another."""
MARKED_WORDS = 5
"""A unit of the book with fewer words may stand in any text."""
RERANKED = 20
"""Passages that a cross-encoder reads, each in some 20 ms."""
RERANK_WEIGHT = 1.0
"""What its verdict counts beside the fused score; a guess until somebody's weights are measured."""
ENCODED = 256
"""Questions whose vectors are remembered, those asked first leave first; some 30 kB each."""
_MEASURE = re.compile(r"\W*how \w+ (?:is|are|was|were) it\b", re.IGNORECASE)
EVIDENCE_PASSAGES = 12
"""Passages whose units may be quoted; more than a reader is shown, for a good sentence may stand in a poor passage."""


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things that a question asks."""

    text: str
    evidence: Sequence[Evidence]
    """Units of the best passages with their scores, the best passage's first."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    passages: tuple[Passage, ...]
    """Best first, at most as many as asked for."""
    parts: tuple[Part, ...]
    """What was asked, each with its own evidence; one for most questions."""
    odds: float
    """Logarithm of the odds that the book speaks of it: 0 is even; `scope.judge` decides."""
    signals: tuple[float, ...] = ()
    """What these odds rest on; see `signals.SIGNALS`."""
    strength: float = 0.0
    """The odds by the weights that are common to all books: in these, books can be compared."""
    changes: Mapping[str, str] = field(default_factory=dict)
    """Words of the question that were searched for in the book's spelling."""


@dataclass(frozen=True, slots=True)
class _Ordered:
    """Candidates as each thing that is asked orders them, and whether the book speaks of it."""

    pool: Pool
    wanted: Sequence[Scored]
    """What is asked: the question, or its parts if there are several."""
    ranks: Sequence[Float] = ()
    """(P,) of each: by which it orders the pool."""
    odds: float = -np.inf
    signals: tuple[float, ...] = ()
    strength: float = 0.0
    """The last three as in `Found`."""


class Searcher:
    """Finds passages in an open generation.

    Args:
        embedder: The one that the index was built with.
        reranker: Reads the best passages once more, together with the question; None: nobody does.
    """

    def __init__(self, embedder: Embedder, reranker: Reranker | None = None) -> None:
        self.embedder = embedder
        self._reranker = reranker
        self._speller = Speller()
        self._ranks = lru_cache(maxsize=REMEMBERED)(embedder.token_ranks)
        self._encoded: dict[str, Encoding] = {}
        self._background: Vectors | None = None
        self._embedding = asyncio.Lock()

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode questions; those of late are remembered, for each book of several is searched for the same one."""
        wanted = dict.fromkeys(texts)
        known = {text: self._encoded[text] for text in wanted if text in self._encoded}
        missing = [text for text in wanted if text not in known]
        if missing:
            known.update(zip(missing, await self.embedder.encode(missing), strict=True))
            self._encoded.update(known)
            while len(self._encoded) > ENCODED:
                del self._encoded[next(iter(self._encoded))]
        return [known[text] for text in texts]

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
        selection = selected_text[:SELECTION_CHARACTERS]
        text = plainly(text)
        changes = await self._speller.changes(generation, text, self.embedder)
        text = respell(text, changes)
        unnamed = without(text, generation.manifest.subjects) if not selection else None
        texts, others = _texts(text, selection), _texts(unnamed, "") if unnamed is not None else []
        # All of them now: who came back for more would wait behind everybody else's questions.
        wanted = [*texts, *others, *([selection] if selection else [])]
        encoded = dict(zip(wanted, await self.encode(wanted), strict=True))
        # A reader who searches in one chapter wants what that one says.
        defining = await _defining(generation, text) if not selection and not where else ""
        ordered = await self._ordered(generation, texts, encoded, where=where, selection=selection, defining=defining)
        odds = ordered.odds
        if others and odds >= 0 and not _measures(ordered, others[0]):
            odds = min(odds, (await self._ordered(generation, others, encoded, where=where)).odds)
        return replace(_found(ordered, k), odds=odds, changes=changes)

    async def _ordered(
        self,
        generation: OpenGeneration,
        texts: Sequence[str],
        encoded: Mapping[str, Encoding],
        *,
        where: Mapping[str, str] | None,
        selection: str = "",
        defining: str = "",
    ) -> _Ordered:
        """The candidates for a question (the first text) and its parts (the rest), if there are several.

        Of the chunk that is `defining`, by its id, the book certainly speaks, and it comes first.
        """
        questions = await self._asked(generation, texts, encoded, selection)
        pool, scored = await gather(generation, questions, where, besides=[defining] if defining else [])
        wanted, whole = (scored[1:], scored[0]) if scored[1:] else (scored, None)
        if not pool.chunks:
            return _Ordered(pool, wanted)
        ranks = [await self._reread(pool, item, _rank(pool, item, whole, selection, defining)) for item in wanted]
        told = [signals_of(pool, item, rank) for item, rank in zip(wanted, ranks, strict=True)]
        odds, signals = max((log_odds(found, generation.manifest.scope), tuple(map(float, found))) for found, _ in told)
        if selection and _stands_in(pool, selection):
            typed = wanted[0].asked.text
            odds += LEANS_ON_SELECTION if leans(typed) else NAMES_SELECTION * names_of(typed, selection)
        odds = max(odds, 0.0) if defining else odds
        return _Ordered(pool, wanted, ranks, odds, signals, max(strength(found) for _, found in told))

    async def _reread(self, pool: Pool, item: Scored, rank: Float) -> Float:
        """(P,): the order of a part after the cross-encoder, if there is one, has read the best of the pool."""
        if self._reranker is None:
            return rank
        best = np.argsort(-rank, kind="stable")[:RERANKED]
        texts = [pool.chunks[index].embedded_text() for index in best]
        changed = rank.copy()
        changed[best] += RERANK_WEIGHT * await self._reranker.scores(item.asked.text, texts)
        return changed

    async def _asked(
        self, generation: OpenGeneration, texts: Sequence[str], encoded: Mapping[str, Encoding], selection: str
    ) -> list[Asked]:
        """Texts in the terms of the book."""
        background = await self._usual()
        return [
            await asked(
                generation,
                text,
                encoded[text],
                encoded[selection] if selection else None,
                f"{text} {selection}".strip(),
                background=background,
                ranks=self._ranks,
            )
            for text in texts
        ]

    async def _usual(self) -> Vectors:
        """Vectors of what is asked of any book; whoever comes first has them computed, where they are not at hand."""
        async with self._embedding:
            if self._background is None:
                self._background = await background_vectors(self.embedder)
            return self._background


def _measures(ordered: _Ordered, unnamed: str) -> bool:
    """Whether the best passage has a sentence with the measure that alone is asked for, and a number.

    "How tall is it?" is near no passage of any book; "How tall is Kestrel?" is answered by "It is 1.2 m tall".
    """
    topics = topic_stems(unnamed)
    if not _MEASURE.match(unnamed) or not all(map(is_everyday, topics)):
        return False
    best = ordered.pool.chunks[int(ordered.ranks[0].argmax())]
    return any(numbers(unit.text) and topics <= stem_set(unit.text) for unit in best.units)


def _texts(text: str, selection: str) -> list[str]:
    """What is searched for: the question, followed by its parts if there are several."""
    # "Explain this" says nothing about the subject; the selected text does.
    text = text if topic_stems(text) or not selection else selection
    parts = [text] if selection else parts_of(text)
    return [text, *(parts if len(parts) > 1 else [])]


def _found(ordered: _Ordered, k: int) -> Found:
    """What a reader gets of the candidates: at most so many passages, and the evidence."""
    pool, wanted, ranks = ordered.pool, ordered.wanted, ordered.ranks
    if not pool.chunks:
        return Found(passages=(), parts=tuple(Part(item.asked.text, ()) for item in wanted), odds=ordered.odds)
    wishes = [
        Wish(scores=rank, matches=item.late.passage_best, share=item.share)
        for rank, item in zip(ranks, wanted, strict=True)
    ]
    files, lengths = zip(*((chunk.filename, len(chunk.text)) for chunk in pool.chunks), strict=True)
    return Found(
        passages=_passages(pool, choose(wishes, files, lengths, k), wanted),
        parts=tuple(
            Part(item.asked.text, Late(partial(_evidence, pool, item, rank, max(k, EVIDENCE_PASSAGES))))
            for item, rank in zip(wanted, ranks, strict=True)
        ),
        odds=ordered.odds,
        signals=ordered.signals,
        strength=ordered.strength,
    )


async def _defining(generation: OpenGeneration, text: str) -> str:
    """Id of the chunk that defines the term of which a question asks what it is; empty if there is none."""
    term = term_of(asked_term(text))
    defined = await generation.definitions(term) if term else []
    return next((chunk.chunk_id for found, chunk, _ in defined if found == term), "")


def _rank(pool: Pool, item: Scored, whole: Scored | None, selection: str, defining: str) -> Float:
    """(P,): by which one part orders the pool; a part is understood in the light of the whole question."""
    scores = item.fused - pool.apart
    if whole is not None:
        scores = scores + CONTEXT_WEIGHT * whole.fused
    if selection:
        scores = scores + CONTAINS_BONUS * np.array(_containing(pool, selection), dtype=np.float32)
    if defining:
        scores = scores + DEFINES * np.array([chunk.chunk_id == defining for chunk in pool.chunks], dtype=np.float32)
    return scores.astype(np.float32)


def _containing(pool: Pool, selection: str) -> list[bool]:
    """Of each passage, whether the selection was taken from it."""
    wanted = plain(selection)
    return [wanted in plain(chunk.text) for chunk in pool.chunks]


def _stands_in(pool: Pool, selection: str) -> bool:
    """Whether a selection is the book's: it lies in a passage, or holds a unit of one."""
    wanted = plain(selection)
    return any(_containing(pool, selection)) or any(
        len(words(unit.text)) >= MARKED_WORDS and plain(unit.text) in wanted
        for chunk in pool.chunks
        for unit in chunk.units
    )


def _passages(pool: Pool, chosen: Sequence[int], wanted: Sequence[Scored]) -> tuple[Passage, ...]:
    """The chosen passages with the figures of the part that each answers best."""
    found: list[Passage] = []
    for index in chosen:
        item = max(wanted, key=lambda scored: float(scored.fused[index]))
        chunk = pool.chunks[index]
        score = min(max(float(item.fused[index]) / (1 + LEXICAL_WEIGHT + LATE_WEIGHT), 0.0), 1.0)
        found.append(
            Passage(
                chunk=chunk,
                # A passage that is chosen for what it adds may match better than one before it; the order counts.
                score=min(round(score, 6), *(item.score for item in found[-1:]), 1.0),
                cosine=float(item.cosines[index]),
                lexical=item.lexical.get(chunk.chunk_id),
            )
        )
    return tuple(found)


def _evidence(pool: Pool, item: Scored, rank: Float, passages: int) -> tuple[Evidence, ...]:
    ranked = Ranked.of(pool, item)
    order = np.argsort(-rank, kind="stable")[:passages]
    return tuple(unit for index in order for unit in ranked.evidence(int(index)))
