"""The owner of a request's conversation: a browser, an OpenAI client, or anyone who knows a random id.

A browser sends a secret of its own. A client without one is identified by the conversation's id if that cannot be
guessed; for an id that can ("1", "alice") the server makes a secret and gives it to this client alone, in a signed
cookie and in the header in which the client may return it. With open sessions (`LUTRIN_OPEN_SESSIONS`), an id alone is
enough.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from litestar.datastructures import Cookie

from lutrin.chats.key import owner_of
from lutrin.serve.guards import HTTPRequest

COOKIE = "lutrin-reader"
SECURE_COOKIE = f"__Host-{COOKIE}"
"""Over TLS; browsers accept this name only over TLS and from this very host, so that no neighbour can set it."""
CLIENT_HEADER = "x-lutrin-client"
OPENAI_OWNER = "openai"
"""No secret has this hash, so that a conversation of OpenAI's `user` cannot be named in an address."""
RANDOM_ID = re.compile(r"[0-9a-fA-F]{32,}|(?=.*[a-z])(?=.*[A-Z])(?=.*[0-9])[A-Za-z0-9_-]{22,}")
"""Forms with 128 random bits or more: hexadecimal digits, base64. A UUID with its hyphens has fewer; without them a
random one (RFC 9562, version 4) has 122 and looks like one in sixty-four of the others, which must not lose their
conversations."""
DISTINCT = 8
"""Different characters in a random id; one in a hundred million has fewer."""

IsKnown = Callable[[str], Awaitable[bool]]
_COOKIE = re.compile(r"[A-Za-z0-9_-]{43}(?:\.[A-Za-z0-9_-]{43})?")
_FAMILIES = (
    ("Edge", re.compile(r"\bEdg[A-Z]?[a-z]*/(\d{1,4})")),
    ("Opera", re.compile(r"\bOPR/(\d{1,4})")),
    ("Firefox", re.compile(r"\b(?:Firefox|FxiOS)/(\d{1,4})")),
    ("Chrome", re.compile(r"\b(?:Chrome|CriOS)/(\d{1,4})")),
    ("Safari", re.compile(r"\bVersion/(\d{1,4})[.\d]* .*Safari/")),
)
_PROGRAM = re.compile(r"(curl|Wget|python-httpx|python-requests|OpenAI|node|okhttp)/?(?:Python )?(\d{1,4})?")


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a request's conversation."""

    hashed: str
    """From `owner_of`; empty: anyone who knows the id."""
    new_secret: str = ""
    """A secret just made for this client; `cookies` hand it over."""
    named: bool = False
    """Whether the client sent its own secret, so that the room of all its conversations can be counted."""
    new_cookie: str = ""
    """New content of its cookie."""

    def cookies(self, *, secure: bool) -> list[Cookie]:
        """The cookies to set: for this browser session, and for this site alone."""
        if not self.new_cookie:
            return []
        name = SECURE_COOKIE if secure else COOKIE
        return [Cookie(key=name, value=self.new_cookie, path="/", httponly=True, samesite="strict", secure=secure)]

    def headers(self) -> dict[str, str]:
        """The headers that hand the secret to a client without cookies."""
        return {CLIENT_HEADER: self.new_secret} if self.new_secret else {}


async def owner(request: HTTPRequest, session_id: str, *, open_sessions: bool, key: bytes, is_known: IsKnown) -> Owner:
    """Find a conversation's owner; with `open_sessions`, anyone who names its id. Raises InvalidInput for a bad secret.

    Args:
        key: The server's own key, which signs cookies.
        is_known: Whether an owner has stored conversations.
    """
    secret = request.headers.get(CLIENT_HEADER, "")
    if secret or not session_id or open_sessions or is_random(session_id):
        return Owner(owner_of(secret), named=bool(secret))
    if (found := await owner_by_cookie(request, key, is_known)) is not None:
        return found
    secret = secrets.token_urlsafe(32)
    return Owner(owner_of(secret), secret, new_cookie=signed(secret, key))


async def owner_by_cookie(request: HTTPRequest, key: bytes, is_known: IsKnown) -> Owner | None:
    """The owner behind a cookie; None without a valid one.

    A cookie signed by this server is valid. Another one, such as from before cookies were signed or before a change of
    the key, is valid if its secret has stored conversations, and is signed anew: no browser can choose a secret here.
    """
    cookie = request.cookies.get(SECURE_COOKIE if is_secure(request) else COOKIE, "")
    if not _COOKIE.fullmatch(cookie):
        return None
    secret = cookie.partition(".")[0]
    hashed, right = owner_of(secret), signed(secret, key)
    if hmac.compare_digest(cookie, right):
        return Owner(hashed, named=True)
    return Owner(hashed, named=True, new_cookie=right) if await is_known(hashed) else None


def signed(secret: str, key: bytes) -> str:
    """The content of a cookie: a secret and its signature."""
    signature = hmac.new(key, b"lutrin reader\0" + secret.encode(), hashlib.sha256).digest()
    return f"{secret}.{base64.urlsafe_b64encode(signature).decode().rstrip('=')}"


def is_secure(request: HTTPRequest) -> bool:
    """Whether the browser uses TLS, to us or to a proxy in front of us."""
    return "https" in {request.url.scheme, request.headers.get("x-forwarded-proto", "")}


def is_random(session_id: str) -> bool:
    """Whether an id looks too random to guess."""
    return RANDOM_ID.fullmatch(session_id) is not None and len(set(session_id.lower())) >= DISTINCT


def openai_session(key: bytes, user: str, authorization: str) -> str:
    """The id of the conversation that an OpenAI client names by its `user`, one for each key; empty without a name."""
    if not user:
        return ""
    identity = f"{len(user)}:{user}{authorization}".encode("utf-8", "surrogatepass")
    return f"openai:{hmac.new(key, identity, hashlib.sha256).hexdigest()}"


def family(user_agent: str) -> str:
    """A browser's family and version, `Firefox 128`; empty if unknown.

    The whole header would tell the readers of a class apart.
    """
    for name, form in _FAMILIES:
        if match := form.search(user_agent):
            return f"{name} {match[1]}"
    match = _PROGRAM.match(user_agent)
    return " ".join(part for part in match.groups() if part) if match else ""
