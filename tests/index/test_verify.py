"""Verification: every damaged or missing file is found before a generation is published."""

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from tests.fakes import ExactIndex, ExactStore

from lutrin.errors import VerificationFailed
from lutrin.index.disk import file_hashes
from lutrin.index.generation import PASSAGES, VECTORS, WINDOWS
from lutrin.index.manifest import MANIFEST
from lutrin.index.readback import in_fresh_process, verify_generation

from .conftest import Library


def rehash(directory: Path) -> None:
    """Make the manifest fit the files again, so that only their content can give them away."""
    manifest = json.loads((directory / MANIFEST).read_text())
    manifest["hashes"] = file_hashes(directory, without=MANIFEST)
    (directory / MANIFEST).write_text(json.dumps(manifest))


def cut(name: str) -> Callable[[Path], None]:
    """Damage that drops the last byte of a file."""

    def damage(directory: Path) -> None:
        path = directory / name
        path.write_bytes(path.read_bytes()[:-1])

    return damage


def flip(name: str) -> Callable[[Path], None]:
    """Damage that changes one byte in the middle of a file."""

    def damage(directory: Path) -> None:
        content = bytearray((directory / name).read_bytes())
        content[len(content) // 2] ^= 1
        (directory / name).write_bytes(content)

    return damage


def sql(statement: str) -> Callable[[Path], None]:
    """Damage inside the passages that no checksum shows."""

    def damage(directory: Path) -> None:
        connection = sqlite3.connect(directory / PASSAGES)
        connection.execute(statement)
        connection.commit()
        connection.close()
        rehash(directory)

    return damage


def other_vectors(directory: Path) -> None:
    """Vectors that are not those in the index."""
    vectors = np.load(directory / WINDOWS)
    np.save(directory / WINDOWS, np.roll(vectors, 1, axis=0)[:, ::-1])
    rehash(directory)


def lost_vector(directory: Path) -> None:
    """An index that lacks a record."""
    path = directory / VECTORS / "robots-v1.npz"
    with np.load(path) as stored:
        vectors, records = stored["vectors"], json.loads(stored["records"].tobytes())
    records = {name: values[:-1] for name, values in records.items()}
    np.savez(path, vectors=vectors[:-1], records=np.frombuffer(json.dumps(records).encode(), dtype=np.uint8))
    rehash(directory)


async def test_what_was_written_passes(library: Library) -> None:
    """An untouched generation is found good, in this process and in a fresh one."""
    directory = await library.publish("g1")
    await verify_generation(directory, library.store)
    await in_fresh_process(library.store)(directory)


@pytest.mark.parametrize(
    "damage",
    [
        cut(PASSAGES),
        flip(PASSAGES),
        cut("tokens.i8"),
        flip("tokens.i8"),
        flip(WINDOWS),
        sql("DELETE FROM chunk WHERE row = 0"),
        sql("DELETE FROM file WHERE filename LIKE '%imu%'"),
        sql("UPDATE chunk SET record = replace(CAST(record AS TEXT), 'lidar', 'radar')"),
        sql("UPDATE file SET source = ''"),
        other_vectors,
        lost_vector,
        lambda directory: (directory / MANIFEST).unlink(),
        lambda directory: (directory / "extra").touch(),
    ],
)
async def test_damage_is_found(library: Library, damage: Callable[[Path], None]) -> None:
    """Missing, changed, foreign and inconsistent content is refused."""
    directory = await library.publish("g1")
    damage(directory)
    with pytest.raises(VerificationFailed):
        await verify_generation(directory, library.store)


async def test_damage_is_found_in_the_other_process(library: Library) -> None:
    """The fresh process tells what it found."""
    directory = await library.publish("g1")
    flip("tokens.i8")(directory)
    with pytest.raises(VerificationFailed, match="differ from those that were written"):
        await in_fresh_process(library.store)(directory)


class ForgetfulIndex:
    """An index that finds only the first half of what it holds."""

    def __init__(self, whole: ExactIndex) -> None:
        self._whole = whole
        self.add = whole.add
        self.ids = whole.ids
        self.close = whole.close

    async def search(
        self, vector: npt.NDArray[np.float32], k: int, where: Mapping[str, str] | None = None
    ) -> list[tuple[str, float]]:
        """Leave out every other record."""
        kept: Sequence[str] = sorted(await self._whole.ids())[::2]
        return [pair for pair in await self._whole.search(vector, 1000, where) if pair[0] in kept][:k]


class ForgetfulStore(ExactStore):
    """Opens forgetful indexes."""

    async def open(self, directory: Path, collection: str) -> ForgetfulIndex:  # type: ignore[override]  # as the port allows
        """Open a finished collection."""
        return ForgetfulIndex(await super().open(directory, collection))


async def test_an_index_that_forgets_is_refused(library: Library) -> None:
    """The exact scan is the oracle: an index that misses neighbours is not published."""
    directory = await library.publish("g1")
    with pytest.raises(VerificationFailed, match="exact scan"):
        await verify_generation(directory, ForgetfulStore())
