"""Kill a server while readers chat, crowd it, and guess ids.

    python bench/chaos_server.py [--kills 1000] [--crowds 50] [--guesses 100000] [--seed 0]

`kills`: the server is killed (SIGKILL) at random moments while readers chat; every acknowledged message must be there,
the database whole, and no word of a reader readable in any file. `crowds`: fifty questions of one session at once, of
which exactly ten are admitted. `guesses`: ids that are made up, nearly right, or right with another browser's secret;
no reply may hold a byte of another reader's, and unknown ids must take as long as other readers' do. The server and its
conversations are real, the answers are scripted. The last line is JSON.
"""

# ruff: noqa: S101 - a trial is a test, and its assertions are its result

import argparse
import asyncio
import http.client
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from chaos.quick_server import QuickServer
from common import machine

from lutrin import sqlite
from lutrin.chats.key import conversation_key, new_key, owner_of
from lutrin.chats.store import SqlChatStore
from lutrin.settings import load_settings

NEEDLE = "xylophone-needle"
READERS = 8
LIVES_S = (0.05, 0.6)
"""Seconds until a server is killed, from and to; its start takes about 0.2 s."""
AGAIN_S = 60.0
CONNECTIONS = 4
TIMED = 2000
"""Requests of each sort whose seconds are compared."""
UNLIKE = 1.1
"""Ratio of medians above which the time would reveal whether an id exists."""


def quick(place: Path, key: str, **settings: int) -> QuickServer:
    """A server in this folder, without limits unless they are asked for."""
    place.mkdir()
    bare = {"rate_session_per_min": 0, "rate_peer_per_min": 0, **settings}
    return QuickServer(place, key, load_settings(log_format="json", data_dir=place, **bare))


def kills(root: Path, count: int, order: random.Random) -> dict[str, Any]:
    """Kill that many servers in turn, then look for every acknowledged message."""
    place, key = root / "kills", new_key()
    server = quick(place, key)
    script = Path(__file__).parent / "chaos" / "chatters.py"
    acknowledged = root / "acknowledged.jsonl"
    server.start()
    chatters = subprocess.Popen([sys.executable, script, server.address, str(READERS), acknowledged, NEEDLE])
    try:
        await_more(acknowledged)
        for _ in range(count):
            time.sleep(order.uniform(*LIVES_S))
            server.kill()
            server.start()
        await_more(acknowledged)
    finally:
        chatters.kill()
        chatters.wait()
        server.kill()
    said = [json.loads(line) for line in acknowledged.read_text(encoding="utf-8").splitlines()]
    lost = asyncio.run(missing(server.database, key, said))
    assert not lost, f"{len(lost)} of {len(said)} acknowledged messages are gone, such as {lost[0]}"
    connection = sqlite.connect(server.database, key=key)
    (state,) = connection.execute("PRAGMA integrity_check").fetchone()
    damaged = connection.execute("PRAGMA cipher_integrity_check").fetchall()
    connection.close()
    assert state == "ok", state
    assert not damaged, damaged
    readable = [path.name for path in place.rglob("*") if path.is_file() and NEEDLE.encode() in path.read_bytes()]
    assert not readable, f"words of readers stand in {readable}"
    return {"kills": count, "acknowledged": len(said), "lost": 0, "integrity": state, "needle": "not found"}


def await_more(acknowledged: Path) -> None:
    """Wait until the server has acknowledged something again."""
    before = acknowledged.stat().st_size if acknowledged.exists() else 0
    end_s = time.monotonic() + AGAIN_S
    while not acknowledged.exists() or acknowledged.stat().st_size <= before:
        assert time.monotonic() < end_s, f"no message was acknowledged within {AGAIN_S:g} s"
        time.sleep(0.05)


async def missing(
    database: Path, key: str, said: list[tuple[int, str, int]], needle: str = NEEDLE
) -> list[tuple[int, str, int]]:
    """Acknowledged messages whose question or answer is not stored, in the order in which they were said."""
    chats = await SqlChatStore.open(database, key)
    try:
        lost = []
        stored: dict[tuple[int, str], list[tuple[str, str]]] = {}
        for reader, session, number in said:
            if (reader, session) not in stored:
                whose = conversation_key(session, owner_of(f"secret-of-reader-{reader:04}"))
                stored[reader, session] = [(item.role, item.text) for item in await chats.history(whose, 1000)]
            pair = [("user", f"{needle} {number}"), ("assistant", f"You said: {needle} {number} [1]")]
            found = stored[reader, session]
            places = [found.index(item) if item in found else -1 for item in pair]
            if -1 in places or places[0] > places[1]:
                lost.append((reader, session, number))
        return lost
    finally:
        await chats.close()


def crowds(root: Path, count: int) -> dict[str, Any]:
    """Send fifty requests of one session at once, in that many rounds."""
    server = quick(root / "crowds", new_key(), rate_session_per_min=10)
    server.start()
    try:
        with ThreadPoolExecutor(50) as pool:
            for number in range(count):
                body = json.dumps({"session_id": f"crowd-{number}", "message": "Q"})
                statuses = Counter(pool.map(lambda _, body=body: once(server, "POST", "/chat", body)[0], range(50)))
                assert statuses == {200: 10, 429: 40}, f"round {number}: {dict(statuses)}"
    finally:
        server.kill()
    return {"rounds": count, "admitted": "10 of 50 each"}


def guesses(root: Path, count: int, order: random.Random) -> dict[str, Any]:
    """Request that many guessed ids."""
    server = quick(root / "guesses", new_key())
    server.start()
    try:
        owned = [uuid.UUID(int=order.getrandbits(128)).hex for _ in range(50)]
        for session in owned:
            body = json.dumps({"session_id": session, "message": f"{NEEDLE} {session}"})
            assert once(server, "POST", "/chat", body, secret="the-owner-s-secret")[0] == 200  # noqa: S106 - of a test
        each = -(-count // CONNECTIONS)
        with ThreadPoolExecutor(CONNECTIONS) as pool:
            parts = list(pool.map(lambda part: guessing(server, owned, each, random.Random(part)), range(CONNECTIONS)))  # noqa: S311 - reproducible on purpose
        known, unknown = timed(server, owned, order)
    finally:
        server.kill()
    leaks = [leak for part in parts for leak in part]
    assert not leaks, f"{len(leaks)} replies held another reader's bytes, such as {leaks[0]}"
    ratio = known / unknown
    assert 1 / UNLIKE < ratio < UNLIKE, f"other readers' ids take {ratio:.2f} times as long as unknown ones"
    return {"guesses": each * CONNECTIONS, "leaks": 0, "foreign_ms": round(known * 1000, 3),
            "unknown_ms": round(unknown * 1000, 3), "ratio": round(ratio, 3)}  # fmt: skip


def guessing(server: QuickServer, owned: list[str], count: int, order: random.Random) -> list[str]:
    """Guess on one connection; the requests whose replies held something of the owner's."""
    leaks = []
    connection = http.client.HTTPConnection(*address(server))
    secrets = {"X-Lutrin-Client": "another-browser-s-secret"}
    for number in range(count):
        right = order.choice(owned)
        near = right[:-1] + order.choice("0123456789abcdef")
        guess = (right, near, uuid.UUID(int=order.getrandbits(128)).hex)[number % 3]
        paths = (f"/history/{guess}", f"/sessions/{guess}/export", "/sessions")
        connection.request("GET", paths[number // 3 % 3], headers=secrets if number % 2 else {})
        body = connection.getresponse().read()
        if NEEDLE.encode() in body or re.search(rb'"role"|"title": ?"[^NUF]', body):
            leaks.append(f"{paths[number // 3 % 3]}: {body[:80]!r}")
    connection.close()
    return leaks


def timed(server: QuickServer, owned: list[str], order: random.Random) -> tuple[float, float]:
    """Median seconds for another reader's id and for an unused one, requested in turn on one connection."""
    connection = http.client.HTTPConnection(*address(server))
    seconds: tuple[list[float], list[float]] = ([], [])
    for number in range(2 * TIMED):
        name = uuid.UUID(int=order.getrandbits(128)).hex if number % 2 else order.choice(owned)
        start_s = time.perf_counter()
        connection.request("GET", f"/history/{name}", headers={"X-Lutrin-Client": "another-browser-s-secret"})
        connection.getresponse().read()
        seconds[number % 2].append(time.perf_counter() - start_s)
    connection.close()
    return statistics.median(seconds[0]), statistics.median(seconds[1])


def once(server: QuickServer, method: str, path: str, body: str, *, secret: str = "") -> tuple[int, bytes]:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection(*address(server))
    headers = {"Content-Type": "application/json"} | ({"X-Lutrin-Client": secret} if secret else {})
    try:
        connection.request(method, path, body, headers)
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


def address(server: QuickServer) -> tuple[str, int]:
    """Host and port."""
    host, _, port = server.address.removeprefix("http://").partition(":")
    return host, int(port)


def main() -> int:
    """Run the trials that are asked for; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--crowds", type=int, default=50)
    parser.add_argument("--guesses", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    order = random.Random(arguments.seed)  # noqa: S311 - reproducible on purpose
    report: dict[str, Any] = {"benchmark": "chaos_server", "machine": machine("litestar", "uvicorn", "sqlcipher3")}
    failed = False
    trials = {
        "kills": (arguments.kills, lambda root: kills(root, arguments.kills, order)),
        "crowds": (arguments.crowds, lambda root: crowds(root, arguments.crowds)),
        "guesses": (arguments.guesses, lambda root: guesses(root, arguments.guesses, order)),
    }
    with tempfile.TemporaryDirectory(prefix="lutrin-chaos-") as folder:
        for name, (count, trial) in trials.items():
            if count:
                start_s = time.monotonic()
                try:
                    report[name] = trial(Path(folder))
                except AssertionError as error:
                    report[name], failed = {"FAILED": str(error)}, True
                print(f"{name:8} {time.monotonic() - start_s:7.1f} s  {report[name]}", flush=True)
    print(json.dumps(report))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
