"""Connections are bounded in number, time and size, without a proxy before the server."""

import asyncio
import contextlib
import json
import os
import resource
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import h11
import httpx
import pytest
from tests.loopback import NO_TLS

from lutrin.serve import connections
from lutrin.serve.app import listen, run_server
from lutrin.serve.connections import (
    MAX_HEAD_BYTES,
    MAX_HEADERS,
    MOST_UNFINISHED,
    BoundedConnection,
    BoundedProtocol,
    Connections,
    most_connections,
    raise_file_limit,
    size_of,
)
from lutrin.settings import load_settings

from .conftest import House

Run = Callable[..., AbstractAsyncContextManager[int]]
JSON = b"POST /chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def run(house: House) -> Run:
    """The server as `lutrin serve` runs it, as a context that gives its port."""

    @asynccontextmanager
    async def running(**values: Any) -> AsyncIterator[int]:
        settings = load_settings(data_dir=house.data_dir, **values)
        with listen("127.0.0.1", 0) as listener:
            told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            serving = asyncio.create_task(
                run_server(house.services(), settings, on_ready=told.set_result, listener=listener)
            )
            await told
            try:
                yield listener.getsockname()[1]
            finally:
                house.answers.go_on.set()
                os.kill(os.getpid(), signal.SIGTERM)
                await asyncio.wait_for(serving, 15)

    return running


class Wire:
    """A connection on which any bytes can be sent."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int, sent: bytes = b"") -> "Wire":
        """Connect and say something."""
        wire = cls(*await asyncio.open_connection("127.0.0.1", port))
        wire.writer.write(sent)
        return wire

    async def reply(self) -> bytes:
        """All that comes until the other side closes; nothing if it resets the connection."""
        got = b""
        with contextlib.suppress(ConnectionError):
            while piece := await asyncio.wait_for(self.reader.read(65_536), 10):
                got += piece
        self.writer.close()
        return got

    async def flood(self, size: int) -> None:
        """Send so many bytes."""
        for _ in range(size // 300_000):
            self.writer.write(b"a" * 300_000)
            await self.writer.drain()

    async def status(self) -> int:
        """The status of one reply, which is read to its end."""
        head = await asyncio.wait_for(self.reader.readuntil(b"\r\n\r\n"), 10)
        await self.reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
        return int(head.split()[1])


class Silent(BoundedProtocol):
    """A connection on which nothing happens."""

    def __init__(self) -> None:
        self.transport = Wireless()


class Wireless(asyncio.Transport):
    """A transport that only knows whether it is closed."""

    closed = False

    def abort(self) -> None:
        """Close."""
        self.closed = True

    def is_closing(self) -> bool:
        """Whether it is."""
        return self.closed


async def healthy(port: int) -> bool:
    """Whether a new connection gets its answer within a second."""
    async with httpx.AsyncClient(verify=NO_TLS, timeout=1) as client:
        return (await client.get(f"http://127.0.0.1:{port}/health")).status_code == 200


@pytest.mark.parametrize(
    "head",
    [
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"a" * 4 * MAX_HEAD_BYTES,
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"a: b\r\n" * 100_000,
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n" + b"a: b\r\n" * MAX_HEADERS + b"\r\n",
        b"GET /" + b"a" * 4 * MAX_HEAD_BYTES,
    ],
    ids=["one long header", "many small ones", "one too many", "a long line"],
)
async def test_a_large_head_is_refused(run: Run, head: bytes) -> None:
    """431 as a problem, or the connection is closed; the server goes on."""
    async with run() as port:
        reply = await (await Wire.open(port, head)).reply()
        assert reply == b"" or reply.startswith(b"HTTP/1.1 431 ")
        if reply:
            assert json.loads(reply.partition(b"\r\n\r\n")[2])["status"] == 431
        assert await healthy(port)


async def test_a_head_as_large_as_is_allowed_is_read(run: Run) -> None:
    """Cookies of another application on the same host do no harm."""
    padding = b"Cookie: " + b"a" * (MAX_HEAD_BYTES - 200) + b"\r\n"
    async with run() as port:
        wire = await Wire.open(port, HEALTH.replace(b"\r\n\r\n", b"\r\n" + padding + b"\r\n"))
        assert await wire.status() == 200
        wire.writer.close()


async def test_what_is_no_http_is_refused_as_a_problem(run: Run) -> None:
    """Also two Host headers, of which a proxy might believe the other."""
    for sent in (b"\x16\x03\x01\x02\x00\r\n\r\n", HEALTH.replace(b"\r\n\r\n", b"\r\nHost: evil.example\r\n\r\n")):
        async with run() as port:
            reply = await (await Wire.open(port, sent)).reply()
            assert reply.startswith(b"HTTP/1.1 400 ")
            assert b"content-type: application/problem+json" in reply


async def test_a_request_that_does_not_come_is_not_waited_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its head may be missing, before or after an answer, or its body."""
    monkeypatch.setattr(connections, "HEAD_S", 0.2)
    monkeypatch.setattr(connections, "BODY_S", 0.2)
    unfinished = JSON + b"Content-Length: 100\r\n\r\n{"
    async with run() as port:
        for sent in (b"", b"GET /hea", HEALTH + b"GET /hea", unfinished):
            wire = await Wire.open(port, sent)
            if sent.startswith(HEALTH):
                assert await wire.status() == 200
            assert (await wire.reply()).startswith(b"HTTP/1.1 408 ")


async def test_a_slow_body_that_comes_is_waited_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bad network gets more time with each piece that it brings."""
    monkeypatch.setattr(connections, "BODY_S", 0.2)
    body = json.dumps({"session_id": "s1", "message": "Q" * 2000}).encode()
    head = f"POST /chat HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
    async with run() as port:
        wire = await Wire.open(port, head.encode() + b"Content-Type: application/json\r\n\r\n")
        for start in range(0, len(body), 500):
            wire.writer.write(body[start : start + 500])
            await asyncio.sleep(0.1)
        assert await wire.status() == 200
        wire.writer.close()


async def test_a_body_that_is_refused_is_not_read_to_its_end(run: Run) -> None:
    """413 comes at once; who goes on sending is cut off."""
    head = JSON + b"Content-Length: 300000000\r\n\r\n"
    async with run() as port:
        wire = await Wire.open(port, head)
        assert await wire.status() == 413
        with pytest.raises(ConnectionError):
            await wire.flood(300_000_000)
        assert await healthy(port)


async def test_the_connection_that_waits_longest_is_closed_for_a_new_one(run: Run) -> None:
    """Many idle connections keep no client out, and no answer in progress is cut."""
    async with run(connections=40, connections_per_peer=20) as port:
        answered = await Wire.open(port, HEALTH)
        assert await answered.status() == 200
        silent = [await Wire.open(port, b"GET /h") for _ in range(60)]
        assert await healthy(port)
        assert await silent[0].reply() == b""
        silent[-1].writer.write(b"ealth HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert await silent[-1].status() == 200
        for wire in (*silent, answered):
            wire.writer.close()


async def test_a_running_answer_is_never_closed_for_another(run: Run, house: House) -> None:
    """If all connections are busy, a new one is refused."""
    house.answers.pause_before = 3
    body = json.dumps({"session_id": "s1", "message": "Q"}).encode()
    head = f"POST /chat HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nContent-Length: {len(body)}\r\n"
    asking = head.encode() + b"Content-Type: application/json\r\nConnection: close\r\n\r\n" + body
    async with run(connections_per_peer=8) as port:
        readers = [await Wire.open(port, asking) for _ in range(8)]
        for wire in readers:
            await asyncio.wait_for(wire.reader.readuntil(b"event: excerpt"), 10)
        assert await (await Wire.open(port, HEALTH)).reply() == b""
        house.answers.go_on.set()
        assert [b"event: done" in await wire.reply() for wire in readers] == [True] * 8
        assert await healthy(port)


def test_as_many_files_may_be_open_as_the_system_allows() -> None:
    """The soft limit is raised to the hard one, and connections leave room for everything else."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        assert raise_file_limit() == min(before[1], 65_536)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert most_connections(2000, files=1024) == 768
    assert most_connections(2000, files=65_536) == 2000


async def test_a_request_that_is_not_whole_costs_no_turn_of_the_application(run: Run) -> None:
    """A hundred incomplete requests are a hundred buffers, of which few stay; complete requests are answered."""
    unfinished = JSON + b"Content-Length: 1000\r\n\r\n{"
    async with run() as port:
        assert await healthy(port)
        before = len(asyncio.all_tasks())
        wires = [await Wire.open(port, unfinished) for _ in range(100)]
        assert [await wire.reply() for wire in wires[: 100 - MOST_UNFINISHED]] == [b""] * (100 - MOST_UNFINISHED)
        assert len(asyncio.all_tasks()) <= before
        assert await healthy(port)
        assert not any(wire.reader.at_eof() for wire in wires[-MOST_UNFINISHED:])
        for wire in wires:
            wire.writer.close()


async def test_a_body_that_is_asked_for_comes(run: Run) -> None:
    """A client that waits for 100 Continue gets it, and a chunked body is answered."""
    body = json.dumps({"session_id": "s1", "message": "Q"}).encode()
    async with run() as port:
        asking = await Wire.open(port, JSON + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % len(body))
        assert (await asking.reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 100 ")
        asking.writer.write(body)
        assert await asking.status() == 200
        chunked = await Wire.open(port, JSON + b"Transfer-Encoding: chunked\r\n\r\n")
        chunked.writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))
        assert await chunked.status() == 200
        for wire in (asking, chunked):
            wire.writer.close()


def test_what_a_request_still_owes_is_known() -> None:
    """Where anything is in doubt, the parser says it: nothing is kept from it."""
    for held, size in (
        (b"GET / HTTP/1.1\r\nHost: a\r\n", None),
        (HEALTH, 0),
        (HEALTH.replace(b"\r\n", b"\n"), 0),
        (b"\x16\x03\x01", 0),
        (b"G" * (MAX_HEAD_BYTES + 1), 0),
        (JSON + b"Content-Length: 10\r\n\r\n{", len(JSON) + 22 + 10),
        (JSON + b"content-length:10\r\n\r\n", len(JSON) + 21 + 10),
        (JSON + b"Content-Length: 10\r\nContent-Length: 11\r\n\r\n", 0),
        (JSON + b"Content-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n", 0),
        (JSON + b"Content-Length: ten\r\n\r\n", 0),
        (JSON + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", 0),
        (JSON + b"Content-Length: 65537\r\n\r\n", 0),
    ):
        assert size_of(held) == size


def test_a_proxy_may_have_more_requests_on_their_way() -> None:
    """Many readers come from there; from anywhere else few at a time."""
    for address, most in (("10.0.0.7", 100), ("192.168.1.7", MOST_UNFINISHED)):
        connections = Connections(1000, 400, ("10.0.0.0/24",))
        open_ones = [Silent() for _ in range(100)]
        for connection in open_ones:
            connections.open(connection, address)
            connection.stage = "head"
            connections.move(connection)
        assert connections.count == most
        assert [connection.transport.is_closing() for connection in open_ones] == [True] * (100 - most) + [False] * most


def test_a_proxy_may_have_more_connections() -> None:
    """As many as all together; from anywhere else those that waited longest are closed."""
    for address, most in (("10.0.0.7", 100), ("192.168.1.7", 40)):
        connections = Connections(1000, 40, ("10.0.0.0/24",))
        open_ones = [Silent() for _ in range(100)]
        for connection in open_ones:
            connections.open(connection, address)
        assert [connection.transport.is_closing() for connection in open_ones] == [True] * (100 - most) + [False] * most


@pytest.mark.parametrize("order", [0, 1])
def test_a_request_with_two_lengths_is_refused(order: int) -> None:
    """Proxy and server must agree on the end of a body."""
    lengths = [b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n"]
    parser = BoundedConnection(h11.SERVER, MAX_HEAD_BYTES)
    both = lengths[order] + lengths[1 - order]
    parser.receive_data(b"POST /chat HTTP/1.1\r\nHost: localhost\r\n" + both + b"\r\n0\r\n\r\n")
    with pytest.raises(h11.RemoteProtocolError):
        parser.next_event()
    assert parser.status == 400
