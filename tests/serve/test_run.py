"""The process: its port, its signals, its retention."""

import asyncio
import os
import signal
import socket
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx
import pytest
from tests.loopback import NO_TLS

from lutrin.chats.key import new_key
from lutrin.chats.store import SqlChatStore
from lutrin.cli.serve import EVERYWHERE, with_own_names
from lutrin.errors import LutrinError
from lutrin.messages import KNOWLEDGE_BASE_DOWN
from lutrin.platform import network_addresses
from lutrin.records import ChatMessage, LeftOut
from lutrin.serve.app import run_server
from lutrin.settings import load_settings

from .conftest import House, Serve

OLD, YOUNG = "5d41402abc4b2a76b9719d911017c592", "7d793037a0760186574b0282f2f435e7"
TOKEN = "the-right-token-of-the-trial"
SESSION = "9f86d081884c7d659a2feaa0c55ad015"


def standing_still(then: datetime) -> datetime:
    """A clock that stands still."""
    return then


def free_port() -> int:
    """An unused port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


async def test_a_port_in_use_is_said(house: House) -> None:
    """With the port and the remedy, before anything is served."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LutrinError, match=rf"^Port {port} is in use\. Choose another one with --port\.$"):
            await run_server(house.services(), load_settings(data_dir=house.data_dir, port=port))


async def test_an_address_of_another_machine_is_said(house: House) -> None:
    """A host name that does not exist is named, too."""
    for host in ("192.0.2.1", "no-such-host.invalid"):
        with pytest.raises(LutrinError, match=f"Cannot listen on {host}"):
            await run_server(house.services(), load_settings(data_dir=house.data_dir, host=host, port=free_port()))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_and_what_was_sent_is_stored(house: House, number: signal.Signals) -> None:
    """The address is told when the port is ours; a running stream is ended, its beginning kept."""
    house.answers.pause_before = 4
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    settings = load_settings(data_dir=house.data_dir, port=free_port())
    running = asyncio.create_task(run_server(house.services(), settings, on_ready=told.set_result))
    address = await told
    body = {"session_id": SESSION, "message": "Q"}
    async with httpx.AsyncClient(base_url=address, timeout=20, verify=NO_TLS) as client:
        async with client.stream("POST", "/chat", json=body, headers={"Accept": "text/event-stream"}) as reply:
            got = ""
            async for piece in reply.aiter_text():
                got += piece
                if got.count("\n\n") == 4:
                    os.kill(os.getpid(), number)
        await asyncio.wait_for(running, 15)
    assert got.endswith('data: {"type":"error","detail":"' + KNOWLEDGE_BASE_DOWN + '"}\n\n')
    assert [message.role for message in await house.chats.history(SESSION)] == ["user", "assistant"]


async def test_a_connection_outlives_the_time_in_which_an_answer_is_read(house: House) -> None:
    """A question that comes seconds after the last answer must not run into a connection that is being closed."""
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    settings = load_settings(data_dir=house.data_dir, port=free_port())
    running = asyncio.create_task(run_server(house.services(), settings, on_ready=told.set_result))
    await told
    reader, writer = await asyncio.open_connection("127.0.0.1", settings.port)
    try:
        for pause_s in (0, 6):
            await asyncio.sleep(pause_s)
            writer.write(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            assert head.startswith(b"HTTP/1.1 200 ")
            await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
    finally:
        writer.close()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_the_whole_room_is_let_in_but_is_not_this_machine(house: House) -> None:
    """`--lan`: by its second address readers ask and the teacher signs in; file names are for the first one alone."""
    second = next(iter(network_addresses()), "")
    if not second:
        pytest.skip("this machine is in no network")
    house.left_out = [LeftOut("secret-plans.odt", "is an .odt file")]
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    wanted = load_settings(data_dir=house.data_dir, host=EVERYWHERE, port=free_port(), admin_token=TOKEN)
    settings = with_own_names(wanted, "desk.school.example")
    running = asyncio.create_task(run_server(house.services(), settings, on_ready=told.set_result))
    await told
    address = f"http://{second}:{settings.port}"
    ask = {"session_id": SESSION, "message": "Q"}
    try:
        async with httpx.AsyncClient(base_url=address, timeout=20, verify=NO_TLS, trust_env=False) as room:
            page = await room.post("/teacher/sign-in", data={"token": TOKEN}, headers={"Origin": address})
            assert page.status_code == 303
            room.cookies.clear()
            assert (await room.post("/chat", json=ask, headers={"Origin": address})).status_code == 200
            here = f"http://127.0.0.1:{settings.port}"
            assert (await room.get(f"{here}/ready")).json()["left_out"][0]["filename"] == "secret-plans.odt"
            assert (await room.get("/ready")).json()["left_out"] == []
            assert (await room.post("/chat", json=ask, headers={"Origin": here})).status_code == 403
            for name, status in (("desk.local", 200), ("evil.example", 400), (f"{second}:evil", 400)):
                assert (await room.get("/health", headers={"Host": name})).status_code == status
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_old_conversations_are_deleted(house: House, serve: Serve) -> None:
    """`LUTRIN_RETENTION_DAYS` holds from the start on; younger ones stay."""
    key, path = new_key(), house.data_dir / "old.db"
    for name, days in ((OLD, 31), (YOUNG, 29)):
        then = datetime.now(UTC) - timedelta(days=days)
        writer = await SqlChatStore.open(path, key, partial(standing_still, then))
        await writer.append(name, [ChatMessage(id=name, session_id=name, role="user", text="Q", created="2026")])
        await writer.close()
    for days in range(31):
        then = datetime.now(UTC) - timedelta(days=days)
        server = await SqlChatStore.open(path, key, partial(standing_still, then))
        await server.retain(36_500)
        await server.close()
    house.chats = await SqlChatStore.open(path, key)
    async with serve(retention_days=30) as client:
        for _ in range(100):
            if not (await client.get(f"/history/{OLD}")).json()["messages"]:
                break
        assert (await client.get(f"/history/{OLD}")).json() == {"messages": []}
        assert len((await client.get(f"/history/{YOUNG}")).json()["messages"]) == 1
    await house.chats.close()
