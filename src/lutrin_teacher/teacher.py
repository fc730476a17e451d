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
from lutrin.log import get_logger
from lutrin.messages import (
    BOOK_FIRST,
    DISK_LOW,
    INGEST_OFF,
    NO_SUCH_BUTTON,
    NOT_STORING,
    NOTHING_HERE,
    TEACHER_OFF,
    WRONG_PASSWORD,
    YOUR_TEACHER,
)
from lutrin.prepared import Kind, State
from lutrin.records import Answer, BookRow, DoneEvent, LeftOut, Passage, Question, StoredAssignment, question_key
from lutrin.serve.answer_service import NO_STORE, AnswerService, check_lengths
from lutrin.serve.book_choices import list_books
from lutrin.serve.budget import beside_loop
from lutrin.serve.door import Door
from lutrin.serve.ownership import is_secure
from lutrin.serve.problems import as_problem
from lutrin.serve.reading_progress import job_text
from lutrin.serve.routes.ingest import Jobs
from lutrin.serve.routes.pages import address_for_others
from lutrin.serve.services import Ingest
from lutrin.serve.teacher_password import SHORTEST_PASSWORD
from lutrin.serve.teacher_sign_in import COOKIE, SIGNED_IN_S, Visit
from lutrin.serve.templating import render
from lutrin.settings import Settings
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
    models_of,
    now_text,
    overview,
    proposed_text,
    qr_uri,
)
from lutrin_teacher.write import progress_of

PAGE: dict[str, Any] = {"include_in_schema": False, "media_type": MediaType.HTML}
"""Of a handler whose answers browsers show."""
KINDS, STATES, ACTS = frozenset(get_args(Kind)), frozenset(get_args(State)), frozenset(get_args(Act))
MOST_PAGE = 100_000
MOST_DIGITS = 6
"""Of the number of a choice."""
MOST_NEAR = 3
"""Passages that may prove an answer which the teacher writes to a question that the book does not answer by itself."""
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
    """Whether something runs whose end the page waits for, besides the job."""


@get("/teacher", operation_id="teacher", **PAGE)
async def page(
    visit: Given[Visit],
    jobs: Given[Jobs],
    examination: Given[Examination],
    door: Given[Door],
    companions: Given[Prepared],
) -> Response[str]:
    """The page, or the form that asks for the password, or for a first one."""
    if not visit.signed_in:
        return _gate(visit)
    await door.follow()
    board = await _board(visit, jobs, examination, door, companions)
    return page_response(await beside_loop(lambda: board_page(board, visit.form_key)))


@get("/teacher/progress", include_in_schema=False, operation_id="teacherProgress")
async def progress(visit: Given[Visit], jobs: Given[Jobs], examination: Given[Examination]) -> Response[Progress]:
    """Figures and lines that change while the page is open."""
    visit.require()
    job = jobs.current()
    body = Progress(
        figures={name: value for name, _, value in figures(visit.service.metrics)},
        now=_now(visit.service),
        job=job.state if job is not None else "",
        job_text=job_text(job, jobs.waiting),
        awaited=examination.running,
    )
    return Response(body, headers=NO_STORE)


@post("/teacher/sign-in", operation_id="teacherSignIn", **PAGE)
async def sign_in(visit: Given[Visit]) -> Response[str]:
    """The token comes once, in the body of a form; from then on a cookie stands for it."""
    try:
        token = (await visit.fields()).get("token", "")
        cookie = await visit.sign_ins.enter(token, visit.service.peer(visit.request))
    except (NotPermitted, RateLimited) as error:
        return _gate(visit, error)
    _log.info("signed_in")
    return led_to("/teacher", [_cookie(cookie, round(SIGNED_IN_S), secure=is_secure(visit.request))])


@post("/teacher/set-up", operation_id="teacherSetUp", **PAGE)
async def set_up(visit: Given[Visit]) -> Response[str]:
    """Set the first password, given the code that the terminal printed, and sign this browser in."""
    fields = await visit.fields()
    try:
        peer = visit.service.peer(visit.request)
        cookie = await visit.sign_ins.set_up(fields.get("code", ""), fields.get("password", ""), peer)
    except (NotPermitted, RateLimited, InvalidInput) as error:
        return _gate(visit, error)
    _log.info("password_set")
    return led_to("/teacher", [_cookie(cookie, round(SIGNED_IN_S), secure=is_secure(visit.request))])


@post("/teacher/password", operation_id="teacherPassword", **PAGE)
async def change_password(visit: Given[Visit]) -> Response[str]:
    """Change the password, given the present one."""
    fields = await visit.form()
    password = visit.sign_ins.password
    if password is None or not password.is_set:
        raise NotPermitted(TEACHER_OFF)
    await visit.sign_ins.prove(fields.get("old", ""), visit.service.peer(visit.request))
    password.set(fields.get("password", ""))
    _log.info("password_set")
    return led_to("/teacher#machine")


@get("/teacher/class", operation_id="teacherClass", **PAGE)
async def show_address(visit: Given[Visit], door: Given[Door]) -> Response[str]:
    """The address of the server and its QR code, as large as the wall behind the teacher."""
    address = pupils_address(visit, door)
    if not visit.signed_in or not address:
        return led_to("/teacher")
    return page_response(render("teacher_class.html", address=address, code=qr_uri(address), back="/teacher#class"))


@post("/teacher/class/{act:str}", operation_id="teacherDoor", **PAGE)
async def move_door(act: FromPath[str], visit: Given[Visit], door: Given[Door]) -> Response[str]:
    """Let the class in, or out."""
    await visit.form()
    if act not in {"open", "close"}:
        raise InvalidInput(NO_SUCH_BUTTON)
    await (door.open() if act == "open" else door.close())
    return led_to("/teacher#class")


@post("/teacher/sign-out", operation_id="teacherSignOut", **PAGE)
async def sign_out(visit: Given[Visit]) -> Response[str]:
    """The cookie is worth nothing afterwards."""
    await visit.form()
    visit.sign_ins.leave(visit.cookie)
    return led_to("/teacher", [_cookie("", 0, secure=False)])


@post("/teacher/ingest", operation_id="teacherIngest", **PAGE)
async def ingest(visit: Given[Visit], jobs: Given[Jobs]) -> Response[str]:
    """Read the books again, as `POST /ingest` does."""
    await visit.form()
    await jobs.start(ingest_of(visit), visit.service.spawn)
    return led_to("/teacher#books")


@post("/teacher/check", operation_id="teacherCheck", **PAGE)
async def check(visit: Given[Visit], examination: Given[Examination]) -> Response[str]:
    """Let the doctor look."""
    await visit.form()
    examination.start(visit.service.spawn)
    return led_to("/teacher#health")


@get("/teacher/questions.csv", include_in_schema=False, operation_id="teacherQuestions", media_type="text/csv")
async def questions(visit: Given[Visit]) -> Response[str]:
    """Export readers' questions as CSV, without their authors."""
    visit.require()
    questions = await visit.service.services.chats.recent_questions(MOST_READ)
    titles = {book.slug: book.title for book in await visit.service.services.library.books()}
    headers = {"Content-Disposition": 'attachment; filename="questions.csv"', **NO_STORE}
    table = await beside_loop(lambda: as_csv(questions, titles))
    return Response(table, media_type="text/csv; charset=utf-8", headers=headers)


@get("/teacher/companion/{book:str}", operation_id="teacherCompanion", **PAGE)
async def entries(book: FromPath[str], visit: Given[Visit], companions: Given[Prepared]) -> Response[str]:
    """The entries of a book's companion, some at a time."""
    if not visit.signed_in:
        return led_to("/teacher")
    filters = _parse_filter(dict(visit.request.query_params))
    entries = await _required(companions).list_entries(book, filters)
    return page_response(companion_page(book, entries, filters, visit.form_key))


@post("/teacher/companion/{book:str}", operation_id="teacherApprove", **PAGE)
async def approve(book: FromPath[str], visit: Given[Visit], companions: Given[Prepared]) -> Response[str]:
    """Approve everything that one page of the list shows."""
    back = (await visit.form()).get("back", "")
    names = {value for name, value in await visit.pairs() if name == "entry"}
    await _required(companions).approve(book, names)
    _log.info("entries_approved", book=book, count=len(names))
    return led_to(f"/teacher/companion/{quote(book)}?{urlencode(_filters(dict(parse_qsl(back))))}")


@post("/teacher/companion/{book:str}/{entry:str}", operation_id="teacherEntry", **PAGE)
async def change(
    book: FromPath[str], entry: FromPath[str], visit: Given[Visit], companions: Given[Prepared]
) -> Response[str]:
    """Approve, hide, mend, pin an entry, or take that back."""
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
    await _required(companions).change(book, entry, change)
    _log.info("entry_changed", book=book, entry=entry, act=change.act)
    if fields.get("asked"):
        return led_to(f"/teacher/answer?{urlencode({'book': book, 'question': fields['asked']})}")
    back = urlencode(_filters(dict(parse_qsl(fields.get("back", "")))))
    return led_to(f"/teacher/companion/{quote(book)}?{back}#e{quote(entry)}")


@get("/teacher/answer", operation_id="teacherAnswer", **PAGE)
async def proposal(visit: Given[Visit], companions: Given[Prepared]) -> Response[str]:
    """How a question is answered now, to be pinned as it is or in better words."""
    if not visit.signed_in:
        return led_to("/teacher")
    parameters, service = visit.request.query_params, visit.service
    text, book = parameters.get("question", ""), parameters.get("book", "")
    books = await service.services.library.books()
    shelved = next((one for one in books if one.slug == book), None) or (books[0] if books else None)
    if shelved is None:
        raise NotFound(NOTHING_HERE)
    answer = await current_answer(service, text, shelved.slug) if text.strip() else None
    near: Sequence[Passage] = ()
    if answer is not None and not answer.excerpts:
        near = await service.services.retrieve(Question(text=text, book=shelved.slug, top_k=MOST_NEAR))
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
async def pin(visit: Given[Visit], companions: Given[Prepared]) -> Response[str]:
    """Have a question answered so from now on."""
    fields, service = await visit.form(), visit.service
    book, question = fields.get("book", ""), fields.get("question", "")
    answer = await current_answer(service, question, book)
    proofs = [(one.chunk_id, one.text) for one in answer.excerpts] or [(fields.get("proof", ""), "")]
    text = fields.get("text") or proposed_text(answer)
    listed = fields.get("listed", "") == "true"
    pinned = await _required(companions).pin_answer(book, question, text, proofs, listed=listed)
    if (await current_answer(service, question, book)).prepared_by != YOUR_TEACHER:
        await _required(companions).change(book, pinned, Change(act="undo"))
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


def ingest_of(visit: Visit) -> Ingest:
    """What reads the corpus; raises NotPermitted if nothing does."""
    if visit.service.services.ingest is None:
        raise NotPermitted(INGEST_OFF)
    return visit.service.services.ingest


def _gate(visit: Visit, error: LutrinError | None = None) -> Response[str]:
    """What stands before the page: a form for the password, or for the first one, with what went wrong."""
    first = not visit.sign_ins.possible
    problem = as_problem(error).problem if error is not None else None
    message = problem.detail if problem is not None else ""
    if isinstance(error, NotPermitted) and not first:
        message = WRONG_PASSWORD
    if error is not None:
        _log.warning("sign_in_refused", reason=type(error).__name__)
    status = problem.status if problem is not None else 200
    response = page_response(render("teacher_gate.html", first=first, message=message, least=SHORTEST_PASSWORD), status)
    if problem is not None and problem.retry_after_s is not None:
        response.headers["Retry-After"] = str(problem.retry_after_s)
    return response


def pupils_address(visit: Visit, door: Door) -> str:
    """The address for pupils; empty: they cannot reach the server."""
    return door.address or address_for_others(visit.request, visit.settings.host)


async def _board(visit: Visit, jobs: Jobs, examination: Examination, door: Door, companions: Prepared) -> Board:
    """Replace a failed lookup by a line on the page."""
    service, settings = visit.service, visit.settings
    generator, troubles = service.services.generator, [service.services.trouble] if service.services.trouble else []
    if service.space.low:
        troubles.append(DISK_LOW.format(free_mb=service.space.free_bytes >> 20, floor_mb=settings.free_space_mb))
    elif service.space.failed:
        troubles.append(NOT_STORING)
    name = generator.name if generator is not None else ""
    books: list[BookRow] = []
    left_out: list[LeftOut] = []
    models, facts = [], {}
    try:
        books, left_out = await asyncio.to_thread(list_books, settings)
        facts = {book.slug: book for book in await service.services.library.books()}
    except LutrinError as error:
        troubles.append(f"{error.detail} {error.remedy}".strip())
    try:
        models = models_of(settings, name)
    except LutrinError as error:
        troubles.append(f"{error.detail} {error.remedy}".strip())
    return Board(
        books=books,
        facts=facts,
        left_out=left_out,
        job=jobs.current(),
        waiting=jobs.waiting,
        now=_now(service),
        figures=figures(service.metrics),
        models=models,
        model=name,
        model_ready=generator is not None and await generator.ready(),
        health=examination,
        questions=await _questions(service, companions, troubles),
        prepared=await _list_prepared(service, companions, settings),
        assignments=await _list_assignments(service),
        address=pupils_address(visit, door),
        door=("open" if door.address else "shut") if door.is_possible else "",
        own_password=visit.sign_ins.password is not None and visit.sign_ins.password.is_set,
        troubles=troubles,
    )


async def _list_prepared(
    service: AnswerService, companions: Prepared, settings: Settings
) -> dict[str, tuple[EntryList, str]]:
    if companions is None:
        return {}
    try:
        return {
            book.slug: (
                await companions.list_entries(book.slug, EntryFilter()),
                await asyncio.to_thread(progress_of, settings.studied_path(book.slug)),
            )
            for book in await service.services.library.books()
        }
    except LutrinError:
        return {}  # an index that cannot be read is told elsewhere on the page


async def _list_assignments(service: AnswerService) -> list[tuple[StoredAssignment, str]]:
    """The assignments with their titles, the newest first; none where nothing is stored, which the page says."""
    try:
        stored = await service.services.chats.assignments.all()
    except ChatStoreError:
        return []
    return [(one, msgspec.json.decode(one.body, type=Assignment).title) for one in stored]


async def _questions(service: AnswerService, companions: Prepared, troubles: list[str]) -> Overview:
    """What readers asked, and what became of it; what is in the way is added to `troubles`."""
    library = service.services.library
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
    if service.services.trouble:
        return Overview()  # nothing is stored, and that is said already
    try:
        questions = await service.services.chats.recent_questions(MOST_READ)
    except LutrinError as error:
        troubles.append(f"{error.detail} {error.remedy}".strip())
        return Overview()
    today = service.services.now().date()
    return await beside_loop(lambda: overview(questions, books, today, pinned))


def _now(service: AnswerService) -> str:
    state = service.services.model_state()
    text = now_text(service.metrics, service.presence.count(), service.services.queue_length())
    return f"{text} {state.progress}".strip() if state.state == "ready" else text


def page_response(page: str, status: int = 200) -> Response[str]:
    """A page that no cache may store."""
    return Response(page, status_code=status, media_type=MediaType.HTML, headers=dict(NO_STORE))


def led_to(location: str, cookies: list[Cookie] | None = None) -> Response[str]:
    """Lead a browser that has sent a form to a page."""
    headers = {"Location": location, **NO_STORE}
    return Response("", status_code=303, media_type=MediaType.HTML, headers=headers, cookies=cookies)


def _cookie(value: str, max_age_s: int, *, secure: bool) -> Cookie:
    return Cookie(
        key=COOKIE, value=value, path="/teacher", max_age=max_age_s, httponly=True, samesite="strict", secure=secure
    )


async def current_answer(service: AnswerService, text: str, book: str) -> Answer:
    """The answer that a reader of a book would get now; nothing of it is stored."""
    question = Question(text=text, book=book)
    check_lengths(question)
    events = [event async for event in service.services.answers.answer(question)]
    done = events[-1]
    if not isinstance(done, DoneEvent):
        raise TypeError("an answer ends with all of it")
    return done.answer


def _required(companions: Prepared) -> Editor:
    if companions is None:
        raise NotFound(NOTHING_HERE)
    return companions


def _filters(query: Mapping[str, str]) -> dict[str, str]:
    """What an address may say of the entries that are wanted, and nothing else."""
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
