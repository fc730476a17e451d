"""Lutrin below a path of another site, as `https://school.example/lutrin/`.

Handlers, guards and stored answers know addresses from `/` only. Here the path is taken off what comes in, if the proxy
has left it there, and put before what leaves: links of pages, redirects, the paths of cookies. Addresses inside JSON
stay as they are: a client puts them behind the address of the server that it asks.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from litestar.types import ASGIApp, Receive, Scope, Send

from lutrin.serve.limits import is_within
from lutrin.settings import ROOT_PATH

HEADER = b"x-forwarded-prefix"
PREFIX = "lutrin.prefix"
"""Key in the scope: the path that readers see before ours, without a slash at its end; absent: there is none."""
_TAG = re.compile(rb"""<[a-z](?:"[^"]*"|'[^']*'|[^<>"'])*>""", re.IGNORECASE)
_LINK = re.compile(rb"""(\s(?:href|src|action|formaction|api)=["'])(?=/(?!/))""", re.IGNORECASE)
_COOKIE_PATH = re.compile(rb"(;\s*path=)(?=/)", re.IGNORECASE)


def prefix_of(scope: Scope) -> str:
    """Return the path that readers see before ours, as `/lutrin`; empty if there is none."""
    return cast("str", scope.get(PREFIX, ""))


def below(app: ASGIApp, root_path: str, trusted: Sequence[str]) -> ASGIApp:
    """Wrap an application so that it may stand below a path: the one that a trusted proxy names, else `root_path`."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        prefix = _prefix(scope, root_path, trusted) if scope["type"] == "http" else ""  # type: ignore[comparison-overlap]  # Litestar types it as an enumeration of the same text
        if not prefix:
            await app(scope, receive, send)
        elif scope["path"] == prefix:
            await _redirect(send, prefix + "/")
        else:
            path = scope["path"].removeprefix(prefix) if scope["path"].startswith(prefix + "/") else scope["path"]
            inside = {**scope, "path": path, "raw_path": path.encode(), PREFIX: prefix}
            await app(cast("Scope", inside), receive, send)

    return answer


def linking(app: ASGIApp) -> ASGIApp:
    """Wrap an application so that links, redirects and cookies lead to where readers see it; see `below`."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        prefix = prefix_of(scope).encode()
        await app(scope, receive, Linker(prefix, send) if prefix else send)

    return answer


class Linker:
    """Holds the head of a page back until its body is there, whose length changes."""

    def __init__(self, prefix: bytes, send: Send) -> None:
        self._prefix = prefix
        self._send = send
        self._head: Any = None

    async def __call__(self, message: Any) -> None:  # noqa: ANN401 - a union of dictionaries, told apart by their type
        """Take a message of the application."""
        if message["type"] == "http.response.start":
            message["headers"] = list(self._headers(message["headers"]))
            if any(
                name.lower() == b"content-type" and value.startswith(b"text/html") for name, value in message["headers"]
            ):
                self._head = message
                return
        elif self._head is not None:
            message = {**message, "body": _TAG.sub(self._tag, message.get("body", b""))}
            head, self._head = self._head, None
            head["headers"] = list(_of_length(head["headers"], len(message["body"])))
            await self._send(head)
        await self._send(message)

    def _headers(self, headers: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        for name, value in headers:
            match name.lower():
                case b"location" if value.startswith(b"/"):
                    yield name, self._prefix + value
                case b"set-cookie":
                    yield name, _COOKIE_PATH.sub(rb"\g<1>" + self._prefix, value)
                case _:
                    yield name, value

    def _tag(self, tag: re.Match[bytes]) -> bytes:
        return _LINK.sub(rb"\g<1>" + self._prefix, tag[0])


def _prefix(scope: Scope, root_path: str, trusted: Sequence[str]) -> str:
    client = scope.get("client")
    if client and is_within(client[0], trusted):
        named = next((value.decode("latin-1") for name, value in scope["headers"] if name == HEADER), "")
        if ROOT_PATH.fullmatch(named) and named.strip("/"):
            return named.rstrip("/")
    return root_path


def _of_length(headers: Iterable[tuple[bytes, bytes]], length_bytes: int) -> Iterator[tuple[bytes, bytes]]:
    for name, value in headers:
        yield (name, str(length_bytes).encode()) if name.lower() == b"content-length" else (name, value)


async def _redirect(send: Send, location: str) -> None:
    headers = [(b"location", location.encode()), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
