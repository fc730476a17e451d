"""What other programs retrieve: neighbouring sections of a page, joined up to the length that is set."""

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lutrin.index.generation import OpenGeneration
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.markdown import parse_markdown
from lutrin.records import BookInfo, Chunk, Passage
from lutrin.search.joined import Joiner, join_page

BOOK = BookInfo(slug="robots", title="Robots", edition="First Edition")
TARGET, OVERLAP = 100, 20


def offsets(text: str) -> Sequence[tuple[int, int]]:
    """Words and marks as tokens."""
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def count(text: str) -> int:
    """How many tokens a text has."""
    return len(offsets(text))


def page_of(source: str) -> list[Chunk]:
    """The chunks of a page."""
    return chunk_document(parse_markdown(source, "a.md"), BOOK, offsets, TARGET, OVERLAP)


def section(title: str, sentences: int, level: int = 2) -> str:
    """A section with so many sentences of ten tokens."""
    said = " ".join(f"{title}{number} walks over the stones and comes back." for number in range(sentences))
    return f"{'#' * level} {title}\n\n{said}\n\n"


def test_short_sections_become_one_passage_with_their_headings() -> None:
    """What was four passages of thirty tokens is one, as it stands on the page."""
    page = page_of("# T\n\n" + "".join(section(name, 2) for name in "ABCD"))
    (joined,) = join_page(page, TARGET, OVERLAP, count)
    assert len(page) == 4
    assert joined.text.startswith("## A\n\nA0 walks over the stones and comes back. A1 walks")
    assert [line for line in joined.text.splitlines() if line.startswith("#")] == ["## A", "## B", "## C", "## D"]
    assert joined.token_count == count(joined.embedded_text()) <= TARGET


def test_the_next_passage_begins_with_the_last_words_before_it() -> None:
    """Across a heading too, and only whole sentences."""
    first, second = join_page(page_of("# T\n\n" + section("A", 9) + section("B", 8)), TARGET, OVERLAP, count)
    assert first.text.endswith("A8 walks over the stones and comes back.")
    assert second.text.startswith("## A\n\nA7 walks over the stones and comes back. A8 walks")


def test_code_and_other_tabs_keep_apart() -> None:
    """A block of code is never cut, and one system's words never stand in another's passage."""
    code = "```python\n" + "".join(f"walk({number})\n" for number in range(60)) + "```\n"
    tabs = (
        '<Tabs>\n<TabItem label="Left">\n\nTurn left.\n\n</TabItem>\n'
        '<TabItem label="Right">\n\nTurn right.\n\n</TabItem>\n</Tabs>\n'
    )
    joined = join_page(page_of(f"# T\n\nWalk so.\n\n{code}\n\n## Turns\n\n{tabs}"), TARGET, OVERLAP, count)
    assert sum("walk(0)" in one.text and "walk(59)" in one.text for one in joined) == 1
    assert not any("Turn left" in one.text and "Turn right" in one.text for one in joined)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 25), st.integers(1, 4)), min_size=1, max_size=12))
def test_every_unit_stands_in_a_passage_of_the_length_that_is_set(shape: list[tuple[int, int]]) -> None:
    """No word is lost, none is far too long, and no two short neighbours are left beside each other."""
    page = page_of("# T\n\n" + "".join(section(f"S{n}x", size, level) for n, (size, level) in enumerate(shape)))
    joined = join_page(page, TARGET, OVERLAP, count)
    assert {unit.char_start for one in joined for unit in one.units} == {
        unit.char_start for one in page for unit in one.units
    }
    sizes = [one.token_count for one in joined]
    assert max(sizes) <= TARGET + 2 * OVERLAP + 8
    assert all(one + other > TARGET for one, other in pairwise(sizes))


@pytest.mark.parametrize("most", [1, 5])
async def test_retrieved_passages_keep_the_address_of_the_part_that_answers(
    generation: OpenGeneration, most: int
) -> None:
    """Two parts of one passage are it once; id, heading and anchor are the better part's."""
    page = await generation.chunks_of("02-chapter-2-summer/03-smoke.md")
    found = [Passage(chunk=one, score=0.5, place=one.units[-1].char_start) for one in reversed(page)]
    joiner = Joiner(TARGET, OVERLAP, count)
    (joined,) = await joiner.join(generation, found, most)
    assert (joined.chunk.chunk_id, joined.chunk.section_title, joined.chunk.anchor) == (
        page[-1].chunk_id,
        "Smokers",
        page[-1].anchor,
    )
    assert "It makes them eat honey." in joined.chunk.text
    assert "A smoker burns dry wood." in joined.chunk.text
    assert await joiner.join(generation, found, most) == [joined]
