"""Sign-in to the teacher's page: by her password or the administration token, for some hours, in one browser.

The password is typed once and never appears in an address, a page or a script. Instead, the browser gets a random name
in a cookie that scripts cannot read and other sites cannot send; each form has a key derived from it, so that a page of
a neighbouring name cannot press its buttons.
"""

import asyncio
import hashlib
import math
import secrets
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from litestar.di import NamedDependency as Given

from lutrin.errors import MalformedRequest, NotPermitted, RateLimited
from lutrin.messages import (
    MALFORMED_BODY,
    PAGE_EXPIRED,
    TEACHER_OFF,
    TOO_MANY_ATTEMPTS,
    WRONG_CODE,
    WRONG_TOKEN,
)
from lutrin.serve.answer_service import AnswerService
from lutrin.serve.guards import HTTPRequest
from lutrin.serve.limits import SlidingWindow, is_this_machine, remember
from lutrin.serve.ownership import is_secure
from lutrin.serve.routes.pages import address_for_others
from lutrin.serve.teacher_password import SHORTEST_PASSWORD, TeacherPassword
from lutrin.settings import Settings

COOKIE = "lutrin-teacher"
MOST_FIELDS = 400
"""Fields of the longest form: the pages, cards and questions of an assignment."""
SIGNED_IN_S = 8 * 3600.0
"""A school day."""
MOST_SIGNED_IN = 100
WRONG_PER_MIN = 10
"""Wrong tokens from one network peer, by pages and programs together, that cause no delay."""
DELAY_S = 2.0
"""Delay of each further attempt of that peer, even with the right token."""
MAX_WAITING = 8
"""Attempts of one peer that may wait: with `DELAY_S`, four guesses a second."""


class SignIns:
    """The signed-in browsers, and the limits of attempts; without token and password there is no sign-in."""

    def __init__(self, token: str | None, clock: Callable[[], float], password: TeacherPassword | None = None) -> None:
        self._token = token
        self.password = password
        """The password set in a browser; None: only the operator's token counts."""
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._until_s: OrderedDict[str, float] = OrderedDict()
        self._wrong = SlidingWindow(WRONG_PER_MIN, clock)
        self._waiting: Counter[str] = Counter()

    @property
    def possible(self) -> bool:
        """Whether there is a token or a password."""
        return self._token is not None or (self.password is not None and self.password.is_set)

    async def enter(self, token: str, peer: str) -> str:
        """Sign a browser in and return the value of its cookie; attempts are counted for each `limits.peer_of`.

        Raises:
            NotPermitted: No token is set, or it differs.
            RateLimited: Too many attempts.
        """
        if not self.possible:
            raise NotPermitted(TEACHER_OFF)
        await self.prove(token.strip(), peer)
        return self._admit()

    async def set_up(self, code: str, password: str, peer: str) -> str:
        """Set the first password, and sign its browser in like `enter`; codes are counted like tokens.

        Raises:
            NotPermitted: There is a password already, or the code differs.
            InvalidInput: The password is too short; the code stays valid.
            RateLimited: Too many attempts.
        """
        if self.password is None or self.possible:
            raise NotPermitted(PAGE_EXPIRED)
        await self._wait(peer)
        if not self.password.accepts(code):
            self._wrong.admit(peer)
            raise NotPermitted(WRONG_CODE)
        self.password.set(password)
        return self._admit()

    def _admit(self) -> str:
        cookie = secrets.token_urlsafe(32)
        remember(self._until_s, _digest(cookie), self._clock() + SIGNED_IN_S, MOST_SIGNED_IN)
        return cookie

    async def prove(self, token: str, peer: str) -> None:
        """Check a token; this is the only place that compares tokens and counts guesses.

        A peer with many wrong ones waits before each further attempt. Others do not wait: guesses, from any number of
        addresses, never lock out a teacher elsewhere.

        Args:
            peer: From `limits.peer_of`. A missing token is not a guess: a picture's address on a foreign page sends
                none.

        Raises:
            NotPermitted: It differs, or none is set.
            RateLimited: Too many attempts of this peer are waiting; this one was not checked.
        """
        if not self.possible or not token:
            raise NotPermitted(WRONG_TOKEN)
        await self._wait(peer)
        is_token = self._token is not None and secrets.compare_digest(_digest(token), _digest(self._token))
        if not is_token and not (self.password is not None and await asyncio.to_thread(self.password.matches, token)):
            self._wrong.admit(peer)
            raise NotPermitted(WRONG_TOKEN)

    async def _wait(self, peer: str) -> None:
        """Delay a peer with many wrong attempts; raises RateLimited if too many of its attempts are waiting."""
        if (wait_s := self._wrong.wait_s(peer)) <= 0:
            return
        if self._waiting[peer] >= MAX_WAITING:
            raise RateLimited(TOO_MANY_ATTEMPTS, retry_after_s=max(1, math.ceil(wait_s)))
        self._waiting[peer] += 1
        try:
            await asyncio.sleep(DELAY_S)
        finally:
            self._waiting -= Counter([peer])  # drops peers with none left

    def knows(self, cookie: str) -> bool:
        """Whether a browser is signed in."""
        return self._until_s.get(_digest(cookie), 0.0) > self._clock()

    def form_key(self, cookie: str) -> str:
        """The key in this browser's forms."""
        return hashlib.blake2b(cookie.encode(), key=self._key, digest_size=20).hexdigest()

    def check(self, cookie: str, form_key: str) -> None:
        """Raise NotPermitted unless a form comes from a page of this browser, which is still signed in."""
        if not self.possible:
            raise NotPermitted(TEACHER_OFF)
        same = secrets.compare_digest(self.form_key(cookie).encode(), form_key.encode())
        if not self.knows(cookie) or not same:
            raise NotPermitted(PAGE_EXPIRED)

    def leave(self, cookie: str) -> None:
        """Sign a browser out."""
        self._until_s.pop(_digest(cookie), None)


def _digest(cookie: str) -> str:
    return hashlib.sha256(cookie.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Visit:
    """A request that may come from a teacher or an operator. Litestar makes one for each handler that asks for it."""

    request: HTTPRequest
    service: Given[AnswerService]
    sign_ins: Given[SignIns]
    settings: Given[Settings]

    @property
    def cookie(self) -> str:
        """The cookie that replaces the token; empty without one."""
        return self.request.cookies.get(COOKIE, "")

    @property
    def signed_in(self) -> bool:
        """Whether it comes from a signed-in browser."""
        return self.sign_ins.knows(self.cookie)

    @property
    def is_here(self) -> bool:
        """Whether it comes from this machine or a signed-in browser."""
        return is_this_machine(self.request.scope) or self.signed_in

    @property
    def form_key(self) -> str:
        """See `SignIns.form_key`."""
        return self.sign_ins.form_key(self.cookie)

    @property
    def query(self) -> Mapping[str, str]:
        """The parameters of its address, by name."""
        return dict(self.request.query_params)

    @property
    def query_string(self) -> str:
        """The parameters of its address, unparsed."""
        return str(self.request.url.query)

    @property
    def address(self) -> str:
        """The address at which other devices in the room reach the server; empty if they cannot."""
        return address_for_others(self.request, self.settings.host)

    @property
    def may_sign_in(self) -> bool:
        """Whether there is a token or a password."""
        return self.sign_ins.possible

    @property
    def least_password(self) -> int:
        """Characters of the shortest allowed password."""
        return SHORTEST_PASSWORD

    @property
    def has_password(self) -> bool:
        """Whether a password was set in a browser, and so can be changed there."""
        return self.sign_ins.password is not None and self.sign_ins.password.is_set

    def check(self, form_key: str) -> None:
        """See `SignIns.check`."""
        self.sign_ins.check(self.cookie, form_key)

    async def enter(self, token: str) -> str:
        """See `SignIns.enter`."""
        return await self.sign_ins.enter(token, self.service.peer(self.request))

    async def set_up(self, code: str, password: str) -> str:
        """See `SignIns.set_up`."""
        return await self.sign_ins.set_up(code, password, self.service.peer(self.request))

    async def change_password(self, old: str, new: str) -> None:
        """Set another password; raises NotPermitted, InvalidInput and RateLimited as `set_up`."""
        password = self.sign_ins.password
        if password is None or not password.is_set:
            raise NotPermitted(TEACHER_OFF)
        await self.sign_ins.prove(old, self.service.peer(self.request))
        password.set(new)

    def leave(self) -> None:
        """Sign its browser out."""
        self.sign_ins.leave(self.cookie)

    def cookie_for(self, value: str) -> dict[str, Any]:
        """The complete cookie for a value; an empty value deletes the browser's."""
        return {
            "key": COOKIE,
            "value": value,
            "path": "/teacher",
            "max_age": round(SIGNED_IN_S) if value else 0,
            "httponly": True,
            "samesite": "strict",
            "secure": bool(value) and is_secure(self.request),
        }

    def require(self) -> None:
        """Raise NotPermitted unless its browser is signed in."""
        if not self.signed_in:
            raise NotPermitted(PAGE_EXPIRED)

    async def prove(self) -> None:
        """Check a program's token, from `Authorization: Bearer TOKEN`; see `SignIns.prove`."""
        scheme, _, token = self.request.headers.get("authorization", "").partition(" ")
        token = token.strip() if scheme.lower() == "bearer" else ""
        await self.sign_ins.prove(token, self.service.peer(self.request))

    async def pairs(self) -> list[tuple[str, str]]:
        """The fields of a form in order; raises MalformedRequest if there are more than on any page of ours."""
        body = (await self.request.body()).decode()
        try:
            return parse_qsl(body, keep_blank_values=True, max_num_fields=MOST_FIELDS)
        except ValueError:
            raise MalformedRequest(MALFORMED_BODY) from None

    async def fields(self) -> dict[str, str]:
        """The fields of a form by name; raises as `pairs`."""
        return dict(await self.pairs())

    async def form(self) -> dict[str, str]:
        """The fields of a form from a signed-in browser's own page; raises as `SignIns.check`."""
        fields = await self.fields()
        self.check(fields.get("key", ""))
        return fields
