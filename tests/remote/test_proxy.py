"""Two servers behind the proxy of compose.yaml: readers never notice which of them answers, or that one died."""

import signal
import time
from collections.abc import Iterator

import httpx
import pytest
from tests.end_to_end import books
from tests.remote.crowd import SECRET, Crowd, ask
from tests.remote.proxy import proxy
from tests.remote.school import INGEST_S, School, await_books
from tests.remote.services import Services

pytestmark = [pytest.mark.model, pytest.mark.timeout(INGEST_S + 300)]
QUESTION = '"event": "question"'


@pytest.fixture(scope="module")
def front(school: School) -> Iterator[httpx.Client]:
    """A client of the proxy."""
    with proxy([f"127.0.0.1:{server.port}" for server in school.servers], school.place) as client:
        yield client


def test_one_conversation_on_both_servers(school: School, front: httpx.Client) -> None:
    """Questions of one reader are answered here and there, and all of them are in the conversation."""
    before = [server.printed().count(QUESTION) for server in school.servers]
    asked = [f"{books.QUESTION} {number}" for number in range(40)]
    for number, question in enumerate(asked):
        assert ask(front, question, f"both-{number // 8}").status_code == 200
    after = [server.printed().count(QUESTION) for server in school.servers]
    assert all(now > then for now, then in zip(after, before, strict=True))
    for number in range(5):
        messages = front.get(f"/history/both-{number}", headers=SECRET).json()["messages"]
        assert [message["text"] for message in messages[::2]] == asked[number * 8 : number * 8 + 8]


def test_events_pass_unbuffered(front: httpx.Client, services: Services) -> None:
    """Sources are read while the answer is still being written."""
    services.openai.piece_s = 0.2
    body = {"query": "How long does one ballast cycle take, in seconds?"}
    seen: dict[str, float] = {}
    try:
        with front.stream("POST", "/api/query", json=body, headers={"Accept": "text/event-stream"}) as reply:
            for line in reply.iter_lines():
                if line.startswith("event: "):
                    seen.setdefault(line.removeprefix("event: "), time.monotonic())
    finally:
        services.openai.piece_s = 0.0
    assert seen["done"] - seen["sources"] > 0.5


@pytest.mark.slow("a server is killed and started again under load")
def test_a_server_that_dies_under_load_costs_no_message(school: School, front: httpx.Client) -> None:
    """The other one answers meanwhile; nothing that was acknowledged is lost, and the dead one comes back."""
    first, second = school.servers
    with Crowd([front], "server") as crowd:
        crowd.wait_for_answers()
        first.end(signal.SIGKILL)
        try:
            crowd.wait_for_answers()
        finally:
            first.start()
        await_books(first)
        crowd.wait_for_answers()
    crowd.check_friendly()
    crowd.check_nothing_lost(second.client)
    assert ask(first.client, books.QUESTION, "after").status_code == 200


def test_the_teacher_s_page_stays_with_one_server(school: School, front: httpx.Client) -> None:
    """A signed-in teacher stays signed in, however often the page is loaded."""
    token = school.variables["LUTRIN_ADMIN_TOKEN"]
    assert front.post("/teacher/sign-in", data={"token": token}).status_code == 303
    assert [front.get("/teacher/progress").status_code for _ in range(20)] == [200] * 20
