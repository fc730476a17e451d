"""The services behind the server: stages and adapters, as the server sees them.

`lutrin.runtime` fills `Services`; tests fill it with small working ones. The server itself selects nothing.
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
        """Whether a model or a prepared entry would answer, rather than the book's own words alone."""
        ...


class TurnLog(Protocol):
    """Keeps recent events of answers, shared by servers that run side by side.

    Both methods raise ChatStoreError if the shared store is away.
    """

    async def keep(self, turn: str, asked: str, first: int, events: Sequence[bytes]) -> None:
        """Keep events, starting at number `first`."""

    async def recall(self, turn: str, asked: str) -> list[bytes]:
        """The events of a turn from the first one; none if it is unknown or belongs to another question."""


class JobBoard(Protocol):
    """Shows ingestions over HTTP on servers that do not run them.

    Both methods raise ChatStoreError if the shared store is away.
    """

    async def post(self, job: str, state: bytes) -> None:
        """Publish the state of an ingestion, replacing the previous one."""

    async def look(self, job: str) -> tuple[bytes, float] | None:
        """The latest state of an ingestion and its age in seconds; None if there is none."""


Retrieval = Callable[[Question], Awaitable[Sequence[Passage]]]
"""Finds the passages nearest to a question, or to the selected text; none if nothing is relevant."""
Ingest = Callable[[Callable[[str], None]], Awaitable[Mapping[str, int | float | str]]]
"""Ingests the corpus; takes a function for lines of progress, returns the figures of its summary."""


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
    """Whether the server ingests once at its start."""
    queue_length: Callable[[], int] = field(default=lambda: 0)
    """Number of readers waiting for the language model."""
    companions: Companions | None = None
    """The prepared entries of the books, for guests' pages; None: there are no books to work on."""
    left_out: Callable[[], Sequence[LeftOut]] = field(default=lambda: ())
    """Lists the files left out by the latest ingest, from the catalogue."""
    opened_page: Callable[[str, str], None] = field(default=lambda _book, _filename: None)
    """Called with each page that a reader opens, so that the model can read it ahead."""
    model_computed_by: Callable[[], str] = field(default=lambda: "")
    """Description of the hardware that runs the language model; empty until known."""
    model_state: Callable[[], ModelState] = field(default=ModelState)
    """State of the language model."""
    model_restarts: Callable[[], int] = field(default=lambda: 0)
    """Number of restarts of the model's process."""
    passages: Callable[[], Mapping[str, float]] = field(default=dict)
    """Savings of the language model's store of passages, by the names of `metrics.PASSAGES`."""
    gate: Gate | None = None
    """Counts questions together with the other servers; None: this server is alone."""
    turns: TurnLog | None = None
    """Shares the events of answers with the other servers; None: this server is alone."""
    board: JobBoard | None = None
    """Ingestions of servers that run side by side."""
    trouble: str = ""
    """Why conversations are not stored, with the remedy, for the operator; empty if they are."""
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    """The server's own key, from which unguessable names of conversations are derived."""
    echo: Callable[[str], None] | None = None
    """Receives each question and answer, for `lutrin serve --echo`; never a log."""
    background: Background = field(default_factory=Background)
    """Background tasks."""
    renderer: Renderer = field(default_factory=Renderer)
    """Renders pages of books; the server ends its processes."""
    clock: Callable[[], float] = time.monotonic
    """Monotonic seconds, for limits and timings."""
    now: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
