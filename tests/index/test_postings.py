"""The words of a book are added up from what each one scores alone, and that is what the full-text index says."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from lutrin import sqlite
from lutrin.index import lexical, postings
from lutrin.index.generation import PASSAGES, OpenGeneration, open_generation

from .conftest import Library

WORDS = """robot robots sensor sensors lidar torque gait walking walks balance filter filters the of a /cmd_vel ros2
topic echo rclcpp::Node use_sim_time D435i set-point state_space well-known café naïve don't C++ 3.14 _ ___
run""".split()
"""Inflected forms of one stem, stop words, names of code, words that FTS5 cuts into several or into none."""


@pytest.fixture
async def directory(library: Library) -> Path:
    """A book of sentences drawn at random, some of them twice, with words in its titles."""
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 40))) + "." for _ in range(90)]
    names = ("01/robot-gait.md", "01/cmd_vel.md", "02/the-lidar.md")
    return await library.publish("g1", {name: [*texts[start::3], texts[0]] for start, name in enumerate(names)})


@pytest.fixture
async def generation(library: Library, directory: Path) -> AsyncIterator[OpenGeneration]:
    """The same, open."""
    opened = await open_generation(directory, library.store)
    yield opened
    await opened.close()


def questions() -> list[str]:
    """Texts of any length from the book's words and others, with words that come twice."""
    draw = random.Random(1)
    strange = ["zirconium", "unheard", '"', "AND", "NEAR(", "ros2 topic echo", "robot+lidar", "😀", "x" * 5000]
    drawn = [" ".join(draw.choices([*WORDS, *strange], k=draw.randint(1, 30))) for _ in range(40)]
    return [*drawn, "", "the of a", "_", " ".join(f"{word}{number}" for number in range(9) for word in WORDS)]


def ranked(connection: sqlite.Connection, text: str, k: int, chapter: str = "") -> list[tuple[str, float]]:
    """FTS5's own ranking of a question: the sum over both tables, as pairs of chunk id and score, best first."""
    scores: dict[str, float] = {}
    for table, terms in zip(lexical.COLUMNS, lexical.question_terms(text), strict=True):
        if not terms:
            continue
        query = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
        clause = "AND chunk.chapter = ?" if chapter else ""
        found = connection.execute(
            f"SELECT chunk.chunk_id, -{table}.rank FROM {table} JOIN chunk ON chunk.row = {table}.rowid"  # noqa: S608 - ours
            f" WHERE {table} MATCH ? AND rank MATCH ? {clause} ORDER BY rank, chunk.row LIMIT ?",
            (query, lexical.ranking(table), *([chapter] if chapter else []), 2 * k),
        )
        for name, score in found:
            scores[name] = scores.get(name, 0.0) + score
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


async def test_the_scores_are_those_of_the_full_text_index(generation: OpenGeneration, directory: Path) -> None:
    """For every query, first or repeated: the same chunks in the same order, with scores equal to the last bit."""
    with closing(sqlite.connect(directory / PASSAGES, readonly=True)) as connection:
        for _ in range(2):
            for text in questions():
                for k in (3, 48):
                    assert await generation.matching(text, k) == ranked(connection, text, k), text


async def test_words_that_were_asked_for_are_not_read_again(generation: OpenGeneration) -> None:
    """The same question is answered a second time while the full-text index cannot be used."""
    first = await generation.matching("the lidar of ros2 topic", 5)
    async with asyncio.timeout(5):
        with generation._reading:
            assert await generation.matching("the lidar of ros2 topic", 5) == first


async def test_what_is_kept_is_bounded(
    generation: OpenGeneration, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where room is scarce, words that were asked for first are read again, and the scores are the same."""
    monkeypatch.setattr(postings, "KEPT_BYTES", 4000)
    kept = generation._postings
    assert kept is not None
    with closing(sqlite.connect(directory / PASSAGES, readonly=True)) as connection:
        for text in questions():
            assert await generation.matching(text, 9) == ranked(connection, text, 9)
            assert kept.size_bytes <= 4000


async def test_a_filter_leaves_the_scores_as_they_are(generation: OpenGeneration, directory: Path) -> None:
    """Only chunks of a chapter are found, with what the full-text index gives them; a chapter without any has none."""
    with closing(sqlite.connect(directory / PASSAGES, readonly=True)) as connection:
        for text in questions():
            found = await generation.matching(text, 7, {"chapter": "Chapter 02"})
            assert found == ranked(connection, text, 7, "Chapter 02")
    assert await generation.matching("lidar", 7, {"chapter": "Chapter 9"}) == []


async def test_a_large_book_comes_with_what_its_common_terms_add(
    library: Library, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The full-text index is read for rare terms alone; order and scores are its own, but for the last digits."""
    small = await open_generation(directory, library.store)
    monkeypatch.setattr(postings, "LARGE", 10)
    monkeypatch.setattr(postings, "COMMON", 20)
    draw = random.Random(0)
    texts = [" ".join(draw.choices(WORDS, k=draw.randint(1, 40))) + "." for _ in range(90)]
    await library.publish("g2", {"01/a.md": [*texts, "A zirconium robot."]})
    large = await open_generation(library.books_dir / small.book.slug / "g2", library.store)
    read: list[tuple[str, str]] = []
    scores = lexical.term_scores

    def noted(connection: sqlite.Connection, table: str, term: str) -> list[tuple[int, float]]:
        read.append((table, term))
        return scores(connection, table, term)

    monkeypatch.setattr(lexical, "term_scores", noted)
    with closing(sqlite.connect(large.directory / PASSAGES, readonly=True)) as connection:
        for text in questions():
            found, expected = await large.matching(text, 9), ranked(connection, text, 9)
            assert [score for _, score in found] == pytest.approx([score for _, score in expected], rel=1e-5)
    assert ("prose", "zirconium") in read
    assert ("prose", "unheard") not in read  # no chunk has it: there is nothing to score
    common = {("prose", word) for word in ("robot", "robots", "lidar", "walks", "walking")}
    assert not {*common, ("identifier", "cmd_vel")} & set(read)
    await small.close()
    await large.close()
