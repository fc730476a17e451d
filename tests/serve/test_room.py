"""Storage limits: long questions, full conversations and a full disk never prevent an answer."""

from contextlib import closing, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from lutrin import sqlite
from lutrin.chats.key import Seal, new_key
from lutrin.chats.store import AbsentChats, Room, SqlChatStore, new_message, size_of
from lutrin.errors import ChatStoreError, ChatStoreFull, LutrinError
from lutrin.messages import CONVERSATION_FULL, NOT_SAVED, NOT_SAVED_DISK, NOT_STORING, PEER_FULL, READER_FULL
from lutrin.records import ChatMessage, ChatOrigin
from lutrin.serve.limits import DAY_S, LEAST_BYTES, FreeSpace, require_room

from .conftest import House, Serve
from .scripted import ANSWER, Clock

MINE = {"X-Lutrin-Client": "a-secret-of-my-browser-01"}
TOKEN = "a-token-of-a-teacher"
REFUSE = "CREATE TRIGGER refuse BEFORE INSERT ON message BEGIN SELECT RAISE(ABORT, 'no'); END"
PATHS = [
    ("/api/query", {"query": "{q}"}),
    ("/query", {"question": "{q}"}),
    ("/query-selection", {"question": "{q}"}),
    ("/query-selected-text", {"question": "{q}"}),
    ("/chat", {"message": "{q}", "session_id": "s1"}),
    ("/api/retrieve", {"query": "{q}"}),
    ("/v1/chat/completions", {"messages": [{"role": "user", "content": "{q}"}]}),
]


@pytest.mark.parametrize(("path", "form"), PATHS, ids=[path for path, _ in PATHS])
async def test_a_question_has_a_length(
    client: httpx.AsyncClient, house: House, path: str, form: dict[str, object]
) -> None:
    """8,000 characters are answered, one more is refused by a sentence that names the limit; nothing is searched."""
    body = httpx.Request("POST", "http://x", json=form).content.decode()
    head = {"Content-Type": "application/json"}
    longest = await client.post(path, content=body.replace("{q}", "q" * 8000), headers=head)
    assert longest.status_code == 200
    asked = len(house.answers.asked)
    refused = await client.post(path, content=body.replace("{q}", "q" * 8001), headers=head)
    assert (refused.status_code, "8,000 characters" in refused.json()["detail"]) == (422, True)
    assert len(house.answers.asked) == asked


async def test_a_selection_has_a_length(client: httpx.AsyncClient, house: House) -> None:
    """16,000 characters; nothing of a longer one is searched or stored."""
    for length, status in ((16_000, 200), (16_001, 422)):
        body = {"session_id": "s1", "message": "Q", "selected_text": "s" * length}
        assert (await client.post("/chat", json=body, headers=MINE)).status_code == status
    assert len((await client.get("/history/s1", headers=MINE)).json()["messages"]) == 2
    assert len(house.answers.asked) == 1


async def test_a_conversation_and_a_reader_have_so_much_room(house: House, serve: Serve) -> None:
    """Answers go on; what is no longer stored is said, with what to do."""
    room = Room(conversation_bytes=5_000, reader_bytes=12_000)
    house.chats = await SqlChatStore.open(house.data_dir / "small.db", new_key(), room=room)
    async with serve() as client:

        async def warnings(session: str) -> list[str]:
            body = {"session_id": session, "message": "q" * 2000}
            reply = await client.post("/chat", json=body, headers=MINE)
            assert reply.status_code == 200
            return [told for told in reply.json()["warnings"] if told not in ANSWER.warnings]

        assert [await warnings("one") for _ in range(3)] == [[], [CONVERSATION_FULL], [CONVERSATION_FULL]]
        assert [await warnings("two"), await warnings("three"), await warnings("four")] == [[], [], [READER_FULL]]
        assert (await client.delete("/sessions/one", headers=MINE)).status_code == 204
        assert await warnings("four") == []
    await house.chats.close()


async def test_who_sends_no_secret_shares_the_room_of_a_network(house: House, serve: Serve) -> None:
    """A new id for each question fills no disk; a browser with a secret stores on, and the day after there is room."""
    async with serve(reader_kb=64, rate_session_per_min=0, rate_peer_per_min=0) as client:

        async def warnings(number: int, headers: dict[str, str] | None = None, *, again: bool = False) -> list[str]:
            if not again:
                client.cookies.clear()
            body = {"session_id": f"{number:x}" * 32, "message": "q" * 7000}
            told = (await client.post("/chat", json=body, headers=headers)).json()["warnings"]
            return [item for item in told if item not in ANSWER.warnings]

        told = [await warnings(number) for number in range(12)]
        assert told[0] == []
        assert told[-1] == [PEER_FULL]
        assert await warnings(1, again=True) == []  # with the cookie that came with the last answer
        assert await warnings(1, MINE) == []
        house.clock.now_s += DAY_S
        assert await warnings(13) == []


async def test_below_the_floor_nothing_is_stored(serve: Serve) -> None:
    """The answer comes, the reader and the operator are told, and nothing is written."""
    body = {"session_id": "s1", "message": "Q"}
    async with serve(free_space_mb=1_048_576, admin_token=TOKEN) as client:
        reply = await client.post("/chat", json=body, headers=MINE)
        assert (reply.status_code, reply.json()["warnings"]) == (200, [*ANSWER.warnings, NOT_SAVED_DISK])
        assert (await client.get("/ready")).json()["storing"] is False
        assert (await client.get("/history/s1", headers=MINE)).json() == {"messages": []}
        assert "lutrin_messages_not_saved_total 1.0" in (await client.get("/metrics")).text
        await client.post("/teacher/sign-in", data={"token": TOKEN})
        assert "LUTRIN_FREE_SPACE_MB" in (await client.get("/teacher")).text
    async with serve(free_space_mb=0) as client:
        assert (await client.get("/ready")).json()["storing"] is True


async def test_a_server_says_so_while_it_cannot_store(house: House, serve: Serve) -> None:
    """For any reason: `/ready` and the teacher's page report it until a conversation is stored again."""
    key, path = new_key(), house.data_dir / "refusing.db"
    house.chats = await SqlChatStore.open(path, key)
    body = {"session_id": "s1", "message": "Q"}
    async with serve(free_space_mb=0, admin_token=TOKEN) as client:
        await client.post("/teacher/sign-in", data={"token": TOKEN})
        for statement, stored in ((REFUSE, False), ("DROP TRIGGER refuse", True)):
            with closing(sqlite.connect(path, key=key)) as connection:
                connection.execute(statement)
            warnings = (await client.post("/chat", json=body, headers=MINE)).json()["warnings"]
            assert (NOT_SAVED in warnings) is not stored
            assert (await client.get("/ready")).json()["storing"] is stored
            assert (NOT_STORING.partition("`")[0] in (await client.get("/teacher")).text) is not stored
    await house.chats.close()


def test_the_disk_is_looked_at_now_and_then(tmp_path: Path) -> None:
    """Not for every question; a folder that is not there yet lies on the disk of the one above it."""
    clock, looks = Clock(), []

    def look(folder: Path) -> int:
        looks.append(folder)
        return 100

    space = FreeSpace(tmp_path / "not" / "yet", 101, clock, look)
    assert [space.low for _ in range(5)] == [True] * 5
    assert looks == [tmp_path]
    clock.now_s += 3
    assert space.low
    assert len(looks) == 2


def test_a_full_disk_is_said_before_a_database_fails(tmp_path: Path) -> None:
    """With the remedy, in the place of an I/O error; the folder may not be there yet."""
    with pytest.raises(LutrinError, match=r"disk of .* is full\. Free some space, then start again\."):
        require_room(tmp_path / "not" / "yet", lambda _: LEAST_BYTES - 1)
    require_room(tmp_path, lambda _: LEAST_BYTES)


async def test_conversations_that_cannot_be_read_do_not_stop_answers(house: House, serve: Serve) -> None:
    """A damaged file: answers without memory, a warning, the reason for who runs the server, 503 for a history."""
    await house.chats.close()
    house.chats = AbsentChats(ChatStoreError("The file is damaged.", remedy="Restore a backup."))  # type: ignore[assignment]  # in its place
    house.trouble = "The file is damaged. Restore a backup."
    async with serve() as client:
        reply = await client.post("/chat", json={"session_id": "s1", "message": "Q"}, headers=MINE)
        assert reply.status_code == 200
        assert "cannot read its conversations" in reply.json()["warnings"][-1]
        assert (await client.get("/history/s1", headers=MINE)).status_code == 503
        assert (await client.get("/ready")).json()["storing"] is False


class Days:
    """A clock of days."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        """The time."""
        return self.now


async def test_of_days_in_use_the_last_are_kept_when_the_clock_jumps(tmp_path: Path) -> None:
    """Conversations of the last two days before the jump stay; older ones go, as they would have anyway."""
    days = Days()
    store = await SqlChatStore.open(tmp_path / "chats.db", new_key(), days)
    for day in range(5):
        message = ChatMessage(id=f"m{day}", session_id=f"s{day}", role="user", text="Q", created="2026")
        await store.record(f"s{day}", ChatOrigin(session_id=f"s{day}"), [message])
        await store.retain(30)
        days.now += timedelta(days=1)
    days.now += timedelta(days=3650)
    assert await store.retain(3) == 3
    assert [len(await store.history(f"s{day}")) for day in range(5)] == [0, 0, 0, 1, 1]
    await store.close()


async def test_a_reader_s_room_ends_at_its_last_byte(tmp_path: Path) -> None:
    """What fits exactly is stored, and one byte more is not; readers without a secret share no such room."""
    message = ChatMessage(id="m", session_id="s", role="user", text="Q" * 100, created="2026")
    size = size_of(new_message("s", message, Seal()))
    for reader_bytes, owner, is_stored in ((size, "a" * 64, True), (size - 1, "a" * 64, False), (1, "", True)):
        room = Room(conversation_bytes=1 << 20, reader_bytes=reader_bytes)
        chats = await SqlChatStore.open(tmp_path / f"{reader_bytes}.db", new_key(), room=room)
        with nullcontext() if is_stored else pytest.raises(ChatStoreFull):
            await chats.record("s", ChatOrigin(session_id="s", owner=owner), [message])
        assert len(await chats.history("s")) == is_stored
        await chats.close()


async def test_a_clock_that_jumps_deletes_nothing(tmp_path: Path) -> None:
    """Ten years ahead are one day more; after so many days of use what is older goes."""
    days = Days()
    store = await SqlChatStore.open(tmp_path / "chats.db", new_key(), days)
    message = ChatMessage(id="m", session_id="s", role="user", text="Q", created="2026")
    await store.record("s", ChatOrigin(session_id="s"), [message])
    assert await store.retain(3) == 0
    days.now += timedelta(days=3650)
    assert await store.retain(3) == 0
    days.now -= timedelta(days=3650)
    for _ in range(2):
        days.now += timedelta(days=1)
        assert await store.retain(3) == 0
    days.now += timedelta(days=2)
    assert await store.retain(3) == 1
    assert await store.history("s") == []
    await store.close()
