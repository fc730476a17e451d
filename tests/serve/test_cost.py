"""The cost of requests, and the account that pays: no client stops the others, whatever it requests."""

import asyncio
import gc
import json
import re
import time
from collections.abc import Awaitable, Callable

import httpx
import msgspec
import pytest
from litestar.types import Message, Receive, Scope, Send

from lutrin.errors import RateLimited
from lutrin.index.typeahead import TypedWord
from lutrin.messages import PAGE_AS_TEXT, TOO_MUCH_WORK
from lutrin.prepared import Card, GlossaryTerm, Practice
from lutrin.records import LeftOut, Unit
from lutrin.serve.app import create_app, with_guards
from lutrin.serve.budget import ALL_SHARE, MOST_WAITING, QUESTION_S, Budget, Meter, Workshop, charge, with_meter
from lutrin.serve.finding import section_lines
from lutrin.serve.render_process import Renderer
from lutrin.serve.rendering import render_page
from lutrin.settings import load_settings

from .conftest import House, Serve
from .scripted import CHUNK, LOOP, Clock

MOST_STEP_S = 0.02
PAGE = "/read/physical-ai/01/02-loop"
SLOW = "\n```coffeescript\n" + "a." * 20_000 + "\n```\n"
"""Its lexer takes quadratic time: nine seconds for 8,000 characters."""


def large_book(house: House) -> None:
    """Give the book a page of half a megabyte with tables, code and formulas, and 1,500 cards."""
    section = (
        "## Part {n}\n\nWords that say *much* of $x^{n}$.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n"
    )
    text = "# The loop\n\n" + "\n".join(section.replace("{n}", str(n)) for n in range(3000))
    house.library.sources["01/02-loop.mdx"] = text
    cards = tuple(
        Card(
            id=f"{n:08x}", kind="question", front=f"What is part {n}?", back="It is a part. " * 20, proof="Proof. " * 9,
            chapter=f"Chapter {n % 30}", section="Part", author="", url=LOOP.url,
        )
        for n in range(1500)
    )  # fmt: skip
    terms = tuple(
        GlossaryTerm(term=f"term {n}", aka=(), text="A thing. " * 9, url=LOOP.url, section="", author="")
        for n in range(500)
    )
    house.library.deck = Practice(cards=cards, glossary=terms)


async def test_a_question_says_whose_turn_it_takes(serve: Serve, house: House) -> None:
    """By its network address, which is in no answer and in no stored message."""
    async with serve(rate_peer_per_min=300) as client:
        answer = await client.post("/api/query", json={"query": "What is the loop?", "session_id": "reader"})
        history = await client.get("/history/reader")
    assert [question.peer for question in house.answers.asked] == ["127.0.0.1"]
    assert "127.0.0.1" not in answer.text + history.text


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/read/physical-ai",
        PAGE,
        "/picture/0/physical-ai/01/02-loop.mdx",
        "/search?q=loop",
        "/api/search?q=sens",
        "/api/terms?book=physical-ai",
        "/study/physical-ai",
        "/study/physical-ai/deck?chapter=0",
        "/study/physical-ai/worksheet?chapter=0",
        "/study/physical-ai/glossary",
        "/study/physical-ai/guide",
        "/study/physical-ai/deck.json",
        "/study/physical-ai/glossary.json",
        "/study/physical-ai/deck.csv",
        "/study/physical-ai/deck.apkg",
        "/qr.svg?to=/" + "a" * 399,
        "/worker.js",
        "/offline",
        "/ready",
        "/metrics",
        "/schema",
        "/schema/openapi.json",
        "/static/reader.js",
        "/nothing",
    ],
)
async def test_no_request_holds_the_event_loop(house: House, path: str) -> None:
    """The longest step of a request takes under 20 ms of processor time, with a large book, the first time too."""
    large_book(house)
    settings = load_settings(data_dir=house.data_dir)
    app = create_app(house.services(), settings)
    async with app.lifespan():
        meter = Meter("192.0.2.1")
        asked = with_guards(app, house.services(), settings)
        statuses: list[int] = []

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    statuses.append(message["status"])
                await send(message)

            await with_meter(asked(scope, receive, noted), meter)

        transport = httpx.ASGITransport(app=answer)  # type: ignore[arg-type]  # both describe ASGI, in other words
        # A collection that walks what other tests left is no work of the request.
        gc.collect()
        gc.freeze()
        try:
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                await client.get(path, headers={"Accept-Encoding": "gzip"})
        finally:
            gc.unfreeze()
        assert statuses[0] in {200, 404, 503}
        assert meter.longest_s < MOST_STEP_S, f"{meter.longest_s * 1000:.0f} ms"


async def test_a_page_that_takes_quadratic_time_stops_nobody(client: httpx.AsyncClient, house: House) -> None:
    """Code beyond its limit stands as plain text, other code of the page is highlighted, health is answered at once."""
    house.library.sources["01/02-loop.mdx"] = f"# T\n\n```python\nx = 1\n```\n{SLOW}"
    asking = asyncio.create_task(client.get(PAGE))
    waits = []
    while not asking.done():
        start_s = time.monotonic()
        assert (await client.get("/health")).status_code == 200
        waits.append(time.monotonic() - start_s)
        await asyncio.sleep(0.02)
    page = (await asking).text
    assert "a.a.a.a." in page
    assert '<span class="n">x</span>' in page
    assert sorted(waits)[len(waits) // 2] < 0.1


def test_what_is_typed_is_found_in_code_without_its_lexer() -> None:
    """Comments of every language are recognised; code on which a lexer takes quadratic time delays no other reader."""
    code = "needle a." + "a." * 20_000 + "\nx = 1  # A needle for hay\n"
    unit = Unit(kind="code", text=code, language="coffeescript", char_start=0, char_end=len(code))
    start_s = time.process_time()
    ((_, _, line),) = section_lines(
        [TypedWord("needle", ("needle",))], [(msgspec.structs.replace(CHUNK, units=(unit,)), 1.0)], 3
    )
    assert line.text == "A needle for hay"
    assert time.process_time() - start_s < 0.5


@pytest.mark.parametrize("language", ["coffeescript", "maxima", "supercollider", "twig", "scaml", "cfm", "css+lasso"])
def test_no_language_is_highlighted_for_long(language: str) -> None:
    """One block takes a quarter of a second at most, and all of a page a second; the text stays as it was typed."""
    start_s = time.process_time()
    page = render_page(f"# T\n\n```{language}\n{'a.' * 20_000}\n```\n", "a.md").html
    assert time.process_time() - start_s < 1.5
    assert "a.a.a." in re.sub(r"<[^>]+>", "", page)


def test_many_slow_blocks_share_one_limit() -> None:
    """A page of forty of them takes a second for all."""
    start_s = time.process_time()
    page = render_page("# T\n" + SLOW * 40, "a.md").html
    assert time.process_time() - start_s < 3
    assert page.count("<pre") == 40


@pytest.mark.slow("a page runs into its limit of five seconds of processor time")
def test_a_page_beyond_its_limits_is_its_text() -> None:
    """The process that renders it ends, and the next page gets another one."""
    renderer = Renderer()
    try:
        deep = "".join(f"{'>' * n} a\n" for n in range(1, 1500))
        page, spent_s = renderer.render(deep, "a.md")
        assert PAGE_AS_TEXT.partition("'")[0] in page.html or spent_s < 6
        assert "<h1" in renderer.render("# Title\n", "a.md")[0].html
    finally:
        renderer.close()


async def test_what_is_asked_at_once_is_computed_once() -> None:
    """Simultaneous requests wait for the same result, and later ones get it at once."""
    workshop, computed = Workshop(), []

    def work() -> bytes:
        time.sleep(0.05)
        computed.append(1)
        return b"result"

    found = await asyncio.gather(*(workshop.once("key", work) for _ in range(20)))
    assert (set(found), len(computed)) == ({b"result"}, 1)
    assert await workshop.once("key", work) == b"result"
    assert len(computed) == 1
    workshop.close()


async def test_what_is_kept_has_a_size() -> None:
    """The result used longest ago is dropped; one larger than all room is not kept."""
    workshop, computed = Workshop(most_kept_bytes=10), list[str]()

    def work(name: str, size: int) -> Callable[[], bytes]:
        def made() -> bytes:
            computed.append(name)
            return bytes(size)

        return made

    for name, size in (("a", 6), ("b", 6), ("a", 6), ("large", 100), ("large", 100)):
        await workshop.once(name, work(name, size))
    assert computed == ["a", "b", "a", "large", "large"]
    workshop.close()


async def test_the_work_of_one_address_does_not_wait_for_that_of_another() -> None:
    """One address has one thread and a bounded queue."""
    workshop, order = Workshop(), list[str]()

    async def as_peer(peer: str, work: Callable[[], Awaitable[object]]) -> None:
        await with_meter(_awaited(work), Meter(peer))

    def slow(name: str) -> bytes:
        time.sleep(0.02)
        order.append(name)
        return b""

    crowd = [
        asyncio.create_task(as_peer("192.0.2.1", lambda: workshop.do(lambda: slow("many"))))
        for _ in range(MOST_WAITING)
    ]
    await asyncio.sleep(0)
    with pytest.raises(RateLimited):
        await as_peer("192.0.2.1", lambda: workshop.do(lambda: slow("too many")))
    await as_peer("192.0.2.2", lambda: workshop.do(lambda: slow("one")))
    assert order.index("one") <= 3
    await asyncio.gather(*crowd)
    workshop.close()


async def _awaited(work: Callable[[], Awaitable[object]]) -> None:
    await work()


async def test_a_reader_who_leaves_keeps_the_turn_while_the_thread_runs() -> None:
    """And pays: a client that opens and leaves expensive pages again and again occupies one thread, not all."""
    workshop, meter = Workshop(), Meter("192.0.2.1")
    running, most = 0, 0

    def slow() -> bytes:
        nonlocal running, most
        running += 1
        most = max(most, running)
        end_s = time.thread_time() + 0.02
        while time.thread_time() < end_s:
            pass
        running -= 1
        return b""

    for _ in range(4):
        task = asyncio.create_task(with_meter(_awaited(lambda: workshop.do(slow)), meter))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait({task})
        assert (running, task.cancelled()) == (0, True)
    assert most == 1
    assert meter.spent_s >= 4 * 0.02
    workshop.close()


async def test_whoever_asks_in_the_moment_in_which_work_is_refused_asks_anew() -> None:
    """A refusal applies to one reader only, and no request loops because of it."""
    workshop, calls = Workshop(), list[int]()

    def work() -> bytes:
        calls.append(1)
        if len(calls) == 1:
            raise RateLimited("The first reader's budget is used.", retry_after_s=1)
        return b"result"

    first = asyncio.create_task(workshop.once("key", work))
    await asyncio.sleep(0)
    (inner,) = workshop._running.values()
    while not inner.done():  # noqa: ASYNC110 - it is waited for turn by turn
        await asyncio.sleep(0)
    assert await workshop.once("key", work) == b"result"  # in the same turn of the loop: no task comes between
    with pytest.raises(RateLimited):
        await first
    workshop.close()


async def test_work_in_threads_is_paid_for() -> None:
    """The processor time of a thread, and what a child process reports, count for the request."""
    workshop, meter = Workshop(), Meter("192.0.2.1")

    def work() -> bytes:
        charge(5.0)
        return json.dumps(list(range(100_000))).encode()

    await with_meter(_awaited(lambda: workshop.do(work)), meter)
    assert meter.spent_s > 5.001
    workshop.close()


def test_an_address_that_used_its_budget_waits_and_others_do_not() -> None:
    """Costs flow off: a quarter of a core with 300 questions a minute."""
    clock = Clock()
    budget = Budget(300, clock)
    budget.spend("a", 300 * QUESTION_S + 1.0)
    assert budget.wait_s("a") == pytest.approx(4.0)
    assert budget.wait_s("b") == 0
    clock.now_s += 4.0
    assert budget.wait_s("a") == 0


def test_where_all_together_use_too_much_the_costliest_wait() -> None:
    """Many addresses, each below its limit: those above the mean wait, a reader who asked little does not."""
    clock = Clock()
    budget = Budget(300, clock)
    for number in range(20):
        budget.spend(f"attacker {number}", 2.0)
    budget.spend("reader", 0.1)
    assert budget.wait_s("attacker 3") == pytest.approx((40.1 - 5.0) / ALL_SHARE)
    assert budget.wait_s("reader") == 0


async def test_a_flood_is_refused_and_told_when_to_come_back(serve: Serve) -> None:
    """For every endpoint except health; without limits for questions there is no budget."""
    paths = [f"/qr.svg?to=/{n}{'x' * 390}" for n in range(60)]
    async with serve(rate_peer_per_min=1) as client:
        replies = await asyncio.gather(*(client.get(path) for path in paths))
        refused = [reply for reply in replies if reply.status_code == 429]
        assert len(refused) > 20
        assert refused[0].json()["detail"] == TOO_MUCH_WORK
        assert int(refused[0].headers["retry-after"]) >= 1
        assert (await client.get("/health")).status_code == 200
        page = await client.get("/", headers={"Accept": "text/html"})
        assert (page.status_code, TOO_MUCH_WORK in page.text) == (429, True)
    async with serve(rate_peer_per_min=0) as client:
        assert {(await client.get(path)).status_code for path in paths[:5]} == {200}


async def test_every_address_has_a_code_or_a_reason(client: httpx.AsyncClient) -> None:
    """Emoji, too; what is longer than any page's address is refused."""
    for text, status in (("\U0001f600" * 390, 200), ("\U0001f600" * 400, 422), ("a" * 500, 422), ("\u0000", 200)):
        assert (await client.get("/qr.svg", params={"to": f"/{text}"})).status_code == status


async def test_strangers_get_no_names_of_files(house: House, serve: Serve) -> None:
    """`/ready` tells them how many were left out; this machine and a signed-in teacher learn which."""
    house.left_out = [LeftOut("secret-plans.odt", "is an .odt file")]
    async with serve(trusted_proxies="127.0.0.1") as client:
        here = (await client.get("/ready")).json()
        there = (await client.get("/ready", headers={"X-Forwarded-For": "192.0.2.1"})).json()
    assert (here["left_out"][0]["filename"], here["left_out_count"]) == ("secret-plans.odt", 1)
    assert (there["left_out"], there["left_out_count"]) == ([], 1)
