"""A real server of a benchmark's own: a free port, the sample book, no rate limits, ended by its id."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx
from common import CORPUS, ROOT

LUTRIN = Path(sys.prefix) / "bin" / "lutrin"
STARTS_WITHIN_S = 240
DEFAULTS = {"MODEL": "none", "RATE_SESSION_PER_MIN": "0", "RATE_PEER_PER_MIN": "0", "LOG_LEVEL": "error"}


class Server(NamedTuple):
    """A server that answers."""

    client: httpx.AsyncClient
    pid: int

    def model_pid(self) -> int | None:
        """Of the process that holds the language model; None while there is none."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text("ascii").split()
        for child in children:
            with contextlib.suppress(OSError):
                if b"lutrin.generate.child" in Path(f"/proc/{child}/cmdline").read_bytes():
                    return int(child)
        return None


def ingested(data_dir: Path, corpus: Path = CORPUS) -> None:
    """Read the books into a folder, unless it holds an index."""
    if not (data_dir / "catalog.db").exists():
        command = [str(LUTRIN), "ingest", str(corpus), "--data-dir", str(data_dir)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@contextlib.asynccontextmanager
async def served(data_dir: Path, *, program: Sequence[str] = (str(LUTRIN),), **settings: str) -> AsyncIterator[Server]:
    """`lutrin serve` with its model in memory, and a client of it.

    Args:
        data_dir: Holds an index.
        program: That understands `serve` as `lutrin` does.
        **settings: Of the server, by name without `LUTRIN_`.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {**os.environ, **{f"LUTRIN_{name}": value for name, value in (DEFAULTS | settings).items()}}
    process = await asyncio.create_subprocess_exec(
        *(*program, "serve", "--port", str(port), "--data-dir", str(data_dir)),
        env=environment,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
    )
    limits = httpx.Limits(max_connections=None)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120, limits=limits) as client:
            await ready(client)
            yield Server(client, process.pid)
    finally:
        process.terminate()
        await process.wait()


async def ready(client: httpx.AsyncClient) -> None:
    """Wait until server and model answer."""
    async with asyncio.timeout(STARTS_WITHIN_S):
        while True:
            with contextlib.suppress(httpx.TransportError):
                state = (await client.get("/ready")).json()
                if state.get("ready") and (state.get("model_ready") or not state.get("model")):
                    return
            await asyncio.sleep(0.1)
