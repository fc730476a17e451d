"""The teacher's pages and their buttons; off unless the operator has set a token."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, get_args
from urllib.parse import parse_qsl, quote, urlencode

import msgspec
from litestar import MediaType, Response, get, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from lutrin.errors import ChatStoreError, InvalidInput, LutrinError, NotFound, NotPermitted, RateLimited
from lutrin.guest_ports import Server, Visit
from lutrin.log import get_logger
from lutrin.messages import BOOK_FIRST, NO_SUCH_BUTTON, NOTHING_HERE, WRONG_PASSWORD, YOUR_TEACHER
from lutrin.prepared import Kind, State
from lutrin.records import BookRow, LeftOut, ModelRow, Passage, Question, StoredAssignment, question_key
from lutrin.serve.problems import as_problem
from lutrin.serve.templating import render
from lutrin_teacher.homework import Assignment
from lutrin_teacher.teach import Act, Change, Editor, EntryFilter, EntryList
from lutrin_teacher.teacher_page import (
    MOST_READ,
    Board,
    Examination,
    Overview,
    as_csv,
    board_page,
    companion_page,
    figures,
    now_text,
    overview,
    proposed_text,
    qr_uri,
)
from lutrin_teacher.write import progress_of

NO_STORE: dict[str, Any] = {"Cache-Control": "no-store"}
PAGE: dict[str, Any] = {"include_in_schema": False, "media_type": MediaType.HTML}
"""Options of a handler that returns HTML."""
KINDS, STATES, ACTS = frozenset(get_args(Kind)), frozenset(get_args(State)), frozenset(get_args(Act))
MOST_PAGE = 100_000
MOST_DIGITS = 6
"""Digits of the number of a choice, at most."""
MOST_NEAR = 3
"""Maximum number of passages offered as proof for an answer that the teacher writes."""
Prepared = Editor | None
"""The companions of the books; None where there are no books to prepare anything for."""
INBOX = "inbox"
"""Part of the teacher's page from which an answer may be pinned."""

_log = get_logger("teacher")


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The state that the page's script polls every few seconds."""

    figures: dict[str, str]
    now: str
    """The present load."""
    job: str
    """`waiting`, `running`, `done`, `failed`, or empty if there was none."""
    job_text: str
    awaited: bool
    """Whether anything besides the job is running that the page waits for."""


@get("/teacher", operation_id="teacher", **PAGE)
async def page(
    visit: Given[Visit], server: Given[Server], examination: Given[Examination], companions: Given[Prepared]
) -> Response[str]:
    """Show the teacher's page, or the form that asks for the password or sets the first one."""
    if not visit.signed_in:
        return _gate(visit)
    await server.door.follow()
    board = await _board(visit, server, examination, companions)
    return page_response(await server.compute(lambda: board_page(board, visit.form_key)))


@get("/teacher/progress", include_in_schema=False, operation_id="teacherProgress")
async def progress(visit: Given[Visit], server: Given[Server], examination: Given[Examination]) -> Response[Progress]:
    """Return the figures and lines that change while the page is open."""
    visit.require()
    job = server.job()
    body = Progress(
        figures={name: value for name, _, value in figures(server.counts())},
        now=now_text(server.load()),
        job=job.state if job is not None else "",
        job_text=server.job_text(),
        awaited=examination.running,
    )
    return Response(body, headers=NO_STORE)


@post("/teacher/sign-in", operation_id="teacherSignIn", **PAGE)
async def sign_in(visit: Given[Visit]) -> Response[str]:
    """Sign in with the password or token from a form; a cookie replaces it afterwards."""
    try:
        token = (await visit.fields()).get("token", "")
        cookie = await visit.enter(token)
    except (NotPermitted, RateLimited) as error:
        return _gate(visit, error)
    _log.info("signed_in")
    return led_to("/teacher", [Cookie(**visit.cookie_for(cookie))])


@post("/teacher/set-up", operation_id="teacherSetUp", **PAGE)
async def set_up(visit: Given[Visit]) -> Response[str]:
    """Set the first password, given the code from the terminal, and sign this browser in."""
    fields = await visit.fields()
    try:
        cookie = await visit.set_up(fields.get("code", ""), fields.get("password", ""))
    except (NotPermitted, RateLimited, InvalidInput) as error:
        return _gate(visit, error)
    _log.info("password_set")
    return led_to("/teacher", [Cookie(**visit.cookie_for(cookie))])


@post("/teacher/password", operation_id="teacherPassword", **PAGE)
async def change_password(visit: Given[Visit]) -> Response[str]:
    """Change the password, given the current one."""
    fields = await visit.form()
    await visit.change_password(fields.get("old", ""), fields.get("password", ""))
    _log.info("password_set")
    return led_to("/teacher#machine")


@get("/teacher/class", operation_id="teacherClass", **PAGE)
async def show_address(visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Show the address of the server and its QR code, large enough for a projector."""
    address = pupils_address(visit, server)
    if not visit.signed_in or not address:
        return led_to("/teacher")
    return page_response(render("teacher_class.html", address=address, code=qr_uri(address), back="/teacher#class"))


@post("/teacher/class/{act:str}", operation_id="teacherDoor", **PAGE)
async def move_door(act: FromPath[str], visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Let the class's devices connect, or stop that."""
    await visit.form()
    if act not in {"open", "close"}:
        raise InvalidInput(NO_SUCH_BUTTON)
    await (server.door.open() if act == "open" else server.door.close())
    return led_to("/teacher#class")


@post("/teacher/sign-out", operation_id="teacherSignOut", **PAGE)
async def sign_out(visit: Given[Visit]) -> Response[str]:
    """Sign out: invalidate the cookie."""
    await visit.form()
    visit.leave()
    return led_to("/teacher", [Cookie(**visit.cookie_for(""))])


@post("/teacher/ingest", operation_id="teacherIngest", **PAGE)
async def ingest(visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Read the books again, like `POST /ingest`."""
    await visit.form()
    await server.read_books()
    return led_to("/teacher#books")


@post("/teacher/check", operation_id="teacherCheck", **PAGE)
async def check(visit: Given[Visit], server: Given[Server], examination: Given[Examination]) -> Response[str]:
    """Run the checks of `lutrin doctor`."""
    await visit.form()
    examination.start(server.spawn)
    return led_to("/teacher#health")


@get("/teacher/questions.csv", include_in_schema=False, operation_id="teacherQuestions", media_type="text/csv")
async def questions(visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Export readers' questions as CSV, without their authors."""
    visit.require()
    questions = await server.recent_questions(MOST_READ)
    titles = {book.slug: book.title for book in await server.library.books()}
    headers = {"Content-Disposition": 'attachment; filename="questions.csv"', **NO_STORE}
    table = await server.compute(lambda: as_csv(questions, titles))
    return Response(table, media_type="text/csv; charset=utf-8", headers=headers)


@get("/teacher/companion/{book:str}", operation_id="teacherCompanion", **PAGE)
async def entries(book: FromPath[str], visit: Given[Visit], companions: Given[Prepared]) -> Response[str]:
    """Show a page of the entries of a book's companion."""
    if not visit.signed_in:
        return led_to("/teacher")
    filters = _parse_filter(visit.query)
    entries = await _editor_of(companions).list_entries(book, filters)
    return page_response(companion_page(book, entries, filters, visit.form_key))


@post("/teacher/companion/{book:str}", operation_id="teacherApprove", **PAGE)
async def approve(book: FromPath[str], visit: Given[Visit], companions: Given[Prepared]) -> Response[str]:
    """Approve all entries of one page of the list."""
    back = (await visit.form()).get("back", "")
    names = {value for name, value in await visit.pairs() if name == "entry"}
    await _editor_of(companions).approve(book, names)
    _log.info("entries_approved", book=book, count=len(names))
    return led_to(f"/teacher/companion/{quote(book)}?{urlencode(_filters(dict(parse_qsl(back))))}")


@post("/teacher/companion/{book:str}/{entry:str}", operation_id="teacherEntry", **PAGE)
async def change(
    book: FromPath[str], entry: FromPath[str], visit: Given[Visit], companions: Given[Prepared]
) -> Response[str]:
    """Approve, hide, correct or pin an entry, or undo that."""
    fields = await visit.form()
    if fields.get("act") not in ACTS:
        raise InvalidInput(NO_SUCH_BUTTON)
    number = fields.get("answer", "")
    change = Change(
        act=msgspec.convert(fields["act"], Act),
        text=fields.get("text", ""),
        choices=fields.get("choices", ""),
        answer=int(number[:MOST_DIGITS]) if number.isascii() and number.isdigit() else None,
    )
    await _editor_of(companions).change(book, entry, change)
    _log.info("entry_changed", book=book, entry=entry, act=change.act)
    if fields.get("asked"):
        return led_to(f"/teacher/answer?{urlencode({'book': book, 'question': fields['asked']})}")
    back = urlencode(_filters(dict(parse_qsl(fields.get("back", "")))))
    return led_to(f"/teacher/companion/{quote(book)}?{back}#e{quote(entry)}")


@get("/teacher/answer", operation_id="teacherAnswer", **PAGE)
async def proposal(visit: Given[Visit], server: Given[Server], companions: Given[Prepared]) -> Response[str]:
    """Show the current answer to a question, to pin it as it is or reworded."""
    if not visit.signed_in:
        return led_to("/teacher")
    parameters = visit.query
    text, book = parameters.get("question", ""), parameters.get("book", "")
    books = await server.library.books()
    shelved = next((one for one in books if one.slug == book), None) or (books[0] if books else None)
    if shelved is None:
        raise NotFound(NOTHING_HERE)
    answer = await server.answer(text, shelved.slug) if text.strip() else None
    near: Sequence[Passage] = ()
    if answer is not None and not answer.excerpts:
        near = await server.passages(Question(text=text, book=shelved.slug, top_k=MOST_NEAR))
    page = render(
        "teacher_answer.html",
        books=books,
        book=shelved,
        question=text,
        answer=answer,
        text=proposed_text(answer) if answer is not None else "",
        near=near,
        pinned=await companions.pinned_answers(shelved.slug) if companions is not None else (),
        back=parameters.get("back", ""),
        form_key=visit.form_key,
    )
    return page_response(page)


@post("/teacher/answer", operation_id="teacherPinAnswer", **PAGE)
async def pin(visit: Given[Visit], server: Given[Server], companions: Given[Prepared]) -> Response[str]:
    """Pin an answer to a question."""
    fields = await visit.form()
    book, question = fields.get("book", ""), fields.get("question", "")
    answer = await server.answer(question, book)
    proofs = [(one.chunk_id, one.text) for one in answer.excerpts] or [(fields.get("proof", ""), "")]
    text = fields.get("text") or proposed_text(answer)
    listed = fields.get("listed", "") == "true"
    pinned = await _editor_of(companions).pin_answer(book, question, text, proofs, listed=listed)
    if (await server.answer(question, book)).prepared_by != YOUR_TEACHER:
        await _editor_of(companions).change(book, pinned, Change(act="undo"))
        raise InvalidInput(BOOK_FIRST)
    _log.info("answer_pinned", book=book)
    if fields.get("back") == INBOX:
        return led_to(f"/teacher#{INBOX}")
    return led_to(f"/teacher/answer?{urlencode({'book': book, 'question': question})}")


HANDLERS = [
    page,
    progress,
    questions,
    sign_in,
    set_up,
    change_password,
    show_address,
    move_door,
    sign_out,
    ingest,
    check,
    entries,
    approve,
    change,
    proposal,
    pin,
]


def _gate(visit: Visit, error: LutrinError | None = None) -> Response[str]:
    """The form for the password, or for the first one, with an error message if there is one."""
    first = not visit.may_sign_in
    problem = as_problem(error).problem if error is not None else None
    message = problem.detail if problem is not None else ""
    if isinstance(error, NotPermitted) and not first:
        message = WRONG_PASSWORD
    if error is not None:
        _log.warning("sign_in_refused", reason=type(error).__name__)
    status = problem.status if problem is not None else 200
    response = page_response(
        render("teacher_gate.html", first=first, message=message, least=visit.least_password), status
    )
    if problem is not None and problem.retry_after_s is not None:
        response.headers["Retry-After"] = str(problem.retry_after_s)
    return response


def pupils_address(visit: Visit, server: Server) -> str:
    """The address for pupils; empty: they cannot reach the server."""
    return server.door.address or visit.address


async def _board(visit: Visit, server: Server, examination: Examination, companions: Prepared) -> Board:
    """Turn a failed lookup into a line on the page."""
    troubles = [*server.troubles()]
    books: Sequence[BookRow] = []
    left_out: Sequence[LeftOut] = []
    models: Sequence[ModelRow] = []
    facts = {}
    try:
        books, left_out = await server.list_books()
        facts = {book.slug: book for book in await server.library.books()}
    except LutrinError as error:
        troubles.append(f"{error.detail} {error.remedy}".strip())
    try:
        models = server.models()
    except LutrinError as error:
        troubles.append(f"{error.detail} {error.remedy}".strip())
    door = server.door
    return Board(
        books=books,
        facts=facts,
        left_out=left_out,
        job=server.job(),
        job_text=server.job_text(),
        now=now_text(server.load()),
        figures=figures(server.counts()),
        models=models,
        model=server.model(),
        model_ready=await server.model_ready(),
        health=examination,
        questions=await _questions(server, companions, troubles),
        prepared=await _list_prepared(server, companions),
        assignments=await _list_assignments(server),
        address=pupils_address(visit, server),
        door=("open" if door.address else "shut") if door.is_possible else "",
        own_password=visit.has_password,
        troubles=troubles,
    )


async def _list_prepared(server: Server, companions: Prepared) -> dict[str, tuple[EntryList, str]]:
    if companions is None:
        return {}
    try:
        return {
            book.slug: (
                await companions.list_entries(book.slug, EntryFilter()),
                await asyncio.to_thread(progress_of, server.settings.studied_path(book.slug)),
            )
            for book in await server.library.books()
        }
    except LutrinError:
        return {}  # an index that cannot be read is told elsewhere on the page


async def _list_assignments(server: Server) -> list[tuple[StoredAssignment, str]]:
    """The assignments with their titles, newest first; none if storing is off, which the page says."""
    try:
        stored = await server.assignments.all()
    except ChatStoreError:
        return []
    return [(one, msgspec.json.decode(one.body, type=Assignment).title) for one in stored]


async def _questions(server: Server, companions: Prepared, troubles: list[str]) -> Overview:
    """Readers' questions with their outcomes; adds failures to `troubles`."""
    library = server.library
    pinned: set[str] = set()
    try:
        shelf = await library.books()
        books = [(book.slug, book.title, await library.chapters(book.slug)) for book in shelf]
        if companions is not None:
            pinned = {
                question_key(question) for book in shelf for question in await companions.pinned_questions(book.slug)
            }
    except LutrinError:
        books = []  # before the first ingest there is none
    if not server.stores():
        return Overview()  # nothing is stored, and that is said already
    try:
        questions = await server.recent_questions(MOST_READ)
    except LutrinError as error:
        troubles.append(f"{error.detail} {error.remedy}".strip())
        return Overview()
    today = server.now().date()
    return await server.compute(lambda: overview(questions, books, today, pinned))


def page_response(page: str, status: int = 200) -> Response[str]:
    """A page that no cache may store."""
    return Response(page, status_code=status, media_type=MediaType.HTML, headers=dict(NO_STORE))


def led_to(location: str, cookies: list[Cookie] | None = None) -> Response[str]:
    """Redirect a browser after a form to a page."""
    headers = {"Location": location, **NO_STORE}
    return Response("", status_code=303, media_type=MediaType.HTML, headers=headers, cookies=cookies)


def _editor_of(companions: Prepared) -> Editor:
    if companions is None:
        raise NotFound(NOTHING_HERE)
    return companions


def _filters(query: Mapping[str, str]) -> dict[str, str]:
    """The valid query parameters that select entries."""
    page = query.get("page", "")
    return {
        name: value
        for name, value, is_known in (
            ("kind", query.get("kind", ""), query.get("kind") in KINDS),
            ("state", query.get("state", ""), query.get("state") in {*STATES, "pinned"}),
            ("words", query.get("words", "")[:200], bool(query.get("words", "").strip())),
            ("page", page, page.isascii() and page.isdigit() and 0 < int(page[:7]) < MOST_PAGE),
        )
        if is_known
    }


def _parse_filter(query: Mapping[str, str]) -> EntryFilter:
    filters = _filters(query)
    state = filters.get("state")
    return EntryFilter(
        kind=msgspec.convert(filters.get("kind"), Kind | None),
        state=None if state == "pinned" else msgspec.convert(state, State | None),
        pinned=state == "pinned",
        words=filters.get("words", ""),
        page=int(filters.get("page", "1")),
    )
