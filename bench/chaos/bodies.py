"""Hostile and damaged requests, generated from a seed."""

import json
import random
import socket
from collections.abc import Iterator

HONEST = {
    "query": "What is a costmap?", "question": "What is it?", "message": "Hello", "session_id": "s1", "value": "up",
    "selected_text": "A costmap.", "top_k": 5, "messages": [{"role": "user", "content": "Hi"}],
}  # fmt: skip
MEDIA = ("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
         "application/msgpack", "application/json; charset=utf-16", "*/*", "")  # fmt: skip
STRANGE = (
    b"", b"null", b"true", b"0", b'""', b"[]", b"{}", b"\x00", b"\xff\xfe{\x00}\x00", b"\xef\xbb\xbf{}", b"[" * 60_000,
    b'{"a":' * 10_000, b'"' * 65_536, b'"\\' * 32_768, b'{"query":"\\ud800"}', b'{"query":"\\u0000"}', b"NaN",
    b"1e999999",
    b'{"query":' + b"9" * 60_000 + b"}", b'{"top_k":1e400,"query":"a"}', b'{"query":"a","top_k":-0}',
    b"{" * 32 + b"}" * 32,
    b'{"query":"' + b"a " * 30_000 + b'"}', b"x" * 70_000, b'{"query":"a"}{"query":"b"}', b'{"query":"a",}', b"--x--",
    b"query=a&top_k=5", '{"query":"\u202e\u0000\U0010ffff"}'.encode(), b'{"query":"a"}' + b" " * 65_000,
)  # fmt: skip
WIRES = (
    b"GET / HTTP/1.1\r\n\r\n", b"GET /health HTTP/9.9\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01",
    b"POST /api/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n{}",
    b"POST /api/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n{}",
    b"POST /api/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", b"\r\n\r\n\r\n", b"DELETE * HTTP/1.1\r\n\r\n",
    b"GET /read/../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /read/%2e%2e/%2e%2e/%ff%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 5000 + b"\r\n",
    b"GET /history/%00%ff HTTP/1.1\r\nHost: localhost\r\nX-Lutrin-Client: \xff\xfe\r\n\r\n",
)  # fmt: skip
WAIT_S = 5.0


def hostile_bodies(order: random.Random, count: int) -> Iterator[tuple[bytes, str]]:
    """Bodies with a media type: the strange ones first, then honest ones that were damaged, then noise."""
    honest = json.dumps(HONEST).encode()
    for number in range(count):
        if number < len(STRANGE) * 3:
            body = STRANGE[number % len(STRANGE)]
        elif number % 3:
            body = damaged(honest, order)
        else:
            body = order.randbytes(order.randrange(1, 4096))
        yield body, MEDIA[0] if number % 2 else order.choice(MEDIA)


def damaged(body: bytes, order: random.Random) -> bytes:
    """A body with some bytes changed, left out or repeated."""
    changed = bytearray(body)
    for _ in range(order.randrange(1, 6)):
        at = order.randrange(len(changed))
        match order.randrange(4):
            case 0:
                changed[at] = order.randrange(256)
            case 1:
                del changed[at : at + order.randrange(1, 20)]
            case 2:
                changed[at:at] = changed[at : at + order.randrange(1, 40)] * order.randrange(1, 50)
            case _:
                changed[at:at] = order.choice([b"[", b"{", b'"', b"\\", b"\x00", b"\xc3", b"1e99", b"null"])
        changed = changed or bytearray(b" ")
    return bytes(changed)


def hostile_wires(order: random.Random, port: int, count: int) -> Iterator[tuple[bytes, int]]:
    """What is no HTTP, on sockets of their own; the status of the reply, 0 where the connection was closed without."""
    for number in range(count):
        wire = WIRES[number % len(WIRES)] if number < 2 * len(WIRES) else order.randbytes(order.randrange(1, 2048))
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
            try:
                connection.sendall(wire)
                connection.shutdown(socket.SHUT_WR)
                reply = connection.recv(65_536)
            except OSError:
                reply = b""
        words = reply.split(maxsplit=2)
        yield wire, int(words[1]) if len(words) > 1 and words[1].isdigit() else 0
