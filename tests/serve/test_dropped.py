"""Readers who disconnect or ask expensive questions leave nothing behind: the next reader is answered."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx
import pytest
from tests.answer.book import english
from tests.answer.conftest import PAGES, publish
from tests.fakes import ExactStore, WordHashEmbedder

from lutrin.answer.flow import AnswerFlow
from lutrin.index.shelf import Shelf
from lutrin.ports import Encoding
from lutrin.search.search import Searcher
from lutrin.serve.budget import charge_search
from lutrin.settings import load_settings

from .conftest import House, Serve

ASKED = "How many watt hours does the battery of Kestrel store?"


class DearEmbedder(WordHashEmbedder):
    """Computes for a second for each question with a certain word."""

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode."""
        end_s = time.process_time() + 1.0
        while "dear" in " ".join(texts) and time.process_time() < end_s:  # noqa: ASYNC110 - it computes
            await asyncio.sleep(0)
        return await super().encode(texts)


class BusyEmbedder(WordHashEmbedder):
    """Takes three seconds for a question, on an event loop that is busy, so that timers fall due together."""

    busy = False

    async def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Encode."""
        for _ in range(300 * self.busy):
            time.sleep(0.01)  # noqa: ASYNC251 - holds the loop, as a busy machine does
            await asyncio.sleep(0)
        return await super().encode(texts)


@pytest.fixture
async def embedder(house: House, tmp_path: Path) -> AsyncIterator[BusyEmbedder]:
    """Embeds the questions that the server of a small book is asked."""
    settings = load_settings(data_dir=house.data_dir, deadline_s=20.0)
    await publish(settings, tmp_path / "corpus", PAGES)
    busy = BusyEmbedder()
    async with Shelf(settings.catalog_path, settings.books_dir, ExactStore()) as shelf:
        house.flow = AnswerFlow(shelf=shelf, searcher=Searcher(busy), language=english(), settings=settings)
        yield busy


async def drop_together(client: httpx.AsyncClient, count: int) -> None:
    """Ask over several connections, and close all of them before an answer comes."""
    port = client.base_url.port
    writers = []
    for number in range(count):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        body = json.dumps({"query": f"{ASKED} {'Please. ' * number}"}).encode()
        head = f"POST /api/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)
        writers.append(writer)
    await asyncio.sleep(1.0)
    for writer in writers:
        writer.close()


@pytest.mark.parametrize("count", [1, 2, 6])
async def test_after_connections_that_close_together_the_next_reader_is_answered(
    serve: Serve, embedder: BusyEmbedder, count: int
) -> None:
    """The turn to search is neither lost nor given to somebody who is gone."""
    async with serve() as client:
        embedder.busy = True
        await drop_together(client, count)
        await asyncio.sleep(1.0)
        embedder.busy = False
        answer = await client.post("/api/query", json={"query": ASKED}, timeout=5)
    assert "480 watt hours" in answer.json()["answer"]


async def test_whoever_asks_dear_questions_pays_for_them(house: House, serve: Serve, tmp_path: Path) -> None:
    """Their address is refused after some; an honest reader elsewhere is answered meanwhile, and pays nothing."""
    settings = load_settings(data_dir=house.data_dir, deadline_s=20.0)
    await publish(settings, tmp_path / "corpus", PAGES)
    async with Shelf(settings.catalog_path, settings.books_dir, ExactStore()) as shelf:
        flow = AnswerFlow(shelf=shelf, searcher=Searcher(DearEmbedder()), language=english(), settings=settings)
        flow.charge = charge_search
        house.flow = flow
        async with serve(rate_peer_per_min=30, trusted_proxies="127.0.0.1") as client:
            statuses = []
            for number in range(8):
                body = {"query": f"What is the dear battery number {number}?"}
                reply = await client.post("/api/query", json=body, headers={"X-Forwarded-For": "192.0.2.1"})
                statuses.append(reply.status_code)
            assert statuses[0] == 200
            assert statuses[-1] == 429
            for _ in range(3):
                reply = await client.post("/api/query", json={"query": ASKED}, headers={"X-Forwarded-For": "192.0.2.2"})
                assert "480 watt hours" in reply.json()["answer"]
