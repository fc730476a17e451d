"""Who waits is served in turn: peer by peer, and session by session of each."""

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lutrin.fairness import FairQueue, FairTurns, Lane

Item = tuple[str, str, int]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy"), st.integers(0, 99))))
def test_a_fair_queue_gives_what_it_announces(items: list[Item]) -> None:
    """`order` foretells `pop`; within a lane nobody overtakes; between two turns of a peer all others have one."""
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
    """A reader who comes last has the second turn; who leaves the queue holds nobody up."""
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
    """Nobody holds it for ever."""
    turns = FairTurns(1)
    async with turns.turn("one", ""):
        leaving = asyncio.create_task(turns.turn("two", "").__aenter__())
        await asyncio.sleep(0)
    leaving.cancel()
    await asyncio.gather(leaving, return_exceptions=True)
    async with asyncio.timeout(1), turns.turn("three", ""):
        pass
