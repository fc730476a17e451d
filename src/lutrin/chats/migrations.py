"""Numbered migrations of the conversations' database, each in one transaction, each after an encrypted backup.

A released migration is never edited: a change of the tables is a new one. SQLite's `user_version` counts them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from lutrin import sqlite
from lutrin.errors import ChatStoreError

WAIT_S = 30.0
"""Seconds to wait for another process that creates or migrates the same file."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One step from a version of the tables to the next."""

    name: str
    statements: tuple[str, ...]


MIGRATIONS = (
    Migration(
        "sessions, messages and feedback",
        (
            """CREATE TABLE session (
                "key" VARCHAR NOT NULL PRIMARY KEY, id VARCHAR NOT NULL, owner VARCHAR NOT NULL, title VARCHAR NOT NULL,
                created VARCHAR NOT NULL, updated VARCHAR NOT NULL, book VARCHAR NOT NULL, generation VARCHAR NOT NULL,
                user_agent VARCHAR NOT NULL, message_count INTEGER NOT NULL
            )""",
            "CREATE INDEX ix_session_id ON session (id)",
            "CREATE INDEX ix_session_updated ON session (updated)",
            """CREATE TABLE message (
                position INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR NOT NULL,
                session VARCHAR NOT NULL REFERENCES session ("key") ON DELETE CASCADE, role VARCHAR NOT NULL,
                text VARCHAR NOT NULL, created VARCHAR NOT NULL, mode VARCHAR, kind VARCHAR,
                selected_text VARCHAR NOT NULL, chunk_ids VARCHAR NOT NULL, citations VARCHAR NOT NULL
            )""",
            "CREATE UNIQUE INDEX ix_message_id ON message (id)",
            "CREATE INDEX ix_message_session ON message (session)",
            """CREATE TABLE feedback (
                message VARCHAR NOT NULL PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
                value VARCHAR NOT NULL, comment VARCHAR NOT NULL, created VARCHAR NOT NULL
            )""",
        ),
    ),
    # The list of a browser's conversations and the newest 50 of one are read in the order of these indexes.
    Migration(
        "indexes for lists",
        (
            "CREATE INDEX ix_session_owner_updated ON session (owner, updated)",
            "DROP INDEX ix_message_session",
            "CREATE INDEX ix_message_session ON message (session, position)",
        ),
    ),
    # What `lutrin replay` needs to ask a question again.
    Migration("how answers were made", ("ALTER TABLE message ADD COLUMN made VARCHAR NOT NULL DEFAULT ''",)),
    # The parts of an answer that a page shows: explanation, excerpts, suggestions.
    Migration("parts of answers", ("ALTER TABLE message ADD COLUMN shown VARCHAR NOT NULL DEFAULT ''",)),
    # Bytes that a conversation takes, and the days that retention counts.
    Migration(
        "room and days",
        (
            "ALTER TABLE session ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0",
            """UPDATE session SET stored_bytes = (
                SELECT coalesce(sum(length(text) + length(selected_text) + length(citations) + length(made)), 0)
                FROM message WHERE message.session = session."key"
            )""",
            "CREATE TABLE day (day VARCHAR NOT NULL PRIMARY KEY)",
            "INSERT INTO day SELECT DISTINCT substr(created, 1, 10) FROM message WHERE created LIKE '____-__-__T%'",
        ),
    ),
)


def migrate(path: Path, key: str, migrations: Sequence[Migration] = MIGRATIONS) -> list[Path]:
    """Migrate the database to the newest version, creating it if necessary.

    Args:
        path: The database.
        key: Its key, 64 hexadecimal digits.
        migrations: In order; number n leads to version n.

    Returns:
        Paths of the backups made, such as `chats.db.before-2`, encrypted with the same key.

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


def _migrate(path: Path, key: str, migrations: Sequence[Migration]) -> list[Path]:
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
        if version > len(migrations):
            raise ChatStoreError(
                f"The conversations in {path} were written by a newer Lutrin (version {version}).",
                remedy="Install that version, or restore an older backup.",
            )
        for number in range(version + 1, len(migrations) + 1):
            if version:
                backups.append(_backup(connection, path, key, number))
            _apply(connection, number, migrations[number - 1])
    except sqlite.DatabaseError as error:
        raise ChatStoreError(f"The conversations in {path} could not be migrated: {error}.") from error
    finally:
        connection.close()
    return backups


def _apply(connection: sqlite.Connection, number: int, migration: Migration) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version == number - 1:  # otherwise another process has done it
            for statement in migration.statements:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
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
