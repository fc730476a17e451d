"""Every store of assignments, encrypted on a disk or in PostgreSQL, counts results without identifying pupils."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.remote.postgres import database

from lutrin.chats.key import new_key
from lutrin.chats.store import ChatTables, SqlChatStore
from lutrin.errors import NotFound
from lutrin.records import CardCount
from lutrin_remote.postgres_chats import PostgresChatStore


@pytest.fixture(params=["sqlcipher", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ChatTables]:
    """Each kind of store, with one assignment."""
    opened: ChatTables
    if request.param == "sqlcipher":
        opened = await SqlChatStore.open(tmp_path / "chats.db", new_key())
        await opened.assignments.add("abc", '{"title": "Sensors"}')
        yield opened
        await opened.close()
        return
    async with database(request.getfixturevalue("postgres")) as url:
        opened = await PostgresChatStore.open(url, new_key())
        await opened.assignments.add("abc", '{"title": "Sensors"}')
        yield opened
        await opened.close()


async def test_what_is_sent_twice_counts_once(store: ChatTables) -> None:
    """A phone that never heard that its results had arrived sends them again."""
    assignments = store.assignments
    assert await assignments.count("abc", "r1", {"c1": True, "c2": False}, opened=True)
    assert not await assignments.count("abc", "r1", {"c1": True, "c2": False}, opened=True)
    assert await assignments.count("abc", "r2", {"c2": False}, finished=True)
    stored = await assignments.get("abc")
    assert (stored.opened, stored.finished, stored.body) == (1, 1, '{"title": "Sensors"}')
    assert await assignments.card_counts("abc") == {
        "c1": CardCount(tries=1, missed=0),
        "c2": CardCount(tries=2, missed=2),
    }


async def test_thirty_phones_at_once_are_all_counted(store: ChatTables) -> None:
    """None of them waits for ever, and none is lost."""
    assignments = store.assignments
    each = [{f"c{card}": card % 3 != 0 for card in range(10)} for _ in range(30)]
    await asyncio.gather(
        *(assignments.count("abc", f"r{place}", known, opened=True) for place, known in enumerate(each))
    )
    assert (await assignments.get("abc")).opened == 30
    counts = await assignments.card_counts("abc")
    assert {count.tries for count in counts.values()} == {30}
    assert counts["c3"].missed == 30
    assert counts["c4"].missed == 0


async def test_what_is_forgotten_is_gone(store: ChatTables) -> None:
    """Its counts too; the others stay, and results that come later are refused."""
    assignments = store.assignments
    await assignments.add("def", "{}")
    await assignments.count("abc", "r1", {"c1": True})
    await assignments.forget("abc")
    assert [one.id for one in await assignments.all()] == ["def"]
    assert await assignments.card_counts("abc") == {}
    with pytest.raises(NotFound, match="over"):
        await assignments.count("abc", "r2", {"c1": True})
    with pytest.raises(NotFound):
        await assignments.forget("abc")
