"""How much each word of a question counts."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from lutrin.index.generation import OpenGeneration
from lutrin.ports import Encoding
from lutrin.retrieve.asked import ASIDE, COMMON, LEAST_UNUSUAL, RAREST, asked, unusual
from lutrin.retrieve.words import topic_words, words

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


def ranks(word: str) -> list[int]:
    """A tokenizer that knows words of up to five letters as common ones, and puts all others together."""
    return [9] if len(word) <= 5 else [9, 99]


@pytest.mark.parametrize("word", ["code", "function", "formula", "table"])
async def test_a_word_for_the_form_of_an_answer_is_no_word_that_a_book_lacks(word: str) -> None:
    """A book may hold a function without the word: it names no subject, and weighs no more than the commonest word."""
    text = f"{word} clipping"
    book = cast("OpenGeneration", Book({"clipping": 3}))
    question = await asked(book, text, encoding(text), None, text, background=BACKGROUND, ranks=ranks)
    assert set(question.topics) == {"clip"}
    assert question.weights[0] == pytest.approx(ASIDE)
    assert question.weights[1] > 1 + ASIDE


async def test_what_a_reader_tells_is_told_apart_from_what_is_asked() -> None:
    """A word in both is asked; thanks and pleas are nothing."""
    text = "The hive stood in rain, thanks. Why does the hive hum pls?"
    book = cast("OpenGeneration", Book({"hive": 3}))
    question = await asked(book, text, encoding(text), None, text, background=BACKGROUND, ranks=ranks)
    assert {word: topic.told for word, topic in question.topics.items()} == {
        "hive": False,
        "hum": False,
        "rain": True,
        "stood": True,
    }


async def test_a_word_that_the_book_lacks_counts_most() -> None:
    """What is asked and is nowhere weighs more than what is everywhere."""
    text = "chalkbrood colony"
    book = cast("OpenGeneration", Book({"colony": 90}))
    question = await asked(book, text, encoding(text), None, text, background=BACKGROUND, ranks=ranks)
    assert question.topics["chalkbrood"].weight > 3 * question.topics["coloni"].weight


async def test_a_word_knows_its_tokens_and_how_common_it_is() -> None:
    """Its tokens are those of the question that carry meaning, its place in the vocabulary is the tokenizer's."""
    text = "what's the colony's queen"
    question = await asked(
        cast("OpenGeneration", Book({})), text, encoding(text), None, text, background=BACKGROUND, ranks=ranks
    )
    assert {name: topic.places for name, topic in question.topics.items()} == {"coloni": (0,), "queen": (1,)}
    assert question.topics["queen"].unusual == LEAST_UNUSUAL
    assert question.topics["coloni"].unusual == 1


def test_how_common_a_word_is_follows_its_place_in_the_vocabulary() -> None:
    """From a word that everybody says to one that has to be put together of pieces."""
    assert unusual([0]) == unusual([COMMON]) == LEAST_UNUSUAL
    middle = round((COMMON * RAREST) ** 0.5)
    assert unusual([middle]) == pytest.approx(0.5, abs=0.01)
    assert unusual([RAREST]) == unusual([10 * RAREST]) == unusual([5, 7]) == unusual([]) == 1


@pytest.mark.parametrize("word", ["what's", "What’s", "whats", "shouldn't", "dont", "I've", "they're", "won't", "he’d"])
def test_short_forms_say_nothing_of_the_matter(word: str) -> None:
    """Neither as they are written nor as they are typed."""
    assert topic_words(f"{word} Colony") == ["Colony"]


@pytest.mark.parametrize("word", ["shell", "well", "ill", "hell", "wed", "teacher's"])
def test_what_only_looks_like_a_short_form_is_a_word(word: str) -> None:
    """She'll and shell."""
    assert topic_words(word) == [word]
