"""Responses are compressed."""

import re

import httpx

from .conftest import Serve

MOST_BYTES = 80_000


async def wire_bytes(client: httpx.AsyncClient, path: str) -> tuple[int, str]:
    """Bytes of a reply with its headers, as a browser gets them, and its text."""
    async with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as reply:
        assert reply.status_code == 200
        raw = b"".join([piece async for piece in reply.aiter_raw()])
        head = sum(len(name) + len(value) + 4 for name, value in reply.headers.raw)
    return len(raw) + head, (await client.get(path)).text


async def test_the_landing_page_is_small(client: httpx.AsyncClient) -> None:
    """With its script, its styles and the widget at most 80 kB."""
    size, page = await wire_bytes(client, "/")
    loaded = re.findall(r'(?:src|href)="(/(?:static|widget)/[^"]+)"', page)
    assert len(loaded) >= 4
    total = size + sum([(await wire_bytes(client, path))[0] for path in loaded])
    assert total <= MOST_BYTES, f"{total} bytes"


async def test_files_under_hashed_names_are_kept_for_ever(client: httpx.AsyncClient) -> None:
    """A name with another hash, of a version that is gone, is nothing."""
    (path,) = re.findall(r'href="(/static/reader[^"]+css)"', (await client.get("/")).text)
    kept = await client.get(path)
    assert kept.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert kept.content == (await client.get("/static/reader.css")).content
    assert (await client.get("/static/reader.css")).headers["cache-control"] == "no-cache"
    assert (await client.get("/static/reader.0123456789ab.css")).status_code == 404


async def test_who_accepts_it_gets_it(client: httpx.AsyncClient) -> None:
    """By the header; HEAD and 304 go along."""
    for accepted, packed in (("gzip, br", True), ("br, gzip;q=0.5", True), ("identity", False), ("gzip;q=0", False)):
        reply = await client.get("/static/reader.css", headers={"Accept-Encoding": accepted})
        assert (reply.headers.get("content-encoding") == "gzip") is packed
        assert "accept-encoding" in reply.headers["vary"].lower()
        again = {"Accept-Encoding": accepted, "If-None-Match": reply.headers["etag"]}
        assert (await client.get("/static/reader.css", headers=again)).status_code == 304


async def test_streams_and_the_teachers_page_stay_as_they_are(serve: Serve) -> None:
    """Events must not wait for a block to fill, and a secret must not be told by a size."""
    async with serve(admin_token="a-token-of-a-teacher") as client:
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "gzip"}
        stream = await client.post("/api/query", json={"query": "Q"}, headers=headers)
        assert "content-encoding" not in stream.headers
        assert "content-encoding" not in (await client.get("/teacher")).headers
