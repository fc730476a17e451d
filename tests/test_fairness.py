"""Fair turns: peer by peer, and session by session of each peer."""

import asyncio
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from lutrin.fairness import FairQueue, FairTurns, Lane, Share

Item = tuple[str, str, int]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.integers(0, 99))))
def test_a_fair_queue_gives_what_it_announces(items: list[Item]) -> None:
    """`order` predicts `pop`; within a lane the order stays; between two turns of a peer all others have one."""
    queue: FairQueue[Item] = FairQueue()
    for item in items:
        queue.push(Lane(*item[:2]), item)
    order = queue.order()
    popped: list[Item] = []
    while len(queue):
        assert queue.order() == order[len(popped) :]
        popped.append(queue.pop())
    assert popped == order
    assert Counter(popped) == Counter(items)
    for lane in {item[:2] for item in items}:
        assert [item for item in popped if item[:2] == lane] == [item for item in items if item[:2] == lane]
    turns = [peer for peer, _, _ in popped]
    for here, peer in enumerate(turns):
        again = turns.index(peer, here + 1) if peer in turns[here + 1 :] else len(turns)
        assert set(turns[here + 1 : again]) >= set(turns[again:]) - {peer}


def test_who_is_taken_out_of_turn_has_had_it() -> None:
    """Peer and session move to the end of the round, as if it had been their turn."""
    queue: FairQueue[str] = FairQueue()
    for name in ("a1", "a2", "b1", "b2", "c1"):
        queue.push(Lane(name[0], ""), name)
    assert queue.take(Lane("b", ""), "b1") == "b1"
    assert (queue.order(), len(queue)) == (["a1", "c1", "b2", "a2"], 4)


def test_sessions_of_a_peer_take_turns_within_its_own() -> None:
    """However many sessions one opens, every second turn is the other's."""
    queue: FairQueue[str] = FairQueue()
    for number in range(6):
        queue.push(Lane("crowd", f"session {number % 3}"), f"crowd {number}")
    for number in range(2):
        queue.push(Lane("reader", "one"), f"reader {number}")
    assert queue.order()[:5] == ["crowd 0", "reader 0", "crowd 1", "reader 1", "crowd 2"]


def test_who_waits_most_gives_way() -> None:
    """But not to one of its own, nor to a peer that has as many."""
    queue: FairQueue[str] = FairQueue()
    for number in range(3):
        queue.push(Lane("crowd", str(number)), f"crowd {number}")
    assert queue.crowding("crowd") is None
    assert queue.crowding("reader") == "crowd 2"
    queue.push(Lane("reader", "one"), "reader 0")
    queue.push(Lane("reader", "one"), "reader 1")
    assert queue.crowding("reader") is None


async def test_turns_are_given_as_the_queue_has_it() -> None:
    """A new reader gets the second turn; a reader who leaves the queue delays no one."""
    turns, served = FairTurns(1), []

    async def wait(peer: str, name: str) -> None:
        async with turns.turn(peer, ""):
            served.append(name)

    async with turns.turn("somebody", ""):
        waiting = [asyncio.create_task(wait("crowd", f"crowd {number}")) for number in range(4)]
        await asyncio.sleep(0)
        waiting.append(asyncio.create_task(wait("reader", "reader")))
        await asyncio.sleep(0)
        waiting[2].cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert served == ["crowd 0", "reader", "crowd 1", "crowd 3"]
    await wait("reader", "again")
    assert served[-1] == "again"


async def test_a_turn_that_comes_as_its_reader_leaves_is_passed_on() -> None:
    """The next reader has it at once, and it is free afterwards."""
    turns = FairTurns(1)
    async with turns.turn("one", ""):
        leaving = asyncio.create_task(turns.turn("two", "").__aenter__())
        await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    assert leaving.cancelled()
    async with asyncio.timeout(1), turns.turn("three", ""):
        assert (turns.free, turns.waiting) == (0, 0)
    assert (turns.free, turns.waiting) == (1, 0)


async def test_a_turn_is_not_passed_to_a_reader_who_is_gone() -> None:
    """The reader who waits next has it, though the one before left in the same moment as the holder."""
    turns, holding = FairTurns(1), asyncio.Event()

    async def hold() -> None:
        async with turns.turn("one", ""):
            await holding.wait()

    async def have() -> None:
        async with turns.turn("three", ""):
            pass

    holder = asyncio.create_task(hold())
    await asyncio.sleep(0)
    leaving = asyncio.create_task(turns.turn("two", "").__aenter__())
    staying = asyncio.create_task(have())
    await asyncio.sleep(0)
    holding.set()
    leaving.cancel()
    async with asyncio.timeout(1):
        await asyncio.gather(holder, leaving, staying, return_exceptions=True)
    assert (holder.exception(), staying.exception(), leaving.cancelled()) == (None, None, True)
    assert (turns.free, turns.waiting) == (1, 0)


class Clock:
    """Time that passes while turns are held."""

    def __init__(self, at_once: int = 1) -> None:
        self.now_s = 0.0
        self.turns = FairTurns(at_once, clock=lambda: self.now_s)
        self.served: list[str] = []

    async def hold(self, peer: str, seconds: float) -> None:
        """Have a turn for so long."""
        async with self.turns.turn(peer, ""):
            self.served.append(peer)
            self.now_s += seconds
            await asyncio.sleep(0)

    async def until(self, count: int) -> None:
        """Wait until so many have been served."""
        while len(self.served) < count:  # noqa: ASYNC110 - the readers only say what they had
            await asyncio.sleep(0)


async def test_dear_turns_are_charged_to_the_peer_that_has_them() -> None:
    """Beside four peers with turns of five seconds, one with cheap turns waits for a single one."""
    clock = Clock()
    async with clock.turns.turn("somebody", ""):
        dear = [asyncio.create_task(clock.hold(peer, 5.0)) for _ in range(3) for peer in "abcd"]
        await asyncio.sleep(0)
    await clock.until(6)
    for _ in range(3):
        await clock.hold("honest", 1.0)
    await asyncio.gather(*dear)
    places = [place for place, peer in enumerate(clock.served) if peer == "honest"]
    assert places[-1] - places[0] <= 4


async def test_who_has_asked_alone_for_long_does_not_wait_until_newcomers_have_had_as_much() -> None:
    """One turn of each of them, and then it is served as often as they are."""
    clock = Clock()
    for _ in range(100):
        await clock.hold("honest", 1.0)
    async with clock.turns.turn("somebody", ""):
        dear = [asyncio.create_task(clock.hold(peer, 5.0)) for _ in range(3) for peer in "abcd"]
        await asyncio.sleep(0)
        honest = [asyncio.create_task(clock.hold("honest", 1.0)) for _ in range(3)]
        await asyncio.sleep(0)
    await asyncio.gather(*dear, *honest)
    assert clock.served[100:].index("honest") <= 4
    assert clock.served[100:109].count("honest") == 3


async def test_who_is_behind_goes_beside_a_peer_that_is_ahead() -> None:
    """It does not wait for an expensive question; a peer that is ahead itself, or a third one, waits."""
    turns, first, second = FairTurns(1), asyncio.Event(), asyncio.Event()

    async def hold(peer: str, until: asyncio.Event) -> str:
        async with turns.turn(peer, ""):
            await until.wait()
        return peer

    for peer in ("dear", "dear", "dear"):
        async with turns.turn(peer, ""):
            await asyncio.sleep(0.01)
    dear = asyncio.create_task(hold("dear", first))
    await asyncio.sleep(0)
    others = [asyncio.create_task(hold(peer, second)) for peer in ("dear", "cheap", "late")]
    await asyncio.sleep(0)
    assert (turns.free, turns.waiting) == (0, 2)
    second.set()
    async with asyncio.timeout(1):
        assert await others[1] == "cheap"
        assert await others[2] == "late"
    assert (dear.done(), others[0].done()) == (False, False)
    first.set()
    async with asyncio.timeout(1):
        await asyncio.gather(dear, *others)
    assert (turns.free, turns.waiting) == (1, 0)


def test_processor_time_is_parted_among_those_who_use_it_at_the_same_time() -> None:
    """A search does not pay for an expensive question that runs at the same time."""
    now_s = [0.0]
    share = Share(lambda: now_s[0])
    first = share.change(1)
    now_s[0] = 4.0
    second = share.change(1)
    now_s[0] = 6.0
    assert share.change(-1) - second == 1.0
    now_s[0] = 9.0
    assert share.change(-1) - first == 8.0


class Reader:
    """A reader who waits for a turn, and holds it until told to leave."""

    def __init__(self, turns: FairTurns, lane: Lane, loop: asyncio.AbstractEventLoop) -> None:
        self.holds = False
        self._turns, self._lane = turns, lane
        self.leave = asyncio.Event()
        self.task = loop.create_task(self._have_a_turn())

    async def _have_a_turn(self) -> None:
        async with self._turns.turn(*self._lane):
            self.holds = True
            try:
                await self.leave.wait()
            finally:
                self.holds = False


class TurnsInEveryOrder(RuleBasedStateMachine):
    """Readers come, leave and are cancelled between any two turns of the loop."""

    @initialize(at_once=st.integers(1, 3))
    def open(self, at_once: int) -> None:
        """Begin with all turns free."""
        self.loop = asyncio.new_event_loop()
        self.at_once, self.turns, self.readers = at_once, FairTurns(at_once), list[Reader]()

    @rule(lanes=st.lists(st.builds(Lane, st.sampled_from("ab"), st.sampled_from(["", "x"])), min_size=1, max_size=4))
    def come(self, lanes: list[Lane]) -> None:
        """Readers ask for a turn."""
        self.readers += [Reader(self.turns, lane, self.loop) for lane in lanes]

    @precondition(lambda self: self.readers)
    @rule(going=st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=6))
    def go(self, going: list[tuple[int, bool]]) -> None:
        """Readers leave in the same moment, in order or cancelled, holding or waiting."""
        present = [reader for reader in self.readers if not reader.task.done()]
        for which, cancelled in going if present else ():
            reader = present[which % len(present)]
            reader.task.cancel() if cancelled else reader.leave.set()

    @rule()
    def pass_turn_of_loop(self) -> None:
        """The event loop runs once."""
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()

    @rule()
    def settle(self) -> None:
        """Once nothing moves, turns free and held are all, but for one beside; none is free while a reader waits."""
        for _ in range(3 * len(self.readers) + 3):
            self.pass_turn_of_loop()
        held = sum(reader.holds for reader in self.readers)
        ended = [reader.task for reader in self.readers if reader.task.done()]
        assert [task for task in ended if not task.cancelled() and task.exception()] == []
        assert self.turns.free == max(0, self.at_once - held)
        assert self.turns.waiting == len(self.readers) - len(ended) - held
        assert not (self.turns.waiting and self.turns.free)

    @invariant()
    def nobody_comes_in_beside_them(self) -> None:
        """At no moment do more readers hold a turn than there are, and one beside them."""
        if hasattr(self, "readers"):
            assert sum(reader.holds for reader in self.readers) <= self.at_once + 1

    def teardown(self) -> None:
        """Remaining waiters are served when the others leave."""
        if not hasattr(self, "readers"):
            return
        for reader in self.readers:
            reader.leave.set()
        self.settle()
        assert all(reader.task.done() for reader in self.readers)
        assert (self.turns.free, self.turns.waiting) == (self.at_once, 0)
        self.loop.close()


TestTurnsInEveryOrder = TurnsInEveryOrder.TestCase
TestTurnsInEveryOrder.settings = settings(max_examples=100, stateful_step_count=20, deadline=None)


class QueueInEveryOrder(RuleBasedStateMachine):
    """Items are pushed, popped, taken out of turn, removed and discarded again."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: FairQueue[int] = FairQueue()
        self.inside: dict[int, Lane] = {}
        self.gone: dict[int, Lane] = {}

    def _out(self, item: int) -> None:
        self.gone[item] = self.inside.pop(item)

    @rule(peer=st.sampled_from("abc"), session=st.sampled_from("xy"))
    def push(self, peer: str, session: str) -> None:
        """Somebody comes."""
        item = len(self.inside) + len(self.gone)
        self.inside[item] = Lane(peer, session)
        self.queue.push(self.inside[item], item)

    @precondition(lambda self: self.inside)
    @rule()
    def pop(self) -> None:
        """Take the next item; it is the announced one."""
        lane, item = next(self.queue.firsts())
        assert self.inside[item] == lane
        assert self.queue.order()[0] == item == self.queue.pop()
        self._out(item)

    @precondition(lambda self: self.inside)
    @rule(which=st.integers(0, 99), act=st.sampled_from(["take", "remove", "discard"]))
    def leave(self, which: int, act: str) -> None:
        """Somebody goes out of turn."""
        item = list(self.inside)[which % len(self.inside)]
        getattr(self.queue, act)(self.inside[item], item)
        self._out(item)

    @precondition(lambda self: self.gone)
    @rule(which=st.integers(0, 99))
    def leave_again(self, which: int) -> None:
        """Leaving twice changes nothing."""
        item = list(self.gone)[which % len(self.gone)]
        self.queue.discard(self.gone[item], item)

    @invariant()
    def who_is_inside_is_in_the_order_once(self) -> None:
        """Nothing is lost, and nothing is there twice."""
        assert Counter(self.queue.order()) == Counter(list(self.inside))
        assert len(self.queue) == len(self.inside)


TestQueueInEveryOrder = QueueInEveryOrder.TestCase
