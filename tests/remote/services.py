"""The remote profile's services in a thread of their own, for tests that start Lutrin as processes.

`python -m tests.remote.services` runs them until its standard input ends, and prints the variables that name them.
"""

import asyncio
import hashlib
import json
import sys
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
from tests.loopback import stop_listening
from tests.remote import openai_server, qdrant_server
from tests.remote.postgres import Cluster, cluster

T = TypeVar("T")
State = openai_server.OpenAIService | qdrant_server.LoopbackQdrant


class Endpoint:
    """A service on a fixed port that can be taken away and come back with its data."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._port = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        """Listen, each time on the same port."""

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._open.add(writer)
            try:
                await self.state.serve(reader, writer)
            finally:
                self._open.discard(writer)

        self._server = await asyncio.start_server(serve, "127.0.0.1", self._port, limit=1 << 26)
        self._port = self._server.sockets[0].getsockname()[1]
        path = "/v1" if isinstance(self.state, openai_server.OpenAIService) else ""
        self.state.url = f"http://127.0.0.1:{self._port}{path}"

    async def kill(self) -> None:
        """Stop listening and cut every connection."""
        if self._server is not None:
            await stop_listening(self._server)
            self._server = None
        for writer in list(self._open):
            writer.transport.abort()


class Services:
    """A model, Qdrant and PostgreSQL on the loopback interface."""

    def __init__(self, postgres: Cluster) -> None:
        self.postgres = postgres
        self.openai = openai_server.OpenAIService(dimension=768)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.qdrant = self._run(self._made())
        self.endpoints = {"openai": Endpoint(self.openai), "qdrant": Endpoint(self.qdrant)}
        for name in self.endpoints:
            self.restore(name)

    def kill(self, name: str) -> None:
        """Take a service away: `openai`, `qdrant` or `postgres`."""
        if name == "postgres":
            self.postgres.kill()
        else:
            self._run(self.endpoints[name].kill())

    def restore(self, name: str) -> None:
        """Bring it back, with its data."""
        if name == "postgres":
            self.postgres.start()
        else:
            self._run(self.endpoints[name].start())

    def variables(self, data_dir: Path) -> dict[str, str]:
        """The environment of an installation: a database of its own, which keeps the vectors, too."""
        name = _name(data_dir)
        return {
            "LUTRIN_PROFILE": "remote",
            "GEMINI_API_KEY": openai_server.KEY,
            "LUTRIN_LLM_BASE_URL": self.openai.url,
            "LUTRIN_LLM_MODEL": "loopback",
            "LUTRIN_VECTORS": "pgvector",
            "DATABASE_URL": self._run(self._database(name)),
            "LUTRIN_CHAT_KEY": hashlib.sha256(name.encode()).hexdigest(),
        }

    def qdrant_variables(self, data_dir: Path) -> dict[str, str]:
        """Variables for an installation with its vectors in Qdrant."""
        return {
            "LUTRIN_VECTORS": "qdrant",
            "QDRANT_URL": self.qdrant.url,
            "QDRANT_API_KEY": qdrant_server.KEY,
            "LUTRIN_QDRANT_PREFIX": f"{_name(data_dir)}-",
        }

    def close(self) -> None:
        """End both services; PostgreSQL belongs to the caller."""
        for endpoint in self.endpoints.values():
            self._run(endpoint.kill())
        self._run(self.qdrant.local.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _made(self) -> qdrant_server.LoopbackQdrant:
        return qdrant_server.LoopbackQdrant()

    async def _database(self, name: str) -> str:
        connection = await asyncpg.connect(self.postgres.url("postgres"))
        try:
            if not await connection.fetchval("SELECT count(*) FROM pg_database WHERE datname = $1", name):
                await connection.execute(f"CREATE DATABASE {name}")
        finally:
            await connection.close()
        return self.postgres.url(name)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


def _name(data_dir: Path) -> str:
    return "t" + hashlib.sha256(str(data_dir).encode()).hexdigest()[:16]


@contextmanager
def services() -> Iterator[Services]:
    """All three, as long as the block runs."""
    with cluster() as postgres:
        made = Services(postgres)
        try:
            yield made
        finally:
            made.close()


if __name__ == "__main__":
    with services() as running:
        print(json.dumps(running.variables(Path(sys.argv[1]))), flush=True)  # noqa: T201 - what it is for
        sys.stdin.read()
