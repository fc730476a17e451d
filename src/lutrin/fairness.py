"""Turns for readers who wait: network peers take turns, and so do the sessions of each.

Whoever opens many sessions, or asks without one, delays themselves and no other peer. Readers of one peer, as of a
school behind one address, wait for each other session by session.
"""

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import chain, count, zip_longest
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
HALF_LIFE_S = 30.0
"""After so long, the time for which a peer has held turns counts half."""
MAX_PEERS = 10_000
"""Peers whose use is remembered; the one that held a turn longest ago is forgotten first."""


class Lane(NamedTuple):
    """Where somebody waits."""

    peer: str
    """Network address; empty: unknown."""
    session: str


class FairQueue(Generic[Item]):
    """A queue in which nobody keeps another waiting by asking more often: first come, first served within a lane."""

    def __init__(self) -> None:
        self._peers: OrderedDict[str, OrderedDict[str, deque[Item]]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def push(self, lane: Lane, item: Item) -> None:
        """Add an item at the end of its lane; a new lane's turn comes after all others of its peer."""
        self._peers.setdefault(lane.peer, OrderedDict()).setdefault(lane.session, deque()).append(item)
        self._length += 1

    def pop(self) -> Item:
        """Take the next item; its peer, and its session among the peer's, moves to the end of the round."""
        return self.take(*next(self.firsts()))

    def firsts(self) -> Iterator[tuple[Lane, Item]]:
        """Yield the next item of each peer, with its lane, in the order of the peers' turns; `pop` takes the first."""
        for peer, sessions in self._peers.items():
            session, waiting = next(iter(sessions.items()))
            yield Lane(peer, session), waiting[0]

    def take(self, lane: Lane, item: Item) -> Item:
        """Take an item, maybe out of turn; its peer and session move likewise."""
        self.remove(lane, item)
        if sessions := self._peers.get(lane.peer):
            self._peers.move_to_end(lane.peer)
            if lane.session in sessions:
                sessions.move_to_end(lane.session)
        return item

    def remove(self, lane: Lane, item: Item) -> None:
        """Remove an item from any place in the queue.

        Raises:
            KeyError, ValueError: It is not in the queue.
        """
        sessions = self._peers[lane.peer]
        sessions[lane.session].remove(item)
        if not sessions[lane.session]:
            del sessions[lane.session]
        if not sessions:
            del self._peers[lane.peer]
        self._length -= 1

    def discard(self, lane: Lane, item: Item) -> None:
        """Remove an item if it is in the queue."""
        with suppress(KeyError, ValueError):
            self.remove(lane, item)

    def crowding(self, peer: str) -> Item | None:
        """The last item of the peer with most items, to give way to one of another peer; None: this one has as many."""
        counts = {name: sum(map(len, sessions.values())) for name, sessions in self._peers.items()}
        most = max(counts, key=counts.__getitem__, default=peer)
        return _turns(self._peers[most])[-1] if counts.get(most, 0) > counts.get(peer, 0) + 1 else None

    def order(self) -> list[Item]:
        """All items in the order in which `pop` would return them."""
        return _in_turn([_turns(sessions) for sessions in self._peers.values()])


class FairTurns:
    """A semaphore that admits the waiting peer that has held turns for the shortest time of late.

    Among peers alike, and within a peer, the order is that of a `FairQueue`: whoever asks dear questions delays
    themselves, and waits while others ask cheap ones.

    A reader may be cancelled at any moment. The task leaves the queue one turn of the loop after its future; a turn
    that is passed on meanwhile skips futures that are done, as `asyncio.Semaphore` does.
    """

    def __init__(self, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._free = at_once
        self._clock = clock
        self._used: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Peer -> seconds for which it has held turns, as far as they still count, and when that was."""
        self._waiting: FairQueue[asyncio.Future[None]] = FairQueue()
        self._unnamed = count()

    @property
    def free(self) -> int:
        """Turns that nobody holds."""
        return self._free

    @property
    def waiting(self) -> int:
        """Readers who wait for a turn."""
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, peer: str, session: str) -> AsyncIterator[None]:
        """Hold a turn; without a session, a reader waits in a lane of their own."""
        if self._free:
            self._free -= 1
        else:
            await self._wait_for(Lane(peer, session or f"\0{next(self._unnamed)}"))
        began_s = self._clock()
        try:
            yield
        finally:
            self._note_use(peer, self._clock() - began_s)
            self._pass_on()

    async def _wait_for(self, lane: Lane) -> None:
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.push(lane, place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self._pass_on()  # the turn came at the same moment
            else:
                self._waiting.discard(lane, place)
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            firsts = list(self._waiting.firsts())
            gone = [(lane, place) for lane, place in firsts if place.done()]
            for lane, place in gone:
                self._waiting.remove(lane, place)
            if not gone:
                lane, place = min(firsts, key=lambda first: self._used_s(first[0].peer))
                self._waiting.take(lane, place)
                place.set_result(None)
                return
        self._free += 1

    def _used_s(self, peer: str) -> float:
        used_s, then_s = self._used.get(peer, (0.0, 0.0))
        return used_s * math.exp2((then_s - self._clock()) / HALF_LIFE_S)

    def _note_use(self, peer: str, seconds: float) -> None:
        self._used[peer] = (self._used_s(peer) + seconds, self._clock())
        self._used.move_to_end(peer)
        while len(self._used) > MAX_PEERS:
            self._used.popitem(last=False)


def _turns(sessions: OrderedDict[str, deque[Item]]) -> list[Item]:
    return _in_turn([list(waiting) for waiting in sessions.values()])


def _in_turn(lanes: list[list[Item]]) -> list[Item]:
    """The first of each lane, then the second of each, and so on."""
    gap = object()
    rounds = chain.from_iterable(zip_longest(*lanes, fillvalue=gap))
    return [item for item in rounds if item is not gap]  # type: ignore[misc]  # what is no gap is an item
