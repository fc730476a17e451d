"""Prepares a text for search: one vector, its token vectors, and how much each token counts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lutrin.index.generation import OpenGeneration
from lutrin.ports import Encoding, Reading

Float = npt.NDArray[np.float32]

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
    """(Q,): how much each token counts, 1 in all."""
    words: tuple[str, ...]
    """(Q,): the lower-case word that each token belongs to; empty for a mark."""
    rarity: Float
    """(Q,): 1 + log((N + 1) / (n + 1)) of that word, which stands in n of the book's N passages; 1 for a mark."""
    frequency: Float
    """(Q,): in how many passages that word stands; N for a mark."""


async def tokenize_question(
    generation: OpenGeneration, text: str, encoding: Encoding, reading: Reading
) -> QuestionTokens:
    """Encode a text for a book.

    The weight of a token is a softmax over its learned importance and the logarithm of how rare its word is in the
    book.

    Args:
        generation: Counts words.
        text: What is asked.
        encoding: Of that text.
        reading: What was learned with the embedder.

    Raises:
        IndexUnavailable: The generation cannot be read.
        ValueError: The embedder gives no token vectors.
    """
    if encoding.token_vectors is None:
        raise ValueError("the embedder gives no token vectors")
    words = word_of_each(text, encoding.token_offsets[:, 0].tolist())
    total = generation.manifest.chunks + 1
    known = await generation.document_frequency({word for word in words if word})
    frequency = np.array([known.get(word, 0) if word else total - 1 for word in words], dtype=np.float32)
    rarity = (1 + np.log(total / (frequency + 1))).astype(np.float32)
    importance = reading.importance(encoding.token_vectors)
    logits = importance + reading.rarity * np.log1p(rarity)
    share = np.exp(logits - logits.max(initial=0.0))
    return QuestionTokens(
        text=text,
        vector=pooled_vector(encoding),
        tokens=encoding.token_vectors,
        share=(share / max(float(share.sum()), 1e-12)).astype(np.float32),
        words=tuple(words),
        rarity=rarity,
        frequency=frequency,
    )


def word_of_each(text: str, starts: Sequence[int]) -> list[str]:
    """The lower-case word around each of the given characters; empty where there is none."""
    spans = [(match.start(), match.end(), match.group().lower()) for match in _WORD.finditer(text)]
    firsts = np.array([start for start, _, _ in spans] or [0])
    places = np.searchsorted(firsts, starts, side="right") - 1
    return [
        spans[place][2] if spans and place >= 0 and start < spans[place][1] else ""
        for place, start in zip(places.tolist(), starts, strict=True)
    ]


def pooled_vector(encoding: Encoding) -> Float:
    """One vector of length 1 for a text of any number of windows: (d,)."""
    mean = encoding.windows.mean(axis=0)
    vector: Float = (mean / np.linalg.norm(mean)).astype(np.float32)
    return vector
