"""Readers who chat with a server that dies again and again: `python chatters.py ADDRESS READERS FILE NEEDLE`.

Each message that the server acknowledged (a whole reply, or the event `done`) becomes a line in FILE, at once.
"""

import asyncio
import itertools
import json
import sys
from typing import IO

import httpx


async def chat(address: str, reader: int, acknowledged: IO[str], needle: str) -> None:
    """Say one thing after the other, half of them as a stream; what was not acknowledged is not said again."""
    headers = {"X-Lutrin-Client": f"secret-of-reader-{reader:04}"}
    async with httpx.AsyncClient(base_url=address, timeout=10, trust_env=False) as client:
        for number in itertools.count():
            session = f"r{reader}-{number // 20}"
            body = {"session_id": session, "message": f"{needle} {number}"}
            try:
                if number % 2:
                    reply = await client.post("/chat", json=body, headers=headers)
                    done = reply.status_code == httpx.codes.OK and f"{needle} {number}" in reply.json()["answer"]
                else:
                    async with client.stream(
                        "POST", "/chat", json=body, headers={**headers, "Accept": "text/event-stream"}
                    ) as stream:
                        done = "event: done" in [line async for line in stream.aiter_lines()]
            except httpx.TransportError:
                done = False
                await asyncio.sleep(0.02)
            if done:
                acknowledged.write(json.dumps([reader, session, number]) + "\n")
                acknowledged.flush()


async def main() -> None:
    """All of them at once, until this process is ended."""
    address, readers, path, needle = sys.argv[1:]
    with open(path, "a", encoding="utf-8") as acknowledged:  # noqa: PTH123, ASYNC230 - opened once, before anything runs
        await asyncio.gather(*(chat(address, reader, acknowledged, needle) for reader in range(int(readers))))


if __name__ == "__main__":
    asyncio.run(main())
