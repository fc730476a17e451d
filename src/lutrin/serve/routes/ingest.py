"""Ingestion and upload of books over HTTP; off unless an administrator's token is set."""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, cast

import msgspec
from litestar import Response, get, post
from litestar.datastructures import FormMultiDict, UploadFile
from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from lutrin.errors import ChatStoreError, IngestInProgress, InvalidInput, NotFound, NotPermitted
from lutrin.ingest.upload import StoredUpload
from lutrin.log import get_logger
from lutrin.messages import INGEST_LEFT, INGEST_OFF, NO_FILES, NOTHING_HERE
from lutrin.records import Job, JobState, Uploaded
from lutrin.serve.answer_service import NO_STORE
from lutrin.serve.book_choices import store_books
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.limits import remember
from lutrin.serve.problems import as_problem, operation
from lutrin.serve.services import Ingest, JobBoard
from lutrin.serve.teacher_sign_in import Visit
from lutrin.settings import Settings

KEPT_JOBS = 20
KEPT_LINES = 200
POST_EVERY_S = 1.0
LOOK_AGAIN_S = 2.0
"""Seconds between checks whether another program, such as `lutrin ingest`, has finished reading."""
SILENT_S = 30.0
"""Seconds without a sign of life after which another server's ingestion counts as ended with that server."""
TAG = "administration"

_log = get_logger("serve")


Spawn = Callable[[Coroutine[Any, Any, None]], object]


class Jobs:
    """The latest ingestions of this server, run one at a time; servers with shared books share a `board` of them."""

    def __init__(self, board: JobBoard | None = None) -> None:
        self._board = board
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._is_working = False

    async def start(self, ingest: Ingest, spawn: Spawn) -> Job:
        """Start an ingestion; raises IngestInProgress if one is running or waits."""
        if self._is_working:
            raise IngestInProgress
        job = self._add("running", [])
        self._is_working = True
        try:
            await self._show(job)
        finally:  # a request that is dropped meanwhile leaves no job undone
            spawn(self._work(ingest, job))
        return job

    async def add(self, ingest: Ingest, spawn: Spawn, lines: Sequence[str] = ()) -> Job:
        """Read the corpus now, or after the running ingestion; `lines` are the first lines of its progress.

        All that wait are done by one ingestion.
        """
        waits = self._is_working
        self._is_working = True
        job = self._add("waiting" if waits else "running", list(lines))
        try:
            await self._show(job)
        finally:
            if not waits:
                spawn(self._work(ingest, job, patient=True))
        return job

    def _add(self, state: JobState, lines: list[str]) -> Job:
        job = Job(job=uuid.uuid4().hex, state=state, progress=lines)
        remember(self._jobs, job.job, job, KEPT_JOBS)
        return job

    @property
    def is_busy(self) -> bool:
        """Whether an ingestion is running or waiting."""
        return self._is_working

    async def get(self, name: str) -> Job:
        """An ingestion of any server; raises NotFound, or ChatStoreError if the shared store is unavailable."""
        if name in self._jobs:
            return self._jobs[name]
        entry = await self._board.look(name) if self._board is not None else None
        if entry is None:
            raise NotFound(NOTHING_HERE)
        job = msgspec.json.decode(entry[0], type=Job)
        if job.state == "running" and entry[1] > SILENT_S:
            return msgspec.structs.replace(job, state="failed", detail=INGEST_LEFT)
        return job

    def current(self) -> Job | None:
        """The running ingestion, or else the most recent one."""
        running = next((job for job in self._jobs.values() if job.state == "running"), None)
        return running or next(reversed(self._jobs.values()), None)

    @property
    def waiting(self) -> int:
        """Number of ingestions that wait for the running one."""
        return sum(job.state == "waiting" for job in self._jobs.values())

    async def _work(self, ingest: Ingest, first: Job, *, patient: bool = False) -> None:
        """Run a job, then all waiting ones."""
        try:
            await self._run([first], ingest, patient=patient)
            while waiting := [job for job in self._jobs.values() if job.state == "waiting"]:
                running = [msgspec.structs.replace(job, state="running") for job in waiting]
                self._jobs |= {job.job: job for job in running}
                await self._run(running, ingest, patient=True)
        finally:
            self._is_working = False

    async def _run(self, jobs: Sequence[Job], ingest: Ingest, *, patient: bool = False) -> None:
        """Read the corpus for several jobs at once; `patient`: wait for another program to finish reading it."""
        loop = asyncio.get_running_loop()

        def note(line: str) -> None:
            for job in jobs:
                job.progress.append(line)
                del job.progress[:-KEPT_LINES]

        def progress(line: str) -> None:
            loop.call_soon_threadsafe(note, line)  # ingestion may report from another thread

        showing = loop.create_task(self._keep_showing(jobs))
        end: dict[str, Any]
        try:
            end = {"state": "done", "summary": await _ingest_after_others(ingest, progress, patient=patient)}
        except Exception as error:  # noqa: BLE001 - the operator asks for any failure here
            end = {"state": "failed", "detail": as_problem(error).detail}
        finally:
            showing.cancel()
            with suppress(asyncio.CancelledError):  # what it was about to show must not come after the end
                await showing
        for job in jobs:
            self._jobs[job.job] = msgspec.structs.replace(job, **end)
            await self._show(self._jobs[job.job])

    async def _keep_showing(self, jobs: Sequence[Job]) -> None:
        """Publish the progress, which also is a sign of life."""
        while self._board is not None:
            await asyncio.sleep(POST_EVERY_S)
            for job in jobs:
                await self._show(job)

    async def _show(self, job: Job) -> None:
        if self._board is None:
            return
        try:
            await self._board.post(job.job, msgspec.json.encode(job))
        except ChatStoreError as error:
            _log.warning("shared_jobs_away", detail=error.detail)


async def _ingest_after_others(
    ingest: Ingest, progress: Callable[[str], None], *, patient: bool
) -> Mapping[str, int | float | str]:
    while True:
        try:
            return await ingest(progress)
        except IngestInProgress:
            if not patient:
                raise
        await asyncio.sleep(LOOK_AGAIN_S)


@post("/ingest", **operation("ingest", "Ingest the corpus", TAG, 403, 409, 413, 429), status_code=202)
async def start_ingest(visit: Given[Visit], jobs: Given[Jobs]) -> Response[Job]:
    """Start reading the books. Needs `Authorization: Bearer LUTRIN_ADMIN_TOKEN`; off if no token is set."""
    job = await jobs.start(await ingest_for(visit), visit.service.spawn)
    return Response(job, status_code=202, headers={"Location": f"/ingest/{job.job}", **NO_STORE})


@get("/ingest/{job:str}", **operation("ingestJob", "Progress of an ingestion", TAG, 403, 404, 429, 503))
async def read_job(job: FromPath[str], visit: Given[Visit], jobs: Given[Jobs]) -> Response[Job]:
    """Report the state of an ingestion. Needs the same token."""
    await ingest_for(visit)
    return Response(await jobs.get(job), headers=NO_STORE)


async def ingest_for(visit: Visit) -> Ingest:
    """The function that reads the corpus; raises NotPermitted for a wrong token, RateLimited after too many guesses."""
    if not visit.sign_ins.possible or visit.service.services.ingest is None:
        raise NotPermitted(INGEST_OFF)
    await visit.prove()
    return visit.service.services.ingest


YES = frozenset({"true", "on", "1", "yes"})
OTHER_FIELDS = 8
"""The form's fields besides its files."""


@post(
    "/books",
    **operation("uploadBook", "Add books: files or a zip, as a form", TAG, 403, 409, 413, 422),
    status_code=202,
)
async def upload(visit: Given[Visit], jobs: Given[Jobs]) -> Response[Uploaded]:
    """Store files as books and read them. Needs `Authorization: Bearer LUTRIN_ADMIN_TOKEN`.

    Fields: `files`; `book`, the name of the folder; `each=true` makes each file a book; `replace=true`.
    """
    reading = partial(jobs.add, await ingest_for(visit), visit.service.spawn)
    body, _ = await receive(visit.request, visit.settings, reading)
    return Response(body, status_code=202, headers={"Location": f"/ingest/{body.job.job}", **NO_STORE})


def report_upload(uploads: Sequence[StoredUpload], job: Job) -> Uploaded:
    """Build the reply to an upload."""
    return Uploaded(
        book=uploads[0].book,
        books=[upload.book for upload in uploads],
        stored=sum(len(upload.files) for upload in uploads),
        left_out=[item for upload in uploads for item in upload.left_out],
        job=job,
    )


async def receive(
    request: HTTPRequest,
    settings: Settings,
    reading: Callable[[Sequence[str]], Awaitable[Job]],
    check: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> tuple[Uploaded, Sequence[StoredUpload]]:
    """Store a form's files in the corpus and read them, unless `check` refuses its text fields.

    If the books are being read, the upload waits until that is done.

    Args:
        reading: Starts reading the corpus; its argument is the list of first lines of the job's progress.

    Raises:
        InvalidInput, AlreadyThere: As `lutrin.ingest.upload.store` raises them.
    """
    form = await request.form()
    try:
        uploads = await _store(form, settings, check)
    finally:
        await form.close()
    job = await reading([line for upload in uploads for line in upload.lines()])
    return report_upload(uploads, job), uploads


async def _store(
    form: FormMultiDict, settings: Settings, check: Callable[[Mapping[str, str]], None]
) -> list[StoredUpload]:
    texts = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    check(texts)
    files = [value for name, value in form.multi_items() if name == "files" and isinstance(value, UploadFile)]
    files = [file for file in files if file.filename]
    if not files:
        raise InvalidInput(NO_FILES)
    work = partial(
        store_books,
        settings,
        [(file.filename, cast("BinaryIO", file.file)) for file in files],
        book=texts.get("book", "").strip(),
        each=texts.get("each", "").lower() in YES,
        replace=texts.get("replace", "").lower() in YES,
    )
    return await asyncio.to_thread(work)


HANDLERS = [start_ingest, read_job, upload]
