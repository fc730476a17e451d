"""Access by host name and origin, and the headers for browsers."""

import httpx
import pytest

from lutrin.messages import WRONG_HOST

from .conftest import Serve

BODY = {"query": "Q"}


@pytest.mark.parametrize("host", ["localhost:7860", "LOCALHOST", "127.0.0.1", "[::1]:7860", "192.168.1.20:7860"])
async def test_own_names_and_addresses_are_served(client: httpx.AsyncClient, host: str) -> None:
    """The port does not matter; an address needs no list, for rebinding needs a name."""
    assert (await client.get("/health", headers={"Host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:7860",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "",
        "127.0.0.1:evil",
        "[::1]evil",
        "[::1]:7860evil",
        "localhost:7860@evil.example",
        "localhost:1:2",
        "127.0.0.1, evil",
        "127.0.0.1/x",
    ],
)
async def test_foreign_names_are_refused(client: httpx.AsyncClient, host: str) -> None:
    """A page whose name was rebound to this machine gets nothing, on any path."""
    for method, path in (("GET", "/health"), ("GET", "/"), ("POST", "/api/query"), ("GET", "/schema")):
        reply = await client.request(method, path, headers={"Host": host})
        assert (reply.status_code, reply.headers["content-type"]) == (400, "application/problem+json")
        assert reply.json()["detail"] == WRONG_HOST


async def test_further_names_are_a_setting(serve: Serve) -> None:
    """`LUTRIN_ALLOWED_HOSTS` names them; `*` admits all."""
    async with serve(allowed_hosts="book.school.example") as client:
        assert (await client.get("/health", headers={"Host": "book.school.example:80"})).status_code == 200
        assert (await client.get("/health", headers={"Host": "other.example"})).status_code == 400
    async with serve(allowed_hosts="*") as client:
        assert (await client.get("/health", headers={"Host": "other.example"})).status_code == 200


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [
        ("http://localhost:3000", True),
        ("http://127.0.0.1:3000", True),
        ("https://evil.example", False),
        ("http://localhost:3000.evil.example", False),
        ("null", False),
    ],
)
async def test_origins_are_a_list(client: httpx.AsyncClient, origin: str, allowed: bool) -> None:
    """Pages of listed origins may read answers and their headers; others are not told that they may."""
    reply = await client.post("/api/query", json=BODY, headers={"Origin": origin})
    assert reply.headers.get("access-control-allow-origin") == (origin if allowed else None)
    assert reply.status_code == (200 if allowed else 403)
    assert allowed or f"add {origin} to LUTRIN_CORS_ORIGINS" in reply.json()["detail"]
    wanted = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "x-lutrin-client",
    }
    preflight = await client.options("/chat", headers=wanted)
    assert preflight.headers.get("access-control-allow-origin") == (origin if allowed else None)
    if allowed:
        assert "x-lutrin-client" in preflight.headers["access-control-allow-headers"]
        assert "retry-after" in reply.headers["access-control-expose-headers"].lower()


async def test_errors_can_be_read_across_origins(client: httpx.AsyncClient) -> None:
    """A page of an allowed origin can show why it was refused."""
    reply = await client.post("/api/query", json={}, headers={"Origin": "http://localhost:3000"})
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (422, "http://localhost:3000")


async def test_every_origin_only_when_written_out(serve: Serve, capsys: pytest.CaptureFixture[str]) -> None:
    """`*` works, and the start warns."""
    async with serve(cors_origins="*") as client:
        reply = await client.post("/api/query", json=BODY, headers={"Origin": "https://any.example"})
    assert reply.headers["access-control-allow-origin"] == "*"
    assert "cors_open" in capsys.readouterr().out


@pytest.mark.parametrize(
    "path", ["/", "/read/physical-ai/01/02-loop", "/health", "/nothing", "/schema", "/static/reader.js"]
)
async def test_every_response_is_closed(client: httpx.AsyncClient, path: str) -> None:
    """A strict policy is on pages, data and errors alike."""
    headers = (await client.get(path)).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
async def test_only_what_calls_itself_json_is_read(client: httpx.AsyncClient, kind: str) -> None:
    """A form or plain text, which a browser sends to any site without asking, asks nothing here."""
    headers = {"Content-Type": kind} if kind else {}
    for path in ("/api/query", "/chat", "/v1/chat/completions", "/messages/" + "0" * 32 + "/feedback"):
        reply = await client.post(path, content=b'{"query": "Q"}', headers=headers)
        assert (reply.status_code, "application/json" in reply.json()["detail"]) == (415, True)


async def test_a_page_of_this_server_may_ask(client: httpx.AsyncClient) -> None:
    """Its own origin needs no list, under any name or port."""
    for host in ("192.168.1.20:7860", "localhost:7860"):
        headers = {"Host": host, "Origin": f"http://{host}"}
        assert (await client.post("/api/query", json=BODY, headers=headers)).status_code == 200
    headers = {"Host": "192.168.1.20:7860", "Origin": "http://192.168.1.20:8000"}
    assert (await client.post("/api/query", json=BODY, headers=headers)).status_code == 403


async def test_no_cache_gives_one_origins_reply_to_another(client: httpx.AsyncClient) -> None:
    """`Vary: Origin` is on every reply, with an origin and without."""
    for headers in ({}, {"Origin": "http://localhost:3000"}, {"Origin": "https://evil.example"}):
        for path in ("/health", "/", "/nothing"):
            assert "origin" in (await client.get(path, headers=headers)).headers["vary"].lower()


@pytest.mark.parametrize("kind", ["image", "iframe", "script", "empty"])
async def test_pages_of_other_sites_load_nothing_but_the_widget(client: httpx.AsyncClient, kind: str) -> None:
    """A picture's address on a foreign page makes no work here; links, the widget and the own page's pictures do."""
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": kind}
    for path in ("/qr.svg?to=/x", "/study/physical-ai/deck.apkg", "/", "/teacher/progress"):
        assert (await client.get(path, headers=elsewhere)).status_code == 403
    assert (await client.get("/widget/lutrin.js", headers=elsewhere)).status_code in {200, 404}
    assert (await client.get("/health", headers=elsewhere)).status_code == 200
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await client.get("/", headers=link)).status_code == 200
    own = {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": kind}
    assert (await client.get("/qr.svg?to=/x", headers=own)).status_code == 200
