"""The key that encrypts conversations: 256 bits, from `LUTRIN_CHAT_KEY` or a file that only its owner can read.

The key is never part of a backup: whoever finds the database alone finds noise. Rotation re-encrypts the database into
a new file and swaps both files; a crash between the two renames is finished by the next start.
"""

import hashlib
import hmac
import os
import re
import secrets
from pathlib import Path

from lutrin import sqlite
from lutrin.errors import ChatStoreError, InvalidSettings, LutrinError
from lutrin.settings import Settings

KEY_BYTES = 32


def new_key() -> str:
    """A random key: 64 hexadecimal digits."""
    return secrets.token_hex(KEY_BYTES)


def chat_key(settings: Settings) -> str:
    """The key of the conversations; the file that holds it is made on first use.

    Raises:
        InvalidSettings: `LUTRIN_CHAT_KEY` or the file holds something else than 64 hexadecimal digits.
        ChatStoreError: Others than its owner may read the file.
    """
    if settings.chat_key is not None:
        return _checked(settings.chat_key.get_secret_value(), "LUTRIN_CHAT_KEY")
    return file_key(settings.chats_path, settings.chat_key_path)


def secret_of(settings: Settings) -> bytes:
    """A key for names that nobody may guess, the same for all servers of these conversations and after a restart.

    Where there is no readable key, one for this process.
    """
    try:
        key = bytes.fromhex(chat_key(settings))
    except (LutrinError, OSError):
        key = secrets.token_bytes(KEY_BYTES)
    return hmac.new(key, b"lutrin names of conversations", hashlib.sha256).digest()


def file_key(database: Path, key_path: Path) -> str:
    """The key in `key_path`; a new one if there is none. Finishes a rotation that a crash interrupted.

    Raises:
        InvalidSettings: The file holds something else than a key.
        ChatStoreError: Others may read the file, or the database has lost its key.
    """
    following = _next(key_path)
    if following.exists():
        candidate = _read(following)
        if opens(database, candidate):  # the database was swapped already, the key file was not
            following.replace(key_path)
            _fsync_folder(key_path.parent)
        else:
            following.unlink()
            _next(database).unlink(missing_ok=True)
    if key_path.exists():
        return _read(key_path)
    if database.exists() and database.stat().st_size:
        raise ChatStoreError(
            f"The conversations are encrypted, and their key {key_path} is missing.",
            remedy=f"Put the key back, or remove {database} to begin anew.",
        )
    key = new_key()
    _write(key_path, key)
    return key


def rotate_key(database: Path, key: str, following: str) -> None:
    """Encrypt the database with another key; the old file is replaced in one rename. No server may be running.

    Raises:
        ChatStoreError: The database cannot be opened with `key`, or another process uses it.
    """
    target = _next(database)
    target.unlink(missing_ok=True)
    try:
        connection = sqlite.connect(database, key=_checked(key, "The old key"))
        try:
            # Leaving WAL mode needs the database alone: it fails while a server has it open, and folds the log in.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
            connection.execute(
                f"ATTACH DATABASE ? AS fresh KEY \"x'{_checked(following, 'The new key')}'\"", [str(target)]
            )
            connection.execute("SELECT sqlcipher_export('fresh')")
            (version,) = connection.execute("PRAGMA main.user_version").fetchone()
            connection.execute(f"PRAGMA fresh.user_version = {int(version)}")
            connection.execute("DETACH DATABASE fresh")
        finally:
            connection.close()
    except sqlite.DatabaseError as error:
        target.unlink(missing_ok=True)
        raise ChatStoreError(
            f"The key could not be changed: {error}.", remedy="Stop the server, check the old key, and try again."
        ) from error
    _fsync(target)
    target.replace(database)
    _fsync_folder(database.parent)


def rotate_file_key(database: Path, key_path: Path) -> None:
    """Give the conversations a new key and store it in `key_path`; safe against a crash at any instant.

    Raises:
        ChatStoreError: As `rotate_key`; the old key still holds then.
    """
    key = file_key(database, key_path)
    following = _next(key_path)
    _write(following, new_key())
    try:
        if database.exists():
            rotate_key(database, key, _read(following))
    except ChatStoreError:
        following.unlink()
        raise
    following.replace(key_path)
    _fsync_folder(key_path.parent)


def opens(database: Path, key: str) -> bool:
    """Whether the database exists and this is its key."""
    if not database.exists():
        return False
    try:
        connection = sqlite.connect(database, key=key)
    except sqlite.DatabaseError:
        return False
    connection.close()
    return True


def _next(path: Path) -> Path:
    return path.with_name(path.name + ".next")


def _read(path: Path) -> str:
    if path.stat().st_mode & 0o077:
        raise ChatStoreError(
            f"The key file {path} can be read by others.", remedy=f"Run: chmod 600 {path}; and change the key."
        )
    return _checked(path.read_text("ascii", errors="replace").strip(), str(path))


def _write(path: Path, key: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key + "\n")
        file.flush()
        os.fsync(file.fileno())
    _fsync_folder(path.parent)


def _checked(key: str, source: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", key):
        raise InvalidSettings(f"{source} must hold 64 hexadecimal digits.", remedy="Make one: openssl rand -hex 32")
    return key


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _fsync_folder(path: Path) -> None:
    _fsync(path)
