"""Copy the conversations, encrypted, while a server writes them, and put a copy back in one transaction."""

from contextlib import closing
from pathlib import Path

from lutrin import sqlite
from lutrin.chats.key import opens


def snapshot(database: Path, key: str, target: Path) -> None:
    """Copy the conversations to a new file, encrypted with the same key.

    Raises:
        DatabaseError: They cannot be read with this key.
    """
    with closing(sqlite.connect(database, key=key)) as source, closing(sqlite.connect(target, key=key)) as copy:
        source.backup(copy)
    target.chmod(0o600)


def take_over(database: Path, key: str, other: Path) -> None:
    """Replace the conversations with those of a migrated snapshot, which is deleted; a server goes on with them.

    A database that this key does not open, because it is damaged, is replaced as a file.

    Raises:
        DatabaseError: The database cannot be written; it is unchanged.
    """
    if opens(database, key):
        with closing(sqlite.connect(other, key=key)) as source, closing(sqlite.connect(database, key=key)) as target:
            source.backup(target)
            target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        other.unlink()
        return
    sqlite.replace(database, other)
