"""Assignments: the page for the class and the results that it sends, and the teacher's pages around them."""

from collections import defaultdict
from typing import Annotated, get_args
from urllib.parse import parse_qsl

import msgspec
from litestar import MediaType, Response, get, post
from litestar.di import NamedDependency as Given
from litestar.params import FromPath, JSONBody

from lutrin.errors import InvalidInput, NotFound
from lutrin.guest_ports import Server, Visit
from lutrin.log import get_logger
from lutrin.messages import CHOOSE_HINTS, NOTHING_HERE
from lutrin.prepared import ON_PAPER
from lutrin.records import Hints, StoredAssignment
from lutrin.serve.problems import operation
from lutrin.serve.templating import render
from lutrin_teacher import assignment_pages as view
from lutrin_teacher.assignment_pages import Wish
from lutrin_teacher.homework import (
    MOST_CARDS,
    MOST_QUESTIONS,
    Assignment,
    ItemResult,
    cards_of,
    check,
    new_name,
    was_known,
)
from lutrin_teacher.teacher import PAGE, led_to, page_response, pupils_address
from lutrin_teacher.teacher_page import MOST_READ, qr_uri

REVALIDATE = {"Cache-Control": "no-cache"}
MOST_DIGITS = 4
_log = get_logger("teacher")


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """An anonymous result of an assignment, sent by a pupil's browser."""

    receipt: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{32}$")]
    """Random id of this submission; a repeated one has the same id."""
    opened: bool = False
    """Whether this browser opened the assignment for the first time."""
    finished: bool = False
    """Whether this browser has just finished it."""
    results: Annotated[tuple[ItemResult, ...], msgspec.Meta(max_length=MOST_CARDS + MOST_QUESTIONS)] = ()


@get("/a/{name:str}", **operation("assignment", "An assignment of a class", "pages", 404, 503))
async def show(name: FromPath[str], server: Given[Server]) -> Response[str]:
    """Show the page for the class."""
    assignment = _decode(await server.assignments.get(name))
    library = server.library
    book, practice = await library.book(assignment.book), await library.practice(assignment.book)
    pages = tuple(await library.contents(assignment.book))
    page = await server.page(
        ("assignment", name, assignment, book, pages),
        practice,
        lambda: view.pupils_page(name, assignment, book, pages, practice),
    )
    return Response(page, media_type=MediaType.HTML, headers=REVALIDATE)


@post(
    "/api/assignments/{name:str}/results",
    **operation("assignmentResults", "Count results of an assignment", "reading", 404, 413, 422, 503),
    status_code=204,
)
async def count(name: FromPath[str], data: JSONBody[Results], server: Given[Server]) -> None:
    """Count a result; repeated submissions count once."""
    tables = server.assignments
    assignment = _decode(await tables.get(name))
    practice = await server.library.practice(assignment.book)
    cards = {card.id: card for card in cards_of(practice, (*assignment.cards, *assignment.questions))}
    known = {one.card: was_known(cards[one.card], one) for one in data.results if one.card in cards}
    await tables.count(name, data.receipt, known, opened=data.opened, finished=data.finished)


@get("/teacher/assignments/new", operation_id="teacherNewAssignment", **PAGE)
async def choose(visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Show the form that composes an assignment."""
    if not visit.signed_in:
        return led_to("/teacher")
    library = server.library
    books = await library.books()
    fields = _lists(parse_qsl(visit.query_string, keep_blank_values=True))
    slug = next(iter(fields["book"]), "")
    book = next((one for one in books if one.slug == slug), None) or (books[0] if books else None)
    if book is None:
        raise NotFound(NOTHING_HERE)
    wish = Wish() if fields["other"] or "cards" not in fields else _wish(fields)
    pages, practice = await library.contents(book.slug), await library.practice(book.slug)
    page = await server.compute(
        lambda: view.choosing_page(books, book, pages, practice, wish=wish, form_key=visit.form_key)
    )
    return page_response(page)


@post("/teacher/assignments", operation_id="teacherHandOut", **PAGE)
async def hand_out(visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Create an assignment."""
    await visit.form()
    fields = _lists(await visit.pairs())
    book = next(iter(fields["book"]), "")
    hints = next(iter(fields["hints"]), "")
    if hints not in get_args(Hints):
        raise InvalidInput(CHOOSE_HINTS)
    library = server.library
    known = {page.filename for page in await library.contents(book)}
    ids = {card.id for card in (await library.practice(book)).cards}
    assignment = Assignment(
        book=book,
        title=" ".join(" ".join(fields["title"]).split()),
        note="\n".join(fields["note"]).strip(),
        pages=tuple(name for name in fields["page"] if name in known),
        cards=tuple(id_ for id_ in fields["card"] if id_ in ids),
        questions=tuple(id_ for id_ in fields["question"] if id_ in ids),
        shuffled="true" in fields["shuffled"],
        answers="true" in fields["answers"],
        hints=hints,
    )
    check(assignment)
    name = new_name()
    await server.assignments.add(name, msgspec.json.encode(assignment).decode())
    _log.info("assignment_handed_out", book=book)
    return led_to(f"/teacher/assignments/{name}")


@get("/teacher/assignments/{name:str}", operation_id="teacherAssignment", **PAGE)
async def results(name: FromPath[str], visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Show the progress of a class."""
    if not visit.signed_in:
        return led_to("/teacher")
    await server.door.follow()
    stored = await server.assignments.get(name)
    assignment = _decode(stored)
    book = await server.library.book(assignment.book)
    pages, practice = await server.library.contents(book.slug), await server.library.practice(book.slug)
    counts = await server.assignments.card_counts(name)
    asked = await server.recent_questions(MOST_READ)
    address = pupils_address(visit, server)
    page = await server.compute(
        lambda: view.results_page(
            stored,
            assignment,
            book,
            pages,
            practice,
            counts=counts,
            asked=asked,
            address=f"{address}a/{name}" if address else "",
            can_open=server.door.is_possible,
            form_key=visit.form_key,
        )
    )
    return page_response(page)


@get("/teacher/assignments/{name:str}/wall", operation_id="teacherAssignmentWall", **PAGE)
async def show_large(name: FromPath[str], visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Show the address of an assignment and its QR code, large enough for a projector."""
    address = pupils_address(visit, server)
    back = f"/teacher/assignments/{name}"
    if not visit.signed_in or not address:
        return led_to(back)
    await server.assignments.get(name)
    address = f"{address}a/{name}"
    return page_response(render("teacher_class.html", address=address, code=qr_uri(address), back=back))


@post("/teacher/assignments/{name:str}/forget", operation_id="teacherForgetAssignment", **PAGE)
async def forget(name: FromPath[str], visit: Given[Visit], server: Given[Server]) -> Response[str]:
    """Delete an assignment with its counts."""
    await visit.form()
    await server.assignments.forget(name)
    _log.info("assignment_forgotten")
    return led_to("/teacher#assignments")


HANDLERS = [show, count, choose, hand_out, results, show_large, forget]


def _decode(stored: StoredAssignment) -> Assignment:
    return msgspec.json.decode(stored.body, type=Assignment)


def _lists(pairs: list[tuple[str, str]]) -> defaultdict[str, list[str]]:
    lists: defaultdict[str, list[str]] = defaultdict(list)
    for name, value in pairs:
        lists[name].append(value)
    return lists


def _wish(fields: dict[str, list[str]]) -> Wish:
    def number(name: str, most: int) -> int:
        text = next(iter(fields[name]), "")[:MOST_DIGITS]
        return min(int(text), most) if text.isascii() and text.isdigit() else 0

    return Wish(
        pages=tuple(fields["page"]),
        chapters=tuple(int(text) for text in fields["chapter"] if text.isascii() and text[:MOST_DIGITS].isdigit()),
        cards=number("cards", MOST_CARDS),
        questions=number("questions", MOST_QUESTIONS),
        kinds=tuple(kind for kind in fields["kind"] if kind in ON_PAPER),
    )
