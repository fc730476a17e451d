"""Catalogues, new and migrated, are what the SQLModel classes describe, and every statement fits them."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.tables import tables_of

from lutrin import sqlite
from lutrin.chats.engine import migrate
from lutrin.index import catalog, statements
from lutrin.index.catalog import Catalog

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


@pytest.mark.parametrize("version", range(1, catalog.SCHEMA_VERSION))
def test_an_old_catalogue_becomes_a_new_one(tmp_path: Path, version: int) -> None:
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
        assert migrated.connection.execute(statements.REVISION).fetchall() == [(0,)]
        with Catalog(tmp_path / "new.db") as new:
            assert tables_of(migrated.connection) == tables_of(new.connection)


def test_every_statement_fits_the_tables(tmp_path: Path) -> None:
    """SQLite prepares each on a new catalogue with another one attached, or on a new `passages.db`."""
    with Catalog(tmp_path / "catalog.db") as found, Catalog(tmp_path / "other.db"):
        found.connection.execute("ATTACH DATABASE ? AS other", (str(tmp_path / "other.db"),))
        found.connection.execute(statements.MAKE_LIVE)
        passages = sqlite.connect(tmp_path / "passages.db")
        for statement in (*statements.MAKE_PASSAGES, statements.MAKE_COMMON):
            passages.execute(statement)
        text = inspect.getsource(statements)
        of_passages = text.index("# Passages")
        for name, value in vars(statements).items():
            if not name.isupper() or name.startswith(("_", "MAKE_")):
                continue
            database = passages if text.index(f"\n{name} = ") > of_passages else found.connection
            for statement in (value,) if isinstance(value, str) else value:
                named = dict.fromkeys(re.findall(r":(\w+)", statement), 1)
                assert database.execute(f"EXPLAIN {statement}", named).fetchall(), name
        passages.close()


def test_no_command_loads_sqlmodel_for_its_databases(tmp_path: Path) -> None:
    """Opening a catalogue or conversations that exist loads neither SQLModel nor SQLAlchemy, which are slow to load."""
    Catalog(tmp_path / "catalog.db").close()
    migrate(tmp_path / "chats.db", "0" * 64)
    code = (
        "import sys; from pathlib import Path; import lutrin.index.shelf, lutrin.index.build, lutrin.chats.store;"
        "from lutrin.chats.engine import migrate; from lutrin.index.catalog import Catalog;"
        "Catalog(Path('catalog.db')).close(); migrate(Path('chats.db'), '0' * 64);"
        "print(*{'sqlmodel', 'sqlalchemy'} & sys.modules.keys())"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert printed == "\n"
