"""A question as the searches need it: one vector, the token vectors that carry meaning, and how much each counts."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lutrin.index.generation import OpenGeneration
from lutrin.ports import Encoding, Vectors
from lutrin.retrieve.background import nearness
from lutrin.retrieve.parts import asking
from lutrin.retrieve.words import COUNTS, FORM_WORDS, STOP_WORDS, stem, topic_stems, topic_words, words

Float = npt.NDArray[np.float32]

ASIDE = 1.0
"""Weight at most of a word that says how to answer, not about what: that a book lacks it says nothing."""
COMMON, RAREST = 2_000, 30_000
"""Places in the embedding model's vocabulary up to which a word is said of anything, and from which it names something;
in between this grows with the logarithm of the place, for words are said the less the later they stand (Zipf)."""
LEAST_UNUSUAL = 0.05
SELECTION_WEIGHT = 0.6
"""Share of the selected text in the vector that is searched for; the question has the rest."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A word that says what is asked about."""

    weight: float
    """1 + log inverse document frequency, as of tokens."""
    unusual: float = 1.0
    """LEAST_UNUSUAL for a word of common English, 1 for one that few texts have, a name or a word of some trade."""
    places: tuple[int, ...] = ()
    """Rows of `Asked.tokens` that are its tokens."""
    told: bool = False
    """Whether it stands only in what the reader tells before or after asking."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing that is asked."""

    text: str
    searched: str
    """Its words for the full-text search: with those of a selection."""
    vector: Float
    """(d,), of length 1."""
    tokens: Float
    """(Q, d): token vectors that carry meaning."""
    weights: Float
    """(Q,): 1 + log inverse document frequency of the word that each token is part of."""
    topics: Mapping[str, Topic]
    """By stem."""
    usual: float
    """How near it is to what is asked of any book; see `background`."""
    chunks: int
    """Of the book that is asked."""


async def asked(
    generation: OpenGeneration,
    text: str,
    encoding: Encoding,
    selection: Encoding | None,
    searched: str,
    *,
    background: Vectors,
    ranks: Callable[[str], Sequence[int]],
) -> Asked:
    """A question in the terms of one book.

    Args:
        generation: Knows how rare words are.
        text: The question.
        encoding: Of the question.
        selection: Of the text that the reader marked, if any.
        searched: The words for the full-text search.
        background: Vectors of what is asked of any book.
        ranks: Places of a word's tokens in the embedding model's vocabulary.
    """
    vector = pooled(encoding)
    if selection is not None:
        mixed = (1 - SELECTION_WEIGHT) * vector + SELECTION_WEIGHT * pooled(selection)
        vector = (mixed / np.linalg.norm(mixed)).astype(np.float32)
    tokens, weights, owners = await weighted_tokens(generation, text, encoding)
    named = {word.lower() for word in topic_words(text)} - FORM_WORDS - COUNTS
    rarity = await rarities(generation, named)
    topics: dict[str, Topic] = {}
    wanted = topic_stems(asking(text))
    for word in sorted(named):
        places = tuple(place for place, owner in enumerate(owners) if owner == word)
        topic = Topic(rarity[word], unusual(ranks(word)), places, told=stem(word) not in wanted)
        topics[stem(word)] = max(topic, topics.get(stem(word), topic), key=lambda item: item.weight)
    return Asked(
        text=text,
        searched=searched,
        vector=vector,
        tokens=tokens,
        weights=weights,
        topics=topics,
        usual=nearness(vector, background),
        chunks=generation.manifest.chunks,
    )


def unusual(ranks: Sequence[int]) -> float:
    """How seldom a word is used, whatever the book: see `Topic.unusual`.

    Args:
        ranks: Places of its tokens in the vocabulary; a word of several is rarer than any of one.
    """
    if len(ranks) != 1:
        return 1.0
    place = math.log(max(ranks[0], 1) / COMMON) / math.log(RAREST / COMMON)
    return min(max(place, LEAST_UNUSUAL), 1.0)


async def weighted_tokens(generation: OpenGeneration, text: str, encoding: Encoding) -> tuple[Float, Float, list[str]]:
    """The token vectors of a question that carry meaning, with their weights.

    Returns:
        (Q, d) vectors, (Q,) weights (`rarities` of the word that a token belongs to) and these Q words, lower case;
        stop words are left out unless there is nothing else.
    """
    if encoding.token_vectors is None:
        raise ValueError("the embedder gives no token vectors")
    spans = _word_spans(text)
    starts = np.array([start for start, _, _ in spans] or [0])
    # The word that begins last before a token holds it, unless the token lies behind its end.
    places = np.searchsorted(starts, encoding.token_offsets[:, 0], side="right") - 1
    owners = [
        spans[place][2] if spans and place >= 0 and first < spans[place][1] else ""
        for place, first in zip(places, encoding.token_offsets[:, 0], strict=True)
    ]
    keep = [index for index, word in enumerate(owners) if word and word not in STOP_WORDS]
    keep = keep or [index for index, word in enumerate(owners) if word] or list(range(len(owners)))
    rarity = await rarities(generation, {owners[index] for index in keep if owners[index]})
    rarity |= {word: min(rarity[word], ASIDE) for word in rarity.keys() & (FORM_WORDS)}
    unknown = 1 + math.log(generation.manifest.chunks + 1)
    weights = [rarity.get(owners[index], unknown) for index in keep]
    return encoding.token_vectors[keep], np.array(weights, dtype=np.float32), [owners[index] for index in keep]


async def rarities(generation: OpenGeneration, named: set[str]) -> dict[str, float]:
    """1 + log((N + 1) / (n + 1)) of each lower-case word, which stands in n of the book's N chunks."""
    total = generation.manifest.chunks + 1
    frequency = await generation.document_frequency(named)
    return {word: 1 + math.log(total / (frequency.get(word, 0) + 1)) for word in named}


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
