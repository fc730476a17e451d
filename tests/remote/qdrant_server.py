"""Qdrant's HTTP interface on a loopback port: requests are checked by the client's own models, local mode answers.

It imitates a server only to show how the adapter speaks HTTP and what happens when a request fails, which neither
pgvector nor Qdrant's engine in this process (qdrant_edge.py) can show. It counts what it is asked and fails on order.
"""

import asyncio
import json
import re
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from qdrant_client import AsyncQdrantClient, models
from tests.loopback import stop_listening

KEY = "key-of-the-loopback-qdrant"


@dataclass
class LoopbackQdrant:
    """State of the server: its data, what it was asked, and what goes wrong next."""

    url: str = ""
    faults: list[tuple[int, float]] = field(default_factory=list)
    """Status and seconds of silence of the next answers; status 0: answered after all."""
    down: bool = False
    asked: list[tuple[str, str]] = field(default_factory=list)
    local: AsyncQdrantClient = field(default_factory=lambda: AsyncQdrantClient(":memory:"))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection."""
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode():
                length = re.search(r"(?im)^content-length: *(\d+)", head)
                body = json.loads(await reader.readexactly(int(length[1]))) if length and int(length[1]) else {}
                method, target, _ = head.split(" ", 2)
                status, silence_s = self.faults.pop(0) if self.faults else (0, 0.0)
                await asyncio.sleep(silence_s)
                status = 503 if self.down else status
                if f"api-key: {KEY}" not in head:
                    status = 401
                path = urlsplit(target).path
                self.asked.append((method, path))
                answer = {"status": {"error": "on order"}}
                if not status:
                    try:
                        result = await self._result(method, path.strip("/").split("/"), body)
                        status, answer = 200, {"result": _plain(result), "status": "ok", "time": 0.0}  # type: ignore[dict-item]  # JSON
                    except ValueError as error:  # local mode's word for what is not there, pydantic's for what is wrong
                        status, answer = (404 if "not found" in str(error) else 400), {"status": {"error": str(error)}}
                content = json.dumps(answer).encode()
                extra = "retry-after: 1\r\n" if status == 429 else ""
                line = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{extra}"
                writer.write(f"{line}content-length: {len(content)}\r\n\r\n".encode() + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _result(self, method: str, path: list[str], body: dict[str, Any]) -> Any:
        match method, *path:
            case "GET", "collections":
                return await self.local.get_collections()
            case "GET", "aliases":
                return await self.local.get_aliases()
            case "POST", "collections", "aliases":
                operations = models.ChangeAliasesOperation.model_validate(body).actions
                return await self.local.update_collection_aliases(operations)
            case verb, "collections", name:
                return await self._collection(verb, name, body)
            case "GET", "collections", name, "exists":
                return {"exists": await self.local.collection_exists(name)}
            case "PUT", "collections", name, "index":
                wanted = models.CreateFieldIndex.model_validate(body)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)
                    return await self.local.create_payload_index(name, wanted.field_name, wanted.field_schema)
            case "PUT", "collections", name, "points":
                return await self.local.upsert(name, models.PointsList.model_validate(body).points)
            case "POST", "collections", name, "points", "scroll":
                asked = models.ScrollRequest.model_validate(body)
                points, after = await self.local.scroll(
                    name, limit=asked.limit or 10, offset=asked.offset, with_payload=True, with_vectors=False
                )
                return {"points": [_plain(point) for point in points], "next_page_offset": after}
            case "POST", "collections", name, "points", "query":
                query = models.QueryRequest.model_validate(body)
                return await self.local.query_points(
                    name,
                    query=query.query,
                    using=query.using,
                    limit=query.limit or 10,
                    query_filter=query.filter,
                    with_payload=True,
                )
        raise ValueError(f"{method} /{'/'.join(path)} not found")

    async def _collection(self, method: str, name: str, body: dict[str, Any]) -> Any:
        match method:
            case "PUT":
                wanted = models.CreateCollection.model_validate(body)
                return await self.local.create_collection(
                    name, vectors_config=wanted.vectors, sparse_vectors_config=wanted.sparse_vectors
                )
            case "PATCH":
                models.UpdateCollection.model_validate(body)
                return True
            case "DELETE":
                return await self.local.delete_collection(name)
        return await self.local.get_collection(name)


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value


@asynccontextmanager
async def running(port: int = 0) -> AsyncIterator[LoopbackQdrant]:
    """The server on a port of the loopback interface, as long as the block runs."""
    state = LoopbackQdrant()
    server = await asyncio.start_server(state.serve, "127.0.0.1", port, limit=1 << 26)
    state.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield state
    finally:
        await stop_listening(server)
        await state.local.close()
