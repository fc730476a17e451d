"""Books that an operator sends: `POST /books`, off unless a token is set."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from typing import BinaryIO, cast

import msgspec
from litestar import Response, post
from litestar.datastructures import FormMultiDict, UploadFile
from litestar.di import NamedDependency as Given

from lutrin.errors import IngestInProgress, InvalidInput
from lutrin.index.catalog import LeftOut
from lutrin.ingest.upload import Stored, store
from lutrin.serve.answer_service import NO_STORE, AnswerService
from lutrin.serve.problems import operation
from lutrin.serve.requests import HTTPRequest
from lutrin.serve.routes.ingest import TAG, Job, Jobs, require_token
from lutrin.serve.services import Ingest
from lutrin.serve.teacher_sign_in import SignIns
from lutrin.settings import Settings

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
async def upload(
    request: HTTPRequest,
    service: Given[AnswerService],
    jobs: Given[Jobs],
    settings: Given[Settings],
    sign_ins: Given[SignIns],
) -> Response[Uploaded]:
    """Needs `Authorization: Bearer LUTRIN_ADMIN_TOKEN`. Fields: `files`; `book`, the folder's name; `replace=true`."""
    ingest = require_token(request, service, sign_ins)
    stored, job = await receive(request, service, jobs, settings, ingest=ingest)
    body = uploaded(stored, job)
    return Response(body, status_code=202, headers={"Location": f"/ingest/{job.job}", **NO_STORE})


def uploaded(stored: Stored, job: Job) -> Uploaded:
    """Report an upload's outcome to its sender."""
    return Uploaded(book=stored.book, stored=len(stored.files), left_out=stored.left_out, job=job)


async def receive(
    request: HTTPRequest,
    service: AnswerService,
    jobs: Jobs,
    settings: Settings,
    *,
    ingest: Ingest,
    check: Callable[[Mapping[str, str]], None] = lambda _: None,
) -> tuple[Stored, Job]:
    """Take the files of a form, unless `check` refuses its fields of text; put them into the corpus and read them.

    Raises:
        IngestInProgress: The books are being read; nothing was stored.
        InvalidInput, AlreadyThere: As `lutrin.ingest.upload.store` raises them.
    """
    newest = jobs.newest()
    if newest is not None and newest.state == "running":
        raise IngestInProgress
    form = await request.form()
    try:
        turn = jobs.claim()  # others may have sent a book meanwhile
        with ExitStack() as undo:
            undo.callback(jobs.drop, turn)
            stored = await _stored(form, settings, check)
            undo.pop_all()
    finally:
        await form.close()

    async def ingest_it(note: Callable[[str], None]) -> Mapping[str, int | float | str]:
        for line in stored.lines():
            note(line)
        return await ingest(note)

    return stored, await jobs.start(ingest_it, service.spawn, turn)


async def _stored(form: FormMultiDict, settings: Settings, check: Callable[[Mapping[str, str]], None]) -> Stored:
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
