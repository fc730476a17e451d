"""The shelf: new generations are opened while the server runs, and old ones are closed when no request uses them."""

import asyncio
import shutil
import threading
from pathlib import Path

import pytest

from lutrin import sqlite
from lutrin.background import Background
from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index.catalog import Catalog
from lutrin.index.generation import PASSAGES, open_generation
from lutrin.index.shelf import Shelf
from lutrin.records import BookChoice, BookInfo

from .conftest import PAGES, Library

OTHER = BookInfo(slug="optics", title="Optics")
NEW = {**PAGES, "03-arms/01-grip.md": ["A gripper holds things."]}


def shelf_of(library: Library, *, poll_s: float = 0.05) -> Shelf:
    """A shelf that looks often, so that tests are short."""
    return Shelf(library.catalog_path, library.books_dir, library.store, poll_s=poll_s)


async def until(shelf: Shelf, name: str) -> None:
    """Wait until a generation is served, two seconds at most, as the contract says."""
    async with asyncio.timeout(2):
        while [generation.name for generation in shelf.books()] != [name]:  # noqa: ASYNC110 - the shelf sends no event
            await asyncio.sleep(0.01)


async def test_an_empty_shelf_says_so(library: Library) -> None:
    """Before the first ingest the knowledge base is unavailable; then it is there without a restart."""
    async with shelf_of(library) as shelf:
        with pytest.raises(IndexUnavailable, match="temporarily unavailable"):
            async with shelf.lease():
                pass
        await library.publish("g1")
        await until(shelf, "g1")


async def test_a_lease_outlives_its_generation(library: Library) -> None:
    """An answer under way reads the generation that it began with; the next one reads the new one."""
    await library.publish("g1")
    async with shelf_of(library) as shelf:
        async with shelf.lease() as before:
            await library.publish("g2", NEW)
            await until(shelf, "g2")
            async with shelf.lease() as after:
                assert (before.name, after.name) == ("g1", "g2")
                assert len(after.files) == len(before.files) + 1
            assert await before.matching("lidar", 1)
        with pytest.raises(Exception, match="closed"):
            await before.all_chunks()


async def test_the_catalogue_is_closed_when_nobody_reads_it(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """A shelf that is closed while it looks for new books waits for that: SQLite crashes if it is closed in its use."""
    shelf = shelf_of(library, poll_s=0.01)
    await shelf.start()
    begun, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def slow(value: int) -> int:
        begun.set()
        go_on.wait(10)
        order.append("read")
        return value

    # Read in SQLite itself, which is where it must not be closed.
    catalog = shelf._catalog
    assert catalog is not None
    await catalog.create_function("slow", 1, slow)
    monkeypatch.setattr("lutrin.index.shelf.BOOKS", "SELECT slow(1), 0, 0, 0, 0, 0, 0 WHERE 0 = slow(1)")
    await asyncio.to_thread(begun.wait, 10)
    closing = asyncio.create_task(shelf.close())
    await asyncio.sleep(0.05)
    assert not closing.done()
    assert order == []
    go_on.set()
    await closing
    assert order[0] == "read"


async def test_a_shelf_that_cannot_start_leaves_no_thread(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the catalogue opens and cannot be read, nothing keeps the program from ending."""
    monkeypatch.setattr("lutrin.index.shelf.BOOKS", "SELECT info FROM nowhere")
    before = set(threading.enumerate())
    with pytest.raises(sqlite.DatabaseError, match="nowhere"):
        await shelf_of(library).start()
    left = set(threading.enumerate()) - before
    for thread in left:
        await asyncio.to_thread(thread.join, 10)
    assert not any(thread.is_alive() for thread in left if "_connection_worker_thread" in thread.name)


async def test_books_are_found_by_slug(library: Library) -> None:
    """A named book is leased, no name means the first one, an unknown name is an error that names the others."""
    await library.publish("g1")
    await library.publish("g2", book=OTHER)
    async with shelf_of(library) as shelf:
        async with shelf.lease("optics") as generation:
            assert generation.book == OTHER
        async with shelf.lease() as generation:
            assert generation.name == "g1"
        with pytest.raises(NotFound, match="robots, optics"):
            async with shelf.lease("cooking"):
                pass


async def test_all_but_the_previous_are_deleted(library: Library) -> None:
    """After three publications the first folder is gone, the second is kept for going back."""
    await library.publish("g1")
    async with shelf_of(library) as shelf:
        for name in ("g2", "g3"):
            await library.publish(name)
            await until(shelf, name)
        await shelf.refresh()
        assert sorted(path.name for path in (library.books_dir / "robots").iterdir()) == ["g2", "g3"]


async def test_a_generation_that_another_process_reads_is_kept(library: Library) -> None:
    """Two servers share the folder: what one still reads, the other does not delete."""
    first = await library.publish("g1")
    reading = await open_generation(first, library.store)
    async with shelf_of(library) as shelf:
        for name in ("g2", "g3"):
            await library.publish(name)
            await until(shelf, name)
        await shelf.refresh()
        assert first.exists()
        assert await reading.matching("lidar", 1)
        await reading.close()
        await shelf.refresh()
        assert not first.exists()


async def test_an_unpublished_folder_is_left_alone(library: Library) -> None:
    """The server ignores folders that an ingest is building, or has built but not published."""
    await library.publish("g1")
    await library.build(library.books_dir / "robots" / ".building-g2", name="g2")
    await library.build(library.books_dir / "robots" / "g2", name="g2")
    async with shelf_of(library) as shelf:
        await shelf.refresh()
        assert [generation.name for generation in shelf.books()] == ["g1"]
    assert sorted(path.name for path in (library.books_dir / "robots").iterdir()) == [".building-g2", "g1", "g2"]


async def test_a_broken_generation_does_not_replace_a_good_one(library: Library) -> None:
    """The old generation serves on if the new one cannot be opened, and serves after a restart, too."""
    await library.publish("g1")
    async with shelf_of(library) as shelf:
        broken = await library.publish("g2", NEW)
        (broken / PASSAGES).write_bytes(b"")
        await shelf.refresh()
        assert [generation.name for generation in shelf.books()] == ["g1"]
    async with shelf_of(library) as shelf:
        assert [generation.name for generation in shelf.books()] == ["g1"]


async def test_a_flipped_byte_is_noticed_when_a_book_is_opened(library: Library) -> None:
    """Any byte of its texts, wherever it lies: the generation before serves, and no wrong word is read out."""
    await library.publish("g1")
    path = (await library.publish("g2", NEW)) / PASSAGES
    content = bytearray(path.read_bytes())
    content[content.rindex(b"gripper")] ^= 4
    path.write_bytes(content)
    with pytest.raises(IndexUnavailable, match="not what was written"):
        await open_generation(path.parent, library.store)
    async with shelf_of(library) as shelf:
        assert [generation.name for generation in shelf.books()] == ["g1"]


async def test_a_withdrawn_book_leaves_the_shelf(library: Library) -> None:
    """A book that the operator removed can no longer be leased."""
    await library.publish("g1")
    await library.publish("g2", book=OTHER)
    async with shelf_of(library) as shelf:
        with Catalog(library.catalog_path) as catalog:
            catalog.withdraw("optics")
        await until(shelf, "g1")
        await shelf.refresh()  # the watcher's own may not have come to the folder yet
        assert not (library.books_dir / "optics" / "g2").exists()


async def test_a_missing_folder_is_survived(library: Library) -> None:
    """If the folder of the only generation is gone, the book is unavailable, not the server."""
    directory = await library.publish("g1")
    await asyncio.to_thread(shutil.rmtree, directory)
    async with shelf_of(library) as shelf:
        assert shelf.books() == []
        await library.publish("g2")
        await until(shelf, "g2")


async def test_a_book_that_cannot_be_read_is_no_unknown_book(library: Library) -> None:
    """It is temporarily unavailable, whether or not other books are open."""
    directory = await library.publish("g1")
    await library.publish("g2", book=OTHER)
    await asyncio.to_thread(shutil.rmtree, directory)
    async with shelf_of(library) as shelf:
        assert shelf.unreadable == {"robots"}
        with pytest.raises(IndexUnavailable):
            async with shelf.lease("robots"):
                pass
        await library.publish("g3")
        await shelf.refresh()
        assert not shelf.unreadable


async def test_swaps_leave_no_handles(library: Library) -> None:
    """Twenty generations later as few files are open as after the first ones."""

    def handles() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    await library.publish("g0")
    async with shelf_of(library, poll_s=3600) as shelf:
        counts = []
        for number in range(1, 21):
            await library.publish(f"g{number}")
            await shelf.refresh()
            counts.append(handles())
        assert max(counts[2:]) <= counts[2] + 2
        assert shelf.books()[0].name == "g20"


async def test_readers_see_what_the_teacher_chose(library: Library) -> None:
    """A new title is on the book and on its passages; a hidden book is not there, and comes back."""
    await library.publish("g1")
    async with shelf_of(library) as shelf:
        (book,) = shelf.books()
        slug, before = book.book.slug, book.state
        with Catalog(library.catalog_path) as catalog:
            catalog.choose(slug, BookChoice(title="Renamed"))
        await shelf.refresh()
        (book,) = shelf.books()
        (chunk,) = await book.chunks(await book.first_ids(1))
        assert (book.book.title, chunk.book_title) == ("Renamed", "Renamed")
        assert book.state != before
        with Catalog(library.catalog_path) as catalog:
            catalog.choose(slug, BookChoice(hidden=True))
        await shelf.refresh()
        assert shelf.books() == []
        assert shelf.unreadable == frozenset()
        with Catalog(library.catalog_path) as catalog:
            catalog.choose(slug, BookChoice())
        await shelf.refresh()
        assert [one.book.title for one in shelf.books()] != ["Renamed"]


async def test_decisions_that_cannot_be_read_open_nothing_twice(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The book stays as it is, with the files that it has open, until they can be read again."""

    def handles() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    await library.publish("g1")
    async with shelf_of(library, poll_s=3600) as shelf:
        with monkeypatch.context() as away:
            away.setattr("lutrin.index.shelf.DECISIONS", "SELECT record FROM nowhere")
            await library.publish("g2", NEW)
            await shelf.refresh()
            before = handles()
            for _ in range(5):
                await shelf.refresh()
            assert [generation.name for generation in shelf.books()] == ["g1"]
            assert handles() <= before
        await shelf.refresh()
        assert [generation.name for generation in shelf.books()] == ["g2"]


async def test_a_damaged_decision_keeps_no_book_away(library: Library) -> None:
    """It is left out; the log says so."""
    await library.publish("g1")
    with Catalog(library.catalog_path) as catalog, catalog.transaction():
        catalog.connection.execute("INSERT INTO decision VALUES ('robots', 'a', '{}', '', X'', '')")
        catalog.connection.execute("UPDATE decisions SET revision = revision + 1")
    async with shelf_of(library) as shelf:
        assert [generation.name for generation in shelf.books()] == ["g1"]
        await library.publish("g2")
        await until(shelf, "g2")


async def test_a_watcher_that_fails_goes_on(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unexpected error of the catalogue is reported, and new books appear once it is gone."""
    await library.publish("g1")
    background = Background(first_pause_s=0.01)
    shelf = Shelf(library.catalog_path, library.books_dir, library.store, poll_s=0.01, background=background)
    async with shelf:
        with monkeypatch.context() as away:
            away.setattr("lutrin.index.shelf.BOOKS", "SELECT '{}', '', '', '', '', '', '', '{}'")
            async with asyncio.timeout(2):
                while not background.troubles:  # noqa: ASYNC110 - a supervisor sends no event
                    await asyncio.sleep(0.01)
            assert background.troubles == {"shelf": "ValidationError"}
            await library.publish("g2")
        await until(shelf, "g2")
    assert background.troubles == {}
