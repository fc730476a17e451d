"""A conversation is its reader's: no guess, no prefix and no neighbour opens it."""

import time

import httpx

from lutrin.chats.key import conversation_key, owner_of
from lutrin.records import ChatMessage, ChatOrigin
from lutrin.serve.ownership import family, is_random, openai_session
from lutrin.serve.teacher_sign_in import DELAY_S

from .conftest import House, Serve


async def said(client: httpx.AsyncClient, path: str, **body: object) -> httpx.Response:
    """A question that is answered."""
    reply = await client.post(path, json=body)
    assert reply.status_code == 200
    return reply


async def history(client: httpx.AsyncClient, session: str) -> int:
    """Number of messages that this client may read."""
    return len((await client.get(f"/history/{session}")).json()["messages"])


async def test_an_id_that_can_be_guessed_belongs_to_who_began_it(serve: Serve) -> None:
    """`1` is a conversation of this client's; a stranger's `1` is another one, and neither sees the other's."""
    async with serve() as client, httpx.AsyncClient(base_url=client.base_url, verify=False) as stranger:  # noqa: S501 - loopback
        reply = await said(client, "/chat", session_id="1", message="A needle?")
        cookie = reply.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert await history(stranger, "1") == 0
        await said(stranger, "/chat", session_id="1", message="Mine?")
        assert (await history(client, "1"), await history(stranger, "1")) == (2, 2)


async def test_a_client_that_keeps_no_cookies_sends_the_header_back(serve: Serve) -> None:
    """Its own id and the secret of the first answer make one conversation; the id alone opens nothing."""
    async with serve() as client:
        reply = await said(client, "/chat", session_id="my-session", message="A needle?")
        secret = {"X-Lutrin-Client": reply.headers["x-lutrin-client"]}
        client.cookies.clear()
        again = await client.post("/chat", json={"session_id": "my-session", "message": "And?"}, headers=secret)
        assert "x-lutrin-client" not in again.headers
        assert len((await client.get("/history/my-session", headers=secret)).json()["messages"]) == 4
        assert await history(client, "my-session") == 0


async def test_where_sessions_are_open_an_id_is_enough(serve: Serve) -> None:
    """As a school may want it whose own pages make the ids."""
    async with serve(open_sessions=True) as client, httpx.AsyncClient(base_url=client.base_url, verify=False) as other:  # noqa: S501 - loopback
        reply = await said(client, "/chat", session_id="my-session", message="Q")
        assert not {"set-cookie", "x-lutrin-client"} & set(reply.headers)
        assert await history(other, "my-session") == 2


async def test_a_random_id_is_its_own_secret(serve: Serve) -> None:
    """A client without secret and without cookies reads the conversation whose id it made."""
    session = "9f86d081884c7d659a2feaa0c55ad015"
    async with serve() as client:
        reply = await said(client, "/chat", session_id=session, message="Q")
        assert "set-cookie" not in reply.headers
        assert await history(client, session) == 2


def test_what_counts_as_random() -> None:
    """By its form and by how many characters differ; one in sixty-four of 128 random bits looks like a UUID."""
    for session, random in (
        ("3f2a9c1e-5b7d-4e8f-9a0b-6c1d2e3f4a5b", False),
        ("3f2a9c1e5b7d4e8f9a0b6c1d2e3f4a5b", True),
        ("9f86d081884c7d659a2feaa0c55ad015", True),
        ("sY3-kQ0xZ_8vNf2LrT7uWq", True),
        ("1", False),
        ("class-7b-robotics-monday-morning", False),
        ("00000000000000000000000000000000", False),
        ("11111111-2222-1111-2222-111111111111", False),
        ("2026-11-25", False),
    ):
        assert is_random(session) is random


async def test_a_uuid_opens_a_conversation_only_with_its_owners_secret(serve: Serve) -> None:
    """122 random bits are too few to be a password; the browser that made the id sends its secret, and reads on."""
    session, secret = "3f2a9c1e-5b7d-4e8f-9a0b-6c1d2e3f4a5b", {"X-Lutrin-Client": "a-secret-of-my-browser-01"}
    async with serve() as client, httpx.AsyncClient(base_url=client.base_url, verify=False) as stranger:  # noqa: S501 - loopback
        await client.post("/chat", json={"session_id": session, "message": "A needle?"}, headers=secret)
        kept = (await client.get(f"/history/{session}", headers=secret)).json()["messages"]
        assert (len(kept), await history(stranger, session)) == (2, 0)


async def test_a_conversation_by_name_is_no_strangers(serve: Serve, house: House) -> None:
    """A conversation named by OpenAI's `user` is found at no address, even with its computed id."""
    body = {"messages": [{"role": "user", "content": "A needle?"}], "user": "alice"}
    async with serve() as client:
        await said(client, "/v1/chat/completions", **body)
        (asked,) = house.answers.asked
        stored = await house.chats.history(asked.session_id)
        assert len(stored) == 2
        for guess in (f"openai:{b'alice'.hex()}", stored[0].session_id, asked.session_id, "alice"):
            reply = await client.get(f"/history/{guess}")
            assert not (reply.json().get("messages"))


def test_the_whole_name_counts() -> None:
    """Users whose names begin alike, and clients with other keys, have conversations of their own."""
    long = "u" * 200
    named = [
        openai_session(b"key", long + "1", ""),
        openai_session(b"key", long + "2", ""),
        openai_session(b"key", long + "1", "Bearer other"),
        openai_session(b"another server", long + "1", ""),
    ]
    assert len(set(named)) == 4
    assert openai_session(b"key", "", "Bearer x") == ""


def test_of_a_user_agent_its_family_is_kept() -> None:
    """Details that would identify a pupil of a class are not stored."""
    for agent, kept in (
        ("Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox 128"),
        ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36", "Chrome 126"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36 Edg/126.0", "Edge 126"),
        ("Mozilla/5.0 (iPad; CPU OS 17_5) AppleWebKit/605.1.15 Version/17.5 Mobile/15E148 Safari/604.1", "Safari 17"),
        ("curl/8.5.0", "curl 8"),
        ("Anna's own program, anna@school.example", ""),
    ):
        assert family(agent) == kept


async def test_over_tls_no_neighbour_s_cookie_counts(serve: Serve) -> None:
    """The secret has a name that only this host can set, and over TLS the plain one is not believed."""
    secure = {"X-Forwarded-Proto": "https"}
    body = {"session_id": "alice", "message": "What is the loop?"}
    async with serve(trusted_proxies="127.0.0.1") as client:
        reply = await client.post("/chat", json=body, headers=secure)
        name, _, value = reply.headers["set-cookie"].partition(";")[0].partition("=")
        assert name == "__Host-lutrin-reader"
        client.cookies.clear()
        for cookie, count in ((name, 2), ("lutrin-reader", 0)):
            known = await client.get("/history/alice", headers={**secure, "Cookie": f"{cookie}={value}"})
            assert len(known.json()["messages"]) == count


async def test_a_cookie_counts_if_this_server_signed_it(serve: Serve) -> None:
    """Neither a browser nor a foreign page chooses the secret: an unknown one is replaced."""
    body = {"session_id": "alice", "message": "What is the loop?"}
    async with serve() as client:
        given = (await client.post("/chat", json=body)).cookies["lutrin-reader"]
        secret, _, signature = given.partition(".")
        assert (len(secret), len(signature)) == (43, 43)
        for cookie, count in (
            (given, 2),
            (f"{secret[:-1]}_.{signature}", 0),
            ("A" * 43, 0),
            (f"{'A' * 43}.{signature}", 0),
        ):
            client.cookies.clear()
            known = await client.get("/history/alice", headers={"Cookie": f"lutrin-reader={cookie}"})
            assert len(known.json()["messages"]) == count
        client.cookies.clear()
        reply = await client.post("/chat", json=body, headers={"Cookie": f"lutrin-reader={'A' * 43}"})
        assert not reply.cookies["lutrin-reader"].startswith("A" * 43)


async def test_cookies_from_before_they_were_signed_keep_their_conversations(serve: Serve, house: House) -> None:
    """Also after a change of the server's key; the next answer hands over a signed one of the same secret."""
    body = {"session_id": "alice", "message": "What is the loop?"}
    secret = "an-old-secret-of-a-reader-who-was-here-bef0"
    key = conversation_key("alice", owner_of(secret))
    origin = ChatOrigin(session_id="alice", owner=owner_of(secret))
    asked = ChatMessage(id="m1", session_id=key, role="user", text="Before?", created="2026-01-01T00:00:00Z")
    await house.chats.record(key, origin, [asked])
    async with serve() as client:
        for old in (secret, f"{secret}.{'x' * 43}"):
            client.cookies.clear()
            headers = {"Cookie": f"lutrin-reader={old}"}
            listed = (await client.get("/sessions", headers=headers)).json()["sessions"]
            assert [one["id"] for one in listed] == ["alice"]
            reply = await client.post("/chat", json=body, headers=headers)
            signed = reply.cookies["lutrin-reader"]
            assert signed.startswith(f"{secret}.")
            assert signed != old
            client.cookies.clear()
            again = await client.post("/chat", json=body, headers={"Cookie": f"lutrin-reader={signed}"})
            assert "lutrin-reader" not in again.cookies


async def test_no_token_is_no_guess(serve: Serve, house: House) -> None:
    """Pictures on a foreign page cause requests without a token, which lock no one out."""
    house.ingest = _nothing
    async with serve(admin_token="the-right-token-0001", metrics="token") as client:
        for _ in range(12):
            assert (await client.get("/ingest/0123")).status_code == 403
            assert (await client.get("/metrics")).status_code == 403
        right = {"Authorization": "Bearer the-right-token-0001"}
        assert (await client.post("/ingest", headers=right)).status_code == 202


async def test_guesses_from_many_addresses_lock_no_teacher_out(serve: Serve, house: House) -> None:
    """The right token is taken at once from everywhere else, by a program and by the page."""
    house.ingest = _nothing
    async with serve(admin_token="the-right-token-0001", trusted_proxies="127.0.0.1") as client:
        for address in range(25):
            for number in range(10):
                guess = {"Authorization": f"Bearer {number}", "X-Forwarded-For": f"192.0.2.{address}"}
                assert (await client.post("/ingest", headers=guess)).status_code == 403
        elsewhere = {"X-Forwarded-For": "198.51.100.1"}
        began_s = time.monotonic()
        right = {"Authorization": "Bearer the-right-token-0001", **elsewhere}
        assert (await client.post("/ingest", headers=right)).status_code == 202
        form = {"Content-Type": "application/x-www-form-urlencoded", **elsewhere}
        signed = await client.post("/teacher/sign-in", content="token=the-right-token-0001", headers=form)
        assert signed.status_code == 303
        assert time.monotonic() - began_s < DELAY_S


async def _nothing(progress: object) -> dict[str, int]:
    del progress
    return {}
