"""Numbered migrations of the conversations' database, each in one transaction, each after an encrypted backup.

A new database gets the tables of `tables.py`. A released migration is never edited: a change of the tables is a new one
as well. SQLite's `user_version` is the version.
"""

from collections.abc import Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from lutrin import sqlite
from lutrin.errors import ChatStoreError

WAIT_S = 30.0
"""Seconds to wait for another process that creates or migrates the same file."""


MIGRATIONS: tuple[tuple[str, ...], ...] = (
    # The list of a browser's conversations and the newest 50 of one are read in the order of these indexes.
    (
        "CREATE INDEX ix_session_owner_updated ON session (owner, updated)",
        "DROP INDEX ix_message_session",
        "CREATE INDEX ix_message_session ON message (session, position)",
    ),
    # What `lutrin replay` needs to ask a question again.
    ("ALTER TABLE message ADD COLUMN made VARCHAR NOT NULL DEFAULT ''",),
    # The parts of an answer that a page shows: explanation, excerpts, suggestions.
    ("ALTER TABLE message ADD COLUMN shown VARCHAR NOT NULL DEFAULT ''",),
    # Bytes that a conversation takes, and the days that retention counts.
    (
        "ALTER TABLE session ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0",
        """UPDATE session SET stored_bytes = (
            SELECT coalesce(sum(length(text) + length(selected_text) + length(citations) + length(made)), 0)
            FROM message WHERE message.session = session."key"
        )""",
        "CREATE TABLE day (day VARCHAR NOT NULL PRIMARY KEY)",
        "INSERT INTO day SELECT DISTINCT substr(created, 1, 10) FROM message WHERE created LIKE '____-__-__T%'",
    ),
)
"""Migration n leads from version n to n + 1."""


def migrate(path: Path, key: str, migrations: Sequence[Sequence[str]] = MIGRATIONS) -> list[Path]:
    """Migrate the database, or create it; return paths of the encrypted backups made, such as `chats.db.before-2`.

    Raises:
        ChatStoreError: The key is wrong, the database is damaged or newer than this program, or a step failed (the
            database then is as it was before that step).
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Two processes creating the file at once would each choose a salt, and one could not read what the other wrote.
    try:
        with FileLock(path.with_name(f"{path.name}.lock"), timeout=WAIT_S):
            return _migrate(path, key, migrations)
    except Timeout as error:
        raise ChatStoreError(
            f"Another program is migrating the conversations in {path}.", remedy="Try again when it has ended."
        ) from error


def _migrate(path: Path, key: str, migrations: Sequence[Sequence[str]]) -> list[Path]:
    backups = []
    try:
        connection = sqlite.connect(path, key=key)
    except sqlite.DatabaseError as error:
        raise ChatStoreError(
            f"The conversations in {path} cannot be opened with this key: {error}.",
            remedy="Check LUTRIN_CHAT_KEY or the key file.",
        ) from error
    path.chmod(0o600)
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > 1 + len(migrations):
            raise ChatStoreError(
                f"The conversations in {path} were written by a newer Lutrin (version {version}).",
                remedy="Install that version, or restore an older backup.",
            )
        if version == 0:
            _apply(connection, 0, 1 + len(migrations), _new_tables())
        for number in range(version or 1 + len(migrations), 1 + len(migrations)):
            backups.append(_backup(connection, path, key, number + 1))
            _apply(connection, number, number + 1, migrations[number - 1])
    except sqlite.DatabaseError as error:
        raise ChatStoreError(f"The conversations in {path} could not be migrated: {error}.") from error
    finally:
        connection.close()
    return backups


def _new_tables() -> list[str]:
    from lutrin.chats.tables import make_tables  # noqa: PLC0415 - loads SQLModel, which takes most of a second

    return make_tables()


def _apply(connection: sqlite.Connection, version: int, next_version: int, statements: Sequence[str]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        (found,) = connection.execute("PRAGMA user_version").fetchone()
        if found == version:  # otherwise another process has done it
            for statement in statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {next_version}")
        connection.execute("COMMIT")
    except sqlite.DatabaseError:
        connection.execute("ROLLBACK")
        raise


def _backup(connection: sqlite.Connection, path: Path, key: str, number: int) -> Path:
    target = path.with_name(f"{path.name}.before-{number}")
    target.unlink(missing_ok=True)
    copy = sqlite.connect(target, key=key)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    target.chmod(0o600)
    return target
