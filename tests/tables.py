"""The tables of an SQLite database, in a form that can be compared."""

from lutrin import sqlite


def tables_of(database: sqlite.Connection) -> dict[str, object]:
    """Columns, foreign keys, indexes and options of a database's tables, as SQLite reports them."""
    found = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    return {name: _table(database, name, made) for name, made in found.fetchall()}


def _table(found: sqlite.Connection, name: str, made: str) -> object:
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
