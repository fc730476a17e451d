"""What a database from elsewhere may hold: tables and indexes, never code that runs when they are read.

A view named like a table can compute rows without end, and a trigger can write what nobody asked for.
"""

import re
from contextlib import closing
from pathlib import Path

from lutrin import sqlite
from lutrin.errors import IndexUnavailable

FULL_TEXT = re.compile(r"CREATE VIRTUAL TABLE \S+ USING fts5\s*\(", re.IGNORECASE)
COMPUTED = frozenset({2, 3})
"""How `table_xinfo` marks generated columns."""


def check_schema(database: Path, tables: frozenset[str] | None = None) -> None:
    """Look at a database's schema before anything of it is used; it may have these tables, None: any.

    Raises:
        IndexUnavailable: It holds anything but tables and indexes, or other tables, or is no database.
    """
    try:
        with closing(sqlite.connect(database, readonly=True)) as connection:
            rows = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
            for kind, name, sql in rows:
                if kind not in {"table", "index"}:
                    raise IndexUnavailable(f"{database.name} holds a {kind}, {name!r}.")
                is_virtual = (sql or "").upper().lstrip().startswith("CREATE VIRTUAL")
                if is_virtual and not FULL_TEXT.match(sql):
                    raise IndexUnavailable(f"{database.name} holds the virtual table {name!r}.")
                if kind == "table" and tables is not None and name not in tables and not name.startswith("sqlite_"):
                    raise IndexUnavailable(f"{database.name} holds a table {name!r} that is not of this program.")
                if kind == "table" and not is_virtual:
                    columns = connection.execute("SELECT hidden FROM pragma_table_xinfo(?)", (name,)).fetchall()
                    if any(hidden in COMPUTED for (hidden,) in columns):
                        raise IndexUnavailable(f"{database.name} computes columns of {name!r}.")
    except sqlite.DatabaseError as error:
        raise IndexUnavailable(f"{database.name} cannot be read: {error}") from error
