"""A real server behind the proxy of compose.yaml: forged headers and split requests reach no other client."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from bench.chaos.quick_server import QuickServer
from tests.remote.proxy import proxy

from lutrin.chats.key import new_key
from lutrin.serve.teacher_sign_in import DELAY_S
from lutrin.settings import load_settings

TOKEN = "the-token-of-a-test"
HIDDEN = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
"""A second request, which the proxy refuses, in what one side may take for the body of the first."""
TWO_LENGTHS = [
    b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n",
    b"Content-Length: %d\r\nTransfer-Encoding : chunked\r\n",
    b"Content-Length: %d\r\nTransfer-Encoding: xchunked\r\n",
    b"Content-Length: %d\r\nTransfer-Encoding:\x0bchunked\r\n",
    b"Content-Length: %d\r\nContent-Length: 0\r\n",
    b"Content-Length: %d\r\n Transfer-Encoding: chunked\r\n",
]


@contextmanager
def running(place: Path) -> Iterator[str]:
    """`host:port` of a server that trusts only the proxy on this machine."""
    settings = load_settings(data_dir=place, admin_token=TOKEN, trusted_proxies="127.0.0.1", log_format="json")
    server = QuickServer(place, new_key(), settings)
    server.start()
    try:
        yield server.address.removeprefix("http://")
    finally:
        server.stop()
        server.close()


@pytest.fixture
def front(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of the proxy before it."""
    with running(tmp_path) as address, proxy([address], tmp_path) as client:
        yield client


def raw(client: httpx.Client, sent: bytes) -> bytes:
    """The reply to these bytes on a connection of their own."""
    with socket.create_connection((client.base_url.host, client.base_url.port or 0), timeout=20) as connection:
        connection.sendall(sent)
        connection.settimeout(2)
        received = b""
        try:
            while part := connection.recv(65536):
                received += part
        except (TimeoutError, ConnectionError):
            pass
        return received


def test_no_request_hides_in_another(front: httpx.Client) -> None:
    """One request for the proxy is one for the server: a path that it closes stays closed."""
    body = b"0\r\n\r\n" + HIDDEN
    posting = b"POST /chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    for lengths in TWO_LENGTHS:
        received = raw(front, posting + lengths % len(body) + b"\r\n" + body)
        assert received.startswith((b"HTTP/1.1 4", b"HTTP/1.1 5")), lengths
        assert b"lutrin_" not in received, lengths
        assert b" 200 " not in received, lengths


def test_a_guesser_is_one_address_whatever_it_claims(front: httpx.Client) -> None:
    """After ten wrong tokens, each from a claimed address, in one header or several, each further one has to wait."""
    claimed = [[("X-Forwarded-For", f"203.0.113.{n}")] * (1 + n % 2) + [("Forwarded", "for=::1")] for n in range(14)]
    form = {"token": "a-wrong-token-of-a-test"}
    waited_s = []
    for headers in claimed:
        began_s = time.monotonic()
        assert front.post("/teacher/sign-in", data=form, headers=headers).status_code == 403
        waited_s.append(time.monotonic() - began_s)
    assert max(waited_s[:10]) < DELAY_S <= min(waited_s[10:])


def test_a_stranger_is_not_this_machine(front: httpx.Client) -> None:
    """Names of files are for a browser on the server's machine that comes without a proxy."""
    for claimed in ({}, {"X-Forwarded-For": "127.0.0.1"}, {"X-Real-IP": "127.0.0.1"}):
        assert front.get("/ready", headers=claimed).json()["left_out"] == []
    assert front.get("/", headers={"Host": "evil.example"}).status_code == 400


def test_over_tls_the_cookie_stays_there(tmp_path: Path) -> None:
    """A browser that signed in over TLS sends its cookie over nothing else; answers stream as they do without."""
    try:
        socket.create_server(("", 80)).close()
    except OSError:
        pytest.skip("Caddy sends readers from port 80 to TLS, and that port is not free here")
    with running(tmp_path) as address, proxy([address], tmp_path, site="localhost") as client:
        asked = client.post("/chat", json={"session_id": "1", "message": "Is it safe?"})
        assert asked.json()["answer"].startswith("You said")
        assert "Secure" in asked.headers["set-cookie"]
        events = client.post("/query", json={"query": "And this?"}, headers={"Accept": "text/event-stream"}).text
        assert "event: done" in events
        signed_in = client.post("/teacher/sign-in", data={"token": TOKEN})
        assert (signed_in.status_code, "Secure" in signed_in.headers["set-cookie"]) == (303, True)
        refused = client.post("/chat", json={}, headers={"Origin": "http://localhost"})
        assert refused.status_code == 403
