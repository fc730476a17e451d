"""Limits of rates and of disk space: how often one may ask, and whether there is room to store anything.

A session and its network peer each have a sliding window.
A window records the times of the questions that it admitted in the last minute, so `Retry-After` is exact. Everything
happens between two `await`s of one process: of fifty simultaneous questions, exactly as many are admitted as fit.
"""

import ipaddress
import math
import re
import shutil
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol, TypeVar

from litestar.types import Scope

from lutrin.errors import ChatStoreError, ChatStoreFull, LutrinError, RateLimited
from lutrin.log import get_logger
from lutrin.messages import PEER_FULL, TOO_MANY_QUESTIONS

WINDOW_S = 60.0
_PORT = re.compile(r"^\[([^]]*)\](?::\d+)?$|^([^:]*):\d+$")
FORWARDED = frozenset({b"x-forwarded-for", b"x-forwarded-host", b"forwarded", b"via", b"x-real-ip"})
"""Headers that a proxy adds."""
MOST_KEYS = 50_000
RECENT_S = 300.0
MOST_READERS = 10_000

V = TypeVar("V")
_log = get_logger("serve")


def remember(table: "OrderedDict[str, V]", key: str, value: V, most: int) -> None:
    """Set a value, and drop the oldest ones so that `most` stay."""
    table[key] = value
    table.move_to_end(key)
    while len(table) > most:
        table.popitem(last=False)


class SlidingWindow:
    """At most `limit` events of a key in any `WINDOW_S` seconds (0: no limit); drops the least recently used key."""

    def __init__(self, limit: int, clock: Callable[[], float], most_keys: int = MOST_KEYS) -> None:
        self._limit = limit
        self._clock = clock
        self._most_keys = most_keys
        self._admitted: OrderedDict[str, deque[float]] = OrderedDict()

    def wait_s(self, key: str) -> float:
        """Seconds until this key is admitted; 0 if it is admitted now."""
        if not self._limit or key not in self._admitted:
            return 0.0
        times = self._admitted[key]
        now = self._clock()
        while times and times[0] + WINDOW_S <= now:
            times.popleft()
        return 0.0 if len(times) < self._limit else times[0] + WINDOW_S - now

    def admit(self, key: str) -> None:
        """Count an event for this key."""
        if not self._limit:
            return
        times = self._admitted.get(key, deque())
        times.append(self._clock())
        remember(self._admitted, key, times, self._most_keys)


class Gate(Protocol):
    """Counts questions across servers that run side by side."""

    async def admit(self, wanted: Sequence[tuple[str, int]]) -> None:
        """Count a question under every key, or under none if one's limit per minute is reached.

        Raises:
            RateLimited: One of the limits is reached.
            ChatStoreError: The servers' shared store is away.
        """


class Limits:
    """Both limits as one gate: a question counts in both windows or in none. A rate of 0 means no limit.

    If a `gate` counts for several servers, this server's own windows only count while the gate is away.
    """

    def __init__(
        self, session_per_min: int, peer_per_min: int, clock: Callable[[], float], gate: Gate | None = None
    ) -> None:
        self._rates = (session_per_min, peer_per_min)
        self._windows = tuple(SlidingWindow(rate, clock) for rate in self._rates)
        self._gate = gate

    async def admit(self, session: str, peer: str) -> None:
        """Count a question; without a session, only for the peer.

        Raises:
            RateLimited: The session or the peer has asked too often; nothing was counted.
        """
        keys = (f"session {session}" if session else "", f"peer {peer}")
        if self._gate is not None:
            try:
                await self._gate.admit([pair for pair in zip(keys, self._rates, strict=True) if all(pair)])
            except ChatStoreError as error:
                _log.warning("shared_limits_away", detail=error.detail)
            else:
                return
        windows = [(key, window) for key, window in zip(keys, self._windows, strict=True) if key]
        wait_s = max(window.wait_s(key) for key, window in windows)
        if wait_s > 0:
            raise RateLimited(TOO_MANY_QUESTIONS, retry_after_s=max(1, math.ceil(wait_s)))
        for key, window in windows:
            window.admit(key)


class Presence:
    """Counts the readers of the last five minutes without revealing them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._seen_s: OrderedDict[str, float] = OrderedDict()

    def note(self, reader: str) -> None:
        """Record that a reader has asked."""
        remember(self._seen_s, reader, self._clock(), MOST_READERS)

    def count(self) -> int:
        """Number of readers who asked in the last five minutes."""
        since_s = self._clock() - RECENT_S
        return sum(seen_s >= since_s for seen_s in self._seen_s.values())


def peer_of(address: str, forwarded_for: str, trusted: Sequence[str]) -> str:
    """A client's address (IPv6: its /64, a household's): the last one before the trusted proxies.

    All machines of a network share one /64 of link-local addresses, so each of these counts on its own.

    Some proxies include the client's port: `192.0.2.1:5678`, `[2001:db8::1]:5678`.
    """
    peer = _address(address)
    hops = [_PORT.sub(r"\1\2", hop.strip()) for hop in forwarded_for.split(",") if hop.strip()]
    while hops and peer is not None and is_within(str(peer), trusted):
        peer = _address(hops.pop())
    if peer is None:
        return "unknown"
    if peer.version == 4 or peer.is_link_local:
        return str(peer).partition("%")[0]
    return str(ipaddress.ip_network((peer, 64), strict=False))


def peer_of_scope(scope: Scope, trusted: Sequence[str]) -> str:
    """The address that a request comes from; see `peer_of`.

    X-Forwarded-For on several lines is one list, in the order of the lines (RFC 9110, section 5.3): a proxy may add its
    own line instead of extending the client's.
    """
    client = scope.get("client")
    forwarded = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    return peer_of(client[0] if client else "", forwarded.decode("latin-1"), trusted)


def is_this_machine(scope: Scope) -> bool:
    """Whether a request comes from a program on this machine, and not through a proxy on it."""
    client = scope.get("client")
    ip = _address(client[0]) if client else None
    return ip is not None and ip.is_loopback and not any(name in FORWARDED for name, _ in scope["headers"])


def is_within(address: str, networks: Sequence[str]) -> bool:
    """Whether an address is in the list, or in one of its networks."""
    ip = _address(address)
    return ip is not None and any(ip in network for network in map(_network, networks))


@lru_cache(maxsize=256)
def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    return ipaddress.ip_network(text, strict=False)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        ip = ipaddress.ip_address(text)
    except ValueError:
        return None
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return mapped or ip


DAY_S = 86_400.0
MOST_PEERS = 50_000
LOOK_EVERY_S = 2.0
LEAST_BYTES = 256 * 1024
"""Opening a database takes an index of its log, 32 kB, and its first page: this is room for all of ours."""


def free_bytes(folder: Path) -> int:
    """Free bytes on a folder's disk."""
    return shutil.disk_usage(folder).free


def require_room(folder: Path, look: Callable[[Path], int] = free_bytes) -> None:
    """Raise LutrinError on a full disk, where databases could not be opened, not even for reading."""
    if look(_there(folder)) < LEAST_BYTES:
        raise LutrinError(f"The disk of {folder} is full.", remedy="Free some space, then start again.")


def _there(folder: Path) -> Path:
    return next(path for path in (folder, *folder.resolve().parents) if path.exists())


class FreeSpace:
    """Checks the disk at most every two seconds; `floor_bytes` stay free, 0: no floor."""

    def __init__(
        self, folder: Path, floor_bytes: int, clock: Callable[[], float], look: Callable[[Path], int] = free_bytes
    ) -> None:
        self._folder = _there(folder)
        self._floor_bytes = floor_bytes
        self._clock = clock
        self._look = look
        self._looked_s = -LOOK_EVERY_S
        self._free_bytes = 0
        self.failed = False
        """Whether the last attempt to store failed for another reason than a quota."""

    @property
    def free_bytes(self) -> int:
        """Free bytes, at most two seconds old."""
        now_s = self._clock()
        if now_s - self._looked_s >= LOOK_EVERY_S:
            self._looked_s = now_s
            try:
                self._free_bytes = self._look(self._folder)
            except OSError:  # a disk that cannot be asked has no room
                self._free_bytes = 0
        return self._free_bytes

    @property
    def low(self) -> bool:
        """Whether free space has fallen to the floor."""
        return bool(self._floor_bytes) and self.free_bytes < self._floor_bytes


class Allowance:
    """Bytes per day that one network peer may store for all its requests without a browser's secret.

    A secret identifies a reader, whose conversations are counted in the store. A request without one is a new reader
    each time, so only the network can be counted; the counts end with the server.
    """

    def __init__(self, limit_bytes: int, clock: Callable[[], float]) -> None:
        self._limit_bytes = limit_bytes
        self._clock = clock
        self._used: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def take(self, peer: str, size_bytes: int) -> None:
        """Count bytes about to be stored for a peer (`limits.peer_of`); empty: the reader is known, and has a limit.

        Raises:
            ChatStoreFull: There is no room left today; nothing was counted.
        """
        if not peer:
            return
        now_s = self._clock()
        since_s, used = self._used.get(peer, (now_s, 0))
        if since_s + DAY_S <= now_s:
            since_s, used = now_s, 0
        if used + size_bytes > self._limit_bytes:
            raise ChatStoreFull(PEER_FULL)
        remember(self._used, peer, (since_s, used + size_bytes), MOST_PEERS)
