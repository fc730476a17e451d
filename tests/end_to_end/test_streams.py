"""Server-Sent Events of the running server: excerpts at once, then what was verified, then the whole answer."""

import secrets
from pathlib import Path

import pytest

from . import books
from .conftest import Library, Servers
from .processes import Server
from .reading import STREAM, check_landing, check_order, check_sources, events

pytestmark = [pytest.mark.model, pytest.mark.gguf]


def test_a_streamed_answer_keeps_its_order(serve: Servers, data_dir: Path, library: Library) -> None:
    """Sources, excerpts, sentences, done: excerpts are the files' own words and lead to pages with their headings."""
    # An answer for which the model was late is not remembered; a repeat is promised of any other.
    server = serve(data_dir, LUTRIN_MODEL="tiny", LUTRIN_EXPLAIN_S="60")
    server.await_model()
    asked = {"query": "What is closed loop control?"}
    with server.client.stream("POST", "/api/query", json=asked, headers=STREAM) as response:
        seen = list(events(response))
    answer = check_order(seen)
    assert not answer.warnings
    check_sources(answer, library.folders)
    for source in answer.sources:
        check_landing(server.client, source)
    whole = server.client.post("/api/query", json={**asked, "wait_s": 60}).json()
    assert {**seen[-1].data, "latency_ms": 0, "type": ""} == {**whole, "latency_ms": 0, "type": ""}


def test_a_streamed_chat_is_kept(server: Server, library: Library) -> None:
    """The history contains the answer of `done`."""
    session = secrets.token_hex(8)
    asked = {"session_id": session, "message": books.QUESTION}
    with server.client.stream("POST", "/chat", json=asked, headers=STREAM) as response:
        answer = check_order(list(events(response)))
    check_sources(answer, library.folders)
    question, reply = server.client.get(f"/history/{session}").json()["messages"]
    assert (question["role"], question["text"]) == ("user", books.QUESTION)
    assert (reply["role"], reply["text"], reply["kind"]) == ("assistant", answer.answer, answer.kind)


def test_a_refusal_is_an_answer_and_its_end(server: Server) -> None:
    """Without quotes, the stream is `answer` and `done` with the same content."""
    asked = {"query": "What will the weather be in Paris tomorrow?"}
    with server.client.stream("POST", "/api/query", json=asked, headers=STREAM) as response:
        seen = list(events(response))
    assert [event.name for event in seen] == ["answer", "done"]
    assert seen[0].answer() == seen[1].answer()
    assert seen[1].answer().refusal == "out_of_scope"


def test_a_stream_that_was_cut_goes_on(server: Server) -> None:
    """With `Last-Event-ID` the rest comes, and both parts together are the whole."""
    asked = {"query": "What is a latency budget?"}
    with server.client.stream("POST", "/api/query", json=asked, headers=STREAM) as response:
        first = next(events(response))
    again = {**STREAM, "Last-Event-ID": first.id}
    with server.client.stream("POST", "/api/query", json=asked, headers=again) as response:
        rest = list(events(response))
    check_order([first, *rest])
