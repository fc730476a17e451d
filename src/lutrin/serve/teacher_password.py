"""The password of the teacher's page, first set in a browser with a code that the terminal prints once.

Only its scrypt hash is stored, in a file of the data folder that backups omit. The operator's LUTRIN_ADMIN_TOKEN opens
the page as well. To reset a forgotten password, delete the file and restart the server, which prints a new code.
"""

import hashlib
import os
import secrets
from pathlib import Path

import msgspec

from lutrin.errors import InvalidInput
from lutrin.messages import PASSWORD_TOO_SHORT

FILE = "teacher.json"
SHORTEST_PASSWORD = 8
"""Characters; guesses are limited to a few a minute (`teacher_sign_in`)."""
CODE_DIGITS = 8
_COST = {"n": 1 << 13, "r": 8, "p": 1}
"""8 MB and some 25 ms (RFC 7914): guesses are limited to a few a minute, and each is one step of the event loop."""


class StoredHash(msgspec.Struct, frozen=True):
    """The stored form of a password."""

    salt: bytes
    digest: bytes


class TeacherPassword:
    """The password stored in a data folder, and the code for setting it."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / FILE
        self._known = b""
        """SHA-256 of the last matching text, so that programs which send it often do not pay for scrypt."""
        self._stored = self._read()
        self.code = "" if self._stored else f"{secrets.randbelow(10**CODE_DIGITS):0{CODE_DIGITS}d}"
        """The code to type once; empty if there is a password."""

    @property
    def is_set(self) -> bool:
        """Whether there is a password."""
        return self._stored is not None

    def matches(self, text: str) -> bool:
        """Whether a text is the password; the first match takes some 25 ms of processor time."""
        if self._stored is None:
            return False
        quick = hashlib.sha256(self._stored.salt + text.encode()).digest()
        if self._known and secrets.compare_digest(quick, self._known):
            return True
        is_it = secrets.compare_digest(_digest(text, self._stored.salt), self._stored.digest)
        if is_it:
            self._known = quick
        return is_it

    def accepts(self, code: str) -> bool:
        """Whether a text is the terminal's code, ignoring blanks and hyphens."""
        digits = "".join(character for character in code if character.isascii() and character.isdigit())
        return bool(self.code) and secrets.compare_digest(digits, self.code)

    def set(self, text: str) -> None:
        """Store a new password; the code becomes invalid.

        Raises:
            InvalidInput: It is too short.
        """
        if len(text) < SHORTEST_PASSWORD:
            raise InvalidInput(PASSWORD_TOO_SHORT.format(least=SHORTEST_PASSWORD))
        salt = secrets.token_bytes(16)
        stored = StoredHash(salt, _digest(text, salt))
        fresh = self._path.with_name(f".{FILE}.new")
        self._path.parent.mkdir(parents=True, exist_ok=True)
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(stored))
        fresh.replace(self._path)
        self._stored, self._known, self.code = stored, b"", ""

    def _read(self) -> StoredHash | None:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=StoredHash)
        except FileNotFoundError:
            return None


def spaced(code: str) -> str:
    """A code in groups: `1234 5678`."""
    return f"{code[: CODE_DIGITS // 2]} {code[CODE_DIGITS // 2 :]}"


def _digest(text: str, salt: bytes) -> bytes:
    return hashlib.scrypt(text.encode("utf-8", "surrogatepass"), salt=salt, dklen=32, **_COST)
