"""An index moves between Chroma, Qdrant and pgvector and back; no text is embedded again."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.fakes import WordHashEmbedder
from tests.keep.conftest import now
from tests.remote.qdrant_edge import EdgeClient

from lutrin.adapters.index_chroma import ChromaStore
from lutrin.errors import ArchiveError, IngestError, InvalidSettings
from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import DEFAULTS, IngestTools, Options, ingest
from lutrin.ingest.summary import IngestSummary
from lutrin.keep.transfer import export_index, import_index
from lutrin.ports import Encoding, VectorStore
from lutrin.settings import Settings, load_settings
from lutrin_remote.index_pgvector import PgvectorStore
from lutrin_remote.index_qdrant import QdrantStore


class Counting(WordHashEmbedder):
    """Counts the texts that it embeds."""

    count = 0

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode and count."""
        self.count += len(texts)
        return await super().encode(texts)


class Place:
    """A data folder with a vector store of its own kind."""

    def __init__(self, root: Path, store: VectorStore) -> None:
        self.settings: Settings = load_settings(data_dir=root, chunk_tokens=100, chunk_overlap_tokens=0)
        self.use(store)
        self.embedder = Counting()

    def use(self, store: VectorStore) -> None:
        """Keep the vectors elsewhere from now on."""
        self.store = store
        self.verify = partial(verify_generation, store=store)

    async def ingest(self, corpus: Path, options: Options = DEFAULTS) -> IngestSummary:
        """Read a folder of books."""
        tools = IngestTools(self.embedder, self.store, self.verify, clock_ns=lambda: 2**62)
        return await ingest(corpus, self.settings, tools, options)

    async def take(self, file: Path, embedder: str = "") -> None:
        """Import an exported index."""
        name = embedder or self.embedder.name
        await import_index(
            self.settings, file, embedder=name, store=self.store, verify=self.verify, now=now, trust=True
        )

    async def found(self, words: str) -> tuple[list[tuple[str, float]], list[str]]:
        """The nearest chunks by meaning, and the best by words."""
        async with (
            Shelf(self.settings.catalog_path, self.settings.books_dir, self.store) as shelf,
            shelf.lease() as book,
        ):
            (encoding,) = await WordHashEmbedder().encode([words])
            nearest = await book.nearest(encoding.windows[0], 3)
            return nearest, [name for name, _ in await book.matching(words, 1)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A book of two pages."""
    book = tmp_path / "corpus" / "robots"
    book.mkdir(parents=True)
    (book / "book.toml").write_text('slug = "robots"\ntitle = "Robots"\n', encoding="utf-8")
    (book / "01-gait.md").write_text(
        "# Gait\n\nA gait is a pattern of steps.\n\n## Speed\n\nTrotting is faster.\n", "utf-8"
    )
    (book / "02-lidar.md").write_text("# Lidar\n\nA lidar measures distance with laser pulses.\n", "utf-8")
    return book.parent


async def test_there_and_back_without_embedding(tmp_path: Path, corpus: Path, postgres_url: str) -> None:
    """Chroma to Qdrant to pgvector to Chroma: the same passages and scores; the next ingests embed only what is new."""
    local = Place(tmp_path / "local", ChromaStore(tmp_path / "scratch"))
    remote = Place(tmp_path / "remote", QdrantStore(EdgeClient(tmp_path / "engine").connect))
    database = Place(tmp_path / "database", PgvectorStore(postgres_url))
    home = Place(tmp_path / "home", ChromaStore(tmp_path / "scratch"))
    await local.ingest(corpus)
    studied = local.settings.studied_path("robots")
    studied.parent.mkdir()
    studied.with_suffix(".studied").write_text("a passage\n", encoding="utf-8")
    export_index(local.settings, tmp_path / "there.tar", now)
    await remote.take(tmp_path / "there.tar")
    export_index(remote.settings, tmp_path / "on.tar", now)
    await database.take(tmp_path / "on.tar")
    export_index(database.settings, tmp_path / "back.tar", now)
    await home.take(tmp_path / "back.tar")
    answers = [await place.found("How does a lidar measure?") for place in (local, remote, database, home)]
    for nearest, words in answers[1:]:
        assert [name for name, _ in nearest] == [name for name, _ in answers[0][0]]
        np.testing.assert_allclose([score for _, score in nearest], [score for _, score in answers[0][0]], atol=1e-4)
        assert words == answers[0][1]
    for place in (remote, database, home):
        assert place.settings.studied_path("robots").with_suffix(".studied").read_text("utf-8") == "a passage\n"
        place.embedder.count = 0
        assert (await place.ingest(corpus)).unchanged == 2
        assert place.embedder.count == 0
    (corpus / "robots" / "02-lidar.md").write_text("# Lidar\n\nIt turns ten times a second.\n", "utf-8")
    for place in (remote, database, home):
        await place.ingest(corpus)
        assert place.embedder.count == 1


@pytest.mark.parametrize("kind", ["pgvector", "qdrant"])
async def test_a_data_folder_changes_its_store(tmp_path: Path, corpus: Path, postgres_url: str, kind: str) -> None:
    """An ingest says that it must build anew, and then embeds nothing; the next one goes on as before."""
    place = Place(tmp_path / "data", ChromaStore(tmp_path / "scratch"))
    await place.ingest(corpus)
    before = await place.found("How does a lidar measure?")
    place.use(PgvectorStore(postgres_url) if kind == "pgvector" else QdrantStore(EdgeClient(tmp_path / "e").connect))
    with pytest.raises(IngestError) as caught:
        await place.ingest(corpus)
    assert "ingest --rebuild" in caught.value.remedy
    place.embedder.count = 0
    await place.ingest(corpus, Options(rebuild=True))
    assert (await place.ingest(corpus)).unchanged == 2
    assert place.embedder.count == 0
    after = await place.found("How does a lidar measure?")
    assert [name for name, _ in after[0]] == [name for name, _ in before[0]]
    assert after[1] == before[1]


async def test_another_embedding_model_is_refused(tmp_path: Path, corpus: Path) -> None:
    """Its vectors could not be compared with questions; what was published stays."""
    local = Place(tmp_path / "local", ChromaStore(tmp_path / "scratch"))
    await local.ingest(corpus)
    export_index(local.settings, tmp_path / "index.tar", now)
    before = await local.found("gait")
    with pytest.raises(InvalidSettings, match="LUTRIN_EMBED_MODEL"):
        await local.take(tmp_path / "index.tar", "another-model")
    assert await local.found("gait") == before


async def test_a_damaged_file_changes_nothing(tmp_path: Path, corpus: Path) -> None:
    """One flipped byte in the middle is found before anything is taken over."""
    local = Place(tmp_path / "local", ChromaStore(tmp_path / "scratch"))
    await local.ingest(corpus)
    file = tmp_path / "index.tar"
    export_index(local.settings, file, now)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    other = Place(tmp_path / "other", QdrantStore(EdgeClient(tmp_path / "engine").connect))
    with pytest.raises(ArchiveError):
        await other.take(file)
    assert list(other.settings.books_dir.iterdir()) == []
