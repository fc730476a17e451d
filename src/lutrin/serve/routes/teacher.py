"""The teacher's page and its buttons; off unless the operator has set a token."""

import msgspec
from litestar import MediaType, Response, get, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from lutrin.chats.questions import key_of
from lutrin.errors import LutrinError, NotPermitted, RateLimited
from lutrin.log import get_logger
from lutrin.messages import DISK_LOW, INGEST_OFF, NOT_STORING, PAGE_EXPIRED, WRONG_PASSWORD
from lutrin.serve import qr
from lutrin.serve import teacher_html as html
from lutrin.serve.answer_service import NO_STORE, AnswerService, is_secure
from lutrin.serve.budget import beside_loop
from lutrin.serve.prepared_html import PreparedRow, prepared_row
from lutrin.serve.problems import as_problem, prefers_html
from lutrin.serve.requests import HTTPRequest
from lutrin.serve.routes.book_uploads import Uploaded, receive, uploaded
from lutrin.serve.routes.ingest import Jobs
from lutrin.serve.teacher_asked import MOST_READ, Overview, as_csv, overview
from lutrin.serve.teacher_forms import COOKIE, PAGE, check_form, fields, is_here, led_to, shown_page
from lutrin.serve.teacher_load import Load, load_of
from lutrin.serve.teacher_sign_in import SIGNED_IN_S, SignIns
from lutrin.serve.teacher_view import TeacherView
from lutrin.settings import Settings
from lutrin.study.teach import Wanted

_log = get_logger("teacher")


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The state that the page's script polls every few seconds."""

    figures: dict[str, str]
    now: str
    """The present load."""
    job: str
    """`running`, `done`, `failed`, or empty if there was none."""
    job_text: str
    lines: list[str]
    awaited: bool
    """Whether something runs whose end the page waits for, besides the job."""


@get("/teacher", operation_id="teacher", **PAGE)
async def page(
    *,
    request: HTTPRequest,
    service: Given[AnswerService],
    jobs: Given[Jobs],
    view: Given[TeacherView],
    sign_ins: Given[SignIns],
    settings: Given[Settings],
) -> Response[str]:
    """The page, the form that asks for the token, or how to set one."""
    if not sign_ins.possible:
        return shown_page(html.off(), 403)
    cookie = request.cookies.get(COOKIE, "")
    if not sign_ins.knows(cookie):
        return shown_page(html.sign_in())
    address = qr.for_others(request, settings.host)
    shown = await _board(service, jobs, view, settings, address)
    return shown_page(await beside_loop(lambda: html.board(shown, sign_ins.form_key(cookie))))


@get("/teacher/progress", include_in_schema=False, operation_id="teacherProgress")
async def progress(
    request: HTTPRequest,
    service: Given[AnswerService],
    jobs: Given[Jobs],
    view: Given[TeacherView],
    sign_ins: Given[SignIns],
) -> Response[Progress]:
    """Figures and lines that change while the page is open."""
    if not sign_ins.knows(request.cookies.get(COOKIE, "")):
        raise NotPermitted(PAGE_EXPIRED)
    job = jobs.newest()
    body = Progress(
        figures={name: value for name, _, value in html.figures(_load(service))},
        now=html.now_text(_load(service)),
        job=job.state if job is not None else "",
        job_text=html.job_text(job) if job is not None else "",
        lines=job.progress if job is not None else [],
        awaited=view.health.running,
    )
    return Response(body, headers=NO_STORE)


@post("/teacher/sign-in", operation_id="teacherSignIn", **PAGE)
async def sign_in(request: HTTPRequest, service: Given[AnswerService], sign_ins: Given[SignIns]) -> Response[str]:
    """The token comes once, in the body of a form; from then on a cookie stands for it."""
    try:
        token = (await fields(request)).get("token", "")
        cookie = sign_ins.enter(token, service.peer(request), here=is_here(request, sign_ins))
    except (NotPermitted, RateLimited) as error:
        _log.warning("sign_in_refused", reason=type(error).__name__)
        problem = as_problem(error).problem
        wrong = isinstance(error, NotPermitted) and sign_ins.possible
        refused = shown_page(html.sign_in(WRONG_PASSWORD if wrong else problem.detail), problem.status)
        if problem.retry_after_s is not None:
            refused.headers["Retry-After"] = str(problem.retry_after_s)
        return refused
    _log.info("signed_in")
    return led_to("/teacher", [_cookie(cookie, round(SIGNED_IN_S), secure=is_secure(request))])


@post("/teacher/sign-out", operation_id="teacherSignOut", **PAGE)
async def sign_out(request: HTTPRequest, sign_ins: Given[SignIns]) -> Response[str]:
    """The cookie is worth nothing afterwards."""
    await check_form(request, sign_ins)
    sign_ins.leave(request.cookies.get(COOKIE, ""))
    return led_to("/teacher", [_cookie("", 0, secure=False)])


@post("/teacher/ingest", operation_id="teacherIngest", **PAGE)
async def ingest(
    request: HTTPRequest, service: Given[AnswerService], jobs: Given[Jobs], sign_ins: Given[SignIns]
) -> Response[str]:
    """Read the books again, as `POST /ingest` does."""
    await check_form(request, sign_ins)
    if service.services.ingest is None:
        raise NotPermitted(INGEST_OFF)
    await jobs.start(service.services.ingest, service.spawn)
    return led_to("/teacher#reading")


@post("/teacher/books", operation_id="teacherBooks", **PAGE)
async def upload(
    *,
    request: HTTPRequest,
    service: Given[AnswerService],
    jobs: Given[Jobs],
    sign_ins: Given[SignIns],
    settings: Given[Settings],
) -> Response[str] | Response[Uploaded]:
    """Add a book, as `POST /books` does; the page's script gets JSON, its form the page."""
    cookie = request.cookies.get(COOKIE, "")
    if not sign_ins.knows(cookie):
        raise NotPermitted(PAGE_EXPIRED)
    if service.services.ingest is None:
        raise NotPermitted(INGEST_OFF)
    stored, job = await receive(
        request, service, jobs, settings,
        ingest=service.services.ingest, check=lambda sent: sign_ins.check(cookie, sent.get("key", "")),
    )  # fmt: skip
    _log.info("uploaded", book=stored.book, files=len(stored.files))
    if prefers_html(request.headers.get("accept", "")):
        return led_to("/teacher#reading")
    return Response(uploaded(stored, job), status_code=202, media_type=MediaType.JSON, headers=NO_STORE)


@post("/teacher/check", operation_id="teacherCheck", **PAGE)
async def check(
    request: HTTPRequest, service: Given[AnswerService], view: Given[TeacherView], sign_ins: Given[SignIns]
) -> Response[str]:
    """Let the doctor look."""
    await check_form(request, sign_ins)
    view.health.start(service.spawn)
    return led_to("/teacher#health")


@post("/teacher/books/{book:str}/previous", operation_id="teacherPrevious", **PAGE)
async def previous(
    book: FromPath[str], request: HTTPRequest, view: Given[TeacherView], sign_ins: Given[SignIns]
) -> Response[str]:
    """Go back to the index before this one."""
    await check_form(request, sign_ins)
    await view.roll_back(book)
    _log.info("rolled_back", book=book)
    return led_to("/teacher#books")


@get("/teacher/questions.csv", include_in_schema=False, operation_id="teacherQuestions", media_type="text/csv")
async def questions(request: HTTPRequest, service: Given[AnswerService], sign_ins: Given[SignIns]) -> Response[str]:
    """Export readers' questions as CSV, without their authors."""
    if not sign_ins.knows(request.cookies.get(COOKIE, "")):
        raise NotPermitted(PAGE_EXPIRED)
    asked = await service.services.chats.recent_questions(MOST_READ)
    titles = {book.slug: book.title for book in await service.services.library.books()}
    headers = {"Content-Disposition": 'attachment; filename="questions.csv"', **NO_STORE}
    table = await beside_loop(lambda: as_csv(asked, titles))
    return Response(table, media_type="text/csv; charset=utf-8", headers=headers)


HANDLERS = [page, progress, questions, sign_in, sign_out, ingest, upload, check, previous]


async def _board(service: AnswerService, jobs: Jobs, view: TeacherView, settings: Settings, address: str) -> html.Board:
    """Replace a failed lookup by a line on the page."""
    generator, troubles = service.services.generator, [service.services.trouble] if service.services.trouble else []
    if service.space.low:
        troubles.append(DISK_LOW.format(free_mb=service.space.free_bytes >> 20, floor_mb=settings.free_space_mb))
    elif service.space.failed:
        troubles.append(NOT_STORING)
    name = generator.name if generator is not None else ""
    books, models, left_out = [], [], []
    try:
        books, left_out = await view.books(), await view.left_out()
    except LutrinError as error:
        troubles.append(f"{error.detail} {error.remedy}".strip())
    try:
        models = view.models(name)
    except LutrinError as error:
        troubles.append(f"{error.detail} {error.remedy}".strip())
    asked = await _questions(service, troubles)
    prepared = await _prepared(service, view)
    return html.Board(
        books=books,
        left_out=left_out,
        corpus=str(settings.corpus_dir),
        job=jobs.newest(),
        load=_load(service),
        models=models,
        model=name,
        model_ready=generator is not None and await generator.ready(),
        health=view.health,
        prepared=prepared,
        asked=asked,
        address=address,
        troubles=troubles,
    )


async def _prepared(service: AnswerService, view: TeacherView) -> list[PreparedRow]:
    companions = service.services.companions
    if companions is None:
        return []
    try:
        return [
            prepared_row(book.slug, await companions.listed(book.slug, Wanted()), await view.studied(book.slug))
            for book in await service.services.library.books()
        ]
    except LutrinError:
        return []  # an index that cannot be read is told elsewhere on the page


async def _questions(service: AnswerService, troubles: list[str]) -> Overview:
    """What readers asked, and what became of it; what is in the way is added to `troubles`."""
    library, companions = service.services.library, service.services.companions
    pinned: set[str] = set()
    try:
        shelf = await library.books()
        books = [(book.slug, book.title, await library.chapters(book.slug)) for book in shelf]
        if companions is not None:
            pinned = {key_of(question) for book in shelf for question in await companions.pinned(book.slug)}
    except LutrinError:
        books = []  # before the first ingest there is none
    if service.services.trouble:
        return Overview()  # nothing is stored, and that is said already
    try:
        asked = await service.services.chats.recent_questions(MOST_READ)
    except LutrinError as error:
        troubles.append(f"{error.detail} {error.remedy}".strip())
        return Overview()
    today = service.services.now().date()
    return await beside_loop(lambda: overview(asked, books, today, pinned))


def _load(service: AnswerService) -> Load:
    return load_of(service.metrics, readers=service.presence.count(), waiting=service.services.queue_length())


def _cookie(value: str, max_age_s: int, *, secure: bool) -> Cookie:
    return Cookie(
        key=COOKIE, value=value, path="/teacher", max_age=max_age_s, httponly=True, samesite="strict", secure=secure
    )
