"""An assignment from the teacher's choice to what she sees of thirty pupils: how far they are, never who."""

import asyncio
import re
import secrets
from typing import Any

import httpx
import pytest

from lutrin.messages import ASSIGNMENT_OVER
from lutrin.prepared import Card, Practice

from .conftest import House, Serve
from .test_teacher import PAGE, TOKEN, key_of, press, sign_in

START, LOOP = "/read/physical-ai/01/01-start", "/read/physical-ai/01/02-loop"
WORD = Card(
    id="w1", kind="question", front="What is <b>?", back="A letter.", url=START, section="Start",
    chapter="Chapter 1", author="the authors",
)  # fmt: skip
CHOICE = Card(
    id="c1", kind="choice", front="Which one?", back="", choices=("red", "green"), answer=1, url=LOOP, section="Loop",
    chapter="Chapter 1", author="the authors",
)  # fmt: skip
GAP = Card(
    id="g1", kind="gap", front="A _____ never ends.", back="Loop", url=LOOP, section="Loop", chapter="Chapter 1",
    author="the book",
)  # fmt: skip
FIELDS = {
    "book": "physical-ai", "title": "  Loops\nand more ", "note": "By Friday.", "page": "01/02-loop.mdx", "card": "w1",
    "question": ["c1", "g1"], "shuffled": "true", "hints": "first",
}  # fmt: skip


@pytest.fixture(autouse=True)
def filled(house: House) -> None:
    """Three cards on two pages."""
    house.library.deck = Practice(cards=(WORD, CHOICE, GAP))


async def hand_out(client: httpx.AsyncClient, **fields: Any) -> str:
    """Hand an assignment out; returns its name."""
    reply = await client.post(f"{PAGE}/assignments", data={**FIELDS, "key": await key_of(client), **fields})
    assert reply.status_code == 303, reply.text
    return reply.headers["location"].rpartition("/")[2]


async def send(client: httpx.AsyncClient, name: str, results: list[dict[str, Any]], **more: Any) -> httpx.Response:
    """Send results as a browser does."""
    body = {"receipt": secrets.token_hex(16), "results": results, **more}
    return await client.post(f"/api/assignments/{name}/results", json=body)


async def test_a_teacher_chooses_pages_and_gets_cards_proposed(serve: Serve) -> None:
    """A whole chapter or single pages; as many cards and questions of the wanted kinds as she asked for."""
    async with serve(admin_token=TOKEN) as client:
        assert (await client.get(f"{PAGE}/assignments/new")).headers["location"] == PAGE
        await sign_in(client)
        assert 'href="/teacher/assignments/new"' in (await client.get(PAGE)).text
        form = (await client.get(f"{PAGE}/assignments/new")).text
        assert "all 2 pages" in form
        assert "Hand it out" not in form
        asked = "book=physical-ai&page=01/02-loop.mdx&cards=1&questions=1&kind=choice"
        page = (await client.get(f"{PAGE}/assignments/new?{asked}")).text
        assert 'name="card" value="g1" checked' in page
        assert 'name="question" value="c1" checked' in page
        assert 'name="question" value="g1">' in page
        assert "w1" not in page
        whole = (await client.get(f"{PAGE}/assignments/new?chapter=0&cards=9&questions=0")).text
        assert whole.count('name="card"') == 3


async def test_the_class_gets_one_page_with_all_of_it(serve: Serve) -> None:
    """Pages, cards and questions, without the answers that the teacher keeps; a book's text is no markup."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        name = await hand_out(client)
        page = (await client.get(f"/a/{name}")).text
        assert re.fullmatch("[a-z2-9]{7}", name)
        assert "<h1>Loops and more</h1>" in page
        assert "By Friday." in page
        assert f'data-read="{LOOP}"' in page
        assert "What is &lt;b&gt;?" in page
        assert 'data-hints="first"' in page
        questions = page.partition('id="questions"')[2]
        assert "is-right" not in questions
        assert "Show the answer" not in questions
        assert "Answers:" not in questions
        with_answers = (await client.get(f"/a/{await hand_out(client, answers='true', shuffled='')}")).text
        assert 'class="is-right"><input type="radio" name="question-c1" value="1"' in with_answers
        assert "data-shuffled" not in with_answers


async def test_thirty_pupils_are_counted_and_nobody_is_known(serve: Serve, house: House) -> None:
    """Each opens it, answers, and some finish; what was hard is first, and what is stored names no one."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        name = await hand_out(client)

        async def work(pupil: int) -> None:
            await send(client, name, [{"card": "w1", "known": pupil % 3 > 0}], opened=True)
            rest: list[dict[str, Any]] = [{"card": "c1", "picked": int(pupil % 2)}, {"card": "g1", "typed": " LOOP. "}]
            reply = await send(client, name, rest, finished=pupil < 20)
            assert reply.status_code == 204

        await asyncio.gather(*map(work, range(30)))
        page = (await client.get(f"{PAGE}/assignments/{name}")).text
        assert "<strong>20</strong> of <strong>30</strong>" in page
        assert "15 of 30 did not know it" in page
        assert "10 of 30 did not know it" in page
        assert page.index("15 of 30") < page.index("10 of 30")
        assert page.count("did not know it") == 2
        assert "20 of 30 finished" in (await client.get(PAGE)).text
        stored = await house.chats.read("SELECT * FROM assignment_receipt", {})
        assert {column for row in stored for column in row._fields} == {"receipt", "assignment"}


async def test_of_two_pupils_no_number_says_who(serve: Serve) -> None:
    """How many finished is shown, not how they fared."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        name = await hand_out(client)
        for _ in range(2):
            await send(client, name, [{"card": "w1", "known": False}], opened=True, finished=True)
        page = (await client.get(f"{PAGE}/assignments/{name}")).text
        assert "<strong>2</strong> of <strong>2</strong>" in page
        assert "did not know it" not in page
        await send(client, name, [{"card": "w1", "known": False}], opened=True)
        assert "3 of 3 did not know it" in (await client.get(f"{PAGE}/assignments/{name}")).text


async def test_results_that_come_twice_count_once(serve: Serve) -> None:
    """And those of cards that it does not have count nothing."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        name = await hand_out(client)
        for _ in range(3):
            reply = await send(client, name, [{"card": "none", "known": True}], opened=True, receipt="0" * 32)
            assert reply.status_code == 204
        assert "<strong>0</strong> of <strong>1</strong>" in (await client.get(f"{PAGE}/assignments/{name}")).text
        assert (await send(client, name, [], receipt="me")).status_code == 422
        assert (await send(client, name, [{"card": "w1"}] * 121)).status_code == 422


async def test_what_is_forgotten_is_over_for_everybody(serve: Serve) -> None:
    """Pupils read so, and their browsers are told."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        name = await hand_out(client)
        assert (await press(client, f"assignments/{name}/forget")).headers["location"] == "/teacher#assignments"
        assert "Loops and more" not in (await client.get(PAGE)).text
        gone = await send(client, name, [{"card": "w1", "known": True}])
        assert (gone.status_code, gone.json()["detail"]) == (404, ASSIGNMENT_OVER)
        page = await client.get(f"/a/{name}", headers={"accept": "text/html"})
        assert page.status_code == 404
        assert ASSIGNMENT_OVER in page.text
        assert (await press(client, f"assignments/{name}/forget")).status_code == 404


async def test_an_assignment_has_something_to_do_and_not_too_much(serve: Serve) -> None:
    """What is wrong is said."""
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        key = await key_of(client)
        nothing = {"book": "physical-ai", "title": "Nothing", "hints": "", "page": "none.md", "key": key}
        for wrong in (nothing, {**FIELDS, "title": " ", "key": key}, {**FIELDS, "hints": "loud", "key": key}):
            assert (await client.post(f"{PAGE}/assignments", data=wrong)).status_code == 422
        assert (await client.post(f"{PAGE}/assignments", data={**FIELDS, "key": "0" * 40})).status_code == 403
