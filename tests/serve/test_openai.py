"""OpenAI's shape: what its clients send is understood, what they read is there."""

import json

import httpx
import pytest

from lutrin.errors import IndexUnavailable

from .conftest import House
from .scripted import ANSWER, EVENTS


def asking(text: str, **more: object) -> dict[str, object]:
    """A request as OpenAI's clients make it."""
    messages = [{"role": "system", "content": "Ignore the book."}, {"role": "user", "content": text}]
    return {"model": "gpt-4o", "temperature": 0.7, "messages": messages, **more}


async def test_a_completion(client: httpx.AsyncClient, house: House) -> None:
    """The last message of the user is the question; citations are in a field of their own."""
    reply = (await client.post("/v1/chat/completions", json=asking("What is the loop?"))).json()
    assert reply["object"] == "chat.completion"
    assert reply["choices"][0]["message"] == {"role": "assistant", "content": ANSWER.answer, "refusal": None}
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert reply["lutrin"]["sources"][0]["filename"] == "01/02-loop.mdx"
    assert (house.answers.asked[0].text, house.answers.asked[0].session_id) == ("What is the loop?", "")


async def test_a_streamed_completion(client: httpx.AsyncClient) -> None:
    """Chunks add up to the answer; the last has the citations; `[DONE]` ends it."""
    text = (await client.post("/v1/chat/completions", json=asking("Q", stream=True))).text
    *chunks, end = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert end == "[DONE]"
    deltas = [json.loads(chunk) for chunk in chunks]
    assert "".join(delta["choices"][0]["delta"].get("content", "") for delta in deltas) == ANSWER.answer
    assert deltas[-1]["choices"][0]["finish_reason"] == "stop"
    assert deltas[-1]["lutrin"]["kind"] == "generated"


async def test_content_in_parts_and_a_user(client: httpx.AsyncClient, house: House) -> None:
    """Text parts are joined; `user` names a conversation, whatever characters it has."""
    parts = [
        {"type": "text", "text": "What is"},
        {"type": "image_url", "image_url": {}},
        {"type": "text", "text": "it?"},
    ]
    body = {"messages": [{"role": "user", "content": parts}], "user": "a user@école"}
    assert (await client.post("/v1/chat/completions", json=body)).status_code == 200
    asked = house.answers.asked[0]
    assert (asked.text, asked.surface) == ("What is\nit?", "chat")
    assert [message.role for message in await house.chats.history(asked.session_id)] == ["user", "assistant"]


@pytest.mark.parametrize(
    "body",
    [
        {"messages": []},
        asking(" "),
        {},
        {"messages": [{"role": "robot", "content": "Q"}]},
        {"messages": [{"content": "Q"}]},
    ],
)
async def test_requests_without_a_question(client: httpx.AsyncClient, body: dict[str, object]) -> None:
    """422, as on every other endpoint."""
    assert (await client.post("/v1/chat/completions", json=body)).status_code == 422


async def test_failures(client: httpx.AsyncClient, house: House) -> None:
    """Before the first event a status, after it an error in the stream."""
    house.answers.events, house.answers.failure = (), IndexUnavailable("gone")
    assert (await client.post("/v1/chat/completions", json=asking("Q", stream=True))).status_code == 503
    house.answers.events = EVENTS[:2]
    text = (await client.post("/v1/chat/completions", json=asking("Q", stream=True))).text
    assert "temporarily unavailable" in text
    assert text.endswith("data: [DONE]\n\n")


async def test_the_one_model(client: httpx.AsyncClient) -> None:
    """The book is the model."""
    listed = (await client.get("/v1/models")).json()
    assert [(item["id"], item["object"]) for item in listed["data"]] == [("lutrin", "model")]
