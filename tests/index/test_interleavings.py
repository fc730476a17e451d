"""The shelf, cancelled at every wait while generations come and go: nothing stays open, and the newest is served."""

import asyncio
from itertools import count
from pathlib import Path

import pytest
from tests.fakes import ExactIndex, ExactStore
from tests.interleaving import cancel_at

from lutrin.index.generation import OpenGeneration, open_generation
from lutrin.index.shelf import Shelf
from lutrin.records import BookInfo

from .conftest import PAGES, Library

OTHER = BookInfo(slug="optics", title="Optics")
FEW = {name: PAGES[name] for name in list(PAGES)[:1]}


class WaitingStore(ExactStore):
    """Opens and closes collections after some turns of the loop, and counts those that are open."""

    def __init__(self) -> None:
        self.open_now = 0

    async def open(self, directory: Path, collection: str) -> "WaitingIndex":
        """Read a finished collection."""
        await asyncio.sleep(0)
        index = await super().open(directory, collection)
        index.__class__ = WaitingIndex
        assert isinstance(index, WaitingIndex)
        index.store = self
        self.open_now += 1
        return index


class WaitingIndex(ExactIndex):
    """One of its collections."""

    store: WaitingStore

    async def close(self) -> None:
        """Close it."""
        await asyncio.sleep(0)
        await super().close()
        self.store.open_now -= 1


def held(library: Library) -> list[str]:
    """Files of generations that this process has open."""
    found = []
    for link in Path("/proc/self/fd").iterdir():
        try:
            target = link.readlink()
        except OSError:
            continue
        if target.is_relative_to(library.books_dir):
            found.append(target.name)
    return found


@pytest.mark.parametrize("leased", [False, True])
async def test_a_refresh_that_is_cancelled_at_any_wait_leaves_nothing_open(library: Library, leased: bool) -> None:
    """A new generation of a book, of another one at times: the next refresh serves them, the close closes all."""
    store = WaitingStore()
    shelf = Shelf(library.catalog_path, library.books_dir, store, poll_s=1000)
    await library.publish("g0", FEW)
    await shelf.start()
    for wait in count():
        await library.publish(f"g{wait + 1}", FEW)
        if wait % 4 == 0:
            await library.publish(f"o{wait}", FEW, book=OTHER)
        if leased:
            async with shelf.lease() as generation:
                reached = await cancel_at(wait, shelf.refresh())
                assert await generation.all_chunks()
        else:
            reached = await cancel_at(wait, shelf.refresh())
        async with asyncio.timeout(10):
            await shelf.refresh()
            while shelf._retired:  # noqa: ASYNC110 - a close that was begun goes on
                await asyncio.sleep(0.001)
        assert f"g{wait + 1}" in {one.name for one in shelf.books()}
        assert store.open_now == len(shelf.books())
        if not reached:
            break
    await shelf.close()
    assert wait > 3
    assert (store.open_now, held(library)) == (0, [])


async def test_a_lease_that_is_cancelled_at_any_wait_is_given_back(library: Library) -> None:
    """Also by the last one of a generation that is withdrawn, which closes it."""
    store = WaitingStore()
    async with Shelf(library.catalog_path, library.books_dir, store, poll_s=1000) as shelf:
        await library.publish("g0", FEW)
        await shelf.refresh()
        for wait in count():

            async def read() -> None:
                async with shelf.lease() as generation:
                    await generation.matching("lidar", 1)
                    await library.publish(f"g{wait + 1}", FEW)  # noqa: B023 - it is awaited below
                    await shelf.refresh()

            reached = await cancel_at(wait, read())
            async with asyncio.timeout(10):
                await library.publish(f"h{wait}", FEW)
                await shelf.refresh()
                while store.open_now > 1:  # noqa: ASYNC110 - a close that was begun goes on
                    await asyncio.sleep(0.001)
            assert sum(one.leases for one in (*shelf._leases.values(), *shelf._retired)) == 0
            if not reached:
                return


async def test_opening_that_is_cancelled_at_any_wait_leaves_nothing_open(library: Library) -> None:
    """A cancelled task waits for the threads that open the files, and closes them."""
    await library.publish("g1", FEW)
    store = WaitingStore()
    opened: list[OpenGeneration] = []

    async def open_one() -> None:
        opened.append(await open_generation(library.books_dir / "robots" / "g1", store))

    for wait in count():
        for turns in (0, 1, 2, 5):
            await cancel_at(wait, open_one(), turns=turns)
            while opened:
                await opened.pop().close()
            assert (store.open_now, held(library)) == (0, [])
        if not await cancel_at(wait, open_one()):
            await opened.pop().close()
            return
