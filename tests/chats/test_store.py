"""Conversations on the disk: encrypted, owned, migrated, forgotten."""

import asyncio
import re
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.tables import tables_of

from lutrin import sqlite
from lutrin.chats import sql
from lutrin.chats.engine import MIGRATIONS, migrate
from lutrin.chats.key import new_key
from lutrin.chats.store import SqlChatStore
from lutrin.errors import ChatStoreError, NotFound
from lutrin.records import AnswerKind, ChatMessage, ChatOrigin, Refusal

KEY = new_key()
NEEDLE = "Xylophone-needle-42"


def message(name: str, text: str = "What is it?", session: str = "s1") -> ChatMessage:
    """A reader's message."""
    return ChatMessage(id=name, session_id=session, role="user", text=text, created="2026-11-21T10:00:00.000+00:00")


def files(folder: Path) -> bytes:
    """All bytes of all files in a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


async def test_nothing_is_readable_at_rest(tmp_path: Path) -> None:
    """Neither the database nor its log holds a word, a title, an id or a table's name in clear."""
    store = await SqlChatStore.open(tmp_path / "chats.db", KEY)
    origin = ChatOrigin(session_id=f"id-{NEEDLE}", owner="o" * 64, user_agent=f"agent {NEEDLE}", book=NEEDLE)
    for n in range(50):
        await store.record("key", origin, [message(f"m{n}", f"{NEEDLE} {n}")])
    assert (tmp_path / "chats.db-wal").stat().st_size > 0
    while_open = files(tmp_path)
    await store.close()
    for found in (while_open, files(tmp_path)):
        assert NEEDLE.encode() not in found
        assert b"CREATE TABLE" not in found
        assert b"SQLite format 3" not in found
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(tmp_path / "chats.db").execute("SELECT * FROM message")


async def test_only_its_owner_may_read_the_file(tmp_path: Path) -> None:
    """The database has mode 0600."""
    await (await SqlChatStore.open(tmp_path / "chats.db", KEY)).close()
    assert stat.S_IMODE((tmp_path / "chats.db").stat().st_mode) == 0o600


async def test_a_wrong_key_is_said(tmp_path: Path) -> None:
    """Nothing is overwritten; the message names the key."""
    store = await SqlChatStore.open(tmp_path / "chats.db", KEY)
    await store.append("s1", [message("m1")])
    await store.close()
    with pytest.raises(ChatStoreError, match="key"):
        await SqlChatStore.open(tmp_path / "chats.db", new_key())
    again = await SqlChatStore.open(tmp_path / "chats.db", KEY)
    assert len(await again.history("s1")) == 1
    await again.close()


async def test_errors_do_not_quote_the_reader(tmp_path: Path) -> None:
    """An error of the database carries neither statements' values nor texts."""
    store = await SqlChatStore.open(tmp_path / "chats.db", KEY)
    other = sqlite.connect(tmp_path / "chats.db", key=KEY)
    other.execute("DROP TABLE feedback")
    other.execute("DROP TABLE message")
    other.close()
    with pytest.raises(ChatStoreError) as caught:
        await store.append("s1", [message("m1", NEEDLE)])
    assert NEEDLE not in str(caught.value)
    assert NEEDLE not in str(caught.value.__cause__)
    await store.close()


async def test_owners(tmp_path: Path) -> None:
    """A list holds its owner's conversations only; the empty owner has no list."""
    store = await SqlChatStore.open(tmp_path / "chats.db", KEY)
    for n, owner in enumerate(("a", "b", "")):
        await store.record(f"k{n}", ChatOrigin(session_id="same", owner=owner), [message(f"m{n}", f"Q{n}")])
    assert [session.title for session in await store.sessions("a", 9)] == ["Q0"]
    assert [session.title for session in await store.sessions("b", 9)] == ["Q1"]
    assert await store.sessions("", 9) == []
    assert (await store.history("k0"))[0].session_id == "same"
    await store.close()


async def test_long_first_questions_are_cut_at_a_word(tmp_path: Path) -> None:
    """A title is one line that fits a list, and what the reader said first."""
    store = await SqlChatStore.open(tmp_path / "chats.db", KEY)
    await store.append("s1", [message("m1", "word\n" * 60)])
    title = (await store.session("s1")).title
    assert len(title) <= 80
    assert title.endswith("word…")
    said = ChatMessage(id="a0", session_id="s2", role="assistant", text="Welcome.", created="2026")
    await store.append("s2", [said, message("m2", "What is it?", session="s2")])
    assert (await store.session("s2")).title == "What is it?"
    await store.close()


async def test_forgetting(tmp_path: Path) -> None:
    """By id, by age, all; what was deleted leaves the log and the backups too."""
    days_ago = 0
    store = await SqlChatStore.open(
        tmp_path / "chats.db", KEY, lambda: datetime(2026, 11, 21, tzinfo=UTC) - timedelta(days=days_ago)
    )
    for name, days_ago in (("old", 40), ("middle", 20), ("new", 0)):  # noqa: B007 - the store's clock reads it
        await store.append(name, [message(f"m-{name}", session=name)])
    (tmp_path / "chats.db.before-2").write_bytes(b"an old backup")
    assert await store.forget(older_than=timedelta(days=30)) == 1
    assert await store.history("old") == []
    assert not (tmp_path / "chats.db.before-2").exists()
    assert (tmp_path / "chats.db-wal").stat().st_size == 0
    assert await store.forget(session_id="middle") == 1
    assert await store.forget(session_id="middle") == 0
    assert await store.forget() == 0
    assert await store.forget(everything=True) == 1
    assert await store.history("new") == []
    await store.close()


async def test_deleting_takes_messages_and_feedback_along(tmp_path: Path) -> None:
    """Nothing of a deleted conversation is left in any table."""
    store = await SqlChatStore.open(tmp_path / "chats.db", KEY)
    answer = ChatMessage(id="a1", session_id="s1", role="assistant", text="So.", created="2026")
    await store.append("s1", [message("m1"), answer])
    await store.judge("a1", "", "up", "thanks")
    await store.delete("s1")
    with pytest.raises(NotFound):
        await store.delete("s1")
    await store.close()
    connection = sqlite.connect(tmp_path / "chats.db", key=KEY)
    counts = "SELECT (SELECT count(*) FROM session), (SELECT count(*) FROM message), (SELECT count(*) FROM feedback)"
    assert connection.execute(counts).fetchone() == (0, 0, 0)
    connection.close()


FIRST_VERSION = """
CREATE TABLE session ("key" VARCHAR NOT NULL PRIMARY KEY, id VARCHAR NOT NULL, owner VARCHAR NOT NULL,
    title VARCHAR NOT NULL, created VARCHAR NOT NULL, updated VARCHAR NOT NULL, book VARCHAR NOT NULL,
    generation VARCHAR NOT NULL, user_agent VARCHAR NOT NULL, message_count INTEGER NOT NULL);
CREATE INDEX ix_session_id ON session (id);
CREATE INDEX ix_session_updated ON session (updated);
CREATE TABLE message (position INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR NOT NULL,
    session VARCHAR NOT NULL REFERENCES session ("key") ON DELETE CASCADE, role VARCHAR NOT NULL,
    text VARCHAR NOT NULL, created VARCHAR NOT NULL, mode VARCHAR, kind VARCHAR,
    selected_text VARCHAR NOT NULL, chunk_ids VARCHAR NOT NULL, citations VARCHAR NOT NULL);
CREATE UNIQUE INDEX ix_message_id ON message (id);
CREATE INDEX ix_message_session ON message (session);
CREATE TABLE feedback (message VARCHAR NOT NULL PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
    value VARCHAR NOT NULL, comment VARCHAR NOT NULL, created VARCHAR NOT NULL);
INSERT INTO session VALUES ('k', 'k', '', 't', '1', '1', '', '', '', 0);
PRAGMA user_version = 1
"""
"""Conversations as the first release made them, with one of them."""


def make_first_version(path: Path) -> None:
    """Make a database as the first release made it."""
    with closing(sqlite.connect(path, key=KEY)) as old:
        for statement in FIRST_VERSION.split(";\n"):
            old.execute(statement)


def test_old_conversations_get_the_tables_of_new_ones(tmp_path: Path) -> None:
    """The migrations lead to what the SQLModel classes describe."""
    make_first_version(tmp_path / "old.db")
    assert len(migrate(tmp_path / "old.db", KEY)) == len(MIGRATIONS)
    assert migrate(tmp_path / "new.db", KEY) == []
    with (
        closing(sqlite.connect(tmp_path / "old.db", key=KEY)) as old,
        closing(sqlite.connect(tmp_path / "new.db", key=KEY)) as new,
    ):
        assert tables_of(old) == tables_of(new)
        assert old.execute("PRAGMA user_version").fetchone() == new.execute("PRAGMA user_version").fetchone()


async def test_a_backup_stands_before_each_migration(tmp_path: Path) -> None:
    """Old conversations survive; the backup is encrypted with the same key and holds the state before."""
    path = tmp_path / "chats.db"
    make_first_version(path)
    backups = migrate(path, KEY, (MIGRATIONS[0], ("ALTER TABLE session ADD COLUMN mood VARCHAR",)))
    assert [backup.name for backup in backups] == ["chats.db.before-2", "chats.db.before-3"]
    assert stat.S_IMODE(backups[0].stat().st_mode) == 0o600
    for number, backup in enumerate(backups, start=1):
        copy = sqlite.connect(backup, key=KEY)
        assert copy.execute("PRAGMA user_version").fetchone() == (number,)
        assert copy.execute("SELECT id FROM session").fetchall() == [("k",)]
        copy.close()
    assert b"SQLite format 3" not in backups[0].read_bytes()


def test_a_failed_migration_changes_nothing(tmp_path: Path) -> None:
    """The step is undone as a whole, and said."""
    path = tmp_path / "chats.db"
    migrate(path, KEY)
    broken = ("ALTER TABLE session ADD COLUMN mood VARCHAR", "NO SQL")
    with pytest.raises(ChatStoreError):
        migrate(path, KEY, (*MIGRATIONS, broken))
    connection = sqlite.connect(path, key=KEY)
    assert "mood" not in [row[1] for row in connection.execute("PRAGMA table_info('session')")]
    assert connection.execute("PRAGMA user_version").fetchone() == (1 + len(MIGRATIONS),)
    connection.close()


def test_a_newer_database_is_left_alone(tmp_path: Path) -> None:
    """An older program does not guess what a newer one wrote."""
    path = tmp_path / "chats.db"
    migrate(path, KEY)
    with pytest.raises(ChatStoreError, match="newer"):
        migrate(path, KEY, MIGRATIONS[:1])


@pytest.mark.parametrize("attempt", range(8))
async def test_two_servers_start_at_once(tmp_path: Path, attempt: int) -> None:
    """Both find the tables, and each migration ran once, no matter which server creates the file."""
    path = tmp_path / f"{attempt}.db"
    stores = await asyncio.gather(*(SqlChatStore.open(path, KEY) for _ in range(4)))
    await asyncio.gather(*(store.append(f"s{n}", [message(f"m{n}")]) for n, store in enumerate(stores)))
    assert len(await stores[0].history("s3")) == 1
    for store in stores:
        await store.close()


def answer(name: str, text: str, kind: AnswerKind, refusal: Refusal | None = None) -> ChatMessage:
    """A reader's answer."""
    created = "2026-11-21T10:00:01.000+00:00"
    return ChatMessage(
        id=name, session_id="s1", role="assistant", text=text, created=created, kind=kind, refusal=refusal
    )


async def test_what_was_asked_and_what_was_refused(tmp_path: Path) -> None:
    """Teachers see the newest questions with their outcomes, and those that the books do not answer."""
    store = await SqlChatStore.open(tmp_path / "chats.db", KEY)
    owned = ChatOrigin(session_id="s1", owner="a" * 64)
    await store.record("s1", owned, [message("q1", "What is it?"), answer("a1", "A part.", "extractive")])
    await store.record(
        "s1", owned, [message("q2", "And  why?"), answer("a2", "It is not in it.", "refusal", "not_in_book")]
    )
    await store.record(
        "s2",
        ChatOrigin(session_id="s2"),
        [message("q3", "Quoi ?"), answer("a3", "In English, please.", "refusal", "not_english")],
    )
    await store.judge("a1", "a" * 64, "up", "thank you")
    await store.judge("a1", "a" * 64, "down", "not quite")
    told = await store.recent_questions(10)
    assert [(item.text, item.kind, item.thumb, item.comment) for item in told] == [
        ("Quoi ?", "refusal", "", ""),
        ("And why?", "refusal", "", ""),
        ("What is it?", "extractive", "down", "not quite"),
    ]
    await store.record("s1", owned, [message("q4", "what is it"), answer("a4", "A part.", "extractive")])
    told = await store.recent_questions(10)
    assert [item.again for item in told] == [False, False, False, True]
    assert [item.text for item in (await store.recent_questions(2))[1:]] == ["Quoi ?"]
    assert [item.text for item in await store.refusals()] == ["And  why?"]
    with pytest.raises(NotFound):
        await store.judge("a1", "b" * 64, "up")
    await store.close()


def test_every_statement_is_one_of_the_tables(tmp_path: Path) -> None:
    """SQLite prepares each against the tables that the migrations make; a test of `remote/` does so in PostgreSQL."""
    migrate(tmp_path / "chats.db", KEY)
    told = [value for name, value in vars(sql).items() if name.isupper() and not name.startswith("_")]
    assert len(told) >= 18
    with closing(sqlite.connect(tmp_path / "chats.db", key=KEY)) as connection:
        for statement in told:
            named = dict.fromkeys(re.findall(r":(\w+)", statement), 1)
            assert connection.execute(f"EXPLAIN {statement}", named).fetchall()
