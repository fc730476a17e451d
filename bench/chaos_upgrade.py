"""Upgrade the data of an older Lutrin while processes are killed; nothing may be lost.

    python bench/chaos_upgrade.py [--kills 20] [--from REVISION] [--seed 0]

The older program is taken out of the repository's history (by default the last one whose index had another form). It
ingests a small book and serves readers who chat; then it ends, and today's program takes the folder over. `kill -9`
strikes at a random call on a file: while the conversations are migrated, and while the index is made anew. After each
one the next start must finish the work: every acknowledged message is there, the databases are whole, the index holds
every page, and nothing is left behind. The last line is JSON.
"""

# ruff: noqa: S101 - a trial is a test, and its assertions are its result

import argparse
import asyncio
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from chaos_ingest import preloaded
from common import ROOT, machine

MANIFEST = "src/lutrin/index/manifest.py"
MESSAGES = 60
OLD = """
import sys
from pathlib import Path
import lutrin
from chaos.press import Press
from chaos.quick_server import QuickServer
from lutrin.settings import load_settings
root, key, seed = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
assert Path(lutrin.__file__).is_relative_to(Path.cwd()), "this is not the older program"
Press(root, seed).start().answer()
(root / "chats").mkdir()
bare = {"rate_session_per_min": 0, "rate_peer_per_min": 0}
server = QuickServer(root / "chats", key, load_settings(log_format="json", data_dir=root / "chats", **bare))
server.start()
print(server.address, flush=True)
sys.stdin.readline()
server.stop()
"""
"""What the older program does, with its own trials' tools."""


def git(*arguments: str) -> bytes:
    """What git says."""
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, stdout=subprocess.PIPE).stdout


def last_of_another_form() -> str:
    """The revision before the one that gave the index its form of today."""
    from lutrin.index.manifest import FORMAT_VERSION  # noqa: PLC0415 - only after the library is preloaded

    changes = git("log", "--format=%H", f"-SFORMAT_VERSION = {FORMAT_VERSION}", "--", MANIFEST).decode().split()
    return f"{changes[-1]}^"


def make_old(root: Path, revision: str, key: str, seed: int) -> list[tuple[int, str, int]]:
    """Let the older program ingest and serve; returns the messages that it acknowledged."""
    source = root / "program"
    with tarfile.open(fileobj=io.BytesIO(git("archive", revision, "src", "bench"))) as archive:
        archive.extractall(source, filter="data")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = kept | {"PYTHONPATH": f"{source / 'src'}:{source / 'bench'}"}
    command = [sys.executable, "-c", OLD, str(root / "old"), key, str(seed)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=source, env=environment, text=True, **pipes) as older:
        address = older.stdout.readline().strip()
        assert address, "the older program does not run"
        acknowledged = root / "acknowledged.jsonl"
        script = str(ROOT / "bench" / "chaos" / "chatters.py")
        readers = subprocess.Popen([sys.executable, script, address, "4", str(acknowledged), "needle"], env=kept)
        try:
            while not acknowledged.exists() or len(acknowledged.read_text("utf-8").splitlines()) < MESSAGES:
                assert older.poll() is None, "the older program has ended"
                readers_ended = readers.poll()
                assert readers_ended is None, f"the readers have ended with {readers_ended}"
                asyncio.run(asyncio.sleep(0.1))
        finally:
            readers.kill()
            readers.wait()
        older.stdin.write("\n")
    assert older.returncode == 0
    lines = acknowledged.read_text("utf-8").splitlines()
    return [tuple(json.loads(line)) for line in lines if line.endswith("]")]


class Upgrade:
    """The older program's folder, and today's program that is killed in it.

    Args:
        root: Holds `old`, as `make_old` leaves it.
        key: Of the conversations.
        said: Messages that were acknowledged.
        disk: The preloaded library.
        seed: Decides about the moments; the same one as for `make_old`.
    """

    def __init__(self, root: Path, key: str, said: list[tuple[int, str, int]], disk: Any, seed: int) -> None:  # noqa: ANN401 - a ctypes library
        from chaos.press import Press  # noqa: PLC0415 - only after the library is preloaded

        self.key, self.said, self.disk = key, said, disk
        self.rng = random.Random(seed)  # noqa: S311 - repeatable, not secret
        self.press = Press(root / "old", seed, disk)
        self.chats = root / "old" / "chats"
        self.kept = root / "kept"
        shutil.copytree(self.press.data, self.kept / "data")
        shutil.copytree(self.chats, self.kept / "chats")

    def begin(self) -> None:
        """The older program's data once more."""
        for folder, name in ((self.press.data, "data"), (self.chats, "chats")):
            shutil.rmtree(folder)
            shutil.copytree(self.kept / name, folder)

    def migrate(self, at: int = 0) -> dict[str, Any]:
        """Open the conversations in a process of its own, which is killed at that call; 0: it is not."""
        from chaos.press import Child  # noqa: PLC0415 - only after the library is preloaded

        from lutrin.chats.engine import migrate  # noqa: PLC0415 - only after the library is preloaded

        async def work() -> dict[str, Any]:
            self.disk.disk_arm(str(self.chats).encode(), at, 0, 0)
            made = migrate(self.chats / "chats.db", self.key)
            return {"calls": self.disk.disk_calls(), "backups": len(made)}

        return Child(work).answer()

    def conversations(self, count: int) -> dict[str, int]:
        """Kill that many migrations, each at most twice."""
        self.begin()
        calls = self.migrate()["calls"]
        assert calls, "the older conversations need no migration"
        done = {"kills": 0, "missed": 0, "calls": calls}
        while done["kills"] < count:
            self.begin()
            for _ in range(self.rng.choice((1, 1, 2))):
                killed = self.migrate(self.rng.randint(1, calls)).get("killed", False)
                done["kills" if killed else "missed"] += 1
            self.migrate()
            self.require_conversations()
        return done

    def require_conversations(self) -> None:
        """Every acknowledged message is there, and the database whole."""
        from chaos_server import missing  # noqa: PLC0415 - only after the library is preloaded

        from lutrin import sqlite  # noqa: PLC0415 - only after the library is preloaded

        lost = asyncio.run(missing(self.chats / "chats.db", self.key, self.said, "needle"))
        assert not lost, f"{len(lost)} of {len(self.said)} acknowledged messages are gone, such as {lost[0]}"
        connection = sqlite.connect(self.chats / "chats.db", key=self.key)
        (state,) = connection.execute("PRAGMA integrity_check").fetchone()
        damaged = connection.execute("PRAGMA cipher_integrity_check").fetchall()
        connection.close()
        assert state == "ok", state
        assert not damaged, damaged

    def index(self, count: int) -> dict[str, int]:
        """Kill that many ingests that rebuild the index."""
        self.begin()
        pages = self.press.snapshot()
        first = self.press.start().answer()
        assert first.get("calls"), f"the older index is not made anew: {first}"
        done = {"kills": 0, "missed": 0, "calls": (calls := first["calls"])}
        while done["kills"] < count:
            self.begin()
            for _ in range(self.rng.choice((1, 1, 2))):
                killed = self.press.start(at=self.rng.randint(1, calls)).answer().get("killed", False)
                done["kills" if killed else "missed"] += 1
            last = self.press.start().answer()
            assert "calls" in last, f"the next run failed: {last}"
            state = self.press.inspect()
            assert state["integrity"] == "ok", state
            assert state["files"] == pages, "the index does not hold every page"
            assert not state["strangers"], f"left behind: {state['strangers']}"
        return done


def main() -> None:
    """Make the older data, upgrade and kill, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20, help="of each sort")
    parser.add_argument("--from", dest="revision", default="", help="the older program, as git names it")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    disk = preloaded()
    import chromadb  # noqa: F401, PLC0415 - once here rather than in each child

    from lutrin.chats.key import new_key  # noqa: PLC0415 - only after the library is preloaded

    revision = git("rev-parse", "--short", options.revision or last_of_another_form()).decode().strip()
    key = new_key()
    with tempfile.TemporaryDirectory(prefix="lutrin-upgrade-") as name:
        root = Path(name)
        said = make_old(root, revision, key, options.seed)
        upgrade = Upgrade(root, key, said, disk, options.seed)
        found: dict[str, Any] = {"from": revision, "messages": len(said)}
        for what, trial in (("conversations", upgrade.conversations), ("index", upgrade.index)):
            found[what] = trial(options.kills)
            print(f"{what}: {found[what]}", flush=True)
    print(json.dumps({"benchmark": "Upgrade under kills", "machine": machine(), **found}))


if __name__ == "__main__":
    main()
