"""Limits connections: their number, the time that a request may take to arrive, and the size of its head.

So Lutrin needs no proxy in front of it. A connection *waits* while the other side owes something (a request's head, its
body, the next request) and is *busy* while an answer is on its way. If there are too many, the one that has waited
longest is closed for the newest; a busy one never is. So a client that opens a thousand silent connections closes its
own. Each peer may have only few incomplete requests.

Until it is complete, the first request of a connection is only bytes and a deadline: a thousand requests that begin and
never end would otherwise be a thousand tasks, each with its route and guards. This code only checks whether everything
has arrived; the parser sees every byte. If in doubt, the bytes go to the parser at once.
"""

import asyncio
import contextlib
import re
import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Literal, cast

import h11
import msgspec
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from lutrin.log import get_logger
from lutrin.messages import HEAD_TOO_LARGE, NOT_HTTP, TOO_SLOW
from lutrin.serve.guards import MAX_BODY_BYTES
from lutrin.serve.limits import is_within, peer_of
from lutrin.serve.problems import MEDIA_TYPE, Problem

MAX_HEAD_BYTES = 16 * 1024
"""Most bytes of a request's line and headers. A browser sends one or two thousand; many cookies still fit."""
MAX_HEADERS = 100
LENGTHS = frozenset({b"content-length", b"transfer-encoding"})
"""Headers that each give the length of a body; a request may have one of them."""
END_OF_HEAD = re.compile(rb"\n\r?\n")
"""End of a head, as h11 finds it."""
LONGEST_END = 3
DECIDING = re.compile(rb"\n(content-length|transfer-encoding|expect)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
"""Headers that announce a body: its length; chunks; a body sent only on request."""
MOST_DIGITS = 8
HEAD_S = 10.0
"""Seconds from the first byte of a request, or from the connection, to the end of its headers."""
BODY_S = 15.0
"""Seconds for the body of a request, plus one for every `BODY_BYTES_PER_S` received."""
BODY_BYTES_PER_S = 4096
UNREAD_S = 30.0
"""Seconds after which a reader who takes no data counts as gone."""
REST_S = 5.0
MAX_REST_BYTES = 1 << 20
"""Seconds for the rest of a body whose request is answered: it is read and dropped, as a reset would drop the
answer."""
MOST_UNFINISHED = 32
"""Incomplete requests of one peer: a class behind one address sends each in a few milliseconds."""
WARN_EVERY_S = 1.0
"""Seconds between two log lines about connections closed for others."""
ACCEPTED_AT_ONCE = 64
"""Connections accepted in one turn of the loop: those above the limit are closed in the next one."""
BACKLOG = 2048  # connections that the kernel holds until they are accepted
RESERVED_FILES = 256
"""File descriptors for databases, indexes, child processes and connections about to be closed."""
MOST_FILES = 65_536

Stage = Literal["silent", "idle", "head", "body", "rest", "busy"]
"""Nothing received yet; answered and nothing received since; a head or a body arriving, or the rest of a body already
answered; an answer on its way."""
UNFINISHED = frozenset({"head", "body", "rest"})

_log = get_logger("serve")


def raise_file_limit() -> int:
    """Raise this process's limit of open files as far as allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with contextlib.suppress(OSError, ValueError):  # a sandbox may forbid it: then the lower limit holds
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


def most_connections(limit: int, files: int) -> int:
    """Number of connections that fit into a limit of `files` open files."""
    return max(16, min(limit, files - RESERVED_FILES))


@dataclass(slots=True)
class Peer:
    """Connections from one network peer, longest waiting first; many readers come from a proxy, which has no limit."""

    address: str = ""
    proxy: bool = False
    connections: "dict[BoundedProtocol, None]" = field(default_factory=dict)
    unfinished: "dict[BoundedProtocol, None]" = field(default_factory=dict)


class Connections:
    """All connections of a server, at most `most` at a time; those from proxies only count towards the total."""

    def __init__(self, most: int, most_of_peer: int, proxies: Sequence[str] = ()) -> None:
        self._most = most
        self._most_of_peer = most_of_peer
        self._proxies = proxies
        self._peers: dict[str, Peer] = {}
        self._unreported = 0
        self._warned_s = -WARN_EVERY_S
        self.count = 0

    def open(self, connection: "BoundedProtocol", address: str) -> None:
        """Count a connection; if there are too many, close a waiting one: the new one, if all others are busy."""
        name = peer_of(address, "", ())
        if name not in self._peers:
            self._peers[name] = Peer(name, is_within(address, self._proxies))
        peer = connection.peer = self._peers[name]
        peer.connections[connection] = None
        self.count += 1
        if len(peer.connections) > self._most_of_peer and not peer.proxy:
            self._close_one(peer.connections)
        elif self.count > self._most:
            most = max(self._peers.values(), key=lambda each: len(each.connections))
            if not self._close_one(most.connections):
                self._close_one(peer.connections)

    def move(self, connection: "BoundedProtocol") -> None:
        """Record a connection's new stage; close the peer's oldest incomplete request if there are too many."""
        peer = connection.peer
        if connection.stage not in UNFINISHED:
            peer.unfinished.pop(connection, None)
        elif connection in peer.connections:
            peer.unfinished[connection] = None
            if len(peer.unfinished) > MOST_UNFINISHED and not peer.proxy:
                self._close_one(peer.unfinished)

    def touch(self, connection: "BoundedProtocol") -> None:
        """Record that a connection has sent something, so that it is the last of the waiting ones to be closed."""
        for among in (connection.peer.connections, connection.peer.unfinished):
            if connection in among:
                among[connection] = among.pop(connection)

    def forget(self, connection: "BoundedProtocol") -> None:
        """Forget a closed connection."""
        peer = connection.peer
        if connection in peer.connections:
            del peer.connections[connection]
            peer.unfinished.pop(connection, None)
            self.count -= 1
            if not peer.connections:
                del self._peers[peer.address]

    def _close_one(self, among: "dict[BoundedProtocol, None]") -> bool:
        connection = next((each for each in among if each.stage != "busy"), None)
        if connection is None:
            return False
        self._unreported += 1
        now_s = time.monotonic()
        if now_s - self._warned_s >= WARN_EVERY_S:  # one line for all of a thousand
            _log.warning("connection_closed_for_another", stage=connection.stage, times=self._unreported)
            self._unreported, self._warned_s = 0, now_s
        connection.transport.abort()
        self.forget(connection)
        return True


class BoundedConnection(h11.Connection):
    """A parser that refuses more than `MAX_HEADERS` headers, or two lengths, and keeps its status."""

    status = 400

    def next_event(self) -> Any:  # noqa: ANN401 - the library's union of events and sentinels
        """The next event; see `h11.Connection.next_event`."""
        try:
            event = super().next_event()
        except h11.RemoteProtocolError as error:
            self.status = error.error_status_hint
            raise
        if isinstance(event, h11.Request) and len(event.headers) > MAX_HEADERS:
            self.status = 431
            raise h11.RemoteProtocolError("Too many headers", error_status_hint=431)
        if isinstance(event, h11.Request) and {name for name, _ in event.headers} >= LENGTHS:
            # A proxy may use the other one as the end of the body: the rest is then a stranger's request.
            raise h11.RemoteProtocolError("Two lengths", error_status_hint=400)
        return event


def size_of(data: bytes | bytearray, searched: int = 0) -> int | None:
    """Size of a request from its beginning; 0 if the parser must decide, None while its head is incomplete."""
    if data[0] <= ord(" "):
        return 0  # no method begins so, as h11 says without waiting for more
    end = END_OF_HEAD.search(data, max(0, searched - LONGEST_END))
    if end is None:
        return None if len(data) <= MAX_HEAD_BYTES else 0
    fields = DECIDING.findall(data, 0, end.end())
    if len(fields) != 1 or fields[0][0].lower() != b"content-length":
        return 0
    length = fields[0][1].strip()
    if not length.isdigit() or len(length) > MOST_DIGITS or int(length) > MAX_BODY_BYTES:
        return 0
    return end.end() + int(length)


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 on h11, counted, with a time limit for each stage of a request."""

    peer = Peer()
    stage: Stage = "silent"
    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _came_bytes = 0
    """Since the start of this stage."""
    _since_s = 0.0
    _size: int | None = None
    """Size of the first request, once known."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.conn = BoundedConnection(h11.SERVER, MAX_HEAD_BYTES)
        self._counted_in = connections
        self._pending: bytearray | None = bytearray()
        """Bytes of the first request so far; None once the parser has it."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Handle the start of a connection."""
        super().connection_made(cast("asyncio.Transport", transport))
        self._counted_in.open(self, self.client[0] if self.client else "")
        self._enter("silent")

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of a connection."""
        for timer in (self._deadline, self._unread):
            if timer is not None:
                timer.cancel()
        self._counted_in.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes in pieces, small enough to enforce the limit of the head within one read."""
        self._came_bytes += len(data)
        if self._pending is not None:
            searched = len(self._pending)
            self._pending += data
            if self._size is None:
                self._size = size_of(self._pending, searched)
            if self._size is None or len(self._pending) < self._size:
                self._move("head" if self._size is None else "body")
                return
            data, self._pending = bytes(self._pending), None
            self._move("silent")
            self._counted_in.touch(self)
        for start in range(0, len(data), MAX_HEAD_BYTES):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + MAX_HEAD_BYTES])
        self._follow()
        if self.stage == "rest" and self._came_bytes > MAX_REST_BYTES:
            self.transport.abort()
        elif len(data) > MAX_HEAD_BYTES:
            self._counted_in.touch(self)  # an upload that comes is not the one that waits longest

    def on_response_complete(self) -> None:
        """Handle the end of an answer."""
        super().on_response_complete()
        self._counted_in.touch(self)
        self._follow()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's sentence says less
        """Refuse malformed or oversized HTTP with a problem document, or just close if an answer has begun."""
        status = self.conn.status if isinstance(self.conn, BoundedConnection) else 400
        self._refuse(status, HEAD_TOO_LARGE if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE else NOT_HTTP)

    def pause_writing(self) -> None:
        """Pause: the client is not reading."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Resume: the client reads again."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def _refuse(self, status: int, detail: str) -> None:
        """Send a problem document and close, or just close if an answer has begun."""
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE} or self.transport.is_closing():
            self.transport.abort()
            return
        body = msgspec.json.encode(Problem(title=HTTPStatus(status).phrase, status=status, detail=detail))
        headers = [("content-type", MEDIA_TYPE), ("content-length", str(len(body))), ("connection", "close")]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    def _follow(self) -> None:
        """Update the stage of the connection."""
        cycle: RequestResponseCycle | None = self.cycle  # there is none before the first request
        answered = cycle is None or cycle.response_complete
        if self.conn.their_state is h11.SEND_BODY:
            self._move("rest" if answered else "body")
        elif not answered:
            self._move("busy")
        else:
            begun = self.timeout_keep_alive_task is None or self.conn.trailing_data[0]
            self._move("head" if begun else "idle")

    def _move(self, stage: Stage) -> None:
        if stage != self.stage:
            self._enter(stage)

    def _enter(self, stage: Stage) -> None:
        self.stage = stage
        self._came_bytes = 0
        self._since_s = self.loop.time()
        if self._deadline is not None:
            self._deadline.cancel()
        seconds = {"silent": HEAD_S, "head": HEAD_S, "body": BODY_S, "rest": REST_S}.get(stage)  # or uvicorn's limit
        self._deadline = self.loop.call_later(seconds, self._late) if seconds is not None else None
        self._counted_in.move(self)

    def _late(self) -> None:
        if self.stage == "body":
            left_s = self._since_s + BODY_S + self._came_bytes / BODY_BYTES_PER_S - self.loop.time()
            if left_s > 0:
                self._deadline = self.loop.call_later(left_s, self._late)
                return
        if self.stage == "rest":
            self.transport.abort()
            return
        _log.warning("connection_too_slow", stage=self.stage)
        self._refuse(HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW)
