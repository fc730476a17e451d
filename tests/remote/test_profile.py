"""The remote profile from outside: two servers side by side, services that go and come back, parts that stay local."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.end_to_end import books
from tests.end_to_end.processes import Server, environment, free_port, wait_until
from tests.end_to_end.warm import Warm
from tests.remote.crowd import FRIENDLY_DOWN, SECRET, Crowd, ask
from tests.remote.school import INGEST_S, TOKEN, School
from tests.remote.services import Services

from lutrin import messages

pytestmark = [pytest.mark.model, pytest.mark.timeout(INGEST_S + 300)]
REMOTE_PACKAGES = ("asyncpg", "openai", "qdrant_client")
LONG = "How long does one ballast cycle take?"


def test_the_local_profile_never_loads_the_remote_packages(models_dir: Path, tmp_path: Path) -> None:
    """Not for serving, not for asking, not for reading a book: another process tells what it has loaded."""
    script = (
        "import asyncio, sys\n"
        "import lutrin.cli, lutrin.runtime.wiring as wiring\n"
        "from lutrin.settings import load_settings\n"
        "async def main():\n"
        "    async with wiring.open_runtime(load_settings(), with_model=False, with_chats=True):\n        pass\n"
        "asyncio.run(main())\n"
        f"print(sorted({{name.split('.')[0] for name in sys.modules}} & set({REMOTE_PACKAGES!r})))\n"
    )
    variables = environment(models_dir, tmp_path / "data")
    done = subprocess.run(
        [sys.executable, "-c", script], env=variables, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "[]", done.stderr


def test_an_answer_comes_from_the_services(school: School) -> None:
    """Vectors from pgvector, the sentence from the model elsewhere, proven against the book as always."""
    answer = school.servers[0].client.post("/api/query", json={"query": LONG, "wait_s": 20}).json()
    assert answer["sources"][0]["filename"] == books.ANSWER_FILE
    assert answer["kind"] == "generated"
    assert answer["model_used"] == "loopback"
    assert school.servers[1].client.get("/ready").json()["profile"] == "remote"


def test_a_conversation_goes_on_at_the_other_server(school: School) -> None:
    """Questions alternate between the servers; both know all of it, and a follow-up is understood by either."""
    first, second = school.servers
    for number, server in enumerate([first, second, first, second]):
        question = books.QUESTION if number == 0 else "Tell me more"
        reply = ask(server.client, question, "spread")
        assert reply.status_code == 200
        assert messages.NEEDS_CONTEXT not in reply.json()["answer"]
    histories = [server.client.get("/history/spread", headers=SECRET).json()["messages"] for server in (first, second)]
    assert len(histories[0]) == 8
    assert histories[0] == histories[1]
    listed = second.client.get("/sessions", headers=SECRET).json()
    assert "spread" in str(listed)
    assert first.client.delete("/sessions/spread", headers=SECRET).status_code == 204
    assert second.client.get("/history/spread", headers=SECRET).json()["messages"] == []


def test_one_limit_for_both_servers(school: School) -> None:
    """Twenty questions at once, spread over both: ten are answered, ten are told when to come back."""
    codes: list[httpx.Response] = []
    threads = [
        threading.Thread(target=lambda n=n: codes.append(ask(school.servers[n % 2].client, books.QUESTION, "eager")))
        for n in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    refused = [reply for reply in codes if reply.status_code == 429]
    assert len(refused) == 10
    assert all(1 <= int(reply.headers["Retry-After"]) <= 60 for reply in refused)


def test_a_cut_stream_resumes_at_the_other_server(school: School) -> None:
    """The events after the last one that was read, then the end; together they are one whole answer."""
    body = {"query": books.QUESTION, "session_id": "cut"}
    stream = {"Accept": "text/event-stream", **SECRET}
    read: list[str] = []
    with school.servers[0].client.stream("POST", "/api/query", json=body, headers=stream) as reply:
        for line in reply.iter_lines():
            if line.startswith("id: "):
                read.append(line.removeprefix("id: "))
            if len(read) == 2 and not line:
                break
    after = {**stream, "Last-Event-ID": read[-1]}
    rest = school.servers[1].client.post("/api/query", json=body, headers=after)
    numbers = [line.rpartition(".")[2] for line in rest.text.splitlines() if line.startswith("id: ")]
    assert f"id: {read[-1][:32]}.3" in rest.text
    assert numbers == [str(number) for number in range(3, 3 + len(numbers))]
    assert rest.text.rstrip().splitlines()[-2] == "event: done"


def test_a_page_that_was_loaded_again_follows_the_answer_at_the_other_server(school: School) -> None:
    """By the id of its message; other browsers cannot."""
    first, second = (server.client for server in school.servers)
    headers = {"Accept": "text/event-stream", **SECRET}
    read: list[str] = []
    with first.stream(
        "POST", "/api/query", json={"query": books.QUESTION, "session_id": "gone"}, headers=headers
    ) as reply:
        message = reply.headers["x-lutrin-message"]
        for line in reply.iter_lines():
            read.append(line)
            if line.startswith("id: ") and line.endswith(".2"):
                break
    path = f"/messages/{message}/events"
    followed = second.get(path, headers=headers)
    assert followed.text.startswith("\n".join(read[:-1]))
    assert followed.text.rstrip().splitlines()[-2] == "event: done"
    assert second.get(path, headers={**headers, "X-Lutrin-Client": "another-browser-0001"}).status_code == 404
    assert second.get(f"/messages/{'0' * 32}/events", headers=headers).status_code == 404


def test_an_ingestion_is_followed_at_the_other_server(school: School) -> None:
    """One server is asked to read the book, the other one tells how it stands, to the end."""
    first, second = school.servers
    allowed = {"Authorization": f"Bearer {TOKEN}"}
    begun = first.client.post("/ingest", headers=allowed)
    assert begun.status_code == 202, begun.text

    def job() -> dict[str, Any]:
        reply = second.client.get(begun.headers["location"], headers=allowed)
        assert reply.status_code == 200, reply.text
        told: dict[str, Any] = reply.json()
        return told

    wait_until(lambda: job()["state"] != "running", INGEST_S, "the ingestion has ended")
    assert (job()["state"], job()["detail"]) == ("done", None)
    assert job() == first.client.get(begun.headers["location"], headers=allowed).json()


@pytest.mark.parametrize("name", ["openai", "postgres"])
def test_a_service_that_dies_under_load_costs_no_message(school: School, services: Services, name: str) -> None:
    """Readers ask both servers while a service is killed and comes back: friendly answers, nothing lost."""
    with Crowd([server.client for server in school.servers], name) as crowd:
        crowd.wait_for_answers()
        services.kill(name)
        try:
            crowd.wait_for_replies()
        finally:
            services.restore(name)
        crowd.wait_for_answers()
    crowd.check_friendly()
    crowd.check_nothing_lost(school.servers[0].client)


def test_without_the_model_elsewhere_answers_are_quotes(school: School, services: Services) -> None:
    """Embeddings answer, the language model does not: the book's own sentences, and the reader is told."""
    services.openai.chat_down = True
    try:
        answer = school.servers[0].client.post("/api/query", json={"query": "How fast is the pump?"}).json()
    finally:
        services.openai.chat_down = False
    assert answer["kind"] == "extractive"
    assert answer["sources"]


def test_a_second_ingest_embeds_nothing(school: School, services: Services) -> None:
    """Nothing has changed, so no text is sent anywhere."""
    services.openai.asked.clear()
    assert school.ingest().code == 0
    assert [path for path, _, _ in services.openai.asked if path == "/embeddings"] == []


@pytest.mark.slow("reads a book and starts a server in processes of their own")
@pytest.mark.parametrize(
    ("variables", "answers"),
    [
        pytest.param(
            {"LUTRIN_EMBED_MODEL": "local", "LUTRIN_LLM_MODEL": "local", "LUTRIN_VECTORS": "qdrant"},
            "extractive",
            id="vectors-elsewhere",
        ),
        pytest.param(
            {"LUTRIN_LLM_MODEL": "local", "LUTRIN_VECTORS": "chroma"}, "extractive", id="embeddings-elsewhere"
        ),
        pytest.param({"LUTRIN_EMBED_MODEL": "local", "LUTRIN_VECTORS": "chroma"}, "generated", id="model-elsewhere"),
    ],
)
def test_parts_can_stay_local(
    services: Services,
    warm_remote: Warm,
    *,
    models_dir: Path,
    tmp_path: Path,
    variables: dict[str, str],
    answers: str,
) -> None:
    """Each part alone is elsewhere: vectors in Qdrant, embeddings, the language model."""
    qdrant = services.qdrant_variables(tmp_path / "data")
    school = School(services, warm_remote, models_dir, tmp_path, LUTRIN_MODEL="none", **{**qdrant, **variables})
    del school.variables["DATABASE_URL"]
    try:
        done = school.ingest()
        assert done.code == 0, done.err
        answer = school.serve().client.post("/api/query", json={"query": LONG, "wait_s": 20}).json()
        assert answer["sources"][0]["filename"] == books.ANSWER_FILE
        assert answer["kind"] == answers
    finally:
        school.close()


def test_a_book_of_this_machine_is_studied_by_the_model_elsewhere(
    services: Services, warm_remote: Warm, models_dir: Path, tmp_path: Path
) -> None:
    """Index and embeddings stay here; what the service writes is judged by it, kept, and published by an ingest."""
    own = {"LUTRIN_PROFILE": "local", "LUTRIN_VECTORS": "chroma", "LUTRIN_MODEL": "none"}
    school = School(services, warm_remote, models_dir, tmp_path, **own)
    assert school.ingest().code == 0
    before, services.openai.writes = services.openai.writes, "K: One ballast cycle takes ninety seconds."
    try:
        done = school.run("study", "--remote")
    finally:
        services.openai.writes = before
    assert done.code == 0, done.err
    assert "1 keypoints" in done.out
    assert school.ingest().code == 0
    published = school.run("companion", "export").out
    assert "One ballast cycle takes ninety seconds." in published
    assert '"author": "loopback@' in published


def test_a_study_elsewhere_names_what_is_missing(warm_remote: Warm, models_dir: Path, tmp_path: Path) -> None:
    """Without a key nothing is sent, and the variable is named; two models at once are refused."""
    variables = environment(models_dir, tmp_path / "data", LUTRIN_MODEL="none")
    done = warm_remote.run(variables, "study", "--remote", cwd=tmp_path)
    assert (done.code, "GEMINI_API_KEY" in done.err) == (1, True)
    done = warm_remote.run(variables, "study", "--remote", "--tier", "tiny", cwd=tmp_path)
    assert (done.code, "not both" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("LUTRIN_VECTORS", "qdrant", "Qdrant at http://127.0.0.1:1"),
        ("DATABASE_URL", "postgresql://lutrin:secret@127.0.0.1:1/books", "PostgreSQL at 127.0.0.1:1/books"),
        ("DATABASE_URL", "nonsense", "DATABASE_URL"),
        ("GEMINI_API_KEY", "", "Required environment variable GEMINI_API_KEY not set."),
    ],
)
def test_what_cannot_be_reached_is_named_at_start(school: School, variable: str, value: str, said: str) -> None:
    """The start fails with one line that names the missing or unreachable service, and contains no secret."""
    elsewhere = {"QDRANT_URL": "http://127.0.0.1:1", "QDRANT_API_KEY": "secret"}
    done = school.run("serve", "--port", str(free_port()), **{**elsewhere, variable: value})
    assert done.code == 1
    assert said in done.err
    assert "secret" not in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "command", [("backup", "x.tar"), ("restore", "x.tar"), ("bundle", "x.tar"), ("chats", "rotate-key")]
)
def test_commands_that_would_keep_half_are_refused(school: School, command: tuple[str, ...]) -> None:
    """Commands that copy only local files are refused, and name their replacement."""
    done = school.run(*command)
    assert done.code == 1
    assert "export-index" in done.err
    assert not (school.place / "x.tar").exists()


def test_an_index_of_another_embedding_model_is_not_opened(school: School) -> None:
    """Its vectors mean something else: the friendly 503 with the remedy in the log, never an answer by chance."""
    other = Server({**school.variables, "LUTRIN_EMBED_MODEL": "local"}, school.place, school.place / "other.log")
    try:
        reply = other.start().client.post("/api/query", json={"query": books.QUESTION})
        assert (reply.status_code, reply.json()["detail"]) == (503, FRIENDLY_DOWN)
        assert "was embedded by" in other.printed()
    finally:
        other.close()


def test_doctor_looks_at_every_service(school: School, services: Services) -> None:
    """Each is named with where it is; one that is away fails with its remedy, and no secret is printed."""
    well = school.run("doctor")
    assert well.code == 0, well.out + well.err
    for name in ("pgvector", "language model", "PostgreSQL"):
        assert name in well.out
    services.openai.down = True
    try:
        ill = school.run("doctor")
    finally:
        services.openai.down = False
    assert ill.code == 1
    assert "status 503" in ill.out
    assert school.variables["GEMINI_API_KEY"] not in well.out + ill.out
