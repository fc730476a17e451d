"""Checks every request before its handler sees it: host name, size of the body, encoding and nesting depth.

Litestar answers 500 to a body that is nested 100,000 deep or is not UTF-8, and compares the Host header including its
port; hence these guards. It also reads JSON leniently; here a quoted number is refused.
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
    "manifest-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
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
"""Paths of forms with files; their handlers check the sender before they read."""
MAX_DEPTH = 32
CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
FORMS = ("/teacher/", "/books")
"""Paths of forms and files, each with its own key or token."""
FOR_ALL = ("/widget/", "/health")
"""Paths that pages of other sites load: the widget, and the check for a server."""
LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain"})

HOST = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([^:@/?#\[\]\s]{1,255}))(?::[0-9]{0,5})?")
"""A name or an address, with or without a port (RFC 9110, section 7.2), and nothing after it."""

# A string (even an unterminated one, so that the scan stays linear) or a bracket.
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"?|([\[{])|[\]}]', re.DOTALL)


HTTPRequest = Request[Any, Any, Any]


class StrictRequest(Request[Any, Any, Any]):
    """A request whose JSON body is decoded directly into the struct that its handler declares.

    Litestar would first build plain values and then convert these leniently (`"5"` becomes 5).
    """

    async def body(self) -> bytes:
        """The bytes of the body; an empty one reads as JSON's null, so that its handler reports the missing fields."""
        return await super().body() or b"null"

    async def json(self) -> Any:  # noqa: ANN401 - the framework's signature
        """The body as the handler's type.

        Raises:
            ValidationException: It is JSON, but a field is missing or wrong.
            SerializationException: It is not JSON.
        """
        field = self.route_handler.parsed_data_field
        annotation = field.annotation if field is not None else Any
        body = await self.body()
        try:
            return msgspec.json.decode(body, type=annotation)
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
    """Add the security headers that a response does not set itself. A `before_send` hook."""
    if message["type"] != "http.response.start":
        return
    headers = list(message["headers"])
    names = {name.lower() for name, _ in headers}
    for name, value in HEADERS.items():
        if name not in names:
            # The widget is meant to be loaded by other sites' pages.
            shared = name == b"cross-origin-resource-policy" and scope["path"].startswith("/widget/")
            headers.append((name, b"cross-origin" if shared else value))
    if not any(name.lower() == b"vary" and b"origin" in value.lower() for name, value in headers):
        headers.append((b"vary", b"Origin"))  # also where no origin was sent: a cache must not give it to one that is
    message["headers"] = headers


class RequestGuard(ASGIMiddleware):
    """Checks every request.

    Args:
        names: Host names that it accepts (`*`: any) besides those of the loopback, which prevents DNS rebinding.
            Addresses need no list, for rebinding needs a name.
        origins: Sites whose pages may send requests (`*`: any). A browser asks the server first before it sends JSON to
            another site, but sends a form or plain text at once; hence this check of the origin, and a body not
            declared as JSON is not read.
    """

    def __init__(self, names: Sequence[str], origins: Sequence[str]) -> None:
        self._names = LOOPBACK_NAMES | {name.lower() for name in names}
        self._origins = frozenset(origins)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        """Pass the request on with its body in one piece, or an upload with a size limit.

        Raises:
            MalformedRequest: It names another host, or its body is not UTF-8 or is nested too deeply.
            NotPermitted: It comes from a page of another site.
            WrongContentType: Its body is not declared as JSON.
            RequestTooLarge: The body has more than 64 KiB, or an upload is too large.
        """
        host, length = _header(scope, b"host").lower(), _header(scope, b"content-length")
        self._check_host(host)
        self._check_origin(scope, host)
        is_upload = scope.get("path") in UPLOADS and _header(scope, b"content-type").startswith("multipart/form-data")
        most, detail = MAX_BODY_BYTES, messages.BODY_TOO_LARGE
        if is_upload:
            most, detail = MAX_UPLOAD_BYTES, messages.UPLOAD_TOO_LARGE
        if length.isdigit() and int(length) > most:
            raise RequestTooLarge(detail)
        bounded = _count(receive, most, detail)
        await next_app(scope, bounded if is_upload else await _read(bounded), send)

    def _check_host(self, host: str) -> None:
        match = HOST.fullmatch(host)
        if match is None:
            raise MalformedRequest(messages.WRONG_HOST)
        name = match[1] or match[2]
        if "*" not in self._names and name.rstrip(".") not in self._names and not _is_address(name):
            raise MalformedRequest(messages.WRONG_HOST)

    def _check_origin(self, scope: Scope, host: str) -> None:
        if scope.get("method") in CHANGING:  # only requests of HTTP have one
            origin = _header(scope, b"origin")
            own = {f"http://{host}", f"https://{host}"}
            if origin and "*" not in self._origins and origin.lower() not in self._origins | own:
                raise NotPermitted(messages.FOREIGN_ORIGIN.format(origin=origin[:200]))
            kind = _header(scope, b"content-type").partition(";")[0].strip().lower()
            has_body = _header(scope, b"content-length") not in {"", "0"} or _header(scope, b"transfer-encoding")
            if has_body and kind != "application/json" and not scope["path"].startswith(FORMS):
                raise WrongContentType(messages.NOT_JSON)
        elif (
            # Another site's page loads this as a picture, script or frame without seeing the result: a reader's browser
            # would make work here for that page. Links still work.
            _header(scope, b"sec-fetch-site") == "cross-site"
            and _header(scope, b"sec-fetch-mode") != "cors"
            and _header(scope, b"sec-fetch-dest") != "document"
            and not scope["path"].startswith(FOR_ALL)
            and "*" not in self._origins
        ):
            raise NotPermitted(messages.SHOWN_ELSEWHERE)


def check_body(body: bytes) -> None:
    """Refuse a body before parsing if it is not UTF-8, or is nested more than 32 deep."""
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


def _count(receive: Receive, most: int, detail: str) -> Receive:
    """Pass on the parts of a body up to the allowed size."""
    size = 0

    async def next_part() -> HTTPReceiveMessage | WebSocketReceiveMessage:
        nonlocal size
        message = await receive()
        if message["type"] == "http.request":
            size += len(message["body"])
            if size > most:
                raise RequestTooLarge(detail)
        return message

    return next_part


async def _read(receive: Receive) -> Receive:
    """Read a whole body and check it; return a receiver that has it in one piece."""
    parts, more = [], True
    while more:
        message = await receive()
        if message["type"] != "http.request":
            raise MalformedRequest(messages.MALFORMED_BODY)  # the reader left in the middle of the body
        parts.append(message["body"])
        more = message["more_body"]
    body = b"".join(parts)
    check_body(body)
    whole: HTTPRequestEvent = {"type": "http.request", "body": body, "more_body": False}
    pending = [whole]

    async def replay() -> HTTPReceiveMessage | WebSocketReceiveMessage:
        return pending.pop() if pending else await receive()

    return replay


def _header(scope: Scope, name: bytes) -> str:
    return next((value for key, value in scope["headers"] if key == name), b"").decode("latin-1")


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
