"""The answering endpoints over HTTP: shapes, codes and exact texts."""

import httpx
import pytest

from lutrin import messages
from lutrin.errors import ChatStoreError, GeneratorUnavailable, IndexUnavailable, InvalidQuestion
from lutrin.records import AnswerParts

from .conftest import House
from .scripted import ANSWER, EVENTS, LOOP, as_sent

ASKING = [
    ("/api/query", {"query": "What is the loop?"}, "query", None),
    ("/query", {"question": "What is the loop?"}, "tutor", None),
    ("/query", {"query": "What is the loop?"}, "tutor", None),
    ("/query-selected-text", {"question": "What?", "selected_text": "A loop."}, "tutor", "selection"),
    ("/query-selection", {"query": "What?", "selected_text": "A loop."}, "tutor", "selection"),
]

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("case", ASKING)
async def test_every_surface_asks_the_same_flow(
    client: httpx.AsyncClient, house: House, case: tuple[str, dict[str, str], str, str | None]
) -> None:
    """The endpoint decides who asks and in which mode; the Answer comes back whole."""
    path, body, surface, mode = case
    reply = await client.post(path, json=body)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/json"
    assert reply.json()["answer"] == ANSWER.answer
    assert reply.json()["sources"][0]["quote"] == LOOP.quote
    asked = house.answers.asked[0]
    assert (asked.surface, asked.mode, asked.selected_text) == (surface, mode, body.get("selected_text", ""))


async def test_what_would_be_explained_is_told_before_it_is_asked(client: httpx.AsyncClient, house: House) -> None:
    """A panel offers no explanation where there is none; nothing is asked for that, and no question counted."""
    for text, explains in ((LOOP.quote, True), ("Another passage.", False)) * 20:
        reply = await client.post("/api/explains", json={"query": "Explain this passage.", "selected_text": text})
        assert (reply.status_code, reply.json()) == (200, {"explains": explains})
    assert house.answers.asked == []


async def test_all_fields_reach_the_flow(client: httpx.AsyncClient, house: House) -> None:
    """Chapter, module, page, book, number of passages and selection are passed on."""
    body = {"query": "Q", "selected_text": "S", "chapter": "C", "module": "M", "page": "P", "book": "B", "top_k": 3}
    await client.post("/api/query", json=body)
    asked = house.answers.asked[0]
    assert (asked.selected_text, asked.chapter, asked.module, asked.book, asked.top_k) == ("S", "C", "M", "B", 3)
    assert asked.page == "P"
    await client.post("/chat", json={"session_id": "s1", "message": "Q", "page": "P", "book": "B"})
    assert (house.answers.asked[1].page, house.answers.asked[1].book) == ("P", "B")


async def test_chat_has_its_own_shape(client: httpx.AsyncClient) -> None:
    """`/chat` gives the answer, the session, file names, citations, excerpts, what to ask next, and warnings."""
    reply = await client.post("/chat", json={"session_id": "s1", "message": "What is the loop?"})
    assert reply.json() == {
        "answer": ANSWER.answer,
        "session_id": "s1",
        "sources": ["01/02-loop.mdx"],
        "citations": [as_sent(LOOP)],
        "kind": ANSWER.kind,
        "model_used": ANSWER.model_used,
        **as_sent(AnswerParts(**ANSWER.parts())),
    }


MISSING = [
    ("/api/query", {}),
    ("/query", {}),
    ("/query", {"question": None}),
    ("/query-selection", {"selected_text": "A"}),
    ("/chat", {"message": "Hello"}),
    ("/chat", {"session_id": "s1"}),
    ("/api/retrieve", {}),
    ("/api/query", {"query": 7}),
    ("/api/query", {"query": "Q", "top_k": 0}),
    *(("/api/query", {"query": "Q", name: "9" * 5000}) for name in ("chapter", "module", "book", "page")),
    ("/api/query", {"query": "Q", "top_k": "5"}),
    ("/api/retrieve", {"query": "Q", "top_k": "5"}),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Q"}], "stream": "true"}),
    ("/chat", {"session_id": "no blanks", "message": "Hello"}),
    ("/api/query", []),
]


@pytest.mark.parametrize(("path", "body"), MISSING)
async def test_a_missing_or_wrong_field_is_422(client: httpx.AsyncClient, path: str, body: object) -> None:
    """The problem says which field."""
    reply = await client.post(path, json=body)
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["status"] == 422
    assert 5 < len(reply.json()["detail"]) < 200


@pytest.mark.parametrize("path", ["/api/query", "/query", "/query-selection", "/query-selected-text", "/chat"])
@pytest.mark.parametrize("text", ["", "  \n\t "])
async def test_an_empty_question_has_its_text(client: httpx.AsyncClient, house: House, path: str, text: str) -> None:
    """422 `Please enter a question.`, without a search or a model."""
    field = {"/api/query": "query", "/chat": "message"}.get(path, "question")
    reply = await client.post(path, json={field: text, "session_id": "s1"})
    assert (reply.status_code, reply.json()["detail"]) == (422, messages.EMPTY_QUESTION)
    assert house.answers.asked == []


HOSTILE = [
    (b"", 422),
    (b"{", 400),
    (b"{'query': 'single quotes'}", 400),
    (b"\xff\xfe\x00", 400),
    (b'{"query": "\xc3\x28"}', 400),
    (b'{"query": "\\ud800"}', 400),
    (b'{"query": ' + b"[" * 30_000, 400),
    (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, 400),
    (b'{"query": "' + b"x" * 70_000 + b'"}', 413),
    (b'"' * 60_000, 400),
    (b'{"query": NaN}', 400),
]


@pytest.mark.parametrize(("body", "status"), HOSTILE)
async def test_what_is_no_json_is_refused(client: httpx.AsyncClient, body: bytes, status: int) -> None:
    """Malformed, not UTF-8, too deep: 400. Nothing at all: 422. Too long: 413. Never 500."""
    reply = await client.post("/api/query", content=body, headers=JSON)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"


async def test_exactly_64_kib_are_read(client: httpx.AsyncClient) -> None:
    """The limit is inclusive."""
    frame = len('{"query":"xx"}')
    fits = b'{"query":"xx"' + b" " * (64 * 1024 - frame) + b"}"
    assert (await client.post("/api/query", content=fits, headers=JSON)).status_code == 200
    assert (await client.post("/api/query", content=fits.replace(b"xx", b"xxx", 1), headers=JSON)).status_code == 413


async def test_a_long_body_without_length_is_cut_off(client: httpx.AsyncClient) -> None:
    """A chunked body is counted as it comes."""

    async def endless() -> object:
        for _ in range(200):
            yield b"x" * 1024

    reply = await client.post("/api/query", content=endless(), headers=JSON)  # type: ignore[arg-type]  # an async generator of bytes
    assert reply.status_code == 413


async def test_brackets_in_strings_are_no_nesting(client: httpx.AsyncClient) -> None:
    """A question about brackets is a question."""
    assert (await client.post("/api/query", json={"query": '[{"' * 500})).status_code == 200


FAILURES = [
    (IndexUnavailable("collection gone"), 503, messages.KNOWLEDGE_BASE_DOWN),
    (GeneratorUnavailable("killed"), 503, messages.KNOWLEDGE_BASE_DOWN),
    (ChatStoreError("disk"), 503, messages.SOMETHING_WRONG),
    (InvalidQuestion("There is no chapter 99."), 422, "There is no chapter 99."),
]


@pytest.mark.parametrize(("failure", "status", "detail"), FAILURES)
async def test_errors_have_their_code_and_text(
    client: httpx.AsyncClient, house: House, failure: Exception, status: int, detail: str
) -> None:
    """One mapping from errors to HTTP, for JSON and for streams that have not begun."""
    house.answers.events, house.answers.failure = (), failure
    for accept in ("application/json", "text/event-stream"):
        reply = await client.post("/api/query", json={"query": "Q"}, headers={"Accept": accept})
        assert (reply.status_code, reply.json()["detail"]) == (status, detail)


async def test_the_unexpected_is_500_with_an_id(
    client: httpx.AsyncClient, house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    """The id is in the log; the reader's words, the error's text and the stack trace stand nowhere."""
    house.answers.events, house.answers.failure = (), KeyError("the needle")
    reply = await client.post("/api/query", json={"query": "the needle"})
    assert (reply.status_code, reply.json()["detail"]) == (500, messages.SOMETHING_WRONG)
    log = capsys.readouterr().out
    assert reply.json()["id"] in log
    assert "KeyError" in log
    assert "needle" not in log + reply.text
    assert "Traceback" not in log + reply.text


async def test_a_flow_that_ends_without_an_answer_is_500(client: httpx.AsyncClient, house: House) -> None:
    """Half an answer is not passed off as one."""
    house.answers.events = EVENTS[:-1]
    assert (await client.post("/api/query", json={"query": "Q"})).status_code == 500


async def test_passages_without_an_answer(client: httpx.AsyncClient, house: House) -> None:
    """`/api/retrieve` gives an array of text, score and metadata; nothing relevant gives an empty one."""
    found = (await client.post("/api/retrieve", json={"query": "the loop"})).json()
    assert found[0]["text"] == LOOP.quote
    assert found[0]["score"] == 0.9
    assert {"id", "section", "chapter", "page", "filename"} <= found[0]["metadata"].keys()
    assert found[0]["metadata"]["url"] == LOOP.url
    assert (await client.post("/api/retrieve", json={"query": "the weather"})).json() == []
    assert {question.peer for question in house.retrieve.asked} == {"127.0.0.1"}, "turns are taken address by address"
    house.retrieve.failure = IndexUnavailable("gone")
    assert (await client.post("/api/retrieve", json={"query": "the loop"})).status_code == 503


async def test_the_ends_of_the_house(client: httpx.AsyncClient) -> None:
    """Unknown paths are 404, wrong methods 405, both as problems."""
    for method, path, status in (("GET", "/nothing", 404), ("GET", "/api/query", 405), ("POST", "/health", 405)):
        reply = await client.request(method, path)
        assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json")


async def test_head_is_get_without_its_body(client: httpx.AsyncClient) -> None:
    """Status and headers are GET's, on pages and data; what has no GET has no HEAD."""
    for path in ("/health", "/", "/metrics", "/nothing"):
        whole, head = await client.get(path), await client.head(path)
        assert (head.status_code, head.content) == (whole.status_code, b"")
        assert head.headers["content-type"] == whole.headers["content-type"]
    assert (await client.head("/health")).headers["content-length"] == "15"
    assert (await client.head("/api/query")).status_code == 405


async def test_a_body_that_is_missing_is_said(client: httpx.AsyncClient) -> None:
    """In words that name what was expected."""
    reply = await client.post("/api/query")
    assert (reply.status_code, reply.json()["detail"]) == (422, "Expected `object`, got `null`")


async def test_health_and_readiness(client: httpx.AsyncClient, house: House) -> None:
    """`/health` is always cheap; `/ready` is 503 until a book is open."""
    assert (await client.get("/health")).json() == {"status": "ok"}
    ready = await client.get("/ready")
    assert ready.status_code == 200
    assert ready.json()["books"][0]["generation"] == "g1"
    assert (ready.json()["profile"], ready.json()["queue_length"]) == ("local", 0)
    house.library.failure = IndexUnavailable("none")
    assert (await client.get("/ready")).status_code == 503
    assert (await client.get("/health")).status_code == 200


async def test_metrics_count_without_ids(client: httpx.AsyncClient) -> None:
    """Prometheus sees kinds, outcomes and timings; no session and no word of the question."""
    await client.post("/chat", json={"session_id": "session-needle", "message": "question-needle"})
    text = (await client.get("/metrics")).text
    assert 'lutrin_questions_total{kind="generated",refusal="none",surface="chat"} 1.0' in text
    assert 'lutrin_stage_seconds_count{stage="excerpt"} 1.0' in text
    assert 'lutrin_http_requests_total{operation="chat",status="200"} 1.0' in text
    assert "needle" not in text
