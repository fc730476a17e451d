"""A corpus on the disk, and everything to ingest it with the word-hash embedder and an exact index."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.index.catalog import Catalog, PublishedBook
from lutrin.index.generation import OpenGeneration, open_generation
from lutrin.index.readback import verify_generation
from lutrin.ingest.companion_file import Holds
from lutrin.ingest.run import DEFAULTS, IngestTools, Options, ingest
from lutrin.ingest.summary import Advance, FolderReport, IngestSummary
from lutrin.ports import Encoding
from lutrin.settings import load_settings

PAGES = {
    "book.toml": 'slug = "robots"\ntitle = "Robots"\nedition = "2"\n',
    "01-chapter-1-sensors/01-lidar.md": (
        "# Lidar\n\nA lidar measures distance with light.\n\n## Range\n\nIt sees thirty metres.\n"
    ),
    "01-chapter-1-sensors/02-imu.mdx": "---\ntitle: IMU\n---\n\nAn IMU measures acceleration.\n",
    "02-chapter-2-walking/01-zmp.md": "# ZMP\n\nThe zero moment point must stay inside the support polygon.\n",
}


class CountingEmbedder(WordHashEmbedder):
    """Remembers every text that it embedded."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode, and remember."""
        self.texts += texts
        return await super().encode(texts)


class Press:
    """A folder of books, a data folder, and the tools to publish the one into the other."""

    def __init__(self, root: Path) -> None:
        self.corpus = root / "corpus"
        self.settings = load_settings(data_dir=root / "data", chunk_tokens=100, chunk_overlap_tokens=0)
        self.embedder = CountingEmbedder()
        self.store = ExactStore()
        self.tools = IngestTools(
            self.embedder, self.store, partial(verify_generation, store=self.store), clock_ns=lambda: 2**62
        )
        self.lines: list[str] = []
        self.steps: list[Advance] = []

    def write(self, pages: dict[str, str | bytes], book: str = "robots") -> None:
        """Write files below a book's folder."""
        for name, text in pages.items():
            path = self.corpus / book / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())

    async def ingest(self, options: Options = DEFAULTS, *, holds: Holds | None = None) -> IngestSummary:
        """Ingest the whole corpus."""
        tools = replace(self.tools, holds=holds)
        return await ingest(self.corpus, self.settings, tools, replace(options, progress=self._note))

    def books(self) -> list[PublishedBook]:
        """The published books of the catalogue."""
        with Catalog(self.settings.catalog_path) as catalog:
            return catalog.books()

    async def open(self, slug: str = "robots") -> OpenGeneration:
        """The current generation of a book."""
        (book,) = [book for book in self.books() if book.info.slug == slug]
        return await open_generation(self.settings.books_dir / slug / book.current, self.store)

    async def found(self, words: str, slug: str = "robots") -> list[str]:
        """The files in which words are found, best first."""
        generation = await self.open(slug)
        chunks = await generation.chunks([name for name, _ in await generation.matching(words, 5)])
        await generation.close()
        return [chunk.filename for chunk in chunks]

    def folders(self) -> list[str]:
        """All folders of generations, and other entries beside them."""
        return sorted(
            path.relative_to(self.settings.books_dir).as_posix() for path in self.settings.books_dir.glob("*/*")
        )

    def _note(self, event: FolderReport | Advance) -> None:
        if isinstance(event, FolderReport):
            self.lines.append(event.line())
        else:
            self.steps.append(event)


@pytest.fixture
def press(tmp_path: Path) -> Press:
    """A corpus of one book with three pages, nothing ingested yet."""
    made = Press(tmp_path)
    made.write(dict(PAGES))
    return made
