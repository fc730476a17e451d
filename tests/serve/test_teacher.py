"""The teacher's page: off without a token, closed without signing in, and true about books, load and health."""

import asyncio
import csv
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

import httpx
import msgspec
import pytest
from markupsafe import escape

from lutrin import messages
from lutrin.index.catalog import Catalog, PublishedBook
from lutrin.index.manifest import MANIFEST, Manifest
from lutrin.messages import PAGE_EXPIRED, TEACHER_OFF, WRONG_PASSWORD
from lutrin.records import AskedQuestion, BookInfo, ModelState
from lutrin.serve.teacher_sign_in import MAX_WAITING, MOST_FIELDS
from lutrin.settings import load_settings
from lutrin_teacher.teacher_page import Board, Examination, as_csv, board_page, outcome_of, overview

from .conftest import House, Serve

TOKEN = "correct-horse-battery"
PAGE = "/teacher"


class Ingest:
    """An ingestion that waits for the test after its first line."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()

    async def __call__(self, note: Callable[[str], None]) -> Mapping[str, int | float | str]:
        """Ingest."""
        note("Processing 01-<b>chapter</b>... 12 chunks created")
        await self.go_on.wait()
        return {"processed": 1, "unchanged": 0, "failed": 0, "chunks_created": 12, "seconds": 0.5}


async def sign_in(client: httpx.AsyncClient, token: str = TOKEN) -> httpx.Response:
    """Type the token."""
    return await client.post(f"{PAGE}/sign-in", data={"token": token})


async def key_of(client: httpx.AsyncClient) -> str:
    """The key in the page's forms."""
    found = re.search(r'name="key" value="([0-9a-f]{40})"', (await client.get(PAGE)).text)
    assert found
    return found[1]


async def press(client: httpx.AsyncClient, button: str) -> httpx.Response:
    """Press a button of the page."""
    return await client.post(f"{PAGE}/{button}", data={"key": await key_of(client)})


async def progress(client: httpx.AsyncClient, until: Callable[[dict[str, object]], bool]) -> dict[str, object]:
    """The state for the page's script, once it is as expected."""
    for _ in range(600):
        news: dict[str, object] = (await client.get(f"{PAGE}/progress")).json()
        if until(news):
            return news
        await asyncio.sleep(0.02)
    raise AssertionError(news)


def publish(data_dir: Path, name: str) -> None:
    """A generation as an ingest leaves it, as far as the page reads it."""
    info = BookInfo(slug="physical-ai", title="Physical AI & Robots", edition="First")
    manifest = Manifest(
        name=name, book=info, created="2026-11-22T08:30:00+00:00", collection="c", embedder="e", dimension=2,
        recipe="r", files=42, chunks=1610, windows=1, tokens=1, hashes={},
    )  # fmt: skip
    folder = data_dir / "books" / info.slug / name
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_bytes(msgspec.json.encode(manifest))
    book = PublishedBook(info=info, corpus="/c", recipe="r", current=name, previous=None, manifest_sha256="0")
    with Catalog(data_dir / "catalog.db") as catalog:
        catalog.publish(book, published=manifest.created, files=[])


async def test_off_without_a_password(serve: Serve) -> None:
    """The page asks for a first one; no button and no token does anything."""
    async with serve() as client:
        page = await client.get(PAGE)
        assert page.status_code == 200
        assert 'action="/teacher/set-up"' in page.text
        tried = await sign_in(client, "")
        assert (tried.status_code, "set-cookie" in tried.headers) == (403, False)
        reply = await client.post(f"{PAGE}/ingest", data={"key": ""})
        assert (reply.status_code, reply.json()["detail"]) == (403, TEACHER_OFF)
        assert (await client.get(f"{PAGE}/progress")).status_code == 403


async def test_nothing_is_shown_before_signing_in(serve: Serve, house: House) -> None:
    """Only the form; a wrong token is told so, and nothing of the books is on the page."""
    publish(house.data_dir, "000001-aaaa")
    async with serve(admin_token=TOKEN) as client:
        page = await client.get(PAGE)
        assert page.status_code == 200
        assert 'action="/teacher/sign-in"' in page.text
        assert "Physical AI" not in page.text
        for wrong in ("", "Correct-horse", f"{TOKEN}x", "é"):
            reply = await sign_in(client, wrong)
            assert (reply.status_code, "set-cookie" in reply.headers) == (403, False)
            assert WRONG_PASSWORD in reply.text
            assert "token is" not in reply.text


async def test_the_token_stays_out_of_addresses_and_pages(serve: Serve) -> None:
    """In its place there is a cookie that no script reads, no other site sends, and no browser keeps for long."""
    async with serve(admin_token=TOKEN) as client:
        reply = await sign_in(client, f" {TOKEN}\n")
        assert (reply.status_code, reply.headers["location"]) == (303, PAGE)
        cookie = reply.headers["set-cookie"].lower()
        for part in ("httponly", "samesite=strict", "path=/teacher", "max-age=28800"):
            assert part in cookie
        assert "secure" not in cookie.replace("secure=", "")
        assert TOKEN not in cookie
        page = await client.get(PAGE)
        assert "Sign out" in page.text
        assert TOKEN not in page.text
        assert page.headers["cache-control"] == "no-store"
        behind_tls = await client.post(f"{PAGE}/sign-in", data={"token": TOKEN}, headers={"X-Forwarded-Proto": "https"})
        assert "secure" in behind_tls.headers["set-cookie"].lower()


async def test_signing_out_and_time_end_it(serve: Serve, house: House) -> None:
    """The cookie is worth nothing after the button, nor after eight hours."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        kept = {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}
        assert (await press(client, "sign-out")).status_code == 303
        assert "Sign in" in (await client.get(PAGE, headers=kept)).text
        await sign_in(client)
        assert "Sign out" in (await client.get(PAGE)).text
        house.clock.now_s += 8 * 3600
        assert "Sign in" in (await client.get(PAGE)).text


async def test_many_wrong_attempts_cost_time(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one after the tenth in a minute waits, the right token too, which then gets in."""
    monkeypatch.setattr("lutrin.serve.teacher_sign_in.DELAY_S", 0.3)
    async with serve(admin_token=TOKEN) as client:
        for _ in range(10):
            assert (await sign_in(client, "wrong")).status_code == 403
        began_s = time.monotonic()
        guesses = [sign_in(client, "wrong") for _ in range(12)]
        codes = [reply.status_code for reply in await asyncio.gather(*guesses)]
        assert time.monotonic() - began_s >= 0.3
        assert sorted(codes) == [403] * MAX_WAITING + [429] * 4
        began_s = time.monotonic()
        assert (await sign_in(client)).status_code == 303
        assert time.monotonic() - began_s >= 0.3


@pytest.mark.parametrize("button", ["ingest", "check", "sign-out", "books/physical-ai/previous"])
async def test_a_button_needs_the_page_that_it_is_on(serve: Serve, house: House, button: str) -> None:
    """A cookie alone, or the key of another browser's page, presses nothing."""
    house.ingest = Ingest()
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        other = await key_of(client)
        await sign_in(client)
        for fields in ({}, {"key": ""}, {"key": other}, {"key": "é"}):
            reply = await client.post(f"{PAGE}/{button}", data=fields)
            assert (reply.status_code, reply.json()["detail"]) == (403, PAGE_EXPIRED)
        flood = "&".join(f"a{number}=1" for number in range(MOST_FIELDS + 1))
        assert (await client.post(f"{PAGE}/{button}", content=flood)).status_code == 400
        assert "Sign out" in (await client.get(PAGE)).text


async def test_the_books_are_read_again(serve: Serve, house: House) -> None:
    """The button starts one ingestion, the page shows its lines and, at the end, its figures."""
    house.ingest = ingest = Ingest()
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        begun = await press(client, "ingest")
        assert (begun.status_code, begun.headers["location"]) == (303, "/teacher#books")
        assert (await press(client, "ingest")).status_code == 409
        news = await progress(client, lambda news: "so far" in str(news["job_text"]))
        assert news["job"] == "running"
        page = (await client.get(PAGE)).text
        assert "Reading the books… 1 part so far, the last one: 01-&lt;b&gt;chapter&lt;/b&gt;." in page
        assert "chunk" not in page
        assert '<noscript><meta http-equiv="refresh"' in page
        assert 'action="/teacher/ingest"' not in page
        ingest.go_on.set()
        await progress(client, lambda news: news["job"] == "done")
        page = (await client.get(PAGE)).text
        assert "The books have been read. 1 file read." in page
        assert 'http-equiv="refresh"' not in page


async def test_a_book_goes_back_to_its_previous_index(serve: Serve, house: House) -> None:
    """After the button the older one is current, and there is nothing more to go back to."""
    publish(house.data_dir, "000001-aaaa")
    publish(house.data_dir, "000002-bbbb")
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        page = (await client.get(f"{PAGE}/books/physical-ai")).text
        assert "Physical AI &amp; Robots" in page
        assert "Go back to it" in page
        back = (await press(client, "books/physical-ai/previous")).headers["location"]
        assert back == "/teacher/books/physical-ai"
        with Catalog(house.data_dir / "catalog.db") as catalog:
            book = catalog.book("physical-ai")
        assert book is not None
        assert (book.current, book.previous) == ("000001-aaaa", None)
        assert "Go back to it" not in (await client.get(back)).text
        assert (await press(client, "books/physical-ai/previous")).status_code == 404


async def test_the_load_is_what_happened(serve: Serve, house: House) -> None:
    """Readers of the last five minutes, answers by kind, times."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        for session in ("a" * 32, "b" * 32, "b" * 32):
            reply = await client.post("/api/query", json={"query": "The secret loop?", "session_id": session})
            assert reply.status_code == 200
        figures = (await client.get(f"{PAGE}/progress")).json()["figures"]
        assert (await client.get(f"{PAGE}/progress")).json()["now"] == "2 readers asked in the last five minutes."
        assert figures["answers"] == "3"
        assert (figures["generated"], figures["refused"], figures["failed"]) == ("3", "0", "0")
        assert figures["whole"] == "0.01 s and 0.01 s"
        house.clock.now_s += 301
        assert (await client.get(f"{PAGE}/progress")).json()["now"] == "Nobody is asking at the moment."
        house.model_state = ModelState("ready", messages.EXPLAINS_LATER)
        assert (await client.get(f"{PAGE}/progress")).json()["now"].endswith(f" {messages.EXPLAINS_LATER}")
        assert (await client.get("/ready")).json()["model_progress"] == messages.EXPLAINS_LATER


async def test_the_doctor_looks(serve: Serve) -> None:
    """In a process of its own; what is to mend is on the page with its remedy."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        assert (await press(client, "check")).headers["location"] == "/teacher#health"
        assert "Checking everything" in (await client.get(PAGE)).text
        await progress(client, lambda news: not news["awaited"])
        page = (await client.get(PAGE)).text
        assert "No book has been ingested yet." in page
        assert "Run `lutrin ingest`." in page
        assert "to fix" in page


async def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    """The last line that it printed is on the page, and the button is there again."""
    settings = load_settings(data_dir=tmp_path)
    job = Examination(settings, lambda: datetime.now(UTC), "no-such-command")
    tasks: list[asyncio.Task[None]] = []
    job.start(lambda work: tasks.append(asyncio.ensure_future(work)))
    assert job.running
    await tasks[0]
    assert (job.running, job.checks) == (False, None)
    assert "no-such-command" in job.trouble
    page = board_page(board(job), "key")
    assert escape(job.trouble) in page
    assert 'action="/teacher/check"' in page


def board(health: Examination) -> Board:
    """A page of a server that has nothing yet."""
    return Board(
        books=[], facts={}, job=None, now="", figures=[], models=[], model="", model_ready=False, health=health,
    )  # fmt: skip


async def test_what_cannot_be_looked_up_costs_a_line(serve: Serve, house: House) -> None:
    """A catalogue that is none, and a folder without a manifest: the page says so and shows the rest."""
    (house.data_dir / "catalog.db").write_bytes(b"no database at all" * 100)
    async with serve(admin_token=TOKEN, models_dir=house.data_dir) as client:
        await sign_in(client)
        page = await client.get(PAGE)
        assert page.status_code == 200
        assert page.text.count('role="alert"') == 2
        assert "Check now" in page.text


async def test_the_page_loads_only_its_own_files(serve: Serve) -> None:
    """No inline script, style or handler; every file that it names is there."""
    async with serve(admin_token=TOKEN) as client:
        closed = (await client.get(PAGE)).text
        await sign_in(client)
        for page in (closed, (await client.get(PAGE)).text):
            assert not re.search(r"<style|\sstyle=|\son[a-z]+=|<script(?![^>]*src=)|https?://", page)
            for url in re.findall(r'<(?:script|link)[^>]*(?:src|href)="([^"]+)"', page):
                assert (await client.get(url)).status_code == 200


async def test_what_is_asked_is_shown_by_chapter_without_who_asked(serve: Serve) -> None:
    """Questions are counted, not readers; what came twice, and what readers thought of it, as text."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        assert "Nobody has asked anything yet." in (await client.get(PAGE)).text
        for number, session in enumerate(("e" * 32, "e" * 32, "f" * 32)):
            body = {"message": f"What is <b>the</b> loop{'?' * number}", "session_id": session}
            reply = await client.post("/chat", json=body, headers={"X-Lutrin-Client": "s" * 32})
            assert reply.status_code == 200
        judged = reply.headers["x-lutrin-message"]
        thumb = {"value": "down", "comment": "Too <long>"}
        done = await client.post(f"/messages/{judged}/feedback", json=thumb, headers={"X-Lutrin-Client": "s" * 32})
        assert done.status_code == 204
        page = (await client.get(PAGE)).text
        assert "3 questions, without names" in page
        assert re.search(
            r'<th scope="row">Chapter 1: Embodied Intelligence</th>.*?<td class="number">3</td>', page, re.DOTALL
        )
        assert "What is &lt;b&gt;the&lt;/b&gt; loop" in page
        assert "3 times" in page
        assert re.search(r"<summary>Missed <span class=\"hint\">1</span>.*3 times.*1 not helpful", page, re.DOTALL)
        assert "<q>Too &lt;long&gt;</q>" in page
        assert "eeee" not in page
        table = await client.get(f"{PAGE}/questions.csv")
        assert table.headers["content-type"].startswith("text/csv")
        assert table.text.count("Chapter 1: Embodied Intelligence") == 3
        assert '"down","Too <long>"' in table.text


async def test_the_table_of_questions_is_closed_like_the_page(serve: Serve) -> None:
    """No table without signing in."""
    async with serve(admin_token=TOKEN) as client:
        assert (await client.get(f"{PAGE}/questions.csv")).status_code == 403


async def test_the_script_of_the_form_is_told_what_was_left_out(serve: Serve, house: House, tmp_path: Path) -> None:
    """As JSON, where the form itself leads back to the page."""
    house.ingest = ingest = Ingest()
    ingest.go_on.set()
    async with serve(admin_token=TOKEN, corpus_dir=tmp_path / "corpus") as client:
        await sign_in(client)
        files = [("files", ("lab/a.md", b"# A")), ("files", ("lab/b.exe", b"x"))]
        accept = {"Accept": "application/json"}
        sent = await client.post(f"{PAGE}/books", files=files, data={"key": await key_of(client)}, headers=accept)
        assert sent.status_code == 202
        reply = sent.json()
        assert (reply["book"], reply["stored"], [item["filename"] for item in reply["left_out"]]) == (
            "lab",
            1,
            ["b.exe"],
        )


def test_chapters_stand_in_the_books_order_and_days_in_theirs() -> None:
    """A chapter that the book no longer has comes last; what is older than the bars counts all the same."""

    def asked(chapter: str, created: str) -> AskedQuestion:
        return AskedQuestion(
            text="?", created=f"{created}T08:00:00+00:00", kind="extractive", book="lab", chapter=chapter
        )

    questions = [
        asked("Ten", "2026-11-25"),
        asked("Two", "2026-11-24"),
        asked("Two", "2026-11-25"),
        asked("Gone", "2026-01-01"),
    ]
    shown = overview(questions, [("lab", "Lab", ["Two", "Ten"])], date(2026, 11, 25))
    ((_, chapters),) = shown.books
    assert [(chapter.title, chapter.total) for chapter in chapters] == [("Two", 2), ("Ten", 1), ("Gone", 1)]
    assert [chapter.days[-2:] for chapter in chapters] == [(1, 1), (0, 1), (0, 0)]
    assert (len(chapters[0].days), shown.since) == (14, date(2026, 11, 12))


def test_bars_begin_on_the_day_of_the_first_question() -> None:
    """A class that began yesterday sees two days, not twelve empty ones before."""
    questions = [
        AskedQuestion(text="?", created=f"2026-11-{day}T08:00:00+00:00", kind="extractive", book="lab", chapter="Two")
        for day in (25, 24)
    ]
    shown = overview(questions, [("lab", "Lab", ["Two"])], date(2026, 11, 25))
    assert (shown.since, shown.books[0][1][0].days) == (date(2026, 11, 24), (1, 1))


OUTCOMES: list[tuple[dict[str, object], str]] = [
    ({}, "answered"),
    ({"odds": 3.0}, "answered"),
    ({"odds": 0.5}, "doubtful"),
    ({"odds": 1.8}, "doubtful"),
    ({"odds": 1.8, "yes": 3.0}, "answered"),
    ({"odds": 0.5, "yes": 3.0}, "answered"),
    ({"odds": 3.0, "closest": True}, "doubtful"),
    ({"odds": 3.0, "again": True}, "doubtful"),
    ({"odds": 0.5, "prepared_by": "the authors"}, "answered"),
    ({"odds": 0.5, "thumb": "up"}, "answered"),
    ({"odds": 3.0, "thumb": "down"}, "missed"),
    ({"refusal": "out_of_scope"}, "missed"),
]


def test_an_answer_counts_as_its_odds_its_thumb_and_its_reader_say() -> None:
    """A thumb outweighs everything; a reader who asks again was not served."""
    for facts, outcome in OUTCOMES:
        question = AskedQuestion(text="?", created="2026-11-25T08:00:00+00:00", kind="extractive", **facts)  # type: ignore[arg-type] # of several types
        assert outcome_of(question) == outcome


def test_the_inbox_has_each_question_once_the_worst_first() -> None:
    """Messages that are no questions are left out; those that the teacher has answered count as answered."""

    def asked(text: str, **facts: object) -> AskedQuestion:
        return AskedQuestion(text=text, created="2026-11-25T08:00:00+00:00", kind="extractive", **facts)  # type: ignore[arg-type] # of several types

    questions = [
        asked("What is a gear?", odds=4.0),
        asked("and why", searched="What is a gear – and why", odds=0.4),
        asked("What is a bearing?", refusal="not_in_book"),
        asked("what is  a bearing", refusal="not_in_book"),
        asked("What is a cam?", thumb="down", comment="Wrong."),
        asked("Hello", refusal="vague"),
    ]
    rows = overview(questions, [], date(2026, 11, 25), {"what is a cam"}).inbox
    assert [(row.text, row.times, row.outcome, row.pinned) for row in rows] == [
        ("What is a bearing?", 2, "missed", False),
        ("and why", 1, "doubtful", False),
        ("What is a gear?", 1, "answered", False),
        ("What is a cam?", 1, "answered", True),
    ]
    assert rows[1].question == "What is a gear – and why"


def test_a_spreadsheet_does_not_reckon_with_what_readers_wrote() -> None:
    """A cell that would be a formula is text."""
    evil = AskedQuestion(text="=1+1", created="2026-11-25T08:00:00+00:00", kind="refusal", comment="@x", thumb="down")
    (_, row) = csv.reader(as_csv([evil], {}).splitlines())
    assert row[3:] == ["'=1+1", "not in the book", "missed", "down", "'@x"]
