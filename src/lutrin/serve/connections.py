"""Connections to the server: how many there may be, how long a request may take to arrive, how large its head may be.

No proxy has to stand before Lutrin for it. A connection is *waiting* while the other side owes something (a request's
head, its body, the next request) and *busy* while an answer is on its way. If there are too many connections, the one
that has been waiting longest is closed for the newest; a busy one never is. So whoever opens a thousand connections
and says nothing on them closes connections of their own.
"""

import asyncio
import contextlib
import resource
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, Literal

import h11
import msgspec
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from lutrin.log import get_logger
from lutrin.messages import HEAD_TOO_LARGE, NOT_HTTP, TOO_SLOW
from lutrin.serve.limits import is_within, peer_of
from lutrin.serve.problems import MEDIA_TYPE, Problem

MAX_HEAD_BYTES = 16 * 1024
"""Most bytes of a request's line and headers. A browser sends one or two thousand; many cookies still fit."""
MAX_HEADERS = 100
HEAD_S = 10.0
"""From the first byte of a request, or from the connection, to the end of its headers."""
BODY_S = 15.0
"""For the body of a request, and a second more for every `BODY_BYTES_PER_S` that have come."""
BODY_BYTES_PER_S = 4096
UNREAD_S = 30.0
"""After it, a reader who takes nothing of what is sent is taken for gone."""
REST_S = 5.0
MAX_REST_BYTES = 1 << 20
"""Of a body whose request is answered already: it is read and dropped, for a reset would take the answer with it."""
ACCEPTED_AT_ONCE = 64
"""Connections that one turn of the loop takes: those above the limit are closed in the next one."""
BACKLOG = 2048
RESERVED_FILES = 256
"""File descriptors for databases, indexes, child processes and the connections that are about to be closed."""
MOST_FILES = 65_536

Stage = Literal["idle", "head", "body", "rest", "busy"]

_log = get_logger("serve")


def raise_file_limit() -> int:
    """Let this process open as many files as it may.

    Returns:
        How many that are.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):  # a sandbox may forbid it: then the lower limit holds
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


def most_connections(wanted: int, files: int) -> int:
    """Return how many connections fit into a limit of `files` open files."""
    return max(16, min(wanted, files - RESERVED_FILES))


class Connections:
    """All connections of a server.

    Args:
        most: Connections in all.
        most_of_peer: Connections from one network peer.
        proxies: Addresses and networks that are counted in all only, for many readers come from there.
    """

    def __init__(self, most: int, most_of_peer: int, proxies: Sequence[str] = ()) -> None:
        self._most = most
        self._most_of_peer = most_of_peer
        self._proxies = proxies
        self._peers: dict[str, dict[BoundedProtocol, None]] = {}
        self.count = 0
        self.closed = 0
        """Closed for newer ones, or refused."""

    def open(self, connection: "BoundedProtocol", address: str) -> bool:
        """Count a connection; one that waits is closed for it where there are too many.

        Returns:
            False if there is no room: all connections are busy.
        """
        connection.peer = peer_of(address, "", ())
        mine = self._peers.setdefault(connection.peer, {})
        proxy = is_within(address, self._proxies)
        room = True
        if len(mine) >= self._most_of_peer and not proxy:
            room = self._close_one(mine)
        elif self.count >= self._most:
            room = self._close_one(max(self._peers.values(), key=len)) or self._close_one(mine)
        mine[connection] = None
        self.count += 1
        return room

    def used(self, connection: "BoundedProtocol") -> None:
        """A connection has got its answer: of those that wait it is the last one to be closed."""
        mine = self._peers.get(connection.peer, {})
        if connection in mine:
            del mine[connection]
            mine[connection] = None

    def gone(self, connection: "BoundedProtocol") -> None:
        """A connection is closed."""
        mine = self._peers.get(connection.peer, {})
        if connection in mine:
            del mine[connection]
            self.count -= 1
        if not mine:
            self._peers.pop(connection.peer, None)

    def _close_one(self, among: "dict[BoundedProtocol, None]") -> bool:
        self.closed += 1
        for connection in among:
            if connection.stage != "busy":
                _log.warning("connection_closed_for_another", stage=connection.stage)
                del among[connection]
                self.count -= 1
                connection.transport.abort()
                return True
        return False


class BoundedConnection(h11.Connection):
    """A parser that refuses more than `MAX_HEADERS` headers and remembers with which status it refuses."""

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
        return event


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1 on h11, with limits.

    Args:
        connections: Among which this one is counted.
        config: As uvicorn gives it; so are the rest.
        server_state: Of uvicorn.
        app_state: Of the application.
        _loop: The event loop.
    """

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
        self.peer = ""
        self.stage: Stage = "idle"
        self._all = connections
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._came_bytes = 0
        self._since_s = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """A connection begins."""
        super().connection_made(transport)
        if not self._all.open(self, self.client[0] if self.client else ""):
            _log.warning("connection_refused", connections=self._all.count)
            transport.abort()
        self._enter("head")

    def connection_lost(self, exc: Exception | None) -> None:
        """A connection has ended."""
        self._all.gone(self)
        for timer in (self._deadline, self._unread):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what has come, in pieces small enough for the limit of the head to hold within one reading."""
        self._came_bytes += len(data)
        for start in range(0, len(data), MAX_HEAD_BYTES):
            if self.transport.is_closing():
                return
            super().data_received(data[start : start + MAX_HEAD_BYTES])
        self._follow()
        if self.stage == "rest" and self._came_bytes > MAX_REST_BYTES:
            self.transport.abort()

    def on_response_complete(self) -> None:
        """An answer is sent."""
        super().on_response_complete()
        self._all.used(self)
        self._follow()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's sentence says less
        """Refuse what is not HTTP, or too much of it, as a problem; where an answer has begun, just close."""
        status = self.conn.status if isinstance(self.conn, BoundedConnection) else 400
        self._refuse(status, HEAD_TOO_LARGE if status == HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE else NOT_HTTP)

    def pause_writing(self) -> None:
        """The other side takes nothing at present."""
        super().pause_writing()
        self._unread = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """It goes on reading."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def _follow(self) -> None:
        """Look at which stage the connection is now."""
        answered = _is_answered(self.cycle)
        if self.conn.their_state is h11.SEND_BODY:
            stage: Stage = "rest" if answered else "body"
        elif not answered:
            stage = "busy"
        else:
            begun = self.timeout_keep_alive_task is None or self.conn.trailing_data[0]
            stage = "head" if begun else "idle"
        if stage != self.stage:
            self._enter(stage)

    def _enter(self, stage: Stage) -> None:
        self.stage = stage
        self._came_bytes = 0
        self._since_s = self.loop.time()
        if self._deadline is not None:
            self._deadline.cancel()
        seconds = {"head": HEAD_S, "body": BODY_S, "rest": REST_S}.get(stage)  # uvicorn closes idle ones
        self._deadline = self.loop.call_later(seconds, self._late) if seconds is not None else None

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

    def _refuse(self, status: int, detail: str) -> None:
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE} or self.transport.is_closing():
            self.transport.abort()
            return
        body = msgspec.json.encode(Problem(title=HTTPStatus(status).phrase, status=status, detail=detail))
        headers = [("content-type", MEDIA_TYPE), ("content-length", str(len(body))), ("connection", "close")]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event))
        self.transport.close()


def _is_answered(cycle: RequestResponseCycle | None) -> bool:
    return cycle is None or cycle.response_complete  # there is none before the first request


def protocol(connections: Connections) -> Callable[..., asyncio.Protocol]:
    """The protocol that uvicorn creates for each connection."""

    def make(**given: Any) -> BoundedProtocol:  # noqa: ANN401 - what uvicorn gives
        return BoundedProtocol(connections, **given)

    return make
