"""The layers around the router: the path of another site, compression, and HEAD.

Lutrin may be served below a path, such as `https://school.example/lutrin/`. Handlers, guards and stored answers only
use addresses from `/`. This module removes the path from requests, if the proxy left it there, and adds it to
responses: links of pages, redirects, the paths of cookies. Addresses inside JSON stay unchanged: a client appends them
to the address of the server.

Responses are compressed, except event streams and pages with a secret. A compressed page with a secret and a stranger's
text reveals the secret by its size (BREACH); hence the teacher's page is never compressed.
"""

import gzip
import re
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, cast

from litestar.types import ASGIApp, Receive, Scope, Send

from lutrin.serve.budget import beside_loop
from lutrin.serve.limits import is_within
from lutrin.serve.metrics import BEGAN
from lutrin.settings import ROOT_PATH

PREFIX = "lutrin.prefix"
"""Key in the scope: the path that readers see before ours, without a final slash; absent if there is none."""
PREFIX_HEADER = b"x-forwarded-prefix"
SMALLEST_BYTES = 1024
LEVEL = 6
"""Three milliseconds for the largest page; level 9 would save one per cent more, for twice the time."""
AT_ONCE_BYTES = 64 * 1024
"""Two milliseconds of compression. Larger bodies are compressed in a thread."""
MOST_KEPT = 32
KINDS = re.compile(rb"(?:text/(?!event-stream)|application/(?:[a-z.+-]*json|[a-z.+-]*xml|javascript)|image/svg)")
SECRET = "/teacher"  # noqa: S105 - the beginning of a path
FILES = ("/static/", "/widget/")
_ACCEPTED = re.compile(r"(?:^|,)\s*gzip\s*(?:;\s*q\s*=\s*(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)", re.IGNORECASE)
_TAG = re.compile(rb"""<[a-z](?:"[^"]*"|'[^']*'|[^<>"'])*>""", re.IGNORECASE)
_LINK = re.compile(rb"""(\s(?:href|src|action|formaction|api)=["'])(?=/(?!/))""", re.IGNORECASE)
_COOKIE_PATH = re.compile(rb"(;\s*path=)(?=/)", re.IGNORECASE)


def prefix_of(scope: Scope) -> str:
    """The path that readers see before ours, such as `/lutrin`; empty if there is none."""
    return cast("str", scope.get(PREFIX, ""))


def below(app: ASGIApp, root_path: str, trusted: Sequence[str]) -> ASGIApp:
    """Wrap an application so that it can be served below a path: a trusted proxy's, else `root_path`."""

    def prefix(scope: Scope) -> str:
        client = scope.get("client")
        if client and is_within(client[0], trusted):
            path = next((value.decode("latin-1") for name, value in scope["headers"] if name == PREFIX_HEADER), "")
            if ROOT_PATH.fullmatch(path) and path.strip("/"):
                return path.rstrip("/")
        return root_path

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        before = prefix(scope) if scope.get("method") is not None else ""  # only requests of HTTP have one
        path = scope.get("path", "")
        if before and path == before:
            headers = [(b"location", f"{before}/".encode()), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 308, "headers": headers})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        if before:
            path = path.removeprefix(before) if path.startswith(f"{before}/") else path
            scope = cast("Scope", {**scope, "path": path, "raw_path": path.encode(), PREFIX: before})
        await app(scope, receive, send)

    return answer


def finishing(app: ASGIApp) -> ASGIApp:
    """Wrap an application so that clients get its responses in their final form; see `Outgoing`.

    It is outside of the router, which has no handler for HEAD: its response is that of GET without the body (RFC 9110,
    section 9.3.2).
    """

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        scope[BEGAN] = time.monotonic()  # type: ignore[literal-required]  # a key of ours
        method = scope.get("method")
        if method is None:  # only requests of HTTP have one
            await app(scope, receive, send)
            return
        inside = cast("Scope", {**scope, "method": "GET"}) if method == "HEAD" else scope
        await app(inside, receive, Outgoing(scope, send))

    return answer


class Outgoing:
    """Holds back the head of a response whose body may still change: by its links, or by compression."""

    def __init__(self, scope: Scope, send: Send) -> None:
        accepted = b",".join(value for name, value in scope["headers"] if name == b"accept-encoding")
        self._is_head = scope.get("method") == "HEAD"
        self._packs = not self._is_head and _ACCEPTED.search(accepted.decode("latin-1")) is not None
        self._links = False
        self._path = scope["path"]
        self._prefix = prefix_of(scope).encode()
        self._send = send
        self._head: Any = None

    async def __call__(self, message: Any) -> None:  # noqa: ANN401 - a union of dictionaries, told apart by their type
        """Handle a message of the application."""
        if message["type"] == "http.response.start":
            message["headers"] = list(self._prefix_links(message["headers"]))
            headers = {name.lower(): value for name, value in message["headers"]}
            kind = headers.get(b"content-type", b"")
            packable = b"content-encoding" not in headers and KINDS.match(kind) and not self._path.startswith(SECRET)
            if packable:
                message["headers"].append((b"vary", b"Accept-Encoding"))
            self._packs = self._packs and bool(packable)
            self._links = bool(self._prefix) and kind.startswith(b"text/html")
            if self._packs or self._links:
                self._head = message
                return
        elif message["type"] == "http.response.body":
            if self._head is not None:
                message = {**message, "body": await self._change(message.get("body", b""), message)}
                await self._send(self._head)
                self._head = None
            if self._is_head:
                message = {**message, "body": b""}
        await self._send(message)

    async def _change(self, body: bytes, message: Any) -> bytes:  # noqa: ANN401 - a message of ASGI
        """The final body; the delayed head describes it."""
        headers = self._head["headers"]
        if self._links:
            body = _TAG.sub(lambda tag: _LINK.sub(rb"\g<1>" + self._prefix, tag[0]), body)
            headers = [
                (name, str(len(body)).encode()) if name.lower() == b"content-length" else (name, value)
                for name, value in headers
            ]
        if self._packs and not message.get("more_body", False) and len(body) >= SMALLEST_BYTES:
            body = await self._compress(body)
            # New length, and a weak tag: equivalent, not equal.
            headers = [
                (name, b"W/" + value if name.lower() == b"etag" else value)
                for name, value in headers
                if name.lower() != b"content-length"
            ]
            headers += [(b"content-encoding", b"gzip"), (b"content-length", str(len(body)).encode())]
        self._head["headers"] = headers
        return body

    async def _compress(self, body: bytes) -> bytes:
        if self._path.startswith(FILES):
            return _packed_file(body)
        if len(body) > AT_ONCE_BYTES:
            return await beside_loop(lambda: gzip.compress(body, LEVEL, mtime=0))
        return gzip.compress(body, LEVEL, mtime=0)

    def _prefix_links(self, headers: Sequence[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for name, value in headers:
            match name.lower():
                case b"location" if value.startswith(b"/"):
                    yield name, self._prefix + value
                case b"set-cookie":
                    yield name, _COOKIE_PATH.sub(rb"\g<1>" + self._prefix, value)
                case _:
                    yield name, value


@lru_cache(maxsize=MOST_KEPT)
def _packed_file(body: bytes) -> bytes:
    return gzip.compress(body, 9, mtime=0)
