"""Faults between the server and Qdrant, and their effects on readers and operators."""

import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from tests.remote.qdrant_server import KEY, LoopbackQdrant, running

from lutrin.errors import IndexUnavailable
from lutrin.ports import Vectors
from lutrin_remote.index_qdrant import NOTE, QdrantStore, connect

NAME = "book-v1"
VECTORS: Vectors = np.eye(8, dtype=np.float32)


@pytest.fixture
async def server() -> AsyncIterator[LoopbackQdrant]:
    """A server that does what it is told."""
    async with running() as started:
        yield started


@pytest.fixture
def store(server: LoopbackQdrant) -> QdrantStore:
    """Connected to the server."""
    return QdrantStore(partial(connect, server.url, KEY))


async def build(store: QdrantStore, folder: Path) -> None:
    """Eight records."""
    index = await store.create(folder, NAME, 8)
    names = [f"id-{number}" for number in range(8)]
    await index.add(names, VECTORS, [{"chapter": "C", "page": 1, "is_simulation": True}] * 8)
    await index.close()


async def test_every_field_can_be_filtered_quickly(server: LoopbackQdrant, store: QdrantStore, tmp_path: Path) -> None:
    """Each name of the metadata gets an index of its payload before the first record comes."""
    await build(store, tmp_path)
    paths = [path.rpartition("/")[2] for method, path in server.asked if method == "PUT"]
    assert paths[1:4] == ["index"] * 3
    assert paths[4:] == ["points"]


@pytest.mark.parametrize("fault", [(500, 0.0), (503, 0.0)])
async def test_passing_trouble_is_waited_out(
    server: LoopbackQdrant, store: QdrantStore, tmp_path: Path, fault: tuple[int, float]
) -> None:
    """A search or a write that fails once is repeated, and its caller does not notice."""
    server.faults = [(0, 0.0), fault]
    await build(store, tmp_path)
    index = await store.open(tmp_path, NAME)
    server.faults = [fault]
    assert (await index.search(VECTORS[3], 1))[0][0] == "id-3"
    await index.close()


async def test_a_server_that_is_over_its_rate_is_left_alone(
    server: LoopbackQdrant, store: QdrantStore, tmp_path: Path
) -> None:
    """The pause that it asks for is kept."""
    await build(store, tmp_path)
    index = await store.open(tmp_path, NAME)
    server.faults = [(429, 0.0)]
    began = time.monotonic()
    assert await index.search(VECTORS[3], 1)
    assert time.monotonic() - began >= 1
    await index.close()


async def test_a_server_that_is_gone_costs_a_reader_seconds_and_comes_back(
    server: LoopbackQdrant, store: QdrantStore, tmp_path: Path
) -> None:
    """The error that becomes a friendly 503; when the server is back, the same open index works again."""
    await build(store, tmp_path)
    index = await store.open(tmp_path, NAME)
    server.down = True
    began = time.monotonic()
    with pytest.raises(IndexUnavailable, match="cannot be read: Qdrant answered 503"):
        await index.search(VECTORS[0], 1)
    assert time.monotonic() - began < 4
    server.down = False
    assert await index.search(VECTORS[0], 1)
    await index.close()


async def test_a_wrong_key_and_an_empty_address_are_named(server: LoopbackQdrant) -> None:
    """The operator learns which of the two it is, and never reads the key."""
    with pytest.raises(IndexUnavailable, match="refuses the key"):
        await QdrantStore(partial(connect, server.url, "wrong-key")).check()
    with pytest.raises(IndexUnavailable, match="no answer from Qdrant") as caught:
        await QdrantStore(partial(connect, "http://127.0.0.1:1", KEY)).check()
    assert KEY not in repr(caught.value)


async def test_a_collection_that_is_not_what_was_written_is_not_opened(store: QdrantStore, tmp_path: Path) -> None:
    """Another dimension, missing records, no collection, no note: each is an error before the first reader asks."""
    await build(store, tmp_path)
    note = (tmp_path / NOTE).read_bytes()
    for wrong in (b'"records":9', b'"dimension":9'):
        name = wrong.split(b":")[0]
        (tmp_path / NOTE).write_bytes(note.replace(name + b":8", wrong))
        with pytest.raises(IndexUnavailable, match="was written with"):
            await store.open(tmp_path, NAME)
    (tmp_path / NOTE).write_bytes(note.replace(b"book-v1--", b"book-v2--"))
    with pytest.raises(IndexUnavailable, match="404"):
        await store.open(tmp_path, NAME)


async def test_publishing_moves_the_alias_in_one_request_and_tidies(
    server: LoopbackQdrant, store: QdrantStore, tmp_path: Path
) -> None:
    """The public name stands for exactly one collection at any time; what only a killed ingest knew is gone."""
    folders = [tmp_path / str(number) for number in range(3)]
    for folder in folders:
        await build(store, folder)
    await store.settle(NAME, folders[0], [])
    assert len((await server.local.get_collections()).collections) == 1
    for folder in folders[1:]:
        await build(store, folder)
    server.asked.clear()
    await store.settle(NAME, folders[2], [folders[0]])
    assert [path for _, path in server.asked].count("/collections/aliases") == 1
    aliases = (await server.local.get_aliases()).aliases
    assert [alias.alias_name for alias in aliases] == [NAME]
    kept = {item.name for item in (await server.local.get_collections()).collections}
    assert len(kept) == 2
    assert aliases[0].collection_name in kept
