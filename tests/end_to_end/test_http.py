"""The running server as a browser or `curl` sees it: answers, conversations, refusals."""

import re
import secrets

import httpx
import msgspec
import pytest

from lutrin import messages
from lutrin.records import Answer

from . import books
from .conftest import FOUNDATIONS_SLUG, Library
from .processes import Server
from .reading import check_landing, check_sources

pytestmark = [pytest.mark.model, pytest.mark.gguf]

LOOP = "What is the sensorimotor loop?"
FAR = "What will the weather be in Paris tomorrow?"
LOADED = re.compile(r'<(?:script|link)[^>]* (?:src|href)="([^"]+)"')
ANSWERING = ["/api/query", "/query", "/query-selected-text", "/query-selection", "/chat"]


def body(path: str, question: str, **fields: str) -> dict[str, str]:
    """A request to an answering endpoint, with the names that it has for its fields."""
    if path == "/chat":
        return {"session_id": secrets.token_hex(8), "message": question, **fields}
    selection = {"selected_text": books.PAGES[books.ANSWER_FILE]} if path.startswith("/query-") else {}
    return {"query": question, **selection, **fields}


def problem(response: httpx.Response, status: int) -> str:
    """The sentence of a problem document of this status."""
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert response.json()["status"] == status
    detail: str = response.json()["detail"]
    return detail


def test_health_and_readiness(server: Server) -> None:
    """The process is alive, both books are open, and the language model is loaded."""
    assert server.client.get("/health").json() == {"status": "ok"}
    ready = server.client.get("/ready")
    assert ready.status_code == httpx.codes.OK
    known = ready.json()
    assert [book["slug"] for book in known["books"]] == [books.SLUG, FOUNDATIONS_SLUG]
    assert (known["ready"], known["profile"], known["queue_length"]) == (True, "local", 0)
    assert (known["model"], known["model_ready"]) == ("SmolLM2-135M-Instruct", True)
    assert known["model_computed_by"]
    assert f'"computed_by": "{known["model_computed_by"]}"' in server.log.read_text("utf-8")


@pytest.mark.parametrize(
    ("question", "book", "filename"),
    [
        (LOOP, FOUNDATIONS_SLUG, "01-chapter-1-embodied-intelligence/02-sensorimotor-loop.mdx"),
        (books.QUESTION, books.SLUG, books.ANSWER_FILE),
    ],
    ids=["sample book", "small book"],
)
def test_an_answer_is_cited_from_the_right_book(
    server: Server, library: Library, question: str, book: str, filename: str
) -> None:
    """The book that speaks of it answers, its quotes are exact, and each citation lands on its heading."""
    response = server.client.post("/api/query", json={"query": question})
    assert response.status_code == httpx.codes.OK
    answer = msgspec.json.decode(response.content, type=Answer)
    assert answer.kind in {"generated", "extractive"}
    assert {source.book for source in answer.sources} == {book}
    assert filename in {source.filename for source in answer.sources}
    check_sources(answer, library.folders)
    for source in answer.sources:
        check_landing(server.client, source)


def test_the_same_question_has_the_same_answer(server: Server) -> None:
    """Asked again, every field but the time that it took is equal."""
    first, second = (server.client.post("/api/query", json={"query": LOOP}).json() for _ in range(2))
    assert {**first, "latency_ms": 0} == {**second, "latency_ms": 0}


@pytest.mark.parametrize("path", ["/query", "/query-selected-text", "/query-selection"])
def test_the_tutors_endpoints_answer(server: Server, library: Library, path: str) -> None:
    """The question may be in `question`; with a selection its words are the only context."""
    asked = body(path, "How long does one ballast cycle take?", book=books.SLUG)
    asked["question"] = asked.pop("query")
    answer = msgspec.json.decode(server.client.post(path, json=asked).content, type=Answer)
    assert answer.mode == ("book" if path == "/query" else "selection")
    assert answer.kind in {"generated", "extractive"}
    assert "90 seconds" in answer.answer
    assert books.ANSWER_FILE in {source.filename for source in answer.sources}
    check_sources(answer, library.folders, asked.get("selected_text", ""))


def test_words_that_are_not_the_books_lead_nowhere(server: Server, library: Library) -> None:
    """A selection from elsewhere is answered from itself, with neither a file nor an address for its citation."""
    selected = "My own robot is called Perle. Its ballast cycle takes 45 seconds on a calm day."
    asked = {"question": "How long does the ballast cycle of Perle take?", "selected_text": selected}
    answer = msgspec.json.decode(server.client.post("/query-selection", json=asked).content, type=Answer)
    assert "45 seconds" in answer.answer
    assert {(source.filename, source.url) for source in answer.sources} == {("", "")}
    check_sources(answer, library.folders, selected)


def test_a_conversation_is_kept(server: Server) -> None:
    """Both sides of each turn are in the history, oldest first, with the citations that were shown."""
    session = secrets.token_hex(8)
    replies = []
    for question in (books.QUESTION, "How fast does the pump work?"):
        response = server.client.post("/chat", json={"session_id": session, "message": question})
        assert response.status_code == httpx.codes.OK
        replies.append(response.json())
    first = replies[0]
    assert set(first) == {
        *("answer", "session_id", "sources", "citations", "explanation", "excerpts", "suggestions", "warnings"),
        *("kind", "model_used", "explainable", "prepared_by", "sentences", "closest", "meant", "refusal"),
        *("plain_words", "confirmed", "eta_s", "unfinished"),
    }
    assert first["session_id"] == session
    assert books.ANSWER_FILE in first["sources"]
    history = server.client.get(f"/history/{session}").json()["messages"]
    assert [message["role"] for message in history] == ["user", "assistant"] * 2
    assert [message["text"] for message in history[::2]] == [books.QUESTION, "How fast does the pump work?"]
    assert [message["text"] for message in history[1::2]] == [reply["answer"] for reply in replies]
    assert history[1]["citations"] == first["citations"]


def test_a_follow_up_is_completed_from_the_conversation(server: Server) -> None:
    """A question that names no subject is vague alone, and is answered after one that names it."""
    session = secrets.token_hex(8)
    vague = server.client.post("/chat", json={"session_id": session, "message": "Tell me more"}).json()
    assert vague["answer"] == messages.NEEDS_CONTEXT
    server.client.post("/chat", json={"session_id": session, "message": books.QUESTION}).raise_for_status()
    more = server.client.post("/chat", json={"session_id": session, "message": "Tell me more"}).json()
    assert books.ANSWER_FILE in more["sources"]


def test_another_browser_sees_nothing(server: Server) -> None:
    """A conversation under a browser's secret is empty for a client with the id but without the secret."""
    session, secret = secrets.token_hex(8), {"X-Lutrin-Client": secrets.token_hex(16)}
    asked = {"session_id": session, "message": books.QUESTION}
    server.client.post("/chat", json=asked, headers=secret).raise_for_status()
    assert len(server.client.get(f"/history/{session}", headers=secret).json()["messages"]) == 2
    assert server.client.get(f"/history/{session}").json() == {"messages": []}
    assert server.client.get(f"/history/{secrets.token_hex(8)}").json() == {"messages": []}


def test_passages_without_an_answer(server: Server) -> None:
    """`/api/retrieve` gives an array as `lutrin retrieve` prints it, and an empty one far from the book."""
    passages = server.client.post("/api/retrieve", json={"query": books.QUESTION, "top_k": 2}).json()
    assert 1 <= len(passages) <= 2
    assert passages[0]["metadata"]["filename"] == books.ANSWER_FILE
    assert server.client.post("/api/retrieve", json={"query": FAR}).json() == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/api/query", messages.NOT_COVERED),
        ("/query", messages.OUT_OF_SCOPE_TUTOR),
        ("/chat", messages.NOT_FOUND_CHAT),
        ("/query-selected-text", messages.NOT_IN_SELECTION),
        ("/query-selection", messages.NOT_IN_SELECTION),
    ],
)
def test_what_is_far_from_the_book_is_refused(server: Server, path: str, text: str) -> None:
    """Each family of endpoints refuses in its own words, without a source."""
    response = server.client.post(path, json=body(path, FAR, book=books.SLUG))
    assert response.status_code == httpx.codes.OK
    assert response.json()["answer"] == text.format(title=books.TITLE)
    assert response.json()["sources"] == []


@pytest.mark.parametrize("path", ANSWERING)
def test_an_empty_question_is_refused(server: Server, path: str) -> None:
    """Blanks are no question, wherever they are asked."""
    assert problem(server.client.post(path, json=body(path, " \n\t ")), 422) == messages.EMPTY_QUESTION


@pytest.mark.parametrize("path", ["/api/query", "/query", "/chat"])
def test_another_language_is_refused(server: Server, path: str) -> None:
    """A Spanish question is asked for in English."""
    question = "¿Cuánto tiempo necesita el robot para vaciar el tanque y subir a la superficie?"
    assert server.client.post(path, json=body(path, question)).json()["answer"] == messages.NOT_ENGLISH


def test_a_question_without_a_subject_is_refused(server: Server) -> None:
    """Without a conversation "Tell me more" needs context."""
    answer = msgspec.json.decode(server.client.post("/api/query", json={"query": "Tell me more"}).content, type=Answer)
    assert (answer.kind, answer.refusal, answer.answer) == ("refusal", "vague", messages.NEEDS_CONTEXT)


def test_a_long_question_is_cut_with_a_warning(server: Server) -> None:
    """The first 500 of 600 words are used, and the reader is told."""
    question = books.QUESTION + " really" * 600
    assert messages.QUESTION_TRUNCATED in server.client.post("/api/query", json={"query": question}).json()["warnings"]


def test_wrong_requests_have_their_status(server: Server) -> None:
    """Bodies that are no JSON, too large, or lack a field, and addresses that lead nowhere, are named as such."""
    json = {"Content-Type": "application/json"}
    post, get = server.client.post, server.client.get
    assert problem(post("/api/query", content=b'{"query": ', headers=json), 400) == messages.MALFORMED_BODY
    assert problem(post("/api/query", content=b"x" * 65_537, headers=json), 413) == messages.BODY_TOO_LARGE
    assert "query" in problem(post("/api/query", json={"question": LOOP}), 422)
    assert "top_k" in problem(post("/api/query", json={"query": LOOP, "top_k": "many"}), 422)
    assert problem(get("/read/nobody/page"), 404) == messages.NOTHING_HERE
    assert problem(get("/nowhere"), 404) == messages.NOTHING_HERE
    assert problem(get("/health", headers={"Host": "evil.example"}), 400) == messages.WRONG_HOST


def test_pages_for_people(server: Server) -> None:
    """The shelf names both books and leads to their pages, and everything that it loads is here."""
    shelf = server.client.get("/")
    assert shelf.status_code == httpx.codes.OK
    assert books.TITLE in shelf.text
    assert f'href="/read/{books.SLUG}"' in shelf.text
    assert f"/read/{books.SLUG}/02-diving/01-ballast" in server.client.get(f"/read/{books.SLUG}").text
    loaded = LOADED.findall(shelf.text)
    assert loaded
    for address in loaded:
        assert address.startswith("/"), address
        assert server.client.get(address).status_code == httpx.codes.OK, address


def test_no_question_stands_in_the_log(server: Server) -> None:
    """A log line has ids, timings and outcome; the reader's words and the answer's are not in it."""
    needle = "quokkaphone"
    response = server.client.post("/chat", json={"session_id": "needle", "message": f"{books.QUESTION} {needle}"})
    assert response.status_code == httpx.codes.OK
    log = server.printed()
    assert '"surface": "chat"' in log
    assert needle not in log
    assert "ballast" not in log
