"""The reader: finds candidates, scores how well each unit answers, and judges whether the book answers at all.

It encodes the text, finds candidates by two searches, and matches tokens with tokens. `lutrin.ports.Reading` has the
formula; `training/` learns its numbers. A cross-encoder, if there is one, reads the best passages again together with
the question: the best two in full, and a window around the reader's favourite spot of the others. It gives the
probability that each token belongs to the answer; a unit's score is the logarithm of the sum over its tokens, as
`training.cross` learns it.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lutrin.index.generation import OpenGeneration
from lutrin.index.tokens import MaxSim
from lutrin.language.lexicon import QUESTION_WORDS, STOP_WORDS
from lutrin.language.words import stem, stem_set
from lutrin.ports import Encoding, Judgement, Ranking, Reading, Reranker, View
from lutrin.records import Chunk
from lutrin.search.fits import Float, Logistic
from lutrin.search.result import CONSIDERED, ScoredPassage, log_sum

POOL = 24
"""Passages that each of the two searches contributes; late interaction ranks all of them."""
RERANKED = 4
"""Passages that the cross-encoder reads: eight gain nothing over four (training/README.md)."""
WHOLE = 2
"""Passages that it reads in full: four gain nothing over two."""
SIGNALS = ("best passage", "best match", "words lacked", "names lacked")
"""Score of the best passage, over 10; best match of a whole passage; share of the words, by rarity, that the best
passages neither contain nor resemble; the rarest word that the whole book neither contains nor resembles. `training`
fits the weights on held-out books."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class QuestionTokens:
    """One text of a question, encoded for one book."""

    text: str
    vector: Float
    """(d,), of length 1."""
    tokens: Float
    """(Q, d), each of length 1."""
    share: Float
    """(Q,): weight of each token; they sum to 1."""
    words: tuple[str, ...]
    """(Q,): lower-case word of each token; empty for punctuation."""
    rarity: Float
    """(Q,): 1 + log((N + 1) / (n + 1)) of that word, found in n of the book's N passages; 1 for punctuation."""
    frequency: Float
    """(Q,): number of passages that contain that word; N for punctuation."""


async def tokenize_question(
    generation: OpenGeneration, text: str, encoding: Encoding, reading: Reading
) -> QuestionTokens:
    """Prepare an encoded text for a book.

    A token's weight is a softmax over its learned importance and the log rarity of its word in the book.

    Raises:
        IndexUnavailable: The generation cannot be read.
        ValueError: The embedder gives no token vectors.
    """
    if encoding.token_vectors is None:
        raise ValueError("the embedder gives no token vectors")
    words = word_of_each(text, encoding.token_offsets[:, 0].tolist())
    total = generation.manifest.chunks + 1
    counts = await generation.document_frequency({word for word in words if word})
    frequency = np.array([counts.get(word, 0) if word else total - 1 for word in words], dtype=np.float32)
    rarity = (1 + np.log(total / (frequency + 1))).astype(np.float32)
    importance = reading.importance(encoding.token_vectors)
    logits = importance + reading.rarity * np.log1p(rarity)
    share = np.exp(logits - logits.max(initial=0.0))
    return QuestionTokens(
        text=text,
        vector=encoding.pooled,
        tokens=encoding.token_vectors,
        share=(share / max(float(share.sum()), 1e-12)).astype(np.float32),
        words=tuple(words),
        rarity=rarity,
        frequency=frequency,
    )


def word_of_each(text: str, starts: Sequence[int]) -> list[str]:
    """The lower-case word around each of the given characters; empty if there is none."""
    spans = [(match.start(), match.end(), match.group().lower()) for match in _WORD.finditer(text)]
    firsts = np.array([start for start, _, _ in spans] or [0])
    places = np.searchsorted(firsts, starts, side="right") - 1
    return [
        spans[place][2] if spans and place >= 0 and start < spans[place][1] else ""
        for place, start in zip(places.tolist(), starts, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class Pool:
    """The P candidates as one text sees them."""

    chunks: Sequence[Chunk]
    question: QuestionTokens
    cosines: Float
    """(P,): cosine with the nearest window of each passage."""
    lexical: Mapping[str, float]
    """BM25 by chunk id, for the hits of the full-text search."""
    late: MaxSim


@dataclass(frozen=True, slots=True)
class Candidates:
    """Hits of both searches, before matching."""

    generation: OpenGeneration
    questions: Sequence[QuestionTokens]
    places: Sequence[tuple[int, Chunk]]
    """Rows and chunks."""
    lexical: Sequence[Sequence[tuple[str, float]]]
    besides: Sequence[str]
    page: str

    def match(self, hidden: Callable[[Chunk], bool]) -> list[Pool]:
        """Match each text with the visible candidates; of near duplicates, keep the first."""
        seen: set[int] = set()
        rows, chunks = [], []
        for row, chunk in sorted(self.places, key=lambda place: place[1].filename != self.page):
            is_besides = chunk.chunk_id in self.besides
            if not is_besides and hidden(chunk):
                continue
            first = int(self.generation.firsts[row])
            if first not in seen or is_besides:
                rows.append(row)
                chunks.append(chunk)
            seen.add(first)
        tokens = self.generation.tokens
        lates = tokens.maxsim([(tokens.project(item.tokens), item.share) for item in self.questions], rows)
        return [
            Pool(chunks, item, self.generation.cosines(item.vector, rows), dict(words), late)
            for item, words, late in zip(self.questions, self.lexical, lates, strict=True)
        ]


async def gather(
    generation: OpenGeneration,
    texts: Sequence[tuple[str, Encoding]],
    reading: Reading,
    where: Mapping[str, str] | None = None,
    *,
    besides: Sequence[str] = (),
    led: Sequence[str] = (),
    page: str = "",
) -> Candidates:
    """Search for each text, optionally only in chunks of one chapter, module, file or content type (`where`).

    Chunks named in `besides` and `led` are candidates even if the searches miss them; those in `led` may be hidden.
    Passages of `page` replace their duplicates elsewhere.

    Raises:
        IndexUnavailable: The generation cannot be read.
        ValueError: The embedder gives no token vectors.
    """
    questions = [await tokenize_question(generation, text, encoding, reading) for text, encoding in texts]
    # Search for twice as many: hidden chunks and duplicates drop out.
    searches = [generation.nearest(item.vector, 2 * POOL, where) for item in questions]
    searches += [generation.matching(item.text, 2 * POOL, where) for item in questions]
    # Most need no other thread, and yielding here would mean waiting for everybody else's question.
    hits = [await search for search in searches]
    names = list(dict.fromkeys([*besides, *(name for pairs in hits for name, _ in pairs), *led]))
    return Candidates(
        generation,
        questions,
        await generation.places(names),
        lexical=hits[len(questions) :],
        besides=besides,
        page=page,
    )


def score_passages(pool: Pool, reading: Reading) -> list[ScoredPassage]:
    """Score the candidates, in the order of the pool."""
    if not pool.chunks:
        return []
    late, share = pool.late, pool.question.share
    own, headed = late.unit_own @ share, late.unit_best @ share
    ends = np.cumsum([len(chunk.units) for chunk in pool.chunks], dtype=np.int64)
    starts = np.concatenate([[0], ends])[:-1]
    owner = np.repeat(np.arange(len(ends)), np.diff(late.unit_starts))
    places = starts[owner] + late.unit_numbers
    whole = reading.passage * late.passages.astype(float) + reading.dense * pool.cosines.astype(float)
    scores = np.full(int(ends[-1]), -np.inf, dtype=np.float32)
    scores[places] = reading.scale * (reading.own * own + reading.headed * headed + whole[owner].astype(np.float32))
    matches = np.zeros((int(ends[-1]), len(share)), dtype=np.float32)
    matches[places] = late.unit_best
    forms = (reading.form(unit) for chunk in pool.chunks for unit in chunk.units)
    scores += np.fromiter(forms, np.float32, len(scores))
    best = max(pool.lexical.values(), default=0.0) or 1.0
    lexical = [reading.lexical * pool.lexical.get(chunk.chunk_id, 0.0) / best for chunk in pool.chunks]
    sums = log_sums(scores, starts, ends)
    return [
        ScoredPassage(chunk, scores[start:stop], float(total) + more, float(cosine), matches[start:stop])
        for chunk, start, stop, total, more, cosine in zip(
            pool.chunks, starts, ends, sums, lexical, pool.cosines, strict=True
        )
    ]


def log_sums(scores: Float, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> Float:
    """(P,): `log_sum` of each range of scores; the ranges are contiguous."""
    sums = np.full(len(starts), -np.inf, dtype=np.float32)
    filled = starts < ends
    if not filled.any():
        return sums
    highest = np.maximum.reduceat(scores, starts[filled])
    least = np.where(np.isinf(highest), np.float32(0), highest)
    parts = np.exp(scores - np.repeat(least, (ends - starts)[filled]))
    with np.errstate(divide="ignore"):
        sums[filled] = least + np.log(np.add.reduceat(parts, starts[filled]))
    return sums


@dataclass(frozen=True, slots=True)
class UnitScores:
    """A cross-encoder's scores for one passage."""

    passage: float
    units: Float
    """(units,): a unit that it did not read gets the least score of the passage."""


async def judge(reranker: Reranker, text: str, ranked: Sequence[ScoredPassage]) -> list[UnitScores]:
    """Have a cross-encoder score the best passages of a ranking."""
    best = ranked[:RERANKED]
    judgements = await reranker.judge(text, [_view(item, whole=place < WHOLE) for place, item in enumerate(best)])
    return [_unit_scores(item.chunk, one) for item, one in zip(best, judgements, strict=True)]


def combine(ranked: Sequence[ScoredPassage], judgements: Sequence[UnitScores], ranking: Ranking) -> list[ScoredPassage]:
    """Rank passages by the scores of the reader and a cross-encoder together.

    The judged passages come first in `ranked`; the others count like the worst of them. Ties keep their order.
    """
    if not judgements:
        return list(ranked)
    worst = min(ranking.passage * one.passage + ranking.unit * float(one.units.min(initial=0.0)) for one in judgements)
    added: list[Float | float] = [ranking.unit * one.units + ranking.passage * one.passage for one in judgements]
    added += [worst] * (len(ranked) - len(judgements))
    passages = []
    for item, more in zip(ranked, added, strict=True):
        words = item.score - log_sum(item.scores) if np.isfinite(item.score) else 0.0  # what its words count
        scores = np.asarray(ranking.reader * item.scores + more, dtype=np.float32)
        passages.append(replace(item, scores=scores, score=log_sum(scores) + ranking.reader * words))
    return sorted(passages, key=lambda item: -item.score)


def _view(item: ScoredPassage, *, whole: bool) -> View:
    text = item.chunk.embedded_text()
    body = len(text) - len(item.chunk.text)
    spans = item.chunk.unit_spans()
    return View(text, body, spans[int(item.scores.argmax())][0] if spans else body, whole)


def _unit_scores(chunk: Chunk, judgement: Judgement) -> UnitScores:
    offsets, tokens = judgement.offsets[:, 0], judgement.tokens
    if not len(tokens):
        return UnitScores(judgement.passage, np.zeros(len(chunk.units), dtype=np.float32))
    seen = [log_sum(tokens[(offsets >= start) & (offsets < end)]) for start, end in chunk.unit_spans()]
    units = np.array(seen, dtype=np.float32)
    is_seen = np.isfinite(units)
    units[~is_seen] = units[is_seen].min() if is_seen.any() else tokens.min()
    return UnitScores(judgement.passage, units)


def signals(pool: Pool, passages: Sequence[ScoredPassage]) -> Float:
    """The signals that tell whether a book answers: (4,), in the order of `SIGNALS`.

    They cover all passages of a pool, in its order; the pool must not be empty.
    """
    scores = np.array([item.score for item in passages], dtype=np.float32)
    few = np.argsort(-scores, kind="stable")[:CONSIDERED].tolist()
    best = pool.late.passage_best[few].max(axis=0)
    question = pool.question
    stems = frozenset().union(*(stem_set(pool.chunks[index].embedded_text()) for index in few))
    words: dict[str, list[int]] = {}
    for place, word in enumerate(question.words):
        if word and word not in STOP_WORDS and word not in QUESTION_WORDS:
            words.setdefault(word, []).append(place)
    total = sum(float(question.rarity[places[0]]) for places in words.values()) or 1.0
    lacked = {
        word: float(question.rarity[places[0]]) * (1 - max(float(best[places].mean()), 0.0))
        for word, places in words.items()
        if stem(word) not in stems
    }
    unknown = max((lack for word, lack in lacked.items() if question.frequency[words[word][0]] == 0), default=0.0)
    shares = sum(lacked.values()) / total, unknown / float(question.rarity.max(initial=1.0))
    return np.array([scores.max() / 10, pool.late.passages.max(), *shares], dtype=np.float32)


def log_odds(evidence: Float, reading: Reading) -> float:
    """Log odds that the book answers, from its signals."""
    if not reading.scope:
        slope, bias = reading.answers
        return slope * 10 * float(evidence[0]) + bias
    return Logistic(weights=reading.scope).odds(evidence)
