"""The first request of a connection on its way in: until it is whole, the application does not hear of it.

A thousand connections that each begin a request and never end it would otherwise be a thousand tasks, each with its
parser, its route and its guards, and everybody else would wait for them. Here each is its bytes and a deadline. Only
whether all has come is looked at; what has come is for the parser (`BoundedProtocol`), which sees every byte. What
cannot be told for sure goes to the parser at once.
"""

import asyncio
import re
from collections.abc import Callable
from typing import Any, cast

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.server import ServerState

from lutrin.serve.connections import MAX_HEAD_BYTES, BoundedProtocol, Connections, Counted, Stage
from lutrin.serve.guards import MAX_BODY_BYTES

END_OF_HEAD = re.compile(rb"\n\r?\n")
"""As h11 finds it."""
LONGEST_END = 3
DECIDING = re.compile(rb"\n(content-length|transfer-encoding|expect)[ \t]*:[ \t]*([^\r\n]*)", re.IGNORECASE)
"""Headers that say how a body comes: so long; in chunks; only once it is asked for."""
MOST_DIGITS = 8


def size_of(held: bytes | bytearray, searched: int = 0) -> int | None:
    """Bytes of a request whose beginning has come; 0 where the parser is to say, None while its head has no end."""
    if held[0] <= ord(" "):
        return 0  # no method begins so, as h11 says without waiting for more
    end = END_OF_HEAD.search(held, max(0, searched - LONGEST_END))
    if end is None:
        return None if len(held) <= MAX_HEAD_BYTES else 0
    said = DECIDING.findall(held, 0, end.end())
    if len(said) != 1 or said[0][0].lower() != b"content-length":
        return 0
    length = said[0][1].strip()
    if not length.isdigit() or len(length) > MOST_DIGITS or int(length) > MAX_BODY_BYTES:
        return 0
    return end.end() + int(length)


class Arrival(Counted, asyncio.Protocol):
    """A connection until its first request is whole."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.counted_in = connections
        self.loop = _loop or asyncio.get_running_loop()
        self._config = config
        self._server_state = server_state
        self._app_state = app_state
        self._held = bytearray()
        self._size: int | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A connection begins."""
        self.transport = cast("asyncio.Transport", transport)
        self._listed.add(self)
        address = get_remote_addr(self.transport)
        self.counted_in.open(self, address[0] if address else "")
        self.enter("silent")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - nothing was answered, whatever it was
        """It ended before a request was whole."""
        self._listed.discard(self)
        self.leave()

    def data_received(self, data: bytes) -> None:
        """Keep what has come until it is all."""
        searched = len(self._held)
        self._held += data
        self._came_bytes += len(data)
        if self._size is None:
            self._size = size_of(self._held, searched)
        if self._size is not None and len(self._held) >= self._size:
            self._pass_on().data_received(bytes(self._held))
            return
        stage: Stage = "head" if self._size is None else "body"
        if stage != self.stage:
            self.enter(stage)

    def refuse(self, status: int, detail: str) -> None:
        """Answer that much, whatever has come, and close."""
        self._pass_on().refuse(status, detail)

    def shutdown(self) -> None:
        """The server ends: uvicorn asks each connection to."""
        self.transport.close()

    @property
    def _listed(self) -> "set[Arrival | H11Protocol]":
        return cast("set[Arrival | H11Protocol]", self._server_state.connections)

    def _pass_on(self) -> BoundedProtocol:
        """Let the parser have the connection."""
        self._listed.discard(self)
        if self._deadline is not None:
            self._deadline.cancel()
        parser = BoundedProtocol(self.counted_in, self._config, self._server_state, self._app_state, self.loop)
        self.counted_in.replaced(self, parser)
        self.transport.set_protocol(parser)
        parser.connection_made(self.transport)
        return parser


def protocol(connections: Connections) -> Callable[..., asyncio.Protocol]:
    """The protocol that uvicorn creates for each connection."""

    def make(**given: Any) -> Arrival:  # noqa: ANN401 - what uvicorn gives
        return Arrival(connections, **given)

    return make
