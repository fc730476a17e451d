"""The waiting readers: first come, first served within a session, and sessions take turns."""

from collections import OrderedDict, deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class FairQueue(Generic[Item]):
    """A queue in which no session can keep another waiting by asking more often."""

    def __init__(self) -> None:
        self._lanes: OrderedDict[str, deque[Item]] = OrderedDict()
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def push(self, session: str, item: Item) -> None:
        """Add an item at the end of its session's lane; a new lane's turn comes after all others."""
        self._lanes.setdefault(session, deque()).append(item)
        self._length += 1

    def peek(self) -> Item:
        """The item that `pop` would return."""
        return next(iter(self._lanes.values()))[0]

    def pop(self) -> Item:
        """Take the next item; its session moves to the end of the round."""
        session, lane = self._lanes.popitem(last=False)
        item = lane.popleft()
        if lane:
            self._lanes[session] = lane
        self._length -= 1
        return item

    def remove(self, session: str, item: Item) -> None:
        """Remove an item from any place in the queue.

        Raises:
            KeyError, ValueError: It is not in the queue.
        """
        lane = self._lanes[session]
        lane.remove(item)
        if not lane:
            del self._lanes[session]
        self._length -= 1

    def order(self) -> list[Item]:
        """All items in the order in which `pop` would return them."""
        lanes = [list(lane) for lane in self._lanes.values()]
        longest = max((len(lane) for lane in lanes), default=0)
        return [lane[turn] for turn in range(longest) for lane in lanes if turn < len(lane)]
