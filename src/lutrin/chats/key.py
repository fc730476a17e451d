"""The key that encrypts conversations, and the owner of each conversation.

The key has 256 bits and comes from `LUTRIN_CHAT_KEY` or a file that only its owner can read. It is never part of a
backup, so the database alone is unreadable. Rotation re-encrypts the database into a new file and swaps both files;
after a crash between the two renames, the next start finishes it. Former keys are kept, encrypted with the present
one, so that earlier backups are known and can be restored. Every process that has the conversations open holds a lock,
which prevents a rotation.

A browser makes a random session id and a random secret. Only a hash of the secret is stored. A conversation is stored
under a key derived from both, so the same id with another secret names another conversation. Neither an answer nor its
timing reveals whether an id belongs to somebody else or does not exist.
"""

import base64
import fcntl
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lutrin import sqlite
from lutrin.errors import ChatStoreError, InvalidInput, InvalidSettings, LutrinError
from lutrin.settings import Settings

KEY_BYTES = 32
Refusal = tuple[str, str]
_OPEN: Refusal = ("A server or another command has the conversations open.", "Stop it, then change the key.")
_CHANGING: Refusal = ("The key of the conversations is being changed.", "Start again.")


def new_key() -> str:
    """A random key: 64 hexadecimal digits."""
    return secrets.token_hex(KEY_BYTES)


def chat_key(settings: Settings) -> str:
    """Return the key of the conversations; its file is made on first use.

    Raises:
        InvalidSettings: `LUTRIN_CHAT_KEY` or the file holds anything but 64 hexadecimal digits.
        ChatStoreError: Users other than its owner may read the file.
    """
    if settings.chat_key is not None:
        return _check(settings.chat_key.get_secret_value(), "LUTRIN_CHAT_KEY")
    return file_key(settings.chats_path, settings.chat_key_path)


def installation_keys(settings: Settings, *, make: bool) -> list[bytes]:
    """Keys by which this installation recognises its archives, newest first; derived from the conversations'."""
    if not make and settings.chat_key is None and not settings.chat_key_path.exists():
        return []
    try:
        key = chat_key(settings)
    except (LutrinError, OSError):
        return []
    keys = (key, *former_keys(settings.chats_path, key))
    return [hmac.new(bytes.fromhex(one), b"lutrin origin of archives", hashlib.sha256).digest() for one in keys]


def secret_of(settings: Settings) -> bytes:
    """Return a key for unguessable names: the same on all servers of these conversations, and after a restart.

    If the conversations' key cannot be read, the key is random and lasts as long as this process.
    """
    try:
        key = bytes.fromhex(chat_key(settings))
    except (LutrinError, OSError):
        key = secrets.token_bytes(KEY_BYTES)
    return hmac.new(key, b"lutrin names of conversations", hashlib.sha256).digest()


def file_key(database: Path, key_path: Path) -> str:
    """Read the key at `key_path`, or make one, and finish a rotation that a crash interrupted."""
    following = _next(key_path)
    if following.exists():
        with in_use(database, alone=True):  # else it may belong to a rotation that still runs
            if following.exists():
                _finish_rotation(database, key_path)
    if key_path.exists():
        return _read(key_path)
    if database.exists() and database.stat().st_size:
        raise ChatStoreError(
            f"The conversations are encrypted, and their key {key_path} is missing.",
            remedy=f"Put the key back, or remove {database} to start over.",
        )
    key = new_key()
    _write(key_path, key)
    return key


def _finish_rotation(database: Path, key_path: Path) -> None:
    following = _next(key_path)
    if opens(database, _read(following)):  # the database was swapped already, the key file was not
        _adopt_former(database)
        following.replace(key_path)
        _fsync(key_path.parent)
    else:
        for path in (following, _next(database), _next(_former(database))):
            path.unlink(missing_ok=True)


@contextmanager
def in_use(database: Path, *, alone: bool = False, busy: Refusal = _CHANGING) -> Iterator[None]:
    """Hold the conversations' lock, which the kernel releases with this process; `alone`: no other may hold it.

    Raises:
        ChatStoreError: Another process has them open, or is changing their key.
    """
    descriptor = os.open(database.with_name(f"{database.name}.in-use"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            detail, remedy = busy
            raise ChatStoreError(detail, remedy=remedy) from None
        yield
    finally:
        os.close(descriptor)


def rotate_key(database: Path, key: str, following: str, *, keep_former: bool = True) -> None:
    """Encrypt the database with another key; one rename replaces the old file, and archives may need the former key.

    Raises:
        ChatStoreError: The database cannot be opened with `key`, or another process uses it.
    """
    with in_use(database, alone=True, busy=_OPEN):
        _exchange(database, key, following, keep_former=keep_former)


def _exchange(database: Path, key: str, following: str, *, keep_former: bool = True) -> None:
    target = _next(database)
    target.unlink(missing_ok=True)
    try:
        with closing(sqlite.connect(database, key=_check(key, "The old key"))) as connection:
            # Leaving WAL mode needs the database alone: it fails while a server has it open, and folds the log in.
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
            fresh = f"ATTACH DATABASE ? AS fresh KEY \"x'{_check(following, 'The new key')}'\""
            connection.execute(fresh, [str(target)])
            connection.execute("SELECT sqlcipher_export('fresh')")
            (version,) = connection.execute("PRAGMA main.user_version").fetchone()
            connection.execute(f"PRAGMA fresh.user_version = {int(version)}")
            connection.execute("DETACH DATABASE fresh")
    except sqlite.DatabaseError as error:
        target.unlink(missing_ok=True)
        raise ChatStoreError(
            f"The key could not be changed: {error}.", remedy="Stop the server, check the old key, and try again."
        ) from error
    _fsync(target)
    if keep_former:
        _keep_former(database, key, following)
    target.replace(database)
    _adopt_former(database)
    _fsync(database.parent)


def former_keys(database: Path, key: str) -> list[str]:
    """Return the former keys of the conversations, newest first."""
    path = _former(database)
    if not path.exists():
        return []
    try:
        with closing(sqlite.connect(path, key=key)) as connection:
            return [str(former) for (former,) in connection.execute("SELECT key FROM former ORDER BY place DESC")]
    except sqlite.DatabaseError:  # sealed with another key: useless here
        return []


def _keep_former(database: Path, key: str, following: str) -> None:
    keys = [*reversed(former_keys(database, key)), key]
    target = _next(_former(database))
    target.unlink(missing_ok=True)
    with closing(sqlite.connect(target, key=following)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("CREATE TABLE former (place INTEGER PRIMARY KEY, key VARCHAR NOT NULL)")
        connection.executemany("INSERT INTO former (key) VALUES (?)", [(item,) for item in keys])
    target.chmod(0o600)
    _fsync(target)


def _adopt_former(database: Path) -> None:
    following = _next(_former(database))
    if following.exists():
        following.replace(_former(database))


def _former(database: Path) -> Path:
    return database.with_name("chats.former.db")


def rotate_file_key(database: Path, key_path: Path) -> None:
    """Give the conversations a new key and store it in `key_path`; safe against a crash at any instant."""
    key = file_key(database, key_path)
    following = _next(key_path)
    with in_use(database, alone=True, busy=_OPEN):
        _write(following, new_key())
        try:
            if database.exists():
                _exchange(database, key, _read(following))
            else:
                _keep_former(database, key, _read(following))
                _adopt_former(database)
        except ChatStoreError:
            following.unlink()
            raise
        following.replace(key_path)
        _fsync(key_path.parent)


def opens(database: Path, key: str) -> bool:
    """Return whether the database exists and this key opens it."""
    if not database.exists():
        return False
    try:
        sqlite.connect(database, key=key).close()
    except sqlite.DatabaseError:
        return False
    return True


def _next(path: Path) -> Path:
    return path.with_name(path.name + ".next")


def _read(path: Path) -> str:
    if path.stat().st_mode & 0o077:
        raise ChatStoreError(
            f"The key file {path} can be read by others.", remedy=f"Run: chmod 600 {path}; and change the key."
        )
    return _check(path.read_text("ascii", errors="replace").strip(), str(path))


def _write(path: Path, key: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(key + "\n")
        file.flush()
        os.fsync(file.fileno())
    _fsync(path.parent)


def _check(key: str, source: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", key):
        raise InvalidSettings(f"{source} must hold 64 hexadecimal digits.", remedy="Make one: openssl rand -hex 32")
    return key


def _fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


SESSION_ID_PATTERN = r"^[A-Za-z0-9_.:-]{1,128}$"
# Printable ASCII without the space, so that an HTTP header can carry it.
SECRET_PATTERN = r"^[!-~]{16,200}$"  # noqa: S105 - the form of a secret, not one
KEY_PREFIX = "~"  # not allowed in session ids, so no id can equal a derived key


def owner_of(secret: str) -> str:
    """Return the stored form of a browser's secret: SHA-256 in hexadecimal; an empty secret gives an empty owner.

    A plain hash is enough: the secret is random, 128 bits or more, so there is no dictionary to try.
    """
    if not secret:
        return ""
    if not re.fullmatch(SECRET_PATTERN, secret):
        raise InvalidInput("The header X-Lutrin-Client must hold 16 to 200 printable ASCII characters.")
    return hashlib.sha256(b"lutrin browser secret\0" + secret.encode()).hexdigest()


def conversation_key(session_id: str, owner: str) -> str:
    """The key of a conversation; empty for an empty id. Without an owner it is the id: anyone who knows it may read."""
    if not session_id:
        return ""
    if not re.fullmatch(SESSION_ID_PATTERN, session_id):
        raise InvalidInput("A session id is 1 to 128 letters, digits or the characters _ . : -")
    if not owner:
        return session_id
    return KEY_PREFIX + hashlib.sha256(f"{owner}\0{session_id}".encode()).hexdigest()


NONCE_BYTES = 12
MARK = "s1:"
"""Prefix of a sealed text; a later format would get another one."""


class Seal:
    """Stores readers' words in a database; this one stores them as they are, for a database encrypted as a whole."""

    def close(self, text: str) -> str:
        """Return the text in its stored form; an empty text stays empty."""
        return text

    def open(self, stored: str) -> str:
        """Return the original text.

        Raises:
            ChatStoreError: It was sealed with another key, or changed.
        """
        return stored


class KeySeal(Seal):
    """AES-256 in Galois/Counter Mode (NIST SP 800-38D), a random nonce for each text; its key in hexadecimal."""

    def __init__(self, key: str) -> None:
        # Needed only for PostgreSQL; SQLCipher has its own cipher.
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - see above

        self._cipher = AESGCM(bytes.fromhex(key))

    def close(self, text: str) -> str:
        """See `Seal.close`."""
        if not text:
            return ""
        nonce = os.urandom(NONCE_BYTES)
        sealed = nonce + self._cipher.encrypt(nonce, text.encode("utf-8", "surrogatepass"), None)
        return MARK + base64.b64encode(sealed).decode()

    def open(self, stored: str) -> str:
        """Return the original text; see `Seal.open`."""
        from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - only the remote profile has this package

        if not stored:
            return ""
        try:
            sealed = base64.b64decode(stored.removeprefix(MARK), validate=True)
            text = self._cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], None)
        except (InvalidTag, ValueError) as error:
            raise ChatStoreError(
                "The conversations were written with another key.", remedy="Give all servers the same LUTRIN_CHAT_KEY."
            ) from error
        return text.decode("utf-8", "surrogatepass")
