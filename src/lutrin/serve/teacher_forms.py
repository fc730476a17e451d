"""Forms of the teacher's pages: authorisation, fields, and responses."""

from typing import Any
from urllib.parse import parse_qsl

from litestar import MediaType, Response
from litestar.datastructures import Cookie

from lutrin.errors import MalformedRequest
from lutrin.messages import MALFORMED_BODY
from lutrin.serve.answer_service import NO_STORE
from lutrin.serve.limits import is_this_machine
from lutrin.serve.requests import HTTPRequest
from lutrin.serve.teacher_sign_in import SignIns

COOKIE = "lutrin-teacher"
PAGE: dict[str, Any] = {"include_in_schema": False, "media_type": MediaType.HTML}
"""Of a handler whose answers browsers show."""
MOST_FIELDS = 8


def is_teacher(request: HTTPRequest, sign_ins: SignIns) -> bool:
    """Whether a browser is signed in."""
    return sign_ins.knows(request.cookies.get(COOKIE, ""))


def is_here(request: HTTPRequest, sign_ins: SignIns) -> bool:
    """Whether a request comes from this machine or a browser that is signed in; see `SignIns.prove`."""
    return is_this_machine(request.scope) or is_teacher(request, sign_ins)


async def check_form(request: HTTPRequest, sign_ins: SignIns) -> dict[str, str]:
    """Read a form's fields after checking that a signed-in browser sent it from our own page.

    Raises:
        NotPermitted: It is another browser, or another page.
        MalformedRequest: There are more fields than any page of ours sends.
    """
    found = await fields(request)
    sign_ins.check(request.cookies.get(COOKIE, ""), found.get("key", ""))
    return found


async def fields(request: HTTPRequest) -> dict[str, str]:
    """The fields of a form.

    Raises:
        MalformedRequest: There are more than any page of ours sends.
    """
    body = (await request.body()).decode()
    try:
        return dict(parse_qsl(body, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise MalformedRequest(MALFORMED_BODY) from None


def shown_page(page: str, status: int = 200) -> Response[str]:
    """A page that no cache may store."""
    return Response(page, status_code=status, media_type=MediaType.HTML, headers=dict(NO_STORE))


def led_to(location: str, cookies: list[Cookie] | None = None) -> Response[str]:
    """Redirect a browser to a page."""
    headers = {"Location": location, **NO_STORE}
    return Response("", status_code=303, media_type=MediaType.HTML, headers=headers, cookies=cookies)
