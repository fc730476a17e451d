"""The door for a class: a second listener on this machine's network addresses, opened and closed at run time.

The server itself only listens on the loopback, unless its operator opened it to the network for good. The door listens
on the same port of each of the machine's network addresses, so that pupils type the address shown on the page. Closing
it cuts the connections that came through it; local ones continue.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Protocol

from lutrin.errors import InvalidInput
from lutrin.log import get_logger
from lutrin.messages import DOOR_TAKEN, NO_NETWORK

_log = get_logger("serve")


class Connection(Protocol):
    """A connection, as seen by the server that accepted it."""

    @property
    def server(self) -> tuple[str, int | None] | None:
        """The address of this machine that it connects to."""

    @property
    def transport(self) -> asyncio.Transport:
        """Its transport."""


Accept = Callable[[socket.socket], Awaitable[asyncio.Server]]


class Door:
    """Opens and closes the second listener.

    Args:
        host: The address that the server listens on.
        addresses: Returns this machine's network addresses, the likeliest first.
    """

    def __init__(self, host: str, addresses: Callable[[], list[str]]) -> None:
        self._is_local = _is_loopback(host)
        self._addresses = addresses
        self._listeners: dict[str, asyncio.Server] = {}
        self._accept: Accept | None = None
        self._connections: Callable[[], Iterable[Connection]] = tuple
        self._port = 0

    def install(self, port: int, accept: Accept, connections: Callable[[], Iterable[Connection]]) -> None:
        """Set how to serve a listener, and the source of connections; until then the door stays shut."""
        self._port, self._accept, self._connections = port, accept, connections

    @property
    def is_possible(self) -> bool:
        """Whether it can be opened: the server is local, and not part of another program."""
        return self._is_local and self._accept is not None

    @property
    def address(self) -> str:
        """The address for pupils while it is open; empty if it is shut."""
        return next((f"http://{address}:{self._port}/" for address in self._listeners), "")

    async def open(self) -> None:
        """Open the door to the network; an open one stays open.

        Raises:
            InvalidInput: The machine has no network, or its port there is taken.
        """
        addresses = self._addresses()
        if not self.is_possible or self._accept is None or not addresses:
            raise InvalidInput(NO_NETWORK)
        await self._shut(set(self._listeners) - set(addresses))
        for address in addresses:
            if address not in self._listeners:
                with suppress(OSError):  # of several networks one may be enough
                    self._listeners[address] = await self._accept(_bound(address, self._port))
        if not self._listeners:
            raise InvalidInput(DOOR_TAKEN.format(port=self._port))
        _log.info("door_opened", addresses=len(self._listeners))

    async def close(self) -> None:
        """Shut the door and cut the connections that came through it."""
        await self._shut(set(self._listeners))
        _log.info("door_closed")

    async def follow(self) -> None:
        """Move an open door to the machine's present addresses, for example after a change of network."""
        if self._listeners and set(self._listeners) != set(self._addresses()):
            with suppress(InvalidInput):
                await self.open()

    async def _shut(self, addresses: set[str]) -> None:
        for address in addresses:
            self._listeners.pop(address).close()
        for connection in list(self._connections()):
            if connection.server is not None and connection.server[0] in addresses:
                connection.transport.abort()


def _bound(address: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.setblocking(False)  # noqa: FBT003 - the standard library names it by its place alone
    except OSError:
        listener.close()
        raise
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
