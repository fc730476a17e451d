"""Checks every request before its handler sees it: host name, size of the body, encoding and nesting depth.

Litestar answers 500 to a body that is nested 100,000 deep or is not UTF-8, and compares the Host header with its port;
hence guards of our own. It also reads JSON leniently; here a number in quotes is refused.
"""

import ipaddress
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import SerializationException, ValidationException
from litestar.middleware import ASGIMiddleware
from litestar.types import (
    ASGIApp,
    HTTPReceiveMessage,
    HTTPRequestEvent,
    Message,
    Receive,
    Scope,
    Send,
    WebSocketReceiveMessage,
)

from lutrin import messages
from lutrin.errors import MalformedRequest, NotPermitted, RequestTooLarge, WrongContentType

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types lit-html lutrin-worker"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-content-type-options": b"nosniff",
    b"x-frame-options": b"DENY",
    b"referrer-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=(), payment=(), usb=()",
}
MAX_BODY_BYTES = 64 * 1024
MAX_UPLOAD_BYTES = 512 * 1024 * 1024
UPLOADS = frozenset({"/books", "/teacher/books"})
"""Where forms with files are sent; their handlers check who sends them before they read."""
MAX_DEPTH = 32
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
FORMS = ("/teacher/", "/books")
"""Here forms and files are sent, each with a key or a token of its own."""
FOR_ALL = ("/widget/", "/health")
"""What pages of other sites load: the widget, and whether there is a server."""
LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain"})

HOST = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([^:@/?#\[\]\s]{1,255}))(?::[0-9]{0,5})?")
"""A name or an address, with a port or without (RFC 9110, section 7.2); nothing may stand behind it."""

# A string (also one that never ends, so that the scan stays linear) or a bracket.
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|([\[{])|[\]}]', re.DOTALL)


HTTPRequest = Request[Any, Any, Any]


class StrictRequest(Request[Any, Any, Any]):
    """A request whose JSON body is decoded directly into the struct that its handler declares.

    Litestar would first make plain values of it and then convert these leniently (`"5"` becomes 5).
    """

    async def body(self) -> bytes:
        """The bytes of the body; an empty one reads as JSON's null, so that its handler says what it misses."""
        return await super().body() or b"null"

    async def json(self) -> Any:  # noqa: ANN401 - the framework's signature
        """The body as the handler's type.

        Raises:
            ValidationException: It is JSON, but a field is missing or wrong.
            SerializationException: It is no JSON.
        """
        field = self.route_handler.parsed_data_field
        wanted = field.annotation if field is not None else Any
        body = await self.body()
        try:
            return msgspec.json.decode(body, type=wanted)
        except msgspec.ValidationError as error:
            _check_syntax(body)  # a wrong field may stand before what is no JSON at all
            text, _, place = str(error).partition(" - at `$")
            raise ValidationException(
                extra=[{"message": text, "key": place.rstrip("`").lstrip("."), "source": "body"}]
            ) from error
        except msgspec.DecodeError as error:
            raise SerializationException(str(error)) from error


def _check_syntax(body: bytes) -> None:
    try:
        msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise SerializationException(str(error)) from error


async def secure(message: Message, scope: Scope) -> None:
    """Add the headers to a response unless it sets them itself. A `before_send` hook."""
    if message["type"] != "http.response.start":
        return
    headers = list(message["headers"])
    known = {name.lower() for name, _ in headers}
    for name, value in HEADERS.items():
        if name not in known:
            # The widget is made to be loaded by other sites' pages.
            shared = name == b"cross-origin-resource-policy" and scope["path"].startswith("/widget/")
            headers.append((name, b"cross-origin" if shared else value))
    if not any(name.lower() == b"vary" and b"origin" in value.lower() for name, value in headers):
        headers.append((b"vary", b"Origin"))  # also where no origin was sent: a cache must not give it to one that is
    message["headers"] = headers


class HostGuard(ASGIMiddleware):
    """Answers only under known host names (`*`: any) and those of the loopback, which prevents DNS rebinding.

    Addresses need no list, for rebinding needs a name.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = LOOPBACK_NAMES | {name.lower() for name in names}

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass the request on if its Host header names us.

        Raises:
            MalformedRequest: It is not.
        """
        host = _header(scope, b"host").decode("latin-1").lower()
        found = HOST.fullmatch(host)
        if found is None:
            raise MalformedRequest(messages.WRONG_HOST)
        name = found[1] or found[2]
        if "*" not in self._names and name.rstrip(".") not in self._names and not _is_address(name):
            raise MalformedRequest(messages.WRONG_HOST)
        await next_app(scope, receive, send)


class ElsewhereGuard(ASGIMiddleware):
    """Lets pages of other sites send requests only if the operator has listed them (`*`: any).

    A browser asks the server first before it sends JSON to another site, but sends a form or plain text at once; hence
    the origin is looked at here, and a body that does not call itself JSON is not read.
    """

    def __init__(self, origins: Sequence[str]) -> None:
        self._origins = frozenset(origins)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass the request on if it comes from this site, a listed site, or no web page at all.

        Raises:
            NotPermitted: It comes from a page of another site.
            WrongContentType: Its body does not call itself JSON.
        """
        if scope.get("method") in CHANGING:  # only requests of HTTP have one
            origin = _header(scope, b"origin").decode("latin-1")
            if origin and not self._is_admitted(origin.lower(), _header(scope, b"host").decode("latin-1").lower()):
                raise NotPermitted(messages.FOREIGN_ORIGIN.format(origin=origin[:200]))
            kind = _header(scope, b"content-type").partition(b";")[0].strip().lower()
            has_body = _header(scope, b"content-length") not in {b"", b"0"} or _header(scope, b"transfer-encoding")
            if has_body and kind != b"application/json" and not scope["path"].startswith(FORMS):
                raise WrongContentType(messages.NOT_JSON)
        elif self._is_shown_elsewhere(scope):
            raise NotPermitted(messages.SHOWN_ELSEWHERE)
        await next_app(scope, receive, send)

    def _is_shown_elsewhere(self, scope: Scope) -> bool:
        """Whether a page of another site has this loaded as a picture, script or frame, of which it would see nothing.

        A reader's browser would make work here for that page. Links lead here as before.
        """
        return (
            _header(scope, b"sec-fetch-site") == b"cross-site"
            and _header(scope, b"sec-fetch-mode") != b"cors"
            and _header(scope, b"sec-fetch-dest") != b"document"
            and not scope["path"].startswith(FOR_ALL)
            and "*" not in self._origins
        )

    def _is_admitted(self, origin: str, host: str) -> bool:
        return bool({"*", origin} & self._origins) or origin in {f"http://{host}", f"https://{host}"}


class BodyGuard(ASGIMiddleware):
    """Reads the whole body first, and refuses what nobody should try to parse."""

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass the request on with its body in one piece.

        Raises:
            RequestTooLarge: The body has more than 64 KiB.
            MalformedRequest: It is not UTF-8 or is nested too deeply.
        """
        if scope.get("path") in UPLOADS and _header(scope, b"content-type").startswith(b"multipart/form-data"):
            given = _header(scope, b"content-length")
            if given.isdigit() and int(given) > MAX_UPLOAD_BYTES:
                raise RequestTooLarge(messages.UPLOAD_TOO_LARGE)
            await next_app(scope, _counted(receive), send)
            return
        if _header(scope, b"content-length").isdigit() and int(_header(scope, b"content-length")) > MAX_BODY_BYTES:
            raise RequestTooLarge(messages.BODY_TOO_LARGE)
        body = await _read(receive)
        check_body(body)
        whole: HTTPRequestEvent = {"type": "http.request", "body": body, "more_body": False}
        pending = [whole]

        async def replay() -> HTTPReceiveMessage | WebSocketReceiveMessage:
            return pending.pop() if pending else await receive()

        await next_app(scope, replay, send)


def check_body(body: bytes) -> None:
    """Refuse a body that is not JSON before it is parsed: one that is not UTF-8, or is nested more than 32 deep."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        raise MalformedRequest(messages.MALFORMED_BODY) from None
    depth = 0
    for token in _TOKENS.finditer(body):
        if token[1]:
            depth += 1
            if depth > MAX_DEPTH:
                raise MalformedRequest(messages.BODY_TOO_DEEP)
        elif token[0] in b"]}":
            depth -= 1


def _counted(receive: Receive) -> Receive:
    """Yield the parts of an upload up to the allowed size."""
    size = 0

    async def next_part() -> HTTPReceiveMessage | WebSocketReceiveMessage:
        nonlocal size
        message = await receive()
        if message["type"] == "http.request":
            size += len(message["body"])
            if size > MAX_UPLOAD_BYTES:
                raise RequestTooLarge(messages.UPLOAD_TOO_LARGE)
        return message

    return next_part


async def _read(receive: Receive) -> bytes:
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise MalformedRequest(messages.MALFORMED_BODY)  # the reader left in the middle of the body
        size += len(message["body"])
        if size > MAX_BODY_BYTES:
            raise RequestTooLarge(messages.BODY_TOO_LARGE)
        parts.append(message["body"])
        if not message["more_body"]:
            return b"".join(parts)


def _header(scope: Scope, name: bytes) -> bytes:
    return next((value for key, value in scope["headers"] if key == name), b"")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
