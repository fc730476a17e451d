"""Who owns a conversation: ids and secrets that browsers make, and the names under which both are stored.

A browser makes a random session id and a random secret. The secret is stored as a hash only. A conversation is kept
under a key derived from both, so the same id with another secret names another conversation. Neither an answer nor its
timing tells an id that belongs to somebody else from one that nobody has.
"""

import hashlib
import re

from lutrin.errors import InvalidInput

SESSION_ID_PATTERN = r"^[A-Za-z0-9_.:-]{1,128}$"
# Printable ASCII without the space, so that an HTTP header can carry it.
SECRET_PATTERN = r"^[!-~]{16,200}$"  # noqa: S105 - the form of a secret, not one
KEY_PREFIX = "~"  # not allowed in session ids, so no id can equal a derived key


def owner_of(secret: str) -> str:
    """Return the stored form of a browser's secret: SHA-256 in hexadecimal; an empty secret gives an empty owner.

    A plain hash is enough: the secret is random, 128 bits or more, so there is no dictionary to try.

    Raises:
        InvalidInput: The secret is too short, too long or not printable ASCII.
    """
    if not secret:
        return ""
    if not re.fullmatch(SECRET_PATTERN, secret):
        raise InvalidInput("The header X-Lutrin-Client must hold 16 to 200 printable ASCII characters.")
    return hashlib.sha256(b"lutrin browser secret\0" + secret.encode()).hexdigest()


def conversation_key(session_id: str, owner: str) -> str:
    """The key of a conversation; empty for an empty id, the id itself without an owner: who knows it may read.

    Raises:
        InvalidInput: The session id is not 1 to 128 letters, digits or `_.:-`.
    """
    if not session_id:
        return ""
    if not re.fullmatch(SESSION_ID_PATTERN, session_id):
        raise InvalidInput("A session id is 1 to 128 letters, digits or the characters _ . : -")
    if not owner:
        return session_id
    return KEY_PREFIX + hashlib.sha256(f"{owner}\0{session_id}".encode()).hexdigest()
