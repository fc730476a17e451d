"""The teacher's pages on whole books: the report of each, a trial, its name, its place on the shelf, its removal."""

import asyncio
from typing import Any, get_args

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from lutrin.errors import InvalidInput, LutrinError
from lutrin.log import get_logger
from lutrin.messages import NO_SUCH_BUTTON
from lutrin.records import BookAct
from lutrin.serve.book_choices import change_book, find_book
from lutrin.serve.problems import prefers_html
from lutrin.serve.routes.ingest import Jobs, Uploaded, receive, report_upload
from lutrin.serve.teacher_sign_in import Visit
from lutrin.serve.templating import render
from lutrin_teacher.teacher import PAGE, current_answer, ingest_of, led_to, page_response
from lutrin_teacher.teacher_page import reasons_of
from lutrin_teacher.trial import Trial, try_book

ACTS = frozenset(get_args(BookAct))
LEAVING = frozenset({"delete", "remove", "up", "down", "hide", "show", "restore"})
"""After these the teacher is led back to all of her books."""

_log = get_logger("teacher")


@post("/teacher/books", operation_id="teacherBooks", **PAGE)
async def upload(visit: Given[Visit], jobs: Given[Jobs]) -> Response[str] | Response[Uploaded]:
    """Add books, as `POST /books` does; the page's script gets JSON, its form the page."""
    visit.require()
    uploads, job = await receive(
        visit, jobs, ingest_of(visit), lambda sent: visit.sign_ins.check(visit.cookie, sent.get("key", ""))
    )
    for one in uploads:
        _log.info("uploaded", book=one.book, files=len(one.files))
    if prefers_html(visit.request.headers.get("accept", "")):
        return led_to("/teacher#books")
    return Response(report_upload(uploads, job), status_code=202, media_type="application/json", headers=_NO_STORE)


@get("/teacher/books/{book:str}", operation_id="teacherBook", **PAGE)
async def show(book: FromPath[str], visit: Given[Visit]) -> Response[str]:
    """One book: what is in it, what was left out and why, and all that can be done with it."""
    if not visit.signed_in:
        return led_to("/teacher")
    row = await asyncio.to_thread(find_book, visit.settings, book)
    library, facts = visit.service.services.library, None
    if not row.choice.is_off:
        try:
            facts = await library.book(book)
        except LutrinError as error:
            facts = None
            _log.warning("book_unreadable", book=book, detail=error.detail)
    chapters = await library.chapters(book) if facts is not None else ()
    page = render(
        "teacher_book.html",
        row=row,
        facts=facts,
        chapters=chapters,
        reasons=reasons_of(row.left_out),
        form_key=visit.form_key,
        line=facts.line if facts is not None else "",
    )
    return page_response(page)


@get("/teacher/books/{book:str}/trial", operation_id="teacherTrial", **PAGE)
async def trial(book: FromPath[str], visit: Given[Visit]) -> Response[str]:
    """Ask the book a few questions, and show what pupils would be told."""
    if not visit.signed_in:
        return led_to("/teacher")
    shelved = await visit.service.services.library.book(book)
    result: Trial = await try_book(
        visit.service.services.library, lambda text, slug: current_answer(visit.service, text, slug), book
    )
    return page_response(render("teacher_trial.html", book=shelved, trial=result))


@post("/teacher/books/{book:str}/{act:str}", operation_id="teacherChangeBook", **PAGE)
async def change(book: FromPath[str], act: FromPath[str], visit: Given[Visit], jobs: Given[Jobs]) -> Response[str]:
    """Rename, hide, move, remove, bring back or delete a book, or go back to its index before this one."""
    fields = await visit.form()
    if act not in ACTS:
        raise InvalidInput(NO_SUCH_BUTTON)
    await asyncio.to_thread(
        change_book,
        visit.settings,
        book,
        msgspec.convert(act, BookAct),
        visit.service.services.now(),
        title=fields.get("title", ""),
        line=fields.get("line", ""),
        hints=fields.get("hints", ""),
    )
    await visit.service.services.library.refresh()
    _log.info("book_changed", book=book, act=act)
    if act == "restore" and visit.service.services.ingest is not None:
        await jobs.add(ingest_of(visit), visit.service.spawn)  # its files may have changed, or its index be gone
    return led_to("/teacher#books" if act in LEAVING else f"/teacher/books/{book}")


_NO_STORE: dict[str, Any] = {"Cache-Control": "no-store"}
HANDLERS = [upload, show, trial, change]
