"""Documents are cut into passages: structure first, then size."""

import re
import uuid
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lutrin.ingest.chunk import chunk_document, chunk_notices, render
from lutrin.ingest.labels import with_world
from lutrin.ingest.markdown import parse_markdown
from lutrin.records import BookInfo, Chunk, embedded_text

BOOK = BookInfo(slug="robots", title="Robots", edition="First Edition")


def offsets(text: str) -> Sequence[tuple[int, int]]:
    """Words and marks as tokens."""
    return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]


def chunks_of(source: str, target: int = 100, overlap: int = 0, name: str = "a.md") -> list[Chunk]:
    """The chunks of a page."""
    return chunk_document(parse_markdown(source, name), BOOK, offsets, target, overlap)


def sentences(count: int, words: int = 9, name: str = "s") -> str:
    """A paragraph of so many sentences of so many words."""
    return " ".join(f"{name.upper()}{i} {'word ' * (words - 2)}end." for i in range(count))


def test_a_chunk_stays_under_its_heading() -> None:
    """Headings of level 1 to 3 separate, even if both sections would fit into one chunk."""
    chunks = chunks_of("# T\n\nIntro.\n\n## A\n\nOne.\n\n### B\n\nTwo.\n\n#### C\n\nThree.\n")
    assert [(chunk.heading_path, chunk.text) for chunk in chunks] == [
        (("T",), "Intro."),
        (("T", "A"), "One."),
        (("T", "A", "B"), "Two.\n\nC\n\nThree."),
    ]


def test_a_heading_is_a_passage_only_where_nothing_stands_below_it() -> None:
    """It can be found by itself alone; one with sections below it is found with these."""
    chunks = chunks_of("# T\n\n## A\n\n### B\n\nTwo.\n\n## C\n")
    assert [(chunk.heading_path, chunk.text) for chunk in chunks] == [(("T", "A", "B"), "Two."), (("T", "C"), "C")]


def test_chunks_are_filled_evenly_with_whole_units() -> None:
    """No chunk exceeds the target, none is a leftover line, no sentence is cut."""
    chunks = chunks_of("# T\n\n" + sentences(33))
    assert all(chunk.token_count <= 100 for chunk in chunks)
    assert min(chunk.token_count for chunk in chunks) > 50
    assert [unit.text for chunk in chunks for unit in chunk.units] == sentences(33).replace(". ", ".\n").split("\n")


def test_overlap_repeats_whole_sentences_inside_a_section_only() -> None:
    """The end of a chunk stands again at the start of the next one, at most so many tokens, never across headings."""
    chunks = chunks_of(f"# T\n\n{sentences(25)}\n\n## U\n\n{sentences(5, name='u')}\n", overlap=25)
    first, second, third, *_, last = chunks
    assert second.units[:2] == first.units[-2:]
    assert third.units[:2] == second.units[-2:]
    assert last.heading_path == ("T", "U")
    assert last.units[0].text.startswith("U0")


def test_code_stays_whole_with_its_lead_sentence_and_is_reported() -> None:
    """A block that exceeds the target is one chunk; its notice names the line."""
    code = "\n".join(f"x{i} = {i}" for i in range(80))
    source = f"# T\n\n{sentences(8)} This is the program:\n\n```python\n{code}\n```\n\nAfter.\n"
    chunks = chunks_of(source)
    whole = [chunk for chunk in chunks if chunk.content_type == "code"]
    assert len(whole) == 1
    assert f"This is the program:\n\n```python\n{code}\n```" in whole[0].text
    notices = chunk_notices(parse_markdown(source, "a.md"), chunks, 100)
    assert [(notice.filename, "code block" in notice.message) for notice in notices] == [("a.md", True)]


def test_a_caption_stays_with_the_code_that_it_names() -> None:
    """Neither the end of a full chunk nor what a chunk repeats parts a tab's label from its block."""
    block = "x = 1\n" * 28
    source = f'# T\n\n{sentences(2)}\n\n```py title="a.py"\n{block}```\n\n```py title="b.py"\n{block}```\n'
    kinds = [[unit.kind for unit in chunk.units] for chunk in chunks_of(source, overlap=50)]
    assert kinds == [["sentence", "sentence"], ["caption", "code"], ["caption", "code"]]


def test_tables_are_cut_between_rows_and_repeat_their_header() -> None:
    """Every chunk of a long table can be understood by itself."""
    rows = "\n".join(f"| joint {i} | {i} N·m | a strong motor |" for i in range(30))
    chunks = chunks_of(f"# T\n\n| Name | Torque | Kind |\n|---|---|---|\n{rows}\n")
    assert len(chunks) > 2
    assert all(chunk.text.startswith("Name | Torque | Kind\njoint ") for chunk in chunks)
    assert all(chunk.content_type == "table" for chunk in chunks)


def test_a_list_that_goes_on_repeats_its_introduction() -> None:
    """A step without its task says nothing."""
    items = "\n".join(f"{i}. {'press ' * 8}button {i}" for i in range(1, 30))
    chunks = chunks_of(f"# T\n\nTo start Kestrel:\n\n{items}\n")
    assert len(chunks) > 1
    assert all(chunk.text.startswith("To start Kestrel:\n\n") for chunk in chunks)


def test_a_heading_with_nothing_under_it_is_still_found() -> None:
    """Its title is its text."""
    assert [chunk.text for chunk in chunks_of("# T\n\nText.\n\n## Sources\n")] == ["Text.", "Sources"]


def test_metadata_say_where_a_chunk_comes_from() -> None:
    """Book, file, section, anchor, place, tokens as embedded, simulation."""
    source = "---\ntitle: Light\nis_simulation: true\n---\n\n## The eye\n\nA *camera* sees.\n"
    chunk = chunk_document(parse_markdown(source, "ch/01-light.mdx"), BOOK, offsets, 400, 50)[0]
    assert (chunk.book, chunk.book_title, chunk.edition) == ("robots", "Robots", "First Edition")
    assert (chunk.filename, chunk.section, chunk.section_title, chunk.anchor) == (
        "ch/01-light.mdx",
        "01-light",
        "The eye",
        "the-eye",
    )
    assert source[chunk.char_start : chunk.char_end] == "A *camera* sees."
    assert chunk.token_count == len(offsets(embedded_text(("Light", "The eye"), "A camera sees.")))
    assert chunk.is_simulation is True


def test_a_heading_names_the_world_where_the_author_says_nothing() -> None:
    """But it frees nothing that a reader may run or follow from the book's warnings, and what is unknown stays so."""
    for heading, body, world in (
        ("Simulated sensors", "They are ideal.", True),
        ("Testing the gripper in simulation", "It holds.", True),
        ("Measuring the real robot", "It sags.", False),
        ("From the simulator to the gantry", "It is lifted.", None),
        ("In simulation and on the real robot", "They differ.", None),
        ("In simulation", "A real motor sags.", None),
        ("In simulation", "So:\n\n```python\narm.go()\n```", None),
        ("In simulation", "1. Start it.\n2. Stop it.", None),
        ("Motors", "They turn.", None),
    ):
        assert with_world(chunks_of(f"# T\n\n## {heading}\n\n{body}\n"))[-1].is_simulation is world
        said = chunks_of(f"---\nis_simulation: false\n---\n\n# T\n\n## {heading}\n\n{body}\n")
        assert with_world(said)[-1].is_simulation is False


def test_ids_follow_content_not_position() -> None:
    """Insertions above change no id below; equal texts under one heading get different ids."""
    before = chunks_of("# T\n\nOne.\n\n## A\n\nSame.\n\n## A\n\nSame.\n")
    after = chunks_of("# T\n\nNew.\n\nOne.\n\n## B\n\nMore.\n\n## A\n\nSame.\n\n## A\n\nSame.\n")
    assert {chunk.chunk_id for chunk in before[1:]} <= {chunk.chunk_id for chunk in after}
    assert len({chunk.chunk_id for chunk in before}) == 3
    assert all(uuid.UUID(chunk.chunk_id).version == 5 for chunk in before)


def test_ids_differ_between_books_and_files() -> None:
    """Though content hashes are equal, so that equal text is embedded once."""
    document = parse_markdown("# T\n\nOne.\n", "a.md")
    other = BookInfo(slug="other", title="Robots")
    chunks = [*chunks_of("# T\n\nOne.\n"), *chunks_of("# T\n\nOne.\n", name="b.md")]
    chunks += chunk_document(document, other, offsets, 100, 0)
    assert len({chunk.chunk_id for chunk in chunks}) == 3
    assert len({chunk.content_hash for chunk in chunks}) == 1


BLOCKS = st.one_of(
    st.integers(1, 12).map(sentences),
    st.integers(1, 60).map(lambda n: "```py\n" + "\n".join(f"line{i} = {i}" for i in range(n)) + "\n```"),
    st.integers(1, 20).map(lambda n: "\n".join(f"- item {i} of the list" for i in range(n))),
    st.integers(1, 20).map(lambda n: "| a | b |\n|---|---|\n" + "\n".join(f"| {i} | cell |" for i in range(n))),
    st.sampled_from(["## Head", "### Sub", "#### Small", "*Figure 1: A caption.*"]),
)


@settings(deadline=None)
@given(st.lists(BLOCKS, max_size=12), st.sampled_from([40, 100, 400]), st.sampled_from([0, 20]))
def test_every_unit_is_in_a_chunk_in_order(blocks: list[str], target: int, overlap: int) -> None:
    """Nothing is lost, only overlaps repeat, and only a single long unit exceeds the target by more than its leads."""
    document = parse_markdown("# T\n\n" + "\n\n".join(blocks), "a.md")
    chunks = chunk_document(document, BOOK, offsets, target, overlap)
    places = [unit.char_start for section in document.sections for unit in section.units]
    chunked = {unit.char_start for chunk in chunks for unit in chunk.units}
    assert set(places) <= chunked
    starts = [chunk.units[-1].char_start for chunk in chunks]
    assert starts == sorted(starts)
    for chunk in chunks:
        assert chunk.text == render(chunk.units)
        fresh = [unit for unit in chunk.units if unit.kind != "code"]
        if len(fresh) == len(chunk.units) and target > 40:
            assert chunk.token_count <= target + 12


@pytest.mark.parametrize("code", ["plain", "with ``` inside", "with ```` four"])
def test_a_code_block_is_fenced_longer_than_its_content(code: str) -> None:
    """So that the passage is valid Markdown with exactly this block."""
    chunk = chunks_of(f"# T\n\n``````text\n{code}\n``````\n")[0]
    fence = chunk.text.split("text", 1)[0]
    assert chunk.text == f"{fence}text\n{code}\n{fence}"
    assert fence not in code
