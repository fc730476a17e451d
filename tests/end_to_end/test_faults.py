"""Faults while people read: each has a friendly answer, and no acknowledged message is lost."""

import os
import resource
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from lutrin import messages
from lutrin.records import Answer

from . import books
from .conftest import TINY, Library, Lutrin, Servers
from .processes import END_S, START_S, Server, children, cpu_s, exists, flip_a_byte, wait_until
from .reading import STREAM, check_order, check_sources, events

pytestmark = pytest.mark.model

OTHER = "How fast does the pump work?"


def ask(server: Server, question: str, session: str = "reader") -> str:
    """The reply to a message of a conversation."""
    response = server.client.post("/chat", json={"session_id": session, "message": question})
    assert response.status_code == httpx.codes.OK
    reply: str = response.json()["answer"]
    return reply


def told(server: Server, session: str = "reader") -> list[str]:
    """All messages of a conversation, oldest first."""
    return [message["text"] for message in server.client.get(f"/history/{session}").json()["messages"]]


@pytest.mark.gguf
def test_a_model_file_that_cannot_be_used(serve: Servers, data_dir: Path, models: Path) -> None:
    """The server starts all the same and answers with quotes; a file with one flipped byte is never parsed."""
    flip_a_byte(models / TINY)
    server = serve(data_dir, models=models, LUTRIN_MODEL="tiny")
    ready = server.client.get("/ready").json()
    assert (ready["ready"], ready["model"], ready["model_ready"]) == (True, "", False)
    response = server.client.post("/api/query", json={"query": books.QUESTION})
    answer = msgspec.json.decode(response.content, type=Answer)
    assert (answer.kind, answer.model_used) == ("extractive", "")
    assert books.ANSWER_FILE in {source.filename for source in answer.sources}
    assert server.model_pid() is None
    (line,) = [line for line in server.printed().splitlines() if '"model_unusable"' in line]
    assert "is damaged" in line
    assert "lutrin models fetch tiny" in line


def test_a_port_in_use(lutrin: Lutrin, serve: Servers, data_dir: Path) -> None:
    """A second server on the same port ends with one sentence, and the first goes on."""
    server = serve(data_dir)
    done = lutrin("serve", "--port", str(server.port))
    assert (done.code, done.out) == (1, "")
    assert f"Port {server.port} is in use. Choose another one with --port." in done.err.splitlines()[-1]
    assert server.client.get("/health").status_code == httpx.codes.OK


def test_a_server_before_its_first_book(lutrin: Lutrin, serve: Servers, library_book: Path, tmp_path: Path) -> None:
    """Without an index the server lives but is not ready, says so kindly, and answers as soon as a book is there."""
    server = serve(tmp_path / "data")
    assert server.client.get("/health").status_code == httpx.codes.OK
    assert server.client.get("/ready").status_code == httpx.codes.SERVICE_UNAVAILABLE
    for path, body in (("/api/query", {"query": OTHER}), ("/chat", {"session_id": "a", "message": OTHER})):
        response = server.client.post(path, json=body)
        assert response.status_code == httpx.codes.SERVICE_UNAVAILABLE
        assert response.json()["detail"] == messages.KNOWLEDGE_BASE_DOWN
    assert lutrin("ingest", library_book, data_dir=tmp_path / "data").code == 0
    wait_until(lambda: server.client.get("/ready").status_code == httpx.codes.OK, START_S, "the book is on the shelf")
    assert server.client.post("/api/query", json={"query": OTHER}).status_code == httpx.codes.OK


def test_a_damaged_index_leaves_the_other_book(serve: Servers, data_dir: Path, library: Library) -> None:
    """A book whose index cannot be opened is missing from the shelf, and its pages are away; the other one answers."""
    (generation,) = (data_dir / "books" / books.SLUG).iterdir()
    (generation / "manifest.json").unlink()
    server = serve(data_dir)
    (book,) = server.client.get("/ready").json()["books"]
    assert book["slug"] != books.SLUG
    response = server.client.post("/api/query", json={"query": "What is the sensorimotor loop?"})
    check_sources(msgspec.json.decode(response.content, type=Answer), library.folders)
    for asked in (
        {"query": books.QUESTION, "book": books.SLUG},
        {"query": "How do I build a quantum computer?"},
    ):
        refused = server.client.post("/api/query", json=asked)
        assert (refused.status_code, refused.json()["detail"]) == (503, messages.KNOWLEDGE_BASE_DOWN)
    assert server.client.post("/api/retrieve", json={"query": "Who won the world cup?"}).status_code == 503
    for path, status in (
        ("read/tidepool", 503),
        ("read/tidepool/01/01-hull", 503),
        ("study/tidepool", 503),
        ("read/x", 404),
    ):
        assert server.client.get(f"/{path}").status_code == status, path


def test_damaged_conversations_leave_the_answers(serve: Servers, data_dir: Path) -> None:
    """Readers get answers without memory and are told so; the log and `/ready` tell the operator."""
    server = serve(data_dir)
    ask(server, books.QUESTION)
    server.end()
    (data_dir / "chats.db").write_bytes(b"this is no database" * 1000)
    (data_dir / "chats.db-wal").unlink(missing_ok=True)
    server.start()
    reply = server.client.post("/chat", json={"session_id": "reader", "message": books.QUESTION}).json()
    assert messages.NOT_REMEMBERED in reply["warnings"]
    assert server.client.get("/ready").json()["storing"] is False
    assert server.client.get("/history/reader").status_code == httpx.codes.SERVICE_UNAVAILABLE
    (line,) = [line for line in server.printed().splitlines() if "conversations_away" in line]
    assert msgspec.json.decode(line)["remedy"]


def test_reading_books_beside_the_server_leaves_no_zombie(serve: Servers, data_dir: Path, library_book: Path) -> None:
    """The process that read them is waited for."""
    server = serve(data_dir, "--ingest", LUTRIN_CORPUS_DIR=str(library_book))
    wait_until(lambda: "books_read" in server.printed(), START_S, "the books are read")
    assert [pid for pid in children(server.pid) if not exists(pid)] == []


def test_a_crash_writes_no_memory_to_the_disk(serve: Servers, data_dir: Path) -> None:
    """Neither the server nor its child processes dump core: their memory holds the key and readers' questions."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if not hard:
        pytest.skip("this machine writes none anyway")
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        server = serve(data_dir, anew=True)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    server.client.get("/read/robots")
    for pid in (server.pid, *children(server.pid)):
        limits = Path(f"/proc/{pid}/limits").read_text("utf-8")
        (line,) = [line.split() for line in limits.splitlines() if line.startswith("Max core file size")]
        assert line[4:6] == ["0", "0"]


@pytest.mark.gguf
@pytest.mark.slow("a model is loaded, killed while it writes, and loaded again")
def test_the_model_is_killed_while_it_writes(serve: Servers, data_dir: Path, library: Library) -> None:
    """The reader in flight gets a whole answer at once, the model comes back, and the history has every word."""
    limits: dict[str, Any] = {"LUTRIN_EXPLAIN_S": "60", "LUTRIN_ANSWER_TOKENS": "96"}
    server = serve(data_dir, LUTRIN_MODEL="tiny", **limits)
    model = server.await_model()
    spent_s = cpu_s(model)
    seen = []
    body = {"session_id": "reader", "message": books.QUESTION, "explain": True}
    with server.client.stream("POST", "/chat", json=body, headers=STREAM) as response:
        for event in events(response):
            seen.append(event)
            if event.name == "excerpt" and exists(model):
                wait_until(lambda: cpu_s(model) > spent_s + 0.1, START_S, "the model computes")
                os.kill(model, signal.SIGKILL)
    answer = check_order(seen)
    check_sources(answer, library.folders)
    assert answer.kind in {"extractive", "generated"}
    assert answer.warnings == ((messages.MODEL_AWAY,) if answer.kind == "extractive" else ())
    assert told(server) == [books.QUESTION, answer.answer]

    successor = server.await_model()
    assert successor != model
    reply = server.client.post("/chat", json={"session_id": "reader", "message": OTHER, "wait_s": 60}).json()
    assert reply["warnings"] == []
    assert told(server) == [books.QUESTION, answer.answer, OTHER, reply["answer"]]


@pytest.mark.gguf
@pytest.mark.slow("a server loads its model, which hangs past the deadline")
def test_a_model_that_hangs_is_not_waited_for(serve: Servers, data_dir: Path, library: Library) -> None:
    """A program that waits two seconds gets the book's answer then, long before the process is given up."""
    server = serve(data_dir, LUTRIN_MODEL="tiny", LUTRIN_EXPLAIN_S="2")
    model = server.await_model()
    ask(server, "Grease for the rings", "warm")
    os.kill(model, signal.SIGSTOP)
    try:
        began = time.monotonic()
        response = server.client.post("/api/query", json={"query": books.QUESTION, "wait_s": 2})
        waited_s = time.monotonic() - began
    finally:
        os.kill(model, signal.SIGCONT)
    answer = msgspec.json.decode(response.content, type=Answer)
    assert (answer.kind, answer.warnings) == ("extractive", (messages.PAST_DEADLINE,))
    check_sources(answer, library.folders)
    assert waited_s < 10
    assert server.await_model() == model


@pytest.mark.gguf
@pytest.mark.slow("a server loads its model, answers two readers, is killed and starts again")
def test_the_server_is_killed_while_people_read(serve: Servers, data_dir: Path) -> None:
    """After `kill -9` and a new start every acknowledged message is there, and no process is left behind."""
    server = serve(data_dir, anew=True, LUTRIN_MODEL="tiny", LUTRIN_EXPLAIN_S="60", LUTRIN_ANSWER_TOKENS="16")
    model = server.await_model()
    acknowledged = {
        session: [text for question in (books.QUESTION, OTHER) for text in (question, ask(server, question, session))]
        for session in ("anna", "bert")
    }
    body = {"session_id": "anna", "message": "How long does copper paint last?"}
    with server.client.stream("POST", "/chat", json=body, headers=STREAM) as response:
        next(events(response))
        assert server.end(signal.SIGKILL) == -signal.SIGKILL
    wait_until(lambda: not exists(model), END_S, "the model's process has ended with its server")

    server.start()
    anna, bert = told(server, "anna"), told(server, "bert")
    assert bert == acknowledged["bert"]
    assert anna[:4] == acknowledged["anna"]
    assert anna[4:] in ([], anna[4:6])
    assert ask(server, OTHER, "bert") == acknowledged["bert"][3]
    assert len(told(server, "bert")) == 6


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_server_that_is_told_to_end(serve: Servers, data_dir: Path, number: signal.Signals) -> None:
    """It ends with exit code 0 and without a stack trace; with `--echo` it has shown what was asked and answered."""
    server = serve(data_dir, "--echo", anew=True)
    reply = ask(server, books.QUESTION)
    assert server.end(number) == 0
    printed = server.printed()
    assert f"Lutrin answers on http://127.0.0.1:{server.port} " in printed
    assert f"Q: {books.QUESTION}\nA: {reply}\n" in printed
    assert "Traceback" not in printed
