"""Ingestion over HTTP, also of books that an operator sends: off unless a token is set."""

import asyncio
import uuid
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from typing import Any, BinaryIO, Literal, cast

import msgspec
from litestar import Response, get, post
from litestar.datastructures import FormMultiDict, UploadFile
from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from lutrin.errors import ChatStoreError, IngestInProgress, InvalidInput, NotFound, NotPermitted
from lutrin.index.catalog import LeftOut
from lutrin.ingest.upload import StoredUpload, store
from lutrin.log import get_logger
from lutrin.messages import INGEST_LEFT, INGEST_OFF, NOTHING_HERE
from lutrin.serve.answer_service import NO_STORE
from lutrin.serve.limits import remember
from lutrin.serve.problems import as_problem, operation
from lutrin.serve.services import Ingest, JobBoard
from lutrin.serve.teacher_sign_in import Visit
from lutrin.settings import Settings

KEPT_JOBS = 20
KEPT_LINES = 200
POST_EVERY_S = 1.0
SILENT_S = 30.0
"""After it, an ingestion of another server that shows no sign of life is taken for ended with that server."""
TAG = "administration"

_log = get_logger("serve")


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """An ingestion and its progress."""

    job: str
    state: Literal["running", "done", "failed"]
    progress: list[str]
    """Its newest lines, at most 200."""
    summary: Mapping[str, int | float | str] | None = None
    detail: str | None = None
    """Why it failed."""


class Jobs:
    """The newest ingestions of this server, one at a time; servers side by side see each other's on a `board`."""

    def __init__(self, board: JobBoard | None = None) -> None:
        self._board = board
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def claim(self) -> Job:
        """Take the turn of the next ingestion, to be started or dropped; raises IngestInProgress if somebody has it."""
        if any(job.state == "running" for job in self._jobs.values()):
            raise IngestInProgress
        job = Job(job=uuid.uuid4().hex, state="running", progress=[])
        remember(self._jobs, job.job, job, KEPT_JOBS)
        return job

    def drop(self, job: Job) -> None:
        """Give a turn back."""
        del self._jobs[job.job]

    async def start(
        self, ingest: Ingest, spawn: Callable[[Coroutine[Any, Any, None]], object], turn: Job | None = None
    ) -> Job:
        """Start an ingestion, whose turn may have been claimed before; see `claim`."""
        job = turn or self.claim()
        await self._show(job)
        spawn(self._run(job, ingest))
        return job

    async def get(self, name: str) -> Job:
        """An ingestion, whichever server runs it; raises NotFound, or ChatStoreError if what they share is away."""
        if name in self._jobs:
            return self._jobs[name]
        entry = await self._board.look(name) if self._board is not None else None
        if entry is None:
            raise NotFound(NOTHING_HERE)
        job = msgspec.json.decode(entry[0], type=Job)
        if job.state == "running" and entry[1] > SILENT_S:
            return msgspec.structs.replace(job, state="failed", detail=INGEST_LEFT)
        return job

    def newest(self) -> Job | None:
        """The most recent ingestion."""
        return next(reversed(self._jobs.values()), None)

    async def _run(self, job: Job, ingest: Ingest) -> None:
        loop = asyncio.get_running_loop()

        def note(line: str) -> None:
            job.progress.append(line)
            del job.progress[:-KEPT_LINES]

        def progress(line: str) -> None:
            loop.call_soon_threadsafe(note, line)  # ingestion may report from another thread

        showing = loop.create_task(self._keep_showing(job))
        try:
            ended = msgspec.structs.replace(job, state="done", summary=await ingest(progress))
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the operator asks for it here
            ended = msgspec.structs.replace(job, state="failed", detail=as_problem(error).detail)
        finally:
            showing.cancel()
            with suppress(asyncio.CancelledError):  # what it was about to show must not come after the end
                await showing
        self._jobs[job.job] = ended
        await self._show(ended)

    async def _keep_showing(self, job: Job) -> None:
        """Show the progress, which is a sign of life as well."""
        while self._board is not None:
            await asyncio.sleep(POST_EVERY_S)
            await self._show(job)

    async def _show(self, job: Job) -> None:
        if self._board is None:
            return
        try:
            await self._board.post(job.job, msgspec.json.encode(job))
        except ChatStoreError as error:
            _log.warning("shared_jobs_away", detail=error.detail)


@post("/ingest", **operation("ingest", "Ingest the corpus", TAG, 403, 409, 413, 429), status_code=202)
async def start_ingest(visit: Given[Visit], jobs: Given[Jobs]) -> Response[Job]:
    """Needs `Authorization: Bearer LUTRIN_ADMIN_TOKEN`; without a token set it is off."""
    job = await jobs.start(ingest_for(visit), visit.service.spawn)
    return Response(job, status_code=202, headers={"Location": f"/ingest/{job.job}", **NO_STORE})


@get("/ingest/{job:str}", **operation("ingestJob", "Progress of an ingestion", TAG, 403, 404, 429, 503))
async def read_job(job: FromPath[str], visit: Given[Visit], jobs: Given[Jobs]) -> Response[Job]:
    """Needs the same token."""
    ingest_for(visit)
    return Response(await jobs.get(job), headers=NO_STORE)


def ingest_for(visit: Visit) -> Ingest:
    """What ingests the corpus; raises NotPermitted without the right token, RateLimited after too many guesses."""
    if not visit.sign_ins.possible or visit.service.services.ingest is None:
        raise NotPermitted(INGEST_OFF)
    visit.prove()
    return visit.service.services.ingest


OTHER_FIELDS = 8
"""Fields of a form besides its files."""
NO_FILES = "Send at least one file in the field files of a form (multipart/form-data)."


class Uploaded(msgspec.Struct, frozen=True, kw_only=True):
    """An upload's outcome, and the job that reads the files."""

    book: str
    """Name of the book's folder in the corpus."""
    stored: int
    left_out: list[LeftOut]
    job: Job


@post(
    "/books",
    **operation("uploadBook", "Add a book: files or a zip, in the field files of a form", TAG, 403, 409, 413, 422),
    status_code=202,
)
async def upload(visit: Given[Visit], jobs: Given[Jobs]) -> Response[Uploaded]:
    """Needs `Authorization: Bearer LUTRIN_ADMIN_TOKEN`. Fields: `files`; `book`, the folder's name; `replace=true`."""
    upload, job = await receive(visit, jobs, ingest_for(visit))
    body = report_upload(upload, job)
    return Response(body, status_code=202, headers={"Location": f"/ingest/{job.job}", **NO_STORE})


def report_upload(upload: StoredUpload, job: Job) -> Uploaded:
    """Report an upload's outcome to its sender."""
    return Uploaded(book=upload.book, stored=len(upload.files), left_out=upload.left_out, job=job)


async def receive(
    visit: Visit, jobs: Jobs, ingest: Ingest, check: Callable[[Mapping[str, str]], None] = lambda _: None
) -> tuple[StoredUpload, Job]:
    """Take the files of a form, unless `check` refuses its fields of text; put them into the corpus and read them.

    Raises:
        IngestInProgress: The books are being read; nothing was stored.
        InvalidInput, AlreadyThere: As `lutrin.ingest.upload.store` raises them.
    """
    newest = jobs.newest()
    if newest is not None and newest.state == "running":
        raise IngestInProgress
    form = await visit.request.form()
    try:
        turn = jobs.claim()  # others may have sent a book meanwhile
        with ExitStack() as undo:
            undo.callback(jobs.drop, turn)
            upload = await _store(form, visit.settings, check)
            undo.pop_all()
    finally:
        await form.close()

    async def ingest_it(note: Callable[[str], None]) -> Mapping[str, int | float | str]:
        for line in upload.lines():
            note(line)
        return await ingest(note)

    return upload, await jobs.start(ingest_it, visit.service.spawn, turn)


async def _store(form: FormMultiDict, settings: Settings, check: Callable[[Mapping[str, str]], None]) -> StoredUpload:
    texts = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    check(texts)
    files = [value for name, value in form.multi_items() if name == "files" and isinstance(value, UploadFile)]
    files = [file for file in files if file.filename]
    if not files:
        raise InvalidInput(NO_FILES)
    work = partial(
        store,
        settings.corpus_dir,
        [(file.filename, cast("BinaryIO", file.file)) for file in files],
        book=texts.get("book", "").strip(),
        replace=texts.get("replace", "").lower() in {"true", "on", "1", "yes"},
    )
    return await asyncio.to_thread(work)


HANDLERS = [start_ingest, read_job, upload]
