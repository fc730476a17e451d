"""The databases of books are what the SQLModel classes describe, and the program reads what was compiled from them."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import MetaData, create_engine

from lutrin import sqlite
from lutrin.index import catalog, compiled, definitions
from lutrin.index.catalog import Catalog

ROOT = Path(__file__).parents[2]
FIRST_VERSION = """
CREATE TABLE generation (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, slug TEXT NOT NULL,
    manifest_sha256 TEXT NOT NULL, published TEXT NOT NULL, retired INTEGER NOT NULL DEFAULT 0);
CREATE TABLE book (slug TEXT PRIMARY KEY, info TEXT NOT NULL, corpus TEXT NOT NULL, recipe TEXT NOT NULL,
    current TEXT NOT NULL REFERENCES generation (name), previous TEXT REFERENCES generation (name));
CREATE TABLE file (slug TEXT NOT NULL REFERENCES book (slug) ON DELETE CASCADE, filename TEXT NOT NULL,
    size INTEGER NOT NULL, changed_ns INTEGER NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (slug, filename)
    ) WITHOUT ROWID;
CREATE TABLE embedding (content_hash TEXT NOT NULL, embedder TEXT NOT NULL, windows BLOB NOT NULL,
    token_vectors BLOB NOT NULL, token_offsets BLOB NOT NULL, UNIQUE (content_hash, embedder));
INSERT INTO generation (name, slug, manifest_sha256, published) VALUES ('g1', 'robots', 'm', '2026-11-01T00:00:00Z');
INSERT INTO book VALUES ('robots', '{"slug": "robots", "title": "Robots"}', '/c', 'r', 'g1', NULL)
"""
"""A catalogue as the first release made it, with a book."""


def tables_of(path: Path) -> dict[str, object]:
    """Columns, foreign keys, indexes and options of a database's tables, as SQLite reports them."""
    with closing(sqlite3.connect(path)) as found:
        tables = found.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        return {name: _table(found, name, made) for name, made in tables.fetchall()}


def described(metadata: MetaData, path: Path) -> dict[str, object]:
    """The same of what some SQLModel classes describe."""
    engine = create_engine(f"sqlite:///{path}")
    metadata.create_all(engine)
    engine.dispose()
    return tables_of(path)


def _table(found: sqlite3.Connection, name: str, made: str) -> object:
    columns = [
        # Earlier catalogues let a key of text be NULL, as SQLite does; none was ever stored.
        (column, kind, bool(needed or key), default, key)
        for _, column, kind, needed, default, key in found.execute(f"PRAGMA table_info('{name}')")
    ]
    foreign = {row[2:] for row in found.execute(f"PRAGMA foreign_key_list('{name}')")}
    indexes = {
        (
            index if origin == "c" else "",
            unique,
            tuple(row[2] for row in found.execute(f"PRAGMA index_info('{index}')")),
        )
        for _, index, unique, origin, _ in found.execute(f"PRAGMA index_list('{name}')").fetchall()
    }
    return columns, foreign, indexes, [word for word in ("AUTOINCREMENT", "WITHOUT ROWID") if word in made]


@pytest.mark.parametrize(("room", "file"), [("index", "compiled.py"), ("chats", "sql.py")])
def test_compiled_sql_is_up_to_date(room: str, file: str) -> None:
    """It is what its script prints now; `./justw docs` writes it."""
    program = [sys.executable, str(ROOT / "requirements" / "compile_sql.py"), room]
    printed = subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout
    assert (ROOT / "src" / "lutrin" / room / file).read_text("utf-8") == printed


def test_a_new_catalogue_has_the_described_tables(tmp_path: Path) -> None:
    """Every table of a new catalogue is one of the classes, and the other way round."""
    Catalog(tmp_path / "catalog.db").close()
    assert tables_of(tmp_path / "catalog.db") == described(definitions.CatalogTable.metadata, tmp_path / "described.db")


@pytest.mark.parametrize("version", range(1, catalog.SCHEMA_VERSION))
def test_an_old_catalogue_becomes_the_described_one(tmp_path: Path, version: int) -> None:
    """A catalogue of each earlier version is migrated with its books, to the tables of a new one."""
    path = tmp_path / "catalog.db"
    old = sqlite.connect(path)
    steps = (tuple(FIRST_VERSION.split(";\n")), *catalog.MIGRATIONS)
    for statement in (statement for step in steps[:version] for statement in step):
        old.execute(statement)
    old.execute(f"PRAGMA user_version = {version}")
    old.close()
    with Catalog(path) as migrated:
        (book,) = migrated.books()
        assert (book.info.title, book.current, book.root, migrated.next_number()) == ("Robots", "g1", "", 2)
        assert migrated.connection.execute(compiled.REVISION).fetchall() == [(0,)]
    assert tables_of(path) == described(definitions.CatalogTable.metadata, tmp_path / "described.db")


def test_passages_have_the_described_tables(tmp_path: Path) -> None:
    """A generation's `passages.db` and the classes agree, the full-text indexes aside."""
    made = sqlite.connect(tmp_path / "passages.db")
    for statement in (*compiled.MAKE_PASSAGES, compiled.MAKE_WORD, compiled.MAKE_COMMON):
        made.execute(statement)
    made.close()
    assert tables_of(tmp_path / "passages.db") == described(
        definitions.PassageTable.metadata, tmp_path / "described.db"
    )


@pytest.mark.parametrize("used", ["lutrin.index.shelf, lutrin.index.build", "lutrin.chats.store, lutrin.chats.absent"])
def test_no_command_loads_sqlmodel_for_its_databases(used: str) -> None:
    """Opening catalogue, books or conversations loads neither SQLModel nor SQLAlchemy, which take most of a second."""
    code = f"import sys, {used}; print(*{{'sqlmodel', 'sqlalchemy'}} & sys.modules.keys())"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout == "\n"
