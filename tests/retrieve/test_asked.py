"""How much each word of a question counts."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from lutrin.index.generation import OpenGeneration
from lutrin.ports import Encoding
from lutrin.retrieve.asked import ASIDE, asked
from lutrin.retrieve.words import words

BACKGROUND = np.eye(4, dtype=np.float32)


@dataclass
class Book:
    """A hundred chunks that know a few words; only what `asked` reads of a generation."""

    frequency: dict[str, int]
    manifest: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(chunks=100))

    async def document_frequency(self, named: Iterable[str]) -> dict[str, int]:
        """In how many chunks words stand."""
        return {word: self.frequency[word] for word in named if word in self.frequency}


def encoding(text: str) -> Encoding:
    """One token for each word."""
    starts = [text.index(word) for word in words(text)]
    offsets = np.array([(start, start + 1) for start in starts], dtype=np.int32)
    return Encoding(
        windows=np.ones((1, 4), dtype=np.float32),
        token_vectors=np.ones((len(starts), 4), dtype=np.float32),
        token_offsets=offsets,
    )


@pytest.mark.parametrize("word", ["code", "function", "formula", "table"])
async def test_a_word_for_the_form_of_an_answer_is_no_word_that_a_book_lacks(word: str) -> None:
    """A book may hold a function without the word: it names no subject, and weighs no more than the commonest word."""
    text = f"{word} clipping"
    book = cast("OpenGeneration", Book({"clipping": 3}))
    question = await asked(book, text, encoding(text), None, text, background=BACKGROUND)
    assert set(question.topics) == {"clip"}
    assert question.weights[0] == pytest.approx(ASIDE)
    assert question.weights[1] > 1 + ASIDE


async def test_a_word_that_the_book_lacks_counts_most() -> None:
    """What is asked and is nowhere weighs more than what is everywhere."""
    text = "chalkbrood colony"
    question = await asked(
        cast("OpenGeneration", Book({"colony": 90})), text, encoding(text), None, text, background=BACKGROUND
    )
    assert question.topics["chalkbrood"] > 3 * question.topics["coloni"]
