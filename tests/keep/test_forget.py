"""`lutrin forget` deletes for good, and says how many; wrong usage is told apart from nothing found."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner, Result

from lutrin.chats.key import chat_key
from lutrin.chats.store import SqlChatStore
from lutrin.cli.keep import forget

from .conftest import House, message


def call(house: House, *arguments: str) -> Result:
    """The command on this data folder."""
    return CliRunner().invoke(forget, [*arguments, "--data-dir", str(house.settings.data_dir)])


async def store_at(house: House, when: datetime, session: str) -> None:
    """A conversation that was used at some time."""
    store = await SqlChatStore.open(house.settings.chats_path, chat_key(house.settings), lambda: when)
    await store.append(session, [message(f"of {session}")])
    await store.close()


async def sessions(house: House, *ids: str) -> list[str]:
    """The ids that have messages."""
    store = await house.chats()
    found = [name for name in ids if await store.history(name)]
    await store.close()
    return found


@pytest.fixture
async def talked(house: House) -> House:
    """A conversation of today and one of forty days ago."""
    await store_at(house, datetime.now(UTC), "new")
    await store_at(house, datetime.now(UTC) - timedelta(days=40), "old")
    return house


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (("--session", "old"), ["new"]),
        (("--older-than", "30d"), ["new"]),
        (("--older-than", "960h"), ["new"]),
        (("--older-than", "6w"), ["old", "new"]),
        (("--all",), []),
    ],
    ids=" ".join,
)
async def test_what_is_named_is_forgotten(talked: House, arguments: tuple[str, ...], kept: list[str]) -> None:
    """By session, by age in hours, days or weeks, or all."""
    result = await asyncio.to_thread(call, talked, *arguments)
    assert result.output == f"Deleted: {2 - len(kept)} conversations.\n"
    assert await sessions(talked, "old", "new") == kept


def test_wrong_usage_is_exit_2(house: House) -> None:
    """Exactly one of the three, and an age that can be read."""
    for arguments in ((), ("--all", "--session", "s"), ("--older-than", "30"), ("--older-than", "soon")):
        assert call(house, *arguments).exit_code == 2, arguments


def test_where_nobody_talked_nothing_is_forgotten(house: House) -> None:
    """No database and no key are made for that."""
    result = call(house, "--all", "--json")
    assert (result.exit_code, result.output) == (0, '{"deleted":0}\n')
    assert not house.settings.data_dir.exists()
