"""The readers' side of HTTP in a few lines over sockets.

A client library takes two milliseconds and more of the two cores for each question, which the server would have; a
class has browsers of its own for that.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
LINE_BYTES = 1 << 20
"""Maximum length of an event's line."""


class Connections:
    """Connections to a server of this machine that stay open, as many as are needed at once.

    Args:
        port: Of the server.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._free: list[Stream] = []

    async def post(self, path: str, body: dict[str, object]) -> bytes:
        """The body of the reply to a POST of JSON.

        Raises:
            RuntimeError: The reply is not 200.
        """
        async with self._asked(path, body, "application/json") as (reader, headers):
            return await reader.readexactly(int(headers["content-length"]))

    async def get(self, path: str) -> bytes:
        """The body of the reply to a GET.

        Raises:
            RuntimeError: The reply is not 200.
        """
        async with self._asked(path, None, "application/json") as (reader, headers):
            return await reader.readexactly(int(headers["content-length"]))

    async def events(self, path: str, body: dict[str, object]) -> AsyncGenerator[dict[str, object], None]:
        """The events of the stream that is the reply to a POST of JSON.

        Raises:
            RuntimeError: The reply is not 200.
        """
        async with self._asked(path, body, "text/event-stream") as (reader, _):
            # Chunks end where events end, so a chunk boundary never cuts a line.
            while (line := await reader.readuntil(b"\r\n")) != b"0\r\n":
                chunk = await reader.readexactly(int(line, 16) + 2)
                for one in chunk.split(b"\n"):
                    if one.startswith(b"data: "):
                        yield json.loads(one[6:])
            await reader.readuntil(b"\r\n")

    def close(self) -> None:
        """Close them all."""
        for _, writer in self._free:
            writer.close()

    @contextlib.asynccontextmanager
    async def _asked(
        self, path: str, body: dict[str, object] | None, accepted: str
    ) -> AsyncIterator[tuple[asyncio.StreamReader, dict[str, str]]]:
        """The reply after its head; the connection is used again once it has been read."""
        if self._free:
            reader, writer = self._free.pop()
        else:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=LINE_BYTES)
        data = json.dumps(body).encode() if body is not None else b""
        method = "POST" if body is not None else "GET"
        kinds = f"Content-Type: application/json\r\nAccept: {accepted}\r\n"
        head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{kinds}"
        writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines if line)
        if status.split()[1] != "200":
            raise RuntimeError(f"{status}: {(await reader.readexactly(int(headers['content-length']))).decode()}")
        yield reader, headers
        self._free.append((reader, writer))
