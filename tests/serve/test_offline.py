"""The worker that keeps opened pages for reading without a network."""

import re

import httpx

from .conftest import House


async def test_the_worker_is_another_one_once_a_book_was_read_anew(client: httpx.AsyncClient, house: House) -> None:
    """Browsers then fetch cached pages again; between two ingests it stays the same."""
    first = await client.get("/worker.js")
    assert first.headers["content-type"].startswith("text/javascript")
    assert first.headers["cache-control"] == "no-cache"
    assert (await client.get("/worker.js")).text == first.text
    house.library.generation = "g2"
    second = await client.get("/worker.js")
    versions = [re.findall(r'^const VERSION = "(\w+)";$', reply.text, re.MULTILINE) for reply in (first, second)]
    assert [len(found) for found in versions] == [1, 1]
    assert versions[0] != versions[1]


async def test_a_page_that_was_never_opened_has_one_in_its_place(client: httpx.AsyncClient) -> None:
    """It says what is the matter and leads to the books, with no chat that could not answer."""
    page = await client.get("/offline")
    assert page.status_code == 200
    assert "No network" in page.text
    assert 'href="/"' in page.text
    assert "<lutrin-chat" not in page.text


async def test_the_shelf_can_be_installed(client: httpx.AsyncClient) -> None:
    """The manifest names what is there, by addresses that also hold below a path of another site."""
    page = (await client.get("/")).text
    assert '<link rel="manifest" href="/manifest.webmanifest">' in page
    reply = await client.get("/manifest.webmanifest")
    assert reply.headers["content-type"].startswith("application/manifest+json")
    manifest = reply.json()
    assert (manifest["start_url"], manifest["scope"], manifest["display"]) == ("./", "./", "standalone")
    assert (await client.get(f"/{manifest['icons'][0]['src']}")).status_code == 200
