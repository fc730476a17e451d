"""Reading sections: the same runs whatever is asked, none too long, the likeliest first."""

from itertools import pairwise

import numpy as np
import pytest
from tests.answer.book import chunk, unit

from lutrin.answer.runs import READING_WORDS, cut, reading_sections
from lutrin.index.shelf import Shelf
from lutrin.language.words import word_count
from lutrin.records import Chunk, Unit
from lutrin.search.result import ScoredPassage


def sentences(count: int, words: int = 20) -> list[Unit]:
    """Sentences of so many words, one behind the other."""
    texts = [f"Sentence {n} {' '.join(['word'] * (words - 3))} ends." for n in range(count)]
    return [unit(text, start=n * 200, block=n) for n, text in enumerate(texts)]


def test_a_short_section_is_read_whole() -> None:
    """In one run."""
    units = sentences(5)
    assert list(cut(units)) == [tuple(units)]


@pytest.mark.parametrize("count", [9, 20, 41])
def test_a_long_section_gives_runs_that_overlap_by_one_unit(count: int) -> None:
    """Each within the words, all units in order, nothing lost."""
    units = sentences(count)
    runs = list(cut(units))
    assert all(sum(word_count(one.text) for one in run) <= READING_WORDS for run in runs)
    assert [run[0] for run in runs[1:]] == [run[-1] for run in runs[:-1]]
    assert list(dict.fromkeys(one for run in runs for one in run)) == units


def test_what_is_longer_than_a_section_stands_alone() -> None:
    """A block of code is never parted."""
    code = unit("value = 1\n" * 200, kind="code", start=1000, block=9, language="python")
    units = [*sentences(3), code, unit("It ends here.", start=9000, block=10)]
    runs = list(cut(units))
    assert (code,) in runs
    assert all(early[-1].char_start <= late[0].char_start for early, late in pairwise(runs))


async def test_the_likeliest_section_comes_first_and_is_cut_alike_for_every_question(shelf: Shelf) -> None:
    """Scores choose among the runs; they do not move their ends."""
    async with shelf.lease_books() as generations:
        chunks = [one for one in await generations[0].all_chunks() if one.heading_path[-1:] == ("Batteries",)]
        other = [one for one in await generations[0].all_chunks() if one.heading_path[-1:] == ("Kites",)]

        def read(scored: list[tuple[Chunk, float]]) -> list[ScoredPassage]:
            return [
                ScoredPassage(one, np.full(len(one.units), score, dtype=np.float32), score, 0.5)
                for one, score in scored
            ]

        first = await reading_sections(generations[0], read([(chunks[0], 2.0), (other[0], 1.0)]), 2)
        second = await reading_sections(generations[0], read([(chunks[0], 1.0), (other[0], 2.0)]), 2)
    assert [one.chunk.heading_path[-1] for one in first] == ["Batteries", "Kites"]
    assert [one.key for one in second] == [one.key for one in reversed(first)]


async def test_runs_that_share_a_unit_are_not_both_read() -> None:
    """A unit that answers at the end of one run begins the next one, too."""
    long = chunk(*sentences(20), filename="long.md")

    class Pages:
        async def chunks_of(self, filename: str) -> list[Chunk]:
            return [long] if filename == "long.md" else []

    scores = np.zeros(20, dtype=np.float32)
    scores[7] = 2.0  # the last of the first run
    found = await reading_sections(Pages(), [ScoredPassage(long, scores, 2.0, 0.5)], 3)  # type: ignore[arg-type]  # of a book
    shared = [one.char_start for section in found for one in section.units]
    assert len(found) > 1
    assert len(shared) == len(set(shared))


def test_a_section_of_nothing_has_no_runs() -> None:
    """And a chunk without units no section."""
    assert list(cut([])) == []
    assert chunk(unit("One.")).units
