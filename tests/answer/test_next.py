"""Suggested next questions: from the cited pages, without repeating the answer."""

from collections.abc import Sequence

import msgspec
import pytest
from tests.answer.book import chunk, unit
from tests.fakes import WordHashEmbedder

from lutrin.answer.plan import next_questions
from lutrin.index.companion import Companion, question_of, wordings
from lutrin.index.generation import OpenGeneration
from lutrin.prepared import BY_THE_BOOK, Entry, Kind, PreparedEntry
from lutrin.query.understand import alone
from lutrin.records import Chunk, Excerpt, Question
from lutrin.search.search import Searcher

BELTS, CHAINS = (
    msgspec.structs.replace(
        chunk(unit(f"A {name} drives the wheel."), chunk_id=name, filename="book.pdf"), chapter=name
    )
    for name in ("belt", "chain")
)


class Bound(OpenGeneration):
    """A generation of one file that holds several chapters, with these entries."""

    def __init__(self, *entries: tuple[Entry, Chunk]) -> None:
        self._homes = {home.chunk_id: home for _, home in entries} | {BELTS.chunk_id: BELTS}
        self.companion = Companion(
            [PreparedEntry(entry=entry, chunk_id=home.chunk_id, asked=wordings(entry)) for entry, home in entries]
        )

    async def chunks(self, ids: Sequence[str]) -> list[Chunk]:
        """The existing chunks."""
        return [self._homes[name] for name in ids if name in self._homes]


def entry(topic: str, kind: Kind = "question", author: str = "the authors", quote: str = "") -> Entry:
    """An entry of the file."""
    return Entry(
        kind=kind, file="book.pdf", heading="H", topic=topic, text="T.", quotes=(quote,) if quote else (), author=author
    )


async def offered(generation: Bound, asked: str = "What drives the wheel?", done: str = "") -> tuple[str, ...]:
    """The questions below an answer from the first chapter."""
    excerpt = Excerpt(
        n=1, text="A belt drives the wheel.", marks=(), cut_before=False, cut_after=False, heading_path=(), url="",
        chunk_id="belt",
    )  # fmt: skip
    return await next_questions(Searcher(WordHashEmbedder()), generation, alone(Question(text=asked)), [excerpt], done)


async def test_another_chapter_of_the_same_file_leads_elsewhere() -> None:
    """As a PDF has it: one file holds the whole book."""
    book = Bound((entry("How long is a belt?"), BELTS), (entry("How long is a chain?"), CHAINS))
    assert await offered(book) == ("How long is a belt?",)


async def test_a_term_of_the_book_is_asked_for_unless_its_meaning_is_in_sight() -> None:
    """Prepared definitions add to the answer; the book's own words were just shown."""
    seen = entry("belt", "term", BY_THE_BOOK, "A belt drives the wheel.")
    other = entry("slip", "term", BY_THE_BOOK, "Slip is loss.")
    assert await offered(Bound((seen, BELTS), (other, BELTS))) == (question_of(other),)
    written = entry("Why a belt?", quote="A belt drives the wheel.")
    assert await offered(Bound((written, BELTS))) == ("Why a belt?",)


@pytest.mark.parametrize("said", ["How long is a belt?", "how long is a belt"])
async def test_what_was_asked_or_is_offered_already_is_not_offered(said: str) -> None:
    """As *Did you mean*, for one."""
    book = Bound((entry("How long is a belt?"), BELTS))
    assert await offered(book, asked=said) == ()
    assert await offered(book, done=said) == ()
