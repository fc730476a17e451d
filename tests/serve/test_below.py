"""Below a path of another site, as `https://school.example/lutrin/`."""

import re
from typing import Any

import pytest
from litestar.types import Message

from lutrin.serve.responses import PREFIX, Outgoing

from .conftest import Serve

ADDRESSES = re.compile(r"""(?:href|src|action|api)=["'](/[^"']*)""")


def addresses(page: str) -> list[str]:
    """Every path that a page leads to."""
    return ADDRESSES.findall(page)


@pytest.mark.parametrize("asked", ["/lutrin/", "/"])
async def test_pages_lead_to_where_readers_see_them(serve: Serve, asked: str) -> None:
    """Whether the proxy keeps the path in what it asks for, or strips it."""
    async with serve(root_path="/lutrin") as client:
        page = await client.get(asked)
        found = addresses(page.text)
        assert len(found) > 5
        assert [path for path in found if not path.startswith("/lutrin/")] == []
        assert 'api="/lutrin/"' in page.text
        assert int(page.headers["content-length"]) == page.num_bytes_downloaded
        for path in {path.partition("#")[0] for path in found}:
            assert (await client.get(path.replace("&amp;", "&"))).status_code == 200, path


async def test_the_path_alone_leads_to_the_shelf(serve: Serve) -> None:
    """A service worker at `/lutrin/` has no say over `/lutrin`."""
    async with serve(root_path="/lutrin/") as client:
        reply = await client.get("/lutrin")
        assert (reply.status_code, reply.headers["location"]) == (308, "/lutrin/")
        assert (await client.get("/lutrinx")).status_code == 404


async def test_questions_are_answered_below_the_path(serve: Serve) -> None:
    """JSON keeps its addresses, which are relative to the server's."""
    async with serve(root_path="/lutrin") as client:
        kept = await client.post("/lutrin/api/query", json={"query": "Q"})
        stripped = await client.post("/api/query", json={"query": "Q"})
        stream = await client.post("/lutrin/api/query", json={"query": "Q"}, headers={"Accept": "text/event-stream"})
    assert kept.status_code == stripped.status_code == stream.status_code == 200
    assert all(source["url"].startswith("/read/") for source in kept.json()["sources"])
    assert "event: done" in stream.text


async def test_redirects_and_cookies_stay_below_the_path(serve: Serve) -> None:
    """Another application on the same host sees none of them."""
    token = "the-right-token-0001"
    async with serve(root_path="/lutrin", admin_token=token) as client:
        reply = await client.post("/lutrin/teacher/sign-in", data={"token": token})
        assert (reply.status_code, reply.headers["location"]) == (303, "/lutrin/teacher")
        assert "path=/lutrin/teacher" in reply.headers["set-cookie"].lower()
        chat = await client.post("/chat", json={"session_id": "0b0e3b1c-6f0d-4f57-9d6e-2f4e7e1c1d11", "message": "Q"})
        assert "path=/lutrin/;" in chat.headers["set-cookie"].lower() + ";"


@pytest.mark.parametrize(
    ("trusted", "named", "seen"),
    [
        ("127.0.0.1", "/school/books", "/school/books/"),
        ("127.0.0.1", "/school/books/", "/school/books/"),
        ("", "/school/books", "/"),
        ("127.0.0.1", "//evil.example", "/"),
        ("127.0.0.1", '/"onload="x', "/"),
    ],
)
async def test_a_proxy_names_the_path_if_it_is_trusted(serve: Serve, trusted: str, named: str, seen: str) -> None:
    """Other clients cannot, and only a plain path is accepted."""
    async with serve(trusted_proxies=trusted) as client:
        page = await client.get("/", headers={"X-Forwarded-Prefix": named})
    assert f'api="{seen}"' in page.text


async def test_the_address_for_pupils_has_the_path(serve: Serve) -> None:
    """The teacher's QR code leads to where they can go."""
    token = "the-right-token-0001"
    async with serve(root_path="/lutrin", admin_token=token, allowed_hosts="school.example") as client:
        await client.post("/lutrin/teacher/sign-in", data={"token": token})
        page = await client.get("/lutrin/teacher", headers={"Host": "school.example"})
    assert "http://school.example/lutrin/" in page.text


async def test_words_that_look_like_a_link_stay_as_they_are() -> None:
    """Only tags are changed, also those whose values hold a bracket."""
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Any = {"method": "GET", "path": "/", "headers": [], PREFIX: "/lutrin"}
    leaving = Outgoing(scope, send)
    await leaving({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
    body = b'<p>href="/a" <a title="1 > 0" href="/b">x</a><a href="//c">y</a><a href="#d">z</a></p>'
    await leaving({"type": "http.response.body", "body": body})
    assert sent[1]["body"] == body.replace(b'href="/b"', b'href="/lutrin/b"')  # type: ignore[typeddict-item]
