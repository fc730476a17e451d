"""Let the class in: a second listener that opens and closes while the server runs, and the first password."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from tests.loopback import NO_TLS

from lutrin.messages import DOOR_TAKEN, NO_NETWORK, TOO_MANY_ATTEMPTS, WRONG_CODE
from lutrin.platform import network_addresses
from lutrin.serve.app import run_server
from lutrin.serve.teacher_password import TeacherPassword
from lutrin.serve.teacher_sign_in import DELAY_S, MAX_WAITING, WRONG_PER_MIN
from lutrin.settings import load_settings

from .conftest import House, Serve
from .test_run import free_port
from .test_teacher import PAGE, TOKEN, press, sign_in

PASSWORD = "nine lives"


@asynccontextmanager
async def running(house: House, port: int) -> AsyncIterator[tuple[httpx.AsyncClient, str]]:
    """A server as `lutrin serve` runs it, a client on this machine, and the code that the terminal printed."""
    ready = asyncio.get_running_loop().create_future()
    codes: list[str] = []
    settings = load_settings(data_dir=house.data_dir, port=port)
    task = asyncio.create_task(run_server(house.services(), settings, on_ready=ready.set_result, on_code=codes.append))
    address = await ready
    try:
        async with httpx.AsyncClient(base_url=address, timeout=20, verify=NO_TLS, trust_env=False) as client:
            yield client, (codes or [""])[0]
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def begin(client: httpx.AsyncClient, code: str, password: str = PASSWORD) -> httpx.Response:
    """Fill in the form of the first visit."""
    return await client.post(f"{PAGE}/set-up", data={"code": code, "password": password})


async def test_the_class_is_let_in_and_out(house: House) -> None:
    """By one button on the page; the address is shown with its code, and connections through the door are cut."""
    (second, *_) = network_addresses() or [""]
    if not second:
        pytest.skip("this machine is in no network")
    port = free_port()
    room = f"http://{second}:{port}"
    async with running(house, port) as (client, code), httpx.AsyncClient(verify=NO_TLS, trust_env=False) as pupil:
        assert (await begin(client, code)).status_code == 303
        assert "Only this computer can open the books now." in (await client.get(PAGE)).text
        with pytest.raises(httpx.ConnectError):
            await pupil.get(f"{room}/")
        for _ in range(2):
            assert (await press(client, "class/open")).status_code == 303
            assert (await pupil.get(f"{room}/")).status_code == 200
            page = (await client.get(PAGE)).text
            assert f"<strong>{room}/</strong>" in page
            assert room in (await client.get(f"{PAGE}/class")).text
            reader, writer = await asyncio.open_connection(second, port)
            writer.write(f"GET /health HTTP/1.1\r\nHost: {second}\r\n\r\n".encode())
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
            assert (await press(client, "class/close")).status_code == 303
            await reader.read()  # it ends
            writer.close()
            with pytest.raises(httpx.TransportError):
                await pupil.get(f"{room}/")
            assert (await client.get(f"{PAGE}/class")).headers["location"] == PAGE
        assert (await client.get("/health")).status_code == 200


@pytest.mark.parametrize(("addresses", "detail"), [([], NO_NETWORK), (["192.0.2.7"], DOOR_TAKEN)])
async def test_a_door_that_cannot_open_says_why(
    house: House, monkeypatch: pytest.MonkeyPatch, addresses: list[str], detail: str
) -> None:
    """Without a network, or where nothing can listen, in words for a teacher."""
    monkeypatch.setattr("lutrin.serve.app.network_addresses", lambda: addresses)
    port = free_port()
    async with running(house, port) as (client, code):
        await begin(client, code)
        reply = await press(client, "class/open")
        assert (reply.status_code, reply.json()["detail"]) == (422, detail.format(port=port))


async def test_the_first_password_needs_the_code_of_the_terminal(house: House) -> None:
    """Set once, in the browser; afterwards it signs in, its file holds no word of it, and no code is printed."""
    async with running(house, free_port()) as (client, code):
        assert re.fullmatch(r"\d{4} \d{4}", code)
        page = (await client.get(PAGE)).text
        assert "Welcome, teacher" in page
        assert "LUTRIN_" not in page
        wrong = await begin(client, "0000 0000" if code != "0000 0000" else "1111 1111")
        assert (wrong.status_code, WRONG_CODE in wrong.text) == (403, True)
        assert (await begin(client, code, "short")).status_code == 422
        done = await begin(client, code)
        assert (done.status_code, done.headers["location"]) == (303, PAGE)
        assert "Sign out" in (await client.get(PAGE)).text
        client.cookies.clear()
        assert (await begin(client, code)).status_code == 403
        assert (await sign_in(client, PASSWORD)).status_code == 303
        assert (await client.post("/ingest", headers={"Authorization": "Bearer wrong"})).status_code == 403
    kept = house.data_dir / "teacher.json"
    assert PASSWORD.encode() not in kept.read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o600


async def test_codes_are_guessed_as_seldom_as_passwords(house: House) -> None:
    """From the eleventh in a minute each waits two seconds, the right one too, and few may wait at once."""
    async with running(house, free_port()) as (client, code):
        other = "0000 0000" if code != "0000 0000" else "1111 1111"
        for _ in range(WRONG_PER_MIN):
            assert (await begin(client, other)).status_code == 403
        many = await asyncio.gather(*(begin(client, other) for _ in range(MAX_WAITING + 1)))
        refused = [reply for reply in many if reply.status_code == 429]
        assert [TOO_MANY_ATTEMPTS in reply.text for reply in refused] == [True]
        began_s = time.monotonic()
        assert (await begin(client, code)).status_code == 303
        assert time.monotonic() - began_s >= DELAY_S


async def test_a_password_is_changed_by_whoever_knows_it(serve: Serve, house: House) -> None:
    """Only with the current password; the operator's token stays valid beside it."""
    TeacherPassword(house.data_dir).set(PASSWORD)
    async with serve(admin_token=TOKEN) as client:
        await sign_in(client)
        key = re.search(r'name="key" value="([0-9a-f]{40})"', (await client.get(PAGE)).text)
        assert key
        fields = {"key": key[1], "old": "wrong", "password": "another one"}
        assert (await client.post(f"{PAGE}/password", data=fields)).status_code == 403
        assert (await client.post(f"{PAGE}/password", data={**fields, "old": PASSWORD})).status_code == 303
        await press(client, "sign-out")
        assert (await sign_in(client, PASSWORD)).status_code == 403
        assert (await sign_in(client, "another one")).status_code == 303


def test_a_password_outlives_the_process(tmp_path: Path) -> None:
    """The next one knows it, and has no code to give."""
    first = TeacherPassword(tmp_path)
    assert first.accepts(f" {first.code[:4]}-{first.code[4:]} ")
    assert not first.accepts("")
    first.set(PASSWORD)
    second = TeacherPassword(tmp_path)
    checks: list[Callable[[], bool]] = [lambda: second.matches(PASSWORD), lambda: second.matches(PASSWORD)]
    assert [check() for check in checks] == [True, True]
    assert not second.matches(f"{PASSWORD} ")
    assert (second.code, second.accepts("")) == ("", False)
