"""A server reads its books once, so that the first reader waits no longer than the second."""

import asyncio

import pytest
from tests.answer.test_ahead import until

from lutrin.answer import at_hand
from lutrin.answer.traffic import Traffic
from lutrin.index.generation import OpenGeneration
from lutrin.index.shelf import Shelf
from lutrin.records import Chunk
from lutrin.wiring_parts import in_background

WORD = "battery"


async def found_in(generation: OpenGeneration) -> tuple[dict[str, int], list[tuple[str, float]], list[Chunk]]:
    """What a search for a word reads."""
    matches = await generation.matching(WORD, 5)
    chunks = await generation.chunks([name for name, _ in matches])
    return await generation.document_frequency([WORD]), matches, chunks


async def test_what_a_search_reads_is_at_hand(shelf: Shelf) -> None:
    """A book that was read is searched while its database cannot be used, with the same results as before."""
    async with shelf.lease() as generation:
        await at_hand.read(generation, Traffic())
        with generation._reading:
            async with asyncio.timeout(5):
                known = await found_in(generation)
    await shelf.close()
    await shelf.start()
    async with shelf.lease() as fresh:
        assert known == await found_in(fresh)
        assert known[0] == {WORD: 1}


async def test_every_book_is_read_and_every_one_once(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is on the shelf is read, what was read is not read again, and a generation that comes is."""
    read: list[str] = []

    async def note(generation: OpenGeneration, _traffic: Traffic) -> None:
        read.append(generation.name)

    monkeypatch.setattr(at_hand, "read", note)
    monkeypatch.setattr(at_hand, "POLL_S", 0.01)
    async with in_background(at_hand.follow(shelf, Traffic()), name="at-hand"):
        await until(lambda: bool(read))
        await asyncio.sleep(0.1)
        assert read == [generation.name for generation in shelf.books()]
        held = shelf.books()[0]
        monkeypatch.setattr(held, "name", "renewed")
        await until(lambda: read[-1] == "renewed")
        assert len(read) == 2


async def test_whoever_is_answered_comes_first(shelf: Shelf) -> None:
    """Nothing of a book is read while a reader waits, and all of it afterwards."""
    traffic = Traffic()
    async with shelf.lease() as generation:
        with traffic.searching():
            reading = asyncio.create_task(at_hand.read(generation, traffic))
            await asyncio.sleep(0.2)
            assert not generation._kept
        await reading
        assert len(generation._kept) == generation.manifest.chunks
