"""A real server with encrypted conversations and scripted answers, which forks quickly."""

import asyncio
import os
import resource
import signal
import socket
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from pathlib import Path

from lutrin.chats.store import Room, SqlChatStore
from lutrin.errors import NotFound
from lutrin.log import configure_logging
from lutrin.prepared import Card, Practice
from lutrin.records import (
    Answer,
    AnswerEvent,
    Citation,
    DoneEvent,
    Excerpt,
    ExcerptEvent,
    PageEntry,
    Passage,
    Question,
    SentenceEvent,
    ShelvedBook,
    SourcesEvent,
)
from lutrin.serve.app import run_server
from lutrin.serve.finding import Suggestion
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.notes import Notes, Term
from lutrin.serve.services import Ingest, Services
from lutrin.settings import Settings

PAUSE_S = 0.005
"""Between two events of an answer: time to be killed in."""


class Echo:
    """Answers every question with itself, in four events."""

    async def answer(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Source, excerpt, sentence, the whole."""
        source = Citation(
            n=1, chunk_id="c", book="b", chapter="", section="", section_title="", filename="f.md", page=None,
            url="/read/b/f", quote="A quote.", relevance_score=1.0,
        )  # fmt: skip
        excerpt = Excerpt(
            n=1, text=source.quote, marks=(), cut_before=False, cut_after=False, heading_path=("Page",), url=source.url,
            chunk_id="c",
        )  # fmt: skip
        yield SourcesEvent(citations=(source,))
        yield ExcerptEvent(excerpt)
        await asyncio.sleep(PAUSE_S)
        yield SentenceEvent(text=f"You said: {question.text}", citations=(1,))
        await asyncio.sleep(PAUSE_S)
        answer = Answer(
            answer=f"You said: {question.text} [1]", sources=(source,), mode="book", kind="generated", refusal=None,
            suggestions=(), warnings=(), model_used="echo", latency_ms=0, generation="g",
            explanation=f"You said: {question.text} [1]", excerpts=(excerpt,),
        )  # fmt: skip
        yield DoneEvent(answer)

    async def explains(self, question: Question) -> bool:  # noqa: ARG002 - as it answers everything
        """It does."""
        return True


CODE = "\n```coffeescript\n" + "a." * 20_000 + "\n```\n"
"""The highlighter of this language takes quadratic time."""
PAGES = {f"{number}.md": f"# Page {number}\n\nWords.\n{CODE}" for number in range(20)}
DECK = Practice(
    cards=tuple(
        Card(
            id=f"{number:08x}", kind="question", front=f"Question {number}?", back="Words. " * 20, proof="Proof. " * 10,
            chapter=f"Chapter {number % 20}", section="", author="", url="/read/b/0",
        )
        for number in range(1000)
    )
)  # fmt: skip


class OneBook(ShelfLibrary):
    """A library of one book, whose pages and cards take long to show."""

    def __init__(self) -> None:
        """A library without a shelf: every answer is fixed below."""

    async def books(self) -> Sequence[ShelvedBook]:
        """The one."""
        return [await self.book("b")]

    async def book(self, slug: str) -> ShelvedBook:
        """The same."""
        if slug == "b":
            return ShelvedBook("b", "Book", "", "g")
        raise NotFound(slug)

    async def contents(self, slug: str) -> Sequence[PageEntry]:
        """Its pages."""
        if slug == "b":
            return [PageEntry(name, f"Page {name}") for name in PAGES]
        raise NotFound(slug)

    async def starters(self, most: int, slug: str = "", filename: str = "") -> Sequence[str]:  # noqa: ARG002 - one for all
        """One question."""
        return ["What is a loop?"][:most]

    async def source(self, slug: str, filename: str) -> str:
        """The text of a page."""
        if slug == "b" and filename in PAGES:
            return PAGES[filename]
        raise NotFound(f"{slug}/{filename}")

    async def notes(self, slug: str, filename: str) -> Mapping[str, Notes]:  # noqa: ARG002 - the library's signature
        """There are none."""
        return {}

    async def chapters(self, slug: str) -> Sequence[str]:  # noqa: ARG002 - the library's signature
        """There are none."""
        return []

    async def glossary(self, slug: str, filename: str = "") -> Sequence[Term]:  # noqa: ARG002 - the library's signature
        """There are no terms."""
        return []

    async def find(self, typed: str, slug: str, most: int) -> Sequence[Suggestion]:  # noqa: ARG002 - the library's signature
        """Nothing is found."""
        return []

    async def practice(self, slug: str) -> Practice:
        """Its cards."""
        if slug == "b":
            return DECK
        raise NotFound(slug)

    async def exercises(self, slug: str, filename: str) -> Sequence[str]:  # noqa: ARG002 - the library's signature
        """There are none."""
        return ()

    async def page_labels(self, slug: str, filename: str) -> Mapping[int, str]:  # noqa: ARG002 - the library's signature
        """There are none."""
        return {}

    async def find_pictures(self, slug: str, filename: str, addresses: Sequence[str]) -> Sequence[str]:  # noqa: ARG002 - the library's signature
        """There are none."""
        return ["" for _ in addresses]

    async def picture(self, slug: str, name: str) -> bytes:
        """There is none."""
        raise NotFound(f"{slug}/{name}")


async def found_nothing(question: Question) -> Sequence[Passage]:  # noqa: ARG001 - as searches are called
    """A search without results."""
    return []


class QuickServer:
    """Forks servers on one port, one after the other; the port stays open between them.

    Args:
        place: Folder of the conversations and the log.
        key: Of the conversations.
        settings: For the server.
        ingest: What `POST /ingest` does; None: it is off.
    """

    def __init__(self, place: Path, key: str, settings: Settings, ingest: Ingest | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.database = place / "chats.db"
        self.log = place / "server.log"
        self.key = key
        self._settings = settings
        self._ingest = ingest
        self.pid = 0

    def start(self, files: int = 0) -> None:
        """Fork a server.

        Args:
            files: How many files it may open; 0: as many as this process.
        """
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                if files:
                    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
                asyncio.run(self._serve())
                code = 0
            finally:
                os._exit(code)

    def kill(self) -> None:
        """End it as a power cut does."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def stop(self) -> None:
        """End it as an operator does."""
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)

    def close(self) -> None:
        """Give the port back, once no server runs."""
        self._listener.close()

    async def _serve(self) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            configure_logging(self._settings, log)
            chats = await SqlChatStore.open(self.database, self.key, room=Room.of(self._settings))
            services = Services(
                answers=Echo(),
                retrieve=found_nothing,
                chats=chats,
                library=OneBook(),
                ingest=self._ingest,
                clock=time.monotonic,
            )
            try:
                await run_server(
                    services, self._settings, listener=socket.socket(fileno=os.dup(self._listener.fileno()))
                )
            finally:
                await chats.close()
