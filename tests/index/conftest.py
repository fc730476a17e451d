"""A small book made by hand, built into generations with the word-hash embedder and an exact index."""

import asyncio
import hashlib
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

import pytest
from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.index.build import BookFile, GenerationBuilder
from lutrin.index.catalog import Catalog, FileState, PublishedBook
from lutrin.index.disk import sync_tree
from lutrin.index.embeddings import EmbeddingCache
from lutrin.index.manifest import MANIFEST, Manifest
from lutrin.records import BookInfo, Chunk, Unit, embedded_text

BOOK = BookInfo(slug="robots", title="Robots", version="1")
PAGES: dict[str, list[str]] = {
    "01-sensors/01-lidar.md": [
        "A lidar measures distance with light. It turns ten times a second.",
        "Publish the scan on /scan_raw. The node is rclcpp::Node.",
    ],
    "01-sensors/02-imu.md": ["An IMU measures acceleration and turning rate. It drifts."],
    "02-walking/01-zmp.md": ["The zero moment point must stay inside the support polygon. Else the robot falls."],
}


def make_chunk(filename: str, index: int, text: str, *, book: BookInfo = BOOK) -> Chunk:
    """A chunk whose units are the sentences of `text`; its source is the text itself, chunks joined by blank lines.

    A question is an exercise; a text about a pin is for one board only; each chunk of a PDF is a chapter.
    """
    folder, _, name = filename.rpartition("/")
    heading_path = (name.removesuffix(".md"), f"Section {index}")
    units, cursor = [], 0
    for sentence in text.split(". "):
        start = text.index(sentence, cursor)
        cursor = start + len(sentence)
        units.append(Unit(kind="sentence", text=sentence, char_start=start, char_end=cursor))
    content_hash = hashlib.sha256(embedded_text(heading_path, text).encode()).hexdigest()
    return Chunk(
        chunk_id=str(uuid.uuid5(uuid.NAMESPACE_URL, f"{book.slug}/{filename}/{index}/{content_hash}")),
        text=text,
        book=book.slug,
        book_title=book.title,
        edition=book.edition,
        module="Part 1",
        chapter=f"Chapter {index}" if name.endswith(".pdf") else f"Chapter {folder}",
        section=name.removesuffix(".md"),
        section_title=heading_path[-1],
        heading_path=heading_path,
        filename=filename,
        page=None,
        page_label="",
        anchor=f"section-{index}",
        chunk_index=index,
        char_start=0,
        char_end=len(text),
        token_count=len(text.split()),
        content_type="text",
        is_simulation=None,
        content_hash=content_hash,
        units=tuple(units),
        role="exercise" if text.endswith("?") else "text",
        variant="Pi" if "pin" in text.split() else "",
    )


class Library:
    """A data folder in which books are built and published by hand."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.catalog_path = root / "catalog.db"
        self.books_dir = root / "books"
        self.embedder = WordHashEmbedder()
        self.store = ExactStore()

    async def build(
        self, directory: Path, pages: Mapping[str, Sequence[str]] = PAGES, *, name: str = "g1", book: BookInfo = BOOK
    ) -> Manifest:
        """Build a generation into `directory` without publishing it."""
        await asyncio.to_thread(directory.mkdir, parents=True)
        builder = GenerationBuilder(directory)
        with Catalog(self.catalog_path) as catalog:
            embedder = self.embedder
            cache = EmbeddingCache(catalog, embedder.name, embedder.dimension, embedder.reading.projection)
            for filename, texts in pages.items():
                chunks = [make_chunk(filename, index, text, book=book) for index, text in enumerate(texts)]
                file = BookFile(
                    filename=filename,
                    title=filename.rpartition("/")[2],
                    module="Part 1",
                    chapter=f"Chapter {filename.rpartition('/')[0]}",
                    section="",
                    position=None,
                    sha256="0" * 64,
                    source="\n\n".join(texts),
                )
                builder.add_file(file, chunks)
                encodings = await self.embedder.encode([chunk.embedded_text() for chunk in chunks])
                cache.put([(chunk.content_hash, item) for chunk, item in zip(chunks, encodings, strict=True)])
            builder.order_files(sorted(pages))
            return await builder.finish(
                name=name,
                book=book,
                created="2026-01-01T00:00:00Z",
                embedder=self.embedder,
                recipe="r",
                cache=cache,
                store=self.store,
            )

    async def publish(self, name: str, pages: Mapping[str, Sequence[str]] = PAGES, *, book: BookInfo = BOOK) -> Path:
        """Build and publish a generation; returns its folder."""
        directory = self.books_dir / book.slug / name
        await self.build(directory, pages, name=name, book=book)
        sync_tree(directory)
        digest = hashlib.sha256((directory / MANIFEST).read_bytes()).hexdigest()
        published = PublishedBook(
            info=book, corpus="/corpus", recipe="r", current=name, previous=None, manifest_sha256=digest
        )
        states = [FileState(filename=page, size=1, changed_ns=1, sha256="0" * 64) for page in pages]
        with Catalog(self.catalog_path) as catalog:
            catalog.publish(published, published="2026-01-01T00:00:00Z", files=states)
        return directory


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """An empty data folder."""
    return Library(tmp_path / "data")


Publish = Callable[..., Awaitable[Path]]
