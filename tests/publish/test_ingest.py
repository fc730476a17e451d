"""An ingest: what is read, embedded, published and told."""

import asyncio
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock

from lutrin import messages
from lutrin.adapters.embed_fastembed import FastembedEmbedder
from lutrin.adapters.index_chroma import ChromaStore
from lutrin.errors import (
    DocumentError,
    EmptyCorpus,
    IngestInProgress,
    InvalidInput,
    ModelMissing,
    VerificationFailed,
)
from lutrin.index.catalog import Catalog
from lutrin.index.generation import PASSAGES
from lutrin.index.manifest import MANIFEST
from lutrin.index.readback import in_fresh_process
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import REMOVED, IngestTools, Options, ingest
from lutrin.records import BookChoice
from lutrin.settings import load_settings

from .conftest import PAGES, Press

LIDAR = "01-chapter-1-sensors/01-lidar.md"
IMU = "01-chapter-1-sensors/02-imu.mdx"
ZMP = "02-chapter-2-walking/01-zmp.md"
TRIES = 4
"""A machine that is busy with other things may slow one try down, not all of them."""


async def test_the_first_ingest_publishes_the_book(press: Press) -> None:
    """Every file is read, every text embedded once, and the progress is what the contract prints."""
    summary = await press.ingest()
    assert (summary.processed, summary.unchanged, summary.updated, summary.removed, summary.failed) == (3, 0, 0, 0, 0)
    assert (summary.chunks_created, summary.chunks_reused, summary.chunks_removed) == (4, 0, 0)
    assert summary.texts_embedded == len(press.embedder.texts) == 4
    assert press.lines == [
        "Processing 01-chapter-1-sensors... 3 chunks created",
        "Processing 02-chapter-2-walking... 1 chunk created",
    ]
    assert (press.steps[-1].files_done, press.steps[-1].chunks_embedded) == (3, 4)
    (book,) = press.books()
    assert summary.published == (f"robots {book.current}",)
    assert book.info.edition == "2"
    generation = await press.open()
    assert [file.filename for file in generation.files] == [LIDAR, IMU, ZMP]
    assert [file.chapter for file in generation.files] == [
        *["Chapter 1: Sensors"] * 2,
        "Chapter 2: Walking",
    ]
    assert await generation.source(IMU) == PAGES[IMU]
    await generation.close()


async def test_an_unchanged_corpus_is_not_touched(press: Press) -> None:
    """The second run reads no file, embeds nothing and publishes nothing."""
    await press.ingest()
    before, texts = press.books(), len(press.embedder.texts)
    press.lines.clear()
    summary = await press.ingest()
    assert (summary.processed, summary.unchanged, summary.published) == (0, 3, ())
    assert press.books() == before
    assert len(press.embedder.texts) == texts
    assert press.lines == []


async def test_a_changed_file_replaces_only_its_own_chunks(press: Press) -> None:
    """Other files are neither read nor embedded again."""
    await press.ingest()
    press.embedder.texts.clear()
    press.write({LIDAR: "# Lidar\n\nA lidar measures distance with light.\n\n## Range\n\nIt sees forty metres.\n"})
    summary = await press.ingest()
    assert (summary.processed, summary.updated, summary.unchanged) == (1, 1, 2)
    assert (summary.chunks_created, summary.chunks_reused, summary.chunks_removed) == (1, 3, 1)
    assert [text for text in press.embedder.texts if "forty" in text] == press.embedder.texts
    assert await press.found("forty metres") == [LIDAR]
    assert await press.found("thirty") == []


async def test_a_page_that_was_moved_is_neither_updated_nor_embedded_again(press: Press) -> None:
    """Its passages are the same ones at another place, and so are those of a copy."""
    await press.ingest()
    press.embedder.texts.clear()
    page = press.corpus / "robots" / LIDAR
    moved = page.rename(page.with_name("99-lidar.md"))
    summary = await press.ingest()
    assert (summary.processed, summary.updated, summary.removed) == (1, 0, 1)
    assert (summary.chunks_created, summary.chunks_reused, summary.chunks_removed) == (0, 4, 0)
    assert press.embedder.texts == []
    page.with_name("98-copy.md").write_bytes(moved.read_bytes())
    assert (await press.ingest()).texts_embedded == 0


async def test_a_new_chapter_is_read_alone(press: Press) -> None:
    """In a folder of its own, though every chapter's folder has a place in the book."""
    await press.ingest()
    press.lines.clear()
    press.write({"03-chapter-3-grasping/01-grip.md": "# Grip\n\nA gripper holds an egg with two newtons.\n"})
    summary = await press.ingest()
    assert (summary.processed, summary.unchanged, summary.chunks_created, summary.chunks_reused) == (1, 3, 1, 4)
    assert press.lines == ["Processing 03-chapter-3-grasping... 1 chunk created"]


async def test_a_new_name_or_place_of_a_folder_changes_its_pages_alone(press: Press) -> None:
    """They belong to another chapter, and are elsewhere in the order; nothing is embedded again."""
    await press.ingest()
    embedded = len(press.embedder.texts)
    press.write({"02-chapter-2-walking/_category_.json": '{"label": "Chapter 2: Gaits"}'})
    summary = await press.ingest()
    assert (summary.processed, summary.unchanged) == (1, 2)
    generation = await press.open()
    assert [chunk.chapter for chunk in await generation.chunks_of(ZMP)] == ["Chapter 2: Gaits"]
    press.write({"02-chapter-2-walking/_category_.json": '{"label": "Chapter 2: Gaits", "position": 0}'})
    summary = await press.ingest()
    assert (summary.processed, summary.unchanged, bool(summary.published)) == (0, 3, True)
    generation = await press.open()
    assert generation.files[0].filename == ZMP
    assert not (await press.ingest()).published
    assert len(press.embedder.texts) == embedded


async def test_a_file_with_a_new_time_only_is_not_read_again(press: Press) -> None:
    """Its content is compared once; the run after that does not even look into it."""
    await press.ingest()
    before = press.books()
    path = press.corpus / "robots" / LIDAR
    path.touch()
    assert (await press.ingest()).unchanged == 3
    path.chmod(0)  # readable for root alone, so the size and time must do
    assert (await press.ingest()).unchanged == 3
    assert press.books() == before


async def test_content_with_an_old_time_is_noticed(press: Press) -> None:
    """A program that sets the time of a changed file back does not deceive."""
    await press.ingest()
    path = press.corpus / "robots" / LIDAR
    status = path.stat()
    path.write_text(path.read_text().replace("thirty", "twenty"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert (await press.ingest()).updated == 1


async def test_a_file_that_was_young_is_looked_at_again(press: Press) -> None:
    """A change within the same tick of the clock is found, since young files are compared by content."""
    press.tools = replace(press.tools, clock_ns=time.time_ns)
    await press.ingest()
    path = press.corpus / "robots" / LIDAR
    with Catalog(press.settings.catalog_path) as catalog:
        assert {state.changed_ns for state in catalog.files("robots").values()} == {0}
    path.write_text(path.read_text().replace("thirty", "twenty"))
    assert (await press.ingest()).updated == 1


async def test_removed_and_renamed_files_disappear(press: Press) -> None:
    """A renamed file is found under its new name only, and a removed one not at all."""
    await press.ingest()
    book = press.corpus / "robots"
    (book / ZMP).unlink()
    (book / IMU).rename(book / "01-chapter-1-sensors" / "03-inertia.mdx")
    summary = await press.ingest()
    assert (summary.processed, summary.updated, summary.removed) == (1, 0, 2)
    assert await press.found("acceleration") == ["01-chapter-1-sensors/03-inertia.mdx"]
    assert await press.found("polygon") == []


async def test_identical_text_is_embedded_once_and_cited_from_both(press: Press) -> None:
    """Two files with the same headings and words share one embedding and keep their own chunks."""
    press.write({"03-chapter-3-again/01-zmp.md": PAGES[ZMP]})
    summary = await press.ingest()
    assert summary.chunks_created == 5
    assert len(press.embedder.texts) == len(set(press.embedder.texts)) == 4
    assert sorted(await press.found("support polygon")) == [ZMP, "03-chapter-3-again/01-zmp.md"]
    press.write({"04-chapter-4-once-more/01-zmp.md": PAGES[ZMP]})
    summary = await press.ingest()
    assert (summary.chunks_created, summary.texts_embedded) == (1, 0)
    assert press.lines[-1] == "Processing 04-chapter-4-once-more... 1 chunk created"


async def test_a_rebuild_reads_everything_and_embeds_nothing(press: Press) -> None:
    """Embeddings come from the catalogue; so they do when a text comes back that the previous index had."""
    await press.ingest()
    texts = len(press.embedder.texts)
    summary = await press.ingest(Options(rebuild=True))
    assert (summary.processed, summary.updated, summary.chunks_reused, summary.texts_embedded) == (3, 0, 4, 0)
    press.write({ZMP: "# ZMP\n\nGone.\n"})
    await press.ingest()
    press.write({ZMP: PAGES[ZMP]})
    await press.ingest()
    assert len(press.embedder.texts) == texts + 1


async def test_other_settings_cut_anew(press: Press) -> None:
    """A longer chunk or a new title makes all files be read again, a new label of a folder its own."""
    await press.ingest()
    press.settings = press.settings.model_copy(update={"chunk_tokens": 300})
    assert (await press.ingest()).processed == 3
    press.write({"01-chapter-1-sensors/_category_.json": '{"label": "Chapter 1: Feeling"}'})
    assert (await press.ingest()).processed == 2
    assert (await press.ingest()).processed == 0
    generation = await press.open()
    assert generation.files[0].chapter == "Chapter 1: Feeling"
    await generation.close()


async def test_a_broken_file_costs_one_line(press: Press) -> None:
    """It is named, the rest goes in, and what the index had of it stays until it can be read again."""
    press.write({"03-chapter-3-broken/01-x.md": b"# X\n\n\x00\x00binary"})
    summary = await press.ingest()
    assert (summary.processed, summary.failed) == (3, 1)
    assert [line.startswith("03-chapter-3-broken/01-x.md: ") for line in summary.errors] == [True]
    press.write({LIDAR: b"\x00\x00"})
    summary = await press.ingest()
    assert (summary.processed, summary.failed, summary.published) == (0, 2, ())
    assert any("keeps its earlier state" in line for line in summary.errors)
    press.write({ZMP: "# ZMP\n\nNew words.\n"})
    summary = await press.ingest()
    assert (summary.processed, summary.failed) == (1, 2)
    assert await press.found("thirty metres") == [LIDAR]
    press.write({LIDAR: "# Lidar\n\nFifty.\n"})
    assert (await press.ingest()).updated == 1
    assert await press.found("fifty") == [LIDAR]


async def test_several_books_are_published_each_by_itself(press: Press) -> None:
    """One book that changes leaves the others' generations as they are."""
    press.write({"book.toml": 'title = "Optics"', "lens.md": "# Lens\n\nA lens bends light.\n"}, book="optics")
    summary = await press.ingest()
    assert len(summary.published) == 2
    assert {book.info.slug for book in press.books()} == {"robots", "optics"}
    before = {book.info.slug: book.current for book in press.books()}
    press.write({"lens.md": "# Lens\n\nA lens gathers light.\n"}, book="optics")
    assert len((await press.ingest()).published) == 1
    after = {book.info.slug: book.current for book in press.books()}
    assert after["robots"] == before["robots"]
    assert after["optics"] != before["optics"]


async def test_a_book_that_is_gone_leaves_the_shelf(press: Press) -> None:
    """Its folder was removed from the corpus, so it is withdrawn; books of another corpus stay."""
    press.write({"book.toml": 'title = "Optics"', "lens.md": "# Lens\n\nA lens bends light.\n"}, book="optics")
    await press.ingest()
    elsewhere = press.corpus.with_name("elsewhere")
    (elsewhere / "a").mkdir(parents=True)
    (elsewhere / "a" / "page.md").write_text("# Page\n\nElsewhere.\n")
    await ingest(elsewhere, press.settings, press.tools)
    shutil.rmtree(press.corpus / "optics")
    summary = await press.ingest()
    assert summary.removed == 1
    assert [book.info.slug for book in press.books()] == ["robots", "elsewhere"]
    assert not [name for name in press.folders() if name.startswith("optics/")]


async def test_an_operator_names_a_book(press: Press) -> None:
    """Slug, title and edition of the command line win over the book's own."""
    (press.corpus / "robots" / "book.toml").unlink()
    await press.ingest(Options(slug="walkers", title="Walkers", edition="3"))
    (book,) = press.books()
    assert (book.info.slug, book.info.title, book.info.edition) == ("walkers", "Walkers", "3")


async def test_an_empty_corpus_is_an_error_and_costs_nothing(press: Press) -> None:
    """A corpus that is not there (an unmounted disk) does not empty the shelf."""
    await press.ingest()
    press.corpus.rename(press.corpus.with_name("away"))
    with pytest.raises(EmptyCorpus):
        await press.ingest()
    (press.corpus / "robots").mkdir(parents=True)
    with pytest.raises(EmptyCorpus):
        await press.ingest()
    assert len(press.books()) == 1


@pytest.mark.parametrize("description", ['slug = "robots"\ntitle = "Other"', 'slug = "../robots"', "title = "])
async def test_a_description_that_cannot_be_used_stops_no_other_book(press: Press, description: str) -> None:
    """It is told; of two books of one slug neither is read, and what the shelf has stays as it was."""
    await press.ingest()
    press.write({"x.md": "# Bees\n\nA queen lays eggs.\n"}, book="bees")
    press.write({"book.toml": description, "a.md": "# A\n\nB.\n"}, book="a-stranger")
    press.write({"01-chapter-1-sensors/01-lidar.md": "# Lidar\n\nIt is another one now.\n"})
    summary = await press.ingest()
    is_double = "robots" in description and ".." not in description
    assert summary.failed == len(summary.errors) == 1 + is_double
    assert all("book.toml" in line for line in summary.errors)
    assert {book.info.slug for book in press.books()} == {"robots", "bees"}
    assert bool(await press.found("thirty metres")) is is_double, "robots is read anew unless its slug is disputed"


async def test_a_book_whose_description_breaks_stays_on_the_shelf(press: Press) -> None:
    """Until it is mended; a corpus of nothing else is an error."""
    press.write({"x.md": "# Bees\n\nA queen lays eggs.\n"}, book="bees")
    await press.ingest()
    press.write({"book.toml": "slug = 3 3"})
    assert (await press.ingest()).removed == 0
    assert {book.info.slug for book in press.books()} == {"robots", "bees"}
    shutil.rmtree(press.corpus / "bees")
    with pytest.raises((InvalidInput, DocumentError), match=r"book\.toml"):
        await press.ingest()


async def test_a_second_ingest_leaves_at_once(press: Press) -> None:
    """While another one holds the lock nothing is read."""
    press.settings.data_dir.mkdir()
    with FileLock(press.settings.data_dir / "ingest.lock"), pytest.raises(IngestInProgress):
        await press.ingest()
    assert press.embedder.texts == []
    assert (await press.ingest()).processed == 3


def ran(*arguments: str | Path) -> tuple["subprocess.CompletedProcess[str]", float]:
    """Output of a command, the modules that it loaded, and its processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-X", "importtime", "-m", "lutrin.cli", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime - before.ru_utime


def test_who_is_too_late_leaves_before_anything_is_loaded(press: Press) -> None:
    """The command takes the lock first: no model, no vector index, hardly more work than its `--help`, one sentence."""
    press.settings.data_dir.mkdir()
    late_s, help_s = [], []
    for _ in range(TRIES):
        with FileLock(press.settings.data_dir / "ingest.lock"):
            done, seconds = ran("ingest", press.corpus, "--data-dir", press.settings.data_dir)
        late_s.append(seconds)
        help_s.append(ran("ingest", "--help")[1])
        if min(late_s) < 1.5 * min(help_s):
            break
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[-1] == messages.INGEST_IN_PROGRESS
    assert "lutrin.ingest.lock" in loaded
    assert (
        loaded & {"lutrin.runtime.wiring", "numpy", "chromadb", "onnxruntime", "fastembed", "pypdf", "httpx"} == set()
    )
    assert min(late_s) < 1.5 * min(help_s)


async def test_what_fails_verification_is_not_published(press: Press) -> None:
    """The old index serves on, nothing is left on the disk, and the next run publishes without embedding again."""
    await press.ingest()
    before, folders = press.books(), press.folders()

    async def refuse(directory: Path) -> None:
        raise VerificationFailed(f"{directory.name} is not good")

    good, press.tools = press.tools, replace(press.tools, verify=refuse)
    press.write({ZMP: "# ZMP\n\nOther words.\n"})
    with pytest.raises(VerificationFailed):
        await press.ingest()
    assert (press.books(), press.folders()) == (before, folders)
    texts = len(press.embedder.texts)
    press.tools = good
    assert (await press.ingest()).updated == 1
    assert len(press.embedder.texts) == texts


async def test_leftovers_of_killed_runs_are_removed(press: Press) -> None:
    """Half a folder, a whole one that was never published, and one half deleted go before anything else happens."""
    await press.ingest()
    folders = press.folders()
    home = press.settings.books_dir / "robots"
    for name in (".building-000009-aa", "000009-aa", ".trash-000001-aa-77"):
        (home / name).mkdir()
        (home / name / "passages.db").write_bytes(b"half")
    await press.ingest()
    assert press.folders() == folders


async def test_a_lost_generation_is_built_again(press: Press) -> None:
    """If the folder of the current generation is gone, unchanged files do not matter; embeddings are still there."""
    await press.ingest()
    texts = len(press.embedder.texts)
    shutil.rmtree(press.settings.books_dir / "robots")
    summary = await press.ingest()
    assert summary.processed == 3
    assert await press.found("polygon") == [ZMP]
    assert len(press.embedder.texts) == texts


async def test_nothing_is_copied_from_a_damaged_index(press: Press) -> None:
    """Its content could pass for the book's; so all pages are read again, even after a change of one."""
    await press.ingest()
    (book,) = press.books()
    path = press.settings.books_dir / "robots" / book.current / PASSAGES
    path.write_bytes(path.read_bytes().replace(b"thirty metres", b"thirty metros"))
    press.write({"02-chapter-2-walking/01-zmp.md": "# ZMP\n\nThe polygon is the convex hull of the feet.\n"})
    summary = await press.ingest()
    assert summary.processed == 3
    generation = await press.open()
    assert "thirty metres" in " ".join(chunk.text for chunk in await generation.all_chunks())
    await generation.close()


async def test_an_index_of_an_older_form_is_made_anew(press: Press) -> None:
    """An update needs no manual step: an unreadable index is replaced, and nothing is embedded twice."""
    await press.ingest()
    (book,) = press.books()
    manifest = press.settings.books_dir / "robots" / book.current / MANIFEST
    older = re.sub(rb'"format_version":\s*\d+', b'"format_version": 3', manifest.read_bytes())
    older = re.sub(rb'"companion":\s*"[^"]*",?', b"", older)
    manifest.write_bytes(older)
    with Catalog(press.settings.catalog_path) as catalog:
        catalog.connection.execute("UPDATE generation SET manifest_sha256 = ?", (hashlib.sha256(older).hexdigest(),))
    summary = await press.ingest()
    (after,) = press.books()
    assert summary.published == (f"robots {after.current}",)
    assert after.current != book.current
    assert len(press.embedder.texts) == 4
    assert set(await press.found("lidar")) == {LIDAR}


async def test_old_generations_are_deleted_without_a_server(press: Press) -> None:
    """Only the current and the previous one are kept."""
    for number in range(4):
        press.write({ZMP: f"# ZMP\n\nVersion {number}.\n"})
        await press.ingest()
    (book,) = press.books()
    assert press.folders() == sorted(f"robots/{name}" for name in (book.current, book.previous))


async def test_a_missing_model_is_told_as_it_is(press: Press, tmp_path: Path) -> None:
    """The message is about the model, not about a file of the book."""
    press.tools = replace(press.tools, embedder=FastembedEmbedder(tmp_path))
    with pytest.raises(ModelMissing):
        await press.ingest()
    assert press.books() == []


async def test_interrupting_leaves_the_old_index(press: Press) -> None:
    """Ctrl-C in the middle of the work: nothing is published, nothing is left, the lock is free."""
    await press.ingest()
    before, folders = press.books(), press.folders()
    reached = asyncio.Event()

    async def wait(_: Path) -> None:
        reached.set()
        await asyncio.sleep(3600)

    good, press.tools = press.tools, replace(press.tools, verify=wait)
    press.write({ZMP: "# ZMP\n\nOther words.\n"})
    run = asyncio.create_task(press.ingest())
    await reached.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (press.books(), press.folders()) == (before, folders)
    press.tools = good
    assert (await press.ingest()).updated == 1


@pytest.mark.model
async def test_the_real_thing(tmp_path: Path, models_dir: Path) -> None:
    """Real model, real Chroma, verified in a fresh process, picked up by a running shelf."""
    corpus = tmp_path / "corpus" / "robots"
    for name, text in PAGES.items():
        (corpus / name).parent.mkdir(parents=True, exist_ok=True)
        (corpus / name).write_text(text)
    settings = load_settings(data_dir=tmp_path / "data")
    embedder, store = (
        FastembedEmbedder(models_dir / "reader", threads=1),
        ChromaStore(tmp_path / "copies"),
    )
    tools = IngestTools(embedder, store, in_fresh_process(store))
    async with Shelf(settings.catalog_path, settings.books_dir, store, poll_s=0.1) as shelf:
        summary = await ingest(corpus, settings, tools)
        assert summary.texts_embedded == 4
        async with asyncio.timeout(2):
            while not shelf.books():  # noqa: ASYNC110 - the shelf sends no event
                await asyncio.sleep(0.02)
        async with shelf.lease() as generation:
            (question,) = await embedder.encode(["Where must the robot keep its balance point?"])
            found = await generation.chunks([name for name, _ in await generation.nearest(question.windows[0], 1)])
            assert found[0].filename == ZMP
    embedder.close()


async def test_a_book_that_its_teacher_removed_is_not_read(press: Press) -> None:
    """Its index stays, so that it can be brought back, and the report names it; then it is read as before."""
    await press.ingest()
    (before,) = press.books()
    press.write({LIDAR: "# Lidar\n\nNew text about ranges.\n"})
    with Catalog(press.settings.catalog_path) as catalog:
        catalog.choose("robots", BookChoice(removed="2026-01-01"))
    summary = await press.ingest()
    assert [(item.book, item.reason) for item in summary.left_out] == [("robots", REMOVED)]
    assert (summary.processed, summary.removed, press.books()[0].current) == (0, 0, before.current)
    with Catalog(press.settings.catalog_path) as catalog:
        catalog.forget_choice("robots")
    assert (await press.ingest()).processed == 1


async def test_a_book_whose_files_are_gone_may_be_kept(press: Press) -> None:
    """As a server asks for that watches its folder: the stick was pulled out for a moment."""
    press.write({"book.toml": 'title = "Optics"', "lens.md": "# Lens\n\nA lens bends light.\n"}, book="optics")
    await press.ingest()
    shutil.rmtree(press.corpus / "optics")
    assert (await press.ingest(Options(keep_missing=True))).removed == 0
    assert sorted(book.info.slug for book in press.books()) == ["optics", "robots"]
    assert (await press.ingest()).removed == 1
