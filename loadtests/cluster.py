"""Servers side by side on one machine: one PostgreSQL, which keeps the vectors, too, and one proxy before them.

`python -m loadtests.cluster` (`just cluster`) starts on the loopback interface what compose.yaml starts in containers,
reads the books, prints the address, and ends all of it with Ctrl-C. `python -m loadtests.run cluster` lets readers ask
it while a server is killed, database and proxy are restarted, and a new index is published.
"""

import argparse
import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_hex

import asyncpg
import httpx
from tests.remote.postgres import Cluster, cluster

from loadtests.server import LUTRIN, ROOT, ingest, settings

CADDYFILE = ROOT / "Caddyfile"
SERVERS = 4
CONNECTIONS = 300
"""Connections that PostgreSQL accepts: each server opens up to 25."""
DURABLE = ("fsync=on", "synchronous_commit=on", f"max_connections={CONNECTIONS}", "shared_buffers=256MB")
POOLER = """\
[databases]
* = host=127.0.0.1 port={database} user=lutrin
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = session
max_client_conn = 1000
default_pool_size = {connections}
"""
"""Settings of PgBouncer: https://www.pgbouncer.org/config.html."""
START_S, END_S = 300.0, 30.0
PORT = 7860


class Process:
    """A program on a fixed port that can be killed and started again."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], place: Path, name: str, health: str
    ) -> None:
        self.log = place / f"{name}.log"
        self._command, self._environment, self._health = command, dict(environment), health
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.begin()
        self.wait()

    def begin(self) -> None:
        """Start it."""
        with self.log.open("ab") as out:
            self._process = subprocess.Popen(
                self._command, env=self._environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

    def wait(self) -> None:
        """Wait until it answers."""
        end_s = time.monotonic() + START_S
        while not self._answers():
            if self._process is None or self._process.poll() is not None or time.monotonic() > end_s:
                lines = self.log.read_text("utf-8", "replace").splitlines()[-20:]
                sys.exit(f"{self._command[0]} does not answer:\n" + "\n".join(lines))
            time.sleep(0.1)

    def end(self, how: signal.Signals = signal.SIGTERM) -> None:
        """End it; SIGKILL: at once."""
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def cpu_s(self) -> float:
        """Seconds of computing that it has had (proc(5), `stat`, utime and stime)."""
        if self._process is None:
            return 0.0
        fields = Path(f"/proc/{self._process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _answers(self) -> bool:
        try:
            return httpx.get(self._health, timeout=5, trust_env=False).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False


class Pooler(Process):
    """PgBouncer before a database. In session mode each client has a connection of its own as long as it stays.

    Args:
        place: Folder of its settings and its log.
        database: What it leads to.
    """

    def __init__(self, place: Path, database: Cluster) -> None:
        program = shutil.which("pgbouncer")
        if program is None:
            sys.exit("PgBouncer is missing; Debian: apt-get install pgbouncer")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = database.url("postgres").replace(f":{database.port}/", f":{self._port}/")
        written = place / "pgbouncer.ini"
        written.write_text(POOLER.format(database=database.port, port=self._port, connections=CONNECTIONS), "utf-8")
        # Like PostgreSQL, it refuses to run as root.
        account = ["-u", "nobody"] if os.geteuid() == 0 else []
        super().__init__([program, *account, str(written)], {"PATH": os.environ["PATH"]}, place, "pooler", "")
        place.chmod(0o755)

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self._port), timeout=5).close()
        except OSError:
            return False
        return True


class ServerCluster:
    """Servers, database and proxy.

    Args:
        place: A new folder for everything that they keep.
        database: A running PostgreSQL.
        servers: How many.
        port: Of the proxy.
        with_pooler: Whether the servers reach the database through PgBouncer.
        variables: Further settings of the servers, such as a language model elsewhere.
    """

    def __init__(
        self,
        place: Path,
        database: Cluster,
        *,
        servers: int = SERVERS,
        port: int = PORT,
        with_pooler: bool = False,
        **variables: str,
    ) -> None:
        caddy = shutil.which("caddy")
        if caddy is None:
            sys.exit("The proxy is missing; Debian: apt-get install caddy")
        self.database = database
        self.place = place
        self.pooler = Pooler(place, database) if with_pooler else None
        self.address = f"http://127.0.0.1:{port}"
        self.environment = {
            **settings(place / "ingest", "none"),
            "LUTRIN_PROFILE": "remote",
            "LUTRIN_VECTORS": "pgvector",
            "LUTRIN_EMBED_MODEL": "local",
            "LUTRIN_LLM_MODEL": "local",
            "DATABASE_URL": database.url("postgres") if self.pooler is None else self.pooler.url,
            "LUTRIN_CHAT_KEY": token_hex(32),
            "LUTRIN_ADMIN_TOKEN": token_hex(12),
            "LUTRIN_TRUSTED_PROXIES": "127.0.0.1",
            **variables,
        }
        ports = [port + 1 + number for number in range(servers)]
        self.servers = [self._server(number, own) for number, own in enumerate(ports)]
        proxied = {
            "PATH": os.environ["PATH"], "HOME": str(place), "XDG_DATA_HOME": str(place), "XDG_CONFIG_HOME": str(place),
            "LUTRIN_SERVERS": " ".join(f"127.0.0.1:{own}" for own in ports), "LUTRIN_PROXY_PORT": str(port),
        }  # fmt: skip
        command = [caddy, "run", "--config", str(CADDYFILE), "--adapter", "caddyfile"]
        self.proxy = Process(command, proxied, place, "proxy", f"{self.address}/ready")

    def _server(self, number: int, port: int) -> Process:
        own = {**self.environment, "LUTRIN_DATA_DIR": str(self.place / f"server-{number}")}
        command = [str(LUTRIN), "serve", "--port", str(port)]
        return Process(command, own, self.place, f"server-{number}", f"http://127.0.0.1:{port}/ready")

    def ingest(self, corpus: Path, *arguments: str) -> None:
        """Read the books and publish them to all servers."""
        if self.pooler is not None and not self.pooler.is_running:
            self.pooler.start()
        ingest(corpus, self.environment, *arguments)

    def start(self) -> None:
        """Start the servers, which fetch the published books, then the proxy."""
        for process in self.servers:
            process.begin()
        for process in self.servers:
            process.wait()
        self.proxy.start()

    def accidents(self, corpus: Path) -> list[tuple[float, str, Callable[[], None]]]:
        """What is done to it while readers ask: after which share of the time, its name, what does it and mends it."""

        def kill_server() -> None:
            self.servers[0].end(signal.SIGKILL)
            time.sleep(5)
            self.servers[0].start()

        def restart_database() -> None:
            self.database.kill()
            self.database.start()

        def restart_proxy() -> None:
            self.proxy.end()
            self.proxy.start()

        def publish() -> None:
            page = max(corpus.rglob("*.md*"), key=lambda path: path.stat().st_size)
            with page.open("a", encoding="utf-8") as file:
                file.write("\n\nThis page was changed while readers asked.\n")
            self.ingest(corpus)

        def restart_pooler() -> None:
            if self.pooler is not None:
                self.pooler.end()
                self.pooler.start()

        pooled = [(0.62, "the pooler restarted", restart_pooler)] if self.pooler is not None else []
        return [
            (0.4, "a server killed", kill_server),
            (0.55, "the database killed", restart_database),
            *pooled,
            (0.7, "the proxy restarted", restart_proxy),
            (0.78, "a new index", publish),
        ]

    def cpu_s(self) -> tuple[float, float]:
        """Seconds of computing that the servers and the database have had."""
        return sum(one.cpu_s() for one in self.servers), self.database.cpu_s()

    def stored(self) -> set[str]:
        """The ids of all messages in the database."""

        async def read() -> set[str]:
            connection = await asyncpg.connect(self.environment["DATABASE_URL"])
            try:
                return {row["id"] for row in await connection.fetch("SELECT id FROM message")}
            finally:
                await connection.close()

        return asyncio.run(read())

    def close(self) -> None:
        """End everything but the database."""
        for process in (self.proxy, *self.servers, *([self.pooler] if self.pooler is not None else [])):
            process.end()


@contextmanager
def running(
    corpus: Path,
    *,
    servers: int = SERVERS,
    port: int = PORT,
    place: Path | None = None,
    with_pooler: bool = False,
    **variables: str,
) -> Iterator[ServerCluster]:
    """A cluster that has read the books and answers; everything of it goes with the block."""
    with ExitStack() as stack:
        folder = place or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lutrin-cluster-")))
        database = stack.enter_context(cluster(*DURABLE))
        made = ServerCluster(folder, database, servers=servers, port=port, with_pooler=with_pooler, **variables)
        stack.callback(made.close)
        made.ingest(corpus)
        made.start()
        yield made


def main() -> None:
    """Start a cluster and wait for Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=SERVERS)
    parser.add_argument("--port", type=int, default=PORT, help="of the proxy; the servers take the next ones")
    parser.add_argument("--corpus", type=Path, default=ROOT / "corpus", help="the books")
    parser.add_argument("--pooler", action="store_true", help="reach the database through PgBouncer, in session mode")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that it ends what it started
    with running(options.corpus, servers=options.servers, port=options.port, with_pooler=options.pooler) as made:
        names = ", ".join(str(options.port + 1 + number) for number in range(options.servers))
        print(f"{made.address} answers: {options.servers} servers (ports {names}), PostgreSQL at {made.database.port}.")
        print(
            f"Teacher's page: {made.address}/teacher, token {made.environment['LUTRIN_ADMIN_TOKEN']}. Ctrl-C ends it."
        )
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("Ending.")


if __name__ == "__main__":
    main()
