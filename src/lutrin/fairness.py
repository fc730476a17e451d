"""Turns for waiting readers: network peers take turns, and so do the sessions of each.

A peer that opens many sessions, or asks without one, only delays itself. Readers of one peer, such as a school behind
one address, wait for each other session by session.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import chain, count, zip_longest
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")
MAX_PEERS = 10_000
"""Peers whose turns are remembered; the one whose last turn is oldest is dropped first."""


class Lane(NamedTuple):
    """The queue of a reader."""

    peer: str
    """Network address; empty: unknown."""
    session: str


class FairQueue(Generic[Item]):
    """A queue in which asking more often gains nothing: first come, first served within a lane."""

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
        """Take an item, maybe out of turn; its peer and session move as in `pop`."""
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
    """A semaphore that shares its turns evenly among the peers that want one: start-time fair queuing.

    Virtual time is the start of the latest turn, and a peer's next turn starts where its last one ended, or now if that
    is past. The earliest start is next: expensive questions delay the peer that asks them, and a peer that comes back
    is neither owed anything nor behind (Goyal, Vin and Cheng, 1996). Equal peers, and the sessions of a peer, follow
    the order of a `FairQueue`.
    """

    def __init__(self, at_once: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._at_once = at_once
        self._share = Share(clock)
        self._now_s = 0.0
        """Virtual time."""
        self._ends: OrderedDict[str, float] = OrderedDict()
        """Peer -> virtual time at which its last turn ended."""
        self._holders: list[_Turn] = []
        self._waiting: FairQueue[asyncio.Future[_Turn]] = FairQueue()
        self._unnamed = count()

    @property
    def free(self) -> int:
        """Free turns."""
        return max(0, self._at_once - len(self._holders))

    @property
    def waiting(self) -> int:
        """Number of readers waiting for a turn."""
        return len(self._waiting)

    @asynccontextmanager
    async def turn(self, peer: str, session: str) -> AsyncIterator[None]:
        """Hold a turn; without a session, a reader waits in a lane of their own."""
        if self._admits(peer):
            turn = self._begin(peer)
        else:
            turn = await self._wait_for(Lane(peer, session or f"\0{next(self._unnamed)}"))
        began_s = self._share.change(1)
        try:
            yield
        finally:
            self._end(turn, self._share.change(-1) - began_s)

    def _admits(self, peer: str) -> bool:
        if len(self._holders) < self._at_once:
            return True
        is_one_more = len(self._holders) == self._at_once
        return is_one_more and not self._is_ahead(peer) and all(turn.is_ahead for turn in self._holders)

    def _is_ahead(self, peer: str) -> bool:
        return peer in self._ends and self._ends[peer] >= self._now_s

    def _begin(self, peer: str) -> "_Turn":
        turn = _Turn(peer, max(self._now_s, self._ends.get(peer, 0.0)), self._is_ahead(peer))
        self._now_s = turn.begin_s
        self._holders.append(turn)
        return turn

    def _end(self, turn: "_Turn", seconds: float) -> None:
        self._holders.remove(turn)
        self._ends[turn.peer] = max(self._ends.get(turn.peer, 0.0), turn.begin_s) + seconds
        self._ends.move_to_end(turn.peer)
        while len(self._ends) > MAX_PEERS:
            self._ends.popitem(last=False)
        self._pass_on()

    async def _wait_for(self, lane: Lane) -> "_Turn":
        place: asyncio.Future[_Turn] = asyncio.get_running_loop().create_future()
        self._waiting.push(lane, place)
        try:
            return await place
        except asyncio.CancelledError:
            if not place.cancelled():
                self._end(place.result(), 0.0)  # the turn came at the same moment
            else:
                self._waiting.discard(lane, place)
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            firsts = list(self._waiting.firsts())
            gone = [(lane, place) for lane, place in firsts if place.done()]
            for lane, place in gone:
                self._waiting.remove(lane, place)
            if gone:
                continue
            lane, place = min(firsts, key=lambda first: self._ends.get(first[0].peer, 0.0))
            if not self._admits(lane.peer):
                return
            self._waiting.take(lane, place)
            place.set_result(self._begin(lane.peer))


@dataclass(eq=False, frozen=True, slots=True)
class _Turn:
    """A turn in use."""

    peer: str
    begin_s: float
    """Start in virtual time."""
    is_ahead: bool
    """Whether its peer has had its share: its last turn ended no sooner, in virtual time, than the latest one began."""


class Share:
    """A clock of the time that each user of a shared resource has had, divided evenly among them."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sharing = 0
        self._counted_s = clock()
        self._share_s = 0.0

    def change(self, by: int) -> float:
        """Return the time; from now on this many more (or, below 0, fewer) share it."""
        now_s = self._clock()
        self._share_s += (now_s - self._counted_s) / max(1, self._sharing)
        self._counted_s = now_s
        self._sharing += by
        return self._share_s


def _turns(sessions: OrderedDict[str, deque[Item]]) -> list[Item]:
    return _in_turn([list(waiting) for waiting in sessions.values()])


def _in_turn(lanes: list[list[Item]]) -> list[Item]:
    """The first of each lane, then the second of each, and so on."""
    gap = object()
    rounds = chain.from_iterable(zip_longest(*lanes, fillvalue=gap))
    return [item for item in rounds if item is not gap]  # type: ignore[misc]  # what is no gap is an item
