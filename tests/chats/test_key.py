"""The key of the conversations: made once, kept private, exchanged without losing a word."""

import stat
from pathlib import Path

import pytest

from lutrin import sqlite
from lutrin.chats.engine import MIGRATIONS
from lutrin.chats.key import (
    chat_key,
    conversation_key,
    file_key,
    former_keys,
    in_use,
    new_key,
    opens,
    owner_of,
    rotate_file_key,
    rotate_key,
)
from lutrin.chats.store import SqlChatStore
from lutrin.errors import ChatStoreError, InvalidInput, InvalidSettings
from lutrin.records import ChatMessage
from lutrin.settings import load_settings

MESSAGE = ChatMessage(id="m1", session_id="s1", role="user", text="Kept?", created="2026")


async def made(folder: Path) -> tuple[Path, Path]:
    """A database with one message, and its key file."""
    database, key_path = folder / "chats.db", folder / "chat.key"
    store = await SqlChatStore.open(database, file_key(database, key_path))
    await store.append("s1", [MESSAGE])
    await store.close()
    return database, key_path


async def kept(database: Path, key: str) -> bool:
    """Whether the message is still there under this key."""
    store = await SqlChatStore.open(database, key)
    found = await store.history("s1")
    await store.close()
    return found == [MESSAGE]


def leftovers(folder: Path) -> list[str]:
    """Names of files that a rotation left behind."""
    return [path.name for path in folder.glob("*.next")]


def test_the_key_file_is_made_once_and_private(tmp_path: Path) -> None:
    """64 hexadecimal digits, mode 0600, the same ones the next time."""
    settings = load_settings(data_dir=tmp_path / "data")
    key = chat_key(settings)
    assert len(bytes.fromhex(key)) == 32
    assert stat.S_IMODE(settings.chat_key_path.stat().st_mode) == 0o600
    assert chat_key(settings) == key


def test_the_environment_goes_first(tmp_path: Path) -> None:
    """`LUTRIN_CHAT_KEY` is used as it is, and no file is made."""
    key = new_key()
    settings = load_settings(data_dir=tmp_path, chat_key=key)
    assert chat_key(settings) == key
    assert not settings.chat_key_path.exists()
    with pytest.raises(InvalidSettings, match="LUTRIN_CHAT_KEY"):
        chat_key(load_settings(data_dir=tmp_path, chat_key="a password"))


async def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """A key in a 0644 file is no secret."""
    database, key_path = await made(tmp_path)
    key_path.chmod(0o644)
    with pytest.raises(ChatStoreError, match="chmod 600"):
        file_key(database, key_path)


async def test_a_lost_key_is_not_replaced(tmp_path: Path) -> None:
    """A new key would hide that the conversations cannot be read any more."""
    database, key_path = await made(tmp_path)
    key_path.unlink()
    with pytest.raises(ChatStoreError, match="missing"):
        file_key(database, key_path)
    assert not key_path.exists()


async def test_rotation(tmp_path: Path) -> None:
    """Every word is there under the new key, none under the old one; versions stay."""
    database, key_path = await made(tmp_path)
    old = file_key(database, key_path)
    rotate_file_key(database, key_path)
    new = file_key(database, key_path)
    assert new != old
    assert not opens(database, old)
    assert await kept(database, new)
    connection = sqlite.connect(database, key=new)
    assert connection.execute("PRAGMA user_version").fetchone() == (1 + len(MIGRATIONS),)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    assert leftovers(tmp_path) == []


async def test_rotation_with_a_wrong_old_key(tmp_path: Path) -> None:
    """Nothing changes."""
    database, key_path = await made(tmp_path)
    with pytest.raises(ChatStoreError):
        rotate_key(database, new_key(), new_key())
    assert await kept(database, file_key(database, key_path))


async def test_rotation_while_a_server_runs(tmp_path: Path) -> None:
    """It is refused, and the server goes on."""
    database, key_path = await made(tmp_path)
    store = await SqlChatStore.open(database, file_key(database, key_path))
    await store.history("s1")
    with pytest.raises(ChatStoreError, match="Stop it, then change the key"):
        rotate_file_key(database, key_path)
    assert await store.history("s1") == [MESSAGE]
    await store.close()
    assert await kept(database, file_key(database, key_path))


async def test_a_server_that_starts_while_the_key_is_changed(tmp_path: Path) -> None:
    """It leaves the new key alone, which it would take for a leftover, and says what happens."""
    database, key_path = await made(tmp_path)
    following = tmp_path / "chat.key.next"
    following.write_text(new_key())
    following.chmod(0o600)
    with in_use(database, alone=True), pytest.raises(ChatStoreError, match="is being changed"):
        file_key(database, key_path)
    assert following.exists()


async def test_a_crash_before_the_database_was_swapped(tmp_path: Path) -> None:
    """The old key still holds, and the leftovers are cleared away."""
    database, key_path = await made(tmp_path)
    old = file_key(database, key_path)
    (tmp_path / "chat.key.next").write_text(new_key())
    (tmp_path / "chat.key.next").chmod(0o600)
    (tmp_path / "chats.db.next").write_bytes(b"half a file")
    assert file_key(database, key_path) == old
    assert leftovers(tmp_path) == []
    assert await kept(database, old)


async def test_a_crash_between_the_two_renames(tmp_path: Path) -> None:
    """The database is new, the key file is old: the next start finishes the exchange."""
    database, key_path = await made(tmp_path)
    old, new = file_key(database, key_path), new_key()
    (tmp_path / "chat.key.next").write_text(new)
    (tmp_path / "chat.key.next").chmod(0o600)
    rotate_key(database, old, new)
    assert file_key(database, key_path) == new
    assert await kept(database, new)


def test_owners_and_keys_of_conversations() -> None:
    """Secrets are hashed; the same id under two secrets is two conversations, and no id can name a derived key."""
    owner, other = owner_of("a-secret-of-16-chars"), owner_of("another-secret-of-16")
    assert owner != other
    assert "secret" not in owner
    assert owner_of("") == ""
    assert conversation_key("s1", "") == "s1"
    assert len({conversation_key("s1", owner), conversation_key("s1", other), conversation_key("s2", owner)}) == 3
    with pytest.raises(InvalidInput):
        conversation_key(conversation_key("s1", owner), "")
    for secret in ("short", "with a blank in it....", "ü" * 20, "x" * 201):
        with pytest.raises(InvalidInput):
            owner_of(secret)


async def test_former_keys_are_kept_sealed(tmp_path: Path) -> None:
    """The present key opens them, the newest first; no byte of them is in a file."""
    database, key_path = await made(tmp_path)
    keys = [file_key(database, key_path)]
    for _ in range(2):
        rotate_file_key(database, key_path)
        keys.append(file_key(database, key_path))
    assert former_keys(database, keys[2]) == [keys[1], keys[0]]
    assert former_keys(database, keys[0]) == []
    written = (tmp_path / "chats.former.db").read_bytes() + database.read_bytes()
    assert not any(form in written for key in keys for form in (key.encode(), bytes.fromhex(key)))
    assert stat.S_IMODE((tmp_path / "chats.former.db").stat().st_mode) == 0o600
