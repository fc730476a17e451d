"""A storm of readers who ask, drop, reload, reconnect, delete and upload while parts fail; no reader may hang.

    python bench/chaos_readers.py [--minutes 60] [--readers 100] [--seed 53]

One process holds the server (its real application, answer flow, shelf, workshop and encrypted conversations; embedder
and vectors are fakes that are slow and fail at random; the model's process is the real one with a scripted decoder) and
the readers, who use real connections. Every few seconds a new generation is published, the model's process or the one
that renders pages is killed or stopped, the disk is full or slow, for conversations and for indexes, or requests and
searches are cancelled at waits that are drawn one by one. At the end all readers leave, and everything is counted:
turns, leases, tasks, files, children, memory; an honest question is answered within a second. Exits with 1 if one of
these fails. An honest question every half minute shows the reader's view of the storm, beside the machine's load.
"""

import argparse
import asyncio
import errno
import functools
import json
import logging
import os
import random
import resource
import signal
import socket
import statistics
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from common import ROOT, finish, machine, resident_mb
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from lutrin.answer.flow import AnswerFlow
from lutrin.chats.key import new_key
from lutrin.chats.store import SqlChatStore
from lutrin.errors import ChatStoreFull, IndexUnavailable
from lutrin.generate.worker import Watch, WorkerGenerator
from lutrin.index.readback import verify_generation
from lutrin.index.shelf import Shelf
from lutrin.ingest.run import IngestTools, ingest
from lutrin.language.gate import LanguageGate
from lutrin.log import configure_logging
from lutrin.ports import Encoding
from lutrin.records import ChatMessage, ChatOrigin, Passage, Question
from lutrin.runtime.wiring import open_joiner
from lutrin.search.joined import retrieve_passages
from lutrin.search.search import Searcher
from lutrin.serve.app import create_app, with_guards
from lutrin.serve.library import ShelfLibrary
from lutrin.serve.render_process import Renderer
from lutrin.serve.services import Services
from lutrin.settings import Settings, load_settings

sys.path.append(str(ROOT))
from tests.answer.conftest import PAGES
from tests.fakes import ExactIndex, ExactStore, WordHashEmbedder, word_grader
from tests.fakes_generator import AgreeingDecoder

TOKEN = "the-token-of-the-storm-0001"  # noqa: S105 - of this server alone
HONEST = "How many watt hours does the battery of Kestrel store?"
ASKED = (
    HONEST,
    "What is the sensorimotor loop of sensing, deciding and acting?",
    "What is the drag of the kite?",
    "How far must I keep away from Wren?",
    "Tell me more",
    "Explain batteries",
    "Why?",
)
STUCK_S = 90.0
"""A reply that has not ended by then counts as stuck."""
HONEST_S = 1.0
FAULT_EVERY_S = 2.0
FELT_EVERY_S = 30.0
MORE_MB, MORE_FILES = 60.0, 12
"""Permitted growth of memory and open files since the first third of the storm."""


@dataclass(slots=True)
class Weather:
    """What fails now, and how often; the generator of chance is seeded."""

    chance: random.Random
    slow_s: float = 0.0
    fails: float = 0.0
    disk_full: bool = False
    disk_s: float = 0.0
    """Longest time that a write or an opened index waits for the disk."""
    cancels: float = 0.0
    """Share of the requests that are cancelled at a wait."""
    waits: Counter[str] = field(default_factory=Counter)
    """Most waits that a request of a kind has had."""
    cancelled_at: set[tuple[str, int]] = field(default_factory=set)
    faults: Counter[str] = field(default_factory=Counter)


class StormyEmbedder(WordHashEmbedder):
    """An embedder that is slow, fails or cancels its caller, as the weather demands."""

    def __init__(self, weather: Weather) -> None:
        self._weather = weather

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode."""
        weather = self._weather
        for _ in range(weather.chance.randrange(4)):
            await asyncio.sleep(weather.chance.random() * weather.slow_s)
        if weather.chance.random() < weather.fails:
            if weather.chance.random() < 0.5 and (task := asyncio.current_task()) is not None:
                weather.faults["search cancelled"] += 1
                task.cancel()
                await asyncio.sleep(0)
            weather.faults["embedder failed"] += 1
            raise IndexUnavailable("The embedder is away.")
        return await super().encode(texts)


class StormyChats(SqlChatStore):
    """Conversations whose disk is full now and then."""

    weather: Weather

    async def record(
        self, key: str, origin: ChatOrigin, messages: Sequence[ChatMessage], *, is_begun: bool = False
    ) -> None:
        """Store."""
        if self.weather.disk_full:
            self.weather.faults["disk full"] += 1
            raise ChatStoreFull("The disk is full.")
        await asyncio.sleep(self.weather.chance.random() * self.weather.disk_s)
        await super().record(key, origin, messages, is_begun=is_begun)


class StormyStore(ExactStore):
    """Vectors on a disk that is slow or full now and then."""

    def __init__(self, weather: Weather) -> None:
        self._weather = weather

    async def create(self, directory: Path, collection: str, count: int) -> ExactIndex:
        """Make an empty collection."""
        if self._weather.disk_full:
            self._weather.faults["disk full at an ingest"] += 1
            raise OSError(errno.ENOSPC, "No space left on device")
        return await super().create(directory, collection, count)

    async def open(self, directory: Path, collection: str) -> ExactIndex:
        """Read a finished collection."""
        await asyncio.sleep(self._weather.chance.random() * self._weather.disk_s)
        return await super().open(directory, collection)


class CancelledByStormError(Exception):
    """A request was cancelled where the storm wanted it."""


class Cancelled:
    """A request whose task is cancelled at one of its waits, which is drawn from those that its kind has had."""

    def __init__(self, app: ASGIApp, weather: Weather) -> None:
        self._app, self._weather = app, weather

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or not."""
        weather = self._weather
        if "method" not in scope or weather.chance.random() >= weather.cancels:
            await self._app(scope, receive, send)
            return
        kind = f"{scope['method']} /{scope['path'].split('/')[1]}"  # type: ignore[index]  # as checked above
        at = weather.chance.randrange(weather.waits[kind] + 1)
        started = False

        async def send_on(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        task = asyncio.current_task()
        if task is None:
            raise TypeError("a request runs in a task")
        stepped = _Stepped(self._app(scope, receive, send_on), at, task.cancel)
        try:
            await stepped
        except asyncio.CancelledError:
            if not stepped.reached:
                raise
            task.uncancel()
            weather.cancelled_at.add((kind, at))
            weather.faults["request cancelled"] += 1
            if started:  # else the rest would be missed in silence
                raise CancelledByStormError from None
            await send({"type": "http.response.start", "status": 503, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            weather.waits[kind] = max(weather.waits[kind], stepped.waits)


class _Stepped:
    """A coroutine that is counted wait by wait, and cancelled at one of them."""

    def __init__(self, work: Any, at: int, cancel: Callable[[], object]) -> None:  # noqa: ANN401 - any awaitable
        self.waits = 0
        self.reached = False
        self._work, self._at, self._cancel = work, at, cancel

    def __await__(self) -> Generator[Any, Any, None]:
        steps = self._work.__await__()
        step, value = steps.send, None
        while True:
            try:
                awaited = step(value)
            except StopIteration:
                return
            if self.waits == self._at:
                self.reached = True
                asyncio.get_running_loop().call_soon(self._cancel)
            self.waits += 1
            try:
                value = yield awaited
                step = steps.send
            except BaseException as error:  # noqa: BLE001 - a cancellation, too, belongs to the coroutine inside
                step, value = steps.throw, error


@dataclass
class House:
    """The server with all its parts in reach."""

    settings: Settings
    corpus: Path
    weather: Weather
    shelf: Shelf
    flow: AnswerFlow
    generator: WorkerGenerator
    store: StormyStore
    searcher: Searcher
    renderer: Renderer
    port: int = 0
    wrong: list[str] = field(default_factory=list)
    """What an honest reader got instead of the right answer."""

    async def publish(self) -> None:
        """Change a page and publish the book anew."""
        page = self.corpus / "robots" / "01-chapter-1-loops" / "01-the-loop.md"
        text = PAGES["01-chapter-1-loops/01-the-loop.md"]
        page.write_text(f"{text}\n\nThis is edition {self.weather.chance.randrange(10**6)}.\n", encoding="utf-8")

        async def verify(directory: Path) -> None:
            await verify_generation(directory, self.store)

        tools = IngestTools(embedder=WordHashEmbedder(), store=self.store, verify=verify)
        await ingest(self.corpus, self.settings, tools)

    async def retrieve(self, question: Question) -> Sequence[Passage]:
        """Search, in turn."""
        async with self.flow.search_turn(question):
            joiner = open_joiner(self.settings, self.searcher.embedder)
            return await retrieve_passages(self.shelf, self.searcher, joiner, question, default_k=5)

    async def read_uploads(self, progress: object) -> Mapping[str, int | float | str]:
        """What an upload starts."""
        del progress
        await self.publish()
        return {"files": 1}


@asynccontextmanager
async def open_house(place: Path, weather: Weather) -> AsyncIterator[House]:
    """The server on a loopback port."""
    settings = load_settings(
        data_dir=place / "data", corpus_dir=place / "corpus", admin_token=TOKEN, rate_session_per_min=0,
        rate_peer_per_min=0, trusted_proxies="127.0.0.1", connections=2000, connections_per_peer=2000,
        log_level="error", deadline_s=3.0, explain_s=5.0, model="none",
    )  # fmt: skip
    configure_logging(settings, quiet=True)
    for name, text in PAGES.items():
        path = settings.corpus_dir / "robots" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    store, renderer = StormyStore(weather), Renderer()
    watch = Watch(load_s=30.0, silence_s=3.0, check_s=0.1, first_pause_s=0.1, steady_s=5.0)
    decoder = functools.partial(AgreeingDecoder, step_s=0.002)
    generator = WorkerGenerator("scripted", decoder, watch=watch)
    searcher = Searcher(StormyEmbedder(weather))
    chats = await StormyChats.open(settings.data_dir / "chats.db", new_key())
    chats.weather = weather
    house = House(settings, settings.corpus_dir, weather, None, None, generator, store, searcher, renderer)  # type: ignore[arg-type]  # set below
    await house.publish()
    async with Shelf(settings.catalog_path, settings.books_dir, store, poll_s=0.5) as shelf:
        house.shelf = shelf
        house.flow = AnswerFlow(
            shelf=shelf, searcher=searcher, language=LanguageGate(settings.languages),
            settings=settings, generator=generator, chats=chats, grader=word_grader(),
        )  # fmt: skip
        services = Services(
            answers=house.flow, retrieve=house.retrieve, chats=chats, library=ShelfLibrary(shelf, house.corpus),
            generator=generator, ingest=house.read_uploads, renderer=renderer,
        )  # fmt: skip
        app = create_app(services, settings)
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        house.port = listener.getsockname()[1]
        config = uvicorn.Config(
            Cancelled(with_guards(app, services, settings), weather),
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
        )
        server = uvicorn.Server(config)
        running = asyncio.create_task(server.serve(sockets=[listener]), name="server")
        while not server.started:  # noqa: ASYNC110 - uvicorn offers a flag, no event
            await asyncio.sleep(0.01)
        try:
            yield house
        finally:
            server.should_exit = True
            await running
            listener.close()
            await generator.close()
            await chats.close()


class Reader:
    """Somebody with a browser, who behaves as readers do."""

    def __init__(self, house: House, number: int, tally: Counter[str], stuck: list[str]) -> None:
        self._house = house
        self._chance = random.Random(house.weather.chance.random())  # noqa: S311 - chance that can be repeated
        self._session = f"reader-{number}"
        self._tally = tally
        self._stuck = stuck
        self._headers = {
            "X-Forwarded-For": f"10.0.{number % 7}.{number % 30}",
            "X-Lutrin-Client": f"secret-of-reader-number-{number:06}",
        }

    async def live(self, end_s: float) -> None:
        """Do one thing after another until the end."""
        acts = [
            self.ask,
            self.ask,
            self.drop,
            self.drop,
            self.stream,
            self.reconnect,
            self.reload,
            self.delete,
            self.read,
        ]
        address = f"http://127.0.0.1:{self._house.port}"
        async with httpx.AsyncClient(
            base_url=address, timeout=STUCK_S, trust_env=False, headers=self._headers
        ) as client:
            while time.monotonic() < end_s:
                act = self.upload if self._chance.random() < 0.004 else self._chance.choice(acts)
                try:
                    await act(client)
                    self._tally[act.__name__] += 1
                except httpx.TimeoutException:
                    self._stuck.append(f"{self._session} {act.__name__}")
                except httpx.HTTPError:
                    self._tally["connection lost"] += 1
                await asyncio.sleep(self._chance.random() * 0.6)

    def body(self) -> dict[str, Any]:
        """A question, mostly a new one."""
        text = self._chance.choice(ASKED)
        more = f" {uuid.UUID(int=self._chance.getrandbits(128)).hex[:6]}" if self._chance.random() < 0.8 else ""
        return {"session_id": self._session, "message": f"{text}{more}"}

    def note(self, reply: httpx.Response) -> None:
        """Count a status; what no fault explains is an error."""
        self._tally[f"status {reply.status_code}"] += 1

    async def ask(self, client: httpx.AsyncClient) -> None:
        """Wait for the whole answer."""
        self.note(await client.post("/chat", json=self.body()))

    async def drop(self, client: httpx.AsyncClient) -> None:
        """Leave before the answer comes, at any moment."""
        with suppress(TimeoutError, httpx.HTTPError):
            async with asyncio.timeout(self._chance.random() * 0.5):
                await client.post("/chat", json=self.body())

    async def stream(self, client: httpx.AsyncClient, *, most: int = 10**9, last: str = "") -> str:
        """Read at most that many events; return the id of the last."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": last} if last else {})}
        seen, self._body = 0, getattr(self, "_body", None) if last else None
        self._body = self._body or self.body()
        async with client.stream("POST", "/chat", json=self._body, headers=headers) as reply:
            self.note(reply)
            async for line in reply.aiter_lines():
                if line.startswith("id: "):
                    last, seen = line[4:], seen + 1
                if seen >= most:
                    break
        return last

    async def reconnect(self, client: httpx.AsyncClient) -> None:
        """Lose the connection within the answer, once or twice, and go on from there, soon or late."""
        last = await self.stream(client, most=self._chance.randint(1, 3))
        for _ in range(2):
            await asyncio.sleep(self._chance.choice([0.0, 0.0, 0.3, 0.45, 1.0]))
            last = await self.stream(client, most=self._chance.choice([2, 10**9]), last=last)

    async def reload(self, client: httpx.AsyncClient) -> None:
        """Read the conversation and the list of conversations again."""
        self.note(await client.get(f"/history/{self._session}"))
        self.note(await client.get("/sessions"))

    async def delete(self, client: httpx.AsyncClient) -> None:
        """Delete the conversation, maybe while its answer runs."""
        asking = asyncio.create_task(self.drop(client))
        await asyncio.sleep(self._chance.random() * 0.1)
        self.note(await client.delete(f"/sessions/{self._session}"))
        await asking

    async def read(self, client: httpx.AsyncClient) -> None:
        """Open a page of the book."""
        self.note(await client.get("/read/robots/01-chapter-1-loops/01-the-loop"))

    async def upload(self, client: httpx.AsyncClient) -> None:
        """Send a book, as the teacher."""
        files = {"files": (f"note-{self._chance.randrange(3)}.md", b"# A note\n\nA robot is a machine.\n")}
        right = {"Authorization": f"Bearer {TOKEN}"}
        self.note(await client.post("/books", files=files, data={"book": "notes", "replace": "true"}, headers=right))


FAULTS = ("calm", "slow", "failing", "full disk", "slow disk", "cancelled", "model killed", "model stopped",
          "renderer killed", "publish")  # fmt: skip


async def storm(house: House, end_s: float) -> None:
    """Let parts fail and come back until the end."""
    weather, chance = house.weather, house.weather.chance
    while time.monotonic() < end_s:
        await asyncio.sleep(chance.random() * FAULT_EVERY_S)
        fault = chance.choice(FAULTS)
        weather.slow_s = 0.2 if fault == "slow" else 0.005
        weather.fails = 0.05 if fault == "failing" else 0.0
        weather.disk_full = fault == "full disk"
        weather.disk_s = 1.0 if fault == "slow disk" else 0.0
        weather.cancels = 0.5 if fault == "cancelled" else 0.05
        weather.faults[fault] += 1
        if fault in {"model killed", "model stopped"} and house.generator.pid is not None:
            with suppress(ProcessLookupError):
                os.kill(house.generator.pid, signal.SIGKILL if fault == "model killed" else signal.SIGSTOP)
        elif fault == "renderer killed":
            for child in children() - {house.generator.pid}:
                with suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        elif fault in {"publish", "full disk"}:
            try:
                await house.publish()
            except Exception as error:  # noqa: BLE001 - the disk is full, or another ingest runs, which an upload began
                weather.faults[f"{fault}: {type(error).__name__}"] += 1
    weather.slow_s = weather.fails = weather.disk_s = weather.cancels = 0.0
    weather.disk_full = False


def children() -> set[int]:
    """The processes that this one has started and not ended."""
    own = Path(f"/proc/{os.getpid()}/task")
    found = set[int]()
    for task in own.iterdir():
        with suppress(OSError):  # a thread that has ended meanwhile
            found |= set(map(int, (task / "children").read_text(encoding="ascii").split()))
    return found


async def feel(house: House, end_s: float, felt: list[tuple[float, float]]) -> None:
    """Ask an honest question now and then; note how long it took, and the load of the machine."""
    while time.monotonic() < end_s:
        await asyncio.sleep(FELT_EVERY_S)
        felt.append((await honest_s(house), os.getloadavg()[0]))
        seconds, load = felt[-1]
        left_min = (end_s - time.monotonic()) / 60
        line = f"{left_min:5.1f} min left, honest {seconds:.2f} s, load {load:.1f}, {resident_mb():.0f} MB"
        print(f"{line}, {open_files()} files, restarts {house.generator.restarts}", file=sys.stderr, flush=True)


def name_of(task: asyncio.Task[Any]) -> str:
    """What a task runs."""
    return str(getattr(task.get_coro(), "__qualname__", task.get_name()))


def open_files() -> int:
    """Files and sockets that this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def honest_s(house: House) -> float:
    """Seconds until an honest reader has the right answer; infinite for any other."""
    headers = {"X-Forwarded-For": "192.0.2.77"}
    began_s = time.monotonic()
    async with httpx.AsyncClient(timeout=STUCK_S, trust_env=False, headers=headers) as client:
        try:
            reply = await client.post(f"http://127.0.0.1:{house.port}/api/query", json={"query": HONEST, "wait_s": 0})
        except httpx.HTTPError:
            return float("inf")
    if reply.status_code == httpx.codes.OK and "480 watt hours" in reply.text:
        return time.monotonic() - began_s
    house.wrong.append(f"{reply.status_code} after {time.monotonic() - began_s:.2f} s: {reply.text[:300]}")
    return float("inf")


async def run(minutes: float, readers: int, seed: int) -> dict[str, Any]:
    """The storm, and what is left of it."""
    weather = Weather(random.Random(seed), slow_s=0.005)  # noqa: S311 - chance that can be repeated
    tally: Counter[str] = Counter()
    stuck: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        async with open_house(Path(folder), weather) as house:
            if not await house.generator.start():
                raise TypeError("the model's process does not start")
            await honest_s(house)
            tasks = set[str]()
            for _ in range(20):
                await asyncio.sleep(0.1)
                tasks |= {name_of(task) for task in asyncio.all_tasks()}
            began_s = time.monotonic()
            end_s = began_s + 60 * minutes
            crowd = [asyncio.create_task(Reader(house, number, tally, stuck).live(end_s)) for number in range(readers)]
            crowd.append(asyncio.create_task(storm(house, end_s)))
            felt: list[tuple[float, float]] = []
            crowd.append(asyncio.create_task(feel(house, end_s, felt)))
            await asyncio.sleep(20 * minutes)
            before_mb = resident_mb()
            done, late = await asyncio.wait(crowd, timeout=40 * minutes + 2 * STUCK_S)
            stuck += [f"reader {task.get_name()}" for task in late]
            failed = [repr(task.exception()) for task in done if task.exception() is not None]
            await asyncio.sleep(5)  # answers without readers end, the last generations close
            files, memory_mb = open_files(), resident_mb()
            load = os.getloadavg()[0]
            answered_s = min([await honest_s(house) for _ in range(3)])
            await asyncio.sleep(2)
            with suppress(TimeoutError):
                async with asyncio.timeout(STUCK_S):
                    while not house.generator.serves:  # noqa: ASYNC110 - it sends no event
                        await asyncio.sleep(0.1)
            back = house.generator.serves
            turns = house.flow._turns  # noqa: SLF001 - what is left is counted inside
            left = sorted({name_of(task) for task in asyncio.all_tasks()} - tasks)
            open_leases, retired = house.shelf._leases, house.shelf._retired  # noqa: SLF001 - what is left is counted inside
            leases = sum(lease.leases for lease in (*open_leases.values(), *retired))
            report = {
                "seed": seed, "minutes": minutes, "readers": readers,
                "acts": dict(tally), "faults": dict(weather.faults),
                "stuck": stuck[:20], "failed": failed[:5], "turns free": turns.free, "waiting": turns.waiting,
                "leases": leases, "retired": len(retired), "model back": back,
                "streams of the model": len(house.generator._inboxes),  # noqa: SLF001 - what is left is counted inside
                "restarts of the model": house.generator.restarts, "children": len(children()),
                "waits cancelled at": len(weather.cancelled_at), "waits": dict(weather.waits),
                "tasks left": left[:20], "files": files, "memory_mb": round(memory_mb),
                "memory_mb after a third": round(before_mb), "honest_s": round(answered_s, 2), "load": round(load, 1),
                "honest_s in the storm": in_words(felt), "not right": house.wrong[:5],
            }  # fmt: skip
    report["files at the end"], report["children at the end"] = open_files(), len(children())
    report["well"] = (
        not stuck and not failed and (turns.free, turns.waiting, leases) == (1, 0, 0) and not report["retired"]
        and report["streams of the model"] == 0 and back and answered_s <= HONEST_S
        and not report["tasks left"] and report["children at the end"] == 0
        and memory_mb <= before_mb + MORE_MB and files <= MORE_FILES + 2 * readers
        and tally["status 500"] == 0
    )  # fmt: skip
    return report


def in_words(felt: Sequence[tuple[float, float]]) -> str:
    """Median and worst of the honest questions within the storm, with the load of the machine beside each."""
    if not felt:
        return "none was asked"
    ordered = sorted(felt)
    middle, worst = ordered[len(ordered) // 2], ordered[-1]
    loads = statistics.fmean(load for _, load in felt)
    return (
        f"{len(felt)}: median {middle[0]:.2f} s (load {middle[1]:.1f}), worst {worst[0]:.2f} s (load {worst[1]:.1f}), "
        f"mean load {loads:.1f}"
    )


def main() -> int:
    """Let it storm and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--readers", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    # Where the model's process finds its decoder.
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    logging.getLogger("uvicorn.error").disabled = True  # it would log each request that the storm cancels
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    report = asyncio.run(run(arguments.minutes, arguments.readers, arguments.seed))
    lines = [f"{name}: {json.dumps(value)}" for name, value in report.items()]
    finish(
        "a storm of readers",
        ["\n".join(lines)],
        report,
        machine(),
    )
    return 0 if report["well"] else 1


if __name__ == "__main__":
    sys.exit(main())
