"""Conversations over HTTP: restored, listed, renamed, exported and deleted, each by its own browser alone."""

import time
from collections.abc import Sequence

import httpx
import pytest

from lutrin.chats.key import new_key
from lutrin.chats.store import SqlChatStore
from lutrin.errors import ChatStoreError
from lutrin.messages import NOT_SAVED
from lutrin.records import ChatMessage, ChatOrigin

from .conftest import House, Serve
from .scripted import ANSWER

MINE = {"X-Lutrin-Client": "a-secret-of-my-browser-01"}
THEIRS = {"X-Lutrin-Client": "a-secret-of-another-browser"}


async def say(client: httpx.AsyncClient, text: str, session: str = "s1", **headers: str) -> httpx.Response:
    """One question in a conversation."""
    return await client.post("/chat", json={"session_id": session, "message": text}, headers=headers or MINE)


async def test_history_is_restored(client: httpx.AsyncClient) -> None:
    """Both messages of each turn, oldest first, with times, citations and ids."""
    for text in ("First?", "Second?"):
        await say(client, text)
    messages = (await client.get("/history/s1", headers=MINE)).json()["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant"] * 2
    assert [message["text"] for message in messages] == ["First?", ANSWER.answer, "Second?", ANSWER.answer]
    assert messages[1]["citations"][0]["filename"] == "01/02-loop.mdx"
    assert messages[1]["chunk_ids"] == ["c1"]
    assert messages[0]["session_id"] == "s1"
    assert messages[0]["created"] <= messages[1]["created"]


async def test_an_answer_says_when_its_question_came(client: httpx.AsyncClient) -> None:
    """The same millisecond as in the conversation, so that a page shows one time before and after a reload."""
    reply = await say(client, "Q")
    question, _ = (await client.get("/history/s1", headers=MINE)).json()["messages"]
    assert reply.headers["x-lutrin-asked"] == question["created"]


async def test_the_newest_fifty(client: httpx.AsyncClient) -> None:
    """More than 50 messages: the newest 50, oldest of them first."""
    for n in range(27):
        await say(client, f"Question {n}")
    messages = (await client.get("/history/s1", headers=MINE)).json()["messages"]
    assert len(messages) == 50
    assert (messages[0]["text"], messages[-2]["text"]) == ("Question 2", "Question 26")


async def test_an_unknown_session_is_empty(client: httpx.AsyncClient) -> None:
    """`{"messages": []}`, not 404, with or without a secret."""
    for headers in ({}, MINE):
        reply = await client.get("/history/0b5b7d6e-unknown", headers=headers)
        assert (reply.status_code, reply.json()) == (200, {"messages": []})


async def test_a_plain_client_needs_no_secret(client: httpx.AsyncClient) -> None:
    """The id is enough to read a conversation that was begun without a secret."""
    await client.post("/chat", json={"session_id": "plain", "message": "Q"})
    assert len((await client.get("/history/plain")).json()["messages"]) == 2
    assert (await client.get("/history/plain", headers=MINE)).json()["messages"] == []


async def test_another_browser_never_sees_it(client: httpx.AsyncClient, house: House) -> None:
    """A known id is worth nothing without the secret: not to read, list, rename, export, delete, judge or continue."""
    answer = await say(client, "A private needle?")
    message = answer.headers["x-lutrin-message"]
    for headers in (THEIRS, {}):
        assert (await client.get("/history/s1", headers=headers)).json() == {"messages": []}
        assert (
            await client.post(f"/messages/{message}/feedback", json={"value": "up"}, headers=headers)
        ).status_code == 404
    assert (await client.get("/sessions", headers=THEIRS)).json() == {"sessions": [], "more": False}
    refusals = [
        await client.patch("/sessions/s1", json={"title": "Mine now"}, headers=THEIRS),
        await client.get("/sessions/s1/export", headers=THEIRS),
        await client.delete("/sessions/s1", headers=THEIRS),
    ]
    unknown = await client.delete("/sessions/never-was", headers=THEIRS)
    for reply in refusals:
        assert reply.status_code == 404
        assert reply.content == unknown.content
        assert reply.headers.keys() == unknown.headers.keys()
    await say(client, "Tell me more", **THEIRS)
    assert house.answers.asked[-1].session_id != house.answers.asked[0].session_id
    mine = (await client.get("/history/s1", headers=MINE)).json()["messages"]
    assert [message["text"] for message in mine] == ["A private needle?", ANSWER.answer]


async def test_many_conversations_come_in_parts(client: httpx.AsyncClient) -> None:
    """Each says whether there are more, and together they are all of them, the one used last first."""
    for number in range(5):
        await say(client, "Q", f"s{number}")
    wanted = [{"most": 2, "past": past} for past in (0, 2, 4)]
    parts = [(await client.get("/sessions", params=part, headers=MINE)).json() for part in wanted]
    assert [part["more"] for part in parts] == [True, True, False]
    assert [one["id"] for part in parts for one in part["sessions"]] == ["s4", "s3", "s2", "s1", "s0"]
    for wrong in ({"past": -1}, {"most": 0}, {"most": 501}):
        assert (await client.get("/sessions", params=wrong, headers=MINE)).status_code == 422


async def test_guessing_tells_nothing_not_even_by_time(client: httpx.AsyncClient) -> None:
    """Another browser's id takes as long as an unused one."""
    await say(client, "Q", "foreign")
    seconds: dict[str, list[float]] = {"foreign": [], "unknown": []}
    for _ in range(60):
        for session, taken in seconds.items():
            began = time.perf_counter()
            reply = await client.get(f"/history/{session}", headers=THEIRS)
            taken.append(time.perf_counter() - began)
            assert reply.json() == {"messages": []}
    medians = [sorted(taken)[30] for taken in seconds.values()]
    assert max(medians) < 1.5 * min(medians)


@pytest.mark.parametrize("secret", ["short", "with blanks in the secret", "x" * 201])
async def test_a_secret_has_a_form(client: httpx.AsyncClient, secret: str) -> None:
    """Too short to be a secret, or no header's value: 422."""
    assert (await client.get("/sessions", headers={"X-Lutrin-Client": secret})).status_code == 422


async def test_the_list_needs_a_secret(client: httpx.AsyncClient) -> None:
    """Without one there is nothing that could be this browser's."""
    for method, path in (("GET", "/sessions"), ("DELETE", "/sessions/s1"), ("GET", "/sessions/s1/export")):
        assert (await client.request(method, path)).status_code == 403


async def test_list_rename_delete(client: httpx.AsyncClient) -> None:
    """The one used last is first; a name of one's own replaces the first question; deleted is gone."""
    await say(client, "What is a sensor?", "first")
    await say(client, "What is an actuator?", "second")
    await say(client, "And a joint?", "first")
    listed = (await client.get("/sessions", headers=MINE)).json()["sessions"]
    assert [(item["id"], item["title"], item["message_count"]) for item in listed] == [
        ("first", "What is a sensor?", 4),
        ("second", "What is an actuator?", 2),
    ]
    assert (listed[0]["book"], listed[0]["generation"]) == ("physical-ai", "g1")
    renamed = await client.patch("/sessions/second", json={"title": "Motors"}, headers=MINE)
    assert renamed.json()["title"] == "Motors"
    assert (await client.delete("/sessions/first", headers=MINE)).status_code == 204
    assert [item["title"] for item in (await client.get("/sessions", headers=MINE)).json()["sessions"]] == ["Motors"]
    assert (await client.get("/history/first", headers=MINE)).json() == {"messages": []}
    assert (await client.patch("/sessions/first", json={"title": "Back"}, headers=MINE)).status_code == 404
    assert (await client.patch("/sessions/second", json={"title": ""}, headers=MINE)).status_code == 422


async def test_export(client: httpx.AsyncClient) -> None:
    """Markdown to read, with the sources; JSON to process, with everything."""
    await say(client, "What is the loop?")
    markdown = await client.get("/sessions/s1/export", headers=MINE)
    assert markdown.headers["content-type"].startswith("text/markdown")
    assert markdown.headers["content-disposition"].startswith("attachment")
    assert "# What is the loop?" in markdown.text
    assert "- [1] Chapter 1: Embodied Intelligence, The sensorimotor loop: “" in markdown.text
    data = (await client.get("/sessions/s1/export?form=json", headers=MINE)).json()
    assert data["session"]["id"] == "s1"
    assert [message["role"] for message in data["messages"]] == ["user", "assistant"]
    assert (await client.get("/sessions/s1/export?form=pdf", headers=MINE)).status_code == 422


async def test_feedback(client: httpx.AsyncClient) -> None:
    """204; a second judgement replaces the first; a question cannot be judged."""
    message = (await say(client, "Q")).headers["x-lutrin-message"]
    for body in ({"value": "up"}, {"value": "down", "comment": "Too short."}):
        reply = await client.post(f"/messages/{message}/feedback", json=body, headers=MINE)
        assert (reply.status_code, reply.content) == (204, b"")
    assert (await client.post(f"/messages/{message}/feedback", json={"value": "meh"}, headers=MINE)).status_code == 422
    question = (await client.get("/history/s1", headers=MINE)).json()["messages"][0]["id"]
    assert (await client.post(f"/messages/{question}/feedback", json={"value": "up"}, headers=MINE)).status_code == 404


async def test_questions_without_a_session_are_not_stored(client: httpx.AsyncClient) -> None:
    """`/api/query` keeps nothing unless a session is named; with one it does."""
    await client.post("/api/query", json={"query": "Q"}, headers=MINE)
    assert (await client.get("/sessions", headers=MINE)).json() == {"sessions": [], "more": False}
    await client.post("/api/query", json={"query": "Q", "session_id": "named"}, headers=MINE)
    assert len((await client.get("/history/named", headers=MINE)).json()["messages"]) == 2


class Broken(SqlChatStore):
    """Conversations on a disk that is full."""

    async def record(
        self,
        key: str,
        origin: ChatOrigin,
        messages: Sequence[ChatMessage],
        *,
        is_begun: bool = False,  # noqa: ARG002 - it fails in any case
    ) -> None:
        """Fail as a full disk does."""
        raise ChatStoreError(f"No room for {len(messages)} messages of {origin.session_id or key}.")


async def test_what_cannot_be_stored_is_said(house: House, serve: Serve) -> None:
    """A full disk costs the history, not the answer."""
    house.chats = await Broken.open(house.data_dir / "full.db", new_key())
    async with serve() as client:
        reply = await say(client, "Q")
        assert (reply.status_code, reply.json()["warnings"]) == (200, [*ANSWER.warnings, NOT_SAVED])
        assert (await client.get("/history/s1", headers=MINE)).json() == {"messages": []}
    await house.chats.close()
