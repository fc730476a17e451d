"""The contract of every ChatStore, in memory, encrypted on a disk or in PostgreSQL."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.remote.postgres import database

from evaluation.memory_chat import MemoryChatStore
from lutrin.chats.key import new_key
from lutrin.chats.store import SqlChatStore
from lutrin.errors import ChatStoreError
from lutrin.ports import ChatStore
from lutrin.records import ChatMessage, Citation, Excerpt
from lutrin_remote.postgres_chats import PostgresChatStore

CITATION = Citation(
    n=1,
    chunk_id="c1",
    book="b",
    chapter="Chapter 1",
    section="01-s",
    section_title="S",
    filename="s.md",
    page=None,
    url="/read/b/s#s",
    quote="Quoted: “ß”, 機械.",
    relevance_score=0.5,
)


EXCERPT = Excerpt(
    n=1,
    text=CITATION.quote,
    marks=((0, 6), (9, 10)),
    cut_before=True,
    cut_after=False,
    heading_path=("S", "機械"),
    url=CITATION.url,
    chunk_id="c1",
)


def user(name: str, text: str = "What is it?", session: str = "s1") -> ChatMessage:
    """A reader's message."""
    return ChatMessage(id=name, session_id=session, role="user", text=text, created="2026-11-21T10:00:00.000+00:00")


def assistant(name: str, text: str = "It is so [1].", session: str = "s1") -> ChatMessage:
    """An answer with everything that an answer has."""
    return ChatMessage(
        id=name,
        session_id=session,
        role="assistant",
        text=text,
        created="2026-11-21T10:00:01.000+00:00",
        mode="selection_boosted",
        kind="generated",
        selected_text="A selection\nof two lines.",
        chunk_ids=("c1", "c2"),
        citations=(CITATION,),
        refusal="not_in_book",
        explanation="It is so [1].",
        excerpts=(EXCERPT,),
        suggestions=("What else?",),
        warnings=("Unplug it first.",),
    )


@pytest.fixture(params=["memory", "sqlcipher", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ChatStore]:
    """Each kind of store, empty."""
    opened: ChatStore
    if request.param == "memory":
        opened = MemoryChatStore()
    elif request.param == "sqlcipher":
        opened = await SqlChatStore.open(tmp_path / "chats.db", new_key())
    else:
        async with database(request.getfixturevalue("postgres")) as url:
            opened = await PostgresChatStore.open(url, new_key())
    yield opened
    await opened.close()


async def test_messages_come_back_as_they_were(store: ChatStore) -> None:
    """Every field, every character, in the order in which they were stored."""
    messages = [user("m1", "  Ünïcödé 🤖\n\n```code```  "), assistant("m2")]
    await store.append("s1", messages)
    assert await store.history("s1") == messages


async def test_an_unknown_session_has_no_messages(store: ChatStore) -> None:
    """No error: a browser may know an id that the server has forgotten."""
    assert await store.history("never-was") == []


async def test_the_newest_messages_oldest_first(store: ChatStore) -> None:
    """The limit cuts off the beginning of a conversation."""
    for n in range(30):
        await store.append("s1", [user(f"u{n}"), assistant(f"a{n}")])
    assert [message.id for message in await store.history("s1", 3)] == ["a28", "u29", "a29"]
    assert len(await store.history("s1")) == 50
    assert len(await store.history("s1", 1000)) == 60


async def test_sessions_do_not_mix(store: ChatStore) -> None:
    """Each conversation has its own messages."""
    await store.append("s1", [user("m1")])
    await store.append("s2", [user("m2", session="s2")])
    assert [message.id for message in await store.history("s1")] == ["m1"]
    assert [message.id for message in await store.history("s2")] == ["m2"]


async def test_a_message_can_be_completed(store: ChatStore) -> None:
    """Storing an id again replaces the message in its place."""
    await store.append("s1", [user("m1"), assistant("m2", "It is")])
    await store.append("s1", [user("m3")])
    await store.append("s1", [user("m1"), assistant("m2", "It is so [1].")])
    assert [(message.id, message.text) for message in await store.history("s1")] == [
        ("m1", "What is it?"),
        ("m2", "It is so [1]."),
        ("m3", "What is it?"),
    ]


async def test_all_or_nothing(store: ChatStore) -> None:
    """A message that cannot be stored takes the others with it."""
    await store.append("s2", [user("taken", session="s2")])
    with pytest.raises(ChatStoreError):
        await store.append("s1", [user("m1"), assistant("taken")])
    assert await store.history("s1") == []
    assert len(await store.history("s2")) == 1


async def test_many_at_once(store: ChatStore) -> None:
    """Simultaneous readers lose nothing, and a turn's two messages stay together."""
    await asyncio.gather(*(store.append("s1", [user(f"u{n}"), assistant(f"a{n}")]) for n in range(40)))
    stored = [message.id for message in await store.history("s1", 1000)]
    assert len(stored) == 80
    pairs = list(zip(stored[::2], stored[1::2], strict=True))
    assert all(question[1:] == answer[1:] for question, answer in pairs)
