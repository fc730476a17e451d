"""What an answer's texts consist of, for whoever asks for it: everywhere the same, and nowhere else."""

from collections.abc import Iterator
from typing import Any

import httpx
import msgspec
import pytest

from lutrin.chats.key import conversation_key, owner_of
from lutrin.records import Excerpt, Sentence
from lutrin.serve.text_blocks import answer_with_blocks

from .conftest import House
from .scripted import ANSWER, EXCERPT, LOOP, as_sent
from .test_streams import parsed

SECRET = "a-secret-of-my-browser-01"
MINE = {"X-Lutrin-Client": SECRET}
SSE = {**MINE, "Accept": "text/event-stream"}
BODY = {"session_id": "s1", "message": "Q", "query": "Q", "question": "Q", "selected_text": "S"}
QUOTE = [{"type": "paragraph", "children": [LOOP.quote]}]
ALL_OF_IT = as_sent(answer_with_blocks(ANSWER))


def blocks_in(value: Any) -> Iterator[Any]:
    """All blocks in a reply, at any depth."""
    if isinstance(value, dict):
        yield from (value[name] for name in ("blocks", "explanation_blocks") if name in value)
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from blocks_in(inner)


def test_each_text_of_an_answer_has_its_blocks() -> None:
    """The whole, the explanation that stands for it, excerpts with their marks, and quotes."""
    said = ["The loop joins what is sensed and what is done. ", {"type": "cite", "n": 1}, " It never stops. "]
    said.append({"type": "cite", "n": 1})
    assert ALL_OF_IT["explanation_blocks"] == [{"type": "paragraph", "children": said}]
    assert ALL_OF_IT["blocks"][0] == ALL_OF_IT["explanation_blocks"][0]
    assert ALL_OF_IT["sources"][0]["blocks"] == QUOTE
    [excerpt] = ALL_OF_IT["excerpts"]
    marked = [part["children"] for part in excerpt["blocks"][0]["children"] if isinstance(part, dict)]
    assert marked == [[EXCERPT.text[start:end]] for start, end in EXCERPT.marks]


def test_sentences_stand_for_the_explanation() -> None:
    """Then nobody draws the explanation in one piece, and it is not sent twice."""
    answer = msgspec.structs.replace(ANSWER, sentences=(Sentence(text="It is *one* [3].", citations=(1,)),))
    sent = as_sent(answer_with_blocks(answer))
    assert "explanation_blocks" not in sent
    emphasis = {"type": "em", "children": ["one"]}
    assert sent["sentences"][0]["blocks"] == [{"type": "paragraph", "children": ["It is ", emphasis, " [3]."]}]


def test_an_excerpt_is_read_as_its_file_is_written() -> None:
    """Text that was converted has no components; a page of Markdown is addressed without its suffix."""

    def excerpt(url: str) -> Any:
        text = r"Use \(x = 1\) here."
        made = msgspec.structs.replace(EXCERPT, text=text, marks=(), url=url)
        return as_sent(answer_with_blocks(msgspec.structs.replace(ANSWER, excerpts=(made,))))["excerpts"][0]["blocks"]

    formula = {"type": "math", "tex": "x = 1", "display": False}
    assert excerpt("/read/lab/part.2/page#x") == [{"type": "paragraph", "children": ["Use ", formula, " here."]}]
    assert excerpt("/read/lab/page.epub#x") == [{"type": "paragraph", "children": ["Use (x = 1) here."]}]


def test_rows_get_the_header_that_their_excerpt_lacks() -> None:
    """An excerpt from within a table knows it."""
    made = Excerpt(**{**msgspec.structs.asdict(EXCERPT), "text": "| 1 | 2 |", "marks": (), "header": ("A", "B")})
    [table] = as_sent(answer_with_blocks(msgspec.structs.replace(ANSWER, excerpts=(made,))))["excerpts"][0]["blocks"]
    assert (table["header"], table["rows"]) == ([["A"], ["B"]], [[["1"], ["2"]]])


@pytest.mark.parametrize("path", ["/api/query", "/query", "/query-selection", "/query-selected-text", "/chat"])
async def test_a_client_that_asks_for_blocks_gets_them(client: httpx.AsyncClient, path: str) -> None:
    """In a stream, in every event with text, and in one piece."""
    stream = await client.post(f"{path}?blocks=true", json=BODY, headers=SSE)
    streamed: dict[str, Any] = {name: data for _, name, data in parsed(stream.text)}
    assert streamed["done"] == {"type": "done", **ALL_OF_IT}
    assert streamed["answer"] == {"type": "answer", **ALL_OF_IT}
    assert streamed["sources"]["citations"][0]["blocks"] == QUOTE
    assert streamed["excerpt"]["blocks"] == ALL_OF_IT["excerpts"][0]["blocks"]
    assert streamed["sentence"]["blocks"] == [{"type": "paragraph", "children": ["It never stops."]}]
    whole = (await client.post(f"{path}?blocks=true", json=BODY, headers=MINE)).json()
    for name in ("blocks", "explanation_blocks", "excerpts"):
        assert whole[name] == ALL_OF_IT[name]


async def test_who_does_not_ask_for_blocks_gets_none(client: httpx.AsyncClient, house: House) -> None:
    """Neither in a stream nor in one piece, nor in what is stored."""
    events = parsed((await client.post("/chat", json=BODY, headers=SSE)).text)
    whole = (await client.post("/chat?blocks=true", json=BODY, headers=MINE)).json()
    plain = (await client.post("/chat", json=BODY, headers=MINE)).json()
    history = (await client.get("/history/s1", headers=MINE)).json()
    export = (await client.get("/sessions/s1/export?form=json", headers=MINE)).json()
    stored = await house.chats.history(conversation_key("s1", owner_of(SECRET)))
    assert list(blocks_in(whole))
    assert list(blocks_in([data for _, _, data in events])) == list(blocks_in(plain)) == []
    assert (
        list(blocks_in(history))
        == list(blocks_in(export))
        == list(blocks_in([as_sent(message) for message in stored]))
        == []
    )


@pytest.mark.parametrize("path", ["/history/s1?blocks=true", "/sessions/s1/export?form=json&blocks=true"])
async def test_stored_answers_have_the_same_blocks(client: httpx.AsyncClient, path: str) -> None:
    """They are made of what is stored; a question has none."""
    await client.post("/chat", json=BODY, headers=MINE)
    question, answer = (await client.get(path, headers=MINE)).json()["messages"]
    assert "blocks" not in question
    assert answer["blocks"] == ALL_OF_IT["blocks"]
    assert answer["explanation_blocks"] == ALL_OF_IT["explanation_blocks"]
    assert answer["excerpts"] == ALL_OF_IT["excerpts"]
    assert answer["citations"] == ALL_OF_IT["sources"]


async def test_an_answer_that_is_followed_has_blocks(client: httpx.AsyncClient) -> None:
    """As after a reload."""
    reply = await client.post("/chat", json=BODY, headers=SSE)
    message = reply.headers["x-lutrin-message"]
    events = parsed((await client.get(f"/messages/{message}/events?blocks=true", headers=MINE)).text)
    assert events[-1][2] == {"type": "done", **ALL_OF_IT}


async def test_an_odd_wish_is_refused(client: httpx.AsyncClient) -> None:
    """As every other wrong field."""
    assert (await client.post("/chat?blocks=perhaps", json=BODY, headers=MINE)).status_code == 422
