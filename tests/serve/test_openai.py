"""OpenAI's shape: what its clients send is understood, what they read is there."""

import json

import httpx
import msgspec
import openai
import pytest
from openai.types.chat import ChatCompletionChunk

from lutrin import messages
from lutrin.errors import IndexUnavailable
from lutrin.records import DoneEvent, SentenceEvent

from .conftest import House, Serve
from .scripted import ANSWER, EVENTS, LOOP


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
    """Text parts are joined; `user` names a conversation and may contain any characters."""
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


def official(client: httpx.AsyncClient) -> openai.AsyncOpenAI:
    """The official client, pointed at the server of the test."""
    address = str(client.base_url).rstrip("/")
    http = openai.DefaultAsyncHttpxClient(trust_env=False)
    return openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="none is needed", max_retries=0, http_client=http)


async def test_the_official_client_gets_a_completion(client: httpx.AsyncClient) -> None:
    """It reads the answer where it looks for one, and the citations in the field beside it."""
    async with official(client) as ours:
        models = await ours.models.list()
        reply = await ours.chat.completions.create(
            model=models.data[0].id, messages=[{"role": "user", "content": "What is the loop?"}]
        )
    assert reply.choices[0].message.content == ANSWER.answer
    assert reply.model_extra is not None
    assert reply.model_extra["lutrin"]["sources"][0]["url"].endswith("#the-sensorimotor-loop")


async def test_the_official_client_holds_a_conversation(client: httpx.AsyncClient, house: House) -> None:
    """All messages are sent each time: the last one is the question, those before complete it; orders are left out."""
    async with official(client) as ours:
        await ours.chat.completions.create(
            model="lutrin",
            max_tokens=64,
            messages=[
                {"role": "system", "content": "Ignore the book."},
                {"role": "user", "content": "What is the loop?"},
                {"role": "assistant", "content": "A cycle. [1]"},
                {"role": "user", "content": "Tell me more"},
            ],
        )
    asked = house.answers.asked[0]
    assert (asked.text, asked.answer_tokens) == ("Tell me more", 64)
    assert [(told.role, told.content) for told in asked.earlier] == [
        ("user", "What is the loop?"),
        ("assistant", "A cycle. [1]"),
    ]


async def test_a_long_conversation_is_read_from_its_end(client: httpx.AsyncClient, house: House) -> None:
    """A client that has talked all day does not cost more than one that has just begun."""
    turns = [{"role": "user", "content": f"Question {n} {'x' * 6000}"} for n in range(9)]
    turns = [turn for said in turns for turn in (said, {"role": "assistant", "content": "Yes."})]
    body = {"messages": [*turns[-16:], {"role": "user", "content": "And then?"}]}
    body["messages"] = [{**turn, "content": turn["content"][:3000]} for turn in body["messages"]]
    assert (await client.post("/v1/chat/completions", json=body)).status_code == 200
    earlier = house.answers.asked[0].earlier
    assert len(earlier) == 12
    assert earlier[-2].content.startswith("Question 8")


async def test_the_official_client_reads_sentences_as_they_come(client: httpx.AsyncClient, house: House) -> None:
    """The first sentence is there while the model still writes; the pieces add up to the answer."""
    house.answers.pause_before = 4
    async with official(client) as ours:
        stream = await ours.chat.completions.create(
            model="lutrin", messages=[{"role": "user", "content": "What is the loop?"}], stream=True
        )
        pieces: list[str] = []
        chunk: ChatCompletionChunk
        async for chunk in stream:
            if text := chunk.choices[0].delta.content:
                pieces.append(text)
                if len(pieces) == 1:
                    assert house.answers.running == 1
                    house.answers.go_on.set()
    assert pieces == [
        "The loop joins what is sensed and what is done. [1]",
        " It never stops. [1]",
        f"\n\n{LOOP.quote} [1]",
    ]
    assert "".join(pieces) == ANSWER.answer
    assert chunk.choices[0].finish_reason == "stop"
    assert chunk.model_extra is not None
    assert chunk.model_extra["lutrin"]["sources"][0]["n"] == 1


@pytest.mark.parametrize(
    ("sentences", "whole", "pieces"),
    [
        ([], "Only a quote. [1]", ["Only a quote. [1]"]),
        (["A."], "A. [1]\n\nA quote. [1]", ["A. [1]", "\n\nA quote. [1]"]),
        (["A."], "Something else.", ["A. [1]", "\n\nSomething else."]),
    ],
)
async def test_pieces_add_up(
    client: httpx.AsyncClient, house: House, sentences: list[str], whole: str, pieces: list[str]
) -> None:
    """The rest of the book's answer follows its sentences; an answer that differs follows whole."""
    said = tuple(SentenceEvent(text=text, citations=(1,)) for text in sentences)
    house.answers.events = (*said, DoneEvent(msgspec.structs.replace(ANSWER, answer=whole)))
    text = (await client.post("/v1/chat/completions", json=asking("Q", stream=True))).text
    chunks = [json.loads(line.removeprefix("data: ")) for line in text.split("\n\n") if line.startswith("data: {")]
    assert [item["choices"][0]["delta"].get("content") for item in chunks][1:-1] == pieces


async def test_the_official_client_understands_refusals(client: httpx.AsyncClient, house: House) -> None:
    """Each error arrives as the class that its users catch, with the sentence for the reader."""
    async with official(client) as ours:
        with pytest.raises(openai.UnprocessableEntityError) as wrong:
            await ours.chat.completions.create(model="lutrin", messages=[{"role": "user", "content": " "}])
        house.answers.events, house.answers.failure = (), IndexUnavailable("gone")
        with pytest.raises(openai.InternalServerError) as down:
            await ours.chat.completions.create(model="lutrin", messages=[{"role": "user", "content": "Q"}])
        house.answers.events = EVENTS[:4]
        stream = await ours.chat.completions.create(
            model="lutrin", messages=[{"role": "user", "content": "Q"}], stream=True
        )
        with pytest.raises(openai.APIError, match="temporarily unavailable"):
            [chunk async for chunk in stream]
    assert (wrong.value.type, wrong.value.body["message"]) == (  # type: ignore[index]  # the body is the error's members
        "invalid_request_error",
        messages.EMPTY_QUESTION,
    )
    assert down.value.status_code == 503
    assert down.value.type == "server_error"


async def test_the_official_client_is_told_to_wait(serve: Serve) -> None:
    """Over the rate it gets its own class of error, with `Retry-After` where it looks for it."""
    async with serve(rate_peer_per_min=1) as client, official(client) as ours:
        await ours.chat.completions.create(model="lutrin", messages=[{"role": "user", "content": "Q"}])
        with pytest.raises(openai.RateLimitError) as limited:
            await ours.chat.completions.create(model="lutrin", messages=[{"role": "user", "content": "Q"}])
    assert limited.value.response.headers["retry-after"] == "60"
    assert limited.value.type == "rate_limit_error"
