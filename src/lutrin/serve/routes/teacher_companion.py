"""The teacher's pages on what is prepared: entries to approve, hide, mend and pin, and answers to pin."""

from collections.abc import Mapping, Sequence
from typing import get_args
from urllib.parse import parse_qsl, quote, urlencode

import msgspec
from litestar import Response, get, post
from litestar.di import NamedDependency as Given
from litestar.params import FromPath

from lutrin.errors import InvalidInput, NotFound
from lutrin.index.companion import THE_TEACHER, Kind, State
from lutrin.log import get_logger
from lutrin.messages import BOOK_FIRST, NOTHING_HERE
from lutrin.records import Answer, DoneEvent, Passage, Question
from lutrin.serve.answer_service import AnswerService, check_lengths
from lutrin.serve.prepared_html import companion_page, proposal_page, proposed_text
from lutrin.serve.requests import HTTPRequest
from lutrin.serve.teacher_forms import COOKIE, PAGE, check_form, is_teacher, led_to, shown_page
from lutrin.serve.teacher_sign_in import SignIns
from lutrin.study.teach import Act, Change, Companions, Wanted

KINDS, STATES, ACTS = frozenset(get_args(Kind)), frozenset(get_args(State)), frozenset(get_args(Act))
MOST_PAGE = 100_000
MOST_DIGITS = 6
"""Of the number of a choice."""
MOST_NEAR = 3
"""Passages that may prove an answer which the teacher writes to a question that the book does not answer by itself."""
INBOX = "inbox"
"""Part of the teacher's page from which an answer may be pinned."""

_log = get_logger("teacher")


@get("/teacher/companion/{book:str}", operation_id="teacherCompanion", **PAGE)
async def entries(
    book: FromPath[str], request: HTTPRequest, service: Given[AnswerService], sign_ins: Given[SignIns]
) -> Response[str]:
    """The entries of a book's companion, some at a time."""
    if not is_teacher(request, sign_ins):
        return led_to("/teacher")
    wanted = _wanted(dict(request.query_params))
    listed = await _companions(service).listed(book, wanted)
    key = sign_ins.form_key(request.cookies.get(COOKIE, ""))
    return shown_page(companion_page(book, listed, wanted, key))


@post("/teacher/companion/{book:str}/{entry:str}", operation_id="teacherEntry", **PAGE)
async def change(
    book: FromPath[str],
    entry: FromPath[str],
    request: HTTPRequest,
    service: Given[AnswerService],
    sign_ins: Given[SignIns],
) -> Response[str]:
    """Approve, hide, mend, pin an entry, or take that back."""
    fields = await check_form(request, sign_ins)
    if fields.get("act") not in ACTS:
        raise InvalidInput("There is no such button.")
    number = fields.get("answer", "")
    wanted = Change(
        act=msgspec.convert(fields["act"], Act),
        text=fields.get("text", ""),
        choices=fields.get("choices", ""),
        answer=int(number[:MOST_DIGITS]) if number.isascii() and number.isdigit() else None,
    )
    await _companions(service).change(book, entry, wanted)
    _log.info("entry_changed", book=book, entry=entry, act=wanted.act)
    back = urlencode(_filters(dict(parse_qsl(fields.get("back", "")))))
    return led_to(f"/teacher/companion/{quote(book)}?{back}#e{quote(entry)}")


@get("/teacher/answer", operation_id="teacherAnswer", **PAGE)
async def proposal(request: HTTPRequest, service: Given[AnswerService], sign_ins: Given[SignIns]) -> Response[str]:
    """How a question is answered now, to be pinned as it is or in better words."""
    if not is_teacher(request, sign_ins):
        return led_to("/teacher")
    text, book = request.query_params.get("question", ""), request.query_params.get("book", "")
    books = await service.services.library.books()
    known = next((one for one in books if one.slug == book), None) or (books[0] if books else None)
    if known is None:
        raise NotFound(NOTHING_HERE)
    answer = await _current_answer(service, text, known.slug) if text.strip() else None
    near: Sequence[Passage] = ()
    if answer is not None and not answer.excerpts:
        near = await service.services.retrieve(Question(text=text, book=known.slug, top_k=MOST_NEAR))
    key = sign_ins.form_key(request.cookies.get(COOKIE, ""))
    return shown_page(
        proposal_page(books, known, text, answer, key, near=near, back=request.query_params.get("back", ""))
    )


@post("/teacher/answer", operation_id="teacherPinAnswer", **PAGE)
async def pin(request: HTTPRequest, service: Given[AnswerService], sign_ins: Given[SignIns]) -> Response[str]:
    """Have a question answered so from now on."""
    fields = await check_form(request, sign_ins)
    book, question = fields.get("book", ""), fields.get("question", "")
    answer = await _current_answer(service, question, book)
    proofs = [(one.chunk_id, one.text) for one in answer.excerpts] or [(fields.get("proof", ""), "")]
    text = fields.get("text") or proposed_text(answer)
    pinned = await _companions(service).pin_answer(book, question, text, proofs)
    if (await _current_answer(service, question, book)).prepared_by != THE_TEACHER:
        await _companions(service).change(book, pinned, Change(act="undo"))
        raise InvalidInput(BOOK_FIRST)
    _log.info("answer_pinned", book=book)
    if fields.get("back") == INBOX:
        return led_to(f"/teacher#{INBOX}")
    return led_to(f"/teacher/answer?{urlencode({'book': book, 'question': question})}")


HANDLERS = [entries, change, proposal, pin]


async def _current_answer(service: AnswerService, text: str, book: str) -> Answer:
    """The answer that a reader of a book would get now; nothing of it is stored."""
    question = Question(text=text, book=book)
    check_lengths(question)
    events = [event async for event in service.services.answers.answer(question)]
    done = events[-1]
    if not isinstance(done, DoneEvent):
        raise TypeError("an answer ends with all of it")
    return done.answer


def _companions(service: AnswerService) -> Companions:
    if service.services.companions is None:
        raise NotFound(NOTHING_HERE)
    return service.services.companions


def _filters(given: Mapping[str, str]) -> dict[str, str]:
    """What an address may say of the entries that are wanted, and nothing else."""
    page = given.get("page", "")
    return {
        name: value
        for name, value, is_known in (
            ("kind", given.get("kind", ""), given.get("kind") in KINDS),
            ("state", given.get("state", ""), given.get("state") in {*STATES, "pinned"}),
            ("words", given.get("words", "")[:200], bool(given.get("words", "").strip())),
            ("page", page, page.isascii() and page.isdigit() and 0 < int(page[:7]) < MOST_PAGE),
        )
        if is_known
    }


def _wanted(given: Mapping[str, str]) -> Wanted:
    known = _filters(given)
    state = known.get("state")
    return Wanted(
        kind=msgspec.convert(known.get("kind"), Kind | None),
        state=None if state == "pinned" else msgspec.convert(state, State | None),
        pinned=state == "pinned",
        words=known.get("words", ""),
        page=int(known.get("page", "1")),
    )
