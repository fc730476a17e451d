"""Hard negatives: passages that a trained reader takes for answers, and that are none.

The candidates of a question are those of a search: the nearest by pooled vectors and the best by BM25, among the pages
that any question is about and a sample of the others. The reader puts them in order; the first that do not answer are
what it is shown next.
"""

import asyncio
import json
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.index.tokens import project
from lutrin.ports import Encoding, Reading
from lutrin.search.fits import Float
from lutrin.search.reader import word_of_each
from lutrin.search.result import log_sum
from training.examples import Book, Example, Passage

AT_ONCE = 64
NEAREST, BY_WORDS, KEPT = 64, 24, 64
ON_SUBJECT, OFF_SUBJECT = 900, 250
"""Passages of a book that are encoded at most: of pages that questions are about, and of others."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A passage as the reader sees it."""

    passage: Passage
    tokens: Float
    """(L, k), projected, of length 1."""
    starts: npt.NDArray[np.int32]
    """(L,): the character that each token begins with."""
    pooled: Float

    @classmethod
    def of(cls, passage: Passage, encoding: Encoding, reading: Reading) -> "Encoded":
        """From what the encoder gives."""
        return cls(passage, _projected(encoding, reading), encoding.token_offsets[:, 0], encoding.pooled)


def score(question: Encoded, share: Float, candidate: Encoded, reading: Reading) -> float:
    """How well a passage answers: the logarithm of the sum over its units, by the formula of `lutrin.ports.Reading`.

    Args:
        question: As the reader sees it.
        share: (Q,): how much each of its tokens counts, 1 in all.
        candidate: The passage.
        reading: What was learned.
    """
    similar = candidate.tokens @ question.tokens.T
    passage = candidate.passage
    heading = similar[candidate.starts < len(passage.head)].max(axis=0, initial=-1.0)
    whole = reading.passage * float(similar.max(axis=0) @ share)
    whole += reading.dense * float(candidate.pooled @ question.pooled)
    scores = []
    for start, end, kind, *_ in passage.units:
        inside = (candidate.starts >= start) & (candidate.starts < end)
        if inside.any():
            own = similar[inside].max(axis=0)
            matched = reading.own * float(own @ share) + reading.headed * float(np.maximum(own, heading) @ share)
            form = reading.kinds.get(kind, 0.0) + reading.length * np.log1p(len(passage.text[start:end].split()))
            scores.append(reading.scale * (matched + whole) + form)
    return log_sum(scores)


def chosen(book: Book, asked: Sequence[Example], rng: random.Random) -> list[int]:
    """The passages of a book that are encoded."""
    answers = {number for item in asked for number in item.positives}
    files = {book.passages[number].file for number in answers}
    on = [number for number, passage in enumerate(book.passages) if passage.file in files]
    off = [number for number, passage in enumerate(book.passages) if passage.file not in files]
    if len(on) > ON_SUBJECT:
        on = sorted({*rng.sample(on, ON_SUBJECT), *answers})
    return sorted({*on, *rng.sample(off, min(OFF_SUBJECT, len(off)))})


async def of_book(book: Book, asked: Sequence[Example], embedder: FastembedEmbedder, seed: str) -> list[list[int]]:
    """For each question the passages that answer least of those that look most as if they did, worst first."""
    reading = embedder.reading
    numbers = chosen(book, asked, random.Random(seed))
    encoded: dict[int, Encoded] = {}
    for start in range(0, len(numbers), AT_ONCE):
        some = numbers[start : start + AT_ONCE]
        encodings = await embedder.encode([book.passages[number].text for number in some])
        for number, encoding in zip(some, encodings, strict=True):
            encoded[number] = Encoded.of(book.passages[number], encoding, reading)
    vectors = np.stack([encoded[number].pooled for number in numbers])
    found = []
    for item, encoding in zip(asked, await embedder.encode([item.question for item in asked]), strict=True):
        question = Encoded.of(Passage("", "", item.question, []), encoding, reading)
        share = shares(item, encoding, reading)
        near = [numbers[place] for place in np.argsort(-(vectors @ question.pooled))[:NEAREST].tolist()]
        candidates = dict.fromkeys([*near, *(n for n in book.bm25(item.question, BY_WORDS) if n in encoded)])
        scores = {number: score(question, share, encoded[number], reading) for number in candidates}
        ordered = sorted(scores, key=scores.__getitem__, reverse=True)
        found.append([number for number in ordered if number not in item.positives][:KEPT])
    return found


def shares(item: Example, encoding: Encoding, reading: Reading) -> Float:
    """(Q,): how much each token of a question counts, 1 in all."""
    words = word_of_each(item.question, encoding.token_offsets[:, 0].tolist())
    rarity = np.array([item.idf.get(word, 1.0) if word else 1.0 for word in words], dtype=np.float32)
    logits = reading.importance(_vectors(encoding)) + reading.rarity * np.log1p(rarity)
    weights = np.exp(logits - logits.max())
    share: Float = (weights / weights.sum()).astype(np.float32)
    return share


def mine(reader: Path, examples: Sequence[Example], books: Mapping[str, Book], out: Path) -> None:
    """Write the hard negatives of all examples, one JSON object a line.

    Args:
        reader: Folder of an exported reader.
        examples: All of them.
        books: By name.
        out: Gets its name once it is whole.
    """
    embedder = FastembedEmbedder(reader, name="mining")
    partial = out.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        for name, book in books.items():
            asked = [item for item in examples if item.book == name]
            if not asked:
                continue
            started = time.monotonic()
            for item, negatives in zip(asked, asyncio.run(of_book(book, asked, embedder, name)), strict=True):
                row = {"book": name, "question": item.question, "negatives": negatives}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(f"{name}: {len(asked)} questions, {time.monotonic() - started:.1f} s", flush=True)
    embedder.close()
    partial.rename(out)


def _vectors(encoding: Encoding) -> Float:
    if encoding.token_vectors is None:
        raise ValueError("the embedder gives no token vectors")
    return encoding.token_vectors


def _projected(encoding: Encoding, reading: Reading) -> Float:
    vectors = _vectors(encoding)
    return vectors if reading.projection is None else project(vectors, reading.projection)
