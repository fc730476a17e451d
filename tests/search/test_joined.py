"""Passages for other programs: neighbouring sections of a page, joined up to the target length."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lutrin.index.generation import OpenGeneration
from lutrin.ingest.chunk import chunk_document
from lutrin.ingest.markdown import parse_markdown
from lutrin.records import BookInfo, Chunk, Passage
from lutrin.search.joined import Joiner, PageText

BOOK = BookInfo(slug="robots", title="Robots", edition="First Edition")
TARGET, OVERLAP = 100, 20


def offsets(text: str) -> Sequence[tuple[int, int]]:
    """Words and marks as tokens."""
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def count(text: str) -> int:
    """Number of tokens of a text."""
    return len(offsets(text))


def page_of(source: str) -> list[Chunk]:
    """The chunks of a page."""
    return chunk_document(parse_markdown(source, "a.md"), BOOK, offsets, TARGET, OVERLAP)


def section(title: str, sentences: int, level: int = 2) -> str:
    """A section with so many sentences of ten tokens."""
    said = " ".join(f"{title}{number} walks over the stones and comes back." for number in range(sentences))
    return f"{'#' * level} {title}\n\n{said}\n\n"


def around(page: Sequence[Chunk], number: int) -> Chunk:
    """The joined passage around a chunk."""
    return Joiner(TARGET, OVERLAP, count).around(page[number], PageText.of(page, count))


def test_short_sections_become_one_passage_with_their_headings() -> None:
    """What was four passages of thirty tokens is one, as it is on the page; its address is the part's."""
    page = page_of("# T\n\n" + "".join(section(name, 2) for name in "ABCD"))
    assert len(page) == 4
    for number, part in enumerate(page):
        joined = around(page, number)
        assert joined.text.startswith("## A\n\nA0 walks over the stones and comes back. A1 walks")
        assert [line for line in joined.text.splitlines() if line.startswith("#")] == ["## A", "## B", "## C", "## D"]
        assert joined.token_count == count(joined.embedded_text()) <= TARGET
        assert (joined.chunk_id, joined.heading_path, joined.anchor) == (part.chunk_id, part.heading_path, part.anchor)


def test_a_passage_begins_with_the_last_words_before_its_section() -> None:
    """Across a heading too, and only whole sentences; then as many sections as fit behind it."""
    page = page_of("# T\n\n" + section("A", 9) + section("B", 4) + section("C", 2) + section("D", 9))
    joined = around(page, 1)
    assert re.match(r"## A\n\nA[567] walks over the stones and comes back\. A", joined.text)
    assert joined.text.endswith("C1 walks over the stones and comes back.")


def test_code_and_other_tabs_keep_apart() -> None:
    """A block of code is never cut, and one system's words are never in another's passage."""
    code = "```python\n" + "".join(f"walk({number})\n" for number in range(60)) + "```\n"
    tabs = (
        '<Tabs>\n<TabItem label="Left">\n\nTurn left.\n\n</TabItem>\n'
        '<TabItem label="Right">\n\nTurn right.\n\n</TabItem>\n</Tabs>\n'
    )
    page = page_of(f"# T\n\nWalk so.\n\n{code}\n\n## Turns\n\n{tabs}")
    joined = [around(page, number) for number in range(len(page))]
    assert all(("walk(0)" in one.text) == ("walk(59)" in one.text) for one in joined)
    assert not any("Turn left" in one.text and "Turn right" in one.text for one in joined)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 25), st.integers(1, 4)), min_size=1, max_size=12))
def test_a_passage_holds_its_section_and_is_as_long_as_the_page_and_the_target_let_it(
    shape: list[tuple[int, int]],
) -> None:
    """No word of what was found is lost, and no next paragraph would have fitted."""
    page = page_of("# T\n\n" + "".join(section(f"S{n}x", size, level) for n, (size, level) in enumerate(shape)))
    for number, chunk in enumerate(page):
        joined = around(page, number)
        assert {unit.char_start for unit in chunk.units} <= {unit.char_start for unit in joined.units}
        assert joined.token_count <= max(TARGET, chunk.token_count) + 8
        behind = [unit for one in page for unit in one.units if unit.char_start >= joined.char_end]
        sizes = [size for n, (size, _) in enumerate(shape) if behind and behind[0].text.startswith(f"S{n}x0")]
        if behind:  # a sentence of a section that was begun, or the next paragraph with its heading
            assert joined.token_count + (10 * sizes[0] + 10 if sizes else 10) >= TARGET


@pytest.mark.parametrize("most", [1, 5])
async def test_what_stands_in_a_better_passage_is_none_of_its_own(generation: OpenGeneration, most: int) -> None:
    """Two parts of one page are found, and it is retrieved once, at the better part's address."""
    page = await generation.chunks_of("02-chapter-2-summer/03-smoke.md")
    found = [Passage(chunk=one, score=0.5) for one in reversed(page)]
    joiner = Joiner(TARGET, OVERLAP, count)
    (joined,) = await joiner.join(generation, found, most)
    assert (joined.chunk.chunk_id, joined.chunk.section_title) == (page[-1].chunk_id, "Smokers")
    assert "It makes them eat honey." in joined.chunk.text
    assert "A smoker burns dry wood." in joined.chunk.text
    assert await joiner.join(generation, found, most) == [joined]
