"""Responses are compressed on their way out, except streams of events and pages that hold a secret.

A page that holds a secret beside something that a stranger chooses tells the secret by its size (BREACH); hence the
teacher's page stays as it is.
"""

import gzip
import re
import time
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from litestar.types import ASGIApp, Receive, Scope, Send

from lutrin.serve.budget import beside_loop

BEGAN = "lutrin.began_s"
"""Key in the scope: the time of the request, for the metrics."""
SMALLEST_BYTES = 1024
LEVEL = 6
"""Three milliseconds for the largest page; one per cent less at level 9, for twice the time."""
AT_ONCE_BYTES = 64 * 1024
"""Two milliseconds. More is compressed in a thread."""
MOST_KEPT = 32
KINDS = re.compile(rb"(?:text/(?!event-stream)|application/(?:[a-z.+-]*json|[a-z.+-]*xml|javascript)|image/svg)")
SECRET = "/teacher"  # noqa: S105 - the beginning of a path
FILES = ("/static/", "/widget/")
_ACCEPTED = re.compile(r"(?:^|,)\s*gzip\s*(?:;\s*q\s*=\s*(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)", re.IGNORECASE)


def compressing(app: ASGIApp) -> ASGIApp:
    """Wrap an application so that clients that accept it get compressed responses."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        scope[BEGAN] = time.monotonic()  # type: ignore[literal-required]  # a key of ours
        if scope.get("method") is None or scope["path"].startswith(SECRET):
            await app(scope, receive, send)
            return
        await app(scope, receive, Compressor(scope, send))

    return answer


class Compressor:
    """Holds the head of a response back until its body shows whether compressing it is worth it."""

    def __init__(self, scope: Scope, send: Send) -> None:
        accepted = b",".join(value for name, value in scope["headers"] if name == b"accept-encoding")
        self._wanted = _ACCEPTED.search(accepted.decode("latin-1")) is not None
        self._is_file = scope["path"].startswith(FILES)
        self._send = send
        self._head: Any = None

    async def __call__(self, message: Any) -> None:  # noqa: ANN401 - a union of dictionaries, told apart by their type
        """Take a message of the application."""
        if message["type"] == "http.response.start" and self._may_be_compressed(message):
            message["headers"] = [*message["headers"], (b"vary", b"Accept-Encoding")]
            self._head = message if self._wanted else None
            if self._wanted:
                return
        elif self._head is not None and message["type"] == "http.response.body":
            head, self._head = self._head, None
            body = message.get("body", b"")
            if not message.get("more_body", False) and len(body) >= SMALLEST_BYTES:
                packed = await self._packed(body)
                head["headers"] = [*_of_packed(head["headers"]), (b"content-length", str(len(packed)).encode())]
                message = {**message, "body": packed}
            await self._send(head)
        await self._send(message)

    @staticmethod
    def _may_be_compressed(head: Any) -> bool:  # noqa: ANN401 - as above
        headers = {name.lower(): value for name, value in head.get("headers", [])}
        return b"content-encoding" not in headers and KINDS.match(headers.get(b"content-type", b"")) is not None

    async def _packed(self, body: bytes) -> bytes:
        if self._is_file:
            return _gzip(body)
        if len(body) > AT_ONCE_BYTES:
            return await beside_loop(lambda: gzip.compress(body, LEVEL, mtime=0))
        return gzip.compress(body, LEVEL, mtime=0)


def _of_packed(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """The headers of a compressed response: another length, and a tag that says alike, not equal."""
    for name, value in headers:
        if name.lower() == b"etag":
            yield name, b"W/" + value
        elif name.lower() != b"content-length":
            yield name, value
    yield b"content-encoding", b"gzip"


@lru_cache(maxsize=MOST_KEPT)
def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)
