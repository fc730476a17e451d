"""The watched folder: read without a command, never half, and nothing is removed because it is gone for a while."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from lutrin.index.catalog import Catalog
from lutrin.serve.watch import snapshot, watch_folder

from .conftest import House, Serve
from .test_teacher import PAGE, TOKEN, sign_in
from .test_teacher_books import publish

STEP_S = 0.3


class Reading:
    """Counts, and remembers what was there each time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: list[dict[str, int]] = []

    async def __call__(self) -> None:
        """Read."""
        self.seen.append({Path(path).name: size for path, (size, _) in snapshot(self.folder).items()})


@asynccontextmanager
async def watching(folder: Path) -> AsyncIterator[Reading]:
    """A watched folder; it settles within a third of a second."""
    reading = Reading(folder)
    task = asyncio.create_task(watch_folder(folder, reading, STEP_S))
    await asyncio.sleep(1)
    try:
        yield reading
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what the watcher does."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - the watcher sends no event
            await asyncio.sleep(0.05)


async def test_a_file_is_read_when_it_has_arrived_whole(tmp_path: Path) -> None:
    """However long its copy takes, as long as it goes on."""
    folder = tmp_path / "corpus"
    async with watching(folder) as reading:
        with (folder / "slow.md").open("wb", buffering=0) as file:
            for _ in range(12):
                file.write(b"A line of a book that comes slowly.\n")
                await asyncio.sleep(STEP_S / 2)
        assert reading.seen == []
        await until(lambda: bool(reading.seen))
        assert reading.seen == [{"slow.md": 12 * 36}]
        (folder / "second.md").write_text("# Second\n")
        await until(lambda: len(reading.seen) == 2)


async def test_what_is_hidden_wakes_nobody(tmp_path: Path) -> None:
    """As an upload that is still coming."""
    folder = tmp_path / "corpus"
    async with watching(folder) as reading:
        (folder / ".upload-1").mkdir()
        (folder / ".upload-1/page.md").write_text("# Page\n")
        await asyncio.sleep(2)
        assert reading.seen == []


async def test_a_missing_book_stays_and_is_told(serve: Serve, house: House, tmp_path: Path) -> None:
    """Its teacher reads that its files are gone; when they are back, nothing is told any more."""
    corpus = (tmp_path / "corpus").resolve()
    folder = publish(house, corpus, "optics")
    async with serve(admin_token=TOKEN, corpus_dir=corpus) as client:
        await sign_in(client)
        assert "not in the books’ folder" not in (await client.get(PAGE)).text
        shutil.move(folder, tmp_path / "away")
        assert "not in the books’ folder" in (await client.get(PAGE)).text
        assert "not in the books’ folder" in (await client.get(f"{PAGE}/books/optics")).text
        with Catalog(house.data_dir / "catalog.db") as catalog:
            assert catalog.book("optics") is not None
        shutil.move(tmp_path / "away", folder)
        assert "not in the books’ folder" not in (await client.get(PAGE)).text
