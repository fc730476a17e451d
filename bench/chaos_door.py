"""Attacks over HTTP: large heads, slow connections, guesses, foreign pages, long questions; and wrong settings.

    python bench/chaos_door.py [--head-mb 300] [--headers 1200000] [--connections 1100] [--files 1024] [--guesses 200]
        [--questions 500] [--flood-s 30] [--asks 48] [--rate 300] [--settings N] [--wait-s 1] [--only TRIAL]

The target is a real server on a loopback port, with encrypted conversations and scripted answers; for wrong settings
and a full disk it is `lutrin serve` itself. Each trial reports the replies, the server's memory, whether others were
answered within a second meanwhile, and the number of log lines. The last line is JSON.
"""

# ruff: noqa: S101 - a trial is a test, and its assertions are its result

import argparse
import contextlib
import gzip
import http.client
import itertools
import json
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chaos.quick_server import QuickServer
from chaos.wrong_settings import LATER, WRONG
from common import machine

from lutrin.chats.key import new_key, rotate_key
from lutrin.errors import ChatStoreError
from lutrin.serve.teacher_sign_in import DELAY_S, WRONG_PER_MIN
from lutrin.settings import load_settings, variable_name

MOST_GROWN_MB = 20.0
MOST_GROWN_BY_WORK_MB = 100.0
"""Permitted growth in MB: cached results take up to 32, threads and gzip the rest."""
READER = "127.0.0.2"
REFUSED_S = 300.0
"""The processor time that an address may use at once is 15 s by default, which takes longer on a busy machine."""
SLACK_S = 0.05
"""Below it, twice as long is what one turn of the machine's own scheduler makes."""
MOST_LINES = 100
MOST_LANDING_BYTES = 80_000
CHUNK = 1 << 16
TOKEN = "the-right-token-of-the-trial"  # noqa: S105 - of a trial
JSON = {"Content-Type": "application/json"}


class Door:
    """The server under attack, with the requests of the trials.

    Args:
        server: The running server.
    """

    def __init__(self, server: QuickServer) -> None:
        self.server = server
        self.port = int(server.address.rpartition(":")[2])

    def memory_mb(self) -> float:
        """Return the memory of the server's process."""
        status = Path(f"/proc/{self.server.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024  # type: ignore[index]  # the kernel writes the line

    def lines(self) -> int:
        """Count the lines of the server's log, each of which must be a JSON object."""
        text = self.server.log.read_text(encoding="utf-8")
        for line in text.splitlines():
            assert isinstance(json.loads(line), dict), line
        return text.count("\n")

    def request(
        self, method: str, path: str, body: str = "", headers: dict[str, str] | None = None, *, source: str = ""
    ) -> tuple[int, bytes]:
        """Send one request on a new connection, from an address of this machine."""
        own = (source, 0) if source else None
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60, source_address=own)
        try:
            connection.request(method, path, body or None, headers or {})
            reply = connection.getresponse()
            return reply.status, reply.read()
        finally:
            connection.close()

    def health_s(self) -> float:
        """Return the seconds of a request for `/health`."""
        start_s = time.monotonic()
        assert self.request("GET", "/health")[0] == http.client.OK
        return time.monotonic() - start_s


@contextmanager
def others(door: Door) -> Iterator[list[float]]:
    """Ask for `/health` ten times a second meanwhile, and collect the seconds."""
    seconds: list[float] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            seconds.append(door.health_s())
            done.wait(0.1)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield seconds
    finally:
        done.set()
        thread.join()


def wire(door: Door, parts: Iterator[bytes]) -> str:
    """Send parts of a request; return the reply's status, or how the connection ended."""
    with socket.create_connection(("127.0.0.1", door.port), timeout=20) as connection:
        try:
            for part in parts:
                connection.sendall(part)
            reply = connection.recv(CHUNK)
        except ConnectionError:
            with contextlib.suppress(ConnectionError):
                return connection.recv(CHUNK).decode("latin-1")[9:12] or "closed"
            return "closed"
    return reply.decode("latin-1")[9:12] or "closed"


def heads(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Send one header of many megabytes, a million small ones, and an endless body."""
    start = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
    long = (b"X-Long: " + b"a" * CHUNK if n == 0 else b"a" * CHUNK for n in range(arguments.head_mb * 16))
    small = (b"a: b\r\n" * 1000 for _ in range(arguments.headers // 1000))
    body = (b"a" * CHUNK for _ in range(arguments.head_mb * 16))
    posting = b"POST /chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    posting += b"Transfer-Encoding: chunked\r\n\r\n"
    before_mb = door.memory_mb()
    found = {"a long header": wire(door, _begun(start, long)), "many headers": wire(door, _begun(start, small))}
    found["a long body"] = wire(door, _begun(posting + b"fffffff0\r\n", body))
    grown_mb = door.memory_mb() - before_mb
    assert set(found.values()) <= {"431", "413", "400", "closed"}, found
    assert grown_mb <= MOST_GROWN_MB, f"{grown_mb:.0f} MB more"
    return {**found, "memory_grown_mb": round(grown_mb, 1), "health_s": round(door.health_s(), 3)}


def _begun(start: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield start
    yield from rest


def slow(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Open many requests that never end while the server has few file handles; others are answered at once."""
    unfinished = b"POST /chat HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    unfinished += b"Content-Length: 1000\r\n\r\n{"
    lines, before_mb = door.lines(), door.memory_mb()
    open_ones = []
    with others(door) as seconds:
        for _ in range(arguments.connections):
            connection = socket.create_connection(("127.0.0.1", door.port), timeout=20)
            with contextlib.suppress(ConnectionError):
                connection.sendall(unfinished)
            open_ones.append(connection)
        time.sleep(3)
    for connection in open_ones:
        connection.close()
    last = door.server.log.read_text(encoding="utf-8").splitlines()[-5:]
    assert max(seconds) < arguments.wait_s, f"others waited {sorted(seconds)[-5:]} s {last}"
    written = door.lines() - lines
    assert written < MOST_LINES, f"{written} lines of log"
    return {
        "connections": arguments.connections, "others_asked": len(seconds),
        "others_median_s": round(statistics.median(seconds), 4), "others_slowest_s": round(max(seconds), 3),
        "log_lines": written, "memory_grown_mb": round(door.memory_mb() - before_mb, 1),
    }  # fmt: skip


def questions(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Send ten questions of 40 KB and long selections at once, repeatedly; others wait no longer than before."""
    short = json.dumps({"query": "What is a loop?"})
    long = [json.dumps({"query": "word " * 8000}), json.dumps({"query": "Q", "selected_text": "s" * 16_001})]
    alone = [_timed(lambda: door.request("POST", "/api/query", short, JSON)) for _ in range(arguments.asks)]
    done, statuses = threading.Event(), Counter[int]()

    def press(body: str) -> None:
        while not done.is_set():
            statuses[door.request("POST", "/api/query", body, JSON)[0]] += 1
            done.wait(0.05)

    threads = [threading.Thread(target=press, args=(long[n % 2],)) for n in range(10)]
    for thread in threads:
        thread.start()
    beside = [_timed(lambda: door.request("POST", "/api/query", short, JSON)) for _ in range(arguments.asks)]
    done.set()
    for thread in threads:
        thread.join()
    assert set(statuses) == {422}, statuses
    p95 = [round(p95_of(times), 3) for times in (alone, beside)]
    assert p95[1] < arguments.wait_s, f"others' p95 is {p95[1]} s"
    return {"refused": statuses.total(), "status": 422, "others_p95_s_alone": p95[0], "others_p95_s_beside": p95[1]}


def _timed(work: Callable[[], object]) -> float:
    start_s = time.monotonic()
    work()
    return time.monotonic() - start_s


def p95_of(times: list[float]) -> float:
    """Return what 95 in 100 waited no longer than."""
    return sorted(times)[int(len(times) * 0.95)]


def costs(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Ask over twenty connections for what is costly and never twice, until the address is refused, and go on asking.

    A server of its own, with the limits that servers have by default unless --rate says otherwise. Beside it a reader
    at another address looks at the shelf, a page and health, and waits twice as long at most.
    """
    place = door.server.database.parent / "costs"
    place.mkdir()
    limits = load_settings(data_dir=place, log_format="json", rate_peer_per_min=arguments.rate)
    server = QuickServer(place, new_key(), limits, ingest=_no_ingest)
    server.start()
    beside = Door(server)
    try:
        _await_health(beside)
        reading = ("/", "/read/b/0", "/health", "/study/b", "/read/b")
        for path in reading:
            beside.request("GET", path, source=READER)

        def read() -> list[float]:
            return [_timed(lambda path=path: _read(beside, path)) for path in reading * (arguments.asks // 4)]  # type: ignore[misc]  # bound early

        alone, before_mb = read(), beside.memory_mb()
        done, refused, numbers = threading.Event(), threading.Event(), itertools.count()
        statuses = Counter[int]()

        def press() -> None:
            while not done.is_set():
                number = next(numbers)
                dear = f"/qr.svg?to=/{number:0390}"  # 20 ms for those who never ask for the same
                path = (dear, f"/search?q={number}", dear, f"/read/b/{number % 20}", dear, "/schema")[number % 6]
                with contextlib.suppress(OSError, http.client.HTTPException):
                    status = beside.request("GET", path)[0]
                    statuses[status] += 1
                    if status == http.client.TOO_MANY_REQUESTS:
                        refused.set()

        threads = [threading.Thread(target=press) for _ in range(20)]
        start_s = time.monotonic()
        for thread in threads:
            thread.start()
        under = read()
        assert refused.wait(REFUSED_S), f"nothing was refused: {statuses}"
        until_s, served = time.monotonic() - start_s, statuses[200]
        time.sleep(arguments.flood_s)
        later = read()
        done.set()
        for thread in threads:
            thread.join()
        grown_mb = beside.memory_mb() - before_mb
    finally:
        server.stop()
    p95 = [round(p95_of(times), 4) for times in (alone, under, later)]
    assert p95[2] <= max(2 * p95[0], SLACK_S * arguments.wait_s), f"others' p95 is {p95[2]} s, alone {p95[0]} s"
    assert max(under + later) < arguments.wait_s, f"others waited {max(under + later):.2f} s"
    assert grown_mb < MOST_GROWN_BY_WORK_MB, f"{grown_mb:.0f} MB more"
    return {
        "requests": statuses.total(), "served_until_refused": served, "refused_after_s": round(until_s, 1),
        "refused": statuses[429], "others_p95_s_alone": p95[0], "others_p95_s_until_refused": p95[1],
        "others_p95_s": p95[2], "others_slowest_s": round(max(under + later), 3), "memory_grown_mb": round(grown_mb, 1),
    }  # fmt: skip


def _read(door: Door, path: str) -> None:
    status, _ = door.request("GET", path, source=READER)
    assert status == http.client.OK, f"{path}: {status}"


def guesses(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Guess the administration token at four endpoints; a client at another address that knows it does not wait."""
    start_s = time.monotonic()
    statuses: Counter[int] = Counter()
    for number in range(arguments.guesses):
        bearer = {"Authorization": f"Bearer guess-{number}"}
        match number % 4:
            case 0:
                statuses[door.request("POST", "/ingest", headers=bearer)[0]] += 1
            case 1:
                statuses[door.request("GET", "/ingest/0123", headers=bearer)[0]] += 1
            case 2:
                statuses[door.request("POST", "/books", headers=bearer)[0]] += 1
            case _:
                form = {"Content-Type": "application/x-www-form-urlencoded"}
                statuses[door.request("POST", "/teacher/sign-in", f"token=guess-{number}", form)[0]] += 1
    took_s = time.monotonic() - start_s
    assert statuses == {403: arguments.guesses}, statuses
    free = WRONG_PER_MIN * (1 + took_s / 60)
    assert took_s >= (arguments.guesses - free) * DELAY_S, f"{took_s:.1f} s"
    token = {"Authorization": f"Bearer {TOKEN}"}
    entered_s = _timed(lambda: door.request("GET", "/ingest/0123", headers=token, source=READER))
    assert entered_s < arguments.wait_s, f"the token took {entered_s:.1f} s"
    return {"guesses": arguments.guesses, "took_s": round(took_s, 1), "token_elsewhere_s": round(entered_s, 3)}


def strangers(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Ask for others' conversations by guessable ids, and ask from pages of other sites."""
    del arguments
    ask = json.dumps({"session_id": "1", "message": "A needle?"})
    named = json.dumps({"user": "alice", "messages": [{"role": "user", "content": "A needle?"}]})
    assert door.request("POST", "/chat", ask, JSON)[0] == 200
    assert door.request("POST", "/v1/chat/completions", named, JSON)[0] == 200
    guessed = ["1", "alice", f"openai:{b'alice'.hex()}", "openai:alice"]
    read = [json.loads(door.request("GET", f"/history/{name}")[1])["messages"] for name in guessed]
    assert not any(read), read
    refused = []
    for origin, kind in (("https://evil.example", "application/json"), ("https://evil.example", "text/plain"),
                         ("null", "text/plain"), ("", "text/plain")):  # fmt: skip
        headers = {"Content-Type": kind} | ({"Origin": origin} if origin else {})
        refused.append(door.request("POST", "/api/query", '{"query": "Q"}', headers)[0])
    assert refused == [403, 403, 403, 415], refused
    return {"guessed_names": len(guessed), "read": 0, "foreign_posts": refused}


def flood(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Ask endlessly in one conversation: its file stops growing, and answers go on."""
    secret = {"X-Lutrin-Client": "a-reader-without-an-end", **JSON}
    body = json.dumps({"session_id": "endless", "message": "q" * 4000})
    warned = 0
    for _ in range(arguments.questions):
        status, reply = door.request("POST", "/chat", body, secret)
        assert status == 200, status
        warned += bool(json.loads(reply)["warnings"])
    place = door.server.database.parent
    size_kb = sum(file.stat().st_size for file in place.glob("chats.db*")) >> 10
    assert warned, "the conversation never was full"
    assert size_kb < MOST_LOG_KB + 3 * SMALL_KB, f"{size_kb} KB are stored"
    return {"questions": arguments.questions, "not_stored": warned, "database_kb": size_kb, "limit_kb": SMALL_KB}


def landing(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure the bytes of the first page."""
    del arguments
    packed = {"Accept-Encoding": "gzip"}
    status, page = door.request("GET", "/", headers=packed)
    assert status == http.client.OK, status
    text = gzip.decompress(page) if page[:2] == b"\x1f\x8b" else page
    loaded = re.findall(rb'(?:src|href)="(/(?:static|widget)/[^"]+)"', text)
    sizes = {path.decode(): len(door.request("GET", path.decode(), headers=packed)[1]) for path in loaded}
    assert len(sizes) >= 4, sizes
    total = len(page) + sum(sizes.values())
    assert total <= MOST_LANDING_BYTES, sizes
    return {"bytes": total, "files": len(sizes) + 1}


def settings(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Start with wrong values: each start names the variable and ends; unknown names are reported."""
    every = [(variable_name(field), value) for field, value in (WRONG | LATER).items()]
    wrong = every[:: max(1, len(every) // arguments.settings)]
    for name, value in wrong:
        done = _lutrin("serve", **{"LUTRIN_DATA_DIR": str(door.server.database.parent / "empty"), name: value})
        said = done.stdout + done.stderr
        assert (done.returncode, name in said, "Traceback" in said) == (1, True, False), f"{name}={value}: {said}"
    told = _lutrin("config", LUTRIN_PROT="80")
    assert "LUTRIN_PROT" in told.stderr + told.stdout
    assert "LUTRIN_PORT" in told.stderr
    return {
        "settings": len(every),
        "wrong_values": len(wrong),
        "named": len(wrong),
        "unknown_names": 1,
        "nearest_told": 1,
    }


def keys(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Try to change the key of a running server: this is refused, and the server continues."""
    del arguments
    refused = ""
    try:
        rotate_key(door.server.database, door.server.key, new_key())
    except ChatStoreError as error:
        refused = error.detail
    ask = json.dumps({"session_id": "keys", "message": "Q"})
    status, reply = door.request("POST", "/chat", ask, {"X-Lutrin-Client": "a-reader-beside-the-rotation", **JSON})
    assert refused, "the key was changed beside a server"
    assert (status, json.loads(reply)["warnings"]) == (200, [])
    return {"rotation_beside_server": "refused", "answered_after": status}


def disk(door: Door, arguments: argparse.Namespace) -> dict[str, Any]:
    """Start on a full disk: the message has a remedy. Needs the right to mount a file system."""
    del arguments
    place = door.server.database.parent / "full"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return {"full_disk": "skipped: mounting is not permitted"}
    try:
        with contextlib.suppress(OSError), (place / "filler").open("wb", buffering=0) as filler:
            while filler.write(bytes(CHUNK)):
                pass
        done = _lutrin("serve", "--data-dir", str(place / "data"))
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "is full. Free some space" in said, said
    return {"full_disk": "named, with the remedy", "exit": done.returncode}


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _lutrin(*words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command as an operator types it, without this machine's settings."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("LUTRIN_")}
    own = {"LUTRIN_PORT": str(_free_port()), "LUTRIN_MODEL": "none", "LUTRIN_MODELS_DIR": str(MODELS), **variables}
    with tempfile.TemporaryDirectory() as elsewhere:  # without an .env
        return subprocess.run(
            [LUTRIN, *words],
            env={**bare, **own},
            cwd=elsewhere,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )


SMALL_KB = 256
MOST_LOG_KB = 4096 + 64
"""SQLite folds its log into the database at a thousand pages of 4 kB."""
LUTRIN = Path(sys.executable).with_name("lutrin")
MODELS = Path(__file__).parents[1] / "models"
TRIALS = {"heads": heads, "slow": slow, "questions": questions, "costs": costs, "strangers": strangers, "flood": flood,
          "guesses": guesses, "settings": settings, "keys": keys, "disk": disk, "landing": landing}  # fmt: skip


async def _no_ingest(_: object) -> dict[str, int]:
    return {}


def main() -> int:
    """Run every trial; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--head-mb", type=int, default=300)
    parser.add_argument("--headers", type=int, default=1_200_000)
    parser.add_argument("--connections", type=int, default=1100)
    parser.add_argument("--files", type=int, default=1024)
    parser.add_argument("--guesses", type=int, default=200)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument(
        "--flood-s", type=float, default=30.0, help="How long costly requests go on when they are refused."
    )
    parser.add_argument("--asks", type=int, default=48, help="Honest requests of each kind beside an attack.")
    parser.add_argument("--rate", type=int, default=300, help="Questions a minute that an address has.")
    parser.add_argument(
        "--settings", type=int, default=len(WRONG | LATER), help="How many wrong settings to start with."
    )
    parser.add_argument("--wait-s", type=float, default=1.0, help="Longest that anybody else may wait.")
    parser.add_argument("--only", choices=TRIALS, help="One trial alone.")
    arguments = parser.parse_args()
    report: dict[str, Any] = {"benchmark": "chaos_door", "machine": machine("uvicorn", "h11", "litestar")}
    failed = False
    with tempfile.TemporaryDirectory(prefix="lutrin-door-") as folder:
        place = Path(folder)
        of_server = load_settings(
            data_dir=place, log_format="json", rate_session_per_min=0, rate_peer_per_min=0, admin_token=TOKEN,
            conversation_kb=SMALL_KB,
        )  # fmt: skip
        server = QuickServer(place, new_key(), of_server, ingest=_no_ingest)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        door = Door(server)
        server.start(files=arguments.files)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))  # ours; the server's is its own
        try:
            _await_health(door)
            for name, trial in TRIALS.items():
                if arguments.only not in {None, name}:
                    continue
                start_s = time.monotonic()
                try:
                    report[name] = trial(door, arguments)
                except AssertionError as error:
                    report[name], failed = {"FAILED": str(error)}, True
                print(f"{name:10} {time.monotonic() - start_s:6.1f} s  {report[name]}", flush=True)
            report["log_lines"] = door.lines()
        finally:
            server.stop()
    print(json.dumps(report))
    return int(failed)


def _await_health(door: Door) -> None:
    end_s = time.monotonic() + 60
    while time.monotonic() < end_s:
        with contextlib.suppress(OSError, http.client.HTTPException):
            door.health_s()
            return
        time.sleep(0.1)
    sys.exit("The server did not start.")


if __name__ == "__main__":
    sys.exit(main())
