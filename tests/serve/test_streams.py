"""Server-Sent Events: their form, resuming, silence, and readers who leave."""

import asyncio
import json
import re
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from lutrin import messages
from lutrin.chats.key import conversation_key, owner_of
from lutrin.errors import NotFound
from lutrin.records import (
    AnswerEvent,
    BookAnswerEvent,
    ChatMessage,
    DoneEvent,
    ExcerptEvent,
    Sentence,
    SentenceEvent,
    SourcesEvent,
    WorkingEvent,
)

from .conftest import House, Serve
from .scripted import ANSWER, EVENTS, EXCERPT, LOOP, as_sent

SSE = {"Accept": "text/event-stream"}
SECRET = "a-secret-of-this-browser-0"
MINE = {**SSE, "X-Lutrin-Client": SECRET}
BODY = {"session_id": "s1", "message": "What is the loop?"}
NAMES = ["queued", "sources", "excerpt", "sentence", "sentence", "answer", "done"]
BOOK = replace(ANSWER, answer=f"{LOOP.quote} [1]", explanation=f"{LOOP.quote} [1]", kind="extractive")
WORDS = (
    Sentence(text="It joins the two.", citations=(1,)),
    Sentence(text="And it goes on.", citations=(1,)),
)
EXPLAINED = replace(
    BOOK, answer=f"{BOOK.answer}\n\n{messages.IN_PLAIN_WORDS}\n\nIt joins the two. [1] And it goes on. [1]",
    plain_words=WORDS, kind="generated",
)  # fmt: skip


def parsed(text: str) -> list[tuple[str, str, dict[str, object]]]:
    """Id, name and data of each event; comments are left out."""
    frames = [frame for frame in text.split("\n\n") if frame and not frame.startswith(":")]
    found = []
    for frame in frames:
        fields = dict(line.split(": ", 1) for line in frame.split("\n"))
        found.append((fields["id"], fields["event"], json.loads(fields["data"])))
    return found


async def first_frames(reply: httpx.Response, count: int) -> bytes:
    """The bytes of the first frames of a stream, exactly."""
    got = b""
    async for piece in reply.aiter_bytes():
        got += piece
        if got.count(b"\n\n") >= count:
            return got
    return got


async def until(condition: Callable[[], bool], timeout_s: float = 2.0) -> None:
    """Wait until a condition holds."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < timeout_s, "it never came true"
        await asyncio.sleep(0.01)


async def stored(house: House, *, with_answer: bool = True) -> list[ChatMessage]:
    """Both messages of this browser's conversation s1, once they are there."""
    key = conversation_key("s1", owner_of(SECRET))
    async with asyncio.timeout(2):
        while True:
            messages = await house.chats.history(key)
            if len(messages) == 2 and (messages[1].text or not with_answer):
                return messages
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("path", ["/api/query", "/query", "/query-selection", "/query-selected-text", "/chat"])
async def test_every_answering_endpoint_streams(client: httpx.AsyncClient, path: str) -> None:
    """Events are typed and numbered, each data one JSON object; proxies are told not to buffer."""
    body = {"query": "Q", "question": "Q", "message": "Q", "session_id": "s1", "selected_text": "S"}
    async with client.stream("POST", path, json=body, headers=SSE) as reply:
        text = (await reply.aread()).decode()
    assert reply.status_code == 200
    assert reply.headers["content-type"].startswith("text/event-stream")
    assert reply.headers["x-accel-buffering"] == "no"
    assert reply.headers["cache-control"] == "no-store"
    events = parsed(text)
    assert [name for _, name, _ in events] == NAMES
    stream = reply.headers["x-lutrin-message"]
    assert [number for number, _, _ in events] == [f"{stream}.{n}" for n in range(1, 8)]
    assert events[0][2] == {"type": "queued", "position": 1, "eta_s": 0.1}
    assert events[2][2] == {"type": "excerpt", **as_sent(EXCERPT)}
    assert events[3][2]["citations"] == [1]
    assert events[5][2] == {"type": "answer", **as_sent(ANSWER)}
    done = dict(events[6][2])
    assert done == {"type": "done", **as_sent(ANSWER)}


async def test_an_error_on_the_way_is_an_event(client: httpx.AsyncClient, house: House) -> None:
    """After the first event the status is sent; what fails then is `error`, fit for the reader, and the last event."""
    house.answers.events, house.answers.failure = EVENTS[:3], ValueError("secret internals")
    text = (await client.post("/chat", json=BODY, headers=SSE)).text
    assert parsed(text)[-1][1:] == (
        "error",
        {"type": "error", "detail": messages.SOMETHING_WRONG},
    )
    assert "internals" not in text


async def test_line_breaks_stay_inside_the_data(client: httpx.AsyncClient, house: House) -> None:
    """A sentence with line breaks of any kind is one frame."""
    text = "one\r\ntwo\n\ndata: three\u2028four"
    house.answers.events = (SentenceEvent(text=text, citations=()), DoneEvent(answer=ANSWER))
    events = parsed((await client.post("/chat", json=BODY, headers=SSE)).text)
    assert [event[2].get("text") for event in events] == [text, None, None]


async def test_silence_is_filled_with_comments(serve: Serve, house: House) -> None:
    """Heartbeats keep proxies and readers from hanging up."""
    house.heartbeat_s, house.answers.pause_before = 0.05, 2
    async with serve() as client, client.stream("POST", "/chat", json=BODY, headers=SSE) as reply:
        got = await first_frames(reply, 5)
        house.answers.go_on.set()
    assert got.count(b": heartbeat\n\n") >= 3
    assert [name for _, name, _ in parsed(got.decode())] == NAMES[:2]


async def test_a_cut_stream_resumes_byte_identical(client: httpx.AsyncClient, house: House) -> None:
    """`Last-Event-ID` of a running answer brings exactly the bytes that are missing, asked once."""
    house.answers.pause_before = 4
    async with client.stream("POST", "/chat", json=BODY, headers=SSE) as reply:
        begun = await first_frames(reply, 4)
    last = re.findall(rb"^id: (.+)$", begun, re.MULTILINE)[-1].decode()
    house.answers.go_on.set()
    rest = (await client.post("/chat", json=BODY, headers={**SSE, "Last-Event-ID": last})).content
    whole = (await client.post("/chat", json=BODY, headers={**SSE, "Last-Event-ID": last.replace(".4", ".0")})).content
    assert begun + rest == whole
    assert [name for _, name, _ in parsed(whole.decode())] == NAMES
    assert len(house.answers.asked) == 1


async def test_a_stream_resumes_after_it_was_cancelled(client: httpx.AsyncClient, house: House) -> None:
    """The model was freed meanwhile: the question is asked again, and what was sent is not sent twice."""
    house.answers.pause_before = 4
    async with client.stream("POST", "/chat", json=BODY, headers=SSE) as reply:
        begun = await first_frames(reply, 4)
    await until(lambda: house.answers.cancelled == 1)
    house.answers.pause_before = None
    last = re.findall(rb"^id: (.+)$", begun, re.MULTILINE)[-1].decode()
    rest = (await client.post("/chat", json=BODY, headers={**SSE, "Last-Event-ID": last})).content
    events = parsed((begun + rest).decode())
    told = [name for _, name, _ in events if name != "queued"]
    assert told == NAMES[1:]
    numbers = [int(number.rpartition(".")[2]) for number, _, _ in events]
    assert numbers == list(range(1, len(events) + 1))
    assert len((await client.get("/history/s1")).json()["messages"]) == 2


async def test_a_question_asked_once_more_knows_what_is_stored_of_it(client: httpx.AsyncClient, house: House) -> None:
    """What was stored of an answer that was cut is named, so that it is not taken for a turn before the question."""
    house.answers.pause_before = 4
    async with client.stream("POST", "/chat", json=BODY, headers=MINE) as reply:
        begun = await first_frames(reply, 4)
    await until(lambda: house.answers.cancelled == 1)
    parts = await stored(house)
    house.answers.pause_before = None
    last = re.findall(rb"^id: (.+)$", begun, re.MULTILINE)[-1].decode()
    await client.post("/chat", json=BODY, headers={**MINE, "Last-Event-ID": last})
    assert house.answers.asked[-1].kept_as == tuple(message.id for message in parts)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"X-Lutrin-Client": "another-browser-0001"}, BODY),
        ({}, {**BODY, "message": "Something else?"}),
        ({}, {**BODY, "session_id": "s2"}),
    ],
)
async def test_only_its_reader_resumes_a_stream(
    client: httpx.AsyncClient, house: House, headers: dict[str, str], body: dict[str, str]
) -> None:
    """Another secret, question or session with the same id is a new question."""
    first = await client.post("/chat", json=BODY, headers=SSE)
    last = f"{first.headers['x-lutrin-message']}.3"
    reply = await client.post("/chat", json=body, headers={**SSE, **headers, "Last-Event-ID": last})
    assert reply.headers["x-lutrin-message"] != first.headers["x-lutrin-message"]
    assert [name for _, name, _ in parsed(reply.text)] == NAMES
    assert len(house.answers.asked) == 2


@pytest.mark.parametrize("value", ["", "x", "0" * 32 + ".1", "0" * 32 + ".-1", "." * 1000])
async def test_a_foreign_event_id_is_a_new_question(client: httpx.AsyncClient, value: str) -> None:
    """Nothing is known of it, so the answer starts at its beginning."""
    reply = await client.post("/chat", json=BODY, headers={**SSE, "Last-Event-ID": value})
    assert [name for _, name, _ in parsed(reply.text)] == NAMES


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_reader_who_leaves_frees_the_model(client: httpx.AsyncClient, house: House, streamed: bool) -> None:
    """Within a second the flow is cancelled, whichever form was asked for, fifty times over."""
    house.answers.pause_before = 3
    for _ in range(50 if streamed else 5):
        if streamed:
            async with client.stream("POST", "/chat", json=BODY, headers=SSE) as reply:
                await first_frames(reply, 2)
        else:
            with pytest.raises(httpx.ReadTimeout):
                await client.post("/chat", json=BODY, timeout=httpx.Timeout(5, read=0.05))
    await until(lambda: house.answers.running == 0, timeout_s=1.0)
    assert house.answers.cancelled == len(house.answers.asked)


async def test_what_was_sent_is_stored(client: httpx.AsyncClient, house: House) -> None:
    """A reader who left in the middle finds the question, the excerpt and the sentences that arrived."""
    house.answers.pause_before = 4
    async with client.stream("POST", "/chat", json=BODY, headers=MINE) as reply:
        await first_frames(reply, 4)
    await until(lambda: house.answers.cancelled == 1)
    await stored(house)
    question, answer = (await client.get("/history/s1", headers=MINE)).json()["messages"]
    assert (question["role"], question["text"]) == ("user", BODY["message"])
    assert (answer["role"], answer["text"]) == ("assistant", "The loop joins what is sensed and what is done. [1]")
    assert answer["explanation"] == answer["text"]
    assert answer["excerpts"] == [as_sent(EXCERPT)]
    assert [citation["n"] for citation in answer["citations"]] == [1]
    assert answer["id"] == reply.headers["x-lutrin-message"]


async def test_only_excerpts_were_sent(client: httpx.AsyncClient, house: House) -> None:
    """Excerpts without a sentence are stored as an extractive answer, with the sources that they cite alone."""
    cited = tuple(replace(LOOP, n=n, chunk_id=f"c{n}") for n in (1, 2, 3))
    begun = [ExcerptEvent(replace(EXCERPT, n=n, text=text)) for n, text in ((1, "First."), (2, "Second."))]
    house.answers.events, house.answers.pause_before = (SourcesEvent(citations=cited), *begun, *EVENTS), 3
    async with client.stream("POST", "/chat", json=BODY, headers=MINE) as reply:
        await first_frames(reply, 3)
    await until(lambda: house.answers.cancelled == 1)
    answer = (await stored(house))[1]
    assert (answer.text, answer.kind, answer.chunk_ids) == ("First.\n\nSecond.", "extractive", ("c1", "c2"))
    assert (answer.explanation, answer.excerpts) == ("", tuple(event.excerpt for event in begun))


async def test_the_history_has_what_was_shown(client: httpx.AsyncClient) -> None:
    """A page that restores a conversation gets every part of the answer again."""
    sent = parsed((await client.post("/chat", json=BODY, headers=SSE)).text)[-1][2]
    kept = (await client.get("/history/s1")).json()["messages"][1]
    for name in ("refusal", "explanation", "excerpts", "suggestions", "warnings", "prepared_by", "explainable"):
        assert kept[name] == sent[name]
    assert kept["citations"] == sent["sources"]


async def test_done_is_said_after_it_was_stored(client: httpx.AsyncClient, house: House) -> None:
    """After `done`, the answer is in the history at once."""
    for n in range(10):
        secret = f"a-secret-of-this-browser-{n}"
        async with client.stream("POST", "/chat", json=BODY, headers={**SSE, "X-Lutrin-Client": secret}) as reply:
            async for line in reply.aiter_lines():
                if line == "event: done":
                    stored = await house.chats.history(conversation_key("s1", owner_of(secret)))
                    assert [message.role for message in stored] == ["user", "assistant"]


async def test_a_server_that_ends_stores_what_was_sent(serve: Serve, house: House) -> None:
    """Shutting down cancels running answers and waits for the database."""
    house.answers.pause_before = 4
    async with serve() as client, client.stream("POST", "/chat", json=BODY, headers=MINE) as reply:
        await first_frames(reply, 4)
    stored = await house.chats.history(conversation_key("s1", owner_of(SECRET)))
    assert [message.role for message in stored] == ["user", "assistant"]


BELOW: tuple[AnswerEvent, ...] = (
    *EVENTS[1:3],
    BookAnswerEvent(answer=BOOK),
    WorkingEvent(what="reading", eta_s=4.0),
    SentenceEvent(text="It joins the two.", citations=(1,)),
    SentenceEvent(text="And it goes on.", citations=(1,)),
    DoneEvent(answer=EXPLAINED),
)
"""The book's answer, below which a model explains it."""


async def test_the_book_s_answer_is_stored_before_it_is_shown_and_grows(
    client: httpx.AsyncClient, house: House
) -> None:
    """A page that is loaded again while the model writes has the question, the answer and the sentences so far."""
    house.answers.events, house.answers.pause_before = BELOW, 5
    async with client.stream("POST", "/chat", json=BODY, headers=MINE) as reply:
        begun = await first_frames(reply, 5)
        async with asyncio.timeout(2):
            answer: dict[str, Any] = {"plain_words": []}
            while not answer["plain_words"]:
                answer = (await client.get("/history/s1", headers=MINE)).json()["messages"][1]
                await asyncio.sleep(0.01)
    assert [name for _, name, _ in parsed(begun.decode())] == ["sources", "excerpt", "answer", "working", "sentence"]
    assert answer["unfinished"]
    assert answer["explanation"] == BOOK.explanation
    assert [one["text"] for one in answer["plain_words"]] == ["It joins the two."]


async def test_the_question_is_stored_when_it_is_asked(client: httpx.AsyncClient, house: House) -> None:
    """Before anything is found."""
    house.answers.pause_before = 0
    async with client.stream("POST", "/chat", json=BODY, headers=MINE):
        question, answer = await stored(house, with_answer=False)
        house.answers.go_on.set()
    assert (question.text, answer.text, answer.unfinished) == (BODY["message"], "", True)


async def test_a_question_that_cannot_be_asked_leaves_nothing(client: httpx.AsyncClient, house: House) -> None:
    """For example one about an unknown book."""
    house.answers.events, house.answers.failure = (), NotFound("There is no such book.")
    reply = await client.post("/chat", json=BODY, headers=MINE)
    assert reply.status_code == 404
    async with asyncio.timeout(2):
        while (await client.get("/sessions", headers=MINE)).json()["sessions"]:  # noqa: ASYNC110 - the store sends no event
            await asyncio.sleep(0.01)


async def test_a_page_that_was_loaded_again_follows_the_answer(client: httpx.AsyncClient, house: House) -> None:
    """By the id of the message, from the start or from the last event; other browsers cannot."""
    house.answers.events, house.answers.pause_before = BELOW, 5
    async with client.stream("POST", "/chat", json=BODY, headers=MINE) as reply:
        begun = await first_frames(reply, 5)
    name = reply.headers["x-lutrin-message"]
    house.answers.go_on.set()
    path = f"/messages/{name}/events"
    whole = (await client.get(path, headers=MINE)).content
    rest = (await client.get(path, headers={**MINE, "Last-Event-ID": f"{name}.5"})).content
    assert begun + rest == whole
    assert [event for _, event, _ in parsed(whole.decode())][-2:] == ["sentence", "done"]
    assert (await client.get(path, headers={**SSE, "X-Lutrin-Client": "another-browser-0001"})).status_code == 404
    assert (await client.get(f"/messages/{'0' * 32}/events", headers=MINE)).status_code == 404


@pytest.mark.parametrize("left", [False, True])
async def test_what_its_reader_stops_is_not_gone_on_with(client: httpx.AsyncClient, house: House, left: bool) -> None:
    """No page continues it; the text so far stays, and may be explained later."""
    house.answers.events, house.answers.pause_before = BELOW, 5
    async with client.stream("POST", "/chat", json=BODY, headers=MINE) as reply:
        await first_frames(reply, 5)
        path = f"/messages/{reply.headers['x-lutrin-message']}/events"
        assert (await client.delete(path, headers={"X-Lutrin-Client": "another-browser-0001"})).status_code == 404
        if not left:
            beside = asyncio.create_task(client.get(path, headers=MINE))
            await asyncio.sleep(0.05)
            assert (await client.delete(path, headers={"X-Lutrin-Client": SECRET})).status_code == 204
            assert [name for _, name, _ in parsed((await beside).text)][-2:] == ["sentence", "done"]
    if left:
        await until(lambda: house.answers.cancelled == 1)
        assert (await client.delete(path, headers={"X-Lutrin-Client": SECRET})).status_code == 204
    events = [name for _, name, _ in parsed((await client.get(path, headers=MINE)).text)]
    assert events == ["sources", "excerpt", "answer", "working", "sentence", "done"]
    assert len(house.answers.asked) == house.answers.cancelled == 1
    answer = (await stored(house))[1]
    assert (answer.unfinished, answer.explainable) == (False, True)
    assert [one.text for one in answer.plain_words] == ["It joins the two."]


async def test_what_is_stopped_before_it_is_found_stays_a_question(client: httpx.AsyncClient, house: House) -> None:
    """With an empty answer, and other pages that follow it are told."""
    house.answers.pause_before = 0
    async with client.stream("POST", "/chat", json=BODY, headers=MINE) as reply:
        await stored(house, with_answer=False)
        path = f"/messages/{reply.headers['x-lutrin-message']}/events"
        assert (await client.delete(path, headers={"X-Lutrin-Client": SECRET})).status_code == 204
    assert parsed((await client.get(path, headers=MINE)).text)[-1][2]["detail"] == messages.STOPPED
    answer = (await stored(house, with_answer=False))[1]
    assert (answer.text, answer.unfinished) == ("", False)


async def test_who_comes_back_while_it_is_being_cancelled_gets_the_answer(
    client: httpx.AsyncClient, house: House
) -> None:
    """And is not told that the books are away."""
    house.answers.events, house.answers.pause_before, house.answers.lingers_s = BELOW, 5, 0.3
    async with client.stream("POST", "/chat", json=BODY, headers=MINE) as reply:
        await first_frames(reply, 5)
    await until(lambda: house.answers.cancelled == 1)
    assert house.answers.running == 1
    house.answers.pause_before = None
    rest = await client.get(f"/messages/{reply.headers['x-lutrin-message']}/events", headers=MINE)
    events = [name for _, name, _ in parsed(rest.text) if name != "working"]
    assert events == ["sources", "excerpt", "answer", "sentence", "sentence", "done"]


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_conversation_deleted_meanwhile_stays_deleted(
    client: httpx.AsyncClient, house: House, streamed: bool
) -> None:
    """Its answer, which is still being written, does not bring it back."""
    await client.post("/chat", json=BODY, headers=MINE if streamed else {"X-Lutrin-Client": SECRET})
    house.answers.events, house.answers.pause_before = BELOW, 5
    headers = MINE if streamed else {"X-Lutrin-Client": SECRET}
    asking = asyncio.create_task(client.post("/chat", json={**BODY, "message": "And then?"}, headers=headers))
    await until(lambda: house.answers.running == 1)
    await asyncio.sleep(0.1)
    assert (await client.delete("/sessions/s1", headers=MINE)).status_code == 204
    house.answers.go_on.set()
    assert (await asking).status_code == 200
    await asyncio.sleep(0.1)
    assert (await client.get("/sessions", headers=MINE)).json()["sessions"] == []
