"""The running server, as passed to guests' pages (`lutrin.guest_ports.Server`)."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from lutrin import messages
from lutrin.errors import NotPermitted
from lutrin.guest_ports import Assignments, Companions, Library
from lutrin.keep.weights import load_manifest, state_of
from lutrin.log import get_logger
from lutrin.records import (
    Answer,
    AskedQuestion,
    BookAct,
    BookRow,
    DoneEvent,
    Job,
    LeftOut,
    ModelRow,
    Passage,
    Question,
    ServerCounts,
    ServerLoad,
    Uploaded,
)
from lutrin.serve.answer_service import AnswerService, check_lengths
from lutrin.serve.book_choices import change_book, find_book, list_books
from lutrin.serve.budget import Same, Workshop, beside_loop
from lutrin.serve.door import Door
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.reading_progress import job_text
from lutrin.serve.routes.ingest import Jobs, receive
from lutrin.serve.routes.pages import StaticFiles
from lutrin.serve.services import Ingest
from lutrin.settings import Settings

T = TypeVar("T")
_log = get_logger("teacher")


@dataclass(frozen=True, slots=True)
class GuestServer:
    """See `lutrin.guest_ports.Server`."""

    settings: Settings
    service: AnswerService
    jobs: Jobs
    door: Door
    workshop: Workshop
    files: StaticFiles

    @property
    def library(self) -> Library:
        """The books on its shelf."""
        return self.service.services.library

    @property
    def assignments(self) -> Assignments:
        """The assignments of classes."""
        return self.service.services.chats.assignments

    @property
    def companions(self) -> Companions | None:
        """The prepared entries of the books; None: there are no books to work on."""
        return self.service.services.companions

    def now(self) -> datetime:
        """The time, in UTC."""
        return self.service.services.now()

    def spawn(self, work: Coroutine[Any, Any, None]) -> object:
        """Start a task that no connection owns; it ends with the server."""
        return self.service.spawn(work)

    async def compute(self, work: Callable[[], T]) -> T:
        """Do work in a thread, so that it does not block others."""
        return await beside_loop(work)

    async def page(self, key: tuple[Hashable, ...], same: object, make: Callable[[], str]) -> str:
        """A page whose files have permanent names, built in a thread, once for a key and the object `same`."""
        return await self.workshop.once((*key, Same(same)), lambda: self.files.stamp_page(make()))

    async def answer(self, text: str, book: str) -> Answer:
        """The answer that a reader of a book would get now; it is not stored."""
        question = Question(text=text, book=book)
        check_lengths(question)
        events = [event async for event in self.service.services.answers.answer(question)]
        done = events[-1]
        if not isinstance(done, DoneEvent):
            raise TypeError("an answer ends with all of it")
        return done.answer

    async def passages(self, question: Question) -> Sequence[Passage]:
        """The passages nearest to a question; none if nothing is relevant."""
        return await self.service.services.retrieve(question)

    async def recent_questions(self, most: int) -> Sequence[AskedQuestion]:
        """The newest questions of readers, newest first, without their authors."""
        return await self.service.services.chats.recent_questions(most)

    async def list_books(self) -> tuple[Sequence[BookRow], Sequence[LeftOut]]:
        """All books in the order of the shelf, removed ones last, and the files that belong to no book."""
        return await asyncio.to_thread(list_books, self.settings)

    async def find_book(self, slug: str) -> BookRow:
        """One of them; raises NotFound."""
        return await asyncio.to_thread(find_book, self.settings, slug)

    async def change_book(self, slug: str, act: BookAct, *, title: str, line: str, hints: str) -> None:
        """Perform an action on a book; raises LutrinError if it is impossible."""
        work = partial(change_book, self.settings, slug, act, self.now(), title=title, line=line, hints=hints)
        await asyncio.to_thread(work)

    def job(self) -> Job | None:
        """The present or last ingestion; None: there was none since the start."""
        return self.jobs.current()

    def job_text(self) -> str:
        """The same in a sentence or two."""
        return job_text(self.jobs.current(), self.jobs.waiting)

    def can_read(self) -> bool:
        """Whether the server reads books at all."""
        return self.service.services.ingest is not None

    async def read_books(self) -> None:
        """Read the books; raises IngestInProgress if they are being read, NotPermitted if none are read here."""
        await self.jobs.start(self._ingest(), self.spawn)

    async def read_books_later(self) -> None:
        """Read the books now, or after the present ingestion; raises NotPermitted if none are read here."""
        await self.jobs.add(self._ingest(), self.spawn)

    async def receive(self, request: HTTPRequest, check: Callable[[Mapping[str, str]], None]) -> Uploaded:
        """Put a form's files into the corpus and read them, unless `check` refuses its text fields."""
        reading = partial(self.jobs.add, self._ingest(), self.spawn)
        report, uploads = await receive(request, self.settings, reading, check)
        for one in uploads:
            _log.info("uploaded", book=one.book, files=len(one.files))
        return report

    def _ingest(self) -> Ingest:
        if self.service.services.ingest is None:
            raise NotPermitted(messages.INGEST_OFF)
        return self.service.services.ingest

    def counts(self) -> ServerCounts:
        """Its counts since the start."""
        return self.service.metrics.counts()

    def load(self) -> ServerLoad:
        """Its present load."""
        state = self.service.services.model_state()
        return ServerLoad(
            readers=self.service.presence.count(),
            running=self.service.metrics.count_answers(),
            waiting=self.service.services.queue_length(),
            progress=state.progress if state.state == "ready" else "",
        )

    def models(self) -> Sequence[ModelRow]:
        """The known models; raises WeightsError if their manifest cannot be read."""
        folder, name = self.settings.models_dir, self.model()
        return [
            ModelRow(
                name=model.name,
                role=model.role,
                tier=model.tier,
                size=model.size,
                state=state_of(folder, model),
                in_use=model.name == name or model.role == "embed",
            )
            for model in load_manifest(folder).model
        ]

    def model(self) -> str:
        """Name of the language model that answers; empty: none."""
        generator = self.service.services.generator
        return generator.name if generator is not None else ""

    async def model_ready(self) -> bool:
        """Whether it would answer now."""
        generator = self.service.services.generator
        return generator is not None and await generator.ready()

    def stores(self) -> bool:
        """Whether conversations are stored at all."""
        return not self.service.services.trouble

    def troubles(self) -> Sequence[str]:
        """Obstacles to storing, one sentence each."""
        space, trouble = self.service.space, self.service.services.trouble
        troubles = [trouble] if trouble else []
        if space.low:
            floor_mb = self.settings.free_space_mb
            troubles.append(messages.DISK_LOW.format(free_mb=space.free_bytes >> 20, floor_mb=floor_mb))
        elif space.failed:
            troubles.append(messages.NOT_STORING)
        return troubles
