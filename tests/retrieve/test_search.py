"""How a search goes about its work; what it finds is measured in bench/ and tested with the real books."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.index.conftest import Library

from lutrin.adapters.fakes import WordHashEmbedder
from lutrin.index.generation import OpenGeneration, open_generation
from lutrin.ports import Encoding
from lutrin.retrieve.search import Searcher

PAGES = {
    "01/a.md": ["The arm of Kestrel lifts a stone.", "Kestrel walks on the hill at night."],
    "01/b.md": ["The lamp of Kestrel is red.", "Water cools the motor."],
}
"""A book that speaks of Kestrel wherever it can."""


class Noting(WordHashEmbedder):
    """Notes what it is asked to encode."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[list[str]] = []

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """As the fake that it is."""
        self.calls.append(list(texts))
        return await super().encode(texts)


@asynccontextmanager
async def published(folder: Path, pages: Mapping[str, Sequence[str]]) -> AsyncIterator[OpenGeneration]:
    """A book of these pages, open."""
    library = Library(folder)
    await library.publish("g1", pages)
    opened = await open_generation(library.books_dir / "robots" / "g1", library.store)
    yield opened
    await opened.close()


@pytest.fixture
async def generation(tmp_path: Path) -> AsyncIterator[OpenGeneration]:
    """The book, open."""
    async with published(tmp_path, PAGES) as opened:
        yield opened


async def test_all_texts_of_a_question_are_encoded_at_once(generation: OpenGeneration) -> None:
    """The question, its parts, and all of these without the name of what the book is about wait for one turn."""
    assert "kestrel" in generation.manifest.subjects
    embedder = Noting()
    searcher = Searcher(embedder)
    await searcher.search(generation, "What cools the motor?", k=2)  # the first one waits for the background besides
    embedder.calls.clear()
    await searcher.search(generation, "How does Kestrel lift a stone? And which colour does its lamp have?", k=2)
    (texts,) = embedder.calls
    assert len(texts) == len(set(texts)) == 6
    assert {"How does Kestrel lift a stone?", "How does it lift a stone?"} < set(texts)


async def test_what_was_asked_lately_is_not_encoded_again(generation: OpenGeneration) -> None:
    """Each book of several is searched for the same question."""
    embedder = Noting()
    searcher = Searcher(embedder)
    first = await searcher.search(generation, "Who walks on the hill?", k=2)
    embedder.calls.clear()
    again = await asyncio.gather(*(searcher.search(generation, "Who walks on the hill?", k=2) for _ in range(3)))
    assert embedder.calls == []
    assert [found.passages for found in again] == [first.passages] * 3


DEFINED = {
    "01/a.md": ["The drawdown of the well is large. The drawdown is noted. A drawdown of 4 m is much."],
    "01/b.md": ["A drawdown is the depth by which a pump lowers a well."],
    "01/c.md": ["The well has a pump.", "Stones lie in the yard.", "The lamp is red.", "Water cools the motor."],
}
"""A book that speaks of a term in one place, and says what it is in another."""


@pytest.fixture
async def defined(tmp_path: Path) -> AsyncIterator[OpenGeneration]:
    """That book, open."""
    async with published(tmp_path, DEFINED) as opened:
        yield opened


@pytest.mark.parametrize("question", ["What is drawdown?", "drawdown, meaning?", "Can you explain the term drawdown"])
async def test_the_passage_that_defines_the_asked_term_comes_first(defined: OpenGeneration, question: str) -> None:
    """And is not refused, however little else speaks for it."""
    found = await Searcher(WordHashEmbedder()).search(defined, question, k=2)
    assert found.passages[0].chunk.filename == "01/b.md"
    assert found.odds >= 0


async def test_where_more_is_asked_a_definition_has_no_advantage(defined: OpenGeneration) -> None:
    """Nor in a chapter that does not hold it, nor for the reader who has marked something."""
    searcher = Searcher(WordHashEmbedder())
    plain = await searcher.search(defined, "How large is the drawdown of the well?", k=2)
    assert plain.passages[0].chunk.filename == "01/a.md"
    chapter = plain.passages[0].chunk.chapter
    narrowed = await searcher.search(defined, "What is drawdown?", k=2, where={"chapter": "elsewhere"})
    assert chapter
    assert narrowed.passages == ()
    marked = await searcher.search(defined, "What is drawdown?", k=2, selected_text="A drawdown of 4 m is much.")
    assert marked.passages[0].chunk.filename == "01/a.md"


async def test_how_tall_the_subject_of_a_book_is_one_sentence_says(tmp_path: Path) -> None:
    """Without its name such a question names nothing; the measure and a number in one sentence of the passage tell."""
    pages = {"01/a.md": [*PAGES["01/a.md"], "Kestrel is 1.2 m tall."]}
    async with published(tmp_path, {**PAGES, **pages}) as generation:
        assert "kestrel" in generation.manifest.subjects
        searcher = Searcher(WordHashEmbedder())
        odds = {
            text: (await searcher.search(generation, text, k=2)).odds
            for text in ("How tall is Kestrel?", "How tall is it?")
        }
    assert odds["How tall is Kestrel?"] > odds["How tall is it?"]
