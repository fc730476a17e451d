"""The services behind the server: stages and adapters, as the server sees them.

`lutrin.runtime` fills `Services`; tests fill it with small honest ones. The server itself chooses nothing.
"""

import secrets
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol

from lutrin.background import Background
from lutrin.chats.store import ChatTables
from lutrin.guest_ports import Companions
from lutrin.ports import Generator
from lutrin.records import AnswerEvent, LeftOut, ModelState, Passage, Question
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.limits import Gate
from lutrin.serve.render_process import Renderer


class Answers(Protocol):
    """The answer flow."""

    def answer(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        """Events of one answer; the last is a DoneEvent. `question.session_id` is the conversation's key.

        Raises:
            LutrinError: There is no answer; the text is fit for the reader.
        """

    async def explains(self, question: Question) -> bool:
        """Whether a model or a prepared entry would answer, and not the book's own words alone."""
        ...


class TurnLog(Protocol):
    """Keeps the events of answers for a while, where servers that stand side by side all see them.

    Both raise ChatStoreError if what the servers share is away.
    """

    async def keep(self, turn: str, asked: str, first: int, events: Sequence[bytes]) -> None:
        """Keep events from number `first` on."""

    async def recall(self, turn: str, asked: str) -> list[bytes]:
        """The events of a turn from the first on; none if it is not known or is another question's."""


class JobBoard(Protocol):
    """Shows ingestions over HTTP to the servers that do not run them.

    Both raise ChatStoreError if what the servers share is away.
    """

    async def post(self, job: str, state: bytes) -> None:
        """Show how an ingestion stands, in place of what was shown of it before."""

    async def look(self, job: str) -> tuple[bytes, float] | None:
        """Return the latest state of an ingestion and its age in seconds; None if there is none."""


Retrieval = Callable[[Question], Awaitable[Sequence[Passage]]]
"""Finds the passages nearest to a question, or to the text that is selected; none if nothing is relevant."""
Ingest = Callable[[Callable[[str], None]], Awaitable[Mapping[str, int | float | str]]]
"""Ingests the corpus; gets a function that takes lines of progress, returns the figures of its summary."""


@dataclass(frozen=True)
class Services:
    """Everything behind the server."""

    answers: Answers
    retrieve: Retrieval
    chats: ChatTables
    library: ShelfLibrary
    generator: Generator | None = None
    ingest: Ingest | None = None
    reads_first: bool = False
    """Whether the server ingests once when it starts."""
    queue_length: Callable[[], int] = field(default=lambda: 0)
    """Readers who wait for the language model."""
    companions: Companions | None = None
    """What is prepared for the books, for pages that guests add; None: there are no books to work on."""
    left_out: Callable[[], Sequence[LeftOut]] = field(default=lambda: ())
    """List what the latest ingest left out, from the catalogue."""
    opened_page: Callable[[str, str], None] = field(default=lambda _book, _filename: None)
    """Told of each page that a reader opens, so that the model may read it ahead."""
    model_computed_by: Callable[[], str] = field(default=lambda: "")
    """What computes the language model, in words; empty until that is known."""
    model_state: Callable[[], ModelState] = field(default=ModelState)
    """Where the language model is."""
    model_restarts: Callable[[], int] = field(default=lambda: 0)
    """Times that the model's process was started anew."""
    passages: Callable[[], Mapping[str, float]] = field(default=dict)
    """What reading passages once has saved the language model, by the names of `metrics.PASSAGES`."""
    gate: Gate | None = None
    """Counts questions with the other servers; None: this one stands alone."""
    turns: TurnLog | None = None
    """Keeps the events of answers for the other servers; None: this one stands alone."""
    board: JobBoard | None = None
    """Ingestions of servers that stand side by side."""
    trouble: str = ""
    """Why conversations are neither stored nor remembered, with the remedy, for the operator; empty: they are."""
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    """The server's own key, from which unguessable names of conversations are made."""
    echo: Callable[[str], None] | None = None
    """Gets each question and answer, for `lutrin serve --echo`; never a log."""
    background: Background = field(default_factory=Background)
    """What runs beside the answers."""
    renderer: Renderer = field(default_factory=Renderer)
    """Renders pages of books; the server ends its processes."""
    clock: Callable[[], float] = time.monotonic
    """Seconds that only grow, for limits and timings."""
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
