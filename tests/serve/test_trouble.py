"""A page that cannot be shown: people get a page that says so, programs a problem document."""

import re
from itertools import product

import httpx

from lutrin import messages
from lutrin.errors import IndexUnavailable
from lutrin.serve.app import HANDLERS
from lutrin.serve.guards import POLICY
from lutrin.serve.guest_pages import guest_pages
from lutrin.serve.html import trouble
from lutrin.serve.problems import PROGRAMS, prefers_html

from .conftest import House, Serve

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"}
WRONG = ["/read/no-such-book", "/read/no-such-book/01", "/read/physical-ai/no-such-page", "/nonsense", "/a/b/c?d=e"]
PROBLEM = "application/problem+json"
PAGE = "text/html; charset=utf-8"


def said(page: str) -> str:
    """The text of a page's main part, without tags."""
    return re.sub(r"<[^>]+>", " ", page.partition("<main")[2].partition("</main>")[0]).partition(">")[2]


async def test_a_wrong_address_is_answered_with_a_page(client: httpx.AsyncClient) -> None:
    """In the reader's layout: status 404, the strict policy, the sentence, the way to the books, search and chat."""
    for path in WRONG:
        response = await client.get(path, headers=BROWSER)
        assert (response.status_code, response.headers["content-type"]) == (404, PAGE), path
        assert response.headers["content-security-policy"] == POLICY
        assert response.headers["cache-control"] == "no-store"
        assert messages.NOTHING_HERE in said(response.text)
        assert '<a href="/">To the books</a>' in response.text
        for part in (
            "/static/reader.css",
            '<header class="top">',
            'id="lutrin:content"',
            "<lutrin-chat",
            'role="search"',
        ):
            assert part in response.text
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*src=)|https?://", response.text)


async def test_a_program_gets_the_problem_as_ever(client: httpx.AsyncClient) -> None:
    """A client that accepts anything, or JSON equally, gets RFC 9457's document."""
    expected = {"type": "about:blank", "title": "Not Found", "status": 404, "detail": messages.NOTHING_HERE}
    for path, accept in product(WRONG, ("*/*", "application/json", "application/json, text/html", "")):
        response = await client.get(path, headers={"Accept": accept})
        assert (response.status_code, response.headers["content-type"]) == (404, PROBLEM), (path, accept)
        assert response.json() == expected


async def test_addresses_of_programs_stay_theirs(client: httpx.AsyncClient) -> None:
    """A browser that opens them sees what its scripts would."""
    for name in sorted(PROGRAMS):
        response = await client.get(f"/{name}/no/such/thing", headers=BROWSER)
        assert (response.status_code, response.headers["content-type"]) == (404, PROBLEM), name


def test_every_address_is_known_as_a_persons_or_a_programs() -> None:
    """A handler that is added later must be told apart, too."""
    handlers = [*HANDLERS, *(handler for guest in guest_pages() for handler in guest.handlers)]
    beginnings = {path.strip("/").partition("/")[0] for handler in handlers for path in handler.paths}
    pages = {
        "",
        "a",
        "manifest.webmanifest",
        "offline",
        "picture",
        "qr.svg",
        "read",
        "search",
        "static",
        "study",
        "teacher",
        "widget",
        "worker.js",
    }
    assert beginnings - PROGRAMS == pages
    assert beginnings >= PROGRAMS


async def test_a_question_from_a_page_stays_a_problem(client: httpx.AsyncClient) -> None:
    """Only who asks for a page gets one."""
    response = await client.post("/nonsense", headers=BROWSER, json={})
    assert (response.status_code, response.headers["content-type"]) == (404, PROBLEM)


async def test_without_the_index_a_page_says_so(client: httpx.AsyncClient, house: House) -> None:
    """503 with the friendly sentence, a second try, the log's number, and nothing on it that would fail as well."""
    house.library.failure = IndexUnavailable("/data/books is gone")
    for path in ("/", "/read/physical-ai/01/02-loop"):
        response = await client.get(path, headers=BROWSER)
        assert (response.status_code, response.headers["content-type"]) == (503, PAGE)
        assert messages.KNOWLEDGE_BASE_DOWN in said(response.text)
        assert "/data" not in response.text
        assert '<a href="">Try again</a>' in response.text
        assert re.search(r"Error number: <code>[0-9a-f]{32}</code>", response.text)
        assert "lutrin-chat" not in response.text
        assert "search" not in response.text
        assert (await client.get(path)).json()["detail"] == messages.KNOWLEDGE_BASE_DOWN


async def test_an_error_that_nobody_foresaw_says_nothing_of_itself(client: httpx.AsyncClient, house: House) -> None:
    """500 with the sentence of the contract; what went wrong stays in the log."""
    house.library.failure = ZeroDivisionError("secret of the house")
    response = await client.get("/", headers=BROWSER)
    assert (response.status_code, response.headers["content-type"]) == (500, PAGE)
    assert response.headers["content-security-policy"] == POLICY
    assert messages.SOMETHING_WRONG in said(response.text)
    assert "secret" not in response.text
    assert "Traceback" not in response.text


async def test_a_form_of_the_teacher_is_answered_with_a_page(serve: Serve) -> None:
    """A button on a page whose sign-in is over leads back to it."""
    async with serve(admin_token="a-password-of-the-school") as client:
        response = await client.post("/teacher/ingest", headers=BROWSER, content="key=old")
        assert (response.status_code, response.headers["content-type"]) == (403, PAGE)
        assert messages.PAGE_EXPIRED in said(response.text)
        assert '<a href="/teacher">' in response.text
        assert "lutrin-chat" not in response.text
        assert (await client.post("/teacher/ingest", content="key=old")).headers["content-type"] == PROBLEM


async def test_a_foreign_host_name_gets_the_sentence_in_both_forms(client: httpx.AsyncClient) -> None:
    """Refusals of a guard have their page, too."""
    response = await client.get("/", headers={**BROWSER, "Host": "evil.example"})
    assert (response.status_code, response.headers["content-type"]) == (400, PAGE)
    assert messages.WRONG_HOST in said(response.text)
    assert (await client.get("/", headers={"Host": "evil.example"})).headers["content-type"] == PROBLEM


def test_a_form_cannot_be_sent_again_by_a_link() -> None:
    """If the teacher's page fails, the link leads back to it."""
    assert "Try again" in trouble(500, messages.SOMETHING_WRONG)
    assert "Try again" not in trouble(500, messages.SOMETHING_WRONG.partition(". ")[0], teacher=True)
    assert '<a href="/teacher">' in trouble(500, messages.SOMETHING_WRONG, teacher=True)


def test_nothing_on_the_page_is_markup_that_came_from_elsewhere() -> None:
    """Sentences and numbers are escaped."""
    page = trouble(400, "<script>x</script>", "<b>")
    assert "<script>x" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;x" in page


def test_who_wants_a_page_says_so() -> None:
    """`text/html` is named and weighs more than JSON."""
    for accept, page in (
        ("text/html", True),
        ("TEXT/HTML", True),
        ("text/html;q=0.5, */*;q=0.1", True),
        ("text/html; q=0.9, application/json;q=0.8", True),
        ("application/json;q=0.9, text/html;q=0.8", False),
        ("text/html, */*", False),
        ("text/html;q=0", False),
        ("text/event-stream", False),
        ("text/html;q=inf, */*", False),
        (";;,,q=;", False),
        ("", False),
    ):
        assert prefers_html(accept) is page
