"""An archive of somebody else is foreign, and says nothing that is believed before it is looked at."""

import io
import shutil
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from lutrin.errors import ArchiveError, IndexUnavailable
from lutrin.index.catalog import Catalog
from lutrin.index.manifest import remove_retired
from lutrin.ingest.run import tidy
from lutrin.keep.archive import MANIFEST, SUMS, unpack_archive, write_archive
from lutrin.keep.backup import CATALOG, KIND, backup, restore

from .conftest import House, now

ENDLESS = (
    "ALTER TABLE embedding RENAME TO e; CREATE VIEW embedding AS WITH RECURSIVE n(i) AS "
    "(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
)
"""A view named like a table, with rows without end."""

Change = Callable[[sqlite3.Connection], object]


@pytest.fixture
async def saved(house: House, tmp_path: Path) -> Path:
    """A backup of one book."""
    await house.publish("The first text.")
    backup(house.settings, tmp_path / "saved.lutrin", now)
    return tmp_path / "saved.lutrin"


def forged(saved: Path, change: Change, database: str = CATALOG) -> Path:
    """The backup with a changed database, and with hashes that are right."""
    folder, target = saved.with_name("unpacked"), saved.with_name("forged.lutrin")
    folder.mkdir()
    unpack_archive(saved, KIND, folder)
    (place,) = folder.rglob(database)
    with closing(sqlite3.connect(place, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        change(connection)
    written = {folder / MANIFEST, folder / SUMS}
    names = sorted(path for path in folder.rglob("*") if path.is_file() and path not in written)
    write_archive(
        target,
        [(path.relative_to(folder).as_posix(), path) for path in names],
        KIND,
        "now",
    )
    return target


def state(house: House) -> list[str]:
    """Files of the data folder, but for locks and logs."""
    skipped = {".lock", ".db-shm", ".db-wal"}
    return sorted(str(path) for path in house.settings.data_dir.rglob("*") if path.suffix not in skipped)


async def test_a_foreign_backup_needs_to_be_trusted(saved: Path, house: House, tmp_path: Path) -> None:
    """Hashes can be computed by anybody; the key of this installation proves that it wrote the file."""
    assert restore(house.settings, saved).books
    other = House(tmp_path / "other")
    with pytest.raises(ArchiveError, match="not written by this installation") as caught:
        restore(other.settings, saved, with_chats=False)
    assert "--trust" in caught.value.remedy
    assert not other.settings.catalog_path.exists()
    assert restore(other.settings, saved, with_chats=False, trust=True).books
    same = forged(saved, lambda _: None)
    with pytest.raises(ArchiveError, match="not written by this installation"):
        restore(house.settings, same)


@pytest.mark.parametrize("name", ["/etc", "../../outside", "a/b", "..", ".", "", "a\x00b"])
@pytest.mark.parametrize("column", ["generation", "slug"])
async def test_names_are_no_paths(saved: Path, house: House, name: str, column: str) -> None:
    """Names of generations and books, retired ones too, cannot be paths: the next ingest would delete that folder."""
    before = state(house)

    def change(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA foreign_keys = OFF")
        if column == "generation":
            connection.execute("UPDATE generation SET name = ?", (name,))
            connection.execute("UPDATE book SET current = ?", (name,))
        else:
            connection.execute("UPDATE book SET info = json_set(info, '$.slug', ?)", (name,))

    with pytest.raises((ArchiveError, IndexUnavailable)):
        restore(house.settings, forged(saved, change), with_chats=False, trust=True)
    assert state(house) == before


async def test_deletion_stays_in_the_data_folder(house: House, tmp_path: Path) -> None:
    """A name in the catalogue that leads elsewhere, and a link in the way, delete nothing there."""
    name = await house.publish("The first text.")
    outside = tmp_path / "outside"
    shutil.copytree(house.settings.books_dir / "robots" / name, outside / "000009")
    with Catalog(house.settings.catalog_path) as catalog:
        catalog.connection.execute("PRAGMA foreign_keys = OFF")
        catalog.connection.execute(
            "INSERT INTO generation (name, slug, manifest_sha256, published, retired) VALUES (?, 'robots', '', '', 1)",
            (str(outside / "000009"),),
        )
        with pytest.raises(IndexUnavailable, match="not a valid name of a book or an index"):
            tidy(catalog, house.settings.books_dir)
        catalog.connection.execute("UPDATE generation SET name = '000009', slug = 'linked' WHERE retired")
        (house.settings.books_dir / "linked").symlink_to(outside)
        tidy(catalog, house.settings.books_dir)
    assert remove_retired(house.settings.books_dir, [("linked", "000009")]) == []
    assert (outside / "000009").is_dir()


@pytest.mark.parametrize(
    ("database", "statement"),
    [
        (CATALOG, ENDLESS),
        (CATALOG, "CREATE TRIGGER t AFTER INSERT ON book BEGIN DELETE FROM book; END"),
        (CATALOG, "CREATE TABLE more (a)"),
        (CATALOG, "DROP TABLE left_out; CREATE TABLE left_out (a, b AS (a || a))"),
        ("passages.db", "CREATE VIEW v AS SELECT 1"),
        ("passages.db", "CREATE TRIGGER t AFTER INSERT ON chunk BEGIN DELETE FROM chunk; END"),
    ],
)  # fmt: skip
async def test_a_database_holds_nothing_that_runs(saved: Path, house: House, database: str, statement: str) -> None:
    """Views, triggers, computed columns and further tables are refused before anything is read."""
    before = state(house)

    def change(connection: sqlite3.Connection) -> None:
        connection.executescript(statement)

    with pytest.raises((ArchiveError, IndexUnavailable)):
        restore(house.settings, forged(saved, change, database), with_chats=False, trust=True)
    assert state(house) == before


@pytest.mark.parametrize("kind", ["sparse", "larger", "log"])
async def test_room_is_counted_by_what_is_written(house: House, tmp_path: Path, kind: str) -> None:
    """A few kilobytes that claim gigabytes are refused, and so is a log beside a database."""
    path = tmp_path / "small.lutrin"
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("catalog.db-wal" if kind == "log" else "catalog.db")
        if kind == "sparse":
            info.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.map": "0,1",
                                "GNU.sparse.size": str(1 << 40), "GNU.sparse.name": "catalog.db"}  # fmt: skip
        info.size = 1
        tar.addfile(info, io.BytesIO(b"x"))
    if kind == "larger":
        content = bytearray(path.read_bytes())
        content[124:136] = f"{1 << 30:011o}\0".encode()
        content[148:156] = b" " * 8
        content[148:156] = f"{sum(content[:512]):06o}\0 ".encode()
        path.write_bytes(content)
    with pytest.raises(ArchiveError):
        restore(house.settings, path, trust=True)
    assert state(house) == []
