"""The limits that docs/security.md names, shown; a change of a line here needs a change of that page."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from tests.loopback import NO_TLS

from lutrin.chats.key import chat_key
from lutrin.chats.store import SqlChatStore
from lutrin.records import ChatMessage
from lutrin.settings import load_settings

from .conftest import House, Serve
from .scripted import ANSWER

SECRET = "a-secret-of-my-browser-01"
TOKEN = "a-token-of-a-teacher"


@asynccontextmanager
async def overheard(port: int) -> AsyncIterator[tuple[int, bytearray]]:
    """A place on the network between a browser and the server: its port, and all bytes that pass both ways."""
    passed = bytearray()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while piece := await reader.read(65_536):
                passed.extend(piece)
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, back), carry(there, writer))

    relay = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with relay:
        yield relay.sockets[0].getsockname()[1], passed


async def test_without_tls_the_network_reads_along(serve: Serve) -> None:
    """Question, answer, the browser's secret and the administration token pass in plain text."""
    async with serve(admin_token=TOKEN, metrics="token") as client:
        port = client.base_url.port
        assert port is not None
        head = {"X-Lutrin-Client": SECRET, "Accept-Encoding": "identity"}
        async with (
            overheard(port) as (listening, passed),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{listening}", verify=NO_TLS, headers=head) as browser,
        ):
            await browser.post("/chat", json={"session_id": "s1", "message": "A needle?"})
            await browser.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    for word in ("A needle?", SECRET, TOKEN, ANSWER.sources[0].quote):
        assert word.encode() in passed


async def test_whoever_has_the_data_folder_has_the_key(tmp_path: Path) -> None:
    """A copy of the folder opens the conversations elsewhere; with the key in `LUTRIN_CHAT_KEY` it holds none."""
    settings = load_settings(data_dir=tmp_path / "data")
    store = await SqlChatStore.open(settings.chats_path, chat_key(settings))
    message = ChatMessage(id="m1", session_id="s1", role="user", text="Kept?", created="2026")
    await store.append("s1", [message])
    await store.close()
    stolen = load_settings(data_dir=shutil.copytree(tmp_path / "data", tmp_path / "stolen"))
    opened = await SqlChatStore.open(stolen.chats_path, chat_key(stolen))
    assert await opened.history("s1") == [message]
    await opened.close()
    apart = load_settings(data_dir=tmp_path / "apart", chat_key=chat_key(settings))
    await (await SqlChatStore.open(apart.chats_path, chat_key(apart))).close()
    assert not apart.chat_key_path.exists()


async def test_a_new_secret_for_each_question_meets_no_quota(serve: Serve) -> None:
    """What one reader may store in a day is no bound for a program that invents readers."""
    async with serve(reader_kb=64) as client:
        for number in range(12):
            head = {"X-Lutrin-Client": f"an-invented-secret-{number:03}"}
            body = {"session_id": f"s{number}", "message": "q" * 7000}
            told = (await client.post("/chat", json=body, headers=head)).json()["warnings"]
            assert told == list(ANSWER.warnings)


async def test_figures_are_for_everybody(client: httpx.AsyncClient) -> None:
    """Unless `LUTRIN_METRICS=token`, `/metrics` asks for nothing."""
    assert "lutrin_questions_total" in (await client.get("/metrics")).text


async def test_a_shared_browser_shows_the_conversations_of_the_pupil_before(client: httpx.AsyncClient) -> None:
    """The secret is the browser's, not the person's: who sits down next can list and read."""
    head = {"X-Lutrin-Client": SECRET}
    await client.post("/chat", json={"session_id": "s1", "message": "What did Anna ask?"}, headers=head)
    (listed,) = (await client.get("/sessions", headers=head)).json()["sessions"]
    assert listed["title"] == "What did Anna ask?"
    assert len((await client.get(f"/history/{listed['id']}", headers=head)).json()["messages"]) == 2


async def test_programs_that_send_one_name_continue_one_conversation(serve: Serve, house: House) -> None:
    """OpenAI's `user` with the same key, from two clients that know nothing of each other."""
    body = {"messages": [{"role": "user", "content": "A needle?"}], "user": "alice"}
    async with serve() as client, httpx.AsyncClient(base_url=client.base_url, verify=NO_TLS) as other:
        for program in (client, other):
            await program.post("/v1/chat/completions", json=body)
    first, second = house.answers.asked
    assert first.session_id == second.session_id
    assert len(await house.chats.history(first.session_id)) == 4


async def test_many_addresses_are_many_readers(serve: Serve, house: House) -> None:
    """Each has its own limit, so ten addresses get ten times what one gets; no limit is for all of them."""
    async with serve(rate_peer_per_min=2, trusted_proxies="127.0.0.1") as client:
        for number in range(30):
            head = {"X-Forwarded-For": f"203.0.113.{number % 10}"}
            body = {"session_id": f"s{number}", "message": "Q"}
            reply = await client.post("/chat", json=body, headers=head)
            assert reply.status_code == (200 if number < 20 else 429)
    assert len(house.answers.asked) == 20
