"""A published book and conversations to keep."""

from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.chats.key import chat_key
from lutrin.chats.store import SqlChatStore
from lutrin.index.catalog import Catalog
from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import IngestTools, Options, ingest
from lutrin.records import ChatMessage
from lutrin.settings import Settings, load_settings

CREATED = "2026-11-21T10:00:00.000+00:00"


def now() -> datetime:
    """The time of day in these tests."""
    return datetime(2026, 11, 21, 12, tzinfo=UTC)


def message(text: str) -> ChatMessage:
    """A reader's message; its id is its text."""
    return ChatMessage(id=text, session_id="s1", role="user", text=text, created=CREATED)


class House:
    """A data folder with a book and conversations.

    Args:
        root: Gets corpus and data.
    """

    def __init__(self, root: Path) -> None:
        self.corpus = root / "corpus"
        self.settings: Settings = load_settings(data_dir=root / "data", chunk_tokens=100, chunk_overlap_tokens=0)
        self.store = ExactStore()
        self.embedder = WordHashEmbedder()

    async def publish(self, text: str, *, rebuild: bool = False) -> str:
        """Write the book's only page and ingest it; the name of the generation."""
        page = self.corpus / "robots" / "page.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"# Robots\n\n{text}\n", encoding="utf-8")
        page.with_name("book.toml").write_text('slug = "robots"\ntitle = "Robots"\n', encoding="utf-8")
        tools = IngestTools(
            self.embedder, self.store, partial(verify_generation, store=self.store), clock_ns=lambda: 2**62
        )
        await ingest(self.corpus, self.settings, tools, Options(rebuild=rebuild))
        return self.current()

    def current(self) -> str:
        """Name of the published generation."""
        with Catalog(self.settings.catalog_path) as catalog:
            return catalog.books()[0].current

    def shelf(self) -> Shelf:
        """The books, as a server holds them; `refresh` looks for new ones at once."""
        return Shelf(self.settings.catalog_path, self.settings.books_dir, self.store, poll_s=3600)

    async def text(self) -> str:
        """The text from which a server started now would answer."""
        async with self.shelf() as shelf, shelf.lease() as generation:
            return " ".join(chunk.text for chunk in await generation.all_chunks())

    async def chats(self) -> SqlChatStore:
        """The conversations, open."""
        return await SqlChatStore.open(self.settings.chats_path, chat_key(self.settings))

    async def say(self, *texts: str) -> None:
        """Store messages."""
        store = await self.chats()
        await store.append("s1", [message(text) for text in texts])
        await store.close()

    async def said(self) -> list[str]:
        """All messages, oldest first."""
        store = await self.chats()
        found = [item.text for item in await store.history("s1")]
        await store.close()
        return found


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A fresh data folder."""
    return House(tmp_path / "house")
