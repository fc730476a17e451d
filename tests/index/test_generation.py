"""Reading a published generation."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from tests.fakes import WordHashEmbedder

from lutrin import sqlite
from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index.build import collection_name
from lutrin.index.generation import WINDOWS, OpenGeneration, open_generation
from lutrin.index.manifest import FORMAT_VERSION, MANIFEST
from lutrin.index.statements import SHEET_COUNT
from lutrin.ports import Reading
from lutrin.records import BookInfo

from .conftest import PAGES, Library, make_chunk

ZMP = make_chunk("02-walking/01-zmp.md", 0, PAGES["02-walking/01-zmp.md"][0])


@pytest.fixture
async def generation(library: Library) -> AsyncIterator[OpenGeneration]:
    """The hand-made book, open."""
    opened = await open_generation(await library.publish("g1"), library.store)
    yield opened
    await opened.close()


async def question(library: Library, text: str) -> np.ndarray:
    """The vector of a question."""
    (encoding,) = await library.embedder.encode([text])
    return np.asarray(encoding.windows[0])


async def test_nearest_finds_the_passage_that_says_it(generation: OpenGeneration, library: Library) -> None:
    """The vector of a passage's words finds that passage first, with a cosine."""
    found = await generation.nearest(await question(library, "zero moment point inside the support polygon"), 2)
    assert found[0][0] == ZMP.chunk_id
    assert 1 >= found[0][1] > found[1][1]


async def test_a_filter_searches_only_what_it_names(generation: OpenGeneration, library: Library) -> None:
    """With a chapter, passages of other chapters are not found, however near they are."""
    vector = await question(library, "zero moment point inside the support polygon")
    found = await generation.nearest(vector, 10, {"chapter": "Chapter 01-sensors"})
    chunks = await generation.chunks([name for name, _ in found])
    assert len(chunks) == 3
    assert {chunk.chapter for chunk in chunks} == {"Chapter 01-sensors"}
    assert await generation.nearest(vector, 10, {"chapter": "Chapter 9"}) == []


async def test_roles_and_variants_can_be_filtered(library: Library) -> None:
    """By meaning and by words: what only asks stays away from what answers."""
    texts = ["The arm lifts loads.", "How far does the arm lift loads?", "The arm lifts loads with pin four."]
    generation = await open_generation(await library.publish("g1", {"arms/arm.md": texts}), library.store)
    assert generation.roles == ("text", "exercise", "text")
    vector = await question(library, "How far does the arm lift loads")
    for where, expected in (({"role": "text"}, {texts[0], texts[2]}), ({"variant": "Pi"}, {texts[2]})):
        near = await generation.chunks([name for name, _ in await generation.nearest(vector, 9, where)])
        worded = await generation.chunks([name for name, _ in await generation.matching("arm loads", 9, where)])
        assert {chunk.text for chunk in near} == {chunk.text for chunk in worded} == expected
    await generation.close()


async def test_an_unknown_filter_is_refused(generation: OpenGeneration, library: Library) -> None:
    """A filter never becomes part of the SQL."""
    with pytest.raises(ValueError, match="colour"):
        await generation.nearest(await question(library, "x"), 1, {"colour": "red"})
    with pytest.raises(ValueError, match="colour"):
        await generation.matching("x", 1, {"colour": "red"})


async def test_the_chapters_of_a_file_that_holds_several_are_known_by_their_first_passage(library: Library) -> None:
    """As in a PDF; a file that is one chapter, or part of one, is its own entry in the contents."""
    pages = {**PAGES, "03/guide.pdf": ["It begins here.", "It goes on there."]}
    generation = await open_generation(await library.publish("g1", pages), library.store)
    starts = [(chunk.filename, chunk.chapter, chunk.text) for chunk in await generation.chapter_starts()]
    assert starts == [
        ("03/guide.pdf", "Chapter 0", "It begins here."),
        ("03/guide.pdf", "Chapter 1", "It goes on there."),
    ]
    await generation.close()


async def test_a_long_passage_is_found_once(library: Library) -> None:
    """A passage with several windows takes one place in the result, and its last words are found."""
    long = (
        " ".join(f"The leg number {number} swings." for number in range(150)) + " Finally the zirconium sensor wakes."
    )
    directory = await library.publish("g1", {"01/long.md": [long], **PAGES})
    generation = await open_generation(directory, library.store)
    assert generation.manifest.windows > generation.manifest.chunks
    found = await generation.nearest(await question(library, "The leg number 3 swings"), 5)
    assert len(found) == len({name for name, _ in found}) == 5
    assert [name for name, _ in await generation.matching("zirconium", 5)] == [found[0][0]]
    await generation.close()


async def test_chunks_come_back_as_they_went_in(generation: OpenGeneration) -> None:
    """Chunks are read in the order asked for; unknown ids are left out."""
    others = [name for name, _ in await generation.matching("lidar", 1)]
    assert await generation.chunks([ZMP.chunk_id, "nobody", *others]) == [ZMP, (await generation.chunks(others))[0]]
    assert {chunk.chunk_id for chunk in await generation.all_chunks()} >= {ZMP.chunk_id}


async def test_rows_lead_to_vectors(generation: OpenGeneration) -> None:
    """The row of a chunk is its place among all chunks, and gives its pooled vectors."""
    chunks = await generation.all_chunks()
    for _ in range(2):  # read from the disk, then kept
        places = await generation.places([*(chunk.chunk_id for chunk in chunks), "nobody"])
        assert places == list(enumerate(chunks))
    assert sum(len(generation.windows_of(row)) for row, _ in places) == generation.manifest.windows


async def test_files_and_sources_are_there(generation: OpenGeneration) -> None:
    """The pages are listed in reading order, and their text is the one that was read."""
    assert [file.filename for file in generation.files] == sorted(PAGES)
    assert await generation.source("01-sensors/02-imu.md") == PAGES["01-sensors/02-imu.md"][0]
    with pytest.raises(NotFound):
        await generation.source("../../etc/passwd")


async def test_words_are_counted_by_passage(generation: OpenGeneration) -> None:
    """A rare word is in few passages, an unknown one in none."""
    counted = await generation.document_frequency(["the", "zero", "xylophone"])
    assert counted["the"] > counted["zero"] == 1
    assert counted["xylophone"] == 0


async def test_a_damaged_generation_is_not_opened(library: Library) -> None:
    """A missing or cut file, or a manifest of another format, is an error of ours."""
    directory = await library.publish("g1")
    (directory / WINDOWS).write_bytes((directory / WINDOWS).read_bytes()[:100])
    with pytest.raises(IndexUnavailable, match="g1"):
        await open_generation(directory, library.store)
    manifest = (directory / MANIFEST).read_text().replace(f'"format_version": {FORMAT_VERSION}', '"format_version": 99')
    (directory / MANIFEST).write_text(manifest)
    with pytest.raises(IndexUnavailable, match="format 99"):
        await open_generation(directory, library.store)
    with pytest.raises(IndexUnavailable):
        await open_generation(directory.with_name("g2"), library.store)


def test_collections_are_named_by_book_and_version() -> None:
    """A vector store accepts the name for any version."""
    for slug, version, name in (
        ("physical-ai-textbook", "1", "physical-ai-textbook-v1"),
        ("physical-ai-textbook", "v1", "physical-ai-textbook-v1"),
        ("robots", "2.1", "robots-v2.1"),
        ("robots", "2 (draft)", "robots-v2-draft"),
    ):
        assert collection_name(BookInfo(slug=slug, title="T", version=version)) == name


async def test_what_was_learned_with_an_embedder_compares_tokens(tmp_path: Path) -> None:
    """A generation keeps tokens behind the learned projection, and projects a question's by the same one."""

    class Trained(WordHashEmbedder):
        """An embedder with a projection."""

        reading = Reading(projection=np.eye(WordHashEmbedder.dimension, 32, k=-8, dtype=np.float32))

    library = Library(tmp_path)
    library.embedder = Trained()
    generation = await open_generation(await library.publish("g1"), library.store)
    try:
        (chunk, *_) = await generation.all_chunks()
        (encoding,) = await library.embedder.encode([chunk.embedded_text()])
        asked = generation.tokens.project(np.asarray(encoding.token_vectors))
        assert asked.shape[1] == 32
        (same, *others) = generation.tokens.maxsim([(asked, np.ones(len(asked), dtype=np.float32))], [0, 1])[0].passages
        assert same == pytest.approx(1.0, abs=0.02)
        assert all(other < 0.9 for other in others)
    finally:
        await generation.close()


async def test_calls_that_overlap_at_the_cache_s_limit_both_count(
    generation: OpenGeneration, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither loses what it knew when the other empties the cache of word counts."""
    monkeypatch.setattr("lutrin.index.generation.KEPT_WORDS", 3)
    await generation.document_frequency(["lidar"])
    counts = await asyncio.gather(
        *(generation.document_frequency(["lidar", f"word{n}", f"other{n}"]) for n in range(8))
    )
    assert [count["lidar"] for count in counts] == [counts[0]["lidar"]] * 8
    assert counts[0]["lidar"] > 0


def test_a_pages_own_number_and_form_feeds_say_how_many_there_are(tmp_path: Path) -> None:
    """A deck of seven slides, a PDF of three sheets and one page of Markdown have eleven pages."""
    with closing(sqlite.connect(tmp_path / "passages.db")) as database:
        database.execute("CREATE TABLE file (filename TEXT, source TEXT)")
        database.execute("CREATE TABLE chunk (filename TEXT, record BLOB)")
        files = [("deck.pptx", "One. Seven."), ("sheet.pdf", "a\fb\fc"), ("page.md", "Text.")]
        database.executemany("INSERT INTO file VALUES (?, ?)", files)
        chunks = [
            ("deck.pptx", b'{"page":1}'),
            ("deck.pptx", b'{"page":7}'),
            ("sheet.pdf", b'{"page":2}'),
            ("page.md", b"{}"),
        ]
        database.executemany("INSERT INTO chunk VALUES (?, ?)", chunks)
        assert database.execute(SHEET_COUNT).fetchone() == (11,)
