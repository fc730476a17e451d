"""A loopback service that speaks OpenAI's protocol, checks requests by the client's own types, and fails on order."""

import asyncio
import hashlib
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from openai.types.chat.completion_create_params import CompletionCreateParamsStreaming
from openai.types.create_embedding_response import CreateEmbeddingResponse, Usage
from openai.types.embedding import Embedding
from openai.types.embedding_create_params import EmbeddingCreateParams
from pydantic import TypeAdapter
from tests.fakes import WordHashEmbedder
from tests.loopback import stop_listening

from lutrin.answer.prompt import ANSWERS
from lutrin.language.words import content_stems
from lutrin_teacher import judge

KEY = "key-of-the-loopback-service"
WINDOW_WORDS = 4000
CHAT = TypeAdapter(CompletionCreateParamsStreaming)
EMBEDDINGS = TypeAdapter(EmbeddingCreateParams)
NUMBERS = "one two three four five six seven eight nine ten".split()


@dataclass
class Fault:
    """A fault of one request."""

    status: int = 0
    retry_after_s: float | None = None
    silence_s: float = 0.0
    cut_after: int | None = None
    """Pieces of the stream that are sent before the connection breaks."""
    garbage: bool = False
    dimension: int | None = None


@dataclass
class OpenAIService:
    """State of the service: what it was asked, and what it is to do wrong next."""

    url: str = ""
    dimension: int = 128
    piece_s: float = 0.0
    faults: list[Fault] = field(default_factory=list)
    down: bool = False
    """Every request gets 503."""
    chat_down: bool = False
    """Every request for an answer gets 503."""
    asked: list[tuple[str, dict[str, Any], float]] = field(default_factory=list)
    """Path, body and time of each request."""
    writing: int = 0
    """Streams that are being written now."""
    writes: str = ""
    """What every answer says; empty: numbers that depend on the question."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")) and await self._one(head.decode(), reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _one(self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        length = re.search(r"(?im)^content-length: *(\d+)", head)
        body = json.loads(await reader.readexactly(int(length[1]))) if length else {}
        path = head.split(" ", 2)[1].removeprefix("/v1")
        self.asked.append((path, body, time.monotonic()))
        fault = self.faults.pop(0) if self.faults else Fault()
        await asyncio.sleep(fault.silence_s)
        if self.down or (self.chat_down and path == "/chat/completions"):
            fault = Fault(status=503)
        if f"authorization: bearer {KEY}" not in head.lower().replace("Bearer", "bearer"):
            fault = Fault(status=401)
        if fault.status:
            extra = f"retry-after: {fault.retry_after_s}\r\n" if fault.retry_after_s is not None else ""
            quoted = {"error": {"message": f"refused: {json.dumps(body)} {KEY}", "code": None, "type": "error"}}
            return await _send(writer, fault.status, quoted, extra)
        if path == "/models":
            return await _send(writer, 200, {"object": "list", "data": []})
        if path == "/embeddings":
            return await _send(writer, 200, await self._embedded(EMBEDDINGS.validate_python(body), fault))
        if path == "/chat/completions":
            return await self._chat(CHAT.validate_python(body), fault, reader, writer)
        return await _send(writer, 404, {"error": {"message": "no such path"}})

    async def _embedded(self, body: Any, fault: Fault) -> dict[str, Any]:
        assert 0 < len(body["input"]) <= 100
        assert all(text.strip() for text in body["input"])
        assert body["dimensions"] == self.dimension
        width = fault.dimension or self.dimension
        encodings = await WordHashEmbedder().encode(body["input"])
        rows = [np.resize(np.pad(item.windows.mean(axis=0) * 3, (0, 1000)), width).tolist() for item in encodings]
        data = [Embedding(object="embedding", index=index, embedding=row) for index, row in enumerate(rows)]
        usage = Usage(prompt_tokens=1, total_tokens=1)
        given = CreateEmbeddingResponse(object="list", model=body["model"], usage=usage, data=data[::-1])
        return given.model_dump()

    async def _chat(self, body: Any, fault: Fault, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        assert body["stream"] is True
        prompt = " ".join(message["content"] for message in body["messages"])
        if len(prompt.split()) > WINDOW_WORDS:
            long = {
                "error": {"message": "too long", "code": "context_length_exceeded", "type": "invalid_request_error"}
            }
            return await _send(writer, 400, long)
        if prompt.endswith(ANSWERS):
            pieces, reason = ["Yes" if _may_answer(prompt) else "No"], "stop"
        elif prompt.startswith((judge.IS_CLEAR, judge.IS_ANSWERED)):
            pieces, reason = [judge.YES], "stop"
        else:
            pieces, reason = self._written(prompt, body["max_tokens"], body.get("stop") or [])
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        self.writing += 1
        gone = asyncio.ensure_future(reader.read(1))
        try:
            for number, piece in enumerate(pieces):
                if gone.done():
                    return False
                if fault.cut_after == number:
                    return False
                if fault.garbage:
                    _event(writer, "{not json")
                _event(writer, _chunk({"delta": {"content": piece}}))
                await writer.drain()
                await asyncio.sleep(self.piece_s)
            _event(writer, _chunk({"delta": {}, "finish_reason": reason}))
            usage = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(pieces), "total_tokens": 0}
            _event(writer, _chunk(None, usage))
            _event(writer, "[DONE]")
            writer.write(b"0\r\n\r\n")
            await writer.drain()
        finally:
            self.writing -= 1
            gone.cancel()
        return False

    def _written(self, prompt: str, max_tokens: int, stop: list[str]) -> tuple[list[str], str]:
        """The pieces of an answer, and why it ends."""
        first = hashlib.sha256(prompt.encode()).digest()[0]
        words = self.writes.split() or [NUMBERS[(first + n) % len(NUMBERS)] for n in range(40)]
        pieces = [f" {word}" if n else word for n, word in enumerate(words)]
        reason = "stop" if len(pieces) <= max_tokens else "length"
        text = "".join(pieces[:max_tokens])
        ends = [text.index(mark) for mark in stop if mark in text]
        if ends:
            text, reason = text[: min(ends)], "stop"
        return re.findall(r"\s*\S+|\s+", text), reason


def _may_answer(prompt: str) -> bool:
    """Whether two thirds of a question's words are in its passages."""
    passages, _, rest = prompt.rpartition("Question: ")
    asked, held = set(content_stems(rest.removesuffix(ANSWERS))), set(content_stems(passages))
    return 3 * len(asked & held) >= 2 * len(asked)


def _chunk(choice: dict[str, Any] | None, usage: dict[str, Any] | None = None) -> str:
    choices = [{"index": 0, "finish_reason": None, **choice}] if choice is not None else []
    head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "m"}
    return json.dumps({**head, "choices": choices, "usage": usage})


def _event(writer: asyncio.StreamWriter, data: str) -> None:
    line = f"data: {data}\n\n".encode()
    writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")


async def _send(writer: asyncio.StreamWriter, status: int, body: dict[str, Any], extra: str = "") -> bool:
    content = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n{extra}\r\n"
    writer.write(head.encode() + content)
    await writer.drain()
    return True


@asynccontextmanager
async def running(port: int = 0) -> AsyncIterator[OpenAIService]:
    """The service on a port of the loopback interface, as long as the block runs."""
    service = OpenAIService()
    server = await asyncio.start_server(service.serve, "127.0.0.1", port, limit=1 << 24)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield service
    finally:
        await stop_listening(server)
