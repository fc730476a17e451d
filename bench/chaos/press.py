"""A small book that keeps changing, and an ingest of it in a forked process that may be killed at any call."""

import asyncio
import contextlib
import ctypes
import faulthandler
import hashlib
import json
import os
import random
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.fakes import WordHashEmbedder

from lutrin.adapters.index_chroma import ChromaStore
from lutrin.errors import IngestInProgress, LutrinError
from lutrin.index.catalog import Catalog
from lutrin.index.generation import open_generation
from lutrin.index.readback import in_fresh_process, verify_generation
from lutrin.ingest.run import IngestTools, ingest
from lutrin.log import configure_logging
from lutrin.platform import stand_back
from lutrin.ports import Encoding
from lutrin.settings import Settings, load_settings

PATIENCE_S = 120.0
"""An ingest that takes longer hangs; what it waited for a processor does not count."""
LOOK_S = 1.0
WORDS = "robot joint torque lidar gait balance sensor planner grasp motor frame clock signal filter model step".split()
Answer = dict[str, Any]


class LoggingEmbedder(WordHashEmbedder):
    """Writes down which texts it embeds, outside of the folder whose disk fails."""

    def __init__(self, log: Path) -> None:
        self._log = log

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode, and write the texts' hashes down first."""
        with self._log.open("a") as file:
            file.writelines(f"{hashlib.sha256(text.encode()).hexdigest()}\n" for text in texts)
        return await super().encode(texts)


class Press:
    """The corpus, the data folder, and processes that ingest and inspect them.

    Args:
        root: An empty folder, or one whose pages another press has made; those stay.
        seed: Decides about every change.
        disk: The preloaded `failing_disk` library, if any.
    """

    def __init__(self, root: Path, seed: int, disk: ctypes.CDLL | None = None) -> None:
        self.corpus = root / "corpus" / "robots"
        self.data = root / "data"
        self.log = root / "embedded.log"
        self.rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self.disk = disk
        if self.corpus.exists():
            return
        self.corpus.mkdir(parents=True)
        (self.corpus / "book.toml").write_text('slug = "robots"\ntitle = "Robots"\n')
        for number in range(6):
            self._write(f"{number:02}-chapter-{number}/01-page.md")

    def settings(self) -> Settings:
        """Where everything lies."""
        return load_settings(data_dir=self.data, chunk_tokens=100, chunk_overlap_tokens=0)

    def edit(self) -> None:
        """Change a page; now and then add, remove or rename one."""
        pages = sorted(self.corpus.rglob("*.md"))
        self._write(self.rng.choice(pages).relative_to(self.corpus).as_posix())
        dice = self.rng.random()
        if dice < 0.2:
            self._write(f"{self.rng.randrange(90):02}-chapter-9/01-page.md")
        elif dice < 0.4 and len(pages) > 4:
            self.rng.choice(pages).unlink()
        elif dice < 0.5:
            page = self.rng.choice(pages)
            if page.exists():
                page.rename(page.with_name(f"{self.rng.randrange(1000):03}-page.md"))

    def snapshot(self) -> dict[str, str]:
        """SHA-256 of each page, by name."""
        pages = sorted(self.corpus.rglob("*.md"))
        return {p.relative_to(self.corpus).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in pages}

    def start(self, *, at: int = 0, mode: int = 0, lasting: bool = False, fresh: bool = False) -> "Child":
        """Fork an ingest.

        Args:
            at: The call on the data folder that fails; 0: none.
            mode: 0 kills, else the errno that it reports.
            lasting: All later writes fail, too.
            fresh: Verify in a spawned process, as the product does; else in the same one, which is faster.
        """

        async def work() -> Answer:
            stand_back()
            settings = self.settings()
            store = ChromaStore(self.data / "scratch")
            check = in_fresh_process(store) if fresh else partial(verify_generation, store=store)
            tools = IngestTools(LoggingEmbedder(self.log), store, check)
            if self.disk is not None:
                self.disk.disk_arm(str(self.data).encode(), at, mode, int(lasting))
            began = time.perf_counter()
            try:
                summary = await ingest(self.corpus, settings, tools)
            except IngestInProgress:
                return {"left_after_s": time.perf_counter() - began}
            calls = self.disk.disk_calls() if self.disk is not None else 0
            return {"calls": calls, "published": summary.published, "embedded": summary.texts_embedded}

        return Child(work)

    def inspect(self) -> Answer:
        """What a reader would find: verified, and the same as the catalogue says."""

        async def work() -> Answer:
            settings = self.settings()
            store = ChromaStore(self.data / "scratch")
            with Catalog(settings.catalog_path) as catalog:
                (state,) = catalog.connection.execute("PRAGMA integrity_check").fetchone()
                cached = [row[0] for row in catalog.connection.execute("SELECT content_hash FROM embedding")]
                books, listed = catalog.books(), catalog.files("robots")
                living = set(catalog.live())
            answer: Answer = {"integrity": state, "cached": cached, "current": None, "files": None}
            for book in books:
                directory = settings.books_dir / "robots" / book.current
                await verify_generation(directory, store)
                generation = await open_generation(directory, store)
                files = {file.filename: file.sha256 for file in generation.files}
                await generation.close()
                if files != {name: item.sha256 for name, item in listed.items()}:
                    raise AssertionError("index and catalogue differ")
                answer |= {"current": book.current, "files": files}
            folders = {path.name for path in settings.books_dir.glob("*/*")}
            return answer | {"strangers": sorted(folders - living)}

        return Child(work).answer()

    def embedded(self) -> list[str]:
        """Hashes of the texts embedded since the last call."""
        lines = self.log.read_text().split() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines

    def reset(self) -> None:
        """Forget everything that was ingested."""
        shutil.rmtree(self.data, ignore_errors=True)

    def _write(self, name: str) -> None:
        path = self.corpus / name
        path.parent.mkdir(parents=True, exist_ok=True)
        sections = [f"## Section {n}\n\n{' '.join(self.rng.choices(WORDS, k=30))}.\n" for n in range(3)]
        path.write_text(f"# Page {name[:2]}\n\n" + "\n".join(sections))


class Patience:
    """Time that a process may take, on any machine.

    It passes only while the process could have run: not while its threads wait for a processor (the kernel counts that
    in `/proc/PID/task/TID/schedstat`), nor while this process stands still itself.

    Args:
        pid: Of the process.
        seconds: How many.
    """

    def __init__(self, pid: int, seconds: float) -> None:
        self._pid = pid
        self.left_s = seconds
        self._waits_s: dict[int, float] = {}
        self._looked_s = time.monotonic()

    def look(self) -> None:
        """Let the time since the last look pass; at least once every `LOOK_S`."""
        now_s, waits_s = time.monotonic(), dict(_waits_s(self._pid))
        passed_s = min(now_s - self._looked_s, LOOK_S)
        waited_s = max((seconds - self._waits_s.get(thread, 0.0) for thread, seconds in waits_s.items()), default=0.0)
        self.left_s -= max(0.0, passed_s - waited_s)
        self._waits_s, self._looked_s = waits_s, now_s


def _waits_s(pid: int) -> Iterator[tuple[int, float]]:
    """Each thread of a process and of its children, and the seconds that it has waited for a processor."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it may have ended
            parents[int(stat.parent.name)] = int(stat.read_text("ascii", "replace").rpartition(")")[2].split()[1])
    for each in (pid, *(child for child, parent in parents.items() if parent == pid)):
        for task in Path(f"/proc/{each}/task").glob("*/schedstat"):
            with contextlib.suppress(OSError):
                yield int(task.parent.name), int(task.read_text("ascii").split()[1]) / 1e9


class Child:
    """A forked process that does something and answers with JSON; the imports are there already."""

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Answer]], patience_s: float = PATIENCE_S) -> None:
        self.patience_s = patience_s
        self.started = time.monotonic()
        read, write = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            _answer(work, write)
        os.close(write)
        self._pipe = read

    def kill_after(self, seconds: float) -> None:
        """SIGKILL at that moment, unless it is done before."""
        select.select([self._pipe], [], [], seconds)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    def answer(self) -> Answer:
        """Wait for the end: the answer, or `{"killed": True}`.

        Raises:
            AssertionError: The process failed in a way that is not one of Lutrin's errors, or hangs.
        """
        content, patience = b"", Patience(self.pid, self.patience_s)
        while True:
            while not select.select([self._pipe], [], [], LOOK_S)[0]:
                patience.look()
                if patience.left_s <= 0:
                    os.kill(self.pid, signal.SIGABRT)  # `faulthandler` then says where
                    raise AssertionError("the process hangs")
            part = os.read(self._pipe, 65536)
            if not part:
                break
            content += part
        os.close(self._pipe)
        _, status = os.waitpid(self.pid, 0)
        if content.endswith(b"\n"):
            found: Answer = json.loads(content)
            if "crash" in found:
                raise AssertionError(found["crash"])
            return found | {"seconds": time.monotonic() - self.started}
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            return {"killed": True}
        raise AssertionError(f"the process ended with status {status}")


def _answer(work: Callable[[], Coroutine[Any, Any, Answer]], pipe: int) -> None:
    """In the child: do the work, send the outcome, and exit without the parent's clean-up."""
    faulthandler.enable()
    configure_logging(load_settings(log_level="error"))
    try:
        found = asyncio.run(work())
    except LutrinError as error:
        found = {"error": type(error).__name__, "detail": error.detail}
    except BaseException as error:  # noqa: BLE001 - the parent reports any exception as a failure of the test
        found = {"crash": f"{type(error).__name__}: {error}"}
    with os.fdopen(pipe, "w") as file:
        file.write(json.dumps(found) + "\n")
    os._exit(0)
