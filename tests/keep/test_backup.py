"""A backup is the state of one moment, whole or refused; restoring it is all or nothing."""

import shutil
import stat
import tarfile
from pathlib import Path

import pytest
from filelock import FileLock

from lutrin.chats.key import rotate_file_key
from lutrin.errors import ArchiveError, ChatStoreError, IndexUnavailable, IngestInProgress
from lutrin.keep.backup import COMPLETE, UNPACKED, backup, finish, restore
from lutrin.settings import load_settings

from .conftest import House, now

NEEDLE = "Xylophone-needle-42"


@pytest.fixture
async def saved(house: House, tmp_path: Path) -> Path:
    """A backup of one book and one message."""
    await house.publish("The first text.")
    await house.say("first")
    backup(house.settings, tmp_path / "saved.lutrin", now)
    return tmp_path / "saved.lutrin"


def flip(path: Path, place: int) -> None:
    """Change one bit of a file, or put it back."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def places(path: Path) -> dict[str, int]:
    """For each member of an archive, the offsets of the middle of its content and of the start of its name."""
    with tarfile.open(path) as tar:
        members = tar.getmembers()
    middles = {member.name: member.offset_data + member.size // 2 for member in members if member.size}
    return middles | {f"name of {member.name}": member.offset for member in members}


def cut(path: Path, share: float) -> None:
    """Leave only the beginning of a file."""
    path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def passages(house: House) -> Path:
    """A file of the published index."""
    return house.settings.books_dir / "robots" / house.current() / "passages.db"


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder that say something: locks and shared memory do not."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix not in {".lock", ".db-shm", ".db-wal"}
    }


async def test_a_restore_brings_back_the_book_and_the_conversations(house: House, saved: Path) -> None:
    """Changes, publications and messages since the backup are gone."""
    await house.publish("The second text.")
    await house.say("second")
    summary = restore(house.settings, saved)
    assert summary.conversations
    assert summary.created == "2026-11-21T12:00:00+00:00"
    assert "first text" in await house.text()
    assert await house.said() == ["first"]


async def test_what_was_studied_comes_back(house: House, tmp_path: Path) -> None:
    """Entries that a model wrote and the next ingest publishes are kept, without the line that is being written."""
    await house.publish("The first text.")
    studied = house.settings.studied_path("robots")
    studied.parent.mkdir()
    studied.write_text('{"kind": "question"}\n{"kind": "ter', encoding="utf-8")
    backup(house.settings, tmp_path / "saved.lutrin", now)
    studied.write_text("other\n", encoding="utf-8")
    studied.with_name("later.companion.jsonl").write_text("later\n", encoding="utf-8")
    restore(house.settings, tmp_path / "saved.lutrin")
    assert files(studied.parent) == {studied.name: b'{"kind": "question"}\n'}


async def test_a_running_server_follows(house: House, saved: Path) -> None:
    """An open shelf and open conversations see the restored state without being opened anew."""
    await house.publish("The second text.")
    await house.say("second")
    store = await house.chats()
    async with house.shelf() as shelf:
        async with shelf.lease() as before:
            restore(house.settings, saved)
            await shelf.refresh()
            assert "second text" in (await before.all_chunks())[0].text
        async with shelf.lease() as after:
            assert "first text" in (await after.all_chunks())[0].text
    assert [item.text for item in await store.history("s1")] == ["first"]
    await store.close()


async def test_a_backup_is_taken_while_readers_write(house: House, tmp_path: Path) -> None:
    """Open connections and an open generation are no obstacle; what was committed is in the file."""
    await house.publish("The first text.")
    store = await house.chats()
    await store.append("s1", [])
    await house.say("first")
    async with house.shelf():
        backup(house.settings, tmp_path / "saved.lutrin", now)
    await store.close()
    shutil.rmtree(house.settings.books_dir)
    restore(house.settings, tmp_path / "saved.lutrin")
    assert "first text" in await house.text()
    assert await house.said() == ["first"]


async def test_nothing_readable_and_no_key_is_in_a_backup(house: House, tmp_path: Path) -> None:
    """The conversations stay encrypted, and only the owner may read the file."""
    await house.publish("The first text.")
    await house.say(NEEDLE)
    backup(house.settings, tmp_path / "saved.lutrin", now)
    content = (tmp_path / "saved.lutrin").read_bytes()
    key = house.settings.chat_key_path.read_text().strip()
    assert NEEDLE.encode() not in content
    assert key.encode() not in content
    assert bytes.fromhex(key) not in content
    assert stat.S_IMODE((tmp_path / "saved.lutrin").stat().st_mode) == 0o600


async def test_one_flipped_bit_is_refused(house: House, saved: Path) -> None:
    """In whichever part it is, the manifest included, the file is called damaged and nothing changes."""
    before = files(house.settings.data_dir)
    found = places(saved)
    assert {"catalog.db", "chats.db", "manifest.json"} < found.keys()
    for name, place in found.items():
        flip(saved, place)
        with pytest.raises(ArchiveError, match="damaged"):
            restore(house.settings, saved)
        assert files(house.settings.data_dir) == before, name
        flip(saved, place)
    restore(house.settings, saved)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.6, 0.95])
async def test_half_a_backup_is_refused(house: House, saved: Path, share: float) -> None:
    """A file that was cut is damaged, and nothing changes."""
    cut(saved, share)
    before = files(house.settings.data_dir)
    with pytest.raises(ArchiveError, match="damaged"):
        restore(house.settings, saved)
    assert files(house.settings.data_dir) == before


async def test_a_failed_backup_leaves_the_old_one(house: House, saved: Path) -> None:
    """A damaged index is not kept, and the file of yesterday stays as it was."""
    before = files(saved.parent)["saved.lutrin"]
    flip(passages(house), 100)
    with pytest.raises(IndexUnavailable, match="damaged"):
        backup(house.settings, saved, now)
    assert files(saved.parent)["saved.lutrin"] == before
    assert [name for name in files(saved.parent) if name.startswith(".saved")] == []


async def test_a_restore_mends_a_damaged_index(house: House, saved: Path) -> None:
    """A generation whose files have rotten is replaced by the whole one of the same name."""
    flip(passages(house), 100)
    restore(house.settings, saved)
    assert "first text" in await house.text()


@pytest.mark.parametrize("database", ["catalog.db", "chats.db"])
async def test_a_restore_replaces_a_database_that_cannot_be_read(house: House, saved: Path, database: str) -> None:
    """A catalogue or conversations of noise are no obstacle."""
    for suffix in ("", "-wal", "-shm"):
        (house.settings.data_dir / f"{database}{suffix}").unlink(missing_ok=True)
    (house.settings.data_dir / database).write_bytes(b"noise" * 1000)
    restore(house.settings, saved)
    assert "first text" in await house.text()
    assert await house.said() == ["first"]


async def test_a_restore_on_another_machine_needs_the_key(saved: Path, house: House, tmp_path: Path) -> None:
    """Without it nothing is changed; the books alone can be had; with it, all."""
    other = House(tmp_path / "other")
    with pytest.raises(ChatStoreError, match="no key here"):
        restore(other.settings, saved, trust=True)
    assert list(other.settings.data_dir.glob("*.db")) == []
    assert not restore(other.settings, saved, with_chats=False, trust=True).conversations
    assert "first text" in await other.text()
    shutil.copy2(house.settings.chat_key_path, other.settings.chat_key_path)
    assert restore(other.settings, saved, trust=True).conversations
    assert await other.said() == ["first"]


@pytest.mark.parametrize("talked", [True, False])
async def test_a_backup_older_than_the_key_is_our_own(house: House, tmp_path: Path, *, talked: bool) -> None:
    """It restores without --trust, its conversations too; also where there were none when the key was changed."""
    await house.publish("The first text.")
    if talked:
        await house.say("An old word.")
    backup(house.settings, tmp_path / "old.lutrin", now)
    for _ in range(2):
        rotate_file_key(house.settings.chats_path, house.settings.chat_key_path)
    assert restore(house.settings, tmp_path / "old.lutrin").conversations == talked
    assert not talked or await house.said() == ["An old word."]


async def test_conversations_under_another_key_are_refused(saved: Path, tmp_path: Path) -> None:
    """The message names both ways out."""
    other = House(tmp_path / "other")
    await other.say("mine")
    with pytest.raises(ChatStoreError, match="another key") as caught:
        restore(other.settings, saved, trust=True)
    assert "--without-conversations" in caught.value.remedy
    assert await other.said() == ["mine"]


async def test_another_book_of_the_same_name_is_not_overwritten(saved: Path, tmp_path: Path) -> None:
    """Two machines may name different generations alike; the restored one gets a name of its own."""
    other = House(tmp_path / "other")
    name = await other.publish("A text of another machine.")
    async with other.shelf() as shelf:
        async with shelf.lease() as before:
            summary = restore(other.settings, saved, with_chats=False, trust=True)
            assert "another machine" in (await before.all_chunks())[0].text
        assert summary.books == {"robots": f"{name}-2"}
    assert "first text" in await other.text()


async def test_the_next_ingest_goes_on_from_a_restored_state(house: House, saved: Path) -> None:
    """No number of a generation is used twice, and the book follows its files again."""
    second = await house.publish("The second text.")
    restore(house.settings, saved)
    third = await house.publish("The third text.")
    assert third not in {second, "000001"}
    assert "third text" in await house.text()


async def test_a_restore_that_was_killed_is_finished(house: House, saved: Path, tmp_path: Path) -> None:
    """A complete copy takes over at the next start; an incomplete one is discarded."""
    await house.publish("The second text.")
    await house.say("second")
    twin = House(tmp_path / "twin")
    shutil.copytree(house.settings.data_dir, twin.settings.data_dir)
    restore(
        twin.settings, saved, trust=True
    )  # so that a folder as a kill would leave it can be made from the same parts
    (house.settings.data_dir / UNPACKED / "books").mkdir(parents=True)
    finish(house.settings)
    assert await house.said() == ["first", "second"]

    complete = house.settings.data_dir / COMPLETE
    complete.mkdir()
    shutil.copytree(twin.settings.books_dir, complete / "books")
    shutil.copy2(twin.settings.catalog_path, complete / "catalog.db")
    shutil.copy2(twin.settings.chats_path, complete / "chats.db")
    finish(house.settings)
    assert "first text" in await house.text()
    assert await house.said() == ["first"]
    assert not complete.exists()


async def test_a_restore_waits_for_no_ingest(house: House, saved: Path) -> None:
    """While another process ingests, it leaves at once."""
    with FileLock(house.settings.data_dir / "ingest.lock"), pytest.raises(IngestInProgress):
        restore(house.settings, saved)


async def test_a_book_alone_can_be_kept(house: House, tmp_path: Path) -> None:
    """Without conversations there, those that are here now stay."""
    await house.publish("The first text.")
    summary = backup(house.settings, tmp_path / "saved.lutrin", now)
    assert not summary.conversations
    await house.say("later")
    restore(house.settings, tmp_path / "saved.lutrin")
    assert await house.said() == ["later"]


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    """Nothing to keep, no such file, a folder that is not there."""
    settings = load_settings(data_dir=tmp_path / "data")
    with pytest.raises(ArchiveError, match="nothing to back up"):
        backup(settings, tmp_path / "saved.lutrin", now)
    with pytest.raises(ArchiveError, match="No such file"):
        restore(settings, tmp_path / "none.lutrin")


async def test_a_folder_that_is_not_there_is_named(house: House, tmp_path: Path) -> None:
    """The message names the file and the reason."""
    await house.publish("The first text.")
    with pytest.raises(ArchiveError, match="cannot be written: No such file"):
        backup(house.settings, tmp_path / "none" / "saved.lutrin", now)
