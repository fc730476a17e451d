"""A small book's words are added up from what each one scores alone, and that is what the full-text index says."""

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


async def test_the_scores_are_those_of_the_full_text_index(generation: OpenGeneration, directory: Path) -> None:
    """Whatever is asked, and asked again: the same chunks, in the same order, with the same scores to the last bit."""
    with closing(sqlite.connect(directory / PASSAGES, readonly=True)) as connection:
        for _ in range(2):
            for text in questions():
                for k in (3, 48):
                    assert await generation.matching(text, k) == lexical.match(connection, text, k), text


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
            assert await generation.matching(text, 9) == lexical.match(connection, text, 9)
            assert kept.size_bytes <= 4000
