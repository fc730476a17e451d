"""Rate limits: sliding, atomic, exact; for each session and for each network peer."""

import asyncio
from typing import cast

import httpx
import pytest
from litestar.types import Scope

from lutrin.errors import RateLimited
from lutrin.messages import TOO_MANY_QUESTIONS
from lutrin.serve.limits import Limits, SlidingWindow, is_this_machine, peer_of, peer_of_scope

from .conftest import House, Serve
from .scripted import Clock


async def ask(client: httpx.AsyncClient, session: str = "s1", **headers: str) -> httpx.Response:
    """One question in a session."""
    return await client.post("/chat", json={"session_id": session, "message": "Q"}, headers=headers)


async def test_fifty_at_once_admit_exactly_ten(serve: Serve, house: House) -> None:
    """The limit holds however many requests arrive together, and only the admitted are answered."""
    async with serve(rate_session_per_min=10) as client:
        replies = await asyncio.gather(*(ask(client) for _ in range(50)))
    assert sorted(reply.status_code for reply in replies) == [200] * 10 + [429] * 40
    assert len(house.answers.asked) == 10


async def test_the_eleventh_question_of_a_minute(serve: Serve, house: House) -> None:
    """429 says when: asking one second earlier is refused, asking then is admitted."""
    async with serve(rate_session_per_min=10) as client:
        for _ in range(10):
            assert (await ask(client)).status_code == 200
            house.clock.now_s += 1.5
        refused = await ask(client)
        wait_s = int(refused.headers["retry-after"])
        assert (refused.status_code, refused.json()["detail"]) == (429, TOO_MANY_QUESTIONS)
        assert refused.json()["retry_after_s"] == wait_s == 45
        house.clock.now_s += wait_s - 1
        assert (await ask(client)).status_code == 429
        house.clock.now_s += 1
        assert (await ask(client)).status_code == 200
        assert (await ask(client)).status_code == 429


async def test_a_part_of_a_second_is_waited_for_whole() -> None:
    """A client that returns after the named seconds is admitted, and zero seconds are never named."""
    clock = Clock()
    limits = Limits(1, 0, clock)
    await limits.admit("s1", "p")
    for later_s, wait_s in ((0.5, 60), (59.4, 1)):
        clock.now_s += later_s
        with pytest.raises(RateLimited) as refused:
            await limits.admit("s1", "p")
        assert refused.value.retry_after_s == wait_s


async def test_sessions_do_not_share_a_window(serve: Serve) -> None:
    """One reader's haste is not another's; the same id with another secret is another session."""
    async with serve(rate_session_per_min=1) as client:
        assert (await ask(client, "s1")).status_code == 200
        assert (await ask(client, "s1")).status_code == 429
        assert (await ask(client, "s2")).status_code == 200
        assert (await ask(client, "s1", **{"X-Lutrin-Client": "another-browser-0001"})).status_code == 200


async def test_a_peer_cannot_dodge_by_new_sessions(serve: Serve) -> None:
    """The wider limit counts everything that comes from one address, searches too."""
    async with serve(rate_session_per_min=10, rate_peer_per_min=3) as client:
        codes = [(await ask(client, f"s{n}")).status_code for n in range(4)]
        assert codes == [200, 200, 200, 429]
        assert (await client.post("/api/retrieve", json={"query": "loop"})).status_code == 429
        assert (await client.get("/history/s1")).status_code == 200


async def test_streams_count_and_resuming_does_not(serve: Serve) -> None:
    """A client that resumes an answer has asked once."""
    body = {"session_id": "s1", "message": "Q"}
    stream = {"Accept": "text/event-stream"}
    async with serve(rate_session_per_min=1) as client:
        first = await client.post("/chat", json=body, headers=stream)
        last = f"{first.headers['x-lutrin-message']}.2"
        again = await client.post("/chat", json=body, headers={**stream, "Last-Event-ID": last})
        assert (again.status_code, again.text) == (200, first.text.split("\n\n", 2)[2])
        assert (await client.post("/chat", json=body, headers=stream)).status_code == 429


async def test_empty_questions_do_not_count(serve: Serve) -> None:
    """Refused empty questions cost nothing."""
    async with serve(rate_session_per_min=1) as client:
        for _ in range(3):
            assert (await client.post("/chat", json={"session_id": "s1", "message": ""})).status_code == 422
        assert (await ask(client)).status_code == 200


async def test_forwarded_addresses_count_from_trusted_proxies_only(serve: Serve) -> None:
    """Behind a trusted proxy each reader is a peer; else the header is a lie that changes nothing."""
    for trusted, expected in (("127.0.0.1", 200), ("10.0.0.0/8", 429)):
        async with serve(rate_peer_per_min=1, trusted_proxies=trusted) as client:
            await ask(client, "s1", **{"X-Forwarded-For": "203.0.113.1"})
            reply = await ask(client, "s2", **{"X-Forwarded-For": "203.0.113.2"})
            assert reply.status_code == expected


PEERS = [
    ("203.0.113.7", "", (), "203.0.113.7"),
    ("203.0.113.7", "198.51.100.1", (), "203.0.113.7"),
    ("10.0.0.1", "198.51.100.1", ("10.0.0.0/8",), "198.51.100.1"),
    ("10.0.0.1", "6.6.6.6, 198.51.100.1, 10.0.0.9", ("10.0.0.0/8",), "198.51.100.1"),
    ("10.0.0.1", "198.51.100.1:5678, 10.0.0.9:443", ("10.0.0.0/8",), "198.51.100.1"),
    ("10.0.0.1", "[2001:db8:1:2:3::4]:5678", ("10.0.0.0/8",), "2001:db8:1:2::/64"),
    ("10.0.0.1", "[2001:db8:1:2:3::4]", ("10.0.0.0/8",), "2001:db8:1:2::/64"),
    ("10.0.0.1", "nonsense:80", ("10.0.0.0/8",), "unknown"),
    ("10.0.0.1", "nonsense", ("10.0.0.0/8",), "unknown"),
    ("2001:db8:1:2:3::4", "", (), "2001:db8:1:2::/64"),
    ("::ffff:203.0.113.7", "", (), "203.0.113.7"),
    ("", "", (), "unknown"),
]


def test_who_asks() -> None:
    """Forwarded addresses are read from the right, as far as proxies are trusted; a household is one /64."""
    for case in PEERS:
        address, forwarded, trusted, peer = case
        assert peer_of(address, forwarded, trusted) == peer


async def test_a_question_counts_in_both_windows_or_in_none() -> None:
    """A refusal by the peer's limit leaves the session's window as it was."""
    limits = Limits(session_per_min=2, peer_per_min=1, clock=Clock())
    await limits.admit("s1", "a")
    with pytest.raises(RateLimited):
        await limits.admit("s1", "a")
    await limits.admit("s1", "b")
    with pytest.raises(RateLimited):
        await limits.admit("s1", "c")


def test_the_window_slides() -> None:
    """No sixty seconds, wherever they begin, hold more than the limit."""
    clock = Clock()
    window = SlidingWindow(3, clock)
    admitted = []
    for _ in range(1000):
        clock.now_s += 0.7
        if window.wait_s("k") == 0:
            window.admit("k")
            admitted.append(clock.now_s)
    assert all(later - earlier >= 60 for earlier, later in zip(admitted, admitted[3:], strict=False))
    assert len(admitted) >= 33


def test_memory_is_bounded() -> None:
    """A flood of new keys forgets the oldest instead of growing."""
    window = SlidingWindow(1, Clock(), most_keys=100)
    for n in range(10_000):
        window.admit(str(n))
    assert window.wait_s("9999") > 0
    assert window.wait_s("1") == 0


def test_forwarded_addresses_on_several_lines_are_one_list() -> None:
    """The line that the trusted proxy added is the last; what the client wrote above it is not believed."""

    def peer(*lines: bytes, client: str = "10.0.0.1", trusted: tuple[str, ...] = ("10.0.0.0/8",)) -> str:
        headers = [(b"x-forwarded-for", line) for line in lines]
        return peer_of_scope(cast("Scope", {"client": (client, 1), "headers": headers}), trusted)

    assert peer(b"192.0.2.1", b"198.51.100.7") == "198.51.100.7"
    assert peer(b"192.0.2.1, 192.0.2.2", b"198.51.100.7, 10.0.0.9") == "198.51.100.7"
    assert peer(b"192.0.2.1", b"") == "192.0.2.1"
    assert peer(b"192.0.2.1", client="203.0.113.5") == "203.0.113.5"
    assert not is_this_machine(cast("Scope", {"client": ("127.0.0.1", 1), "headers": [(b"forwarded", b"for=1")]}))
    assert is_this_machine(cast("Scope", {"client": ("127.0.0.1", 1), "headers": []}))
    assert not is_this_machine(cast("Scope", {"client": ("192.0.2.1", 1), "headers": []}))


def test_machines_of_a_network_without_a_router_are_peers_of_their_own() -> None:
    """Their addresses differ behind one prefix; the interface that they came by does not matter."""
    assert peer_of("fe80::1%eth0", "", ()) == peer_of("fe80::1", "", ()) == "fe80::1"
    assert peer_of("fe80::1", "", ()) != peer_of("fe80::2", "", ())
    assert peer_of("2001:db8::1", "", ()) == peer_of("2001:db8::2", "", ())
