"""The teacher's pages about books: report, trial, name, position on the shelf, removal."""

from typing import Any, get_args

import msgspec
from litestar import Request, Response, get, post
from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from lutrin.errors import InvalidInput, LutrinError
from lutrin.guest_ports import Server, Visit
from lutrin.log import get_logger
from lutrin.messages import NO_SUCH_BUTTON
from lutrin.records import BookAct, Uploaded
from lutrin.serve.problems import prefers_html
from lutrin.serve.templating import render
from lutrin_teacher.teacher import NO_STORE, PAGE, led_to, page_response
from lutrin_teacher.teacher_page import reasons_of
from lutrin_teacher.trial import Trial, try_book

ACTS = frozenset(get_args(BookAct))
LEAVING = frozenset({"delete", "remove", "up", "down", "hide", "show", "restore"})
"""Actions that redirect to the list of books."""

_log = get_logger("teacher")


@post("/teacher/books", operation_id="teacherBooks", **PAGE)
async def upload(
    request: Request[Any, Any, Any], visit: Given[Visit], server: Given[Server]
) -> Response[str] | Response[Uploaded]:
    """Add books like `POST /books`; the page's script gets JSON, a form gets the page."""
    visit.require()
    report = await server.receive(request, lambda sent: visit.check(sent.get("key", "")))
    if prefers_html(request.headers.get("accept", "")):
        return led_to("/teacher#books")
    return Response(report, status_code=202, media_type="application/json", headers=NO_STORE)


@get("/teacher/books/{book:str}", operation_id="teacherBook", **PAGE)
async def show(book: FromPath[str], visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Show a book: its contents, files left out and why, and all actions."""
    if not visit.signed_in:
        return led_to("/teacher")
    row = await server.find_book(book)
    library, facts = server.library, None
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
async def trial(book: FromPath[str], visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Ask the book a few questions, and show the answers for pupils."""
    if not visit.signed_in:
        return led_to("/teacher")
    shelved = await server.library.book(book)
    result: Trial = await try_book(server.library, server.answer, book)
    return page_response(render("teacher_trial.html", book=shelved, trial=result))


@post("/teacher/books/{book:str}/{act:str}", operation_id="teacherChangeBook", **PAGE)
async def change(book: FromPath[str], act: FromPath[str], visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Rename, hide, move, remove, restore or delete a book, or return to its previous index."""
    fields = await visit.form()
    if act not in ACTS:
        raise InvalidInput(NO_SUCH_BUTTON)
    await server.change_book(
        book,
        msgspec.convert(act, BookAct),
        title=fields.get("title", ""),
        line=fields.get("line", ""),
        hints=fields.get("hints", ""),
    )
    await server.library.refresh()
    _log.info("book_changed", book=book, act=act)
    if act == "restore" and server.can_read():
        await server.read_books_later()  # its files may have changed, or its index be gone
    return led_to("/teacher#books" if act in LEAVING else f"/teacher/books/{book}")


HANDLERS = [upload, show, trial, change]
