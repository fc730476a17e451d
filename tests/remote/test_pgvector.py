"""Faults between the server and PostgreSQL with pgvector, and searches with large tables and filters."""

import pickle
import threading
import time
from pathlib import Path

import asyncpg
import numpy as np
import pytest
from tests.remote.postgres import Cluster

from lutrin.errors import IndexUnavailable
from lutrin.ports import Vectors
from lutrin_remote import index_pgvector
from lutrin_remote.index_pgvector import NOTE, PgvectorStore

NAME = "book-v1"
EIGHT: Vectors = np.eye(8, dtype=np.float32)


async def build(store: PgvectorStore, folder: Path, vectors: Vectors = EIGHT) -> None:
    """Records of which the first tenth is in a chapter of its own."""
    index = await store.create(folder, NAME, len(vectors))
    rare = len(vectors) // 10
    metadata = [{"chapter": "rare" if number < rare else "common", "role": "text"} for number in range(len(vectors))]
    await index.add([f"id-{number}" for number in range(len(vectors))], vectors, metadata)
    await index.close()


async def tables(url: str) -> set[str]:
    """The tables of vectors."""
    connection = await asyncpg.connect(url)
    try:
        names = "SELECT relname FROM pg_class WHERE relname ~ '^lutrin_vectors_[0-9a-f]{12}$' AND relkind = 'r'"
        listed = {row["name"] for row in await connection.fetch("SELECT name FROM lutrin_vectors")}
        assert listed == {row["relname"] for row in await connection.fetch(names)}
        return listed
    finally:
        await connection.close()


def clustered(count: int, dimension: int) -> Vectors:
    """Directions around a few centres; the first tenth lies around a centre of its own."""
    random = np.random.default_rng(3)
    centres = random.normal(size=(20, dimension))
    places = np.concatenate([np.zeros(count // 10, dtype=int), random.integers(1, 20, count - count // 10)])
    rows = (centres[places] + random.normal(size=(count, dimension))).astype(np.float32)
    scaled: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


@pytest.mark.parametrize("filtered", [10, 20_000], ids=["by-the-graph", "one-by-one"])
async def test_a_filter_loses_nothing(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, filtered: int
) -> None:
    """A search within a chapter far from the question finds the chapter's nearest passages, as many as requested."""
    monkeypatch.setattr(index_pgvector, "FILTERED", filtered)
    vectors = clustered(3000, 32)
    store = PgvectorStore(postgres_url, scanned=0)
    await build(store, tmp_path, vectors)
    index = await store.open(tmp_path, NAME)
    recalls = []
    for question in vectors[-20:]:  # none of them is near the rare chapter
        found = await index.search(question, 24, {"chapter": "rare", "role": "text"})
        assert len(found) == 24
        best = {f"id-{number}" for number in np.argsort(-(vectors[:300] @ question))[:24]}
        recalls.append(len(best & {name for name, _ in found}) / 24)
    await index.close()
    assert np.mean(recalls) > 0.95


async def test_more_than_the_graph_gives_is_found_by_a_scan(postgres_url: str, tmp_path: Path) -> None:
    """Every record comes, though the graph visits a few hundred at a time."""
    store = PgvectorStore(postgres_url, scanned=0)
    vectors = clustered(1500, 16)
    await build(store, tmp_path, vectors)
    index = await store.open(tmp_path, NAME)
    assert len(await index.search(vectors[0], 2000)) == 1500
    await index.close()


async def test_a_search_reads_the_question_once(postgres_url: str, tmp_path: Path) -> None:
    """The tenth search in a chapter is as quick as the first: no plan reads the question for each record."""
    store = PgvectorStore(postgres_url, scanned=0)
    vectors = clustered(3000, 384)
    await build(store, tmp_path, vectors)
    index = await store.open(tmp_path, NAME)
    seconds = []
    for question in vectors[:12]:
        began = time.perf_counter()
        await index.search(question, 24, {"chapter": "common"})
        seconds.append(time.perf_counter() - began)
    await index.close()
    assert min(seconds[6:]) < 5 * min(seconds[:5])


async def test_the_graph_is_used(postgres_url: str, tmp_path: Path) -> None:
    """The planner chooses it for a large table, with a filter that many records pass, too."""
    store = PgvectorStore(postgres_url, scanned=0)
    vectors = clustered(2000, 16)
    await build(store, tmp_path, vectors)
    index = await store.open(tmp_path, NAME)
    (name,) = await tables(postgres_url)
    near = str(vectors[0].tolist())
    async with index._database.pool.acquire() as connection:
        for where in ("", "WHERE data ->> 'chapter' = 'common'"):
            statement = f"EXPLAIN SELECT id FROM {name} {where} ORDER BY vector <#> '{near}'::halfvec LIMIT 24"  # noqa: S608 - a name of ours
            plan = "\n".join(row[0] for row in await connection.fetch(statement))
            assert f"Index Scan using {name}_graph" in plan
    await index.close()


async def test_a_table_that_somebody_reads_is_not_dropped(postgres_url: str, tmp_path: Path) -> None:
    """A server that is two ingests behind goes on answering; the next publication drops what it has left."""
    folders = [tmp_path / str(number) for number in range(4)]
    store, server = PgvectorStore(postgres_url), PgvectorStore(postgres_url)
    for folder in folders[:3]:
        await build(store, folder)
    late = await server.open(folders[0], NAME)
    again = await server.open(folders[0], NAME)
    await store.settle(NAME, folders[2], [folders[1]])
    assert len(await tables(postgres_url)) == 3
    await again.close()
    await store.settle(NAME, folders[2], [folders[1]])
    assert (await late.search(EIGHT[5], 1))[0][0] == "id-5"
    await late.close()
    await build(store, folders[3])
    await store.settle(NAME, folders[3], [folders[2]])
    assert len(await tables(postgres_url)) == 2


async def test_what_a_killed_ingest_left_is_dropped(postgres_url: str, tmp_path: Path) -> None:
    """Its table has no note; the next publication of the book removes it, and tables of other books stay."""
    killed = await PgvectorStore(postgres_url).create(tmp_path / "killed", NAME, 8)
    await killed.add(["a"], EIGHT[:1], [{"chapter": "C"}])
    await killed._database.close()
    other = await PgvectorStore(postgres_url).create(tmp_path / "other", "another-v1", 8)
    await other.add(["a"], EIGHT[:1], [{"chapter": "C"}])
    await other.close()
    fresh = PgvectorStore(postgres_url)
    await build(fresh, tmp_path / "fresh")
    assert len(await tables(postgres_url)) == 3
    await fresh.settle(NAME, tmp_path / "fresh", [])
    assert len(await tables(postgres_url)) == 2


@pytest.mark.slow("a database is stopped and started again")
async def test_a_restart_is_waited_out(postgres: Cluster, postgres_url: str, tmp_path: Path) -> None:
    """An open index goes on after the database came back, and holds its table again; an ingest in progress, too."""
    store = PgvectorStore(postgres_url)
    await build(store, tmp_path / "first")
    index = await store.open(tmp_path / "first", NAME)
    writer = await store.create(tmp_path / "second", NAME, 8)
    await writer.add(["id-0"], EIGHT[:1], [{"chapter": "C"}])
    postgres.kill()
    began = time.monotonic()
    with pytest.raises(IndexUnavailable, match="cannot be read"):
        await index.search(EIGHT[3], 1)
    assert time.monotonic() - began < 20
    starting = threading.Timer(1.0, postgres.start)
    starting.start()
    await writer.add(["id-0", "id-1"], EIGHT[:2], [{"chapter": "C"}] * 2)
    starting.join()
    assert (await index.search(EIGHT[3], 1))[0][0] == "id-3"
    await writer.close()
    await store.settle(NAME, tmp_path / "second", [])
    assert len(await tables(postgres_url)) == 2
    await index.close()
    index = await store.open(tmp_path / "second", NAME)
    assert sorted(await index.ids()) == ["id-0", "id-1"]
    await index.close()


async def test_a_table_that_is_not_what_was_written_is_not_opened(postgres_url: str, tmp_path: Path) -> None:
    """Another count, no table, a foreign name, a note of another store: each is an error before a reader asks."""
    store = PgvectorStore(postgres_url)
    await build(store, tmp_path)
    note = (tmp_path / NOTE).read_bytes()
    (tmp_path / NOTE).write_bytes(note.replace(b'"records":8', b'"records":9'))
    with pytest.raises(IndexUnavailable, match="not \\(8, 9\\)"):
        await store.open(tmp_path, NAME)
    (tmp_path / NOTE).write_bytes(note.replace(b"lutrin_vectors_", b"pg_catalog.pg_class"))
    with pytest.raises(IndexUnavailable, match="does not name a table"):
        await store.open(tmp_path, NAME)
    (tmp_path / NOTE).write_bytes(note)
    connection = await asyncpg.connect(postgres_url)
    (name,) = await tables(postgres_url)
    index = await store.open(tmp_path, NAME)
    await connection.execute(f"DROP TABLE {name}; DELETE FROM lutrin_vectors")  # noqa: S608 - a name of ours
    await connection.close()
    with pytest.raises(IndexUnavailable, match="its table is gone"):
        await index.search(EIGHT[0], 1)
    await index.close()
    with pytest.raises(IndexUnavailable, match="nothing, not"):
        await store.open(tmp_path, NAME)
    (tmp_path / NOTE).unlink()
    with pytest.raises(IndexUnavailable) as caught:
        await store.open(tmp_path, NAME)
    assert "ingest --rebuild" in caught.value.remedy


async def test_a_database_that_is_away_is_named(postgres: Cluster) -> None:
    """The operator learns which variable to look at, and never reads the password."""
    for url in ("postgresql://lutrin:secret@127.0.0.1:1/x", postgres.url("nowhere")):
        with pytest.raises(IndexUnavailable, match="Check DATABASE_URL") as caught:
            await PgvectorStore(url).check()
        assert "secret" not in repr(caught.value)


async def test_a_user_without_rights_is_told_whom_to_ask(postgres_url: str) -> None:
    """The extension is an administrator's to make."""
    connection = await asyncpg.connect(postgres_url)
    await connection.execute("DROP ROLE IF EXISTS pupil; CREATE ROLE pupil LOGIN")
    await connection.close()
    with pytest.raises(IndexUnavailable, match="CREATE EXTENSION vector"):
        await PgvectorStore(postgres_url.replace("lutrin@", "pupil@")).check()


async def test_a_store_is_opened_in_another_process(postgres_url: str) -> None:
    """A new generation is read back by a process of its own, which gets the store pickled."""
    store = PgvectorStore(postgres_url, scanned=7)
    assert pickle.loads(pickle.dumps(store)).__reduce__() == store.__reduce__()  # noqa: S301 - our own bytes
