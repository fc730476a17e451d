"""Conversations in PostgreSQL: sealed, shared, migrated once, and not lost when the server dies."""

import asyncio
import re
from contextlib import suppress

import asyncpg
import pytest
from tests.remote.postgres import Cluster

from lutrin.chats import sql, tables
from lutrin.chats.key import new_key
from lutrin.chats.postgres_chats import PostgresChatStore
from lutrin.errors import ChatStoreError, InvalidSettings, NotFound
from lutrin.records import ChatMessage, ChatOrigin

KEY = new_key()
NEEDLE = "Xylophone-needle-42"


def message(name: str, text: str = "What is it?", role: str = "user") -> ChatMessage:
    """A message of the conversation s1."""
    return ChatMessage(id=name, session_id="s1", role=role, text=text, created="2026-11-21T10:00:00.000+00:00")  # type: ignore[arg-type]  # one of the two roles


async def test_nothing_that_a_reader_said_is_readable_in_the_database(postgres_url: str) -> None:
    """Neither questions, selections, titles, comments nor browsers; with the key they all come back."""
    store = await PostgresChatStore.open(postgres_url, KEY)
    origin = ChatOrigin(session_id="s1", owner="o" * 64, user_agent=NEEDLE)
    await store.record("k1", origin, [message("m1", NEEDLE), message("m2", NEEDLE, "assistant")])
    await store.judge("m2", "o" * 64, "up", NEEDLE)
    assert (await store.sessions("o" * 64, 9))[0].title == NEEDLE
    assert (await store.rename("k1", f"{NEEDLE} 2")).title == f"{NEEDLE} 2"
    assert [item.text for item in await store.history("k1")] == [NEEDLE] * 2
    await store.close()
    connection = await asyncpg.connect(postgres_url)
    found = [
        str(dict(row))
        for table in ("session", "message", "feedback")
        for row in await connection.fetch(f"TABLE {table}")
    ]
    await connection.close()
    assert len(found) == 4
    assert NEEDLE not in "".join(found)


async def test_the_tables_are_those_of_the_models(postgres_url: str) -> None:
    """Columns of the migrated database and of the SQLModel classes are the same."""
    store = await PostgresChatStore.open(postgres_url, KEY)
    await store.close()
    connection = await asyncpg.connect(postgres_url)
    query = "SELECT column_name FROM information_schema.columns WHERE table_name = $1"
    for table in (tables.SessionRow, tables.MessageRow, tables.FeedbackRow):
        name = str(table.__tablename__)
        assert {row[0] for row in await connection.fetch(query, name)} == set(
            tables.ChatTable.metadata.tables[name].columns.keys()
        )
    await connection.close()


async def test_every_statement_is_one_of_the_tables(postgres_url: str) -> None:
    """PostgreSQL prepares each, with the types that it finds for the parameters."""
    store = await PostgresChatStore.open(postgres_url, KEY)
    await store.close()
    connection = await asyncpg.connect(postgres_url)
    told = [value for name, value in vars(sql).items() if name.isupper() and not name.startswith("_")]
    assert len(told) >= 18
    for statement in told:
        names, numbered = list(dict.fromkeys(re.findall(r":(\w+)", statement))), statement
        for number, name in enumerate(names, start=1):
            numbered = re.sub(rf":{name}\b", f"${number}", numbered)
        assert len((await connection.prepare(numbered)).get_parameters()) == len(names)
    await connection.close()


async def test_an_address_may_ask_for_tls(postgres_url: str) -> None:
    """As those of hosted services do; a server that has none is then refused, by a sentence that names it."""
    with pytest.raises(ChatStoreError, match=r"127\.0\.0\.1:\d+/t\w+ cannot be used"):
        await PostgresChatStore.open(postgres_url.replace("sslmode=disable", "sslmode=require"), KEY)
    store = await PostgresChatStore.open(postgres_url.replace("sslmode=disable", "sslmode=prefer"), KEY)
    assert await store.history("s1") == []
    await store.close()


async def test_servers_that_start_at_once_migrate_once(postgres_url: str) -> None:
    """All of them come up, and see the same conversations."""
    stores = await asyncio.gather(*(PostgresChatStore.open(postgres_url, KEY) for _ in range(6)))
    await stores[0].append("s1", [message("m1")])
    assert all([len(await store.history("s1")) == 1 for store in stores])
    for store in stores:
        await store.close()


async def test_a_server_with_another_key_does_not_start(postgres_url: str) -> None:
    """Instead of conversations that half of the servers cannot read."""
    store = await PostgresChatStore.open(postgres_url, KEY)
    await store.close()
    with pytest.raises(ChatStoreError, match="another key"):
        await PostgresChatStore.open(postgres_url, new_key())


async def test_foreign_conversations_stay_foreign(postgres_url: str) -> None:
    """Deleting and judging need the owner's key, as in the file."""
    store = await PostgresChatStore.open(postgres_url, KEY)
    await store.record("k1", ChatOrigin(session_id="s1", owner="a" * 64), [message("m1", role="assistant")])
    with pytest.raises(NotFound):
        await store.judge("m1", "b" * 64, "up")
    with pytest.raises(NotFound):
        await store.delete("k2")
    await store.delete("k1")
    assert await store.history("k1") == []
    assert await store.forget(everything=True) == 0
    await store.close()


@pytest.mark.slow("PostgreSQL is killed and started twice while five readers write")
async def test_no_acknowledged_message_is_lost_when_the_server_is_killed(postgres: Cluster, postgres_url: str) -> None:
    """Writers go on while PostgreSQL is killed and started again; all get through in the end, and all is there."""
    store = await PostgresChatStore.open(postgres_url, KEY)
    acknowledged: list[str] = []

    async def chat(reader: int) -> None:
        for number in range(40):
            name = f"r{reader}-{number}"
            while name not in acknowledged:
                with suppress(ChatStoreError):  # starting again took longer than a write waits
                    await store.append(f"s{reader}", [message(name)])
                    acknowledged.append(name)
            await asyncio.sleep(0.02)

    async def accidents() -> None:
        for _ in range(2):
            await asyncio.sleep(0.3)
            await asyncio.to_thread(postgres.kill)
            await asyncio.to_thread(postgres.start)

    await asyncio.gather(accidents(), *map(chat, range(5)))
    stored = [item.id for reader in range(5) for item in await store.history(f"s{reader}", 100)]
    assert sorted(stored) == sorted(acknowledged)
    assert len(stored) == 200
    await store.close()


async def test_a_server_that_is_away_is_named_without_the_password() -> None:
    """Host and database are said; user and password are not."""
    with pytest.raises(ChatStoreError, match=r"127\.0\.0\.1:1/books") as caught:
        await PostgresChatStore.open("postgresql://lutrin:secret@127.0.0.1:1/books", KEY)
    assert "secret" not in str(caught.value)
    with pytest.raises(InvalidSettings, match="DATABASE_URL"):
        await PostgresChatStore.open("nonsense", KEY)
