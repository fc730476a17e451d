"""The contract of every vector index; the fake, Chroma, pgvector and Qdrant pass the same suite.

pgvector runs in a PostgreSQL that the tests start. Qdrant is its engine in this process, and over HTTP a loopback
server in front of the official client's local mode. Where LUTRIN_TEST_QDRANT_URL is set (and LUTRIN_TEST_QDRANT_KEY, if
it needs one), the suite runs against that server, too.
"""

import hashlib
import os
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tests.fakes import ExactStore
from tests.remote.postgres import Cluster, database
from tests.remote.qdrant_edge import EdgeClient
from tests.remote.qdrant_server import KEY, running

from lutrin.adapters.index_chroma import ChromaStore
from lutrin.errors import IndexUnavailable
from lutrin.ports import VectorStore
from lutrin_remote.index_pgvector import PgvectorStore
from lutrin_remote.index_qdrant import QdrantStore, connect

COLLECTION = "physical-ai-textbook-v1"
COUNT = 300
# Qdrant's local mode says once that it scans and needs no index of payloads.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
]


REAL = os.environ.get("LUTRIN_TEST_QDRANT_URL", "")
QDRANT = [
    "qdrant-edge",
    "qdrant-http",
    pytest.param("qdrant", marks=pytest.mark.skipif(not REAL, reason="LUTRIN_TEST_QDRANT_URL is not set")),
]


async def opened(kind: str, scratch: Path, request: pytest.FixtureRequest) -> AsyncIterator[VectorStore]:
    """A store of a kind."""
    if kind == "exact":
        yield ExactStore()
    elif kind == "chroma":
        yield ChromaStore(scratch)
    elif kind == "chroma-graph":
        yield ChromaStore(scratch, scanned=0)
    elif kind.startswith("pgvector"):
        cluster: Cluster = request.getfixturevalue("postgres")
        async with database(cluster) as url:
            yield PgvectorStore(url, 0 if kind == "pgvector-graph" else COUNT)
    elif kind == "qdrant-edge":
        engine = EdgeClient(scratch)
        yield QdrantStore(engine.connect)
        engine.end()
    elif kind == "qdrant-http":
        async with running() as server:
            yield QdrantStore(partial(connect, server.url, KEY))
    else:
        yield QdrantStore(partial(connect, REAL, os.environ.get("LUTRIN_TEST_QDRANT_KEY", "")))


@pytest.fixture(params=["exact", "chroma", "chroma-graph", "pgvector", "pgvector-graph", *QDRANT])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[VectorStore]:
    """Each store in turn."""
    async for made in opened(request.param, tmp_path / "readers", request):
        yield made


@pytest.fixture(scope="module")
def vectors() -> npt.NDArray[np.float32]:
    """(COUNT, 384) directions; as many numbers as those of the default model, for half precision rounds each."""
    rows = np.random.default_rng(1).normal(size=(COUNT, 384)).astype(np.float32)
    scaled: npt.NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


async def build(store: VectorStore, directory: Path, vectors: npt.NDArray[np.float32]) -> None:
    """Write all vectors in two parts; records alternate between two chapters."""
    index = await store.create(directory, COLLECTION, COUNT)
    for part in (range(200), range(200, COUNT)):
        metadata = [{"chapter": f"Chapter {number % 2}", "content_type": "text"} for number in part]
        await index.add([f"id-{number}" for number in part], vectors[part.start : part.stop], metadata)
    await index.close()


async def test_finds_what_an_exact_scan_finds(
    store: VectorStore, tmp_path: Path, vectors: npt.NDArray[np.float32]
) -> None:
    """The ten nearest come best first, with their cosines."""
    await build(store, tmp_path / "vectors", vectors)
    index = await store.open(tmp_path / "vectors", COLLECTION)
    question = vectors[7] + 0.9 * vectors[8]  # 1: both would be equally near
    question /= np.linalg.norm(question)
    found = await index.search(question, 10)
    cosines = vectors @ question
    expected = [f"id-{number}" for number in np.argsort(-cosines)[:10]]
    assert [name for name, _ in found] == expected
    np.testing.assert_allclose([cosine for _, cosine in found], np.sort(cosines)[::-1][:10], atol=1e-4)
    await index.close()


async def test_filters_by_metadata(store: VectorStore, tmp_path: Path, vectors: npt.NDArray[np.float32]) -> None:
    """Only records with all of the given values are found, and as many as there are."""
    await build(store, tmp_path / "vectors", vectors)
    index = await store.open(tmp_path / "vectors", COLLECTION)
    found = await index.search(vectors[0], 20, {"chapter": "Chapter 1", "content_type": "text"})
    assert len(found) == 20
    assert all(int(name.removeprefix("id-")) % 2 == 1 for name, _ in found)
    assert await index.search(vectors[0], 20, {"chapter": "Chapter 9"}) == []
    await index.close()


async def test_all_ids_are_there_and_k_may_be_larger(
    store: VectorStore, tmp_path: Path, vectors: npt.NDArray[np.float32]
) -> None:
    """What was added is listed, and asking for more than there is gives what there is."""
    await build(store, tmp_path / "vectors", vectors)
    index = await store.open(tmp_path / "vectors", COLLECTION)
    assert sorted(await index.ids()) == sorted(f"id-{number}" for number in range(COUNT))
    assert len(await index.search(vectors[0], COUNT + 50)) == COUNT
    await index.close()


async def test_readers_leave_the_folder_as_it_is(
    store: VectorStore, tmp_path: Path, vectors: npt.NDArray[np.float32]
) -> None:
    """A published folder is read by several at once, and not a byte of it changes."""
    directory = tmp_path / "vectors"
    await build(store, directory, vectors)

    def content() -> dict[str, str]:
        files = sorted(path for path in directory.rglob("*") if path.is_file())
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

    before = content()
    first, second = await store.open(directory, COLLECTION), await store.open(directory, COLLECTION)
    assert await first.search(vectors[3], 3) == await second.search(vectors[3], 3)
    await first.close()
    assert (await second.search(vectors[3], 1))[0][0] == "id-3"
    await second.close()
    assert content() == before


async def test_what_is_not_there_cannot_be_opened(store: VectorStore, tmp_path: Path) -> None:
    """A missing folder or collection is an error of ours, not an empty answer."""
    with pytest.raises(IndexUnavailable):
        await store.open(tmp_path / "nowhere", COLLECTION)


async def test_an_empty_collection_answers(store: VectorStore, tmp_path: Path) -> None:
    """A book without passages is searched without an error."""
    index = await store.create(tmp_path / "vectors", COLLECTION, 0)
    await index.close()
    index = await store.open(tmp_path / "vectors", COLLECTION)
    assert await index.search(np.ones(384, dtype=np.float32), 5) == []
    assert await index.ids() == []
    await index.close()


async def test_a_published_collection_stands_under_its_name(
    store: VectorStore, tmp_path: Path, vectors: npt.NDArray[np.float32]
) -> None:
    """Publishing may be repeated; the generation before stays readable, the one before that may go."""
    folders = [tmp_path / f"{number}" / "vectors" for number in range(3)]
    for number, folder in enumerate(folders):
        await build(store, folder, vectors)
        for _ in range(2):
            await store.settle(COLLECTION, folder, folders[max(0, number - 1) : number])
    for folder in folders[1:]:
        index = await store.open(folder, COLLECTION)
        assert (await index.search(vectors[5], 1))[0][0] == "id-5"
        await index.close()


async def test_private_copies_go_with_their_readers(tmp_path: Path, vectors: npt.NDArray[np.float32]) -> None:
    """Chroma's readers leave nothing behind, and the copy of a reader that was killed is swept by the next one."""
    scratch = tmp_path / "readers"
    store = ChromaStore(scratch)
    await build(store, tmp_path / "vectors", vectors)
    (scratch / "dead").mkdir(parents=True)
    (scratch / "dead.lock").touch()
    index = await store.open(tmp_path / "vectors", COLLECTION)
    assert not (scratch / "dead").exists()
    other = await store.open(tmp_path / "vectors", COLLECTION)
    assert len(list(scratch.glob("*.lock"))) == 2
    await index.close()
    await other.close()
    assert [path.name for path in scratch.iterdir()] == ["sweep"]
