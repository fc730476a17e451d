"""Machines without a common disk: what one publishes the others fetch; each answers from its own."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from tests.fakes import ExactStore, WordHashEmbedder
from tests.remote.postgres import Cluster

from lutrin.errors import IndexUnavailable, NotFound
from lutrin.index.catalog import Catalog
from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import IngestTools, ingest
from lutrin.keep.transfer import fetch_all, follow, offer_all
from lutrin.settings import load_settings
from lutrin_remote.postgres_books import PostgresRack


class Machine:
    """A data folder of its own, and the rack that all machines share."""

    def __init__(self, root: Path, url: str) -> None:
        self.settings = load_settings(data_dir=root, chunk_tokens=100, chunk_overlap_tokens=0)
        self.rack = PostgresRack(url)
        self.store = ExactStore()

    async def ingest(self, corpus: Path) -> None:
        """Fetch, read a folder of books, and offer, as `lutrin ingest` does."""
        await fetch_all(self.settings, self.rack)
        verify = partial(verify_generation, store=self.store)
        await ingest(corpus, self.settings, IngestTools(WordHashEmbedder(), self.store, verify, clock_ns=lambda: 2**62))
        await offer_all(self.settings, self.rack)

    async def text(self) -> str:
        """All that a server would answer from."""
        async with (
            Shelf(self.settings.catalog_path, self.settings.books_dir, self.store) as shelf,
            shelf.lease() as book,
        ):
            return " ".join(chunk.text for chunk in await book.all_chunks())

    def current(self) -> str:
        """Name of the published generation."""
        with Catalog(self.settings.catalog_path) as catalog:
            return catalog.books()[0].current


def write(corpus: Path, slug: str, text: str) -> None:
    """A book of one page."""
    book = corpus / slug
    book.mkdir(parents=True, exist_ok=True)
    (book / "book.toml").write_text(f'slug = "{slug}"\ntitle = "Robots"\n', encoding="utf-8")
    (book / "page.md").write_text(f"# Page\n\n{text}\n", encoding="utf-8")


async def test_what_one_machine_publishes_the_others_answer_from(tmp_path: Path, postgres_url: str) -> None:
    """The same generation under the same name, and the next ingest may be anywhere."""
    one, two = Machine(tmp_path / "one", postgres_url), Machine(tmp_path / "two", postgres_url)
    write(tmp_path / "corpus", "robots", "The gait is a trot.")
    await one.ingest(tmp_path / "corpus")
    assert len(await fetch_all(two.settings, two.rack)) == 1
    assert await fetch_all(two.settings, two.rack) == []
    assert (await two.text(), two.current()) == (await one.text(), one.current())
    write(tmp_path / "corpus", "robots", "The gait is a walk.")
    await two.ingest(tmp_path / "corpus")
    await fetch_all(one.settings, one.rack)
    assert "walk" in await one.text()
    assert one.current() == two.current()


async def test_only_what_may_still_be_read_is_kept(tmp_path: Path, postgres_url: str) -> None:
    """The rack holds the current generation and the one before, and of a book that is gone nothing."""
    one = Machine(tmp_path / "one", postgres_url)
    for number in range(4):
        write(tmp_path / "corpus", "robots", f"The gait is number {number}.")
        write(tmp_path / "corpus", "ships", "Ships float.")
        await one.ingest(tmp_path / "corpus")
    async with one.rack._connect() as connection:
        query = "SELECT count(DISTINCT generation) FROM lutrin_file WHERE slug = $1"
        assert await connection.fetchval(query, "robots") == 2
    (tmp_path / "corpus" / "ships" / "page.md").unlink()
    await one.ingest(tmp_path / "corpus")
    two = Machine(tmp_path / "two", postgres_url)
    await fetch_all(two.settings, two.rack)
    assert "Ships" not in await two.text()
    assert len(await two.rack.generations()) == 1


@pytest.mark.slow("it looks again and again until the other server has followed, and PostgreSQL starts anew")
async def test_a_server_follows_and_goes_on_without_the_rack(
    tmp_path: Path, postgres: Cluster, postgres_url: str
) -> None:
    """New books come within seconds; while PostgreSQL is away what is here is answered from, and then it goes on."""
    one, two = Machine(tmp_path / "one", postgres_url), Machine(tmp_path / "two", postgres_url)
    task = asyncio.create_task(follow(two.settings, two.rack, poll_s=0.1))
    write(tmp_path / "corpus", "robots", "The gait is a trot.")
    await one.ingest(tmp_path / "corpus")

    async def shows(word: str) -> None:
        async with asyncio.timeout(60):
            while True:
                try:
                    if word in await two.text():
                        return
                except (IndexUnavailable, NotFound):
                    pass
                await asyncio.sleep(0.1)

    await shows("trot")
    await asyncio.to_thread(postgres.kill)
    await asyncio.sleep(0.5)
    await shows("trot")
    await asyncio.to_thread(postgres.start)
    write(tmp_path / "corpus", "robots", "The gait is a walk.")
    await one.ingest(tmp_path / "corpus")
    await shows("walk")
    assert (two.current(), "trot" in await two.text()) == (one.current(), False)
    task.cancel()


async def test_damaged_parts_are_not_published(tmp_path: Path, postgres_url: str) -> None:
    """Another byte in the database: the hashes say so, and what was here stays."""
    one, two = Machine(tmp_path / "one", postgres_url), Machine(tmp_path / "two", postgres_url)
    write(tmp_path / "corpus", "robots", "The gait is a trot.")
    await one.ingest(tmp_path / "corpus")
    await fetch_all(two.settings, two.rack)
    write(tmp_path / "corpus", "robots", "The gait is a walk.")
    await one.ingest(tmp_path / "corpus")
    async with one.rack._connect() as connection:
        await connection.execute("UPDATE lutrin_file SET data = data || 'x' WHERE path = 'windows.npy'")
    with pytest.raises(IndexUnavailable, match="not what was published"):
        await fetch_all(two.settings, two.rack)
    assert "trot" in await two.text()
    assert [path.name for path in (two.settings.books_dir / "robots").iterdir()] == [two.current()]
